//! Call logging.
//!
//! Arguments and results are private to their caller, so by default only the fact that a call was made is logged.
//! Content is logged on request, without the values that the schemas mark as secret. Without a subscriber, nothing is
//! read, formatted or measured.

mod content;
mod redaction;
mod run;
#[cfg(test)]
mod tests;

/// The events' target, to filter by.
const TARGET: &str = "haft::call";

/// Logs every call's begin and end with [`tracing`], under the target `haft::call`.
///
/// Both events have level `INFO`, a failed call's end `WARN`. They carry `gen_ai.tool.name`, `gen_ai.tool.call.id` and
/// `attempt`. The end also has `outcome` (`ok`, `failed`, `panicked`, or `dropped` if the call was dropped before its
/// end), `duration_seconds` and, for a failure, `error.type` (its kind) and `cause`: the [chain of
/// causes](haft_core::ToolFailure::cause_chain), which is for the operator and never for the model. A call that
/// panicked is logged at a failed call's level, without these two: the panic unwinds to the executor.
///
/// [`with_content`](Self::with_content) adds arguments and results, both to the events and to the current span, in its
/// fields `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result`; the span gets the tool's description as well, in
/// `gen_ai.tool.description`. If a value's schema contains `"writeOnly": true`,
/// `"format": "password"` or `"x-redact": true`, it is replaced by `[redacted]`. If it isn't certain which schema
/// applies to a value, all that may apply count.
///
/// Layer it outside all others, so that every call is logged; a second one, inside [`Retry`](crate::Retry), logs every
/// attempt.
///
/// ```
/// use haft_executor::{Tool, Toolkit};
/// use haft_core::ToolCall;
/// use haft_middleware::Trace;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_executor::DefinitionError> {
/// let greet = Tool::new("greet").handler(|name: String, _cx| async move { format!("Hello, {name}!") })?;
/// let kit: Toolkit = Toolkit::from_iter([greet]).wrap(Trace::new().with_content());
///
/// assert!(kit.run_call(&ToolCall::new("c1", "greet", r#""Ada""#)).await.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace {
    content: ContentLogging,
}

/// The handling of arguments and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContentLogging {
    #[default]
    Omitted,
    Redacted,
}

impl Trace {
    /// Creates a trace that logs when calls begin and end, without arguments and results.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Logs arguments and results as well, without the values that their schemas mark as secret.
    #[must_use]
    pub fn with_content(self) -> Self {
        Self { content: ContentLogging::Redacted }
    }
}
