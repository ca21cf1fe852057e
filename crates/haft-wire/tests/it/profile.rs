//! The rendering of tool sets: modes, budgets, names and findings.

mod lint;

use std::sync::Arc;

use haft_core::{DescriptorKind, Item, LossKind, ProviderOptions, ToolChoice, ToolDescriptor, TurnRequest};
use haft_wire::{FindingKind, Profile, RenderTools, RenderedTools, Severity, Strictness, ToolLimits, ToolMode};
use serde_json::{Value, json};

fn tool(name: &str, schema: Value) -> ToolDescriptor {
    ToolDescriptor::new(name, schema).describe("A tool.")
}

#[allow(clippy::needless_pass_by_value, reason = "the values are literals")]
fn closed(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// A tool with this number of optional parameters.
fn optional(name: &str, count: usize) -> ToolDescriptor {
    let properties = (0..count).map(|at| (format!("p{at}"), json!({"type": "string", "description": "A text."})));
    tool(name, closed(Value::Object(properties.collect()), json!([])))
}

fn strict(mut tool: ToolDescriptor, strict: bool) -> ToolDescriptor {
    tool.strict = Some(strict);
    tool
}

fn render(profile: &Profile, tools: &[ToolDescriptor]) -> Arc<RenderedTools> {
    TurnRequest::new("m", vec![Item::user("hi")]).tools(tools).render_tools(profile)
}

fn modes(tools: &RenderedTools) -> Vec<(&str, ToolMode)> {
    tools.iter().map(|tool| (tool.name.as_str(), tool.mode)).collect()
}

fn kinds<'t>(tools: &'t RenderedTools, name: &str) -> Vec<&'t FindingKind> {
    tools.findings().iter().filter(|finding| finding.tool == name).map(|finding| &finding.kind).collect()
}

#[test]
fn a_tool_states_its_mode_and_the_profile_decides_for_the_others() {
    let tools = [optional("unset", 1), strict(optional("on", 1), true), strict(optional("off", 1), false)];
    for (strictness, unset) in
        [(Strictness::Auto, ToolMode::Strict), (Strictness::On, ToolMode::Strict), (Strictness::Off, ToolMode::Plain)]
    {
        let rendered = render(&Profile::anthropic().strictness(strictness), &tools);
        let expected = [("unset", unset), ("on", ToolMode::Strict), ("off", ToolMode::Plain)];
        assert_eq!(modes(&rendered), expected, "{strictness:?}");
    }
}

#[test]
fn the_mode_is_always_sent() {
    let tools = [strict(optional("on", 1), true), strict(optional("off", 1), false)];
    for (profile, pointer) in [
        (Profile::openai(), "/strict"),
        (Profile::openai_chat(), "/function/strict"),
        (Profile::anthropic(), "/strict"),
    ] {
        let list: Value = serde_json::from_str(render(&profile, &tools).list()).unwrap();
        let sent = [0, 1].map(|at| list[at].pointer(pointer).cloned());
        assert_eq!(sent, [Some(json!(true)), Some(json!(false))], "{profile:?}");
    }
}

#[test]
fn an_unset_tool_whose_strict_form_is_narrower_is_sent_without_it() {
    let open = json!({
        "type": "object",
        "properties": {"a": {"type": "string", "description": "A."}},
        "additionalProperties": true,
    });
    let open = tool("open", open);
    let rendered = render(&Profile::openai(), std::slice::from_ref(&open));
    assert_eq!(modes(&rendered), [("open", ToolMode::Plain)]);
    assert_eq!(kinds(&rendered, "open"), [&FindingKind::NotStrict]);

    let on = render(&Profile::openai().strictness(Strictness::On), &[open]);
    assert_eq!(modes(&on), [("open", ToolMode::Strict)]);
    assert!(kinds(&on, "open").contains(&&FindingKind::Loss(LossKind::OpenObject)), "{:?}", on.findings());
}

#[test]
fn keys_that_a_schema_does_not_mention_do_not_prevent_strict_mode() {
    let unstated = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    for profile in [Profile::openai(), Profile::anthropic()] {
        let rendered = render(&profile, &[tool("unstated", unstated.clone())]);
        assert_eq!(modes(&rendered), [("unstated", ToolMode::Strict)], "{profile:?}");
        assert!(kinds(&rendered, "unstated").contains(&&FindingKind::Loss(LossKind::UnlistedKeys)), "{profile:?}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Search {
    /// The text to search for.
    query: String,
    /// The most results.
    limit: Option<u8>,
}

#[test]
fn an_option_of_a_rust_type_does_not_prevent_strict_mode() {
    let typed = haft_executor::Tool::new("typed").handler(|_: Search, _cx| async {}).unwrap().descriptor();
    let rendered = Profile::openai().render(&[Arc::clone(&typed)]);
    assert_eq!(modes(&rendered), [("typed", ToolMode::Strict)]);

    // Raw schemas may distinguish a value that is removed from one that stays.
    let raw = tool("raw", closed(json!({"name": {"type": ["string", "null"]}}), json!([])));
    let rendered = render(&Profile::openai(), &[raw]);
    assert_eq!(modes(&rendered), [("raw", ToolMode::Plain)]);
}

/// A tool whose schema has no strict form at OpenAI: its enum is too large.
fn large(name: &str) -> ToolDescriptor {
    let values: Vec<_> = (0..1001).map(|at| format!("value{at}")).collect();
    tool(name, closed(json!({"v": {"type": "string", "enum": values, "description": "A value."}}), json!(["v"])))
}

#[test]
fn a_demand_for_strict_mode_that_cannot_be_met_is_a_fault_and_the_tool_stays() {
    let tools = [strict(large("large"), true), optional("other", 1)];
    let rendered = render(&Profile::openai(), &tools);
    assert_eq!(modes(&rendered), [("large", ToolMode::Plain), ("other", ToolMode::Strict)]);
    assert_eq!(kinds(&rendered, "large"), [&FindingKind::StrictUnmet]);
    assert_eq!(rendered.findings()[0].severity(), Severity::Fault);
    let error = rendered.ensure_sendable().unwrap_err().to_string();
    assert!(error.contains("`large`") && error.contains("must be strict") && error.contains("downgrades"), "{error}");
    let on = render(&Profile::openai().strictness(Strictness::On), &[large("large")]);
    assert!(on.ensure_sendable().is_err() && on.get("large").is_some());

    let allowed = render(&Profile::openai().allow_downgrades(), &tools);
    allowed.ensure_sendable().unwrap();
    assert_eq!(modes(&allowed), modes(&rendered));
    assert_eq!(kinds(&allowed, "large"), [&FindingKind::NotStrict]);
}

#[test]
fn a_demand_for_strict_mode_where_there_is_none_is_left_off_and_reported() {
    let tools = [strict(optional("must", 1), true), optional("other", 1)];
    for profile in [Profile::openai().without_strict_mode(), Profile::mcp()] {
        let rendered = render(&profile, &tools);
        rendered.ensure_sendable().unwrap();
        assert_eq!(modes(&rendered), [("must", ToolMode::Plain), ("other", ToolMode::Plain)], "{profile:?}");
        assert_eq!(kinds(&rendered, "must"), [&FindingKind::NoStrictMode], "{profile:?}");
        assert_eq!(rendered.findings()[0].severity(), Severity::Warning);
    }
}

#[test]
fn a_tool_that_programs_call_is_not_strict() {
    for (profile, caller, pointer) in
        [(Profile::openai(), "programmatic", "/strict"), (Profile::anthropic(), "code_execution_20260120", "/strict")]
    {
        let by = |name: &str, caller: &str| {
            let mut tool = optional(name, 0);
            tool.provider_options = ProviderOptions::new().allowed_caller("direct").allowed_caller(caller);
            tool
        };
        let own = |name: &str| {
            let mut tool = optional(name, 0);
            let callers = json!({"allowed_callers": [caller]});
            tool.provider_options = ProviderOptions::new().for_provider(profile.provider(), callers);
            tool
        };
        let tools = [by("unset", caller), strict(by("explicit", caller), true), own("raw"), by("direct", "direct")];
        let rendered = render(&profile, &tools);
        let list: Value = serde_json::from_str(rendered.list()).unwrap();
        let sent = [0, 1, 2, 3].map(|at| list[at].pointer(pointer) == Some(&json!(true)));
        assert_eq!(sent, [false, false, false, true], "{profile:?} {list:#}");
        assert_eq!(kinds(&rendered, "explicit"), [&FindingKind::NoStrictMode], "{profile:?}");
        assert_eq!(kinds(&rendered, "unset").len(), 0, "{profile:?}");
        rendered.ensure_sendable().unwrap();
        let programs: Vec<_> = rendered.iter().map(|tool| tool.called_by_programs).collect();
        assert_eq!(programs, [true, true, true, false]);
    }
}

#[test]
fn a_budget_takes_strict_mode_from_the_heaviest_tools_first() {
    let profile = Profile::anthropic().limits(ToolLimits::new().strict(20, 4, 16));
    let tools = [optional("b", 2), optional("heavy", 3), optional("a", 2), strict(optional("must", 1), true)];
    let rendered = render(&profile, &tools);
    // Eight optional parameters: without `heavy` there are five, and without the first of the two equal ones three.
    let expected =
        [("b", ToolMode::Strict), ("heavy", ToolMode::Plain), ("a", ToolMode::Plain), ("must", ToolMode::Strict)];
    assert_eq!(modes(&rendered), expected);
    assert_eq!(kinds(&rendered, "heavy"), [&FindingKind::NotStrict]);
}

#[test]
fn tools_that_must_be_strict_beyond_the_budget_are_a_fault_and_stay() {
    let tools = ["a", "b", "c"].map(|name| strict(optional(name, 2), true));
    let profile = Profile::anthropic().limits(ToolLimits::new().strict(2, 24, 16));
    let rendered = render(&profile, &tools);
    assert_eq!(modes(&rendered), [("a", ToolMode::Strict), ("b", ToolMode::Strict), ("c", ToolMode::Plain)]);
    assert_eq!(kinds(&rendered, "c"), [&FindingKind::StrictUnmet]);
    assert!(rendered.ensure_sendable().unwrap_err().to_string().contains("a request may have 2 strict tools"));
    let allowed = render(&profile.allow_downgrades(), &tools);
    assert_eq!(kinds(&allowed, "c"), [&FindingKind::NotStrict]);
    allowed.ensure_sendable().unwrap();
}

#[test]
fn a_request_of_anthropic_stays_within_its_budgets() {
    let union = |name: &str| {
        let parameter = json!({"type": ["string", "null"], "description": "A text."});
        tool(name, closed(json!({"p": parameter}), json!(["p"])))
    };
    let tools: Vec<_> = (0..30)
        .map(|at| optional(&format!("o{at:02}"), at % 4))
        .chain((0..20).map(|at| union(&format!("u{at:02}"))))
        .collect();
    let rendered = render(&Profile::anthropic(), &tools);
    assert_eq!(rendered.iter().count(), 50);
    let strict: Vec<Value> = rendered
        .iter()
        .filter(|tool| tool.mode == ToolMode::Strict)
        .map(|tool| serde_json::from_str::<Value>(&tool.json).unwrap()["input_schema"].clone())
        .collect();
    let missing = |schema: &Value| {
        schema["properties"].as_object().unwrap().len() - schema["required"].as_array().map_or(0, Vec::len)
    };
    let is_union = |schema: &&Value| schema["properties"]["p"].is_object();
    assert!(strict.len() <= 20 && strict.iter().map(missing).sum::<usize>() <= 24);
    assert!(strict.iter().filter(is_union).count() <= 16);
    // No tool is downgraded without need.
    assert_eq!(strict.len(), 20);
}

#[test]
fn tools_beyond_the_limit_of_a_request_are_left_out_with_advice() {
    let tools: Vec<_> = (0..130).map(|at| optional(&format!("t{at}"), 0)).collect();
    let rendered = render(&Profile::openai(), &tools);
    assert_eq!(rendered.iter().count(), 128);
    assert_eq!(kinds(&rendered, "t129"), [&FindingKind::LeftOut]);
}

#[test]
fn an_invalid_schema_concerns_its_own_tool_only() {
    let tools = [tool("bad", json!({"type": "strin"})), optional("good", 1)];
    for profile in Profile::all() {
        let rendered = render(&profile, &tools);
        assert!(rendered.get("good").is_some() && rendered.get("bad").is_none(), "{profile:?}");
        assert!(kinds(&rendered, "bad").contains(&&FindingKind::LeftOut), "{profile:?}");
    }
}

#[test]
fn names_are_encoded_and_found_again() {
    let long = format!("acme/{}", "x".repeat(100));
    let tools = [optional("acme/billing/refund", 0), optional("a.b", 0), optional(&long, 0)];
    for profile in Profile::all() {
        let rendered = render(&profile, &tools);
        for tool in &tools {
            let wire_name = rendered.wire_name(&tool.name).into_owned();
            assert!(wire_name.len() <= profile.name_rule().max_chars, "{profile:?}");
            assert_eq!(rendered.tool_name(&wire_name), tool.name, "{profile:?}");
        }
        // A tool of an earlier turn has the same name as when it was offered.
        let empty = render(&profile, &[]);
        assert_eq!(empty.wire_name(&long), rendered.wire_name(&long));
        assert_eq!(empty.tool_name(&rendered.wire_name("acme/billing/refund")), "acme/billing/refund");
    }
}

#[test]
fn of_two_tools_with_one_name_the_first_is_sent() {
    let tools = [optional("same", 0), optional("same", 1)];
    let rendered = render(&Profile::openai(), &tools);
    assert_eq!(rendered.iter().count(), 1);
    assert_eq!(kinds(&rendered, "same").last(), Some(&&FindingKind::LeftOut));
}

#[test]
fn a_tool_of_another_provider_is_left_out() {
    let kind = DescriptorKind::Provider {
        id: "acme.magic".to_owned(),
        provider_name: "magic".to_owned(),
        args: Value::Null,
        requires_handler: false,
    };
    let tools = [tool("magic", json!({})).kind(kind), optional("good", 0)];
    for profile in Profile::all() {
        let rendered = render(&profile, &tools);
        assert_eq!(modes(&rendered).len(), 1, "{profile:?}");
        assert_eq!(kinds(&rendered, "magic"), [&FindingKind::LeftOut], "{profile:?}");
    }
}

#[test]
fn missing_descriptions_are_warnings() {
    let schema = closed(json!({"a~/b": {"type": "string"}, "c": {"type": "string", "description": "C."}}), json!([]));
    let rendered = render(&Profile::mcp(), &[ToolDescriptor::new("t", schema)]);
    let found: Vec<_> = rendered.findings().iter().map(|finding| (finding.kind, finding.pointer.as_str())).collect();
    assert_eq!(found, [(FindingKind::NoDescription, ""), (FindingKind::NoParameterDescription, "/properties/a~0~1b")]);
    assert!(rendered.findings().iter().all(|finding| finding.severity() == Severity::Warning));
}

#[test]
fn the_worst_findings_come_first() {
    let undescribed = closed(json!({"c": {"type": "string"}}), json!([]));
    let mut tools: Vec<_> = (0..3).map(|n| ToolDescriptor::new(format!("t{n}"), undescribed.clone())).collect();
    tools.push(ToolDescriptor::new("t1", undescribed));
    let rendered = render(&Profile::gemini(), &tools);
    let severities: Vec<_> = rendered.findings().iter().map(haft_wire::Finding::severity).collect();
    assert_eq!(severities[0], Severity::Fault, "{:#?}", rendered.findings());
    assert!(severities.len() > 3 && severities.is_sorted_by(|one, next| one >= next), "{severities:?}");
}

#[test]
fn a_long_description_is_a_warning_on_chat() {
    let tools = [ToolDescriptor::new("t", closed(json!({}), json!([]))).describe("x".repeat(1025))];
    assert_eq!(kinds(&render(&Profile::openai_chat(), &tools), "t"), [&FindingKind::LongDescription]);
    assert!(render(&Profile::openai(), &tools).findings().is_empty());
}

#[test]
fn the_same_tools_are_rendered_once() {
    let profile = Profile::openai();
    let request = TurnRequest::new("m", vec![Item::user("hi")]).tools(&[optional("a", 1), optional("b", 1)]);
    let first = request.render_tools(&profile);
    assert!(Arc::ptr_eq(&first, &request.clone().render_tools(&profile.clone())));
    // Equal tools that are other values are rendered to the same bytes.
    let again = TurnRequest::new("m", vec![]).tools(&[optional("a", 1), optional("b", 1)]).render_tools(&profile);
    assert!(!Arc::ptr_eq(&first, &again));
    assert_eq!(first.list(), again.list());
}

#[test]
fn old_tool_sets_leave_the_cache() {
    let profile = Profile::openai();
    let request = |name: &str| TurnRequest::new("m", vec![]).tools(&[optional(name, 0)]);
    let (kept, old) = (request("kept"), request("old"));
    let (first, gone) = (kept.render_tools(&profile), old.render_tools(&profile));
    for at in 0..20 {
        let _ = request(&format!("t{at}")).render_tools(&profile);
        let _ = kept.render_tools(&profile);
    }
    assert!(Arc::ptr_eq(&first, &kept.render_tools(&profile)));
    assert!(!Arc::ptr_eq(&gone, &old.render_tools(&profile)));
}

#[test]
fn a_choice_selects_the_listed_tools() {
    let rendered = render(&Profile::gemini(), &[optional("a", 1), optional("b", 1)]);
    let list: Value = serde_json::from_str(&rendered.list_permitted(&ToolChoice::may_call(["b"]))).unwrap();
    assert_eq!(list[0]["functionDeclarations"].as_array().unwrap().len(), 1);
    assert_eq!(list[0]["functionDeclarations"][0]["name"], "b");
    assert_eq!(rendered.list_permitted(&ToolChoice::Auto), rendered.list());
    assert_eq!(rendered.list_permitted(&ToolChoice::None), "[]");
}

#[test]
fn every_profile_lists_json() {
    let tools: Vec<_> = (0..3).map(|at| optional(&format!("t{at}"), at)).collect();
    for profile in Profile::all() {
        let list: Value = serde_json::from_str(render(&profile, &tools).list()).unwrap();
        insta::assert_json_snapshot!(format!("list_{}", profile.name()), list);
    }
}
