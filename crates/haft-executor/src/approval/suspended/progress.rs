//! Results that come in while a run is stored: each takes its call's place in the value.

use haft_core::ToolResult;

use super::{Finished, Suspended, SuspendedError};

impl Suspended {
    /// Records the result of the call at this index, in place of its approval request or of an earlier result. A stored
    /// run that is kept up to date this way never runs a finished call again.
    ///
    /// # Errors
    ///
    /// Fails if there is no such call, or if the result belongs to another one.
    ///
    /// ```
    /// use haft_core::{ToolCall, ToolResult};
    /// use haft_executor::Suspended;
    /// use serde_json::json;
    ///
    /// let calls = [ToolCall::new("c1", "pay", "500"), ToolCall::new("c2", "pay", "700")];
    /// let run = Suspended::not_started(calls.clone()).with_result(1, ToolResult::ok(&calls[1], json!("paid")))?;
    /// assert_eq!(run.unstarted().collect::<Vec<_>>(), [&calls[0]]);
    /// assert_eq!(run.results().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
    ///
    /// let run = run.with_result(0, ToolResult::ok(&calls[0], json!("paid")))?;
    /// assert!(run.is_finished());
    /// # Ok::<_, haft_executor::SuspendedError>(())
    /// ```
    pub fn with_result(self, index: usize, result: ToolResult) -> Result<Self, SuspendedError> {
        let Self { v, run_id, calls, mut pending, mut finished, mut waiting, mut unstarted, rejected_verdicts } = self;
        let Some(call) = calls.get(index) else {
            return Err(SuspendedError::NoSuchCall { index, calls: calls.len() });
        };
        if result.call_id != call.call_id {
            let (call_id, found) = (call.call_id.clone(), result.call_id);
            return Err(SuspendedError::OtherCall { index, call_id, found });
        }
        pending.retain(|pending| pending.index != index);
        waiting.retain(|waiting| waiting.index != index);
        unstarted.retain(|unstarted| *unstarted != index);
        finished.retain(|finished| finished.index != index);
        let place = finished.partition_point(|finished| finished.index < index);
        finished.insert(place, Finished { index, result });
        Ok(Self { v, run_id, calls, pending, finished, waiting, unstarted, rejected_verdicts })
    }

    /// Returns the results of finished calls with their indexes, in the order of the calls.
    #[must_use]
    pub fn results(&self) -> impl ExactSizeIterator<Item = (usize, &ToolResult)> {
        self.finished.iter().map(|finished| (finished.index, &finished.result))
    }

    /// Reports whether every call has its result, so that nothing is left to resume.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.finished.len() == self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{ApprovalRequest, ToolCall};

    use super::*;

    #[test]
    fn a_result_takes_the_place_of_whatever_its_call_had() {
        let call = |id: &str| ToolCall::new(id, "pay", "1");
        let (a, b) = (call("a"), call("b"));
        let request = |call: &ToolCall| (call.clone(), ApprovalRequest::new(format!("q-{}", call.call_id), call));
        let waiting = Suspended::of([request(&a), request(&b)]).unwrap();
        let paid = |call: &ToolCall, text: &str| ToolResult::ok(call, serde_json::json!(text));

        let run = waiting.with_result(1, paid(&b, "first")).unwrap().with_result(1, paid(&b, "second")).unwrap();
        assert_eq!(run.pending().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(run.finished().map(|result| result.to_model_text().clone()).collect::<Vec<_>>(), ["second"]);
        assert!(!run.is_finished());
        let done = run.clone().with_result(0, paid(&a, "third")).unwrap();
        assert_eq!(done.results().map(|(index, _)| index).collect::<Vec<_>>(), [0, 1]);
        assert!(done.is_finished());

        let stored: Suspended = serde_json::from_str(&serde_json::to_string(&done).unwrap()).unwrap();
        assert_eq!(stored, done);
        assert!(matches!(run.clone().with_result(2, paid(&a, "")), Err(SuspendedError::NoSuchCall { calls: 2, .. })));
        assert!(matches!(run.with_result(0, paid(&b, "")), Err(SuspendedError::OtherCall { index: 0, .. })));
    }
}
