//! Requests as every wire writes them, for statements about what providers are sent.

use haft::conversation::{Item, TurnRequest};
use haft::tool::Tool;
use haft::toolkit::Toolkit;
use haft::wire::{Delivery, KnownWire};
use haft::{JsonSchema, tool, toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Returns each wire's request for these tools.
fn sent(request: &TurnRequest) -> Vec<Value> {
    let body = |wire: KnownWire| {
        let sent = wire.wire().request(request, Delivery::Whole).unwrap();
        serde_json::from_str(&sent.body).unwrap()
    };
    KnownWire::ALL.map(body).to_vec()
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("go")])
}

fn with_tool(tool: &Tool) -> TurnRequest {
    request().tools(&[tool.descriptor()])
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Find {
    /// A part of the name.
    words: String,
}

#[test]
fn every_wire_is_sent_local_and_dynamic_tools_alike() {
    let local = Tool::new("find").describe("Finds things.").params::<Find>().define().unwrap();
    let dynamic = Tool::dynamic("find").describe("Finds things.").params::<Find>().define().unwrap();
    let raw =
        Tool::dynamic("find").describe("Finds things.").params_json(local.json_schema().clone()).define().unwrap();
    assert_eq!(sent(&with_tool(&local)), sent(&with_tool(&dynamic)));
    assert_eq!(sent(&with_tool(&local)), sent(&with_tool(&raw)));
    for body in sent(&with_tool(&local)) {
        let tools = body["tools"].to_string();
        for part in [r#""find""#, "Finds things.", "words", "A part of the name."] {
            assert!(tools.contains(part), "{part}: {tools}");
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", deny_unknown_fields)]
enum Search {
    Title { title: String },
    Year { year: u16 },
}

#[test]
fn every_wire_is_sent_parameters_of_any_shape() {
    let union = Tool::new("t").params::<Search>().define().unwrap();
    for body in sent(&with_tool(&union)) {
        let tools = body["tools"].to_string();
        assert!(["by", "title", "year"].iter().all(|key| tools.contains(&format!("\"{key}\""))), "{tools}");
    }
    let shapes = [
        Tool::new("t").params::<Vec<u8>>().define().unwrap(),
        Tool::new("t").params::<(u8, bool)>().define().unwrap(),
        Tool::new("t").params::<String>().define().unwrap(),
        Tool::dynamic("t").params_json(json!({"enum": ["a", 1]})).define().unwrap(),
    ];
    for tool in &shapes {
        for body in sent(&with_tool(tool)) {
            assert!(body["tools"].to_string().contains(r#""t""#), "{}: {body}", tool.json_schema());
        }
    }
}

struct Key;

/// Opens a door.
#[tool]
fn open_door(#[service] _key: &Key) -> bool {
    true
}

#[derive(haft::toolkit::Services)]
struct House {
    key: Key,
}

/// A request needs no services: it takes the toolkit before its state.
#[test]
fn every_wire_is_sent_the_tools_of_a_toolkit_that_can_not_run_yet() {
    let kit: Toolkit<House> = toolkit![OpenDoor];
    assert_eq!(kit.descriptors().len(), 1);
    for body in sent(&request().tools(&kit)) {
        assert!(body["tools"].to_string().contains("Opens a door."), "{body}");
    }
    assert!(kit.provide(House { key: Key }).ensure_runnable().is_ok());
}
