//! The losses that explain why a value changed, or why it is invalid.
//!
//! A loss explains only what happens where its pointer leads: the tool's schema has the schemas that apply to a value's
//! part, and the loss must be reported for one of them.

use haft_core::{Loss, LossKind};
use haft_schema::{AppliesTo, Issue, Schema, Subschema};
use serde_json::Value;

/// The schemas for the parts of a value on the way to one of them, from the outside in.
struct Path<'s>(Vec<Vec<Subschema<'s>>>);

/// Reports whether every difference between two values is explained: an absent value was read as `null`, and the
/// ambiguity is reported for its schema.
pub(crate) fn explains_change(schema: &Schema, losses: &[Loss], before: &Value, after: &Value) -> bool {
    let mut pointers = Vec::new();
    if !absent_as_null(before, after, "", &mut pointers) {
        return false;
    }
    let all = schema.subschemas();
    pointers.iter().all(|pointer| {
        let path = Path::to(all.root(), pointer);
        losses.iter().any(|loss| loss.kind == LossKind::Ambiguity && path.ends_at(&loss.pointer))
    })
}

/// Reports whether a loss explains that a decoded value has an issue.
#[allow(dead_code, reason = "the survey explains changes only")]
pub(crate) fn explains_issue(schema: &Schema, losses: &[Loss], issue: &Issue) -> bool {
    let all = schema.subschemas();
    let path = Path::to(all.root(), &issue.pointer);
    let is_union = matches!(issue.keyword.as_str(), "anyOf" | "oneOf" | "not" | "if" | "contains");
    losses.iter().any(|loss| match loss.kind {
        LossKind::Keyword | LossKind::Format => {
            // Which schema a key has is not known without the patterns, so they explain all that is below.
            let is_pattern = loss.pointer.ends_with("/patternProperties") && path.passes(&loss.pointer);
            is_pattern
                || path.ends_at_keyword(&loss.pointer, &issue.keyword)
                || is_union && path.ends_above(&loss.pointer)
        }
        LossKind::Annotation => false,
        _ => path.passes(&loss.pointer) || is_union && path.ends_above(&loss.pointer),
    })
}

/// Reports whether a loss explains that a value can't be decoded. The pointer is one in the sent shape.
#[allow(dead_code, reason = "the survey explains changes only")]
pub(crate) fn explains_shape(schema: &Schema, losses: &[Loss], sent: &str) -> bool {
    let all = schema.subschemas();
    let path = Path::to_sent(all.root(), sent);
    losses.iter().any(|loss| loss.kind != LossKind::Annotation && path.passes(&loss.pointer))
}

/// Collects the pointers to values that are absent in one value and `null` in the other. Returns `false` if there is
/// any other difference.
fn absent_as_null(before: &Value, after: &Value, pointer: &str, found: &mut Vec<String>) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let is_kept = before.keys().all(|name| after.contains_key(name));
            is_kept
                && after.iter().all(|(name, after)| {
                    let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                    same_or_absent(before.get(name), after, pointer, found)
                })
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() <= after.len()
                && after
                    .iter()
                    .enumerate()
                    .all(|(at, after)| same_or_absent(before.get(at), after, format!("{pointer}/{at}"), found))
        }
        (before, after) => before == after,
    }
}

fn same_or_absent(before: Option<&Value>, after: &Value, pointer: String, found: &mut Vec<String>) -> bool {
    match before {
        Some(before) => absent_as_null(before, after, &pointer, found),
        None => {
            found.push(pointer);
            after.is_null()
        }
    }
}

impl<'s> Path<'s> {
    fn to(root: Subschema<'s>, pointer: &str) -> Self {
        Self::walk(root, pointer, |schemas, token| step(schemas, token))
    }

    /// Follows a pointer in the sent shape, where a member may have another name, and a map or tuple is an array of
    /// pairs or an object. Where no schema applies to a part, all below it do.
    fn to_sent(root: Subschema<'s>, pointer: &str) -> Self {
        Self::walk(root, pointer, |schemas, token| {
            let named = |part: &Subschema<'s>| matches!(part.applies_to(), AppliesTo::Member(_) | AppliesTo::Item(_));
            let next: Vec<_> = step(schemas, token).into_iter().filter(named).collect();
            // A value that is no object is the member `value` of one, and a schema may have a member of that name.
            if !next.is_empty() && token != "value" {
                return next;
            }
            let parts = schemas.iter().flat_map(|schema| schema.parts());
            schemas.iter().copied().chain(parts).collect()
        })
    }

    fn walk(root: Subschema<'s>, pointer: &str, step: impl Fn(&[Subschema<'s>], &str) -> Vec<Subschema<'s>>) -> Self {
        let mut levels = vec![in_place(vec![root])];
        for token in pointer.split('/').skip(1) {
            let token = token.replace("~1", "/").replace("~0", "~");
            let next = step(levels.last().unwrap(), &token);
            levels.push(in_place(next));
        }
        Self(levels)
    }

    /// Reports whether a pointer leads to a schema of the last part.
    fn ends_at(&self, pointer: &str) -> bool {
        self.0.last().is_some_and(|schemas| schemas.iter().any(|schema| schema.pointer() == pointer))
    }

    /// Reports whether a pointer leads to a keyword in a schema for the last part or the one around it, or to such a
    /// schema.
    fn ends_at_keyword(&self, pointer: &str, keyword: &str) -> bool {
        let last = self.0.iter().rev().take(2).flatten();
        last.into_iter().any(|schema| {
            pointer.strip_prefix(schema.pointer()).is_some_and(|rest| {
                // `const` is an `enum` of one value.
                rest.is_empty() || rest.strip_prefix('/') == Some(keyword) || matches!(rest, "/enum" | "/const")
            })
        })
    }

    /// Reports whether a pointer leads to a schema for any part on the way, or to a keyword in it.
    fn passes(&self, pointer: &str) -> bool {
        self.0.iter().flatten().any(|schema| {
            let rest = pointer.strip_prefix(schema.pointer());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') && !rest[1..].contains('/'))
        })
    }

    /// Reports whether a pointer leads to a schema for the last part or below it.
    fn ends_above(&self, pointer: &str) -> bool {
        let mut below = self.0.last().cloned().unwrap_or_default();
        let mut at = 0;
        while let Some(schema) = below.get(at).copied() {
            let next = schema.parts().chain(schema.references().map(|(_, target)| target));
            let next: Vec<_> = next.filter(|next| !below.contains(next)).collect();
            below.extend(next);
            at += 1;
        }
        below.iter().any(|schema| {
            let rest = pointer.strip_prefix(schema.pointer());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') && !rest[1..].contains('/'))
        })
    }
}

/// Adds the schemas that apply to the same value: alternatives and references.
fn in_place(mut schemas: Vec<Subschema<'_>>) -> Vec<Subschema<'_>> {
    let mut at = 0;
    while let Some(schema) = schemas.get(at).copied() {
        let parts = schema.parts().filter(|part| part.applies_to() == AppliesTo::Value);
        let next: Vec<_> = parts.chain(schema.references().map(|(_, target)| target)).collect();
        for schema in next {
            if !schemas.contains(&schema) {
                schemas.push(schema);
            }
        }
        at += 1;
    }
    schemas
}

/// Returns the schemas of the member or item that a token names.
fn step<'s>(schemas: &[Subschema<'s>], token: &str) -> Vec<Subschema<'s>> {
    let applies = |part: &Subschema<'s>| match part.applies_to() {
        AppliesTo::Member(name) => name == token,
        AppliesTo::MatchingMembers(_) | AppliesTo::OtherMembers => true,
        AppliesTo::Item(index) => token.parse() == Ok(index),
        AppliesTo::Items => token.parse::<usize>().is_ok(),
        _ => false,
    };
    schemas.iter().flat_map(|schema| schema.parts()).filter(applies).collect()
}
