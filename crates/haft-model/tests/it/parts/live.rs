//! The conversation of `cargo xtask live`, against a fake provider of all wires.

#[path = "../../../examples/live/check.rs"]
mod check;

use self::check::QUESTION;
use super::*;

/// Two calls at once, and the answer after their results.
fn fixtures(colour: &str) -> Value {
    let asked = &QUESTION[..40];
    let call = |id: &str, city: &str| json!({ "name": "get_temperature", "arguments": { "city": city }, "id": id });
    let answer = json!({ "warmer": "Lisbon", "colour": colour }).to_string();
    json!([
        {
            "match": { "userMessage": asked, "hasToolResult": false },
            "response": { "toolCalls": [call("call_1", "Oslo"), call("call_2", "Lisbon")] },
        },
        { "match": { "userMessage": asked, "hasToolResult": true }, "response": { "content": answer, "reasoning": "Hm." } },
    ])
}

#[tokio::test]
async fn the_conversation_with_real_providers_works_on_every_wire() {
    for wire in WireName::ALL {
        let mock = Aimock::start(&fixtures("red"));
        let model: Box<dyn LanguageModel> = match wire {
            // Earlier models have no format for answers together with tools.
            WireName::Gemini => {
                let gemini = Gemini::new(Secret::new(KEY)).base_url(mock.url()).http_client(http());
                Box::new(gemini.model("gemini-3-flash-preview"))
            }
            WireName::OpenAiResponses | WireName::OpenAiChat | WireName::Anthropic => {
                client(wire, mock.url(), Delivery::Streamed)
            }
        };
        let seen = check::check(model, "openai", json!({})).await.unwrap();
        // The mock does not reason on every wire.
        let [_, seen @ ..] = seen.named();
        assert_eq!(seen.map(|(_, is_seen)| is_seen), [true; 3], "{wire:?}");
        let sent = judged(&mock, wire);
        assert_eq!(sent.len(), 2);
        assert!(sent[0].body.contains("iVBORw0KGgo"), "the image is sent");
    }
}

#[tokio::test]
async fn a_wrong_colour_is_noticed() {
    let mock = Aimock::start(&fixtures("blue"));
    let model = client(WireName::OpenAiChat, mock.url(), Delivery::Streamed);
    let seen = check::check(model, "openai", json!({})).await.unwrap();
    assert!(seen.parallel_calls && seen.structured_output && !seen.image);
}
