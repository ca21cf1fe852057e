//! Repair of small mistakes that models make, if the caller allows it.
//!
//! A repair is tried only where a value is rejected for its type, and kept only if the whole value is valid in the end:
//! a call is never partly repaired. Each repair replaces the text of one value.

use std::collections::HashMap;

use super::budget::WorkBudget;
use super::document::{Document, Instance, ReadOptions};
use super::limit::{DecodeOptions, Repair, RepairKind};
use super::node::Arena;
use super::rewrite::Edits;
use super::types::{JsonType, Types};
use super::verify;
use super::walk::{self, Finding};

/// The most rounds of repairs: JSON in a string may itself contain such mistakes.
const ROUNDS: usize = 4;

/// Returns valid text with the repairs that produced it, or `None` if repairs cannot make the value valid.
pub(super) fn repaired(
    arena: &Arena,
    document: &Document<'_>,
    findings: &[Finding],
    options: &DecodeOptions,
) -> Option<(String, Vec<Repair>)> {
    let mut repairs = Vec::new();
    let mut text = apply(document, findings, options, &mut repairs)?;
    for _ in 0..ROUNDS {
        let mut budget = WorkBudget::for_input(text.len());
        // Each string was within the limit; the combined text must be within it as well.
        let read = ReadOptions { max_depth: options.limits.depth() };
        let document = Document::read(&text, read, &mut budget).ok()?;
        let explained = walk::explain(arena, arena.root(), document.root(), &mut budget);
        if explained.cut.is_some() {
            return None;
        }
        if explained.findings.is_empty() {
            let given = verify::as_given(arena, &document, &options.limits, &mut budget).ok()?;
            return Some((given.unwrap_or_else(|| document.text().to_owned()), repairs));
        }
        text = apply(&document, &explained.findings, options, &mut repairs)?;
    }
    None
}

/// Repairs every value that was rejected, or returns `None` if one cannot be repaired.
fn apply(
    document: &Document<'_>,
    findings: &[Finding],
    options: &DecodeOptions,
    repairs: &mut Vec<Repair>,
) -> Option<String> {
    let mut replaced = HashMap::new();
    for finding in findings {
        let value = document.instance(finding.value)?;
        let (kind, text) = replacement(value, finding.expected_types?, options)?;
        replaced.insert(finding.value, text);
        repairs.push(Repair { pointer: finding.issue.pointer.clone(), kind });
    }
    Some(Edits::replacing(replaced).apply(document))
}

fn replacement(value: Instance<'_>, expected_types: Types, options: &DecodeOptions) -> Option<(RepairKind, String)> {
    if let Some(text) = value.string() {
        let text = text.trim();
        // JSON from inside a string is untrusted, like any other text.
        let is_sound = verify::text_faults(text, &options.limits).is_ok_and(|faults| faults.is_empty());
        let mut budget = WorkBudget::for_input(text.len());
        let read = ReadOptions { max_depth: options.limits.depth() };
        let document = Document::read(text, read, &mut budget).ok().filter(|_| is_sound);
        match document.map(|document| document.root().kind()) {
            Some(JsonType::Array | JsonType::Object) if options.repairs.nested_json => {
                return Some((RepairKind::NestedJson, text.to_owned()));
            }
            Some(scalar @ (JsonType::Boolean | JsonType::Number))
                if options.repairs.quoted_scalars && expected_types.allows(scalar) =>
            {
                return Some((RepairKind::QuotedScalar, text.to_owned()));
            }
            _ => {}
        }
    }
    let wraps =
        options.repairs.single_item_arrays && expected_types.allows(JsonType::Array) && value.kind() != JsonType::Null;
    wraps.then(|| (RepairKind::SingleItemArray, format!("[{}]", value.raw())))
}
