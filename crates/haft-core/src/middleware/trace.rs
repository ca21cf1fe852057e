//! Calls in the log.
//!
//! What a call carries belongs to whoever made it, so a log shows by default only that it happened. Content is shown
//! when it is asked for, without what the schemas mark as secret. When nobody listens, nothing is read, formatted or
//! measured.

mod content;
mod redaction;
mod run;
#[cfg(test)]
mod tests;

/// Where events go: filter by it.
const TARGET: &str = "haft::call";

/// Logs the begin and the end of every call with [`tracing`], under the target `haft::call`.
///
/// Both events are of level `INFO`, the end of a failed call `WARN`. They carry `gen_ai.tool.name`,
/// `gen_ai.tool.call.id` and `attempt`; the end also `outcome` (`ok`, `failed`, `panicked`, or `dropped` when nobody waited
/// for it any more), `duration_seconds` and, of a failure, `error.type` (its kind) and `cause`: what went wrong
/// underneath, down to the root, which is meant for the operator and never for the model. A call that panicked is logged
/// like a failed one, without either: the panic goes on to whoever runs the call.
///
/// [`with_content`](Self::with_content) adds arguments and results, both to the events and to the current span, in its
/// fields `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result`. A value whose schema says `"writeOnly": true`,
/// `"format": "password"` or `"x-redact": true` is shown as `[redacted]`; where it isn't certain which schema a value
/// has, all that may apply count.
///
/// # The order of layers
///
/// Outermost to innermost: trace, [`Cache`](crate::Cache), [`Retry`](crate::Retry), [`RateLimit`](crate::RateLimit),
/// [`Timeout`](crate::Timeout), so that everything is seen, a remembered answer costs nothing, each attempt takes its
/// turn, and only the work is timed. As the last one applied is the outermost, they are written the other way round. A
/// second trace, inside of the retry, shows every attempt.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{Cache, Cx, RateLimit, Retry, Timeout, Tool, ToolCall, Toolkit, Trace};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new()
///     .with(Tool::new("greet").run(|name: String, _cx| async move { format!("Hello, {name}!") })?)?
///     .wrap(Timeout::new(Duration::from_secs(10)))
///     .wrap(RateLimit::new(100, Duration::from_secs(60)))
///     .wrap(Retry::new(3))
///     .wrap(Cache::new(Duration::from_secs(300)))
///     .wrap(Trace::new().with_content());
///
/// let call = ToolCall::new("c1", "greet", r#""Ada""#);
/// let greet = kit.get("greet").unwrap();
/// assert!(haft_core::Toolkit::from_iter([greet.clone()]).run_call(&call).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace {
    content: Content,
}

/// Whether arguments and results are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Content {
    #[default]
    Hidden,
    Shown,
}

impl Trace {
    /// Logs that calls happen and how they end, without what they carry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows arguments and results as well, without what their schemas mark as secret.
    #[must_use]
    pub fn with_content(self) -> Self {
        Self { content: Content::Shown }
    }
}
