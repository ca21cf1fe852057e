//! The choice of tools, and parallel calls.

use haft_core::{Item, ProviderOptions, ToolChoice, ToolDescriptor, TurnRequest};
use haft_schema::Schema;
use haft_wire::{Capabilities, Delivery, ForcedChoice, ModelTable, OpenAiResponses, Wire, catalogue};
use serde_json::{Value, json};

use super::{MODEL, body_of, send};

fn request(choice: ToolChoice) -> TurnRequest {
    let mut tools: Vec<_> =
        ["acme/a", "b", "grep"].map(|name| ToolDescriptor::new(name, Schema::empty())).map(std::sync::Arc::new).into();
    let mut custom = ToolDescriptor::new("grep", Schema::empty());
    custom.provider_options = ProviderOptions::new().for_provider("openai", json!({"type": "custom"}));
    tools[2] = std::sync::Arc::new(custom);
    for (id, args) in [
        ("openai.web_search", json!({})),
        ("openai.shell", json!({})),
        ("openai.mcp", json!({"server_label": "s1", "server_url": "https://mcp.example"})),
        ("openai.mcp", json!({"server_label": "s2", "server_url": "https://mcp.example"})),
    ] {
        let mut tool = catalogue::find(id).unwrap().with_args(args).unwrap().define().unwrap().descriptor();
        if tools.iter().any(|known| known.name == tool.name) {
            "second".clone_into(&mut std::sync::Arc::make_mut(&mut tool).name);
        }
        tools.push(tool);
    }
    TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&tools).tool_choice(choice)
}

#[test]
fn every_choice_has_its_form() {
    let allowed = |mode: &str, tools: Value| json!({"type": "allowed_tools", "mode": mode, "tools": tools});
    let a = json!({"type": "function", "name": "acme--a"});
    let nobody: [&str; 0] = [];
    for (choice, sent) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!("none")),
        (ToolChoice::Required, json!("required")),
        (ToolChoice::tool("acme/a"), a.clone()),
        (ToolChoice::tool("grep"), json!({"type": "custom", "name": "grep"})),
        (ToolChoice::tool("OpenAiShell"), json!({"type": "shell"})),
        (ToolChoice::tool("OpenAiMcp"), json!({"type": "mcp", "server_label": "s1"})),
        (ToolChoice::tool("second"), json!({"type": "mcp", "server_label": "s2"})),
        // This type can't be chosen alone.
        (ToolChoice::tool("OpenAiWebSearch"), allowed("required", json!([{"type": "web_search"}]))),
        (ToolChoice::may_call(["b", "acme/a"]), allowed("auto", json!([{"type": "function", "name": "b"}, a]))),
        (ToolChoice::must_call_one_of(["OpenAiShell"]), allowed("required", json!([{"type": "shell"}]))),
        (ToolChoice::may_call(nobody), json!("none")),
        (ToolChoice::may_call(["gone"]), json!("none")),
    ] {
        let body = body_of(&send(&request(choice.clone())).unwrap());
        assert_eq!(body["tool_choice"], sent, "{choice:?}");
        assert_eq!(body["tools"].as_array().unwrap().len(), 7, "the list stays the same: {choice:?}");
    }
}

#[test]
fn a_tool_of_a_subset_that_is_not_sent_is_reported() {
    let sent = send(&request(ToolChoice::may_call(["b", "gone"]))).unwrap();
    assert_eq!(body_of(&sent)["tool_choice"]["tools"], json!([{"type": "function", "name": "b"}]));
    let dropped: Vec<_> = sent.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(dropped, ["tool_choice: the tool `gone` is not sent"]);
}

#[test]
fn a_call_that_is_impossible_is_rejected_before_sending() {
    for choice in [ToolChoice::tool("gone"), ToolChoice::must_call_one_of(["gone"])] {
        let error = send(&request(choice)).unwrap_err().to_string();
        assert!(error.starts_with("tool_choice: ") && error.contains("offer"), "{error}");
    }
    for choice in [ToolChoice::Required, ToolChoice::tool("a"), ToolChoice::must_call_one_of(["a"])] {
        let error = send(&TurnRequest::new(MODEL, vec![Item::user("hi")]).tool_choice(choice)).unwrap_err();
        assert!(error.to_string().starts_with("tool_choice: "), "{error}");
    }
}

#[test]
fn without_tools_there_is_no_choice() {
    for choice in [ToolChoice::Auto, ToolChoice::None, ToolChoice::may_call(["a"])] {
        let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tool_choice(choice).forbid_parallel_calls();
        let body = body_of(&send(&request).unwrap());
        for member in ["tools", "tool_choice", "parallel_tool_calls"] {
            assert_eq!(body.get(member), None);
        }
    }
}

#[test]
fn parallel_calls_are_a_setting_of_models_that_have_them() {
    let setting = |request: &TurnRequest| body_of(&send(request).unwrap())["parallel_tool_calls"].clone();
    let base = request(ToolChoice::Auto);
    assert_eq!(setting(&base), Value::Null);
    assert_eq!(setting(&base.clone().allow_parallel_calls()), true);
    assert_eq!(setting(&base.clone().forbid_parallel_calls()), false);

    let mut single = Capabilities::default();
    single.parallel_calls = false;
    let wire = OpenAiResponses::new().models(ModelTable::empty().with("*", single));
    let sent = wire.request(&base.clone().forbid_parallel_calls(), Delivery::Whole).unwrap();
    assert_eq!(body_of(&sent).get("parallel_tool_calls"), None);
    let sent = wire.request(&base.allow_parallel_calls(), Delivery::Whole).unwrap();
    assert_eq!(body_of(&sent).get("parallel_tool_calls"), None);
    assert_eq!(&*sent.dropped[0].part, "parallel_tool_calls");
}

#[test]
fn what_a_model_cannot_do_is_an_error_before_sending() {
    let mut plain = Capabilities::default();
    plain.forced_choice = ForcedChoice::Never;
    let wire = OpenAiResponses::new().models(ModelTable::built_in().with("plain", plain));
    let hi = |model: &str| TurnRequest::new(model, vec![Item::user("hi")]);
    let mut forced = request(ToolChoice::Required);
    forced.model = "plain".to_owned();
    for (request, remedy) in [
        (hi("o1-mini").tools(&[super::weather()]), "send the request without tools"),
        (forced, "use `ToolChoice::Auto`"),
    ] {
        let error = wire.request(&request, Delivery::Whole).unwrap_err().to_string();
        assert!(error.contains(remedy) && error.contains(&request.model), "{error}");
    }
    let sent = wire.request(&hi("gpt-4o").max_output_tokens(20_000), Delivery::Whole).unwrap();
    assert!(sent.warnings[0].message.contains("at most 16384") && sent.body.contains("20000"), "{:?}", sent.warnings);
}
