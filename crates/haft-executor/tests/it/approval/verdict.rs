//! Every verdict, in every way in which it can reach its call.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalDecision, ApprovalRequest, ToolEvent, Verdict};
use haft_executor::{
    ApprovalAnswer, BoxError, Cx, OutputCap, RunOptions, SigningKeys, Tool, VerdictFault, VerdictQueue,
};
use serde_json::json;

use crate::approval::bench::{Decide, Way, all_came, asking, bench, message, suspend, tell};
use crate::executing::{calls, came, kit};

/// A verdict, the outcome of the call `pay 5` by it, the message to the model, and the calls that ran.
type Case = (&'static str, Decide, &'static str, &'static str, &'static [&'static str]);

const CASES: [Case; 7] = [
    ("yes", ApprovalRequest::approve, "5", "", &["pay 5"]),
    ("no", |request| request.deny("too much"), "denied", "too much", &[]),
    ("an empty reason", |request| request.deny(""), "denied", "the call was denied", &[]),
    ("a blank reason", |request| request.deny(" \n"), "denied", "the call was denied", &[]),
    ("no reason", |request| request.respond(ApprovalDecision::Denied), "denied", "the call was denied", &[]),
    ("other arguments", |request| request.edit(json!(6)), "6", "", &["pay 6"]),
    ("an answer", |request| request.answer(json!(7)), "7", "", &[]),
];

#[tokio::test]
async fn every_verdict_counts_the_same_in_every_way() {
    for (name, decide, came_of, said, ran) in CASES {
        let options = [RunOptions::new(), RunOptions::new().spawned(), RunOptions::new().concurrency(1)];
        for (way, options) in Way::ALL.into_iter().flat_map(|way| options.iter().map(move |options| (way, options))) {
            let (kit, journal) = bench();
            let calls = calls([("pay", "5"), ("look", "1")]);
            let results = way.results(&kit, options, &calls, decide).await;
            assert_eq!(all_came(&results), [came_of, "1"], "{name} by {way:?}");
            assert!(message(&results).contains(said), "{name} by {way:?}: {}", message(&results));
            let mut did = journal.lines();
            did.retain(|line| line != "look 1");
            assert_eq!(did, ran, "{name} by {way:?}");
            assert!(results[0].failure().is_none_or(|failure| !failure.started), "{name} by {way:?}");
        }
    }
}

/// A verdict that does not count, and the reason.
type Uncounted = (&'static str, Decide, VerdictFault);

fn uncounted() -> [Uncounted; 6] {
    [
        ("no digest", |request| request.approve().digest(""), VerdictFault::OtherDigest),
        ("another digest", |request| request.approve().digest("sha256:00"), VerdictFault::OtherDigest),
        ("another call", |request| of_call("c9", request.approve()), VerdictFault::OtherDigest),
        ("unsigned", |request| signed_as(None, request.approve()), VerdictFault::Unsigned),
        ("forged", |request| signed_as(Some("00"), request.approve()), VerdictFault::Forged),
        (
            "another word",
            |request| request.respond(ApprovalDecision::from("approve")),
            VerdictFault::UnusableDecision { word: "approve".into() },
        ),
    ]
}

fn of_call(call_id: &str, mut response: Verdict) -> Verdict {
    response.call_id = Some(call_id.into());
    response
}

fn signed_as(mac: Option<&str>, mut response: Verdict) -> Verdict {
    match (mac, &mut response.signature) {
        (Some(mac), Some(signature)) => mac.clone_into(&mut signature.mac),
        (_, signature) => *signature = None,
    }
    response
}

/// The sender of an invalid verdict gets it back, and the request stays pending for the real approver.
#[tokio::test]
async fn a_verdict_that_does_not_count_leaves_its_request_pending() {
    let options = RunOptions::new().approval_keys(SigningKeys::new("k", b"a secret of thirty-two bytes....").unwrap());
    for (name, decide, fault) in uncounted() {
        let calls = calls([("pay", "5")]);
        // Through a queue:
        let ((kit, journal), (sender, queue)) = (bench(), VerdictQueue::new());
        let mut run = kit.run_with(&calls, options.clone().approvals(queue));
        let Some(ToolEvent::ApprovalRequested { request, .. }) = run.next().await else { panic!("{name}") };
        assert_eq!(sender.send(decide(&request)).unwrap_err().fault, fault, "{name}");
        sender.send(request.approve()).unwrap();
        assert_eq!(all_came(&run.collect_results().await), ["5"], "{name}");

        // After a restart:
        let suspended = suspend(&kit, &options, &calls).await;
        let asked = suspended.pending().next().unwrap().clone();
        let mut run = kit.resume_with(suspended, [decide(&asked)], options.clone());
        while run.next().await.is_some() {}
        let faults: Vec<_> = run.rejected_verdicts().iter().map(|refused| refused.fault.clone()).collect();
        assert_eq!(faults, [fault], "{name}");
        let suspended = run.suspended().unwrap();
        assert_eq!(suspended.pending().collect::<Vec<_>>(), [&asked], "{name}");
        let run = kit.resume_with(suspended, [asked.approve()], options.clone());
        assert_eq!(all_came(&run.collect_or_suspend().await.unwrap()), ["5"], "{name}");

        // A run whose approver answers once has no further verdict to wait for:
        let approver = move |request: ApprovalRequest, _: Cx| async move { decide(&request) };
        let run = kit.run_with(&calls, options.clone().approvals(approver));
        assert_eq!(all_came(&run.collect_results().await), ["denied"], "{name}");
        assert_eq!(journal.lines(), ["pay 5", "pay 5"], "{name}");
    }
}

/// An answer that is no verdict on the request, and what the model and the operator read about it.
type Useless = (&'static str, Decide, &'static str, VerdictFault);

#[tokio::test]
async fn an_answer_without_the_request_id_and_digest_is_no_verdict() {
    let changed = "was given for other arguments";
    let table: [Useless; 4] = [
        ("no digest", |request| request.approve().digest(""), changed, VerdictFault::OtherDigest),
        ("another digest", |request| request.approve().digest("sha256:00"), changed, VerdictFault::OtherDigest),
        (
            "another question",
            |request| Verdict::new("q", ApprovalDecision::Approved).digest(request.digest.as_str()),
            "was not approved",
            VerdictFault::UnknownRequest,
        ),
        (
            "another call",
            |request| {
                let mut response = request.approve();
                response.call_id = Some("c9".into());
                response
            },
            changed,
            VerdictFault::OtherDigest,
        ),
    ];
    for (name, decide, said, fault) in table {
        let (kit, journal) = bench();
        let results = kit.run_with(calls([("pay", "5")]), asking(decide)).collect_results().await;
        assert_eq!(all_came(&results), ["denied"], "{name}");
        assert!(message(&results).contains(said), "{name}: {}", message(&results));
        let cause = results[0].failure().unwrap().source().unwrap().to_string();
        assert_eq!(cause, fault.to_string(), "{name}");
        assert_eq!(journal.lines(), [""; 0], "{name}");
    }
}

#[tokio::test]
async fn an_approver_that_fails_approves_nothing() {
    type Broken = fn() -> Result<ApprovalAnswer, BoxError>;
    let table: [(Broken, &str, &str); 4] = [
        (|| Err("out of office".into()), "denied", "was not approved"),
        (|| panic!("the line went dead"), "denied", "was not approved"),
        (|| Ok(ApprovalAnswer::NoAnswer { reason: "all are asleep".into() }), "cancelled", "all are asleep"),
        (|| Ok(ApprovalAnswer::NoAnswer { reason: String::new() }), "cancelled", "the call was cancelled"),
    ];
    for (answer, came_of, said) in table {
        let (kit, journal) = bench();
        let options = RunOptions::new().approvals(move |_: ApprovalRequest, _: Cx| async move { answer() });
        let results = kit.run_with(calls([("pay", "5"), ("look", "1")]), options).collect_results().await;
        assert_eq!(all_came(&results), [came_of, "1"]);
        assert!(message(&results).contains(said), "{}", message(&results));
        assert_eq!(journal.lines(), ["look 1"]);
    }
}

/// An approver that panics before it returns a future.
#[tokio::test]
async fn an_approver_that_panics_at_once_approves_nothing() {
    let (kit, journal) = bench();
    let broken = |request: ApprovalRequest, _: Cx| {
        assert!(request.arguments != "5", "can't read this");
        async move { request.approve() }
    };
    let told = tell(kit.run_with(calls([("pay", "5"), ("pay", "6")]), RunOptions::new().approvals(broken))).await;
    assert_eq!(told, ["c1 asked", "c1 output denied", "c2 asked", "c2 approved", "c2 output 6"]);
    assert_eq!(journal.lines(), ["pay 6"]);
}

/// A person's answer must satisfy the tool's output schema and cap.
#[tokio::test]
async fn an_answer_must_satisfy_the_output_schema_and_cap() {
    for (answer, came_of) in [(json!(7), "7"), (json!(65_536), "denied"), (json!(null), "denied")] {
        let (kit, journal) = bench();
        let options = RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| {
            let answered = request.answer(answer.clone());
            async move { answered }
        });
        let run = kit.run_with(calls([("pay", "5")]), options);
        assert_eq!(all_came(&run.collect_results().await), [came_of]);
        assert_eq!(journal.lines(), [""; 0]);
    }
    let gated = Tool::new("say").needs_approval(haft_executor::ApprovalPolicy::always());
    let kit = kit([gated.handler(|(), _cx| async { String::new() })]);
    let long = asking(|request| request.answer(json!("x".repeat(100))));
    let results = kit
        .run_with(calls([("say", "")]), long.output_cap(OutputCap::new(NonZeroUsize::new(20).unwrap())))
        .collect_results()
        .await;
    assert_eq!(all_came(&results), ["output_too_large"]);
}

#[tokio::test]
async fn no_approval_is_requested_for_rejected_arguments() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        // The last call keeps the ways that need an approval request going.
        let bad = calls([("pay", "not json"), ("pay", "-1"), ("pay", ""), ("ghost", "1"), ("pay", "5")]);
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&asked);
        let options = RunOptions::new().audit(move |record| {
            noting.lock().unwrap().push(record.call_id.to_string());
        });
        let results = way.results(&kit, &options, &bad, ApprovalRequest::approve).await;
        let invalid = "input_validation_error";
        assert_eq!(all_came(&results), [invalid, invalid, invalid, "unknown_tool", "5"], "{way:?}");
        asked.lock().unwrap().dedup();
        assert_eq!(*asked.lock().unwrap(), ["c5"], "{way:?}");
        assert_eq!(journal.lines(), ["pay 5"], "{way:?}");
    }
}

/// Calls that wait for a verdict do not delay those that do not.
#[tokio::test]
async fn an_approval_of_one_call_does_not_apply_to_its_neighbour() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5"), ("pay", "5"), ("pay", "6")]);
        let only_the_first = |request: &ApprovalRequest| match request.call_id.as_str() {
            "c1" => request.approve(),
            _ => request.deny("once is enough"),
        };
        let results = way.results(&kit, &RunOptions::new(), &calls, only_the_first).await;
        assert_eq!(all_came(&results), ["5", "denied", "denied"], "{way:?}");
        assert_eq!(journal.lines(), ["pay 5"], "{way:?}");
    }
}

/// Of two calls with one id, approval is requested for the first; the other has its result.
#[tokio::test]
async fn a_repeated_id_makes_one_request() {
    for way in Way::ALL {
        let (kit, journal) = bench();
        let mut calls = calls([("pay", "5"), ("pay", "6"), ("look", "1")]);
        calls[1].call_id = "c1".into();
        let results = way.results(&kit, &RunOptions::new(), &calls, ApprovalRequest::approve).await;
        assert_eq!(all_came(&results), ["5", "duplicate_call_id", "1"], "{way:?}");
        assert!(!journal.lines().contains(&"pay 6".to_owned()), "{way:?}");
    }
}

/// An approval does not determine how the run of the call ends.
#[tokio::test]
async fn an_approved_call_that_panics_still_has_its_result() {
    for way in Way::ALL {
        let broken = Tool::new("pay").needs_approval(haft_executor::ApprovalPolicy::always());
        let kit = kit([broken.handler(|_: u16, _cx| async { panic!("no funds") as u16 })]);
        let results = way.results(&kit, &RunOptions::new(), &calls([("pay", "5")]), ApprovalRequest::approve).await;
        assert_eq!(came(&results[0]), "execution_error", "{way:?}");
        assert!(results[0].failure().unwrap().started, "{way:?}");
    }
}
