//! A turn's calls and their results as a separate history.
//!
//! ```text
//! Turn, results ──> call, call, … output, output, … ──> the writer of requests ──> what it wrote for the outputs
//! ```
//!
//! A wire writes results alone with its request writer, so an output looks the same everywhere. Nothing else in the
//! turn affects it, so the history has only the calls. It must never be sent as a whole.

use std::collections::{HashMap, HashSet};

use haft_core::{CallId, History, Item, ToolCall, ToolResult, Turn};

use crate::wire::{Dropped, WireResults};
use crate::wire_error::RequestError;

/// A turn's calls, followed by their outputs in the same order.
#[derive(Debug)]
pub(crate) struct ResultHistory {
    history: History,
    /// For each output, its result's position among the results.
    positions: Vec<usize>,
    /// Reports about results that are not written.
    dropped: Vec<Dropped>,
}

impl ResultHistory {
    /// Pairs the calls that the application runs with their results. A call without a result, a result without a call,
    /// and a duplicate of either are errors. Results of calls that the provider executed are reported and left out.
    pub(crate) fn new(turn: &Turn, results: &[ToolResult]) -> Result<Self, RequestError> {
        let calls: Vec<&ToolCall> = turn.items.iter().filter_map(Item::local_call).collect();
        ensure_distinct(&calls)?;
        let mut by_call: HashMap<&CallId, usize> = HashMap::with_capacity(results.len());
        for (at, result) in results.iter().enumerate() {
            if by_call.insert(&result.call_id, at).is_some() {
                return Err(invalid(at, &format!("the call `{:.80}` has two results; keep one", result.call_id)));
            }
        }
        let mut items: Vec<Item> = calls.iter().map(|call| Item::ToolCall((*call).clone())).collect();
        let mut positions = Vec::with_capacity(calls.len());
        for call in calls {
            let Some((at, result)) = by_call.remove(&call.call_id).and_then(|at| Some((at, results.get(at)?))) else {
                return Err(without_result(call));
            };
            items.push(result.to_call_output().tool(call.name.as_str()).into());
            positions.push(at);
        }
        let dropped = report_rest(turn, by_call)?;
        Ok(Self { history: History::from(items), positions, dropped })
    }

    /// Returns the calls and the outputs, for a request writer.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Returns the number of calls, which is the first output's position.
    pub(crate) fn calls(&self) -> usize {
        self.positions.len()
    }

    /// Adds the reports about written items as reports about results. Reports about the calls, which are not sent, are
    /// left out.
    pub(crate) fn finish(mut self, member: &'static str, json: String, reports: Vec<Dropped>) -> WireResults {
        for mut report in reports {
            let output = report.item.and_then(|at| at.checked_sub(self.positions.len()));
            if let Some(position) = output.and_then(|output| self.positions.get(output)) {
                report.item = Some(*position);
                self.dropped.push(report);
            }
        }
        WireResults { member, json, dropped: self.dropped }
    }
}

/// Rejects calls that share an id: it would be unclear which one a result answers.
fn ensure_distinct(calls: &[&ToolCall]) -> Result<(), RequestError> {
    let mut ids = HashSet::with_capacity(calls.len());
    match calls.iter().find(|call| !ids.insert(&call.call_id)) {
        None => Ok(()),
        Some(call) => Err(RequestError::Invalid {
            param: "turn".to_owned(),
            message: format!("two calls have the id `{:.80}`; give each call an id of its own", call.call_id),
        }),
    }
}

/// Reports the results of calls that the provider executed, and rejects those that belong to no call.
fn report_rest(turn: &Turn, rest: HashMap<&CallId, usize>) -> Result<Vec<Dropped>, RequestError> {
    let remote: HashSet<&CallId> = turn.items.iter().filter_map(Item::provider_call_id).collect();
    let mut rest: Vec<_> = rest.into_iter().collect();
    rest.sort_unstable_by_key(|(_, at)| *at);
    let report = |(id, at): (&CallId, usize)| {
        if remote.contains(id) {
            Ok(Dropped::item(at, "result", "the provider executed the call, and has its result"))
        } else {
            Err(invalid(at, &format!("the turn has no call `{id:.80}`; pass the results of this turn only")))
        }
    };
    rest.into_iter().map(report).collect()
}

fn without_result(call: &ToolCall) -> RequestError {
    let ToolCall { call_id, name, .. } = call;
    RequestError::Invalid {
        param: "results".to_owned(),
        message: format!("the call `{call_id:.80}` of `{name:.80}` has no result; run it, or answer it with a failure"),
    }
}

fn invalid(at: usize, message: &str) -> RequestError {
    RequestError::Invalid { param: format!("results[{at}]"), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use haft_core::Finish;
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "t", "{}")
    }

    fn result(id: &str) -> ToolResult {
        ToolResult::ok(&call(id), json!(id))
    }

    fn turn(calls: Vec<ToolCall>) -> Turn {
        let mut items = vec![Item::assistant("text")];
        items.extend(calls.into_iter().map(Item::from));
        Turn::new(items, Finish::ToolCalls)
    }

    #[test]
    fn outputs_follow_the_calls_in_their_order() {
        let paired =
            ResultHistory::new(&turn(vec![call("a"), call("b"), call("c")]), &[result("c"), result("a"), result("b")]);
        let paired = paired.unwrap();
        let ids: Vec<&str> = paired.history().iter().skip(paired.calls()).filter_map(output_id).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        let reports = vec![Dropped::item(1, "arguments", "of a call"), Dropped::item(3, "image", "of `a`")];
        let reports = [reports, vec![Dropped::setting("history", "begun by the user")]].concat();
        let written = paired.finish("input", "[]".to_owned(), reports);
        assert_eq!(written.dropped, [Dropped::item(1, "image", "of `a`")]);
    }

    fn output_id(item: &Item) -> Option<&str> {
        if let Item::ToolOutput(output) = item { Some(output.call_id.as_str()) } else { None }
    }

    #[test]
    fn results_of_calls_that_the_provider_executed_are_reported() {
        let turn = turn(vec![call("a"), call("r").executed_by_provider()]);
        let paired = ResultHistory::new(&turn, &[result("r"), result("a")]).unwrap();
        assert_eq!(paired.calls(), 1);
        let written = paired.finish("input", "[]".to_owned(), Vec::new());
        assert_eq!(
            written.dropped[0].to_string(),
            "item 0: result: the provider executed the call, and has its result"
        );
    }

    #[test]
    fn calls_and_results_that_do_not_match_are_rejected() {
        for (calls, results, message) in [
            (vec!["a", "b"], vec!["b"], "results: the call `a` of `t` has no result; run it"),
            (vec!["a"], vec!["a", "a"], "results[1]: the call `a` has two results"),
            (vec!["a"], vec!["x", "a"], "results[0]: the turn has no call `x`"),
            (vec!["a", "a"], vec!["a", "a"], "turn: two calls have the id `a`"),
        ] {
            let turn = turn(calls.into_iter().map(call).collect());
            let results: Vec<_> = results.into_iter().map(result).collect();
            let error = ResultHistory::new(&turn, &results).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
