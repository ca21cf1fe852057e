//! Requests of a server: questions for a person, roots, and a model's answers.

use std::time::Duration;

use haft_core::{ApprovalRequest, Finish, Item, Message, Role, ToolCall, ToolResult, Turn, TurnRequest};
use haft_executor::{Cx, Dispatch, RunOptions, Suspend, Suspended, ToolSource};
use haft_mcp::{Era, McpLimits, McpServer};
use serde_json::{Value, json};

use crate::hostile::{Hostile, call};

fn form() -> Value {
    let properties = json!({"n": {"type": "integer"}, "unit": {"type": "string", "default": "kg"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["n"]});
    json!({"method": "elicitation/create", "params": {"message": "How many?", "requestedSchema": schema}})
}

fn servers() -> [(Hostile, Era); 2] {
    let modern = Hostile::new().argument("--era").argument("modern");
    [(Hostile::new(), Era::Legacy), (modern, Era::Modern)]
}

async fn asked(tools: &impl ToolSource, question: Value, options: RunOptions) -> ToolResult {
    let call = ToolCall::new("c1", "ask", question.to_string());
    tools.run_calls(vec![call.into()], options).collect_results().await.remove(0)
}

/// Returns the answer that the server got.
fn answer(result: &ToolResult) -> Value {
    let text: Value = serde_json::from_str(&result.to_model_text()).unwrap();
    match text {
        Value::Array(modern) => {
            assert_eq!(modern[1], "s1", "the server's state came back");
            modern[0]["q"].clone()
        }
        legacy => legacy,
    }
}

#[tokio::test]
async fn a_person_answers_a_question_in_both_eras() {
    for (hostile, era) in servers() {
        // The time of the person does not count.
        let limits = McpLimits::default().call_timeout(Duration::from_millis(300));
        let client = hostile.server().era(era).limits(limits).connect().await.unwrap();
        let person = |request: ApprovalRequest, _: Cx| async move {
            assert!(format!("{:?}", request.question).contains("How many?"));
            tokio::time::sleep(Duration::from_millis(500)).await;
            request.answer(json!({"n": 2}))
        };
        let result = asked(&client, form(), RunOptions::new().approvals(person)).await;
        assert_eq!(answer(&result), json!({"action": "accept", "content": {"n": 2, "unit": "kg"}}), "{era:?}");

        let nobody = |request: ApprovalRequest, _: Cx| async move { request.deny("no") };
        let result = asked(&client, form(), RunOptions::new().approvals(nobody)).await;
        assert_eq!(answer(&result), json!({"action": "decline"}), "{era:?}");
    }
}

#[tokio::test]
async fn a_question_goes_to_a_call_whose_run_can_ask() {
    let hostile = Hostile::new();
    let client = hostile.connect().await;
    let person = |request: ApprovalRequest, _: Cx| async move { request.answer(json!({"n": 2})) };
    // The first call waits for ever; the second one makes the server ask, and nobody can be asked by it.
    let call = ToolCall::new("c1", "wait", "{}");
    let waiting = client.run_calls(vec![call.into()], RunOptions::new().approvals(person));
    let waiting = tokio::spawn(waiting.collect_results());
    hostile.until_received_by("wait").await;
    let result = asked(&client, form(), RunOptions::new()).await;
    assert_eq!(answer(&result)["action"], "accept");
    waiting.abort();
}

#[tokio::test]
async fn a_suspended_question_of_the_new_era_is_answered_in_another_process() {
    let [_, (modern, era)] = servers();
    let server = || modern.server().era(era);
    let call = ToolCall::new("c1", "ask", form().to_string());
    let first = server().connect().await.unwrap();
    let run = first.run_calls(vec![call.into()], RunOptions::new().approvals(Suspend));
    let stored = serde_json::to_string(&run.collect_or_suspend().await.unwrap_err()).unwrap();
    first.close().await;

    // Nothing is shared but the stored text and the settings.
    let second = server().connect().await.unwrap();
    let suspended: Suspended = serde_json::from_str(&stored).unwrap();
    let answers: Vec<_> = suspended.pending().map(|request| request.answer(json!({"n": 3}))).collect();
    assert_eq!(answers.len(), 1);
    let run = second.snapshot().toolkit().resume_with(suspended, answers, RunOptions::new());
    let result = run.collect_results().await.remove(0);
    assert_eq!(answer(&result), json!({"action": "accept", "content": {"n": 3, "unit": "kg"}}));
}

#[tokio::test]
async fn a_page_to_visit_is_a_question() {
    for (hostile, era) in servers() {
        let client = hostile.server().era(era).connect().await.unwrap();
        let page = json!({"mode": "url", "message": "Sign in", "url": "https://a.example/in", "elicitationId": "1"});
        let person = |request: ApprovalRequest, _: Cx| async move { request.approve() };
        let question = json!({"method": "elicitation/create", "params": page});
        let result = asked(&client, question, RunOptions::new().approvals(person)).await;
        assert_eq!(answer(&result), json!({"action": "accept"}), "{era:?}");
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_question_is_cancelled_or_the_call_needs_input() {
    let [(legacy, _), (modern, era)] = servers();
    let result = asked(&legacy.connect().await, form(), RunOptions::new()).await;
    assert_eq!(answer(&result), json!({"action": "cancel"}));

    let client = modern.server().era(era).connect().await.unwrap();
    let failure = asked(&client, form(), RunOptions::new()).await.failure().unwrap().clone();
    assert_eq!((failure.kind.as_str(), failure.started), ("input_required", false), "{failure}");
}

#[tokio::test]
async fn roots_and_a_models_answers_are_given_in_both_eras() {
    let set = |server: McpServer| {
        server.root("file:///srv", "files".to_owned()).sampling(|request: TurnRequest| async move {
            let text = format!("{} of {:?}", request.history.len(), request.max_output_tokens);
            Ok::<_, std::io::Error>(Turn::new(vec![Item::Message(Message::text(Role::Assistant, text))], Finish::Stop))
        })
    };
    for (hostile, era) in servers() {
        let client = set(hostile.server().era(era)).connect().await.unwrap();
        let roots = call(&client, "ask", json!({"method": "roots/list", "params": {}})).await;
        assert_eq!(answer(&roots), json!({"roots": [{"uri": "file:///srv", "name": "files"}]}), "{era:?}");
        let messages = json!([{"role": "user", "content": {"type": "text", "text": "hi"}}]);
        let params = json!({"messages": messages, "maxTokens": 7});
        let sampled = call(&client, "ask", json!({"method": "sampling/createMessage", "params": params})).await;
        assert_eq!(answer(&sampled)["content"]["text"], "1 of Some(7)", "{era:?}");
    }
}

#[tokio::test]
async fn what_is_not_set_is_refused() {
    let [(legacy, _), (modern, era)] = servers();
    let sample = || {
        let messages = json!([{"role": "user", "content": {"type": "text", "text": "hi"}}]);
        json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 7}})
    };
    let refused = call(&legacy.connect().await, "ask", sample()).await;
    assert_eq!(refused.to_model_text(), r#""this client answers no requests for a model's answer""#);
    let client = modern.server().era(era).connect().await.unwrap();
    let failure = call(&client, "ask", sample()).await.failure().unwrap().clone();
    assert!(failure.message.ends_with("this client answers no requests for a model's answer"), "{failure}");
    assert!(!failure.started);
}
