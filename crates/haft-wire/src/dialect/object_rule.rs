//! The keywords with which one subschema describes an object's members.
//!
//! `additionalProperties` is about the keys that the same subschema neither lists nor matches by a pattern. Read each
//! subschema by itself before combining several: a key that one lists may be closed off by another.

use std::collections::HashSet;

use haft_schema::{AppliesTo, Schema, Subschema};
use serde_json::{Value, json};

/// One subschema's statements about an object's members.
#[derive(Debug, Default)]
pub(crate) struct ObjectRule<'s> {
    listed: HashSet<&'s str>,
    patterns: Vec<(Schema, Subschema<'s>)>,
    others: Option<Subschema<'s>>,
    /// True if all other members are rejected. Before draft 6 this was not a schema.
    is_closed: bool,
}

/// An object's unlisted members.
#[derive(Clone, Debug)]
pub(crate) enum OtherMembers<'s> {
    None,
    Any,
    Described(Vec<Subschema<'s>>),
}

impl<'s> ObjectRule<'s> {
    /// Reads a subschema; none if it only lists members.
    pub(crate) fn of(schema: Subschema<'s>) -> Option<Self> {
        let states = |keyword: &str| schema.as_json().get(keyword).is_some();
        if !states("additionalProperties") && !states("patternProperties") {
            return None;
        }
        let is_closed = schema.as_json().get("additionalProperties") == Some(&Value::Bool(false));
        let mut rule = Self { is_closed, ..Self::default() };
        for part in schema.parts() {
            match (part.keyword(), part.applies_to()) {
                (Some("properties"), AppliesTo::Member(name)) => {
                    rule.listed.insert(name);
                }
                (Some("patternProperties"), AppliesTo::MatchingMembers(pattern)) => {
                    // The pattern comes from a valid schema.
                    let matching = Schema::json(json!({"type": "string", "pattern": pattern}));
                    rule.patterns.extend(matching.ok().map(|matching| (matching, part)));
                }
                (Some("additionalProperties"), _) => rule.others = Some(part),
                _ => {}
            }
        }
        Some(rule)
    }

    /// Reports whether a member is rejected because it is neither listed nor matched.
    pub(crate) fn closes_off(&self, name: &str) -> bool {
        self.is_closed && !self.listed.contains(name) && self.matching(name).next().is_none()
    }

    /// Returns a member's schemas other than the one it is listed with.
    pub(crate) fn unlisted(&self, name: &str) -> Vec<Subschema<'s>> {
        let mut found: Vec<_> = self.matching(name).collect();
        if found.is_empty() && !self.listed.contains(name) {
            found.extend(self.others);
        }
        found.retain(|schema| !accepts_anything(*schema));
        found
    }

    fn matching(&self, name: &str) -> impl Iterator<Item = Subschema<'s>> {
        let key = Value::from(name);
        self.patterns.iter().filter(move |(pattern, _)| pattern.check(&key).is_ok()).map(|(_, schema)| *schema)
    }

    /// Returns the schemas for members that no subschema lists, as far as one schema describes them all.
    pub(crate) fn others(&self) -> OtherMembers<'s> {
        let only = match self.patterns.as_slice() {
            [] if self.is_closed => return OtherMembers::None,
            [] => self.others,
            [(_, only)] if self.is_closed => Some(*only),
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
