//! Values of a type on all wires: the request has the schema, and an invalid answer is sent back once with its issues.

use haft_model::{LanguageModelExt, LoopEvent, ObjectError};

use super::*;

/// The sum of some numbers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Total {
    #[schemars(range(max = 100))]
    total: i64,
    /// A remark.
    #[serde(default)]
    remark: String,
}

const TOTAL: Total = Total { total: 42, remark: String::new() };

/// The text of an answer with this total.
fn answer(wire: WireName, total: i64) -> String {
    as_answered(wire, json!({ "total": total, "remark": null })).to_string()
}

/// The first answer is a call, the next one is invalid, and the one after the issues is valid.
fn fixtures(wire: WireName) -> Value {
    let place = as_answered(wire, json!({ "city": "Rome", "days": null }));
    let call = json!({ "name": "get_weather", "arguments": place, "id": "call_1" });
    json!([
        { "match": { "userMessage": "look and sum up", "hasToolResult": false }, "response": { "toolCalls": [call] } },
        { "match": { "userMessage": "sum up" }, "response": { "content": answer(wire, 420) } },
        {
            "match": { "userMessage": "/total: must be at most 100, and is 420" },
            "response": { "content": answer(wire, 42) },
        },
    ])
}

fn asking(text: &str) -> TurnRequest {
    TurnRequest::new("", vec![Item::user(text)]).max_output_tokens(200)
}

/// Asserts that a request has a format for its answer, to which the provider holds the model.
#[track_caller]
fn assert_format(wire: WireName, sent: &SentRequest) {
    let body = sent.json();
    let format = match wire {
        WireName::OpenAiResponses => &body["text"]["format"]["schema"],
        WireName::OpenAiChat => &body["response_format"]["json_schema"]["schema"],
        WireName::Anthropic => &body["output_config"]["format"]["schema"],
        WireName::Gemini => &body["generationConfig"]["responseJsonSchema"],
    };
    assert!(format["properties"]["total"].is_object(), "{body:#}");
    let strict = match wire {
        WireName::OpenAiResponses => &body["text"]["format"]["strict"],
        WireName::OpenAiChat => &body["response_format"]["json_schema"]["strict"],
        WireName::Anthropic | WireName::Gemini => return,
    };
    assert_eq!(strict, true, "{body:#}");
}

#[tokio::test]
async fn an_invalid_object_is_asked_for_again_with_its_issues() {
    for wire in WireName::ALL {
        for delivery in DELIVERIES {
            let mock = Aimock::start_with(&fixtures(wire), &json!({ "chunkSize": 4 }));
            let model = client(wire, mock.url(), delivery);
            let found = model.object::<Total>(asking("sum up")).await.unwrap();
            assert_eq!((found.value, found.turns.len()), (TOTAL, 2), "{wire:?}");
            let requests = judged(&mock, wire);
            assert_eq!(requests.len(), 2);
            for sent in &requests {
                assert_format(wire, sent);
            }
            assert!(requests[1].body.contains("420"), "the answer is part of the second request");
        }
    }
}

#[tokio::test]
async fn an_object_that_stays_invalid_is_an_error_after_one_more_request() {
    for wire in WireName::ALL {
        let fixtures = json!([{ "match": {}, "response": { "content": answer(wire, 420) } }]);
        let mock = Aimock::start(&fixtures);
        let model = client(wire, mock.url(), Delivery::Streamed);
        let error = model.object::<Total>(asking("sum up")).await.unwrap_err();
        assert!(matches!(&error, ObjectError::Invalid { text, .. } if text.contains("420")), "{error:?}");
        assert_eq!(judged(&mock, wire).len(), 2);
    }
}

#[tokio::test]
async fn a_loop_ends_with_a_value_after_its_calls_and_one_correction() {
    for wire in WireName::ALL {
        let mock = Aimock::start(&fixtures(wire));
        let agent = agent(client(wire, mock.url(), Delivery::Streamed)).finish_as::<Total>().unwrap();
        let mut request = asking("look and sum up");
        if wire == WireName::Gemini {
            // Earlier models accept either tools or a format.
            request.model = "gemini-3-pro-preview".to_owned();
        }
        let mut run = agent.start(request);
        let mut rejected = Vec::new();
        while let Some(event) = run.next().await {
            if let LoopEvent::AnswerRejected { issues, .. } = event {
                rejected.push(issues.to_string());
            }
        }
        let outcome = run.finish().await;
        assert_stopped(&outcome.end);
        assert_eq!(outcome.value, Some(TOTAL), "{wire:?}");
        assert_eq!(rejected, ["/total: must be at most 100, and is 420"]);
        assert_reconciled(&outcome.state);
        let requests = judged(&mock, wire);
        assert_eq!(requests.len(), 3);
        for sent in &requests {
            assert_format(wire, sent);
        }
    }
}

#[tokio::test]
async fn a_model_that_accepts_either_tools_or_a_format_is_not_asked_for_both() {
    let mock = Aimock::start(&json!([]));
    let agent = agent(client(WireName::Gemini, mock.url(), Delivery::Streamed)).finish_as::<Total>().unwrap();
    let outcome = agent.start(asking("look and sum up")).finish().await;
    let error = outcome.end.error().unwrap().to_string();
    assert!(error.contains("together with tools") && error.contains("Gemini 3"), "{error}");
    assert!(mock.requests().is_empty());
}
