//! Verdicts that must prove that their request was made here.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use haft_core::{ApprovalRequest, Timestamp, Verdict};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, SigningKeys, Suspended, Tool, VerdictFault, VerdictQueue};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;

use crate::approval::bench::{Decide, Journal, Way, all_came, bench, suspend, tell};
use crate::executing::{calls, kit};

const OLD: &[u8] = b"the secret of the month before..";
const NEW: &[u8] = b"a secret of thirty-two bytes....";

fn keys() -> RunOptions {
    RunOptions::new().approval_keys(SigningKeys::new("new", NEW).unwrap())
}

#[tokio::test]
async fn a_verdict_that_repeats_the_signature_counts_in_every_way() {
    let options = keys().approval_lifetime(Duration::from_secs(3_600));
    for way in Way::ALL {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5"), ("pay", "6"), ("pay", "7")]);
        let decide = |request: &ApprovalRequest| match request.call_id.as_str() {
            "c1" => request.approve(),
            "c2" => request.edit(json!(60)),
            _ => request.answer(json!(70)),
        };
        let results = way.results(&kit, &options, &calls, decide).await;
        assert_eq!(all_came(&results), ["5", "60", "70"], "{way:?}");
        assert_eq!(journal.lines(), ["pay 5", "pay 60"], "{way:?}");
    }
}

/// A verdict with a signature fault, and the fault.
type Forgery = (&'static str, Decide, VerdictFault);

fn forgeries() -> [Forgery; 6] {
    [
        ("none", |request| unsigned(request.approve()), VerdictFault::Unsigned),
        ("guessed", |request| signed_by("new", &"0".repeat(64), request), VerdictFault::Forged),
        ("empty", |request| signed_by("new", "", request), VerdictFault::Forged),
        ("by nobody", |request| signed_by("ghost", "00", request), VerdictFault::UnknownKey { key_id: "ghost".into() }),
        (
            "by another secret",
            |request| {
                let mut request = request.clone();
                SigningKeys::new("new", OLD).unwrap().sign(&mut request);
                request.approve()
            },
            VerdictFault::Forged,
        ),
        (
            "of a longer life",
            |request| {
                let mut response = request.approve();
                response.expires_at = Some(Timestamp::from_unix_millis(u64::MAX));
                response
            },
            VerdictFault::Forged,
        ),
    ]
}

fn unsigned(mut response: Verdict) -> Verdict {
    response.signature = None;
    response
}

fn signed_by(key_id: &str, mac: &str, request: &ApprovalRequest) -> Verdict {
    let mut written = serde_json::to_value(request.approve()).unwrap();
    written["signature"] = json!({"key_id": key_id, "mac": mac});
    serde_json::from_value(written).unwrap()
}

/// A verdict whose request was not stored must repeat its signed fields unchanged.
#[tokio::test]
async fn a_verdict_in_a_plan_proves_its_request_or_does_not_count() {
    for (name, forge, fault) in forgeries() {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5")]);
        let asked = kit.plan_from_map(keys(), [], &calls).await.requests.remove(0);
        let plan = kit.plan_from_map(keys(), [forge(&asked)], &calls).await;
        assert_eq!(plan.rejected_verdicts[0].fault, fault, "{name}");
        assert_eq!(plan.requests.len(), 1, "{name}: and is asked about anew");
        assert_eq!(all_came(&kit.run(plan).collect_results().await), ["cancelled"], "{name}");
        let plan = kit.plan_from_map(keys(), [asked.approve()], &calls).await;
        assert_eq!(all_came(&kit.run(plan).collect_results().await), ["5"], "{name}: the true one still counts");
        assert_eq!(journal.lines(), ["pay 5"], "{name}");
    }
}

/// A request whose expiry was changed in store is not the original one.
#[tokio::test]
async fn a_request_that_was_changed_in_store_is_rejected() {
    let changes: [fn(&mut serde_json::Value); 6] = [
        |request| request["arguments"] = json!("1"),
        |request| request["tool"] = json!("look"),
        |request| request["expires_at"] = json!(u64::MAX),
        |request| request["request_id"] = json!("another"),
        |request| drop(request.as_object_mut().unwrap().remove("signature")),
        |request| request["signature"]["key_id"] = json!("ghost"),
    ];
    let options = keys().approval_lifetime(Duration::from_secs(60));
    for change in changes {
        let (kit, journal) = bench();
        let suspended = suspend(&kit, &options, &calls([("pay", "5")])).await;
        let mut value = serde_json::to_value(suspended).unwrap();
        change(&mut value["pending"][0]["request"]);
        let suspended: Suspended = serde_json::from_value(value).unwrap();
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let results = kit.resume_with(suspended.clone(), verdicts, keys()).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["denied"]);
        // Approval is not requested again either.
        let asked = kit.resume_with(suspended, [], keys().approvals(crate::approval::bench::never_asked));
        assert_eq!(tell(asked).await, ["c1 output denied"]);
        assert_eq!(journal.lines(), [""; 0]);
    }
}

/// Under another run id the approved call would run once more, with another idempotency key.
#[tokio::test]
async fn a_signed_approval_is_valid_in_its_own_run_only() {
    let changes: [fn(&mut serde_json::Value); 4] = [
        |stored| stored["run_id"] = json!("another"),
        |stored| stored["pending"][0]["request"]["run_id"] = json!("another"),
        |stored| {
            stored["run_id"] = json!("another");
            stored["pending"][0]["request"]["run_id"] = json!("another");
        },
        |stored| stored["pending"][0]["request"]["index"] = json!(7),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (kit, journal) = bench();
        let suspended = suspend(&kit, &keys(), &calls([("pay", "5")])).await;
        let mut value = serde_json::to_value(&suspended).unwrap();
        change(&mut value);
        let changed: Suspended = serde_json::from_value(value).unwrap();
        let verdicts: Vec<_> = changed.pending().map(ApprovalRequest::approve).collect();
        let results = kit.resume_with(changed, verdicts, keys()).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["denied"], "{at}");
        assert_eq!(journal.lines(), [""; 0], "{at}");
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let other_run = keys().run_id("another");
        let results =
            kit.resume_with(suspended.clone(), verdicts.clone(), other_run).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["denied"], "{at}");
        // Without its own id the value has that of its requests.
        let mut value = serde_json::to_value(&suspended).unwrap();
        value.as_object_mut().unwrap().remove("run_id");
        let unnamed: Suspended = serde_json::from_value(value).unwrap();
        assert_eq!(unnamed.run_id(), suspended.run_id());
        let results = kit.resume_with(unnamed, verdicts, keys()).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["5"], "{at}");
    }
}

/// A verdict that is sent to a second plan, or to a plan for another run.
#[tokio::test]
async fn a_signed_verdict_gives_its_call_one_idempotency_key() {
    let seen = Journal::default();
    let keys_seen = seen.clone();
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u16, cx: Cx| {
        keys_seen.note(cx.idempotency_key());
        async move { cents }
    });
    let kit = kit([pay]);
    let calls = calls([("pay", "5")]);
    let asked = kit.plan_from_map(keys(), [], &calls).await.requests.remove(0);
    for _ in 0..2 {
        let plan = kit.plan_from_map(keys(), [asked.approve()], &calls).await;
        assert_eq!(all_came(&kit.run(plan).collect_results().await), ["5"]);
    }
    let [first, second] = &seen.lines()[..] else { panic!("{seen:?}") };
    assert_eq!(first, second);
    let plan = kit.plan_from_map(keys().run_id("another"), [asked.approve()], &calls).await;
    assert_eq!(plan.rejected_verdicts[0].fault, VerdictFault::Forged);
    assert_eq!(all_came(&kit.run(plan).collect_results().await), ["cancelled"]);
    let mut moved = asked.approve();
    moved.run_id = Some("another".into());
    let plan = kit.plan_from_map(keys(), [moved], &calls).await;
    assert_eq!(plan.rejected_verdicts[0].fault, VerdictFault::Forged);
    assert_eq!(seen.lines().len(), 2);
}

/// A run that an earlier version suspended: its signature is valid and does not name the run.
#[tokio::test]
async fn a_request_that_was_signed_without_its_run_is_asked_about_again() {
    let (kit, journal) = bench();
    let stored = json!({
        "v": 1, "run_id": "r1",
        "calls": [{"v": 1, "call_id": "c1", "name": "pay", "arguments": "5"}],
        "pending": [{"index": 0, "request": {
            "v": 1, "request_id": "q1", "call_id": "c1", "tool": "pay", "arguments": "5",
            "digest": kit.get("pay").unwrap().approval_digest(&json!(5)),
            "signature": {"key_id": "new", "mac": ""},
        }}],
        "finished": [],
    });
    let signed = |mac: &str| -> Suspended {
        let mut stored = stored.clone();
        stored["pending"][0]["request"]["signature"]["mac"] = json!(mac);
        serde_json::from_value(stored).unwrap()
    };
    let verdicts = |suspended: &Suspended| suspended.pending().map(ApprovalRequest::approve).collect::<Vec<_>>();
    let earlier = signed(&earlier_mac(&stored["pending"][0]["request"]));
    let run = kit.resume_with(earlier.clone(), verdicts(&earlier), keys());
    let again = run.collect_or_suspend().await.unwrap_err();
    assert_eq!(again.rejected_verdicts()[0].fault, VerdictFault::OutdatedSignature);
    assert_eq!(journal.lines(), [""; 0]);
    let results = kit.resume_with((*again).clone(), verdicts(&again), keys()).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["5"]);
    let forged = signed(&"0".repeat(64));
    let results = kit.resume_with(forged.clone(), verdicts(&forged), keys()).collect_or_suspend().await.unwrap();
    assert_eq!(all_came(&results), ["denied"]);
}

/// Returns the signature of a request as the version before runs were covered made it.
fn earlier_mac(request: &serde_json::Value) -> String {
    let members = ["arguments", "call_id", "digest", "expires_at", "request_id", "tool"];
    let covered: BTreeMap<&str, &serde_json::Value> = members.map(|member| (member, &request[member])).into();
    let mut mac = Hmac::<Sha256>::new_from_slice(NEW).unwrap();
    mac.update(b"haft approval request 1\n");
    mac.update(serde_json::to_string(&covered).unwrap().as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Keys can be rotated without losing pending requests, until the old key is removed.
#[tokio::test]
async fn requests_survive_key_rotation_while_the_old_key_is_accepted() {
    let before = RunOptions::new().approval_keys(SigningKeys::new("old", OLD).unwrap());
    let during = SigningKeys::new("new", NEW).unwrap().accepting("old", OLD).unwrap();
    let during = RunOptions::new().approval_keys(during);
    for (options, resumed_came, planned_came) in
        [(&before, "5", "5"), (&during, "5", "5"), (&keys(), "denied", "cancelled")]
    {
        let (kit, journal) = bench();
        let calls = calls([("pay", "5")]);
        let suspended = suspend(&kit, &before, &calls).await;
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let plan = kit.plan_from_map(options, verdicts.clone(), &calls).await;
        let resumed = kit.resume_with(suspended, verdicts, options.clone()).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&resumed), [resumed_came]);
        assert_eq!(all_came(&kit.run(plan).collect_results().await), [planned_came]);
        assert_eq!(journal.lines().len(), if resumed_came == "5" { 2 } else { 0 });
    }
    let asked = bench().0.plan_from_map(&during, [], calls([("pay", "5")])).await;
    assert_eq!(asked.requests[0].signature.as_ref().unwrap().key_id, "new");
}

/// A signed request is rejected where no key can verify it, and so is an unsigned one where a signature is required.
#[tokio::test]
async fn requests_are_signed_only_if_keys_are_configured() {
    let (kit, journal) = bench();
    let calls = calls([("pay", "5")]);
    for (asking, taking, fault) in [
        (RunOptions::new(), keys(), VerdictFault::Unsigned),
        (keys(), RunOptions::new(), VerdictFault::UnknownKey { key_id: "new".into() }),
    ] {
        let suspended = suspend(&kit, &asking, &calls).await;
        let verdicts: Vec<_> = suspended.pending().map(ApprovalRequest::approve).collect();
        let plan = kit.plan_from_map(&taking, verdicts.clone(), &calls).await;
        assert_eq!(plan.rejected_verdicts[0].fault, fault.clone());
        let results = kit.resume_with(suspended, verdicts, taking).collect_or_suspend().await.unwrap();
        assert_eq!(all_came(&results), ["denied"]);
        let cause = results[0].failure().unwrap().source().unwrap().to_string();
        assert_eq!(cause, fault.to_string());
    }
    assert_eq!(kit.plan_from_map(RunOptions::new(), [], &calls).await.requests[0].signature, None);
    assert_eq!(journal.lines(), [""; 0]);
}

/// A signature covers one request: it does not make a verdict valid for another request of the same call.
#[tokio::test]
async fn a_signature_is_not_valid_for_another_request() {
    let (kit, journal) = bench();
    let (sender, queue) = VerdictQueue::new();
    let mut plan = kit.plan_from_queue(keys(), &queue, calls([("pay", "5"), ("pay", "5")])).await;
    let [first, second] = &plan.approval_requests[..] else { panic!("{plan:?}") };
    assert_eq!(first.digest, second.digest);
    assert_ne!(first.signature, second.signature);
    let mut borrowed = second.approve();
    borrowed.signature.clone_from(&first.signature);
    assert_eq!(sender.send(borrowed).unwrap_err().fault, VerdictFault::Forged);
    sender.send(first.approve()).unwrap();
    sender.send(second.deny("no")).unwrap();
    let mut told = Vec::new();
    while let Some(decision) = plan.next_decision().await {
        told.push((decision.call().call_id.to_string(), decision.is_approved()));
        drop(decision);
    }
    told.sort();
    assert_eq!(told, [("c1".to_owned(), true), ("c2".to_owned(), false)]);
    assert_eq!(journal.lines(), [""; 0]);
}
