//! Streams and histories contain nothing that an operator alone may see.

use std::time::Duration;

use haft_core::{
    ApprovalRequest, ContentPart, Message, ProviderCall, Reasoning, Role, Timestamp, ToolEvent, ToolFailure,
    ToolOutput, ToolResult, Usage,
};
use haft_model::{LoopEnd, LoopError, ModelInfo, ui};
use serde_json::json;

use super::*;

/// The mark of everything that must not be seen.
const SECRET: &str = "SECRET";

fn secret(place: &str) -> String {
    format!("{SECRET} in {place}")
}

/// A turn with a secret in every place that is not for the user.
fn turn() -> Turn {
    let data = || json!({"data": secret("provider data")});
    let mut text = haft_core::TextPart::new("Hello!").cite(Citation::url("https://a.example"));
    text.provider_data.insert("vendor".to_owned(), data());
    text.citations[0].quote = Some(secret("a quote"));
    let message = Message::new(Role::Assistant, vec![ContentPart::Text(text)]).provider_data("vendor", data());
    let reasoning = Reasoning::text("Hm.").signed("vendor", secret("a signature")).id(secret("an id"));
    let mut search = ProviderCall::new("vendor", "search", json!({"blob": secret("a payload")})).call_id("p1");
    search.settings.insert("token".to_owned(), secret("settings").into());
    let local = call("c1", "pay", "5").metadata("note", secret("metadata")).provider_data("vendor", data());
    let items = vec![
        reasoning.into(),
        Reasoning::encrypted("vendor", secret("encrypted reasoning")).into(),
        search.into(),
        message.into(),
        local.into(),
    ];
    let mut turn = Turn::new(items, Finish::ToolCalls).usage(Usage::new(1, 2)).response_id(secret("a response id"));
    turn.provider_data.insert("vendor".to_owned(), data());
    turn.model(secret("a model name"))
}

fn results() -> [ToolResult; 2] {
    let call = call("c1", "pay", "5");
    let output = ToolOutput::new(json!({"row": secret("a value that the model does not read")}).into())
        .for_model(vec![ContentPart::text("paid")])
        .with_metadata("note", secret("metadata"));
    let failure = ToolFailure::new("rate_limited", "the service is busy")
        .retry_after(Duration::from_secs(2))
        .cause(std::io::Error::other(secret("a cause")));
    [ToolResult::ok(&call, output), ToolResult::from_failure(&call, failure)]
}

fn state() -> LoopState {
    let mut history = vec![Item::system(secret("a system message")), Item::user("Hi.")];
    history.extend(turn().items);
    history.push(Item::from(&results()[0]));
    let mut request = TurnRequest::new(secret("a model name"), history).instructions(secret("instructions"));
    request.metadata.insert("tenant".to_owned(), secret("metadata").into());
    let mut state = LoopState::new(request);
    state.set_app(&secret("the application's value")).unwrap();
    state
}

fn asked() -> ApprovalRequest {
    let mut request = ApprovalRequest::new("q1", &call("c1", "pay", "5")).digest("sha256:00");
    request.run_id = Some(secret("a run id").into());
    request.provider_data.insert("vendor".to_owned(), secret("provider data").into());
    request
}

/// Every event of a loop, with a secret wherever there is something for the operator.
fn events() -> Vec<LoopEvent> {
    let verdict = || Box::new(asked().approve().decided(secret("an approver"), Timestamp::from_unix_millis(1)));
    let tool = |event| LoopEvent::Tool(event);
    let [ok, failed] = results();
    let model = ModelError::Authentication { message: secret("an error").into() };
    vec![
        LoopEvent::Repaired { changes: haft_core::history::repair(turn().items, &secret("a reason")).changes },
        LoopEvent::HistoryRewritten { items_before: 9, items: 2 },
        LoopEvent::ToolLeftOut { tool: secret("a tool's name"), reason: secret("a reason") },
        LoopEvent::TurnStarted {
            number: 1,
            model: Some(ModelInfo::new(secret("a provider"))),
            tools: vec![secret("a tool's name")],
            generation: Some(1),
        },
        LoopEvent::Retrying {
            attempts: 1,
            kind: "unavailable".to_owned(),
            message: secret("an error"),
            wait: Duration::ZERO,
        },
        LoopEvent::Delta(Delta::UsageUpdate(Usage::new(1, 2))),
        LoopEvent::Delta(Delta::complete(turn())),
        LoopEvent::CallsResumed { calls: turn().tool_calls() },
        tool(ToolEvent::ApprovalRequested { index: 0, request: Box::new(asked()) }),
        tool(ToolEvent::ApprovalResolved { index: 0, call_id: "c1".into(), tool: "pay".into(), response: verdict() }),
        tool(ToolEvent::Suspended { index: 0, request: Box::new(asked()) }),
        tool(ToolEvent::Output { index: 0, result: ok.clone() }),
        tool(ToolEvent::Output { index: 0, result: failed.clone() }),
        LoopEvent::VerdictRejected { response: verdict(), reason: secret("a reason") },
        LoopEvent::ProviderApproval { response: verdict() },
        LoopEvent::Unplaced { results: vec![failed.clone()], reason: secret("a reason") },
        LoopEvent::TurnEnded { number: 1, turn: Box::new(turn()), results: vec![ok, failed] },
        LoopEvent::Ended {
            end: LoopEnd::Failed(LoopError::Model {
                model: ModelInfo::new(secret("a provider")),
                source: std::sync::Arc::new(model),
            }),
            state: Box::new(state()),
        },
    ]
}

#[tokio::test(start_paused = true)]
async fn no_stream_contains_what_is_for_the_operator() {
    let written: Vec<_> = events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(written.iter().filter(|event| event.contains(SECRET)).count() > 12, "the events themselves contain it");
    let (own, ai_sdk) = bodies(&events()).await;
    for body in [own, ai_sdk] {
        assert!(body.contains("Hello!") && body.contains("paid") && body.contains("the service is busy"), "{body}");
        let at = body.find(SECRET).map(|at| body[at.saturating_sub(200)..].chars().take(300).collect::<String>());
        assert_eq!(at, None);
    }
}

#[test]
fn no_history_contains_what_is_for_the_operator() {
    assert!(serde_json::to_string(&state()).unwrap().matches(SECRET).count() > 9);
    for shown in [serde_json::to_string(&ui::history(&state())).unwrap(), ui::ai_sdk_messages(&state()).to_string()] {
        assert!(shown.contains("Hello!") && shown.contains("paid"), "{shown}");
        assert!(!shown.contains(SECRET), "{shown}");
    }
}
