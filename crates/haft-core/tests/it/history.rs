//! Histories: appending, finding open calls, repairing.

pub(crate) mod notation;

use haft_core::history::{self, Change, RemovalReason, StrayReason};
use haft_core::{ApprovalRequest, CallId, FailureKind, Finish, Item, ToolCall, ToolCallOutput, ToolResult, Turn};
use serde_json::json;

use self::notation::{REASON, call, items, result, text};

/// Complete histories, which no repair may change.
const WHOLE: &[&str] = &[
    "",
    "u",
    "a",
    "u a u a",
    "u c:1 o:1 a",
    "u r a c:1 c:2 o:1 o:2 a",
    // the order of outputs within a group is free
    "u c:1 c:2 c:3 o:3 o:1 o:2 u",
    // call, output, call, output
    "u c:1 o:1 c:2 o:2 r c:3 o:3 a",
    // approvals may be anywhere
    "q:1 u c:1 q:1 y:1 o:1 y:7 a",
    "u c:1 q:1 c:2 o:2 y:1 o:1 q:2 a",
    // provider-executed calls need nothing, and their outputs may be anywhere
    "u p:1 a",
    "u p:1 o:1 a",
    "u p:1 c:2 o:1 o:2 a",
    "u p:1 c:2 o:2 o:1 a",
    "u p:1 u o:1 u",
    "o:1 u p:1",
    "u P:1 o:1 a",
    "u p:1 o:1 o:1 a",
    // unknown items separate groups
    "u c:1 o:1 ? c:2 o:2",
];

#[test]
fn a_complete_history_is_unchanged() {
    for whole in WHOLE {
        let items = items(whole);
        assert!(history::is_reconciled(&items), "{whole}");
        assert!(history::unanswered(&items).is_empty(), "{whole}");
        let repaired = history::repair(items.clone(), REASON);
        assert_eq!(repaired.history, items, "{whole}");
        assert!(repaired.changes.is_empty(), "{whole}");
    }
}

/// Broken histories, the result of their repair, and the kinds of changes with their positions.
const BROKEN: &[(&str, &str, &[&str])] = &[
    // calls without output
    ("c:1", "c:1 x:1", &["cancelled 0"]),
    ("u c:1 u a", "u c:1 x:1 u a", &["cancelled 1"]),
    ("u c:1 c:2 c:3 o:2 a", "u c:1 c:2 c:3 x:1 o:2 x:3 a", &["cancelled 1", "cancelled 3"]),
    ("u a c:1 r s", "u a c:1 r x:1 s", &["cancelled 2"]),
    // outputs without a call
    ("o:1", "", &["removed 0"]),
    ("u o:1 a o:2", "u a", &["removed 1", "removed 3"]),
    ("u c:1 o:2 o:1", "u c:1 o:1", &["removed 2"]),
    // an orphan separates nothing, because it is removed
    ("u c:1 o:9 c:2 o:2 o:1", "u c:1 c:2 o:2 o:1", &["removed 2"]),
    // an output before its call answers nothing
    ("u o:1=early c:1 a", "u c:1 a x:1", &["removed 1", "cancelled 2"]),
    ("u o:1=early c:1 o:1 a", "u c:1 o:1 a", &["removed 1"]),
    // second outputs
    ("u c:1 o:1 o:1=again a", "u c:1 o:1 a", &["removed 3"]),
    ("u c:1 o:1 u a o:1=again", "u c:1 o:1 u a", &["removed 5"]),
    // outputs after other items
    ("u c:1 u o:1 a", "u c:1 o:1 u a", &["moved 3"]),
    ("u c:1 a u a o:1", "u c:1 a o:1 u a", &["moved 5"]),
    ("u c:1 c:2 o:2 a o:1 u", "u c:1 c:2 o:1 o:2 a u", &["moved 5"]),
    ("u c:1 u c:2 o:1 c:3 o:3 o:2", "u c:1 o:1 u c:2 c:3 o:3 o:2", &["moved 4"]),
    ("u c:1 u c:2 u o:2 o:1", "u c:1 o:1 u c:2 o:2 u", &["moved 5", "moved 6"]),
    ("u c:1 ? o:1", "u c:1 o:1 ?", &["moved 3"]),
    ("u c:1 d o:1", "u c:1 o:1 d", &["moved 3"]),
    // an incomplete group gets its outputs in call order
    ("u c:1 c:2 c:3 o:3 o:1 a", "u c:1 c:2 c:3 o:1 x:2 o:3 a", &["cancelled 2", "reordered 4"]),
    // approvals separate nothing
    ("u c:1 q:1 u y:1 o:1", "u c:1 q:1 o:1 u y:1", &["moved 5"]),
    ("u c:1 c:2 q:2 o:1 y:2 u", "u c:1 c:2 q:2 o:1 x:2 y:2 u", &["cancelled 2"]),
    // reused ids
    ("c:1 o:1=a u c:1 o:1=b", "c:1 o:1=a u c:1_2 o:1_2=b", &["renamed 3"]),
    ("c:1 c:1 o:1=a o:1=b", "c:1 c:1_2 o:1=a o:1_2=b", &["renamed 1"]),
    ("c:1 c:1 o:1=a u", "c:1 c:1_2 o:1=a x:1_2 u", &["cancelled 1", "renamed 1"]),
    ("c:1 u c:1 o:1 u", "c:1 x:1 u c:1_2 o:1_2 u", &["cancelled 0", "renamed 2"]),
    ("c:1 o:1 c:1_2 o:1_2 c:1 o:1=c", "c:1 o:1 c:1_2 o:1_2 c:1_3 o:1_3=c", &["renamed 4"]),
    ("c:1 o:1 u c:1 q:1 y:1 u o:1", "c:1 o:1 u c:1_2 q:1_2 y:1 o:1_2 u", &["renamed 3", "moved 7"]),
    // provider-executed calls
    ("p:1 o:1=a c:1 o:1=b", "p:1 o:1=a c:1_2 o:1_2=b", &["renamed 2"]),
    ("c:1 o:1=a p:1 o:1=b", "c:1 o:1=a p:1_2 o:1_2=b", &["renamed 2"]),
    ("c:1 p:1 u", "c:1 p:1_2 x:1 u", &["cancelled 0", "renamed 1"]),
    ("P:1 c:1 o:1 o:1=again", "P:1 c:1 o:1", &["removed 3"]),
];

#[test]
fn a_broken_history_is_repaired_and_the_changes_are_reported() {
    for (broken, whole, told) in BROKEN {
        assert!(!history::is_reconciled(&items(broken)), "{broken}");
        let (history, changes) = history::repair(items(broken), REASON).into_parts();
        assert_eq!(text(&history), *whole, "{broken}");
        assert!(history::is_reconciled(&history), "{broken}");
        let kinds = changes.iter().map(|change| {
            let kind = serde_json::to_value(change).unwrap()["change"].as_str().unwrap().to_owned();
            format!("{kind} {}", change.index())
        });
        assert_eq!(kinds.collect::<Vec<_>>(), *told, "{broken}");
    }
}

#[test]
fn a_removed_item_is_reported_whole_with_the_reason() {
    let broken = items("o:2=early c:1 o:1 o:1=again o:3=whose c:2 o:2");
    let (_, changes) = history::repair(broken.clone(), REASON).into_parts();
    let removed = changes.iter().map(|change| match change {
        Change::Removed(removed) => (removed.index, removed.reason, Item::from(removed.output.clone())),
        other => panic!("{other}"),
    });
    let expected = [
        (0, RemovalReason::CallComesLater, broken[0].clone()),
        (3, RemovalReason::AlreadyAnswered, broken[3].clone()),
        (4, RemovalReason::NoCall, broken[4].clone()),
    ];
    assert_eq!(removed.collect::<Vec<_>>(), expected);
}

#[test]
fn an_output_that_names_another_tool_is_given_the_name_of_its_call() {
    let history = |label: &str| vec![call("1").into(), ToolCallOutput::new("1", "ok").tool(label).into()];
    assert!(history::is_reconciled(&history("t")));
    assert!(!history::is_reconciled(&history("other")));
    let repaired = history::repair(history("other"), REASON);
    assert_eq!(repaired.history, history("t"));
    assert_eq!(
        repaired.changes[0].to_string(),
        "the output of the call '1' at 1 named the tool 'other' and now names 't', as the call does"
    );
}

#[test]
fn a_cancelled_output_has_the_reason_and_the_name_of_the_tool() {
    let repaired = history::repair(vec![ToolCall::new("1", "pay", "{").into()], "the program was restarted");
    let Item::ToolOutput(output) = &repaired.history[1] else { panic!("{:?}", repaired.history) };
    assert_eq!(output.tool.as_deref(), Some("pay"));
    assert!(output.is_error);
    assert_eq!(output.output.to_string(), r#"{"error":{"kind":"cancelled","message":"the program was restarted"}}"#);
}

/// Histories and the positions of the calls in them that have no output.
const OPEN: &[(&str, &[usize])] = &[
    ("", &[]),
    ("u a", &[]),
    ("c:1 c:2 o:2", &[0]),
    ("c:1 u o:1", &[]),
    ("o:1 c:1", &[1]),
    ("p:1 c:2", &[1]),
    // an output answers one call, in the nearest group, the first there
    ("c:1 c:1 o:1", &[1]),
    ("c:1 u c:1 o:1", &[0]),
    ("c:1 u c:1 c:1 o:1 o:1", &[0]),
    ("c:1 u c:1 c:1 o:1 o:1 o:1", &[]),
    ("c:1 o:1 c:1", &[2]),
];

#[test]
fn open_calls_are_those_without_an_output_after_them() {
    for (history, open) in OPEN {
        let items = items(history);
        let unanswered = history::unanswered(&items);
        let places = unanswered.iter().map(|call| {
            items.iter().position(|item| matches!(item, Item::ToolCall(other) if std::ptr::eq(other, *call))).unwrap()
        });
        assert_eq!(places.collect::<Vec<_>>(), *open, "{history}");
        let cancelled = history::cancel_pending(&items, REASON);
        assert_eq!(cancelled.len(), open.len(), "{history}");
        for (result, call) in cancelled.iter().zip(unanswered) {
            assert_eq!(result.call_id, call.call_id, "{history}");
            assert_eq!(result.failure().unwrap().kind, FailureKind::Cancelled);
            assert_eq!(result.failure().unwrap().message, REASON);
        }
    }
}

fn turn(text: &str) -> Turn {
    Turn::new(items(text), Finish::ToolCalls)
}

fn refusal(id: &str) -> ToolResult {
    ToolResult::duplicate_call_id(&call(id))
}

/// A history, a turn, results as `id=text` in the order they arrive, and the resulting history.
const APPENDED: &[(&str, &str, &str, &str)] = &[
    ("", "", "", ""),
    ("u", "a", "", "u a"),
    ("u", "r c:1 c:2 c:3", "3=c 1=a 2=b", "u r c:1 c:2 c:3 o:1=a o:2=b o:3=c"),
    // a call may wait
    ("u", "c:1 c:2", "2=b", "u c:1 c:2 o:2=b"),
    ("u", "c:1 a p:2 o:2", "1=a", "u c:1 a p:2 o:2 o:1=a"),
    // ids the history has
    ("c:1 o:1 u", "c:1 c:2", "2=b 1=a", "c:1 o:1 u c:1_2 c:2 o:1_2=a o:2=b"),
    ("c:1 o:1 u c:1_2 o:1_2", "c:1", "1=a", "c:1 o:1 u c:1_2 o:1_2 c:1_3 o:1_3=a"),
    ("c:1 o:1 u", "c:1 c:1_2", "1=a 1_2=b", "c:1 o:1 u c:1_3 c:1_2 o:1_3=a o:1_2=b"),
    ("c:1 o:1 u", "p:1 o:1", "", "c:1 o:1 u p:1_2 o:1_2"),
    // ids the turn has twice
    ("u", "c:1 c:1 c:1", "1=a 1=b", "u c:1 c:1_2 c:1_3 o:1=a o:1_2=b"),
    ("c:1 o:1 u", "c:1 c:1", "1=a 1=b", "c:1 o:1 u c:1_2 c:1_3 o:1_2=a o:1_3=b"),
    // other items in a turn do not separate outputs from their group
    ("u", "c:1 u c:2", "2=b 1=a", "u c:1 o:1=a u c:2 o:2=b"),
    ("u", "c:1 q:1", "1=a", "u c:1 q:1 o:1=a"),
];

#[test]
fn a_turn_is_followed_by_its_outputs_in_call_order() {
    for (before, asked, results, after) in APPENDED {
        let results = results.split_whitespace().map(|word| word.split_once('=').unwrap());
        let results: Vec<_> = results.map(|(id, text)| result(id, text)).collect();
        let mut history = items(before);
        turn(asked).append_to_history(&mut history, results).unwrap();
        assert_eq!(text(&history), *after, "{before} + {asked}");
    }
}

#[test]
fn a_rejected_second_call_is_never_taken_for_the_first() {
    let orders: [&[ToolResult]; 2] = [&[refusal("1"), result("1", "a")], &[result("1", "a"), refusal("1")]];
    for results in orders {
        let mut history = Vec::new();
        history::append(&mut history, turn("c:1 c:1"), results.to_vec()).unwrap();
        assert!(text(&history).starts_with("c:1 c:1_2 o:1=a o:1_2="), "{}", text(&history));
    }
    // the first waits for approval
    let mut history = Vec::new();
    history::append(&mut history, turn("c:1 c:1 c:1"), [refusal("1"), refusal("1")]).unwrap();
    assert_eq!(history::unanswered(&history).iter().map(|call| &call.call_id).collect::<Vec<_>>(), ["1"]);
}

#[test]
fn results_for_no_call_of_the_turn_change_nothing_and_are_all_named() {
    let before = items("c:8 u");
    let mut history = before.clone();
    let results = vec![result("9", "?"), result("1", "a"), result("2", "?"), result("1", "b"), result("8", "?")];
    let asked = turn("c:1 p:2");
    let error = history::append(&mut history, asked.clone(), results.clone()).unwrap_err();
    assert_eq!(history, before);
    assert_eq!(
        error.to_string(),
        "4 of 5 results answer no pending call: '9' (no such call), '2' (executed by the provider), '1' (already answered), \
         '8' (no such call)"
    );
    let strays: Vec<_> = error.strays().iter().map(|stray| (stray.index, stray.reason)).collect();
    assert_eq!(
        strays,
        [
            (0, StrayReason::NoCall),
            (2, StrayReason::ProviderExecuted),
            (3, StrayReason::AlreadyAnswered),
            (4, StrayReason::NoCall)
        ]
    );
    assert_eq!(error.into_parts(), (Some(asked), results));
}

/// A history, results as `id=text`, and the resulting history.
const ANSWERED: &[(&str, &str, &str)] = &[
    ("c:1 u", "1=a", "c:1 o:1=a u"),
    ("u c:1 c:2 c:3 o:2 u a", "3=c 1=a", "u c:1 c:2 c:3 o:1=a o:2 o:3=c u a"),
    ("c:1 c:2 u c:3 u", "3=c 1=a", "c:1 c:2 o:1=a u c:3 o:3=c u"),
    ("c:1 o:1 c:2 a c:3 o:3 u", "2=b", "c:1 o:1 c:2 a c:3 o:2=b o:3 u"),
    ("c:1 q:1 y:1 u", "1=a", "c:1 q:1 y:1 o:1=a u"),
    // other faults stay
    ("o:7 c:1 u c:2 u o:2", "1=a", "o:7 c:1 o:1=a u c:2 u o:2"),
    ("c:1 c:2 c:3 o:3 u o:2", "1=a", "c:1 c:2 c:3 o:1=a o:3 u o:2"),
    // of two open turns the latest is answered
    ("c:1 u c:1 u", "1=a", "c:1 u c:1 o:1=a u"),
    ("c:1", "", "c:1"),
];

#[test]
fn answers_are_inserted_right_after_their_turn() {
    for (before, results, after) in ANSWERED {
        let results = results.split_whitespace().map(|word| word.split_once('=').unwrap());
        let results: Vec<_> = results.map(|(id, text)| result(id, text)).collect();
        let mut history = items(before);
        history::answer(&mut history, results).unwrap();
        assert_eq!(text(&history), *after, "{before}");
    }
}

#[test]
fn an_answer_to_no_open_call_changes_nothing() {
    let before = items("c:1 o:1 u c:2 u p:3");
    let mut history = before.clone();
    let results = vec![result("2", "b"), result("1", "again"), result("3", "?"), result("4", "?")];
    let error = history::answer(&mut history, results.clone()).unwrap_err();
    assert_eq!(history, before);
    assert_eq!(
        error.to_string(),
        "3 of 4 results answer no pending call: '1' (already answered), '3' (executed by the provider), '4' (no such call)"
    );
    assert_eq!(error.into_parts(), (None, results));
}

#[test]
fn fresh_ids_are_given_to_local_calls_the_history_has() {
    let mut asked = turn("a c:1 c:2 p:1 q:1");
    let renamed = history::fresh_ids(&items("c:1 o:1 u c:1_2 o:1_2 u"), &mut asked);
    assert_eq!(text(&asked.items), "a c:1_3 c:2 p:1 q:1");
    assert_eq!(renamed.len(), 1);
    assert_eq!((renamed[0].index, renamed[0].from.as_str(), renamed[0].to.as_str()), (1, "1", "1_3"));

    assert!(history::fresh_ids(&items("o:2 u q:2"), &mut asked).is_empty());
    assert!(history::fresh_ids(&[], &mut asked).is_empty());
}

#[test]
fn fresh_ids_are_given_to_local_calls_that_share_one_with_the_providers() {
    for (asked, expected) in [
        ("p:1 c:1", "p:1 c:1_2"),
        ("c:1 p:1", "c:1_2 p:1"),
        ("P:1 c:1 c:2", "P:1 c:1_2 c:2"),
        ("p:1 o:1 c:1", "p:1 o:1 c:1_2"),
        ("p:1 c:1 o:1", "p:1 c:1_2 o:1"),
        ("p:1 c:1 q:1", "p:1 c:1_2 q:1"),
        ("p:1 o:1 c:2", "p:1 o:1 c:2"),
        ("p:1 p:1 P:1", "p:1 p:1 P:1"),
    ] {
        let mut asked = turn(asked);
        history::fresh_ids(&[], &mut asked);
        assert_eq!(text(&asked.items), expected);
    }

    let mut asked = turn("p:1 c:1 o:1 c:2");
    history::fresh_ids(&items("c:1_2 u c:2"), &mut asked);
    assert_eq!(text(&asked.items), "p:1 c:1_3 o:1 c:2_2");
}

#[test]
fn a_call_never_takes_the_id_under_which_a_provider_answered() {
    let mut history = items("u P:1 o:1 u");
    history::append(&mut history, turn("c:1"), [result("1", "a")]).unwrap();
    assert_eq!(text(&history), "u P:1 o:1 u c:1_2 o:1_2=a");
    assert!(history::is_reconciled(&history));
}

#[test]
fn after_fresh_ids_appending_renames_no_call_of_ones_own() {
    let mut history = items("u");
    let mut asked = turn("p:1 c:1 P:2 c:2 c:3");
    history::fresh_ids(&history, &mut asked);
    let ids: Vec<_> = asked.tool_calls().into_iter().map(|call| call.call_id).collect();
    history::append(&mut history, asked, []).unwrap();
    let open: Vec<_> = history::unanswered(&history).into_iter().map(|call| call.call_id.clone()).collect();
    assert_eq!(open, ids);
}

#[test]
fn a_request_in_the_turn_follows_its_call_to_the_fresh_id() {
    let mut asked = turn("c:1 q:1");
    history::fresh_ids(&items("c:1 o:1 u"), &mut asked);
    assert_eq!(text(&asked.items), "c:1_2 q:1_2");
}

#[test]
fn calls_of_a_turn_that_share_an_id_still_do_after_fresh_ids() {
    let mut asked = turn("c:1 c:1 c:2 c:2");
    let renamed = history::fresh_ids(&items("c:1 o:1 u"), &mut asked);
    assert_eq!(text(&asked.items), "c:1_2 c:1_2 c:2 c:2");
    assert_eq!(renamed.len(), 2);

    let (first, second) = (ToolResult::ok(&call("1_2"), json!("a")), refusal("1_2"));
    let mut history = items("c:1 o:1 u");
    history::append(&mut history, asked, [second, first, result("2", "b"), refusal("2")]).unwrap();
    assert!(history::is_reconciled(&history));
}

#[test]
fn approvals_are_paired_with_their_calls_and_answers() {
    let history = items("c:1 o:1 q:1 y:1 c:2 c:3 q:2 q:3 n:3 y:3 y:9 q:7 u q:2");
    let approvals = history::approvals(&history);
    let pending: Vec<_> = approvals.pending.iter().map(|pending| pending.call.call_id.as_str()).collect();
    assert_eq!(pending, ["2", "3"]);
    assert_eq!(approvals.pending[0].response, None);
    assert_eq!(approvals.pending[1].response.as_ref().map(|response| response.decision.as_str()), Some("denied"));
    assert_eq!(approvals.ignored.iter().map(|response| &response.request_id).collect::<Vec<_>>(), ["q3"]);
    assert_eq!(approvals.unmatched.iter().map(|response| &response.request_id).collect::<Vec<_>>(), ["q9"]);
    assert_eq!(approvals.resolved.iter().map(|request| &request.request_id).collect::<Vec<_>>(), ["q1", "q7"]);
    assert_eq!(approvals.repeated.iter().map(|request| &request.request_id).collect::<Vec<_>>(), ["q2"]);
    assert!(approvals.remote.is_empty());
}

#[test]
fn an_early_verdict_does_not_approve_a_later_call() {
    // a leftover request of a removed call, with its approval, and a new call of the same id
    let stale = history::approvals(&items("q:1 y:1 u c:1"));
    assert!(stale.pending.is_empty(), "{stale:?}");
    // an approval before its request
    let early = history::approvals(&items("y:1 c:1 q:1"));
    assert_eq!(early.pending[0].response, None);
    assert_eq!(early.unmatched.len(), 1);
    // the request was for the answered call, not for the other of the same id
    let namesake = history::approvals(&items("c:1 q:1 y:1 o:1 u c:1"));
    assert!(namesake.pending.is_empty(), "{namesake:?}");
}

/// Creates a request of the provider for a call that it executes itself.
fn remote_request(id: &str) -> ApprovalRequest {
    let mut request = ApprovalRequest::new(id, &call("mcp_1"));
    request.provider_data.insert("openai".to_owned(), json!({"type": "mcp_approval_request"}));
    request
}

#[test]
fn approval_requests_of_a_provider_are_separate() {
    let request = remote_request("m1");
    let mut history = vec![request.clone().into(), request.approve().into()];
    history.extend(items("c:1 q:1"));
    let approvals = history::approvals(&history);
    assert_eq!(approvals.remote.len(), 1);
    assert_eq!(approvals.remote[0].response, Some(request.approve()));
    assert_eq!(approvals.pending.len(), 1);

    // a request for a local call is not the provider's, whatever it contains
    let mut local = ApprovalRequest::new("q1", &call("1"));
    local.provider_data = request.provider_data;
    let approvals = history::approvals(&[call("1").into(), local.into()]);
    assert_eq!((approvals.remote.len(), approvals.pending.len()), (0, 1));
}

/// A history, what remains of it and what is removed.
const STRIPPED: &[(&str, &str, &str)] = &[
    ("c:1 q:1 y:1 o:1 a", "c:1 o:1 a", "q:1 y:1"),
    ("c:1 q:1 n:1 o:1 u c:2 q:2 y:2 o:2", "c:1 o:1 u c:2 o:2", "q:1 n:1 q:2 y:2"),
    // a second verdict is removed with its request
    ("c:1 q:1 y:1 n:1 o:1", "c:1 o:1", "q:1 y:1 n:1"),
    // only resolved requests
    ("c:1 c:2 q:1 q:2 y:1 y:2 o:1", "c:1 c:2 q:2 y:2 o:1", "q:1 y:1"),
    ("c:1 q:1 y:1", "c:1 q:1 y:1", ""),
    ("c:1 o:1 y:9", "c:1 o:1 y:9", ""),
    ("q:1 y:1 a", "q:1 y:1 a", ""),
    // requests of the provider
    ("p:1 q:1 y:1 o:1", "p:1 q:1 y:1 o:1", ""),
    // reused ids: the request is for the open call
    ("c:1 o:1 u c:1 q:1 y:1", "c:1 o:1 u c:1 q:1 y:1", ""),
];

#[test]
fn resolved_approvals_are_removed_and_returned() {
    for (before, stays, goes) in STRIPPED {
        let mut history = items(before);
        let removed = history::strip_resolved_approvals(&mut history);
        assert_eq!(text(&history), *stays, "{before}");
        assert_eq!(text(&removed), *goes, "{before}");
    }
    let request = remote_request("m1");
    let mut history: Vec<Item> = vec![request.clone().into(), request.approve().into()];
    assert!(history::strip_resolved_approvals(&mut history).is_empty());
}

#[test]
fn a_repair_is_stored_and_read_back() {
    for (broken, ..) in BROKEN {
        let changes = history::repair(items(broken), REASON).changes;
        let written = serde_json::to_string(&changes).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Change>>(&written).unwrap(), changes, "{broken}");
    }
}

/// Creates histories of this many calls, broken in ways that tempt an implementation to compare all pairs of items.
fn tempting(calls: usize) -> Vec<Vec<Item>> {
    let call = |id: usize| Item::from(call(&id.to_string()));
    let output = |id: usize| Item::from(ToolCallOutput::new(id.to_string(), "ok"));
    vec![
        // one group, answered backwards, one missing
        (0..calls).map(call).chain((1..calls).rev().map(output)).collect(),
        // every output in the wrong position
        (0..calls).flat_map(|id| [call(id), Item::user("and?")]).chain((0..calls).map(output)).collect(),
        // one id everywhere, in one group and in many, with as many outputs
        (0..calls).map(|_| call(0)).chain((0..calls).map(|_| output(0))).collect(),
        (0..calls).flat_map(|_| [call(0), Item::user("and?")]).chain((0..calls).map(|_| output(0))).collect(),
        // nothing but orphans, and nothing but open calls of one id
        (0..2 * calls).map(output).collect(),
        (0..calls).flat_map(|_| [call(0), Item::user("and?")]).collect(),
    ]
}

/// A long history is handled completely. At quadratic cost this would not end in reasonable time.
#[test]
fn large_histories_are_handled_like_small_ones() {
    for history in tempting(24_000) {
        let mut answered = history.clone();
        history::answer(&mut answered, history::cancel_pending(&history, REASON)).unwrap();
        assert!(history::unanswered(&answered).is_empty());
        let repaired = history::repair(history, REASON);
        assert!(!repaired.changes.is_empty());
        assert!(history::is_reconciled(&repaired.history));
    }
}

#[test]
fn ids_are_compared_exactly() {
    let mut history = vec![Item::from(ToolCall::new("", "t", "{}")), Item::from(ToolCall::new(" ", "t", "{}"))];
    history::answer(&mut history, [ToolResult::ok(&ToolCall::new(" ", "t", "{}"), json!(1))]).unwrap();
    let open: Vec<&CallId> = history::unanswered(&history).iter().map(|call| &call.call_id).collect();
    assert_eq!(open, [""]);
}
