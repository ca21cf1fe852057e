//! The content of a run's file: the run when the file was last written whole, and a line for each change since.
//!
//! ```text
//! {"v": 1, "suspended": {"run_id": …, "calls": […], …}, …}
//! {"begun": {"index": 0, "repeatable": false}}
//! {"done": {"index": 0, "result": {…}}}
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use haft::approval::{Suspended, SuspendedError, Verdict};
use haft::conversation::FormatVersion;
use haft::run::{CallId, FailureKind, RunId, ToolFailure, ToolResult};
use haft::serde_json;
use serde::{Deserialize, Serialize};

use super::ledger::Generation;
use crate::calls::record::quoted;
use crate::error::Fault;
use crate::input::TextInput;
use crate::wire::WireName;

/// The message for the model about a call that may have run.
const UNKNOWN: &str = "the process ended while this call ran; whether it had effects is not known";

/// A run in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredRun {
    pub(super) v: FormatVersion,
    /// The file's state, which reveals a copy.
    #[serde(default)]
    pub(super) generation: Generation,
    /// The workspace file; unset if there was none.
    pub(super) workspace: Option<PathBuf>,
    /// The caller that the calls run for, if it is not whoever runs the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) caller: Option<String>,
    /// The provider that the results are written for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) results: Option<WireName>,
    /// The run, when the file was written whole.
    pub(super) suspended: Suspended,
    /// The verdicts on requests that wait, which nobody has used yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) verdicts: Vec<Verdict>,
    /// The calls that began since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) begun: Vec<BegunCall>,
    /// The results since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) done: BTreeMap<usize, ToolResult>,
}

/// A change to a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Change {
    /// A call begins.
    Begun(BegunCall),
    /// A call has its result.
    Done { index: usize, result: ToolResult },
}

/// A call whose tool was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BegunCall {
    pub(super) index: usize,
    /// True if the call may run again, because its tool was readonly or idempotent.
    pub(super) repeatable: bool,
}

impl StoredRun {
    /// Reads a run as the process that wrote it left it, and answers the calls whose results are lost.
    pub(super) fn read(input: &TextInput) -> Result<Self, Fault> {
        let mut stored = Self::parse(&input.text).map_err(|error| {
            let fault = Fault::new(format!("{} is not a suspended run", quoted(&input.origin)));
            let fault = fault.excerpt(input.json_excerpt(0, &error));
            fault.advice("`haft run --suspend FILE` writes such files")
        })?;
        stored.recover();
        if stored.suspended.run_id().is_none() {
            stored.suspended = stored.suspended.with_run_id(RunId::random());
        }
        // Checks that the results belong to the calls.
        stored
            .waiting()
            .map_err(|error| Fault::new(format!("the run in `{}` is inconsistent", input.origin)).cause(&error))?;
        Ok(stored)
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(text);
        let mut stored = Self::deserialize(&mut json)?;
        while json.end().is_err() {
            match Change::deserialize(&mut json) {
                Ok(change) => stored.apply(change),
                // The process was killed while it wrote this line, so nothing has happened since.
                Err(error) if error.is_eof() && !text.ends_with('\n') => break,
                Err(error) => return Err(error),
            }
        }
        Ok(stored)
    }

    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Begun(call) => self.begun.push(call),
            Change::Done { index, result } => drop(self.done.insert(index, result)),
        }
    }

    /// Returns the index of the call that runs by this id: of two calls with one id, the first.
    pub(super) fn index_of(&self, call_id: &CallId) -> Option<usize> {
        self.suspended.calls().iter().position(|call| call.call_id == *call_id)
    }

    /// Answers the calls that began and whose results are lost, except those that may run again.
    fn recover(&mut self) {
        for BegunCall { index, repeatable } in std::mem::take(&mut self.begun) {
            let call = self.suspended.calls().get(index).filter(|_| !repeatable && !self.done.contains_key(&index));
            if let Some(call) = call {
                self.done.insert(
                    index,
                    ToolResult::from_failure(call, ToolFailure::new(FailureKind::OutcomeUnknown, UNKNOWN)),
                );
            }
        }
    }

    /// Returns the run with the results since.
    pub(super) fn waiting(&self) -> Result<Suspended, SuspendedError> {
        let add = |run: Suspended, (index, result): (&usize, &ToolResult)| run.with_result(*index, result.clone());
        self.done.iter().try_fold(self.suspended.clone(), add)
    }

    /// Replaces the run, with nothing that happened since.
    pub(super) fn replace(&mut self, suspended: Suspended) {
        self.suspended = suspended;
        let suspended = &self.suspended;
        self.verdicts.retain(|verdict| suspended.pending().any(|request| request.request_id == verdict.request_id));
        self.begun.clear();
        self.done.clear();
    }

    /// Returns a file's text with this run alone.
    pub(super) fn to_text(&self) -> Result<String, Fault> {
        let mut text = serde_json::to_string_pretty(self).map_err(|error| unwritable(&error))?;
        text.push('\n');
        Ok(text)
    }
}

impl Change {
    /// Returns the change as a line.
    pub(super) fn to_line(&self) -> Result<String, Fault> {
        let line = serde_json::to_string(self).map_err(|error| unwritable(&error))?;
        // Values that tools wrote may have their own line breaks.
        Ok(crate::events::compact(&line).into_owned())
    }
}

fn unwritable(error: &serde_json::Error) -> Fault {
    Fault::new("the suspended run can't be written").cause(error)
}

#[cfg(test)]
mod tests {
    use haft::run::ToolCall;
    use haft::serde_json::json;

    use super::*;

    fn stored(count: usize) -> StoredRun {
        let calls = (0..count).map(|at| ToolCall::new(format!("c{at}"), "pay", "{}"));
        let suspended = Suspended::not_started(calls).with_run_id("r1");
        StoredRun {
            v: FormatVersion::default(),
            generation: Generation::default(),
            workspace: None,
            caller: None,
            results: None,
            suspended,
            verdicts: Vec::new(),
            begun: Vec::new(),
            done: BTreeMap::new(),
        }
    }

    fn read(text: &str) -> Result<StoredRun, Fault> {
        StoredRun::read(&TextInput { origin: "run.json".to_owned(), text: text.to_owned() })
    }

    #[test]
    fn a_call_is_answered_kept_or_run_again_by_how_far_it_came() {
        let run = stored(4);
        let result = ToolResult::ok(&run.suspended.calls()[0], json!("paid"));
        let mut text = run.to_text().unwrap();
        for change in [
            Change::Begun(BegunCall { index: 0, repeatable: false }),
            Change::Begun(BegunCall { index: 1, repeatable: false }),
            Change::Begun(BegunCall { index: 2, repeatable: true }),
            Change::Done { index: 0, result },
        ] {
            text.push_str(&change.to_line().unwrap());
            text.push('\n');
        }
        let read = read(&text).unwrap();
        assert!(read.done[&0].is_ok());
        assert_eq!(read.done[&1].failure().unwrap().kind, FailureKind::OutcomeUnknown);
        let waiting = read.waiting().unwrap();
        assert_eq!(waiting.unstarted().map(|call| call.call_id.as_str()).collect::<Vec<_>>(), ["c2", "c3"]);
        assert_eq!(waiting.run_id().unwrap(), &"r1");
    }

    #[test]
    fn wherever_a_process_is_killed_the_whole_lines_count() {
        let run = stored(1);
        let whole = run.to_text().unwrap();
        let line = Change::Begun(BegunCall { index: 0, repeatable: false }).to_line().unwrap();
        for end in 0..line.len() {
            let read = read(&format!("{whole}{}", &line[..end])).unwrap();
            assert!(read.done.is_empty(), "the call had not begun: {}", &line[..end]);
        }
        assert_eq!(read(&format!("{whole}{line}\n")).unwrap().done.len(), 1);
        // A killed process did not write a line that ends and is not a change.
        for broken in ["{\"begun\": {\n", "{\"begn\": 1}\n", "x\n"] {
            assert!(read(&format!("{whole}{broken}")).is_err(), "{broken}");
        }
    }
}
