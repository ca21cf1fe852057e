//! Clients and the turn loop against programs that others wrote: a fake provider of all wires, and a small real model. The
//! official SDKs judge every request.

mod agent;
mod chaos;
mod live;
mod llama;
mod object;

use std::time::Duration;

use haft_core::{Item, TurnRequest, history};
use haft_executor::{ApprovalPolicy, Backoff, RunOptions, Suspend, Tool, Toolkit};
use haft_http::{HttpClient, Secret};
use haft_model::{Anthropic, Gemini, LanguageModel, LoopEnd, LoopState, OpenAi, TurnLoop};
use haft_parts::{Aimock, Judge, SentRequest, WireName};
use haft_wire::Delivery;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

const KEY: &str = "key-for-tests";
const DELIVERIES: [Delivery; 2] = [Delivery::Streamed, Delivery::Whole];

/// Ignores the proxies of the environment.
fn http() -> HttpClient {
    HttpClient::builder().no_proxy().build().unwrap()
}

/// Applies the settings that all clients share.
macro_rules! client {
    ($client:expr, $url:expr, $model:expr, $delivery:expr) => {{
        let client = $client.base_url($url).model($model).http_client(http());
        match $delivery {
            Delivery::Streamed => Box::new(client),
            Delivery::Whole => Box::new(client.whole()),
        }
    }};
}

fn client(wire: WireName, url: &str, delivery: Delivery) -> Box<dyn LanguageModel> {
    let key = Secret::new(KEY);
    match wire {
        WireName::OpenAiResponses => client!(OpenAi::new(key), format!("{url}/v1"), "gpt-4.1", delivery),
        WireName::OpenAiChat => client!(OpenAi::new(key).chat(), format!("{url}/v1/"), "gpt-4.1", delivery),
        WireName::Anthropic => client!(Anthropic::new(key), url, "claude-sonnet-4-5", delivery),
        WireName::Gemini => client!(Gemini::new(key), url, "gemini-2.5-flash", delivery),
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    city: String,
    #[serde(default = "one")]
    days: u8,
}

fn one() -> u8 {
    1
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Amount {
    cents: u64,
}

/// `get_weather` works, `book` fails, and `pay` requires approval.
fn kit() -> Toolkit {
    let weather = Tool::new("get_weather")
        .describe("Returns the weather of a city.")
        .handler(|Place { city, days }: Place, _cx| async move { format!("{city}: 18C for {days} days") });
    let book = Tool::new("book")
        .describe("Books a hotel.")
        .try_handler(|Place { city, .. }: Place, _cx| async move { Err::<(), _>(format!("no room in {city}")) });
    let pay = Tool::new("pay")
        .describe("Pays an amount.")
        .needs_approval(ApprovalPolicy::always())
        .handler(|Amount { cents }: Amount, _cx| async move { format!("paid {cents}") });
    [weather, book, pay].into_iter().map(Result::unwrap).collect()
}

/// Removes the members that are null, unless a strict schema of this wire has null for what is absent.
fn as_answered(wire: WireName, mut value: Value) -> Value {
    if !matches!(wire, WireName::OpenAiResponses | WireName::OpenAiChat) {
        value.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    }
    value
}

/// The first answer has four calls, the one after their results is text.
fn fixtures(wire: WireName) -> Value {
    let place = |city: &str, days: Option<u8>| as_answered(wire, json!({ "city": city, "days": days }));
    json!([
        {
            "match": { "userMessage": "plan a trip", "hasToolResult": false },
            "response": { "toolCalls": [
                { "name": "get_weather", "arguments": place("Paris", Some(3)), "id": "call_1" },
                { "name": "get_weather", "arguments": place("Rome", None), "id": "call_2" },
                { "name": "book", "arguments": place("Paris", None), "id": "call_3" },
                { "name": "pay", "arguments": { "cents": 500 }, "id": "call_4" },
            ] },
        },
        {
            "match": { "userMessage": "plan a trip", "hasToolResult": true },
            "response": { "content": "All is planned, but no room was found." },
        },
    ])
}

fn request() -> TurnRequest {
    TurnRequest::new("", vec![Item::user("plan a trip")]).instructions("You plan trips.").max_output_tokens(200)
}

fn agent(model: Box<dyn LanguageModel>) -> TurnLoop {
    TurnLoop::new(model, kit())
        .options(RunOptions::new().approvals(Suspend))
        .backoff(Backoff::constant(Duration::ZERO))
        .max_retry_wait(Duration::ZERO)
}

/// Writes a state and reads it back, as another process does.
fn stored(state: &LoopState) -> LoopState {
    serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap()
}

/// Approves every call that waits.
fn approve(agent: &TurnLoop, state: &mut LoopState) {
    let asked = state.approvals();
    assert_eq!(asked.len(), 1, "{asked:?}");
    for approval in asked {
        agent.verdict(state, approval.approve()).unwrap();
    }
}

/// Asserts that the judge accepts all requests, and returns them.
#[track_caller]
fn judged(mock: &Aimock, wire: WireName) -> Vec<SentRequest> {
    let requests = mock.requests();
    for sent in &requests {
        Judge::shared().assert_valid(wire, &sent.json());
    }
    requests
}

/// Asserts that every call of a history has its result, and none is without its call.
#[track_caller]
fn assert_reconciled(state: &LoopState) {
    assert!(history::is_reconciled(state.history()), "{:#?}", state.history());
}

#[track_caller]
fn assert_stopped(end: &LoopEnd) {
    assert_eq!(end, &LoopEnd::Stopped);
}
