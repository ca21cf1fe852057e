//! Adding a turn and the results of its calls.

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
/// The turn's items come first, then the outputs in the order of the calls, whatever order the results come in. A call
/// may stay without a result, for it may wait for a person; see [`answer`]. A result that answers no call of the turn
/// is an error that lists all such, and then nothing was changed.
///
/// A call whose id an earlier call has, of the history or of the turn itself, is given a fresh one together with its
/// output: `call_0` becomes `call_0_2`. Of the results of one id the first goes to the first call, except that
/// `duplicate_call_id` goes to a later one.
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
/// A plain vector is read anew each time; a [`History`] remembers its ids, and is what to use for a conversation of many
/// turns.
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

/// Puts the results of calls that a history left open where they belong: right after the turn that asked, in call order
/// among the outputs that stand there.
///
/// A result for a call that is not there or has its output is an error that lists all such, and then nothing was
/// changed. Calls may stay open. Where open calls of several turns share an id, the latest turn is meant.
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

/// The calls of one id.
#[derive(Debug, Default)]
struct OpenCalls {
    /// Those that may be answered: the latest group last, in order within a group.
    open: Vec<VecDeque<usize>>,
    /// Whether one of them is run here.
    is_local: bool,
}

/// The outputs of the calls, by their place in the layout.
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
            // the name is the call's, for wires that pair by name
            Some((call, asked)) => answers[call] = Some(result.to_call_output().tool(asked.name.as_str())),
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

/// The call a result answers: in the latest group, the first of its id. The executor refuses a later call of an id at
/// once, while the first still runs or waits for a person, so a refusal is never for the first.
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
