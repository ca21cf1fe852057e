//! A small real model behind another server, on its three wires. Its answers are poor, but their form is its own.

use haft_core::{Delta, Finish};
use haft_model::{LanguageModelExt, ObjectError};
use haft_parts::Llama;

use super::*;

const WIRES: [WireName; 3] = [WireName::OpenAiChat, WireName::OpenAiResponses, WireName::Anthropic];

/// A client of the server, which takes any model name.
fn local(wire: WireName, url: &str, delivery: Delivery) -> Box<dyn LanguageModel> {
    let chat = || OpenAi::compatible("llama", format!("{url}/v1")).model("smollm2").http_client(http());
    match (wire, delivery) {
        (WireName::OpenAiChat, Delivery::Streamed) => Box::new(chat()),
        (WireName::OpenAiChat, Delivery::Whole) => Box::new(chat().whole()),
        _ => client(wire, url, delivery),
    }
}

fn asking(text: &str) -> TurnRequest {
    TurnRequest::new("", vec![Item::user(text)]).instructions("Be brief.").temperature(0.0).max_output_tokens(24)
}

#[tokio::test]
async fn text_arrives_streamed_and_whole_and_is_the_same() {
    let llama = Llama::start();
    for wire in WIRES {
        let mut texts = Vec::new();
        for delivery in DELIVERIES {
            let model = local(wire, llama.url(), delivery);
            let mut stream = model.stream_turn(&asking("Name three colours."));
            let (mut streamed, mut turn) = (String::new(), None);
            while let Some(delta) = stream.next().await {
                match delta.unwrap() {
                    Delta::TextDelta { text, .. } => streamed.push_str(&text),
                    Delta::TurnComplete(complete) => turn = Some(*complete),
                    _ => {}
                }
            }
            let turn = turn.unwrap();
            assert!(!turn.text().trim().is_empty(), "{wire:?}: {turn:?}");
            assert!(turn.usage.input_tokens > 0 && turn.usage.output_tokens > 0, "{wire:?}: {turn:?}");
            assert!(matches!(turn.finish, Finish::Stop | Finish::Length), "{wire:?}: {turn:?}");
            if delivery == Delivery::Streamed {
                assert_eq!(streamed, turn.text(), "{wire:?}: the deltas add up to the turn");
            }
            texts.push(turn.text());
        }
        assert_eq!(texts[0], texts[1], "{wire:?}");
    }
}

#[tokio::test]
async fn a_conversation_is_continued() {
    let llama = Llama::start();
    for wire in WIRES {
        let model = local(wire, llama.url(), Delivery::Streamed);
        let mut request = asking("Name a colour.");
        let first = model.stream_turn(&request).into_turn().await.unwrap();
        request.history.extend(first.items.iter().cloned());
        request.history.push(Item::user("Name another one."));
        let second = model.stream_turn(&request).into_turn().await.unwrap();
        assert!(second.usage.input_tokens > first.usage.input_tokens, "{wire:?}: the first turn is part of the input");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Town {
    size: Size,
    is_capital: bool,
}

#[tokio::test]
async fn a_value_of_a_type_is_answered() {
    let llama = Llama::start();
    let schema = schemars::schema_for!(Town);
    for wire in [WireName::OpenAiChat, WireName::OpenAiResponses] {
        for delivery in DELIVERIES {
            let model = local(wire, llama.url(), delivery);
            let mut request = asking("Describe Paris as JSON.").max_output_tokens(60);
            if wire == WireName::OpenAiResponses {
                // This server reads no `text.format`, but its own member on every path.
                request = request.provider_options("openai", json!({ "json_schema": schema }));
            }
            let answer = model.object::<Town>(request).re_asks(0).await;
            let answer = answer.unwrap_or_else(|error| panic!("{wire:?} {delivery:?}: {error}"));
            assert_eq!(answer.turns.len(), 1, "{:?}", answer.value);
        }
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_format_leads_to_a_clear_error_or_to_a_value() {
    let llama = Llama::start();
    for delivery in DELIVERIES {
        let model = local(WireName::Anthropic, llama.url(), delivery);
        match model.object::<Town>(asking("Describe Paris as JSON.").max_output_tokens(60)).await {
            Ok(answer) => assert!(answer.turns.len() <= 2, "{answer:?}"),
            Err(ObjectError::Invalid { text, usage, .. } | ObjectError::CutOff { text, usage, .. }) => {
                assert!(!text.is_empty() && usage.output_tokens > 0, "{text}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}
