//! A run whose stream ends with a value computed from all of its results.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use haft_core::{ToolEvent, ToolResult};

use super::run::Run;

/// A run that is followed by a value computed from its results. See [`Run::continue_with_results`].
#[must_use = "a run does nothing unless it is polled"]
pub struct Continuation<F> {
    run: Run,
    results: Vec<Option<ToolResult>>,
    next: Option<F>,
}

/// An item of a [`Continuation`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step<T> {
    /// An event of the run, as it happened.
    Event(ToolEvent),
    /// The value computed from the results. Always the last item.
    Next(T),
}

impl Run {
    /// Passes every event through, collects the results in the order of the calls, and ends with the value that `next`
    /// computes from them. `next` is called once, and not at all if the run was cancelled, dropped or suspended.
    ///
    /// ```
    /// use haft_executor::{Step, Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// use futures_util::StreamExt;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("double").handler(|n: i64, _cx| async move { n * 2 })?)?;
    /// let calls = [ToolCall::new("c1", "double", "1"), ToolCall::new("c2", "double", "2")];
    /// let history = kit.run(calls).continue_with_results(|results| {
    ///     results.iter().map(|result| result.to_call_output().output.to_string()).collect::<Vec<_>>()
    /// });
    /// let steps: Vec<_> = history.collect().await;
    /// assert!(matches!(&steps[2], Step::Next(outputs) if outputs == &["2", "4"]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn continue_with_results<T, F>(self, next: F) -> Continuation<F>
    where
        F: FnOnce(Vec<ToolResult>) -> T,
    {
        let mut results: Vec<_> = self.calls().iter().map(|_| None).collect();
        for finished in self.earlier() {
            results[finished.index] = Some(finished.result.clone());
        }
        Continuation { run: self, results, next: Some(next) }
    }
}

impl<F> Continuation<F> {
    /// Cancels the run, as [`Run::cancel`] does: the stream continues until every call has a result, and ends without a
    /// final value.
    pub fn cancel(&mut self) {
        self.run.cancel();
    }

    /// Returns the suspended run, as [`Run::suspended`] does.
    pub fn suspended(&mut self) -> Option<crate::approval::Suspended> {
        self.run.suspended()
    }

    /// Returns the next event, and at the end the value computed from the results.
    pub async fn next<T>(&mut self) -> Option<Step<T>>
    where
        F: FnOnce(Vec<ToolResult>) -> T + Unpin,
    {
        poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await
    }

    /// Runs to the end, ignores the events that remain, and returns the value computed from the results; `None` if the
    /// run was cancelled or suspended, or if the value was returned before.
    ///
    /// ```
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_core::ToolCall;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kit: Toolkit = Toolkit::new().with(Tool::new("double").handler(|n: i64, _cx| async move { n * 2 })?)?;
    /// let run = kit.run([ToolCall::new("c1", "double", "21")]);
    /// let count = run.continue_with_results(|results| results.len()).finish().await;
    /// assert_eq!(count, Some(1));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn finish<T>(&mut self) -> Option<T>
    where
        F: FnOnce(Vec<ToolResult>) -> T + Unpin,
    {
        while let Some(step) = self.next().await {
            if let Step::Next(value) = step {
                return Some(value);
            }
        }
        None
    }
}

impl<F: Unpin, T> Stream for Continuation<F>
where
    F: FnOnce(Vec<ToolResult>) -> T,
{
    type Item = Step<T>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Step<T>>> {
        let this = self.get_mut();
        match ready!(Pin::new(&mut this.run).poll_next(task)) {
            Some(event) => {
                if let ToolEvent::Output { index, result } = &event {
                    this.results[*index] = Some(result.clone());
                }
                Poll::Ready(Some(Step::Event(event)))
            }
            None if this.run.was_cancelled() || this.run.has_pending() => Poll::Ready(None),
            None => {
                let results = std::mem::take(&mut this.results).into_iter().flatten().collect();
                Poll::Ready(this.next.take().map(|next| Step::Next(next(results))))
            }
        }
    }
}

impl<F> fmt::Debug for Continuation<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation").field("run", &self.run).finish_non_exhaustive()
    }
}
