//! From argument text into a type: checked on the way, and with every problem named when it is rejected.
//!
//! The way in is one pass over the text (`deserializer`), which rejects whatever it is not sure of. Only then is the text
//! looked at with care ([`verify`](super::verify)): that names everything that is wrong, or returns text that fits, which
//! is read by the same pass. So a type is compiled against one deserializer, and a good call pays for one pass.

mod deserializer;
mod key;
mod map;
mod number;
mod position;
mod seq;
mod unit;
mod visitor;

use std::cell::{Cell, RefCell};

use serde::de::DeserializeOwned;
use serde_json::Error;
use serde_json::de::StrRead;

use self::deserializer::{CheckedDeserializer, refusal};
use self::position::ReadPosition;
use super::budget::WorkBudget;
use super::document::{Document, ReadOptions};
use super::forbidden::Inside;
use super::keyword::union::types;
use super::limit::{DecodeOptions, DuplicateKeys, Limits, Repair};
use super::message;
use super::node::{Arena, Node, NodeId};
use super::rewrite;
use super::scan::rounded_integer;
use super::types::{JsonType, Types};
use super::validation::Validator;
use super::verify::{self, Verified, key_faults};
use super::walk;
use crate::issue::{Issue, Issues, TypeError};

/// What is read against.
pub(super) struct ReadContext<'a> {
    pub(super) arena: &'a Arena,
    pub(super) limits: Limits,
    /// How deep values may nest.
    pub(super) depth: usize,
    /// The treatment of integers beyond 64 bits that are read as floats.
    wide: Cell<Wide>,
    /// Set once anything was rejected, also if the type passed over it.
    has_rejected: Cell<bool>,
    /// Set once such an integer was rejected.
    rejected_wide: Cell<bool>,
    /// The number of values around this one that the type does not look at.
    pub(super) ignored: Cell<u32>,
    /// The budget of patterns, and of values that are checked whole.
    budget: RefCell<WorkBudget>,
    /// Set if a declared key in its place says all there is to know of it.
    is_plain: bool,
    /// The place where the type rejects a value; there when the text was verified, so that nothing else can.
    trail: Option<&'a RejectedPath>,
}

/// The way to the value that the type itself rejected.
#[derive(Default)]
struct RejectedPath {
    /// The steps to it, innermost first; filled on the way back up.
    steps: RefCell<Vec<String>>,
    /// The node of the innermost value, once there is a step.
    node: Cell<Option<NodeId>>,
}

impl RejectedPath {
    /// Notes a step, on the way back from a value at this node.
    fn leave(&self, step: String, node: NodeId) {
        self.steps.borrow_mut().push(step);
        self.node.set(self.node.get().or(Some(node)));
    }

    fn pointer(&self) -> String {
        self.steps.borrow().iter().rev().map(String::as_str).collect()
    }
}

/// The purpose that a value is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be used by a tool, whose types say how exact a number has to be.
    Use,
    /// To decide about a call: no number may be read as another.
    Decide,
}

/// The treatment of an integer beyond 64 bits where a type takes a float for it, as a tree does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wide {
    /// The type is given the float, which is the same number or only needs to be near it.
    Float,
    /// The type is given the float, but not where the schema asks for an integer.
    NotAsInteger,
    /// It is rejected, unless the type ignores it.
    Rejected,
}

impl Purpose {
    /// Decides by the integers that a text holds.
    fn wide(self, text: &str) -> Wide {
        match self {
            _ if rounded_integer(text).is_none() => Wide::Float,
            Self::Use => Wide::NotAsInteger,
            Self::Decide => Wide::Rejected,
        }
    }
}

/// A value read from text, and the repairs it took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// The repairs, in order; empty unless repairs were allowed and needed.
    pub repairs: Vec<Repair>,
}

impl<'a> ReadContext<'a> {
    fn new(arena: &'a Arena, text: &str, limits: Limits, wide: Wide, trail: Option<&'a RejectedPath>) -> Self {
        Self {
            arena,
            limits,
            depth: limits.depth(),
            wide: Cell::new(wide),
            has_rejected: Cell::new(false),
            rejected_wide: Cell::new(false),
            ignored: Cell::new(0),
            budget: RefCell::new(WorkBudget::for_input(text.len())),
            is_plain: trail.is_none() && limits.duplicate_keys == DuplicateKeys::Refuse,
            trail,
        }
    }

    /// Reports whether a float stands for an integer that no float is, where that must not be.
    #[inline]
    fn rejects(&self, float: f64) -> bool {
        const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
        let rejects = self.wide.get() == Wide::Rejected && self.ignored.get() == 0 && float.abs() >= TWO_TO_THE_63;
        if rejects {
            self.rejected_wide.set(true);
        }
        rejects
    }

    /// Reports whether a float may be given to a type where the schema asks for an integer; the text is verified.
    fn takes_as_integer(&self) -> bool {
        let takes = self.wide.get() == Wide::Float || self.ignored.get() > 0;
        if !takes {
            self.rejected_wide.set(true);
        }
        takes
    }

    /// Reports whether the text was looked at with care, so that there is nothing left to check.
    fn is_verified(&self) -> bool {
        self.trail.is_some()
    }

    /// Reports whether the text of a value fits a node and can be given to its type as it is.
    #[inline(never)]
    fn fits_whole(&self, node: NodeId, text: &str, depth: usize, inside: Inside) -> bool {
        if self.is_verified() {
            // In here the type is not told where the schema asks for an integer.
            if self.wide.get() == Wide::NotAsInteger && rounded_integer(text).is_some() {
                self.wide.set(Wide::Rejected);
            }
            return true;
        }
        let mut budget = self.budget.borrow_mut();
        let options = ReadOptions { max_depth: self.depth.saturating_sub(depth) };
        let Ok(document) = Document::read(text, options, &mut budget) else { return false };
        !document.has_long_integer()
            && !document.has_fine_float()
            && walk::fits(self.arena, node, document.root(), &mut budget)
            && key_faults(&document, inside, &self.limits).is_empty()
            && rewrite::is_as_wanted(self.arena, node, &document, &mut budget)
    }
}

/// Reads argument text. Blank text stands for `{}`: that is what models send when a tool takes nothing. The value goes
/// straight to `take`, as every move of it shows in what a call costs.
///
/// Only what must know the types is generic: it is compiled again for every type there is, in the user's crate.
#[inline]
pub(super) fn from_text<T: DeserializeOwned, U>(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &str,
    options: &DecodeOptions,
    purpose: Purpose,
    take: impl FnOnce(T) -> U,
) -> Result<Decoded<U>, Issues> {
    let (mut take, mut taken) = (Some(take), None);
    let repairs = read_text(arena, custom, text, options, purpose, &mut |deserializer, reading| {
        let value = one_value(deserializer, reading)?;
        taken = take.take().map(|take| take(value));
        Ok(())
    })?;
    match taken {
        Some(value) => Ok(Decoded { value, repairs }),
        None => Err(undecodable(arena, &RejectedPath::default(), refusal())),
    }
}

/// Reads one value from text, as a type.
type ReadValue<'r> = dyn FnMut(&mut serde_json::Deserializer<StrRead<'_>>, &ReadContext<'_>) -> Result<(), Error> + 'r;

/// Reads argument text by `read`, and returns the repairs it took.
fn read_text(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &str,
    options: &DecodeOptions,
    purpose: Purpose,
    read: &mut ReadValue<'_>,
) -> Result<Vec<Repair>, Issues> {
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    if text.len() > options.limits.max_bytes {
        return Err(verify::too_long(text.len(), options.limits.max_bytes).into());
    }
    if custom.is_none() && options.limits.duplicate_keys == DuplicateKeys::Refuse {
        let wide = if purpose == Purpose::Use { Wide::Float } else { purpose.wide(text) };
        let reading = ReadContext::new(arena, text, options.limits, wide, None);
        if one_pass(&reading, text, read).is_ok() {
            return Ok(Vec::new());
        }
        if reading.budget.borrow().is_spent() {
            return Err(message::too_costly(text.len()).into());
        }
    }
    let Verified { text, repairs } = verify::verify(arena, custom, text, options)?;
    let trail = RejectedPath::default();
    let reading = ReadContext::new(arena, &text, options.limits, purpose.wide(&text), Some(&trail));
    match one_pass(&reading, &text, read) {
        Ok(()) => Ok(repairs),
        Err(error) if reading.rejected_wide.get() => Err(inexact(&trail, &text, error)),
        Err(error) => Err(undecodable(arena, &trail, error)),
    }
}

fn one_pass(reading: &ReadContext<'_>, text: &str, read: &mut ReadValue<'_>) -> Result<(), Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Depth is counted here, and may be set beyond what serde_json would take by itself.
    deserializer.disable_recursion_limit();
    read(&mut deserializer, reading)
}

/// Reads one value and nothing after it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "moves the value once less; measured")]
fn one_value<T: DeserializeOwned>(
    deserializer: &mut serde_json::Deserializer<StrRead<'_>>,
    reading: &ReadContext<'_>,
) -> Result<T, Error> {
    let value = T::deserialize(CheckedDeserializer { inner: &mut *deserializer, position: &ReadPosition::root(reading) })?;
    deserializer.end()?;
    // A type may pass over an error of a field, and hide what its schema forbids.
    if reading.has_rejected.get() { Err(refusal()) } else { Ok(value) }
}

/// Returns the issue for an integer that would have to be rounded to be read at all.
#[cold]
#[inline(never)]
fn inexact(trail: &RejectedPath, text: &str, error: Error) -> Issues {
    let integer = rounded_integer(text).unwrap_or_default();
    Issues::from(message::inexact(trail.pointer(), integer)).because(TypeError(error))
}

/// Returns the issue for text that fits its schema and that the type itself rejects. What the type says of it is for the
/// operator: it is user code, and may say anything.
#[cold]
#[inline(never)]
fn undecodable(arena: &Arena, trail: &RejectedPath, error: Error) -> Issues {
    let expected = described(arena, trail.node.get().unwrap_or(arena.root()));
    let message = if expected.is_empty() {
        "the tool does not accept this value; send another".to_owned()
    } else {
        format!("the tool does not accept this value; send another that is {expected}")
    };
    let expected = if expected.is_empty() { "a value the tool can take".to_owned() } else { expected };
    let issue = Issue::new(trail.pointer(), "decode", message).expected(expected);
    Issues::from(issue).because(TypeError(error))
}

/// Returns the values that a node accepts, in words, as far as these say more than that anything is.
fn described(arena: &Arena, id: NodeId) -> String {
    let types = types(arena, id);
    if types.is_empty() || types.contains(Types::ALL) {
        return String::new();
    }
    match arena.node(id) {
        Node::Typed(typed) if typed.types.allows(JsonType::String) => match typed.string.format() {
            Some(format) => format!("{} in the format {format}", types.describe()),
            None => types.describe(),
        },
        _ => types.describe(),
    }
}
