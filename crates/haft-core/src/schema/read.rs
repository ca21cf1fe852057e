//! From argument text, or a tree, into a type: checked on the way, and with every problem named when it is refused.
//!
//! The way in is one pass over the text (`deserializer`). Only when that refuses is the text read again, to find out
//! everything that is wrong: on the way if that can be told so (`skim`), or by its tree. A good call pays nothing for it.

mod deserializer;
mod key;
mod map;
mod number;
mod place;
mod seq;
mod unit;
mod visitor;

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::deserializer::Checked;
use self::place::Place;
use super::explain;
use super::limit::{DecodeOptions, DuplicateKeys, Limits, Repair};
use super::node::Arena;
use super::number::Exactness;
use super::repair;
use super::settle::settle;
use super::skim;
use super::text;
use super::validation::Validator;
use crate::issue::{CharBoundary, Issue, Issues};

/// What is read against.
pub(super) struct Reading<'a> {
    pub(super) arena: &'a Arena,
    pub(super) limits: Limits,
    /// How deep values may nest.
    pub(super) depth: usize,
    /// Where the type refused a value, innermost step first; kept only when somebody asks.
    pub(super) trail: Option<&'a RefCell<Vec<String>>>,
}

impl Reading<'_> {
    /// Whether a declared key in its place says all there is to know of it.
    #[inline]
    fn is_plain(&self) -> bool {
        self.trail.is_none() && self.limits.duplicate_keys == DuplicateKeys::Refuse
    }
}

/// A value read from text, and the repairs it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What was mended, in order; empty unless repairs were allowed and needed.
    pub repairs: Vec<Repair>,
}

/// Reads argument text. Blank text stands for `{}`: that is what models send when a tool takes nothing. The value goes
/// straight to `take`, as every move of it shows in what a call costs.
pub(super) fn from_text<T: DeserializeOwned, U>(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &str,
    options: &DecodeOptions,
    take: impl FnOnce(T) -> U,
) -> Result<Decoded<U>, Issues> {
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    if text.len() > options.limits.max_bytes {
        return Err(text::too_long(text.len(), options.limits.max_bytes).into());
    }
    let directly = custom.is_none() && options.limits.duplicate_keys == DuplicateKeys::Refuse;
    let refused = if directly {
        match one_pass(arena, text, options.limits) {
            Ok(value) => return Ok(Decoded { value: take(value), repairs: Vec::new() }),
            Err(error) => Some(error),
        }
    } else {
        None
    };
    let Decoded { value, repairs } = by_tree(arena, custom, text, options, refused)?;
    Ok(Decoded { value: take(value), repairs })
}

/// Reads a tree.
pub(super) fn from_tree<T: DeserializeOwned>(
    arena: &Arena,
    custom: Option<&Validator>,
    tree: &Value,
) -> Result<T, Issues> {
    check(arena, custom, tree, Exactness::Required)?;
    build(arena, tree).map_err(Issues::from)
}

/// Everything that is wrong with a tree.
pub(super) fn check(arena: &Arena, custom: Option<&Validator>, tree: &Value, exact: Exactness) -> Result<(), Issues> {
    if !explain::fits(arena, arena.root(), tree, exact) {
        return Err(Issues::new(explain::issues(arena, arena.root(), tree, exact)));
    }
    custom.map_or(Ok(()), |custom| custom.check(tree))
}

fn one_pass<T: DeserializeOwned>(arena: &Arena, text: &str, limits: Limits) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Depth is counted here, and may be set beyond what serde_json would take by itself.
    deserializer.disable_recursion_limit();
    let reading = Reading { arena, limits, depth: limits.depth(), trail: None };
    let value = T::deserialize(Checked { inner: &mut deserializer, place: &Place::root(&reading) })?;
    deserializer.end()?;
    Ok(value)
}

/// The type, from a tree that fits.
fn build<T: DeserializeOwned>(arena: &Arena, tree: &Value) -> Result<T, Issue> {
    let trail = RefCell::default();
    let limits = Limits::default().duplicate_keys(DuplicateKeys::LastWins);
    let reading = Reading { arena, limits, depth: usize::MAX, trail: Some(&trail) };
    // A tree that keeps all digits would not give `3.0` to a type that asks for an integer.
    let settled = text::number_token().map(|_| {
        let mut settled = tree.clone();
        settle(arena, arena.root(), &mut settled);
        settled
    });
    let inner = settled.as_ref().unwrap_or(tree);
    T::deserialize(Checked { inner, place: &Place::root(&reading) }).map_err(|error| {
        let pointer: String = trail.borrow().iter().rev().map(String::as_str).collect();
        undecodable(pointer, &error)
    })
}

/// The careful way: what a refusal can be told without a tree; else the tree first, then all issues, then repairs if
/// allowed, then the type.
#[cold]
#[inline(never)]
fn by_tree<T: DeserializeOwned>(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &str,
    options: &DecodeOptions,
    refused: Option<serde_json::Error>,
) -> Result<Decoded<T>, Issues> {
    if refused.is_some()
        && !options.repairs.any()
        && let Some(issues) = skim::issues(arena, text, options.limits)
    {
        return Err(Issues::new(issues));
    }
    let (tree, mut faults) = text::read_str(text, &options.limits);
    let Some(mut tree) = tree else {
        return Err(Issues::new(faults));
    };
    let mut repairs = Vec::new();
    if let Err(issues) = check_again(arena, custom, &tree, refused.as_ref()) {
        let mended = faults.is_empty() && options.repairs.any();
        match mended.then(|| repair::mend(arena, custom, &tree, &issues, options)).flatten() {
            Some((mended, made)) => (tree, repairs) = (mended, made),
            None if faults.is_empty() => return Err(issues),
            None => {
                let named = |issue: &Issue| {
                    faults.iter().any(|fault| fault.keyword == "forbiddenKey" && fault.pointer == issue.pointer)
                };
                let more: Vec<Issue> = issues.into_vec().into_iter().filter(|issue| !named(issue)).collect();
                faults.extend(more);
            }
        }
    }
    if !faults.is_empty() {
        return Err(Issues::new(faults));
    }
    match (build(arena, &tree), refused) {
        (Err(issue), _) => Err(issue.into()),
        // A tree holds less than the text does: an integer beyond 64 bits, say.
        (Ok(_), Some(error)) if repairs.is_empty() => Err(undecodable(String::new(), &error).into()),
        (Ok(value), _) => Ok(Decoded { value, repairs }),
    }
}

/// Everything that is wrong with a tree whose text may have been refused: then something is, and it is named without
/// asking first.
fn check_again(
    arena: &Arena,
    custom: Option<&Validator>,
    tree: &Value,
    refused: Option<&serde_json::Error>,
) -> Result<(), Issues> {
    if refused.is_some() {
        let issues = explain::issues(arena, arena.root(), tree, Exactness::Required);
        if !issues.is_empty() {
            return Err(Issues::new(issues));
        }
    }
    check(arena, custom, tree, Exactness::Required)
}

/// Nothing is wrong with the JSON: the type itself refuses what its schema allows.
fn undecodable(pointer: String, error: &serde_json::Error) -> Issue {
    const LONGEST: usize = 300;
    let mut said = error.to_string();
    said.truncate(said.floor_char_boundary_at(LONGEST));
    let wordless = said.is_empty() || said.starts_with(" at line ");
    let message = if wordless { "the value can't be taken; send another".to_owned() } else { said };
    Issue::new(pointer, "decode", message).expected("a value the tool can take")
}
