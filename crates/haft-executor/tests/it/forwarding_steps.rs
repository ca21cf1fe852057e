//! Forwarding tools together with the other steps of a call: what is refined, repaired, edited or approved is what is
//! forwarded, and what comes back is treated like the outcome of any handler.

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, ContentPart, FailureKind, MediaData, ToolCall, ToolEvent, ToolFailure, ToolOutput};
use haft_executor::{
    ApprovalPolicy, Cx, EmitError, ForwardCx, Open, RefineError, RunOptions, Suspend, Suspended, Tool, ToolBuilder,
    Toolkit,
};
use haft_schema::{DecodeOptions, Issue, JsonText, Repairs};
use serde_json::{Value, json};

/// The calls that a handler received.
type Received = Arc<Mutex<Vec<ToolCall>>>;

fn transfer() -> ToolBuilder<Open, Open> {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "cents": {"type": "integer"}},
        "required": ["to"],
    });
    Tool::dynamic("transfer").params_json(schema)
}

/// Trims the name of the recipient, and rejects an empty one.
async fn trimmed(mut arguments: Value, _: Cx) -> Result<Value, RefineError> {
    match arguments["to"].as_str().unwrap_or_default().trim() {
        "" => Err(Issue::new("/to", "refine", "must be a name").into()),
        name => {
            arguments["to"] = json!(name);
            Ok(arguments)
        }
    }
}

/// Creates a toolkit that records the calls it forwards and returns their arguments.
fn recording(builder: ToolBuilder<Open, Open>) -> (Toolkit, Received) {
    let received = Received::default();
    let kept = Arc::clone(&received);
    let tool = builder.define().unwrap().with_forward(move |_: Tool, call: ToolCall, _: ForwardCx| {
        let text = JsonText::parse(&call.arguments).unwrap();
        kept.lock().unwrap().push(call);
        async move { Ok(ToolOutput::new(text).with_metadata("node", "eu-1")) }
    });
    (Toolkit::from_iter([tool.unwrap()]), received)
}

fn call(arguments: &str) -> ToolCall {
    ToolCall::new("c1", "transfer", arguments).metadata("tenant", "t1")
}

#[tokio::test]
async fn the_refined_text_is_forwarded_and_what_was_rejected_is_not() {
    let (kit, received) = recording(transfer().refine(trimmed));
    let result = kit.run_call(&call(r#"{"to": " ana "}"#)).await;
    assert_eq!(result.value().unwrap().as_str(), r#"{"to":"ana"}"#);
    assert_eq!(result.metadata().unwrap()["node"], "eu-1");
    let forwarded = received.lock().unwrap().pop().unwrap();
    assert_eq!((forwarded.arguments.as_str(), &forwarded.metadata["tenant"]), (r#"{"to":"ana"}"#, &json!("t1")));

    let result = kit.run_call(&call(r#"{"to": "  "}"#)).await;
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::InputValidationError, false));
    assert!(received.lock().unwrap().is_empty());
}

/// The approval is bound to the refined arguments, and the whole call is forwarded in the run that resumes it.
#[tokio::test]
async fn the_approved_text_is_forwarded_after_a_suspension_and_from_a_plan() {
    let (kit, received) = recording(transfer().refine(trimmed).needs_approval(ApprovalPolicy::always()));
    let requested = call(r#"{"to": " ana ", "cents": 5}"#);
    let run = kit.run_with([&requested], RunOptions::new().approvals(Suspend));
    let stored = serde_json::to_string(&run.collect_or_suspend().await.unwrap_err()).unwrap();
    let suspended: Suspended = serde_json::from_str(&stored).unwrap();
    assert_eq!(suspended.calls(), std::slice::from_ref(&requested), "the text of the model is stored");
    let request = suspended.pending().next().unwrap().clone();
    assert_eq!(request.arguments, r#"{"to":"ana","cents":5}"#);
    kit.check_verdict(&RunOptions::new(), &request, &request.approve()).unwrap();
    kit.resume(suspended, [request.approve()]).collect_results().await;

    let plan = kit.plan_from_map(RunOptions::new(), [], [&requested]).await;
    let verdict = plan.requests[0].approve();
    let plan = kit.plan_from_map(RunOptions::new(), [verdict], [&requested]).await;
    assert_eq!(plan.approved[0].call(), &requested);
    kit.run(plan).collect_results().await;

    let received = std::mem::take(&mut *received.lock().unwrap());
    assert_eq!(received.len(), 2);
    for forwarded in received {
        let mut expected = requested.clone();
        expected.arguments.clone_from(&request.arguments);
        assert_eq!(forwarded, expected);
    }
}

#[tokio::test]
async fn edited_arguments_are_refined_and_forwarded() {
    let (kit, received) = recording(transfer().refine(trimmed).needs_approval(ApprovalPolicy::always()));
    let edit = |request: ApprovalRequest, _: Cx| async move { request.edit(json!({"to": " bob "})) };
    let result = kit.run_call_with(&call(r#"{"to": "ana"}"#), RunOptions::new().approvals(edit)).await;
    assert_eq!(result.value().unwrap().as_str(), r#"{"to":"bob"}"#);
    assert_eq!(received.lock().unwrap()[0].arguments, r#"{"to":"bob"}"#);
}

#[tokio::test]
async fn repaired_arguments_are_forwarded_and_the_repair_is_reported_once() {
    let options = RunOptions::new().decode_options(DecodeOptions::default().repairs(Repairs::all()));
    for builder in [transfer(), transfer().refine(trimmed)] {
        let (kit, received) = recording(builder);
        let result = kit.run_call_with(&call(r#"{"to": "ana", "cents": "5"}"#), &options).await;
        assert_eq!(result.repairs.len(), 1, "{:?}", result.repairs);
        let forwarded: Value = serde_json::from_str(&received.lock().unwrap()[0].arguments).unwrap();
        assert_eq!(forwarded, json!({"to": "ana", "cents": 5}));
    }
}

/// The default cap counts the text of parts and keeps media whole, in failures too.
#[tokio::test]
async fn a_forwarded_failure_is_capped_with_its_parts() {
    let picture = ContentPart::image("image/png", MediaData::Base64("A".repeat(400_000)));
    let parts = vec![ContentPart::text("x".repeat(300_000)), picture.clone()];
    let failure = ToolFailure::new(FailureKind::ToolFailed, "no").for_model(parts).with_metadata("node", "eu-1");
    let forward = move |_: Tool, _: ToolCall, _: ForwardCx| std::future::ready(Err(failure.clone()));
    let kit: Toolkit = Toolkit::from_iter([transfer().define().unwrap().with_forward(forward).unwrap()]);
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let results = kit.run_with([call(r#"{"to": "ana"}"#)], options).collect_results().await;
        let failure = results[0].failure().unwrap();
        assert_eq!((&failure.kind, failure.message.as_str()), (&FailureKind::ToolFailed, "no"));
        assert_eq!(failure.metadata().unwrap()["node"], "eu-1");
        let [ContentPart::Text(text), kept, ContentPart::Text(note)] = failure.content() else {
            panic!("{} parts", failure.content().len())
        };
        assert_eq!((text.text.len(), kept), (256 * 1024 - "no".len(), &picture));
        assert!(note.text.starts_with("[truncated: "), "{}", note.text);
    }
}

#[tokio::test]
async fn values_that_are_forwarded_back_must_be_of_the_declared_type() {
    let tool = transfer().emits::<u8>().define().unwrap();
    let tool = tool.with_forward(|_: Tool, _: ToolCall, cx: ForwardCx| async move {
        cx.emit(7_u8).await.unwrap();
        let error = cx.emit("done").await.unwrap_err();
        assert!(matches!(error, EmitError::Invalid(_)));
        Ok(ToolOutput::new(JsonText::null()))
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let mut run = kit.run([call(r#"{"to": "ana"}"#)]);
    let Some(ToolEvent::Progress { data, .. }) = run.next().await else { panic!("no progress") };
    assert_eq!(data.as_str(), "7");
    assert!(run.next().await.unwrap().result().unwrap().is_ok());
}
