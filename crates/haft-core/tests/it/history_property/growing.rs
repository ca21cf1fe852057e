//! A growing history: its index always equals that of its items read at once.

use haft_core::history;
use haft_core::{ApprovalId, Finish, History, Item, ToolCall, ToolResult, Turn};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

use super::CASES;
use super::drawing::{histories, whole};
use crate::seeded::for_all;

/// Creates a history that is queried after each item, so that its index has to keep up.
fn grown(items: &[Item]) -> History {
    let mut grown = History::new();
    for item in items {
        let _ = grown.is_reconciled();
        grown.push(item.clone());
    }
    grown
}

fn turn() -> Turn {
    let calls = ["a", "b", "a", "a_2"].map(|id| ToolCall::new(id, "look", "{}").into());
    Turn::new(calls.to_vec(), Finish::ToolCalls)
}

#[test]
fn a_grown_history_is_complete_exactly_when_its_items_are() {
    for_all(CASES, prop_oneof![histories(), whole()], |items| {
        for end in 0..=items.len() {
            let grown = grown(&items[..end]);
            prop_assert_eq!(grown.is_reconciled(), history::is_reconciled(&items[..end]));
            prop_assert_eq!(grown.has_unanswered(), !history::unanswered(&items[..end]).is_empty());
        }
        Ok(())
    });
}

#[test]
fn a_grown_history_assigns_the_ids_that_its_items_leave_free() {
    for_all(CASES, histories(), |items| {
        let (mut one, mut other) = (turn(), turn());
        prop_assert_eq!(grown(&items).fresh_ids(&mut one), history::fresh_ids(&items, &mut other));
        prop_assert_eq!(one, other);
        Ok(())
    });
}

#[test]
fn a_turn_is_appended_or_staged_and_completed_as_to_a_plain_list() {
    for_all(CASES, (histories(), any::<Index>()), |(items, skipped)| {
        let mut results: Vec<_> = turn().tool_calls().iter().map(|call| ToolResult::ok(call, json!(1))).collect();
        results.remove(skipped.index(results.len()));
        let (mut plain, mut appended, mut staged) = (items.clone(), grown(&items), grown(&items));
        history::append(&mut plain, turn(), results.clone()).unwrap();
        history::append(&mut appended, turn(), results.clone()).unwrap();
        let shown = staged.stage(&turn());
        prop_assert_eq!(shown.start(), items.len());
        prop_assert_eq!(&staged[items.len()..], &turn().items[..]);
        staged.complete(&shown, turn(), results).unwrap();
        prop_assert_eq!(&appended, &plain);
        prop_assert_eq!(&staged, &plain);
        prop_assert_eq!(staged.is_reconciled(), history::is_reconciled(&plain));
        Ok(())
    });
}

#[test]
fn the_pending_requests_of_a_grown_history_are_those_of_its_items() {
    for_all(CASES, histories(), |items| {
        let (grown, approvals) = (grown(&items), history::approvals(&items));
        let local = approvals.pending.iter().map(|pending| &pending.request);
        let open: Vec<_> = local.chain(approvals.remote.iter().map(|remote| &remote.request)).collect();
        for item in &items {
            if let Item::ApprovalRequest(request) = item {
                let found = grown.pending_request(&request.request_id);
                let known = open.iter().find(|open| open.request_id == request.request_id);
                prop_assert_eq!(found, known.copied());
            }
            if let Item::Verdict(response) = item {
                prop_assert!(grown.is_decided(&response.request_id));
            }
        }
        prop_assert!(grown.pending_request(&ApprovalId::from("never asked")).is_none());
        let undecided: Vec<_> = approvals.remote.iter().filter(|remote| remote.response.is_none()).collect();
        prop_assert_eq!(grown.has_open_remote_request(), !undecided.is_empty());
        for remote in &approvals.remote {
            let id = &remote.request.request_id;
            let open = undecided.iter().find(|open| open.request.request_id == *id).map(|open| &open.request);
            prop_assert_eq!(grown.open_remote_request(id), open);
            prop_assert!(grown.is_requested(id));
        }
        Ok(())
    });
}

#[test]
fn clones_share_their_items_until_one_of_them_is_changed() {
    let mut one = History::from([Item::user("a")]);
    let revision = one.revision();
    let other = one.clone();
    assert_eq!(one.as_ptr(), other.as_ptr());
    assert_eq!(other.added_since(&revision), Some(&[][..]));

    // The changed clone diverges; the other is unchanged.
    one.push(Item::user("b"));
    assert_eq!((one.len(), other.len()), (2, 1));
    assert!(one.added_since(&revision).is_none());
    assert_eq!(other.added_since(&revision), Some(&[][..]));
}
