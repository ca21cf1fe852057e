//! The keywords by which one subschema describes the members of an object.
//!
//! `additionalProperties` is about the keys that the same subschema neither lists nor matches by a pattern. Where several
//! subschemas apply to one object, each must be read by itself before they are combined: a key that one of them lists may
//! be closed off by another.

use std::collections::HashMap;

use haft_core::{AppliesTo, Schema, Subschema};
use serde_json::{Value, json};

/// The statements of one subschema about the members of an object.
#[derive(Debug, Default)]
pub(crate) struct ObjectRule<'s> {
    listed: HashMap<&'s str, Subschema<'s>>,
    patterns: Vec<(Schema, Subschema<'s>)>,
    others: Option<Subschema<'s>>,
}

/// The members of an object that are not listed.
#[derive(Clone, Debug)]
pub(crate) enum OtherMembers<'s> {
    None,
    Any,
    Described(Vec<Subschema<'s>>),
}

impl<'s> ObjectRule<'s> {
    pub(crate) fn of(schema: Subschema<'s>) -> Self {
        let mut rule = Self::default();
        for part in schema.parts() {
            match (part.keyword(), part.applies_to()) {
                (Some("properties"), AppliesTo::Member(name)) => {
                    rule.listed.insert(name, part);
                }
                (Some("patternProperties"), AppliesTo::MatchingMembers(pattern)) => {
                    // The pattern is one of a valid schema.
                    let matching = Schema::json(json!({"type": "string", "pattern": pattern}));
                    rule.patterns.extend(matching.ok().map(|matching| (matching, part)));
                }
                (Some("additionalProperties"), _) => rule.others = Some(part),
                _ => {}
            }
        }
        rule
    }

    /// Returns the schema of a member that is listed.
    pub(crate) fn listed(&self, name: &str) -> Option<Subschema<'s>> {
        self.listed.get(name).copied()
    }

    /// Returns the schemas of a member beside the one it is listed with.
    pub(crate) fn unlisted(&self, name: &str) -> Vec<Subschema<'s>> {
        let key = Value::from(name);
        let matching = self.patterns.iter().filter(|(pattern, _)| pattern.check(&key).is_ok());
        let mut found: Vec<_> = matching.map(|(_, schema)| *schema).collect();
        if found.is_empty() && !self.listed.contains_key(name) {
            found.extend(self.others);
        }
        found.retain(|schema| !accepts_anything(*schema));
        found
    }

    /// Returns the schemas of members that no subschema lists, as far as one schema describes all of them.
    pub(crate) fn others(&self) -> OtherMembers<'s> {
        let is_closed = self.others.is_some_and(|schema| *schema.as_json() == false);
        let only = match (self.patterns.as_slice(), self.others) {
            ([], _) if is_closed => return OtherMembers::None,
            ([], others) => others,
            ([(_, only)], _) if is_closed => Some(*only),
            _ => None,
        };
        let only = only.filter(|schema| !accepts_anything(*schema));
        only.map_or(OtherMembers::Any, |schema| OtherMembers::Described(vec![schema]))
    }
}

fn accepts_anything(schema: Subschema<'_>) -> bool {
    match schema.as_json() {
        Value::Bool(accepts) => *accepts,
        Value::Object(keywords) => keywords.is_empty(),
        _ => false,
    }
}
