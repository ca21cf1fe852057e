//! The choice of tools.

use haft_core::{Item, ToolChoice, ToolDescriptor, TurnRequest};
use haft_schema::Schema;
use haft_wire::catalogue::google;
use haft_wire::{Capabilities, Delivery, ForcedChoice, GeminiContent, ModelTable, Wire};
use serde_json::{Value, json};

use super::{MODEL, OLD_MODEL, body_of, send};

fn request(choice: ToolChoice) -> TurnRequest {
    let tools = ["acme/a", "b", "c"].map(|name| ToolDescriptor::new(name, Schema::empty()));
    TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&tools).tool_choice(choice)
}

/// A request with a function and a search of the provider.
fn mixed(model: &str, choice: ToolChoice) -> TurnRequest {
    let search = google::google_search().define().unwrap().descriptor();
    let function = std::sync::Arc::new(ToolDescriptor::new("a", Schema::empty()));
    TurnRequest::new(model, vec![Item::user("hi")]).tools(&vec![function, search]).tool_choice(choice)
}

/// The names of the sent functions and of built-in tools' members.
fn listed(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let names = |tool: &Value| -> Vec<String> {
        match tool["functionDeclarations"].as_array() {
            Some(functions) => functions.iter().map(|function| function["name"].as_str().unwrap().to_owned()).collect(),
            None => tool.as_object().unwrap().keys().cloned().collect(),
        }
    };
    tools.iter().flat_map(names).collect()
}

#[test]
fn every_choice_has_its_form() {
    let nobody: [&str; 0] = [];
    for (choice, sent) in [
        (ToolChoice::Auto, Value::Null),
        (ToolChoice::None, json!({"mode": "NONE"})),
        (ToolChoice::Required, json!({"mode": "ANY"})),
        (ToolChoice::tool("acme/a"), json!({"mode": "ANY", "allowedFunctionNames": ["acme--a"]})),
        (ToolChoice::may_call(["c", "acme/a"]), json!({"mode": "VALIDATED", "allowedFunctionNames": ["c", "acme--a"]})),
        (ToolChoice::must_call_one_of(["b"]), json!({"mode": "ANY", "allowedFunctionNames": ["b"]})),
        (ToolChoice::may_call(nobody), json!({"mode": "NONE"})),
    ] {
        let body = body_of(&send(&request(choice.clone())).unwrap());
        assert_eq!(body["toolConfig"]["functionCallingConfig"], sent, "{choice:?}");
        assert_eq!(listed(&body), ["acme--a", "b", "c"], "the list stays the same: {choice:?}");
    }
}

#[test]
fn a_model_that_knows_no_subset_gets_a_shorter_list() {
    let mut request = request(ToolChoice::may_call(["c", "acme/a"]));
    "gemini-2.0-flash".clone_into(&mut request.model);
    let body = body_of(&send(&request).unwrap());
    assert_eq!((listed(&body), body.get("toolConfig")), (vec!["acme--a".to_owned(), "c".to_owned()], None));
    request.tool_choice = ToolChoice::must_call_one_of(["c"]);
    let body = body_of(&send(&request).unwrap());
    assert_eq!(body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"], json!(["c"]));
}

#[test]
fn a_strict_tool_holds_the_model_to_all_schemas() {
    let mut tool = ToolDescriptor::new("a", Schema::empty());
    tool.strict = Some(true);
    let request = TurnRequest::new(MODEL, vec![Item::user("hi")]).tools(&[tool]);
    assert_eq!(
        body_of(&send(&request).unwrap())["toolConfig"],
        json!({"functionCallingConfig": {"mode": "VALIDATED"}})
    );
}

#[test]
fn built_in_tools_are_permitted_by_the_list() {
    let invocations = |body: &Value| body["toolConfig"]["includeServerSideToolInvocations"].clone();
    for (choice, tools, mode) in [
        (ToolChoice::Auto, vec!["a", "googleSearch"], Value::Null),
        (ToolChoice::Required, vec!["a", "googleSearch"], json!("ANY")),
        (ToolChoice::None, vec!["a"], json!("NONE")),
        (ToolChoice::may_call(["a"]), vec!["a"], json!("VALIDATED")),
        (ToolChoice::may_call(["GoogleSearch"]), vec!["a", "googleSearch"], json!("NONE")),
        (ToolChoice::may_call(["a", "GoogleSearch"]), vec!["a", "googleSearch"], json!("VALIDATED")),
    ] {
        let body = body_of(&send(&mixed(MODEL, choice.clone())).unwrap());
        assert_eq!(listed(&body), tools, "{choice:?}");
        assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], mode, "{choice:?}");
        assert_eq!(invocations(&body) == true, tools.len() == 2, "{choice:?}");
    }
    let vertex = GeminiContent::new().without_call_ids();
    let body = body_of(&vertex.request(&mixed(MODEL, ToolChoice::Auto), Delivery::Whole).unwrap());
    assert_eq!((listed(&body).len(), body.get("toolConfig")), (2, None));
    let search = google::google_search().define().unwrap().descriptor();
    let alone = TurnRequest::new(OLD_MODEL, vec![Item::user("hi")]).tools(&vec![search]);
    let body = body_of(&send(&alone).unwrap());
    assert_eq!((listed(&body), body.get("toolConfig")), (vec!["googleSearch".to_owned()], None));
    let body = body_of(&send(&alone.tool_choice(ToolChoice::None)).unwrap());
    assert_eq!((body.get("tools"), body.get("toolConfig")), (None, None));
}

#[test]
fn functions_beside_built_in_tools_are_rejected_for_models_that_take_one_of_both() {
    let error = send(&mixed(OLD_MODEL, ToolChoice::Auto)).unwrap_err().to_string();
    assert!(error.contains("functions together with built-in tools") && error.contains("Gemini 3"), "{error}");
    send(&mixed(OLD_MODEL, ToolChoice::None)).unwrap();
    let computer = google::computer_use("ENVIRONMENT_BROWSER").define().unwrap().descriptor();
    let function = std::sync::Arc::new(ToolDescriptor::new("a", Schema::empty()));
    let model = "gemini-2.5-computer-use-preview-10-2025";
    let request = TurnRequest::new(model, vec![Item::user("hi")]).tools(&vec![function, computer]);
    let body = body_of(&send(&request).unwrap());
    assert_eq!((listed(&body), body.get("toolConfig")), (vec!["a".to_owned(), "computerUse".to_owned()], None));
}

#[test]
fn a_choice_that_cannot_be_met_is_rejected() {
    for (choice, problem) in [
        (ToolChoice::tool("gone"), "`gone` is not offered"),
        (ToolChoice::must_call_one_of(["gone"]), "`gone` is not offered"),
        (ToolChoice::tool("GoogleSearch"), "only functions can be"),
        (ToolChoice::must_call_one_of(["GoogleSearch"]), "only functions can be"),
    ] {
        let error = send(&mixed(MODEL, choice)).unwrap_err().to_string();
        assert!(error.starts_with("tool_choice: ") && error.contains(problem), "{error}");
    }
    let none = TurnRequest::new(MODEL, vec![Item::user("hi")]);
    send(&none.clone().tool_choice(ToolChoice::Required)).unwrap_err();
    for choice in [ToolChoice::Auto, ToolChoice::None] {
        let body = body_of(&send(&none.clone().tool_choice(choice)).unwrap());
        assert_eq!((body.get("tools"), body.get("toolConfig")), (None, None));
    }
}

#[test]
fn a_forced_call_together_with_thinking_follows_the_table() {
    let mut capabilities = Capabilities::default();
    capabilities.forced_choice = ForcedChoice::WithoutThinking;
    let wire = GeminiContent::new().models(ModelTable::empty().with("*", capabilities));
    for (config, choice, is_sent) in [
        (json!({"thinkingLevel": "HIGH"}), ToolChoice::Required, false),
        (json!({"thinkingBudget": 100}), ToolChoice::tool("b"), false),
        (json!({"thinkingBudget": 0}), ToolChoice::Required, true),
        (Value::Null, ToolChoice::Required, true),
        (json!({"thinkingLevel": "HIGH"}), ToolChoice::Auto, true),
    ] {
        let options = json!({"generationConfig": {"thinkingConfig": config}});
        let sent = wire.request(&request(choice).provider_options("google", options), Delivery::Whole);
        assert_eq!(sent.is_ok(), is_sent, "{config}");
    }
}
