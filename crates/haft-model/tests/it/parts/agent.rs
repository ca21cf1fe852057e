//! An agent whose approval arrives between two turns, perhaps in another process, on all wires.

use haft_core::ToolCall;

use super::*;

/// The results in a request, in order: the id or the name of the call, and the text of the result.
fn results(wire: WireName, body: &Value) -> Vec<(String, String)> {
    let string = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let list = |pointer: &str| body.pointer(pointer).and_then(Value::as_array).unwrap().clone();
    match wire {
        WireName::OpenAiResponses => {
            let outputs = list("/input").into_iter().filter(|item| item["type"] == "function_call_output");
            outputs.map(|item| (string(&item["call_id"]), string(&item["output"]))).collect()
        }
        WireName::OpenAiChat => {
            let outputs = list("/messages").into_iter().filter(|item| item["role"] == "tool");
            outputs.map(|item| (string(&item["tool_call_id"]), string(&item["content"]))).collect()
        }
        WireName::Anthropic => {
            let blocks = list("/messages").into_iter().filter_map(|message| message["content"].as_array().cloned());
            let outputs = blocks.flatten().filter(|block| block["type"] == "tool_result");
            outputs
                .map(|block| {
                    let failed = if block["is_error"] == true { "failed: " } else { "" };
                    (string(&block["tool_use_id"]), format!("{failed}{}", block["content"]))
                })
                .collect()
        }
        WireName::Gemini => {
            let parts = list("/contents").into_iter().filter_map(|content| content["parts"].as_array().cloned());
            let outputs = parts.flatten().filter_map(|part| part.get("functionResponse").cloned());
            outputs.map(|output| (string(&output["name"]), output["response"].to_string())).collect()
        }
    }
}

/// The header that contains the key.
fn key_of(wire: WireName, sent: &SentRequest) -> &Value {
    match wire {
        WireName::OpenAiResponses | WireName::OpenAiChat => &sent.headers["authorization"],
        WireName::Anthropic => &sent.headers["x-api-key"],
        WireName::Gemini => &sent.headers["x-goog-api-key"],
    }
}

fn assert_requests(wire: WireName, delivery: Delivery, requests: &[SentRequest]) {
    let [first, second] = requests else { panic!("{requests:#?}") };
    for sent in requests {
        let body = sent.json();
        let is_streamed = body["stream"] == true || sent.path.contains(":streamGenerateContent?alt=sse");
        assert_eq!(is_streamed, delivery == Delivery::Streamed, "{}", sent.path);
        assert!(key_of(wire, sent).as_str().unwrap().ends_with(KEY));
        assert!(!sent.body.contains(KEY) && !sent.path.contains(KEY));
    }
    assert_eq!(first.path, second.path);
    let tools = first.json()["tools"].clone();
    match wire {
        WireName::OpenAiResponses | WireName::Anthropic => assert_eq!(tools[0]["strict"], true, "{tools:#}"),
        WireName::OpenAiChat => assert_eq!(tools[0]["function"]["strict"], true, "{tools:#}"),
        WireName::Gemini => assert_eq!(tools[0]["functionDeclarations"].as_array().unwrap().len(), 3),
    }
    assert!(results(wire, &first.json()).is_empty());
    let answered = results(wire, &second.json());
    let ids: Vec<&str> = answered.iter().map(|(id, _)| id.as_str()).collect();
    match wire {
        WireName::Gemini => assert_eq!(ids, ["get_weather", "get_weather", "book", "pay"]),
        _ => assert_eq!(ids, ["call_1", "call_2", "call_3", "call_4"]),
    }
    for ((_, text), expected) in
        answered.iter().zip(["Paris: 18C for 3 days", "Rome: 18C for 1 days", "no room", "paid 500"])
    {
        assert!(text.contains(expected), "{text}");
    }
    if wire == WireName::Anthropic {
        let failed: Vec<bool> = answered.iter().map(|(_, text)| text.starts_with("failed: ")).collect();
        assert_eq!(failed, [false, false, true, false]);
    }
}

async fn check(wire: WireName) {
    for delivery in DELIVERIES {
        let mock = Aimock::start_with(&fixtures(wire), &json!({ "chunkSize": 7 }));
        let agent = agent(client(wire, mock.url(), delivery));
        let waiting = agent.start(request()).finish().await;
        assert!(waiting.end.is_waiting(), "{:?}", waiting.end);
        assert_eq!(mock.requests().len(), 1);
        let calls: Vec<&ToolCall> = waiting.state.history().iter().filter_map(as_call).collect();
        assert_eq!(calls.len(), 4);
        assert_eq!(serde_json::from_str::<Value>(&calls[0].arguments).unwrap()["city"], "Paris");

        let mut state = stored(&waiting.state);
        approve(&agent, &mut state);
        // Another process has another client.
        let other = super::agent(client(wire, mock.url(), delivery));
        let done = other.start(stored(&state)).finish().await;
        assert_stopped(&done.end);
        assert_eq!(done.state.text(), "All is planned, but no room was found.");
        assert_eq!((done.state.turns(), done.state.calls()), (2, 4));
        assert_reconciled(&done.state);

        assert_requests(wire, delivery, &judged(&mock, wire));
        let journal = mock.journal();
        let answered: Vec<_> = journal.iter().map(|entry| &entry["response"]["status"]).collect();
        assert_eq!(answered, [200, 200]);
        for (entry, has_result) in journal.iter().zip([false, true]) {
            assert_eq!(entry["response"]["fixture"]["match"]["hasToolResult"], has_result, "{entry:#}");
        }
    }
}

fn as_call(item: &Item) -> Option<&ToolCall> {
    match item {
        Item::ToolCall(call) => Some(call),
        _ => None,
    }
}

#[tokio::test]
async fn openai_responses() {
    check(WireName::OpenAiResponses).await;
}

#[tokio::test]
async fn openai_chat() {
    check(WireName::OpenAiChat).await;
}

#[tokio::test]
async fn anthropic() {
    check(WireName::Anthropic).await;
}

#[tokio::test]
async fn gemini() {
    check(WireName::Gemini).await;
}

#[tokio::test]
async fn a_denied_call_is_a_result_that_the_model_reads() {
    for wire in WireName::ALL {
        let mock = Aimock::start(&fixtures(wire));
        let agent = agent(client(wire, mock.url(), Delivery::Streamed));
        let mut state = agent.start(request()).finish().await.state;
        let approval = state.approvals().remove(0);
        agent.verdict(&mut state, approval.deny("too expensive")).unwrap();
        let done = agent.start(stored(&state)).finish().await;
        assert_stopped(&done.end);
        assert_reconciled(&done.state);
        let sent = judged(&mock, wire).pop().unwrap();
        let (_, last) = results(wire, &sent.json()).pop().unwrap();
        assert!(last.contains("too expensive"), "{last}");
    }
}
