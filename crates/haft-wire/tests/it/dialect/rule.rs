//! The checkers' rules: each rejects the schemas or lists that it is stated with, and no tool list breaks one.

use haft_core::ToolDescriptor;
use haft_wire::Profile;
use proptest::prelude::*;
use serde_json::Value;

use crate::dialect::checker::{breaches, dialects, list_breaches, list_rules};
use crate::dialect::generated::GeneratedType;
use crate::seeded::for_all;

#[test]
fn every_rule_rejects_its_examples() {
    for (dialect, rules) in dialects() {
        for rule in &rules {
            let rejected = (rule.rejected)();
            assert!(!rejected.is_empty(), "{}: {}: no example", dialect.name(), rule.text);
            for schema in rejected {
                let found = breaches(std::slice::from_ref(rule), &schema);
                assert!(!found.is_empty(), "{}: {}: {schema} passes", dialect.name(), rule.text);
            }
        }
    }
}

#[test]
fn every_rule_on_lists_rejects_its_examples() {
    for profile in Profile::all() {
        for rule in list_rules(profile.name()) {
            let rejected = (rule.rejected)();
            assert!(!rejected.is_empty(), "{}: {}: no example", profile.name(), rule.text);
            for list in rejected {
                let found = list_breaches(std::slice::from_ref(&rule), &list);
                assert!(!found.is_empty(), "{}: {}: {list} passes", profile.name(), rule.text);
            }
        }
    }
}

/// Tools with names of any characters, some of which demand or decline strict mode.
fn tools() -> impl Strategy<Value = Vec<std::sync::Arc<ToolDescriptor>>> {
    let name = prop_oneof!["[a-z]{1,3}", "[a-z]{1,3}[/._-]{1,2}[a-z]{1,3}", ".{1,80}", "[0-9a-z]{60,140}"];
    let tool = (name, GeneratedType::any(), prop::option::of(any::<bool>())).prop_map(|(name, ty, strict)| {
        let mut tool = ToolDescriptor::new(name, ty.schema()).describe("A tool.");
        tool.strict = strict;
        std::sync::Arc::new(tool)
    });
    prop::collection::vec(tool, 0..30)
}

#[test]
fn lists_of_generated_tools_break_no_rule() {
    for_all(25, tools(), |tools| {
        for profile in Profile::all() {
            let rendered = profile.render(&tools);
            let list: Value = serde_json::from_str(rendered.list()).unwrap();
            let found = list_breaches(&list_rules(profile.name()), &list);
            prop_assert!(found.is_empty(), "{}: {:?}\n{}", profile.name(), found, list);
            for tool in rendered.iter() {
                prop_assert_eq!(rendered.tool_name(&tool.wire_name), tool.name.as_str(), "{}", profile.name());
            }
        }
        Ok(())
    });
}

#[test]
fn lists_at_the_limits_of_a_request_break_no_rule() {
    let tools: Vec<_> = (0..600)
        .map(|at| {
            let schema = serde_json::json!({
                "type": "object",
                "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}},
                "required": ["a"],
                "additionalProperties": false,
            });
            std::sync::Arc::new(ToolDescriptor::new(format!("tool {at}"), schema).describe("A tool."))
        })
        .collect();
    for profile in Profile::all() {
        let list: Value = serde_json::from_str(profile.render(&tools).list()).unwrap();
        assert_eq!(list_breaches(&list_rules(profile.name()), &list), [""; 0], "{}", profile.name());
    }
}
