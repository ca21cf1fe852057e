//! Full verification of text: reports every problem, or returns the text that the type should receive.
//!
//! This module decides what is valid. The single-pass reader may reject anything that it is not certain of; the
//! decision made here is final.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::budget::{BudgetSpent, WorkBudget};
use super::document::{Document, Instance, MemberKey, Pointers, ReadFault, ReadOptions};
use super::forbidden::Inside;
use super::limit::{DecodeOptions, DuplicateKeys, Limits, Repair};
use super::message::{self, excerpt_of_text};
use super::node::{Arena, NodeId};
use super::repair;
use super::rewrite::{self, rewritten, rounded};
use super::tree::read_written;
use super::validation::Validator;
use super::walk::{self, Explained, Finding, MOST_ISSUES};
use crate::issue::{ISSUES_CAP, Issue, Issues};

/// Valid text, in the form that a type should receive.
pub(super) struct Verified<'t> {
    pub(super) text: Cow<'t, str>,
    /// The repairs, in order.
    pub(super) repairs: Vec<Repair>,
}

/// Verifies argument text.
pub(super) fn verify<'t>(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &'t str,
    options: &DecodeOptions,
) -> Result<Verified<'t>, Issues> {
    let mut budget = WorkBudget::for_input(text.len());
    let document = read(text, &options.limits, &mut budget)?;
    let faults = key_faults(&document, Inside::Other, &options.limits);
    let explained = walk::explain(arena, arena.root(), document.root(), &mut budget);
    if explained.findings.is_empty() && explained.cut.is_none() && faults.is_empty() {
        let text = as_given(arena, &document, &options.limits, &mut budget)?.map_or(Cow::Borrowed(text), Cow::Owned);
        check_custom(custom, &text)?;
        return Ok(Verified { text, repairs: Vec::new() });
    }
    if faults.is_empty()
        && options.repairs.any()
        && let Some((text, repairs)) = repair::repaired(arena, &document, &explained.findings, options)
    {
        check_custom(custom, &text)?;
        return Ok(Verified { text: text.into(), repairs });
    }
    Err(all_issues(faults, explained))
}

/// Returns a valid value in the form that its type should receive, if that form is valid as well; `None` if it is the
/// original text.
pub(super) fn as_given(
    arena: &Arena,
    document: &Document<'_>,
    limits: &Limits,
    budget: &mut WorkBudget,
) -> Result<Option<String>, Issues> {
    check_rounded(arena, document, limits)?;
    let too_costly = |BudgetSpent| Issues::from(message::too_costly(document.text().len()));
    rewritten(arena, arena.root(), document, budget).map_err(too_costly)
}

/// Returns valid text with every integer written as one, or `None` if that is the original text.
pub(super) fn with_all_integers(text: &str, limits: &Limits) -> Option<String> {
    let document = read(text, limits, &mut WorkBudget::for_input(text.len())).ok()?;
    rewrite::with_all_integers(&document)
}

/// Checks a valid value once more with its numbers rounded to floats.
fn check_rounded(arena: &Arena, document: &Document<'_>, limits: &Limits) -> Result<(), Issues> {
    let Some(text) = rounded(document) else { return Ok(()) };
    let mut budget = WorkBudget::for_input(text.len());
    let document = read(&text, limits, &mut budget)?;
    let explained = walk::explain(arena, arena.root(), document.root(), &mut budget);
    let fits = explained.findings.is_empty() && explained.cut.is_none();
    if fits { Ok(()) } else { Err(all_issues(Vec::new(), explained)) }
}

/// Checks a value, and returns all its problems.
pub(super) fn check(arena: &Arena, custom: Option<&Validator>, text: &str) -> Result<(), Issues> {
    let issues = problems_of_written(arena, text);
    if issues.is_empty() { check_custom(custom, text) } else { Err(Issues::new(issues)) }
}

/// Reports whether text that this crate wrote is valid for a node.
pub(super) fn fits_written(arena: &Arena, node: NodeId, text: &str, budget: &mut WorkBudget) -> bool {
    let document = Document::read(text, ReadOptions { max_depth: usize::MAX }, budget);
    document.is_ok_and(|document| walk::fits(arena, node, document.root(), budget))
}

/// Returns all problems of text that this crate wrote. Its schema decides which keys it may have, but none may occur
/// twice.
pub(super) fn problems_of_written(arena: &Arena, text: &str) -> Vec<Issue> {
    let mut budget = WorkBudget::for_input(text.len());
    let document = match Document::read(text, ReadOptions { max_depth: usize::MAX }, &mut budget) {
        Ok(document) => document,
        Err(fault) => return vec![read_issue(text, &Limits::default(), fault)],
    };
    let duplicates = duplicate_faults(&document).map(|(_, fault)| fault).collect();
    all_issues(duplicates, walk::explain(arena, arena.root(), document.root(), &mut budget)).into_vec()
}

/// Returns the faults of a text that do not depend on a schema: forbidden keys. `Err` if it is not JSON.
pub(super) fn text_faults(text: &str, limits: &Limits) -> Result<Vec<Issue>, Issues> {
    let document = read(text, limits, &mut WorkBudget::for_input(text.len()))?;
    Ok(key_faults(&document, Inside::Other, limits))
}

/// Reads text that is converted before a schema checks it, or returns every fault that does not depend on a schema.
pub(super) fn read_unchecked<'t>(text: &'t str, limits: &Limits) -> Result<Document<'t>, Issues> {
    if text.len() > limits.max_bytes {
        return Err(too_long(text.len(), limits.max_bytes).into());
    }
    let document = read(text, limits, &mut WorkBudget::for_input(text.len()))?;
    let faults = key_faults(&document, Inside::Other, limits);
    if faults.is_empty() { Ok(document) } else { Err(Issues::new(faults)) }
}

/// Reads text as a document, or returns the issues that prevent it.
fn read<'t>(text: &'t str, limits: &Limits, budget: &mut WorkBudget) -> Result<Document<'t>, Issues> {
    let options = ReadOptions { max_depth: limits.depth() };
    Document::read(text, options, budget).map_err(|fault| Issues::from(read_issue(text, limits, fault)))
}

fn read_issue(text: &str, limits: &Limits, fault: ReadFault) -> Issue {
    match fault {
        ReadFault::Malformed { .. } => malformed(text),
        ReadFault::OutOfRange { pointer, .. } => {
            let message = "the number is beyond the range of a 64-bit float; send a smaller one";
            Issue::new(pointer, "json", message).expected("numbers within the range of a 64-bit float")
        }
        ReadFault::TooDeep { pointer, .. } => {
            let max = limits.depth();
            let message = format!("nests deeper than {max} levels; send a flatter value");
            Issue::new(pointer, "maxDepth", message).expected(format!("at most {max} levels"))
        }
        ReadFault::TooLong => too_long(text.len(), u32::MAX as usize),
        ReadFault::Spent => message::too_costly(text.len()),
    }
}

/// Returns the issue for text that is not JSON, in the words of `serde_json`.
fn malformed(text: &str) -> Issue {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let read = serde::Deserialize::deserialize(&mut deserializer).and_then(|_: IgnoredAny| deserializer.end());
    let error =
        read.err().map_or_else(|| "a string contains half of a surrogate pair".to_owned(), |error| error.to_string());
    Issue::new("", "json", format!("not valid JSON: {error}; send one complete JSON value")).expected("valid JSON")
}

/// Returns the issue for text that is too long to be parsed.
pub(super) fn too_long(bytes: usize, max: usize) -> Issue {
    Issue::new("", "maxBytes", format!("the JSON text has {bytes} bytes and may have at most {max}; send less"))
        .expected(format!("at most {max} bytes"))
        .found(format!("{bytes} bytes"))
}

/// Finds forbidden keys, and keys that occur more than once.
pub(super) fn key_faults(document: &Document<'_>, inside: Inside, limits: &Limits) -> Vec<Issue> {
    let mut forbidden = Vec::new();
    if document.may_have_forbidden_key() {
        collect_forbidden(document.root(), inside, &mut forbidden);
    }
    let mut pointers = Pointers::new(document);
    let mut faults: Vec<(u32, Issue)> = forbidden
        .into_iter()
        .map(|key| {
            let name = excerpt_of_text(&key.name());
            let message = format!("the key {name} is not allowed in any object; leave it out");
            (key.id(), Issue::new(pointers.to(key.id()), "forbiddenKey", message))
        })
        .collect();
    if limits.duplicate_keys == DuplicateKeys::Reject {
        faults.extend(duplicate_faults(document));
    }
    faults.sort_by_key(|(at, _)| *at);
    faults.truncate(MOST_ISSUES);
    faults.into_iter().map(|(_, fault)| fault).collect()
}

fn duplicate_faults<'d>(document: &'d Document<'_>) -> impl Iterator<Item = (u32, Issue)> + use<'d> {
    let mut pointers = Pointers::new(document);
    document.duplicates().map(move |key| {
        let name = excerpt_of_text(&key.name());
        let message = format!("the key {name} occurs twice in this object; send it once");
        (key.id(), Issue::new(pointers.to(key.id()), "duplicateKey", message))
    })
}

/// Collects forbidden keys. The depth of recursion is bounded by that of the document.
fn collect_forbidden<'d>(value: Instance<'d>, inside: Inside, found: &mut Vec<MemberKey<'d>>) {
    for item in value.items() {
        collect_forbidden(item, Inside::Other, found);
    }
    for (key, member) in value.members() {
        if found.len() >= MOST_ISSUES {
            return;
        }
        let name = key.name();
        if inside.forbids(&name) {
            found.push(key);
        }
        collect_forbidden(member, Inside::key(&name), found);
    }
}

/// Combines faults of the text and problems of the value, without naming a key twice.
fn all_issues(mut faults: Vec<Issue>, explained: Explained) -> Issues {
    let Explained { findings, mut cut } = explained;
    if faults.is_empty() {
        return Issues::new(findings.into_iter().map(|finding| finding.issue).chain(cut).collect());
    }
    let is_named = |finding: &Finding| {
        faults.iter().any(|fault| fault.keyword == "forbiddenKey" && fault.pointer == finding.issue.pointer)
    };
    let more: Vec<Issue> =
        findings.into_iter().filter(|finding| !is_named(finding)).map(|finding| finding.issue).collect();
    faults.extend(more);
    let mut bytes = 0;
    let within = |issue: &&Issue| {
        bytes += walk::size(issue);
        bytes <= ISSUES_CAP
    };
    let listed = faults.iter().take_while(within).count();
    if listed < faults.len() {
        faults.truncate(listed);
        cut.get_or_insert_with(|| message::too_many(listed));
    }
    faults.extend(cut);
    Issues::new(faults)
}

fn check_custom(custom: Option<&Validator>, text: &str) -> Result<(), Issues> {
    let Some(custom) = custom else { return Ok(()) };
    let tree = read_written(text).ok_or_else(|| Issues::from(malformed(text)))?;
    custom.check(&tree)
}
