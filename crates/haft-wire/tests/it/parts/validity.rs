//! Checks a surveyed tool set: each tool matches its provider's rules or is left out with a reason, and no call changes
//! on the way to the model and back.

use haft_wire::{FindingKind, Profile, RenderedTool, ToolMode};
use serde_json::Value;

use super::survey::{CallFate, Surveyed, SurveyedCall};
use crate::dialect::checker::{ProviderRule, breaches, dialect_of, dialects, list_breaches, list_rules};

/// The rules of all dialects, by the dialects' names.
pub(super) struct Validity(Vec<(String, Vec<ProviderRule>)>);

impl Validity {
    pub(super) fn new() -> Self {
        Self(dialects().into_iter().map(|(dialect, rules)| (dialect.name().to_owned(), rules)).collect())
    }

    /// Asserts everything that holds for a tool set.
    pub(super) fn assert(&self, profile: &Profile, surveyed: &Surveyed<'_>) {
        let name = profile.name();
        for tool in surveyed.rendered {
            let json: Value = serde_json::from_str(&tool.json).unwrap();
            let (rules, schema) = self.rules(name, tool, &json);
            let found = breaches(rules, schema);
            assert!(found.is_empty(), "{name}: {}: {found:#?}\n{json}", tool.name);
        }
        let list: Value = serde_json::from_str(surveyed.rendered.list()).unwrap();
        let found = list_breaches(&list_rules(name.trim_end_matches(", strict")), &list);
        assert!(found.is_empty(), "{name}: {found:?}\n{list}");
        for descriptor in surveyed.descriptors {
            let is_left_out = surveyed.rendered.get(&descriptor.name).is_none();
            let mut findings = surveyed.rendered.findings().iter().filter(|finding| finding.tool == descriptor.name);
            let reason = findings.find(|finding| finding.kind == FindingKind::LeftOut);
            let is_explained = reason.is_some_and(|reason| !reason.message.is_empty() && !reason.advice.is_empty());
            assert!(!is_left_out || is_explained, "{name}: {} is left out without a reason", descriptor.name);
        }
        for surveyed in surveyed.calls() {
            let SurveyedCall { call, tool, .. } = &surveyed;
            let sent = tool.codec.encode(&call.arguments.to_string()).map(std::borrow::Cow::into_owned);
            assert_ne!(surveyed.fate(), CallFate::Changed, "{name}: {call:?}\n{sent:?}\n{}", tool.json);
        }
    }

    /// Returns the rules of a tool, and its schema.
    fn rules<'t>(&self, profile: &str, tool: &RenderedTool, json: &'t Value) -> (&[ProviderRule], &'t Value) {
        let profile = profile.trim_end_matches(", strict");
        let dialect = dialect_of(profile, tool.mode == ToolMode::Strict);
        let pointer = match profile {
            "openai-chat" => "/function/parameters",
            "anthropic" => "/input_schema",
            "gemini" => "/parametersJsonSchema",
            "mcp" => "/inputSchema",
            _ => "/parameters",
        };
        let rules = self.0.iter().find(|(name, _)| name == dialect).map(|(_, rules)| rules).unwrap();
        // Gemini's `parameters` are left out if there are none.
        (rules, json.pointer(pointer).unwrap_or(&Value::Null))
    }
}
