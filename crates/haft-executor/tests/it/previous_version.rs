//! Values that the previous version stored. The files beside this one were written by it.

use haft_core::{ApprovalRequest, FailureKind, ToolDescriptor, ToolEvent, ToolOutput, ToolResult};
use haft_executor::{AuditRecord, RunOptions, Suspend, Suspended, Tool, Toolkit, VerdictFault};
use serde_json::{Value, json};

const SUSPENDED: &str = include_str!("previous_version/suspended.json");
const DESCRIPTOR: &str = include_str!("previous_version/descriptor.json");
const RECORD: &str = include_str!("previous_version/approval_record.json");

fn suspended() -> Suspended {
    serde_json::from_str(SUSPENDED).unwrap()
}

/// The tools of the program that stored the values.
fn kit() -> Toolkit {
    let pay: ToolDescriptor = serde_json::from_str(DESCRIPTOR).unwrap();
    let pay = Tool::from_descriptor(&pay).unwrap().with_handler(|args: Value, _cx| async move { args });
    let pay = pay.unwrap().set_needs_approval(haft_executor::ApprovalPolicy::always()).unwrap();
    Toolkit::from_iter([pay])
}

#[test]
fn a_suspended_run_is_read_and_written_unchanged() {
    let written = serde_json::to_value(suspended()).unwrap();
    assert_eq!(written, serde_json::from_str::<Value>(SUSPENDED).unwrap());
}

#[test]
fn its_results_have_the_parts_that_they_were_stored_with() {
    let suspended = suspended();
    let results: Vec<&ToolResult> = suspended.finished().collect();
    assert_eq!(results[0].value().unwrap().as_str(), r#"{"rows":[1,2]}"#);
    assert_eq!(results[0].to_model_text(), "2 rows");
    assert_eq!(results[0].metadata(), None);
    let failures: Vec<_> = results[1..].iter().map(|result| result.failure().unwrap()).collect();
    let read: Vec<_> = failures.iter().map(|failure| (&failure.kind, failure.started)).collect();
    assert_eq!(
        read,
        [
            (&FailureKind::ExecutionError, true),
            (&FailureKind::InputValidationError, false),
            (&FailureKind::UnknownTool, false),
        ]
    );
    assert!(failures.iter().all(|failure| failure.content().is_empty() && failure.metadata().is_none()));
    assert_eq!(failures[1].issues.as_slice()[0].pointer, "/cents");
}

/// A digest of this version covers more of a definition, so the old verdict is rejected and approval is requested
/// again.
#[tokio::test]
async fn a_pending_request_is_replaced_by_one_with_the_digest_of_this_version() {
    let (kit, old) = (kit(), suspended().pending().next().unwrap().clone());
    let fault = kit.check_verdict(&RunOptions::new(), &old, &old.approve()).unwrap_err();
    assert!(matches!(fault, VerdictFault::OtherDigest), "{fault}");

    let mut run = kit.resume_with(suspended(), [old.approve()], RunOptions::new().approvals(Suspend));
    let mut requests: Vec<ApprovalRequest> = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            ToolEvent::ApprovalRequested { request, .. } => requests.push(*request),
            ToolEvent::Suspended { .. } => {}
            event => panic!("{event:?}"),
        }
    }
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((&request.call_id, &request.arguments), (&old.call_id, &old.arguments));
    assert_ne!(request.digest, old.digest);
    let again = run.suspended().unwrap();
    assert_eq!(again.run_id(), suspended().run_id());
    let results = kit.resume(again, [request.approve()]).collect_results().await;
    assert_eq!(results[1].value().unwrap().as_str(), r#"{"cents":5}"#);
    assert_eq!(results.len(), 5);
}

#[test]
fn a_descriptor_is_read() {
    let read: ToolDescriptor = serde_json::from_str(DESCRIPTOR).unwrap();
    assert_eq!((read.name.as_str(), read.description.as_deref()), ("pay", Some("Pays.")));
    assert!(
        kit()
            .get("pay")
            .unwrap()
            .decode_args::<Value>(&haft_core::ToolCall::new("c1", "pay", r#"{"cents":"x"}"#))
            .is_err()
    );
}

/// The auditor received approvals alone, and their records named no type.
#[test]
fn a_record_without_a_type_is_about_an_approval() {
    let read: AuditRecord = serde_json::from_str(RECORD).unwrap();
    assert_eq!(read.outcome.as_str(), "suspended");
    assert!(read.request_id.is_some());
    let mut written = serde_json::to_value(&read).unwrap();
    assert_eq!(written["type"], "approval");
    written.as_object_mut().unwrap().remove("type");
    assert_eq!(written, serde_json::from_str::<Value>(RECORD).unwrap());
    assert!(serde_json::from_value::<AuditRecord>(json!({"v": 1})).is_err());
    written.as_object_mut().unwrap().remove("outcome");
    assert!(serde_json::from_value::<AuditRecord>(written).is_err());
}

#[test]
fn a_record_of_a_denial_is_read() {
    let denial = json!({
        "type": "denial", "v": 1, "call_id": "c1", "tool": "mint", "rule": "at-most", "reason": "too much",
        "caller": "ana", "recorded_at": 1_000
    });
    let read: AuditRecord = serde_json::from_value(denial.clone()).unwrap();
    assert_eq!((read.outcome.as_str(), read.request_id.as_ref()), ("forbidden", None));
    let mut written = serde_json::to_value(&read).unwrap();
    written.as_object_mut().unwrap().remove("scope");
    assert_eq!(written, denial);
    assert!(serde_json::from_value::<AuditRecord>(json!({"type": "other", "call_id": "c1"})).is_err());
}

#[test]
fn an_output_without_the_later_fields_is_read() {
    let stored = json!({"value": 1});
    assert_eq!(serde_json::from_value::<ToolOutput>(stored.clone()).unwrap(), ToolOutput::from(json!(1)));
    assert_eq!(serde_json::to_value(ToolOutput::from(json!(1))).unwrap(), stored);
}
