//! Conditions that can't be right for the tools of their rules.

use haft_core::{Destructive, Readonly};
use haft_executor::Tool;
use haft_registry::{
    AskRules, AskSettings, ConditionFinding, ConditionSeverity, FullName, PermissionSettings, RuleSettings,
};
use serde_json::{Value, json};

use super::{annotated, any, built, name};

fn tool(schema: Value) -> Tool {
    Tool::dynamic("any").params_json(schema).handler(|_: Value, _cx| async { 1 }).unwrap()
}

fn text(finding: &ConditionFinding<'_>) -> String {
    let severity = match finding.severity {
        ConditionSeverity::Fault => "fault",
        _ => "warning",
    };
    format!("{severity} {}: {}", finding.pointer, finding.message)
}

/// Returns the findings about a denying rule, which equal those about an approval rule with the same condition.
fn of_condition(when: &str, tools: &[(&str, Value)]) -> Vec<String> {
    let tools: Vec<(FullName, Tool)> = tools.iter().map(|(full, schema)| (name(full), tool(schema.clone()))).collect();
    let pairs = || tools.iter().map(|(name, tool)| (name, tool));
    let denying = built(PermissionSettings::new().allow("shop/*").deny(RuleSettings::tools("shop/*").when(when)));
    let asking = AskRules::new(&[AskSettings::ask("shop/*").when(when)]).unwrap();
    let denied: Vec<String> = denying.condition_findings(pairs()).iter().map(text).collect();
    let asked: Vec<String> = asking.condition_findings(pairs()).iter().map(text).collect();
    let same: Vec<String> = asked.iter().map(|text| text.replacen(" /0/", " /deny/0/", 1)).collect();
    assert_eq!(denied, same, "{when}");
    denied.iter().map(|text| text.replacen(" /deny/0/when", "", 1)).collect()
}

fn closed() -> Value {
    json!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer"},
            "to": {"$ref": "#/$defs/person"},
            "items": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}, "additionalProperties": false}},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "a-b": {"type": "string"},
        },
        "additionalProperties": false,
        "$defs": {"person": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "additionalProperties": false}},
    })
}

#[test]
fn a_test_for_a_member_that_no_tool_accepts_is_a_fault() {
    for (when, expected) in [
        (
            "has(args.ammount)",
            "fault: the test for `args.ammount` is never true: `shop/order` accepts no `ammount`; did you mean `amount`?",
        ),
        (
            "has(args.ammount) && args.ammount > 5",
            "fault: the test for `args.ammount` is never true: `shop/order` accepts no `ammount`; did you mean `amount`?",
        ),
        (
            "args.amount > 5 && !has(args.zzz)",
            "fault: the test for `args.zzz` is never true: `shop/order` accepts no `zzz`; check the name",
        ),
        (
            "'ammount' in args",
            "fault: the test for `args.ammount` is never true: `shop/order` accepts no `ammount`; did you mean `amount`?",
        ),
        (
            "has(args.to.nmae)",
            "fault: the test for `args.to.nmae` is never true: `shop/order` accepts no `nmae`; did you mean `name`?",
        ),
        (
            "has(args.too.name)",
            "fault: the test for `args.too` is never true: `shop/order` accepts no `too`; did you mean `to`?",
        ),
        (
            "has(args['to'].nmae)",
            "fault: the test for `args.to.nmae` is never true: `shop/order` accepts no `nmae`; did you mean `name`?",
        ),
        (
            "has(args.amount.cents)",
            "fault: the test for `args.amount.cents` is never true: `shop/order` accepts no `cents`; check the name",
        ),
        (
            "args.items.exists(i, has(i.prize))",
            "fault: the test for `args.items[…].prize` is never true: `shop/order` accepts no `prize`; did you mean `price`?",
        ),
        (
            "has(args.items[0].prize)",
            "fault: the test for `args.items[…].prize` is never true: `shop/order` accepts no `prize`; did you mean `price`?",
        ),
    ] {
        assert_eq!(of_condition(when, &[("shop/order", closed())]), [expected], "{when}");
    }
}

#[test]
fn a_member_that_is_read_and_that_no_tool_accepts_is_reported() {
    for (when, path, member, advice) in [
        ("args.ammount > 5", "args.ammount", "ammount", "did you mean `amount`?"),
        ("args['ammount'] > 5", "args.ammount", "ammount", "did you mean `amount`?"),
        ("args['a-c'] == 'x'", "args[\"a-c\"]", "a-c", "did you mean `a-b`?"),
        ("args.to['nmae'].startsWith('A')", "args.to.nmae", "nmae", "did you mean `name`?"),
        ("args.items[0].prize > 1.0", "args.items[…].prize", "prize", "did you mean `price`?"),
        ("args.items.all(i, i.prize > 1.0)", "args.items[…].prize", "prize", "did you mean `price`?"),
        ("size(args.itms) > 1", "args.itms", "itms", "did you mean `items`?"),
        ("args.itms.exists(i, i.price > 1.0)", "args.itms", "itms", "did you mean `items`?"),
        ("has(args.to.name) && args.to.nmae == 'x'", "args.to.nmae", "nmae", "did you mean `name`?"),
    ] {
        let expected = format!(
            "warning: `{path}` can't be read, so the condition fails: `shop/order` accepts no `{member}`; {advice}"
        );
        assert_eq!(of_condition(when, &[("shop/order", closed())]), [expected], "{when}");
    }
}

#[test]
fn conditions_that_may_hold_are_not_reported() {
    for when in [
        "args.amount > 5",
        "has(args.amount) && args.amount > 5",
        "has(args.to.name)",
        "args.labels.anything == 'x' && has(args.labels.more)",
        "'x' in args.labels",
        "'x' in args.items",
        "args.items.exists(i, i.price > 1.0) && args.items[0].price > 2.0",
        "args.labels.exists(key, key.startsWith('x'))",
        "args[tool] == 1",
        "tool == 'shop/order' && caller == null",
        "size(args) > 3",
        "args.exists(key, key == 'zzz')",
        "args.items.map(i, i.price).exists(price, price > 1.0)",
        "['a', 'b'].exists(amount, amount == args.to.name)",
    ] {
        assert_eq!(of_condition(when, &[("shop/order", closed())]), [] as [&str; 0], "{when}");
    }
}

#[test]
fn one_tool_that_may_have_the_member_is_enough() {
    let other = json!({"type": "object", "properties": {"cents": {"type": "integer"}}, "additionalProperties": false});
    let both = [("shop/order", closed()), ("shop/pay", other.clone())];
    assert!(of_condition("has(args.cents)", &both).is_empty());
    assert_eq!(
        of_condition("has(args.cent)", &both),
        [
            "fault: the test for `args.cent` is never true: none of the 2 tools that the rule matches accepts `cent`; did you mean `cents`?"
        ],
    );
    // The other tool is not one that the rule is about.
    assert_eq!(of_condition("has(args.cents)", &[("shop/order", closed()), ("bank/pay", other)]).len(), 1);
}

#[test]
fn open_schemas_are_reported_as_such_and_silent_ones_not_at_all() {
    let open = json!({"type": "object", "properties": {"amount": {"type": "integer"}}});
    let expected =
        "warning: `shop/order` does not declare `args.ammount`, which may be misspelt; did you mean `amount`?";
    for when in ["has(args.ammount)", "args.ammount > 1"] {
        assert_eq!(of_condition(when, &[("shop/order", open.clone())]), [expected], "{when}");
    }
    let mixed = [("shop/order", open), ("shop/pay", closed())];
    assert_eq!(
        of_condition("has(args.ammount)", &mixed),
        [
            "warning: none of the 2 tools that the rule matches declares `args.ammount`, which may be misspelt; did you mean `amount`?"
        ],
    );
    for silent in [
        json!({}),
        json!(true),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "patternProperties": {"^am": {}}, "additionalProperties": false}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}}),
    ] {
        assert!(of_condition("has(args.ammount)", &[("shop/order", silent.clone())]).is_empty(), "{silent}");
    }
}

#[test]
fn schemas_are_composed() {
    let a = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let b = json!({"type": "object", "properties": {"b": {}}, "additionalProperties": false});
    let open = json!({"properties": {"a": {}}});
    for (schema, when, expected) in [
        (json!({"anyOf": [a, b]}), "has(args.b)", ""),
        (json!({"anyOf": [a, b]}), "has(args.c)", "fault"),
        (json!({"oneOf": [a, open]}), "has(args.c)", "warning"),
        (json!({"allOf": [a, open]}), "has(args.c)", "fault"),
        (json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": a}}), "has(args.c)", "fault"),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": a}}), "has(args.a)", ""),
        (json!({"allOf": [open], "unevaluatedProperties": false}), "has(args.a)", ""),
        (json!({"allOf": [open], "unevaluatedProperties": false}), "has(args.c)", "fault"),
        (json!({"if": {"properties": {"k": {}}}, "then": {"properties": {"c": {}}}}), "has(args.c)", ""),
        (json!({"not": {"properties": {"c": {}}}, "properties": {"a": {}}}), "has(args.c)", "warning"),
        (json!({"type": "object", "additionalProperties": false}), "has(args.c)", "fault"),
        (
            json!({"properties": {"next": {"$ref": "#"}}, "additionalProperties": false}),
            "has(args.next.next.c)",
            "fault",
        ),
        (json!({"properties": {"next": {"$ref": "#"}}, "additionalProperties": false}), "has(args.next.next)", ""),
        (
            json!({"type": ["object", "null"], "properties": {"a": {}}, "additionalProperties": false}),
            "has(args.c)",
            "fault",
        ),
    ] {
        let found = of_condition(when, &[("shop/order", schema.clone())]);
        let severity = found.first().map_or("", |text| text.split(':').next().unwrap());
        assert_eq!(severity, expected, "{when} {schema} {found:?}");
    }
}

#[test]
fn hints_that_no_matching_tool_has_are_reported() {
    let unmarked = [(name("shop/a"), any()), (name("shop/b"), any())];
    let pairs = || unmarked.iter().map(|(name, tool)| (name, tool));
    let rule = RuleSettings::tools("shop/*").readonly(false).destructive(false);
    let permissions =
        built(PermissionSettings::new().allow(rule.clone()).deny(RuleSettings::tools("shop/a").readonly(true)));
    let found: Vec<String> = permissions.condition_findings(pairs()).iter().map(text).collect();
    let rest = "a tool without hints counts as destructive, open-world, not readonly and not idempotent, so mark the \
                tools or change the condition";
    assert_eq!(
        found,
        [
            format!(
                "warning /deny/0: matches no tool: its condition \"readonly\" excludes the tool that its patterns match; {rest}"
            ),
            format!(
                "warning /allow/0: matches no tool: its condition \"not readonly and not destructive\" excludes all 2 tools that its patterns match; {rest}"
            ),
        ],
    );
    let asking = AskRules::new(&[AskSettings::ask("shop/*").readonly(false).destructive(false)]).unwrap();
    assert_eq!(asking.condition_findings(pairs()).len(), 1);
    // A tool that is marked is one that the rule is about.
    let marked = (name("shop/c"), annotated(Destructive(false)));
    let with_marked = || pairs().chain([(&marked.0, &marked.1)]);
    assert!(built(PermissionSettings::new().allow(rule)).condition_findings(with_marked()).is_empty());
    assert!(asking.condition_findings(with_marked()).is_empty());
    // Patterns that match nothing are another finding.
    let none = built(PermissionSettings::new().allow(RuleSettings::tools("bank/*").readonly(true)));
    assert!(none.condition_findings(pairs()).is_empty());
    let contradiction =
        built(PermissionSettings::new().allow(RuleSettings::tools("x/*").readonly(true).destructive(true)));
    let readonly = (name("x/a"), annotated(Readonly(true)));
    assert_eq!(contradiction.condition_findings([(&readonly.0, &readonly.1)]).len(), 1);
}
