//! Document 003: the guide to tools and toolkits.
//!
//! Most statements are shown by `tools_and_toolkits` and `toolkits_guide` in the core and by the tests of the turn
//! loop; what follows shows the rest through the facade, in the order of the document. `statement` lists all of them.

mod statement;

use std::sync::{Arc, Mutex};

use haft::approval::{ApprovalPolicy, ApprovalRequest, VerdictQueue};
use haft::conversation::{Item, TurnRequest, history};
use haft::middleware::{Next, Request};
use haft::model::{LanguageModel, ScriptedModel, ScriptedTurn};
use haft::run::{FailureKind, RunOptions, Step, ToolCall, ToolEvent, ToolResult};
use haft::tool::{Cx, DescriptorKind, HandlerError, Tool};
use haft::toolkit::Toolkit;
use haft::{JsonSchema, tool, toolkit};
use serde::Deserialize;
use serde_json::json;

use crate::running::{failure, value};
use crate::source::{Document, Section, normative};

const SECTIONS: &[Section] = &[
    normative("introduction"),
    normative("defining a tool"),
    normative("kinds"),
    normative("streaming"),
    normative("input schema"),
    normative("wiring"),
    normative("composing"),
    normative("middleware"),
    normative("services"),
    normative("executor"),
    normative("results"),
    normative("wire conversion"),
    normative("round trip"),
    normative("approval"),
    normative("reconciliation"),
    normative("not built in"),
];

#[test]
fn every_statement_is_shown_or_has_a_reason() {
    Document { number: "003", sections: SECTIONS, statements: statement::STATEMENTS }.check();
}

/// Look up the current local time for an IANA timezone.
#[tool(strict)]
fn get_current_time(timezone: String) -> String {
    format!("noon in {timezone}")
}

#[derive(Debug, Deserialize, PartialEq, JsonSchema)]
struct Escalation {
    reason: String,
}

// Kinds.

/// The tag of a descriptor names the kind: local, dynamic, provider, signal or interaction.
#[test]
fn a_tag_distinguishes_the_kinds() {
    let tools = [
        Tool::new("t").define(),
        Tool::dynamic("t").define(),
        Tool::provider("v.t").with_args(()).define(),
        Tool::signal("t").define(),
        Tool::interaction("t").define(),
    ];
    let tags = tools.map(|tool| {
        let kind: DescriptorKind = tool.unwrap().descriptor().kind.clone();
        serde_json::to_value(kind).unwrap()["type"].as_str().unwrap().to_owned()
    });
    assert_eq!(tags, ["local", "dynamic", "provider", "signal", "interaction"]);
}

/// The loop of the document: it finds the signal among the calls of a turn and asks a stronger model.
#[tokio::test]
async fn a_loop_advances_a_tier_when_the_model_escalates() {
    let escalate = Tool::signal("escalate").params::<Escalation>().define().unwrap();
    let kit: Toolkit = toolkit![GetCurrentTime].with(escalate.clone()).unwrap();
    let cheap = ScriptedModel::default().then([ToolCall::new("c1", "escalate", r#"{"reason":"too hard"}"#)]);
    let strong = ScriptedModel::default().then("42");
    let models = [cheap, strong];
    let (mut tier, mut reasons) = (0, Vec::new());
    let answer = loop {
        let request = TurnRequest::new("any", vec![Item::user("why?")]).tools(&kit);
        let turn = models[tier].stream_turn(&request).into_turn().await.unwrap();
        let Some(call) = turn.tool_calls().into_iter().find(|call| call.name == "escalate") else { break turn.text() };
        reasons.push(escalate.decode_args::<Escalation>(&call).unwrap().reason);
        tier += 1;
    };
    assert_eq!((answer.as_str(), reasons), ("42", vec!["too hard".to_owned()]));

    let malformed = ToolCall::new("c1", "escalate", r#"{"reason": 7}"#);
    let refused = escalate.decode_args::<Escalation>(&malformed).unwrap_err();
    assert_eq!(refused.kind, FailureKind::InputValidationError);
}

// Streaming.

#[tokio::test]
async fn a_function_emits_progress_and_returns_one_output() {
    /// Downloads a file.
    #[tool]
    async fn download(chunks: u8, cx: &Cx) -> Result<u32, HandlerError> {
        let mut bytes = 0;
        for chunk in 1..=chunks {
            bytes += 100;
            cx.emit(json!({ "chunk": chunk })).await?;
        }
        Ok(bytes)
    }
    let kit: Toolkit = toolkit![Download, GetCurrentTime];
    let calls = [
        ToolCall::new("c1", "download", r#"{"chunks":2}"#),
        ToolCall::new("c2", "get_current_time", r#"{"timezone":"UTC"}"#),
    ];
    let mut run = kit.run_with(&calls, RunOptions::new().concurrency(1));
    let mut told = Vec::new();
    while let Some(event) = run.next().await {
        told.push(match event {
            ToolEvent::Progress { call_id, data, .. } => format!("{call_id} {data}"),
            ToolEvent::Output { result, .. } => format!("{} = {}", result.call_id, value(&result)),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(told, [r#"c1 {"chunk":1}"#, r#"c1 {"chunk":2}"#, "c1 = 200", r#"c2 = "noon in UTC""#]);
}

// Input schema.

/// Types are rendered in draft 2020-12: tuples by `prefixItems`, shared types under `$defs`.
#[test]
fn schemas_are_rendered_in_draft_2020_12() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is read")]
    struct Route {
        from: (f64, f64),
        by: Escalation,
        or_by: Escalation,
    }
    let tool = Tool::new("t").params::<Route>().define().unwrap();
    let schema = tool.json_schema();
    assert_eq!(schema["properties"]["from"]["prefixItems"].as_array().unwrap().len(), 2);
    assert!(schema["properties"]["from"].get("items").is_none_or(|items| !items.is_array()), "{schema}");
    assert_eq!(schema["properties"]["by"]["$ref"], "#/$defs/Escalation");
    assert!(schema.get("definitions").is_none());
}

// Middleware.

#[tokio::test]
async fn a_middleware_sees_the_name_the_input_and_the_outcome_of_every_local_call() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let logging = move |request: Request, next: Next| {
        let lines = Arc::clone(&lines);
        async move {
            let line = format!("{} {}", request.tool().name(), request.raw_arguments());
            let outcome = next.run(request).await;
            lines.lock().unwrap().push(format!("{line} ok={}", outcome.is_ok()));
            outcome
        }
    };
    let kit: Toolkit = toolkit![GetCurrentTime].with(Tool::signal("pause").define().unwrap()).unwrap().wrap(logging);
    let calls = [ToolCall::new("c1", "get_current_time", r#"{"timezone":"UTC"}"#), ToolCall::new("c2", "pause", "{}")];
    let results = kit.run(&calls).collect_results().await;
    assert_eq!((value(&results[0]), failure(&results[1]).0), (json!("noon in UTC"), "non_local_tool"));
    assert_eq!(*log.lock().unwrap(), [r#"get_current_time {"timezone":"UTC"} ok=true"#]);
}

// Results.

/// A value is inspected and replaced before it becomes text, without being parsed from text.
#[tokio::test]
async fn results_are_audited_and_rerouted_before_they_are_converted() {
    let kit: Toolkit = toolkit![GetCurrentTime];
    let calls = [
        ToolCall::new("c1", "get_current_time", r#"{"timezone":"UTC"}"#),
        ToolCall::new("c2", "get_current_tiem", "{}"),
    ];
    let results = kit.run(&calls).collect_results().await;
    let audit: Vec<_> = results.iter().map(|r| (r.call_id.as_str(), r.tool.as_str(), r.is_ok())).collect();
    assert_eq!(audit, [("c1", "get_current_time", true), ("c2", "get_current_tiem", false)]);
    let rerouted = ToolResult::failed(&calls[0], "quarantined", "kept back by a rule");
    let output = rerouted.to_call_output();
    assert!(output.is_error);
    assert_eq!(output.output.to_string(), r#"{"error":{"kind":"quarantined","message":"kept back by a rule"}}"#);
}

// Round trip.

/// The loop of the document: the application owns the history, and stops when the model makes no calls.
#[tokio::test]
async fn the_loop_of_the_document_ends_with_an_answer() {
    let kit: Toolkit = toolkit![GetCurrentTime];
    let calls = [
        ToolCall::new("c1", "get_current_time", r#"{"timezone":"UTC"}"#),
        ToolCall::new("c2", "get_current_time", r#"{"timezone":1}"#),
    ];
    let model = ScriptedModel::default().then(ScriptedTurn::calls(calls.clone())).then("It is noon.");
    let mut state = TurnRequest::new("any", vec![Item::user("what time is it?")]).tools(&kit);
    loop {
        let turn = model.stream_turn(&state).into_turn().await.unwrap();
        let calls = turn.tool_calls();
        if calls.is_empty() {
            assert_eq!(turn.text(), "It is noon.");
            break;
        }
        let mut history: Vec<Item> = state.history.to_vec();
        let mut steps = kit
            .run(calls)
            .continue_with_results(|results| turn.clone().append_to_history(&mut history, results).unwrap());
        while let Some(step) = steps.next().await {
            if let Step::Event(event) = step {
                assert!(event.result().is_some(), "plain tools emit nothing else");
            }
        }
        drop(steps);
        state = TurnRequest::new("any", history).tools(&kit);
    }
    model.finish().unwrap();
    let shown = model.requests()[1].history.to_vec();
    assert!(history::is_reconciled(&shown));
    assert_eq!(shown[1..3], calls.map(Item::from), "the calls themselves");
    assert!(matches!(&shown[3..], [Item::ToolOutput(good), Item::ToolOutput(bad)]
        if (good.call_id.as_str(), bad.call_id.as_str()) == ("c1", "c2") && !good.is_error && bad.is_error));
}

// Approval.

fn is_sensitive() -> ApprovalPolicy {
    ApprovalPolicy::when(|arguments: serde_json::Value, _cx| async move { arguments["timezone"] == "Mars" })
}

fn three_calls() -> [ToolCall; 3] {
    [("c1", "UTC"), ("c2", "Mars"), ("c3", "Mars")]
        .map(|(id, zone)| ToolCall::json(id, "get_current_time", &json!({ "timezone": zone })))
}

/// A request-shaped flow: one predicate, and the approvals that came with the request.
#[tokio::test]
async fn a_map_splits_calls_into_approved_and_rejected_ones() {
    let kit: Toolkit = toolkit![GetCurrentTime];
    let calls = three_calls();
    let asked = kit.plan_from_map(is_sensitive(), [], &calls).await.requests;
    let verdicts = [asked[0].approve(), asked[1].deny("not there")];
    let plan = kit.plan_from_map(is_sensitive(), verdicts, &calls).await;
    assert_eq!(plan.approved.iter().map(|call| call.call().call_id.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
    assert_eq!(failure(&plan.rejected[0]), ("denied", "not there"));
    let results = kit.run(plan).collect_results().await;
    assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["c1", "c2", "c3"]);
    assert_eq!(results.iter().map(ToolResult::is_ok).collect::<Vec<_>>(), [true, true, false]);
}

/// A long-lived flow: safe calls at once, requests as a list, decisions as verdicts arrive.
#[tokio::test]
async fn a_queue_returns_safe_calls_requests_and_decisions() {
    let kit: Toolkit = toolkit![GetCurrentTime];
    let (verdicts, queue) = VerdictQueue::new();
    let plan = kit.plan_from_queue(is_sensitive(), &queue, three_calls()).await;
    assert_eq!(plan.approved.len(), 1);
    let requests: Vec<ApprovalRequest> = plan.approval_requests.clone();
    assert_eq!(requests.iter().map(|request| request.call_id.as_str()).collect::<Vec<_>>(), ["c2", "c3"]);
    verdicts.send(requests[1].deny("no")).unwrap();
    verdicts.send(requests[0].approve()).unwrap();
    let results = plan.into_run().collect_results().await;
    assert_eq!(results.iter().map(ToolResult::is_ok).collect::<Vec<_>>(), [true, true, false]);
}

// Reconciliation.

/// Open calls are found and closed explicitly, before the next request.
#[tokio::test]
async fn a_history_with_open_calls_is_closed_before_it_is_sent() {
    let mut conversation: Vec<Item> = vec![Item::user("both, please")];
    conversation.extend(three_calls().map(Item::from));
    conversation.push(ToolResult::ok(&three_calls()[0], json!("noon")).to_call_output().into());
    assert!(!history::is_reconciled(&conversation));
    assert_eq!(history::unanswered(&conversation).len(), 2);
    let closures = history::cancel_pending(&conversation, "user moved on");
    conversation.extend(closures.iter().map(|result| Item::from(result.to_call_output())));
    assert!(history::is_reconciled(&conversation));
    let model = ScriptedModel::default().then("Never mind.");
    let turn = model.stream_turn(&TurnRequest::new("any", conversation)).into_turn().await.unwrap();
    assert_eq!(turn.text(), "Never mind.");
    let sent = &model.requests()[0].history;
    assert!(sent.iter().any(|item| matches!(item, Item::ToolOutput(output)
        if output.call_id == "c3" && output.output.to_string().contains("user moved on"))));
}
