//! Models that make the same call again, over sockets.

use haft_executor::{Tool, Toolkit};
use haft_model::{LoopEnd, LoopOutcome, TurnLoop};
use serde_json::json;

use super::*;

/// Answers with one call of the tool `run`.
fn calling(provider: Provider, number: usize, arguments: &Value) -> String {
    let id = format!("call_{number}");
    let body = match provider {
        Provider::Chat => {
            let function = json!({"name": "run", "arguments": arguments.to_string()});
            let message = json!({"role": "assistant", "content": null,
                "tool_calls": [{"id": id, "type": "function", "function": function}]});
            json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
        }
        Provider::Responses => json!({"id": "r1", "object": "response", "status": "completed", "output": [
            {"type": "function_call", "id": format!("fc_{number}"), "call_id": id, "name": "run", "status": "completed",
                "arguments": arguments.to_string()}]}),
        Provider::Anthropic => json!({"id": "m", "type": "message", "role": "assistant", "model": "claude",
            "content": [{"type": "tool_use", "id": id, "name": "run", "input": arguments}], "stop_reason": "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1}}),
        Provider::Gemini => {
            let call = json!({"functionCall": {"id": id, "name": "run", "args": arguments}});
            json!({"candidates": [{"content": {"role": "model", "parts": [call]}, "finishReason": "STOP"}]})
        }
    };
    body.to_string()
}

/// Runs a loop with that tool against these answers, and returns its end and the requests.
async fn run(provider: Provider, answers: Vec<String>) -> (LoopOutcome, Vec<Value>) {
    let server = Server::start().await;
    let tool = Tool::dynamic("run").handler(|_: Value, _cx| async { "1 failed" }).unwrap();
    let agent = TurnLoop::new(provider.whole(&server), Toolkit::from_iter([tool])).retries(0).max_turns(50);
    let mut requests = Vec::new();
    let served = async {
        for body in answers {
            let (sent, connection) = answer(&server, response(200, JSON, &body)).await;
            requests.push(SentText(sent).body());
            connection.end().await;
        }
        server.accept().await;
        panic!("there is one request too many");
    };
    let outcome = tokio::select! {
        outcome = agent.start(request()).finish() => outcome,
        () = served => unreachable!(),
    };
    (outcome, requests)
}

#[tokio::test]
async fn tests_may_run_as_often_as_there_are_edits_between() {
    for provider in ALL {
        let steps = (0..24).map(|number| {
            let arguments = if number % 2 == 0 { json!({"edit": number}) } else { json!({"test": true}) };
            calling(provider, number, &arguments)
        });
        let (outcome, requests) = run(provider, steps.chain([provider.body().to_owned()]).collect()).await;
        assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Hello"), "{provider:?}");
        let last = requests.last().unwrap().to_string();
        assert_eq!(last.matches("1 failed").count(), 24, "{provider:?}: every call ran: {last}");
    }
}

#[tokio::test]
async fn a_model_that_repeats_itself_is_told_once_and_then_the_loop_ends() {
    for provider in ALL {
        let stuck = (0..12).map(|number| calling(provider, number, &json!({"test": true})));
        let (outcome, requests) = run(provider, stuck.collect()).await;
        assert_eq!(outcome.end, LoopEnd::RepeatedCalls, "{provider:?}");
        let told = |body: &Value| body.to_string().matches("times in a row").count();
        assert_eq!(requests.iter().map(told).collect::<Vec<_>>(), [vec![0; 11], vec![1]].concat(), "{provider:?}");
        assert_eq!(requests[11].to_string().matches("1 failed").count(), 10, "{provider:?}");
    }
}
