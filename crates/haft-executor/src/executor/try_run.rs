//! Runs that end with an error if a call failed in one of the given classes.
//!
//! A failed call never affects its siblings: they run to their end, every event is returned, and only then one error
//! that contains all results.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use haft_core::{FailureClass, ToolEvent, ToolResult};

use super::run::Run;
use crate::approval::Suspended;

/// A [`Run`] whose items are results: every event, and at the end an error if a call failed in one of the classes.
#[derive(Debug)]
#[must_use = "a run does nothing unless it is polled"]
pub struct TryRun {
    run: Run,
    classes: Vec<FailureClass>,
    results: Vec<Option<ToolResult>>,
    has_ended: bool,
}

/// The error of a run with calls that failed in one of the classes. All calls have finished.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunError {
    /// All results, in the order of the calls.
    pub results: Vec<ToolResult>,
    /// The indexes into `results` of the calls that count as errors. Never empty.
    pub failed: Vec<usize>,
}

impl Run {
    /// Ends the run with an error when a call failed in one of the classes. Every call runs to its end first, and the error
    /// holds all results.
    ///
    /// ```
    /// use haft_core::{FailureClass, ToolCall};
    /// use haft_executor::{Tool, Toolkit};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new()
    ///     .with(Tool::new("fine").handler(|(), _cx| async { "fine" })?)?
    ///     .with(Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("a wire is loose") })?)?;
    ///
    /// let calls = [ToolCall::new("c1", "broken", ""), ToolCall::new("c2", "fine", "")];
    /// let error = kit.run(calls).fail_on([FailureClass::Internal]).collect_results().await.unwrap_err();
    /// assert_eq!(error.failed, [0]);
    /// assert!(error.results[1].is_ok());
    /// # Ok(())
    /// # }
    /// ```
    pub fn fail_on(self, classes: impl IntoIterator<Item = FailureClass>) -> TryRun {
        let results = self.calls().iter().map(|_| None).collect();
        TryRun { run: self, classes: classes.into_iter().collect(), results, has_ended: false }
    }
}

impl TryRun {
    /// Cancels the run, as [`Run::cancel`] does.
    pub fn cancel(&mut self) {
        self.run.cancel();
    }

    /// See [`Run::suspended`].
    pub fn suspended(&mut self) -> Option<Suspended> {
        self.run.suspended()
    }

    /// Returns the next event, or at the end the error; then `None`.
    pub async fn next(&mut self) -> Option<Result<ToolEvent, RunError>> {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Runs all calls to the end and returns the results in the order of the calls, or the error that contains them.
    pub async fn collect_results(mut self) -> Result<Vec<ToolResult>, RunError> {
        let mut last = Ok(());
        while let Some(item) = self.next().await {
            last = item.map(drop);
        }
        last.map(|()| self.results.into_iter().flatten().collect())
    }

    /// Returns the error, if a call failed in one of the classes.
    fn error(&self) -> Option<RunError> {
        let is_error =
            |result: &ToolResult| result.failure().is_some_and(|failure| self.classes.contains(&failure.kind.class()));
        let results: Vec<_> = self.results.iter().flatten().cloned().collect();
        let failed: Vec<_> =
            results.iter().enumerate().filter(|(_, result)| is_error(result)).map(|(i, _)| i).collect();
        (!failed.is_empty()).then_some(RunError { results, failed })
    }
}

impl Stream for TryRun {
    type Item = Result<ToolEvent, RunError>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.has_ended {
            return Poll::Ready(None);
        }
        match ready!(Pin::new(&mut this.run).poll_next(task)) {
            Some(event) => {
                if let ToolEvent::Output { index, result } = &event {
                    this.results[*index] = Some(result.clone());
                }
                Poll::Ready(Some(Ok(event)))
            }
            None => {
                this.has_ended = true;
                Poll::Ready(this.error().map(Err))
            }
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} calls failed: ", self.failed.len(), self.results.len())?;
        for (position, result) in self.failed.iter().filter_map(|&index| self.results.get(index)).enumerate() {
            let separator = if position == 0 { "" } else { "; " };
            let kind = result.failure().map_or("", |failure| failure.kind.as_str());
            write!(f, "{separator}`{}` ({}) with {kind}", result.tool, result.call_id)?;
        }
        Ok(())
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let first = self.results.get(*self.failed.first()?)?;
        first.failure().map(|failure| failure as _)
    }
}
