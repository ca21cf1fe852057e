//! Tools as they are sent.

use std::collections::BTreeMap;

use haft_core::{RenderFault, Secret, ToolDescriptor};
use haft_executor::Tool;
use haft_schema::Schema;
use haft_wire::catalogue::{ProviderToolFault, Vendor, entries, find, render_provider_tool};
use serde_json::{Map, Value, json};

use super::table::least;

fn vendor(tool: &Tool) -> Vendor {
    Vendor::of_id(tool.provider_definition().unwrap().id()).unwrap()
}

fn fault(tool: &Tool, vendor: Vendor) -> ProviderToolFault {
    render_provider_tool(&tool.descriptor(), vendor).unwrap_err()
}

#[test]
fn every_entry_renders() {
    let mut all = BTreeMap::new();
    for entry in entries() {
        let tool = entry.with_args(least(entry)).unwrap().define().unwrap();
        all.insert(entry.id, render_provider_tool(&tool.descriptor(), entry.vendor).unwrap());
    }
    insta::assert_json_snapshot!("entries", all);
}

#[test]
fn every_constructor_renders() {
    let mut all: Vec<_> = super::tools().iter().map(rendered).collect();
    all.iter_mut().for_each(Secret::mask_sealed);
    insta::assert_json_snapshot!("constructors", all);
}

fn rendered(tool: &Tool) -> Value {
    render_provider_tool(&tool.descriptor(), vendor(tool)).unwrap()
}

#[test]
fn a_stored_descriptor_renders_the_same() {
    for tool in super::tools() {
        let stored = serde_json::to_string(&*tool.descriptor()).unwrap();
        let read: ToolDescriptor = serde_json::from_str(&stored).unwrap();
        assert_eq!(render_provider_tool(&read, vendor(&tool)).unwrap(), rendered(&tool));
    }
}

#[test]
fn an_older_version_is_sent_with_its_own_type() {
    let entry = find("anthropic.computer_use_20241022").unwrap();
    let tool = entry.with_args(least(entry)).unwrap().define().unwrap();
    let sent =
        json!({"type": "computer_20241022", "name": "computer", "display_width_px": 1024, "display_height_px": 768});
    assert_eq!(rendered(&tool), sent);
    let alias = find("anthropic.computer_20241022").unwrap().with_args(least(entry)).unwrap().define().unwrap();
    assert_eq!(rendered(&alias), sent);
}

#[test]
fn a_tool_of_another_vendor_is_rejected() {
    for tool in super::tools() {
        for other in Vendor::ALL.into_iter().filter(|other| *other != vendor(&tool)) {
            let fault = fault(&tool, other);
            assert!(matches!(&fault, ProviderToolFault::Foreign { vendor, .. } if *vendor == other), "{fault}");
            let id = tool.provider_definition().unwrap().id();
            assert!(fault.to_string().contains(id) && fault.to_string().contains(other.as_str()), "{fault}");
        }
    }
    let acme = Tool::provider("acme.search").with_args(()).define().unwrap();
    assert!(matches!(fault(&acme, Vendor::OpenAi), ProviderToolFault::Foreign { .. }));
}

#[test]
fn a_function_is_rejected() {
    let tool = Tool::new("search").define().unwrap();
    let fault = fault(&tool, Vendor::OpenAi);
    assert!(matches!(&fault, ProviderToolFault::NotProviderDefined { tool } if tool == "search"), "{fault}");
}

#[test]
fn an_unknown_id_of_the_vendor_is_passed_on() {
    let tool =
        |id: &str, args: Value| Tool::provider(id).args_schema(Schema::unknown()).with_args(args).define().unwrap();
    for (id, args, sent) in [
        (
            "anthropic.new_tool_20270101",
            json!({"depth": 2}),
            json!({"type": "new_tool_20270101", "name": "new_tool_20270101", "depth": 2}),
        ),
        ("openai.new_tool", json!({"a": {"b": null}}), json!({"type": "new_tool", "a": {"b": null}})),
        ("openai.new_tool", Value::Null, json!({"type": "new_tool"})),
        ("google.new_big_search", json!({"topK": 1}), json!({"newBigSearch": {"topK": 1}})),
        ("google.new", Value::Null, json!({"new": {}})),
        // Settings never change the type.
        ("openai.new_tool", json!({"type": "function"}), json!({"type": "new_tool"})),
    ] {
        assert_eq!(rendered(&tool(id, args)), sent, "{id}");
    }
    for args in [json!([1]), json!("text"), json!(true)] {
        let fault = fault(&tool("openai.new_tool", args), Vendor::OpenAi);
        assert!(fault.to_string().contains("must be an object"), "{fault}");
    }
}

#[test]
fn invalid_settings_are_rejected_with_the_nearest_name() {
    let tool = Tool::provider("anthropic.web_search_20250305").provider_name("web_search");
    let tool = tool.args_schema(Schema::unknown());
    for (args, texts) in [
        (json!({"max_use": 3}), ["/max_use", "did you mean \"max_uses\"?"]),
        (json!({"max_uses": "3"}), ["/max_uses", "integer"]),
        (json!({"max_uses": 0}), ["/max_uses", "0"]),
        (json!({"allowed_domains": "rust-lang.org"}), ["/allowed_domains", "array"]),
        (json!({"user_location": {"type": "exact"}}), ["/user_location/type", "approximate"]),
        (json!({"response_inclusion": "full"}), ["/response_inclusion", "not allowed"]),
        (json!([]), ["web_search_20250305", "must be an object"]),
    ] {
        let tool = tool.with_args(args.clone()).define().unwrap();
        let fault = fault(&tool, Vendor::Anthropic);
        assert!(matches!(&fault, ProviderToolFault::Settings { .. }), "{args}: {fault}");
        for text in texts {
            assert!(fault.to_string().contains(text), "{args}: {fault}");
        }
    }
}

#[test]
fn missing_settings_are_rejected() {
    for entry in entries() {
        let least = least(entry);
        let Value::Object(members) = &least else { continue };
        for missing in members.keys().filter(|key| *key != "server_url") {
            let rest: Map<_, _> = members.clone().into_iter().filter(|(key, _)| key != missing).collect();
            let mut factory = Tool::provider(entry.id).provider_name(entry.provider_name);
            if entry.requires_handler(&least) {
                factory = factory.requires_handler();
            }
            let tool = factory.args_schema(Schema::unknown()).with_args(Value::Object(rest)).define().unwrap();
            let fault = fault(&tool, entry.vendor).to_string();
            assert!(fault.contains(missing), "{}: {fault}", entry.id);
        }
    }
}

#[test]
fn a_wrong_name_at_the_provider_is_rejected() {
    let tool = Tool::provider("anthropic.bash_20250124").requires_handler().with_args(()).define().unwrap();
    let fault = fault(&tool, Vendor::Anthropic);
    assert!(matches!(&fault, ProviderToolFault::ProviderName { expected: "bash", .. }), "{fault}");
    assert!(fault.to_string().contains("set its `provider_name`"), "{fault}");
}

#[test]
fn a_wrong_executor_is_rejected() {
    let bash = Tool::provider("anthropic.bash_20250124").provider_name("bash").with_args(()).define().unwrap();
    let fault = fault(&bash, Vendor::Anthropic);
    assert!(fault.to_string().contains("application") && fault.to_string().contains("requires_handler"), "{fault}");

    let search = Tool::provider("openai.web_search").requires_handler().with_args(()).define().unwrap();
    let fault = render_provider_tool(&search.descriptor(), Vendor::OpenAi).unwrap_err();
    assert!(fault.to_string().contains("provider"), "{fault}");

    let hosted = Tool::provider("openai.shell").requires_handler().args_schema(Schema::unknown());
    let hosted = hosted.with_args(json!({"environment": {"type": "container_auto"}})).define().unwrap();
    let fault = render_provider_tool(&hosted.descriptor(), Vendor::OpenAi).unwrap_err();
    assert!(matches!(fault, ProviderToolFault::WrongExecutor { by_application: false, .. }), "{fault}");
    let fault = RenderFault::from(fault);
    assert!(fault.remedy.contains("requires_handler"), "{fault}");
}
