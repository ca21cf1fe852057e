//! Random histories: in every case each provider accepts the repaired history, and nothing is lost.
//!
//! [`wire`] has the rules of the providers, [`drawing`] the histories: few ids, so that they often collide.

mod drawing;
mod growing;
mod wire;

use std::collections::HashMap;

use haft_core::history::{self, Change};
use haft_core::{CallId, Finish, Item, ToolCall, ToolResult, Turn};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use serde_json::json;

use self::drawing::{Asked, conversation, histories, whole};
use crate::history::notation::REASON;
use crate::seeded::for_all;

const CASES: u32 = 2_048;

#[test]
fn every_provider_accepts_a_repaired_history() {
    for_all(CASES, histories(), |items| {
        let repaired = history::repair(items, REASON).history;
        prop_assert!(wire::responses_takes(&repaired), "OpenAI Responses: {repaired:#?}");
        prop_assert!(wire::chat_takes(&repaired), "OpenAI Chat: {repaired:#?}");
        prop_assert!(wire::messages_takes(&repaired), "Anthropic: {repaired:#?}");
        prop_assert!(wire::contents_takes(&repaired), "Gemini: {repaired:#?}");
        Ok(())
    });
}

#[test]
fn a_repair_changes_nothing_exactly_when_every_provider_accepts_the_history() {
    for_all(CASES, histories(), |items| {
        let is_whole = wire::all_take(&items);
        prop_assert_eq!(history::is_reconciled(&items), is_whole);
        let repaired = history::repair(items.clone(), REASON);
        prop_assert_eq!(repaired.changes.is_empty(), is_whole);
        if is_whole {
            prop_assert_eq!(repaired.history, items);
        }
        Ok(())
    });
}

#[test]
fn a_repair_does_not_change_a_complete_history() {
    for_all(CASES, whole(), |items| {
        prop_assert!(wire::all_take(&items), "{items:#?}");
        prop_assert!(history::is_reconciled(&items));
        let (history, changes) = history::repair(items.clone(), REASON).into_parts();
        prop_assert_eq!(history, items);
        prop_assert_eq!(changes, []);
        Ok(())
    });
}

#[test]
fn a_repaired_history_needs_no_repair() {
    for_all(CASES, histories(), |items| {
        let once = history::repair(items, REASON).history;
        let twice = history::repair(once.clone(), REASON);
        prop_assert_eq!(twice.changes, []);
        prop_assert_eq!(twice.history, once);
        Ok(())
    });
}

#[test]
fn a_repair_loses_nothing() {
    for_all(CASES, histories(), |items| nothing_is_lost(&items));
}

#[test]
fn cancelling_answers_every_pending_call_and_changes_nothing_else() {
    for_all(CASES, histories(), |items| {
        let results = history::cancel_pending(&items, REASON);
        prop_assert_eq!(results.len(), history::unanswered(&items).len());
        let mut answered = items.clone();
        prop_assert!(history::answer(&mut answered, results).is_ok());
        prop_assert_eq!(history::unanswered(&answered), Vec::<&ToolCall>::new());
        // other faults are unchanged
        let rest: Vec<_> = answered.into_iter().filter(|item| !is_cancelled(item)).collect();
        prop_assert_eq!(sorted(&rest), sorted(&items));
        Ok(())
    });
}

/// Everything about requests of a provider is as before: an answer to a local call is none to them.
#[test]
fn a_repair_and_a_cancellation_leave_the_requests_of_a_provider_as_they_are() {
    for_all(CASES, histories(), |items| {
        let repaired = history::repair(items.clone(), REASON).history;
        let mut answered = items.clone();
        prop_assert!(history::answer(&mut answered, history::cancel_pending(&items, REASON)).is_ok());
        let mut stripped = answered.clone();
        history::strip_resolved_approvals(&mut stripped);
        let before = history::approvals(&items).remote;
        prop_assert_eq!(&history::approvals(&answered).remote, &before);
        prop_assert_eq!(&history::approvals(&stripped).remote, &before);
        let open = |remote: &[history::RemoteApproval]| -> Vec<_> {
            remote.iter().map(|remote| (remote.request.request_id.clone(), remote.response.clone())).collect()
        };
        prop_assert_eq!(open(&history::approvals(&repaired).remote), open(&before));
        Ok(())
    });
}

#[test]
fn appended_turns_are_always_complete() {
    for_all(CASES, conversation(), appended);
}

/// Checks that every item other than an output is present and in order, that every output is present or reported, and
/// that every new one is reported.
fn nothing_is_lost(items: &[Item]) -> TestCaseResult {
    let (history, changes) = history::repair(items.to_vec(), REASON).into_parts();
    let renamed = changes.iter().filter_map(|change| match change {
        Change::Renamed(renamed) => Some((renamed.to.clone(), renamed.from.clone())),
        _ => None,
    });
    let renamed: HashMap<CallId, CallId> = renamed.collect();
    let before = history.iter().map(|item| undone(item, &renamed));
    let (outputs, others): (Vec<_>, Vec<_>) = before.partition(|item| matches!(item, Item::ToolOutput(_)));
    let (old_outputs, old_others): (Vec<_>, Vec<_>) =
        items.iter().cloned().partition(|item| matches!(item, Item::ToolOutput(_)));
    prop_assert_eq!(others, old_others);

    let (new, kept): (Vec<_>, Vec<_>) = outputs.into_iter().partition(is_cancelled);
    let cancelled = changes.iter().filter(|change| matches!(change, Change::Cancelled(_))).count();
    prop_assert_eq!(new.len(), cancelled);
    for item in &new {
        prop_assert!(matches!(item, Item::ToolOutput(output) if output.tool.is_some() && output.is_error), "{item:?}");
    }

    let removed = changes.iter().filter_map(|change| match change {
        Change::Removed(removed) => Some(Item::from(removed.output.clone())),
        _ => None,
    });
    let accounted: Vec<_> = kept.into_iter().chain(removed).map(|item| unlabelled(&item)).collect();
    let old_outputs: Vec<_> = old_outputs.iter().map(unlabelled).collect();
    prop_assert_eq!(sorted(&accounted), sorted(&old_outputs));
    for change in &changes {
        prop_assert!(change.index() < items.len(), "{change}");
    }
    Ok(())
}

/// Appends turns, with some calls left open and answered at the end, and checks whether each call has its output.
fn appended(turns: Vec<Asked>) -> TestCaseResult {
    let mut history = vec![Item::user("hello")];
    let mut meant = HashMap::new();
    for (number, asked) in turns.into_iter().enumerate() {
        let mut turn = Turn::new(asked.items(number), Finish::ToolCalls);
        if asked.has_fresh_ids {
            history::fresh_ids(&history, &mut turn);
        }
        let calls = turn.tool_calls();
        let mut open: HashMap<&CallId, Vec<&ToolCall>> = HashMap::new();
        for call in calls.iter().rev() {
            open.entry(&call.call_id).or_default().push(call);
        }
        let mut results = Vec::new();
        for &place in asked.order.iter().filter(|place| **place < calls.len()) {
            let answer = format!("answer {place} of {number}");
            // the k-th result of an id is for the k-th call of it
            let call = open.get_mut(&calls[place].call_id).and_then(Vec::pop);
            prop_assert!(call.is_some(), "as many results as calls");
            meant.extend(call.map(|call| (call.arguments.clone(), answer.clone())));
            results.push(ToolResult::ok(&calls[place], json!(answer)));
        }
        prop_assert!(turn.append_to_history(&mut history, results).is_ok());
        history.extend(asked.ends_with_a_word.then(|| Item::user("and?")));
    }
    let left = history::unanswered(&history).into_iter().map(|call| {
        meant.insert(call.arguments.clone(), call.call_id.to_string());
        ToolResult::ok(call, json!(call.call_id.to_string()))
    });
    let left: Vec<_> = left.collect();
    prop_assert!(history::answer(&mut history, left).is_ok());

    prop_assert!(history::is_reconciled(&history), "{history:#?}");
    prop_assert!(wire::all_take(&history), "{history:#?}");
    for item in &history {
        let Item::ToolCall(call) = item else { continue };
        let answers = history.iter().filter_map(|item| match item {
            Item::ToolOutput(output) if output.call_id == call.call_id => Some(output.output.to_string()),
            _ => None,
        });
        if !call.provider_executed {
            let expected: Vec<_> = meant.get(&call.arguments).cloned().into_iter().collect();
            prop_assert_eq!(answers.collect::<Vec<_>>(), expected);
        }
    }
    Ok(())
}

fn undone(item: &Item, renamed: &HashMap<CallId, CallId>) -> Item {
    let old = |id: &CallId| renamed.get(id).unwrap_or(id).clone();
    let mut item = item.clone();
    match &mut item {
        Item::ToolCall(call) => call.call_id = old(&call.call_id),
        Item::ToolOutput(output) => output.call_id = old(&output.call_id),
        Item::ApprovalRequest(request) => request.call_id = old(&request.call_id),
        _ => {}
    }
    item
}

/// Returns the item without the tool name of an output, which a repair may change.
fn unlabelled(item: &Item) -> Item {
    let mut item = item.clone();
    if let Item::ToolOutput(output) = &mut item {
        output.tool = None;
    }
    item
}

fn is_cancelled(item: &Item) -> bool {
    matches!(item, Item::ToolOutput(output) if output.output.to_string().contains(REASON))
}

fn sorted(items: &[Item]) -> Vec<String> {
    let mut texts: Vec<_> = items.iter().map(|item| format!("{item:?}")).collect();
    texts.sort_unstable();
    texts
}
