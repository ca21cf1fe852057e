//! The outputs in a history, by call.
//!
//! Providers demand exactly one output for every call, right after the turn that called. A history that breaks this
//! can't be sent: haft never guesses which call an output belongs to.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use haft_core::{CallId, History, Item, ToolCallOutput};

use crate::wire_error::RequestError;

/// A history's outputs, each with its position.
pub(crate) struct Answers<'h> {
    by_call: HashMap<&'h CallId, (usize, &'h ToolCallOutput)>,
}

impl<'h> Answers<'h> {
    /// Finds the output for every call. A call without an output, an output without a call, and a duplicate of either
    /// are errors. Outputs from calls that a provider executed are not answers, and are left out.
    pub(crate) fn new(history: &'h History) -> Result<Self, RequestError> {
        let mut by_call = HashMap::new();
        let mut open = HashMap::new();
        let remote: HashSet<&CallId> = history.iter().filter_map(Item::provider_call_id).collect();
        for (at, item) in history.iter().enumerate() {
            if let Some(call) = item.local_call() {
                if open.insert(&call.call_id, at).is_some() || by_call.contains_key(&call.call_id) {
                    return Err(invalid(at, &format!("the call id `{}` occurs twice", call.call_id)));
                }
            } else if let Item::ToolOutput(output) = item {
                let id = &output.call_id;
                match (open.remove(id), by_call.entry(id)) {
                    (Some(_), Entry::Vacant(place)) => drop(place.insert((at, output))),
                    (_, Entry::Occupied(_)) => {
                        return Err(invalid(at, &format!("the call `{id}` has two outputs")));
                    }
                    (None, Entry::Vacant(_)) if remote.contains(id) => {}
                    (None, Entry::Vacant(_)) => {
                        return Err(invalid(at, &format!("there is no call `{id}` before this output")));
                    }
                }
            }
        }
        match open.into_iter().min_by_key(|(_, at)| *at) {
            None => Ok(Self { by_call }),
            Some((id, at)) => Err(invalid(at, &format!("the call `{id}` has no output"))),
        }
    }

    /// Returns a call's output with its position in the history.
    pub(crate) fn get(&self, call_id: &CallId) -> Option<(usize, &'h ToolCallOutput)> {
        self.by_call.get(call_id).copied()
    }
}

fn invalid(at: usize, what: &str) -> RequestError {
    RequestError::Invalid {
        param: format!("history[{at}]"),
        message: format!("{what}; repair the history with `history::repair`"),
    }
}

#[cfg(test)]
mod tests {
    use haft_core::ToolCall;

    use super::*;

    fn call(id: &str) -> Item {
        Item::ToolCall(ToolCall::new(id, "t", "{}"))
    }

    fn output(id: &str) -> Item {
        Item::ToolOutput(ToolCallOutput::new(id, "done"))
    }

    #[test]
    fn outputs_are_found_wherever_they_are() {
        let history = History::from(vec![call("a"), call("b"), output("b"), Item::user("hi"), output("a")]);
        let answers = Answers::new(&history).unwrap();
        assert_eq!(answers.get(&"a".into()).unwrap().0, 4);
        assert_eq!(answers.get(&"b".into()).unwrap().0, 2);
    }

    #[test]
    fn outputs_of_calls_that_a_provider_executed_are_left_out() {
        let remote = Item::ToolCall(ToolCall::new("r", "search", "{}").executed_by_provider());
        let history = History::from(vec![call("a"), remote, output("r"), output("a")]);
        let answers = Answers::new(&history).unwrap();
        assert!(answers.get(&"r".into()).is_none() && answers.get(&"a".into()).is_some());
    }

    #[test]
    fn a_history_that_is_not_whole_names_the_call() {
        for (items, part) in [
            (vec![call("a"), call("b"), output("b")], "history[0]: the call `a` has no output"),
            (vec![output("a")], "history[0]: there is no call `a`"),
            (vec![output("a"), call("a")], "history[0]: there is no call `a`"),
            (vec![call("a"), output("a"), output("a")], "history[2]: the call `a` has two outputs"),
            (vec![call("a"), call("a"), output("a")], "history[1]: the call id `a` occurs twice"),
        ] {
            let error = Answers::new(&History::from(items)).err().unwrap().to_string();
            assert!(error.starts_with(part) && error.contains("history::repair"), "{error}");
        }
    }
}
