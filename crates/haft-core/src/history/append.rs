//! Adding a turn and the results of its calls to a history.

use std::collections::{HashMap, VecDeque};

use super::addition::Addition;
use super::append_error::{AppendError, StrayReason, StrayResult};
use super::arrangement::Arrangement;
use super::fresh_id::{Past, call_at};
use super::layout::Layout;
use super::list::History;
use crate::failure_kind::FailureKind;
use crate::item::{Item, ToolCallOutput};
use crate::result::ToolResult;
use crate::turn::Turn;

/// Adds a turn and the results of its calls to a history.
///
/// The items of the turn come first, then the outputs in the order of the calls, independent of the order of the
/// results. A call may have no result yet, for example because it waits for approval; see [`answer`]. If a result
/// answers no call of the turn, an error lists all such results and the history is unchanged.
///
/// A call whose id is already used, in the history or by an earlier call of the turn, gets a fresh id together with its
/// output: `call_0` becomes `call_0_2`. If several results have the same id, the first one answers the first call,
/// except that `duplicate_call_id` answers a later one.
///
/// ```
/// use haft_core::{Finish, Item, ToolCall, ToolResult, Turn, history};
/// use serde_json::json;
///
/// let (add, sub) = (ToolCall::new("c1", "add", "[1,2]"), ToolCall::new("c2", "sub", "[2,1]"));
/// let results = [ToolResult::ok(&sub, json!(1)), ToolResult::ok(&add, json!(3))];
/// let turn = Turn::new(vec![add.into(), sub.into()], Finish::ToolCalls);
///
/// let mut history = vec![Item::user("1 + 2, and 2 - 1?")];
/// history::append(&mut history, turn, results)?;
/// let Item::ToolOutput(first) = &history[3] else { panic!() };
/// assert_eq!(first.call_id, "c1");
/// assert!(history::is_reconciled(&history));
/// # Ok::<_, history::AppendError>(())
/// ```
///
/// A plain vector is read from the start each time. For a conversation of many turns use a [`History`], which keeps an
/// index of its ids.
pub fn append(
    history: &mut impl AddTurn,
    turn: Turn,
    results: impl IntoIterator<Item = ToolResult>,
) -> Result<(), AppendError> {
    history.add_turn(turn, results)
}

/// A list of items that a turn can be added to: a [`History`] or a vector.
pub trait AddTurn: sealed::Sealed {
    /// Adds a turn and the results of its calls. See [`append`].
    fn add_turn(&mut self, turn: Turn, results: impl IntoIterator<Item = ToolResult>) -> Result<(), AppendError>;
}

impl AddTurn for History {
    fn add_turn(&mut self, turn: Turn, results: impl IntoIterator<Item = ToolResult>) -> Result<(), AppendError> {
        Self::append(self, turn, results)
    }
}

impl AddTurn for Vec<Item> {
    fn add_turn(&mut self, turn: Turn, results: impl IntoIterator<Item = ToolResult>) -> Result<(), AppendError> {
        let items = Addition::of(Past::Items(self), &turn).complete(turn, results)?;
        self.extend(items);
        Ok(())
    }
}

mod sealed {
    use super::{History, Item};

    pub trait Sealed {}

    impl Sealed for History {}
    impl Sealed for Vec<Item> {}
}

/// Inserts the results of calls without output where they belong: directly after the turn that made the calls, in the
/// order of the calls.
///
/// If a result is for an unknown call or for one that already has an output, an error lists all such results and the
/// history is unchanged. Calls may remain without output. If unanswered calls of several turns share an id, the result
/// answers the latest one.
///
/// ```
/// use haft_core::{Item, ToolCall, ToolResult, history};
/// use serde_json::json;
///
/// let pay = ToolCall::new("c1", "pay", r#"{"cents":5}"#);
/// let mut history = vec![pay.clone().into(), Item::user("Anything new?")];
/// history::answer(&mut history, [ToolResult::ok(&pay, json!("paid"))])?;
/// assert!(matches!(&history[..], [Item::ToolCall(_), Item::ToolOutput(_), Item::Message(_)]));
/// # Ok::<_, history::AppendError>(())
/// ```
pub fn answer(history: &mut Vec<Item>, results: impl IntoIterator<Item = ToolResult>) -> Result<(), AppendError> {
    let layout = Layout::of(history);
    let answers = matched(history, &layout, results)?;
    *history = Arrangement::adding(&layout, answers).apply(std::mem::take(history));
    Ok(())
}

/// The calls that share one id.
#[derive(Debug, Default)]
struct OpenCalls {
    /// The calls without output: the latest group last, in order within a group.
    open: Vec<VecDeque<usize>>,
    /// Set if one of the calls is executed locally.
    is_local: bool,
}

/// Returns the outputs of the calls, by their index in the layout.
pub(super) fn matched(
    items: &[Item],
    layout: &Layout,
    results: impl IntoIterator<Item = ToolResult>,
) -> Result<Vec<Option<ToolCallOutput>>, AppendError> {
    let results: Vec<_> = results.into_iter().collect();
    let mut calls = open_calls(items, layout);
    let mut answers = vec![None; layout.calls.len()];
    let mut strays = Vec::new();
    for (index, result) in results.iter().enumerate() {
        let namesakes = calls.get_mut(result.call_id.as_str());
        let reason = match &namesakes {
            None => StrayReason::NoCall,
            Some(namesakes) if namesakes.is_local => StrayReason::AlreadyAnswered,
            Some(_) => StrayReason::ProviderExecuted,
        };
        let answered = namesakes.and_then(|namesakes| take(layout, &mut namesakes.open, result));
        match answered.and_then(|call| Some((call, call_at(items, layout.calls[call].item)?))) {
            // The output gets the name of its call, because some wire formats match outputs by name.
            Some((index, call)) => answers[index] = Some(result.to_call_output().tool(call.name.as_str())),
            None => strays.push(StrayResult { index, call_id: result.call_id.clone(), reason }),
        }
    }
    if strays.is_empty() { Ok(answers) } else { Err(AppendError::new(strays, results)) }
}

fn open_calls<'h>(items: &'h [Item], layout: &Layout) -> HashMap<&'h str, OpenCalls> {
    let mut calls: HashMap<&str, OpenCalls> = HashMap::new();
    for (ordinal, call) in layout.calls.iter().enumerate() {
        let Some(item) = call_at(items, call.item) else { continue };
        let namesakes = calls.entry(item.call_id.as_str()).or_default();
        if call.is_remote {
            continue;
        }
        namesakes.is_local = true;
        if call.answer.is_none() {
            let group = |calls: &VecDeque<usize>| calls.front().map(|&call| layout.calls[call].group);
            match namesakes.open.last_mut() {
                Some(calls) if group(calls) == Some(call.group) => calls.push_back(ordinal),
                _ => namesakes.open.push(VecDeque::from([ordinal])),
            }
        }
    }
    calls
}

/// Returns the call that a result answers: the first of its id in the latest group. The executor rejects a later call
/// with the same id at once, while the first still runs or waits for approval, so a `duplicate_call_id` result never
/// answers the first.
fn take(layout: &Layout, open: &mut Vec<VecDeque<usize>>, result: &ToolResult) -> Option<usize> {
    let calls = open.last_mut()?;
    let is_refusal = result.failure().is_some_and(|failure| failure.kind == FailureKind::DuplicateCallId);
    let is_first = calls.front().is_some_and(|&call| !layout.calls[call].repeats);
    let call = calls.remove(usize::from(is_refusal && is_first && calls.len() > 1));
    if calls.is_empty() {
        open.pop();
    }
    call
}
