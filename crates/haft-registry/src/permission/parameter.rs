//! A tool's parameters as rules see them: the members that its arguments can have.
//!
//! The answer is certain or it is "unknown": rules are checked for people, and a false accusation would teach them to
//! ignore the check.

use haft_executor::Tool;
use haft_schema::{AppliesTo, EnforcedRules, Subschema};
use serde_json::Value;

use super::expression::{AccessPath, AccessStep};

/// The most schemas that are visited for one value.
const MAX_VISITED: usize = 200;

/// The presence of a value inside a tool's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// The schema declares it, or nothing certain can be said.
    Possible,
    /// The schema declares other members and accepts more.
    Undeclared(MissingMember),
    /// The schema accepts no arguments that have it.
    Impossible(MissingMember),
}

/// The first member on a path that a schema does not declare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MissingMember {
    /// The path up to the member, which is its last step.
    pub(super) path: AccessPath,
    pub(super) name: String,
    /// The members that the schema declares at this place.
    pub(super) declared: Vec<String>,
}

/// Looks up a value in a tool's parameters.
pub(super) fn presence(tool: &Tool, path: &AccessPath) -> Presence {
    let schema = tool.parameters();
    if schema.enforcement().rules == EnforcedRules::None {
        return Presence::Possible;
    }
    let subschemas = schema.subschemas();
    let mut here = vec![subschemas.root()];
    for (at, step) in path.0.iter().enumerate() {
        let all = in_place(&here);
        if all.iter().any(|schema| schema.has_unresolved_reference()) || all.len() >= MAX_VISITED {
            return Presence::Possible;
        }
        let next = match step {
            AccessStep::Member(name) => members(&all, name),
            AccessStep::Element => elements(&all),
        };
        if let (AccessStep::Member(name), true) = (step, next.is_empty()) {
            let mut declared: Vec<String> = Vec::new();
            for known in all.iter().flat_map(|schema| schema.parts()).filter_map(member_name) {
                if !declared.iter().any(|other| other == known) {
                    declared.push(known.to_owned());
                }
            }
            let is_impossible = here.iter().all(|schema| forbids(*schema, name, &mut Vec::new()));
            let is_silent = declared.is_empty();
            let missing = MissingMember { path: AccessPath(path.0[..=at].to_vec()), name: name.clone(), declared };
            return match (is_impossible, is_silent) {
                (true, _) => Presence::Impossible(missing),
                (false, true) => Presence::Possible,
                (false, false) => Presence::Undeclared(missing),
            };
        }
        if next.is_empty() {
            return Presence::Possible;
        }
        here = next;
    }
    Presence::Possible
}

/// Returns these schemas and all that may apply to the same value.
fn in_place<'s>(schemas: &[Subschema<'s>]) -> Vec<Subschema<'s>> {
    let mut found: Vec<Subschema<'s>> = Vec::new();
    let mut open = schemas.to_vec();
    while let Some(schema) = open.pop() {
        if found.len() >= MAX_VISITED || found.contains(&schema) {
            continue;
        }
        found.push(schema);
        open.extend(schema.references().map(|(_, target)| target));
        let parts = schema.parts().filter(|part| part.applies_to() == AppliesTo::Value);
        open.extend(parts.filter(|part| part.keyword() != Some("not")));
    }
    found
}

/// Returns the schemas that declare a member.
fn members<'s>(all: &[Subschema<'s>], name: &str) -> Vec<Subschema<'s>> {
    let declares = |part: &Subschema<'s>| match part.applies_to() {
        AppliesTo::Member(known) => known == name,
        // The pattern may match it.
        AppliesTo::MatchingMembers(_) => true,
        // A map declares its members with their common schema; `true` and `false` declare nothing.
        AppliesTo::OtherMembers => part.as_json().is_object(),
        _ => false,
    };
    all.iter().flat_map(|schema| schema.parts()).filter(declares).collect()
}

fn elements<'s>(all: &[Subschema<'s>]) -> Vec<Subschema<'s>> {
    let is_element = |part: &Subschema<'s>| matches!(part.applies_to(), AppliesTo::Item(_) | AppliesTo::Items);
    all.iter().flat_map(|schema| schema.parts()).filter(is_element).collect()
}

fn member_name(part: Subschema<'_>) -> Option<&str> {
    match part.applies_to() {
        AppliesTo::Member(name) => Some(name),
        _ => None,
    }
}

/// Reports whether a schema certainly rejects every value that has this member.
fn forbids<'s>(schema: Subschema<'s>, name: &str, above: &mut Vec<Subschema<'s>>) -> bool {
    if above.contains(&schema) || above.len() >= MAX_VISITED {
        return false;
    }
    let keywords = match schema.as_json() {
        Value::Bool(accepts) => return !accepts,
        Value::Object(keywords) => keywords,
        _ => return false,
    };
    above.push(schema);
    let is_referred = schema.references().any(|(keyword, target)| keyword == "$ref" && forbids(target, name, above));
    let is_here = !schema.is_only_reference()
        && (excludes_objects(keywords.get("type"))
            || is_closed(schema, name)
            || parts_of(schema, "allOf").any(|part| forbids(part, name, above))
            || ["anyOf", "oneOf"].into_iter().any(|keyword| {
                let mut branches = parts_of(schema, keyword).peekable();
                branches.peek().is_some() && branches.all(|branch| forbids(branch, name, above))
            }));
    above.pop();
    is_referred || is_here
}

fn parts_of<'s>(schema: Subschema<'s>, keyword: &str) -> impl Iterator<Item = Subschema<'s>> {
    schema.parts().filter(move |part| part.keyword() == Some(keyword))
}

/// Reports whether a schema accepts only other members. It is known that no part of it declares the member.
fn is_closed(schema: Subschema<'_>, name: &str) -> bool {
    let is_false = |keyword: &str| parts_of(schema, keyword).any(|part| *part.as_json() == Value::Bool(false));
    let is_own = |part: Subschema<'_>| member_name(part) == Some(name);
    (is_false("additionalProperties") && !schema.parts().any(is_own)) || is_false("unevaluatedProperties")
}

fn excludes_objects(types: Option<&Value>) -> bool {
    match types {
        Some(Value::String(only)) => only != "object",
        Some(Value::Array(several)) => !several.iter().any(|one| one == "object"),
        _ => false,
    }
}
