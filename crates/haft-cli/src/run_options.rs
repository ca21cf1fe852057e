//! The options that commands which run calls have in common.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use haft::run::RunOptions;

use crate::approval::ApproveMode;
use crate::context::Context;
use crate::run_output::Failures;
use crate::wire::WireName;

/// The options of commands that run calls.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptionArguments {
    /// The approver of calls that require it: `ask` at the terminal, `all`, `none`, or a file of verdicts. Without it, `ask`
    /// on a terminal and `none` otherwise
    #[arg(long, value_name = "ask|all|none|FILE")]
    pub(crate) approve: Option<ApproveMode>,
    /// Prints the results as this provider takes them back, and nothing else
    #[arg(long, value_name = "PROVIDER")]
    pub(crate) results: Option<WireName>,
    /// Writes the events as JSON lines to this file, whatever is printed
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// The maximum number of calls that run at the same time
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    concurrency: Option<NonZeroUsize>,
    /// The maximum duration of each call, in seconds, not counting the wait for approval
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Exits with 1 if a call failed, else with 3 if one was denied, is not permitted or waits
    #[arg(long)]
    fail: bool,
    /// Prints JSON lines on a terminal too
    #[arg(long, conflicts_with = "results")]
    pub(crate) json: bool,
}

impl RunOptionArguments {
    /// Returns a run's options: the workspace's, and these.
    pub(crate) fn apply(&self, workspace: RunOptions, cx: &Context) -> RunOptions {
        let mut own = RunOptions::new().cancellation(cx.interrupt.cancellation()).started_events();
        if let Some(most) = self.concurrency {
            own = own.concurrency(most.get());
        }
        if let Some(timeout) = self.timeout {
            own = own.call_timeout(timeout);
        }
        workspace.merge(own)
    }

    pub(crate) fn approve_mode(&self, cx: &Context) -> ApproveMode {
        self.approve.clone().unwrap_or_else(|| ApproveMode::default_for(cx))
    }

    pub(crate) fn failures(&self) -> Failures {
        if self.fail { Failures::Counted } else { Failures::Ignored }
    }
}

fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a whole number greater than 0 is required".to_owned())
}

/// Reads a duration in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let invalid = || "a number of seconds greater than 0 is required, such as `2.5`".to_owned();
    let seconds: f64 = text.parse().map_err(|_| invalid())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| invalid())?;
    if duration.is_zero() { Err(invalid()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_positive_numbers() {
        assert_eq!(seconds("2.5"), Ok(Duration::from_millis(2500)));
        for invalid in ["", "0", "-1", "inf", "NaN", "1e300", "2s"] {
            assert!(seconds(invalid).is_err(), "{invalid}");
        }
    }
}
