//! How long, how wide and how large one run of a tool may be.
//!
//! Limits are data of the definition: the tool's author knows them best. Everything a toolkit runs is held to them; a
//! handler never needs to look at them, and [`Tool::run_call`](crate::Tool::run_call), which runs one call as it is,
//! doesn't either. What a call may run beside counts within its run.

use std::num::NonZeroUsize;
use std::time::Duration;

/// The limits of one tool. The default has no timeouts, a shared place among other calls, an emit queue of 64 events
/// and no cap on the output.
///
/// ```
/// use std::time::Duration;
/// use haft_core::{Concurrency, ExecutionLimits};
///
/// let limits = ExecutionLimits::new().timeout(Duration::from_secs(30)).concurrency(Concurrency::Exclusive);
/// assert_eq!(limits.timeout, Some(Duration::from_secs(30)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExecutionLimits {
    /// The longest a call may take from the moment it has its place. Waiting for a permit, an approval or the place
    /// doesn't count; whatever its middlewares do does: waiting for their turn, pauses, every attempt.
    pub timeout: Option<Duration>,
    /// The longest a call may stay silent, from the moment it has its place; every event it emits and every value that
    /// its stream gives starts the time anew.
    pub idle_timeout: Option<Duration>,
    /// How many emitted events may wait for their reader.
    pub emit_buffer: EmitBuffer,
    /// What the call may run beside.
    pub concurrency: Concurrency,
    /// The largest answer for the model.
    pub output_cap: Option<OutputCap>,
}

/// How many emitted events may wait for their reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EmitBuffer {
    /// This many; a handler that emits more waits.
    Bounded(NonZeroUsize),
    /// As many as there are; a handler never waits, the memory is the limit.
    Unbounded,
}

/// What a call may run beside.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Concurrency {
    /// Anything: only the limit of the run counts.
    #[default]
    Shared,
    /// At most this many calls of this tool at a time.
    Max(NonZeroUsize),
    /// Nothing else in the run.
    Exclusive,
    /// No other call whose tool names the same key.
    Keyed(String),
}

/// The largest answer for the model, and what happens to a larger one.
///
/// What counts is what the model would read: a string as it is, any other value as its JSON; of [parts of the tool's
/// own](crate::ToolOutput::model), text as it is and everything else as its JSON, with its data. A failure that the tool
/// gives counts with its message, and the issues and details shown beside it, and is never held to less than 200 bytes.
/// Why a call was not run, or that it took too long, is said whole.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use haft_core::{ExecutionLimits, OnOverflow, OutputCap, Tool, ToolCall, Toolkit};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let cap = OutputCap::new(NonZeroUsize::new(5).ok_or("zero")?).on_overflow(OnOverflow::Truncate);
/// let limits = ExecutionLimits::new().output_cap(cap);
/// let kit: Toolkit = Toolkit::new().with(Tool::new("log").limits(limits).run(|(), _cx| async { "line after line" })?)?;
/// let result = kit.run_call(&ToolCall::new("c1", "log", "{}")).await;
/// assert_eq!(result.to_model_text(), "line \n[truncated: the first 5 of 15 bytes are shown]");
/// assert_eq!(result.decode::<String>()?, "line after line");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputCap {
    /// The largest answer, in bytes.
    pub bytes: NonZeroUsize,
    /// What happens to a larger one.
    pub on_overflow: OnOverflow,
}

/// What happens to an answer beyond its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnOverflow {
    /// The call fails with `output_too_large`. Of a failure, that takes the place of its kind, which the message names, and
    /// of its message, issues and details.
    #[default]
    Fail,
    /// The model sees what fits, and a note of how much is missing: whole parts, and the beginning of a text. The
    /// application still gets the whole value. A failure is the same for both: it keeps its kind, the beginning of its
    /// message, and the issues and details there is room for.
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
    /// A cap of this many bytes, beyond which the call fails.
    #[must_use]
    pub fn new(bytes: NonZeroUsize) -> Self {
        Self { bytes, on_overflow: OnOverflow::Fail }
    }

    /// The same cap with another rule for larger outputs.
    #[must_use]
    pub fn on_overflow(mut self, rule: OnOverflow) -> Self {
        self.on_overflow = rule;
        self
    }
}

impl ExecutionLimits {
    /// The default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same limits with a hard timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The same limits with a timeout that progress resets.
    #[must_use]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = Some(timeout);
        self
    }

    /// The same limits with another queue for emitted events.
    #[must_use]
    pub fn emit_buffer(mut self, buffer: EmitBuffer) -> Self {
        self.emit_buffer = buffer;
        self
    }

    /// The same limits with another rule for what may run beside a call.
    #[must_use]
    pub fn concurrency(mut self, concurrency: Concurrency) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// The same limits with a cap on the output.
    #[must_use]
    pub fn output_cap(mut self, cap: OutputCap) -> Self {
        self.output_cap = Some(cap);
        self
    }

    /// The names of the limits under which no call could ever finish.
    pub(crate) fn zeroes(&self) -> impl Iterator<Item = &'static str> {
        let timeouts = [("timeout", self.timeout), ("idle_timeout", self.idle_timeout)];
        timeouts.into_iter().filter(|(_, limit)| limit.is_some_and(|limit| limit.is_zero())).map(|(name, _)| name)
    }
}
