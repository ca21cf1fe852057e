//! All kinds of findings: each names the tool, the part of its schema, and the change that removes it.

use std::sync::Arc;

use haft_core::{LossKind, ToolDescriptor};
use haft_wire::{Finding, FindingKind, Profile, Severity, Strictness, ToolLimits};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::dialect::generated::GeneratedType;
use crate::seeded::for_all;

fn with_parameter(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"p": schema}, "required": ["p"], "additionalProperties": false})
}

fn tool(schema: Value) -> ToolDescriptor {
    ToolDescriptor::new("t", schema).describe("A tool.")
}

fn findings(profile: &Profile, tools: Vec<ToolDescriptor>) -> Vec<Finding> {
    let tools: Vec<_> = tools.into_iter().map(Arc::new).collect();
    profile.render(&tools).findings().to_vec()
}

/// Asserts that there is a finding of this kind at this pointer, with words of its message and of its advice.
#[track_caller]
fn assert_found(found: &[Finding], kind: FindingKind, pointer: &str, message: &str, advice: &str) {
    let is_it = |finding: &&Finding| {
        finding.tool == "t"
            && finding.kind == kind
            && finding.pointer == pointer
            && finding.message.contains(message)
            && finding.advice.contains(advice)
    };
    assert!(found.iter().any(|finding| is_it(&finding)), "{kind:?} at {pointer:?}: {found:#?}");
}

#[test]
fn each_loss_is_found_at_its_part() {
    let text = |keyword: &str, value: Value| json!({"type": "string", "description": "A text.", keyword: value});
    let deep = (0..12).fold(json!({"type": "string"}), |inner, _| with_parameter(&inner));
    let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
    let optional =
        json!({"type": "object", "properties": {"p": {"type": ["string", "null"]}}, "additionalProperties": false});
    let openai = || Profile::openai().strictness(Strictness::On);
    let cases = [
        (openai(), with_parameter(&text("minLength", json!(2))), LossKind::Keyword, "/properties/p/minLength"),
        (openai(), with_parameter(&text("format", json!("uri"))), LossKind::Format, "/properties/p/format"),
        (openai(), with_parameter(&text("default", json!("a"))), LossKind::Annotation, "/properties/p/default"),
        (openai(), with_parameter(&text("not", json!({"const": "a"}))), LossKind::Combination, "/properties/p/not"),
        (Profile::gemini(), tree, LossKind::Reference, "/properties/next"),
        (openai(), deep, LossKind::Limit, &"/properties/p".repeat(10)),
        (openai(), json!({"type": "object", "properties": {"p": {"type": "string"}}}), LossKind::UnlistedKeys, ""),
        (openai(), optional, LossKind::Ambiguity, "/properties/p"),
        (openai(), with_parameter(&json!({"type": "object"})), LossKind::Other, "/properties/p"),
    ];
    for (profile, schema, kind, pointer) in cases {
        let found = findings(&profile, vec![tool(schema)]);
        assert_found(&found, FindingKind::Loss(kind), pointer, "", "simplify the schema");
        let loss = found.iter().find(|finding| finding.kind == FindingKind::Loss(kind)).unwrap();
        assert_eq!(loss.severity(), Severity::Loss);
    }
}

#[test]
fn each_reason_to_leave_a_tool_out_comes_with_advice() {
    let other = |name: &str| ToolDescriptor::new(name, with_parameter(&json!({"type": "string"}))).describe("Another.");
    let text = || with_parameter(&json!({"type": "string"}));
    let cases = [
        (Profile::mcp(), vec![tool(json!({"type": "strin"}))], "", "the input schema is invalid", "correct the schema"),
        (
            Profile::gemini(),
            vec![tool(with_parameter(&json!({"type": "integer", "enum": ["1"]})))],
            "/properties/p",
            "no value is valid",
            "correct its type",
        ),
        (
            Profile::openai().limits(ToolLimits::new().tools(1)),
            vec![other("first"), tool(text())],
            "",
            "accepts 1 tools",
            "offer fewer tools",
        ),
        (Profile::openai(), vec![tool(text()), tool(text())], "", "has the same name", "rename one"),
    ];
    for (profile, tools, pointer, message, advice) in cases {
        let found = findings(&profile, tools);
        assert_found(&found, FindingKind::LeftOut, pointer, message, advice);
        assert!(found.iter().any(|finding| finding.severity() == Severity::Fault), "{found:?}");
    }
}

#[test]
fn each_reason_to_leave_strict_mode_off_comes_with_advice() {
    let strict = |schema: Value| {
        let mut tool = tool(schema);
        tool.strict = Some(true);
        tool
    };
    let text = || with_parameter(&json!({"type": "string"}));
    let values: Vec<String> = (0..1_001).map(|at| at.to_string()).collect();
    let (unmet, none) = (FindingKind::StrictUnmet, FindingKind::NoStrictMode);
    let few = Profile::anthropic().limits(ToolLimits::new().strict(0, 24, 16));
    for (profile, tool, kind, message, advice) in [
        (
            Profile::openai(),
            strict(with_parameter(&json!({"enum": values}))),
            unmet,
            "must be strict, and can't be",
            "split the tool",
        ),
        (few, strict(text()), unmet, "a request may have 0 strict tools", "fewer tools"),
        (Profile::mcp(), strict(text()), none, "has no strict mode", "choose another model"),
    ] {
        let found = findings(&profile, vec![tool]);
        assert_found(&found, kind, "", message, advice);
    }
}

#[test]
fn each_reason_to_send_a_tool_without_strict_mode_comes_with_advice() {
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true});
    let open = with_parameter(&open);
    let values: Vec<String> = (0..1_001).map(|at| at.to_string()).collect();
    let large = with_parameter(&json!({"type": "string", "enum": values}));
    let none = Profile::anthropic().limits(ToolLimits::new().strict(0, 24, 16));
    let cases = [
        (Profile::openai(), open, "/properties/p", "keys that are not listed can't be sent", "simplify the schema"),
        (Profile::openai(), large, "", "1001 enumerated values", "split the tool"),
        (none, with_parameter(&json!({"type": "string"})), "", "0 strict tools", "offer fewer tools"),
    ];
    for (profile, schema, pointer, message, advice) in cases {
        let found = findings(&profile, vec![tool(schema)]);
        assert_found(&found, FindingKind::NotStrict, pointer, message, advice);
        assert!(found.iter().all(|finding| finding.severity() < Severity::Fault), "{found:?}");
    }
}

#[test]
fn missing_and_long_descriptions_are_found_on_every_profile() {
    let schema = with_parameter(&json!({"type": "string"}));
    for profile in Profile::all() {
        let found = findings(&profile, vec![ToolDescriptor::new("t", schema.clone())]);
        assert_found(&found, FindingKind::NoDescription, "", "the tool has no description", "say what it does");
        let message = "the parameter `p` has no description";
        assert_found(&found, FindingKind::NoParameterDescription, "/properties/p", message, "say what to send");
    }
    let found = findings(&Profile::openai_chat(), vec![tool(schema).describe("x".repeat(1_025))]);
    assert_found(&found, FindingKind::LongDescription, "", "more than 1024 characters", "shorten it");
    let display = found.iter().find(|finding| finding.kind == FindingKind::LongDescription).unwrap().to_string();
    assert_eq!(display, "`t`: the description has more than 1024 characters, which some servers reject; shorten it");
}

#[test]
fn every_finding_points_into_the_schema_and_gives_advice() {
    for_all(60, GeneratedType::any(), |ty| {
        let schema = ty.schema();
        for profile in Profile::all().into_iter().chain([Profile::openai().strictness(Strictness::On)]) {
            for finding in findings(&profile, vec![ToolDescriptor::new("t", schema.clone())]) {
                let is_found = schema.pointer(&finding.pointer).is_some();
                prop_assert!(is_found, "{}: {finding:?}\n{schema}", profile.name());
                prop_assert!(!finding.message.is_empty() && !finding.advice.is_empty(), "{finding:?}");
                prop_assert!(!finding.message.ends_with('.') && !finding.advice.ends_with('.'), "{finding:?}");
            }
        }
        Ok(())
    });
}
