//! A tool's limits: timeouts, concurrency and sizes.
//!
//! Limits belong to the definition, because the tool's author knows them best. Every call that a toolkit runs is
//! subject to them; a handler never has to check them. Concurrency limits apply within one run; [`Lanes`](crate::Lanes)
//! apply across runs.

use std::num::NonZeroUsize;
use std::time::Duration;

/// One tool's limits. The default has no timeouts, shares its slots with other calls, has an emit buffer of 64
/// events and sets no output cap, so that the [default cap](OutputCap::default) applies.
///
/// ```
/// use haft_executor::{Concurrency, ExecutionLimits};
/// use std::time::Duration;
///
/// let limits = ExecutionLimits::new().timeout(Duration::from_secs(30)).concurrency(Concurrency::Exclusive);
/// assert_eq!(limits.timeout, Some(Duration::from_secs(30)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExecutionLimits {
    /// The maximum duration of a call from the moment it holds a slot. Waiting for a permit, an approval or the slot
    /// does not count. Everything that middleware does counts: waiting, pauses, every attempt. Before that, the same
    /// limit applies to [refining](crate::ToolBuilder::refine) the arguments.
    pub timeout: Option<Duration>,
    /// The maximum time without output, from the moment the call holds a slot. Every event that the call emits and
    /// every value in its stream restarts the timeout.
    pub idle_timeout: Option<Duration>,
    /// The emit buffer's capacity, in events.
    pub emit_buffer: EmitBuffer,
    /// The calls in the same run that may run at the same time.
    pub concurrency: Concurrency,
    /// The largest output that the model reads. If neither the tool nor the run sets one, the
    /// [default](OutputCap::default) applies.
    pub output_cap: Option<OutputCap>,
}

/// The emit buffer's capacity, in events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitBuffer {
    /// At most this many events; a handler that emits more waits.
    Bounded(NonZeroUsize),
    /// Any number of events; a handler never waits, and only memory limits the buffer.
    Unbounded,
}

/// The calls in the same run that may run at the same time as a call. It does not limit other runs' calls: use
/// [`Lanes`](crate::Lanes) for that.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Concurrency {
    /// Any calls: only the run's limit applies.
    #[default]
    Shared,
    /// At most this many calls to this tool, per run.
    Max(NonZeroUsize),
    /// No other call in the run.
    Exclusive,
    /// No other call in the run whose tool has the same key.
    Keyed(String),
}

/// The largest output that the model reads, and how larger outputs are handled.
///
/// The cap counts the content that the model would read: a string without quotes, any other value as JSON. Of
/// [custom model content](haft_core::ToolOutput::content), text counts as it is and every other part as JSON, including its
/// data unless only [text](CountedContent::Text) counts. A tool's failure counts with its message and the issues
/// and details next to it, and is never cut below 200 bytes. The reason why a call did not run or timed out is never
/// cut.
///
/// A tool and a run that set no cap have the [default](Self::default) one: 256 KiB of text, cut with a note to the
/// model. [`unlimited`](Self::unlimited) disables it.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use haft_executor::{ExecutionLimits, OnOverflow, OutputCap, Tool, Toolkit};
/// use haft_core::ToolCall;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cap = OutputCap::new(NonZeroUsize::new(5).ok_or("zero")?).on_overflow(OnOverflow::Truncate);
/// let limits = ExecutionLimits::new().output_cap(cap);
/// let kit: Toolkit = Toolkit::new().with(Tool::new("log").limits(limits).handler(|(), _cx| async { "line after line" })?)?;
/// let result = kit.run_call(&ToolCall::new("c1", "log", "{}")).await;
/// assert_eq!(result.to_model_text(), "line \n[truncated: the first 5 of 15 bytes are shown]");
/// assert_eq!(result.decode::<String>()?, "line after line");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputCap {
    /// The maximum size in bytes.
    pub bytes: NonZeroUsize,
    /// The rule for larger outputs.
    pub on_overflow: OnOverflow,
    /// The content that counts.
    pub counted: CountedContent,
}

/// The part of an output that counts towards its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CountedContent {
    /// Everything that is sent to the model.
    #[default]
    All,
    /// Everything except images, audio, files and binary resources. They are kept whole: no model reads
    /// them as text, and half an image is useless.
    Text,
}

/// The rule for an output that exceeds its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnOverflow {
    /// The call fails with `output_too_large`. If the output was itself a failure, this kind replaces the original one,
    /// which the message names, and its message, issues and details.
    #[default]
    Fail,
    /// The model reads what fits, and a note about how much is missing: whole parts, and a text's beginning. The
    /// application still gets the complete value. A failure is cut the same way for both: it keeps its kind, the
    /// beginning of its message, and the issues and details that fit.
    Truncate,
}

impl EmitBuffer {
    const DEFAULT: NonZeroUsize = match NonZeroUsize::new(64) {
        Some(size) => size,
        None => NonZeroUsize::MIN,
    };
}

impl Default for EmitBuffer {
    fn default() -> Self {
        Self::Bounded(Self::DEFAULT)
    }
}

impl OutputCap {
    /// Creates a cap in bytes. A call with a larger output fails.
    #[must_use]
    pub fn new(bytes: NonZeroUsize) -> Self {
        Self { bytes, on_overflow: OnOverflow::Fail, counted: CountedContent::All }
    }

    /// Creates a cap that no output exceeds. It disables the default cap.
    ///
    /// ```
    /// use haft_executor::{ExecutionLimits, OutputCap, RunOptions, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let dump = |(), _cx| async { "x".repeat(300_000) };
    /// let whole = ExecutionLimits::new().output_cap(OutputCap::unlimited());
    /// let kit: Toolkit = Toolkit::new()
    ///     .with(Tool::new("dump").handler(dump)?)?
    ///     .with(Tool::new("dump_whole").limits(whole).handler(dump)?)?;
    /// let size = async |tool, options| {
    ///     kit.run_call_with(&ToolCall::new("c1", tool, ""), &options).await.to_model_text().len()
    /// };
    /// assert!(size("dump", RunOptions::new()).await < 263_000);
    /// assert_eq!(size("dump_whole", RunOptions::new()).await, 300_000);
    /// assert_eq!(size("dump", RunOptions::new().output_cap(OutputCap::unlimited())).await, 300_000);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn unlimited() -> Self {
        Self { bytes: NonZeroUsize::MAX, on_overflow: OnOverflow::Truncate, counted: CountedContent::Text }
    }

    /// Sets how larger outputs are handled.
    #[must_use]
    pub fn on_overflow(mut self, rule: OnOverflow) -> Self {
        self.on_overflow = rule;
        self
    }

    /// Sets the content that counts.
    #[must_use]
    pub fn counting(mut self, counted: CountedContent) -> Self {
        self.counted = counted;
        self
    }

    /// Returns the cap that applies to a tool and a run: the smaller one if both are set, else the default.
    #[inline]
    pub(crate) fn applied(tool: Option<Self>, run: Option<Self>) -> Self {
        match (tool, run) {
            (None, None) => Self::DEFAULT,
            (Some(cap), None) | (None, Some(cap)) => cap,
            (Some(tool), Some(run)) => tool.smaller(run),
        }
    }

    /// Returns the smaller cap, or this one if they are equal.
    #[inline]
    pub(crate) fn smaller(self, other: Self) -> Self {
        if other.bytes < self.bytes { other } else { self }
    }

    const DEFAULT: Self = Self {
        bytes: match NonZeroUsize::new(256 * 1024) {
            Some(bytes) => bytes,
            None => NonZeroUsize::MIN,
        },
        on_overflow: OnOverflow::Truncate,
        counted: CountedContent::Text,
    };
}

/// The cap where neither tool nor run sets one: 256 KiB of text, and larger outputs are truncated.
impl Default for OutputCap {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ExecutionLimits {
    /// Returns the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the idle timeout, which every emitted event restarts.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// Sets the emit buffer's capacity, in events.
    #[must_use]
    pub fn emit_buffer(mut self, buffer: EmitBuffer) -> Self {
        self.emit_buffer = buffer;
        self
    }

    /// Sets which calls in the same run may run at the same time.
    #[must_use]
    pub fn concurrency(mut self, concurrency: Concurrency) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Sets the largest output, in place of the default 256 KiB.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.output_cap = Some(cap);
        self
    }

    /// Names the limits that are zero, under which no call could finish.
    pub(crate) fn zeroes(&self) -> impl Iterator<Item = &'static str> {
        let timeouts = [("timeout", self.timeout), ("idle_timeout", self.idle_timeout)];
        timeouts.into_iter().filter(|(_, limit)| limit.is_some_and(|limit| limit.is_zero())).map(|(name, _)| name)
    }
}
