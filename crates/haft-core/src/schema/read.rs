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

use std::cell::{Cell, RefCell};

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::deserializer::Checked;
use self::place::Place;
use super::explain;
use super::limit::{DecodeOptions, DuplicateKeys, Limits, Repair};
use super::node::{Arena, NodeId};
use super::number::Exactness;
use super::repair;
use super::settle::settle;
use super::skim;
use super::text;
use super::validation::Validator;
use crate::issue::{Issue, Issues, TypeError};

/// What is read against.
pub(super) struct Reading<'a> {
    pub(super) arena: &'a Arena,
    pub(super) limits: Limits,
    /// How deep values may nest.
    pub(super) depth: usize,
    /// Where the type rejected a value; kept only when somebody asks.
    pub(super) trail: Option<&'a Trail>,
    /// What becomes of integers beyond 64 bits that are read as floats.
    pub(super) wide: Wide,
    /// How many values around this one the type does not look at.
    pub(super) ignored: Cell<u32>,
}

/// The way to the value that the type itself rejected.
#[derive(Default)]
pub(super) struct Trail {
    /// The steps to it, innermost first; filled on the way back up.
    steps: RefCell<Vec<String>>,
    /// The node of the innermost value, once there is a step.
    node: Cell<Option<NodeId>>,
}

impl Trail {
    /// Notes a step, on the way back from a value at this node.
    fn leave(&self, step: String, node: NodeId) {
        self.steps.borrow_mut().push(step);
        self.node.set(self.node.get().or(Some(node)));
    }

    fn pointer(&self) -> String {
        self.steps.borrow().iter().rev().map(String::as_str).collect()
    }
}

/// What becomes of an integer beyond 64 bits where a type takes a float for it, as a tree does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    /// The type is given the float next to it.
    Rounded,
    /// It is rejected, unless the type ignores it: whoever reads decides by what is read.
    Rejected,
}

impl Reading<'_> {
    /// Reports whether a float may stand for an integer that was written with other digits, and that must not be.
    #[inline]
    fn rejects(&self, float: f64) -> bool {
        self.wide == Wide::Rejected && self.ignored.get() == 0 && is_beyond_64_bits(float)
    }

    /// The same for a value that was built whole.
    fn rejects_in(&self, tree: &Value) -> bool {
        self.wide == Wide::Rejected && self.ignored.get() == 0 && has_wide_float(tree)
    }

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
    wide: Wide,
    take: impl FnOnce(T) -> U,
) -> Result<Decoded<U>, Issues> {
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    if text.len() > options.limits.max_bytes {
        return Err(text::too_long(text.len(), options.limits.max_bytes).into());
    }
    let directly = custom.is_none() && options.limits.duplicate_keys == DuplicateKeys::Refuse;
    let refused = if directly {
        match one_pass(arena, text, options.limits, wide) {
            Ok(value) => return Ok(Decoded { value: take(value), repairs: Vec::new() }),
            Err(error) => Some(error),
        }
    } else {
        None
    };
    let Decoded { value, repairs } = by_tree(arena, custom, text, options, wide, refused)?;
    Ok(Decoded { value: take(value), repairs })
}

/// Reads a tree.
pub(super) fn from_tree<T: DeserializeOwned>(
    arena: &Arena,
    custom: Option<&Validator>,
    tree: &Value,
) -> Result<T, Issues> {
    check(arena, custom, tree, Exactness::Required)?;
    build(arena, tree)
}

/// Everything that is wrong with a tree.
pub(super) fn check(arena: &Arena, custom: Option<&Validator>, tree: &Value, exact: Exactness) -> Result<(), Issues> {
    if !explain::fits(arena, arena.root(), tree, exact) {
        return Err(Issues::new(explain::issues(arena, arena.root(), tree, exact)));
    }
    custom.map_or(Ok(()), |custom| custom.check(tree))
}

fn one_pass<T: DeserializeOwned>(
    arena: &Arena,
    text: &str,
    limits: Limits,
    wide: Wide,
) -> Result<T, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Depth is counted here, and may be set beyond what serde_json would take by itself.
    deserializer.disable_recursion_limit();
    let reading = Reading { arena, limits, depth: limits.depth(), trail: None, wide, ignored: Cell::new(0) };
    let value = T::deserialize(Checked { inner: &mut deserializer, place: &Place::root(&reading) })?;
    deserializer.end()?;
    Ok(value)
}

/// The type, from a tree that fits.
fn build<T: DeserializeOwned>(arena: &Arena, tree: &Value) -> Result<T, Issues> {
    let trail = Trail::default();
    let limits = Limits::default().duplicate_keys(DuplicateKeys::LastWins);
    let (wide, ignored) = (Wide::Rounded, Cell::new(0));
    let reading = Reading { arena, limits, depth: usize::MAX, trail: Some(&trail), wide, ignored };
    // A tree that keeps all digits would not give `3.0` to a type that asks for an integer.
    let settled = text::number_token().map(|_| {
        let mut settled = tree.clone();
        settle(arena, arena.root(), &mut settled);
        settled
    });
    let inner = settled.as_ref().unwrap_or(tree);
    T::deserialize(Checked { inner, place: &Place::root(&reading) }).map_err(|error| {
        let node = trail.node.get().unwrap_or(arena.root());
        undecodable(trail.pointer(), explain::described(arena, node)).because(TypeError(error))
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
    wide: Wide,
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
    if wide == Wide::Rejected && has_wide_float(&tree) {
        return Err(undecodable(String::new(), String::new()));
    }
    match (build(arena, &tree), refused) {
        (Err(issues), _) => Err(issues),
        // A tree holds less than the text does: an integer beyond 64 bits, say.
        (Ok(_), Some(error)) if repairs.is_empty() => {
            Err(undecodable(String::new(), String::new()).because(TypeError(error)))
        }
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

/// Reports whether a float is so large that an integer beyond 64 bits may have been written for it.
fn is_beyond_64_bits(float: f64) -> bool {
    const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
    float.abs() >= TWO_TO_THE_63
}

/// Reports whether a tree holds such a float.
fn has_wide_float(tree: &Value) -> bool {
    match tree {
        Value::Number(number) => !(number.is_i64() || number.is_u64()) && number.as_f64().is_none_or(is_beyond_64_bits),
        Value::Array(items) => items.iter().any(has_wide_float),
        Value::Object(members) => members.values().any(has_wide_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Nothing is wrong with the JSON: the type itself rejects what its schema allows. What the type says of it is for the
/// operator: it is user code, and may say anything.
fn undecodable(pointer: String, expected: String) -> Issues {
    let message = if expected.is_empty() {
        "the tool does not accept this value; send another".to_owned()
    } else {
        format!("the tool does not accept this value; send another that is {expected}")
    };
    let expected = if expected.is_empty() { "a value the tool can take".to_owned() } else { expected };
    Issue::new(pointer, "decode", message).expected(expected).into()
}
