//! Decoding of argument text into a type, with checks during decoding.
//!
//! A single pass over the text (`deserializer`) rejects every value that is not certain to be valid. Only then is the
//! text verified as a whole ([`verify`]): that reports every problem, or returns valid text, which the same pass
//! decodes. A type is therefore compiled against one deserializer only, and a valid call costs one pass.

mod deserializer;
mod key;
mod map;
mod number;
mod position;
mod seq;
mod unit;
mod visitor;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use serde::de::DeserializeOwned;
use serde_json::Error;
use serde_json::de::StrRead;

use self::deserializer::{CheckedDeserializer, rejection};
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

/// The context of a decoding pass.
pub(super) struct ReadContext<'a> {
    pub(super) arena: &'a Arena,
    pub(super) limits: Limits,
    /// The deepest allowed nesting.
    pub(super) depth: usize,
    /// The treatment of integers beyond 64 bits that are read as floats.
    wide: Cell<Wide>,
    /// Set once anything was rejected, even if the type ignored the error.
    has_rejected: Cell<bool>,
    /// Set once such an integer was rejected.
    rejected_wide: Cell<bool>,
    /// The number of enclosing values that the type ignores.
    pub(super) ignored: Cell<u32>,
    /// The budget for patterns, and for values that are checked as a whole.
    budget: RefCell<WorkBudget>,
    /// Set if a declared key in declaration order needs no further check.
    is_plain: bool,
    /// The path to the value that the type rejects. Present only for verified text, where no other rejection is
    /// possible.
    path_to_rejected: Option<&'a RejectedPath>,
}

/// The path to the value that the type itself rejected.
#[derive(Default)]
struct RejectedPath {
    /// The steps to it, innermost first; filled while the call stack unwinds.
    steps: RefCell<Vec<String>>,
    /// The node of the innermost value, once there is a step.
    node: Cell<Option<NodeId>>,
}

impl RejectedPath {
    /// Records a step of the path, with the node of the value.
    fn leave(&self, step: String, node: NodeId) {
        self.steps.borrow_mut().push(step);
        self.node.set(self.node.get().or(Some(node)));
    }

    fn pointer(&self) -> String {
        self.steps.borrow().iter().rev().map(String::as_str).collect()
    }
}

/// The purpose of decoding a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Use by a tool, whose types determine how exact a number has to be.
    Use,
    /// A decision about a call: no number may be read as another.
    Decide,
}

/// The treatment of an integer beyond 64 bits where a type reads a float, as a tree does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wide {
    /// The type receives the float, which is the same number or only needs to be near it.
    Float,
    /// The type receives the float, unless the schema requires an integer.
    NotAsInteger,
    /// The integer is rejected, unless the type ignores it.
    Rejected,
}

impl Purpose {
    /// Chooses the treatment of wide integers by the integers in the text.
    fn wide(self, text: &str) -> Wide {
        match self {
            _ if rounded_integer(text).is_none() => Wide::Float,
            Self::Use => Wide::NotAsInteger,
            Self::Decide => Wide::Rejected,
        }
    }
}

/// A value decoded from text, and the repairs that were made.
#[derive(Clone, Debug)]
pub struct Decoded<T> {
    /// The decoded value.
    pub value: T,
    /// The repairs, in order; empty unless repairs were allowed and needed.
    pub repairs: Vec<Repair>,
}

impl<'a> ReadContext<'a> {
    fn new(
        arena: &'a Arena,
        text: &str,
        limits: Limits,
        wide: Wide,
        path_to_rejected: Option<&'a RejectedPath>,
    ) -> Self {
        Self {
            arena,
            limits,
            depth: limits.depth(),
            wide: Cell::new(wide),
            has_rejected: Cell::new(false),
            rejected_wide: Cell::new(false),
            ignored: Cell::new(0),
            budget: RefCell::new(WorkBudget::for_input(text.len())),
            is_plain: path_to_rejected.is_none() && limits.duplicate_keys == DuplicateKeys::Reject,
            path_to_rejected,
        }
    }

    /// Reports whether a float stands for an integer that no float represents, where that is not allowed.
    #[inline]
    fn rejects(&self, float: f64) -> bool {
        const TWO_TO_THE_63: f64 = 9_223_372_036_854_775_808.0;
        let rejects = self.wide.get() == Wide::Rejected && self.ignored.get() == 0 && float.abs() >= TWO_TO_THE_63;
        if rejects {
            self.rejected_wide.set(true);
        }
        rejects
    }

    /// Reports whether a type may receive a float where the schema requires an integer; the text is verified.
    fn takes_as_integer(&self) -> bool {
        let takes = self.wide.get() == Wide::Float || self.ignored.get() > 0;
        if !takes {
            self.rejected_wide.set(true);
        }
        takes
    }

    /// Reports whether the text is already verified, so that nothing is left to check.
    fn is_verified(&self) -> bool {
        self.path_to_rejected.is_some()
    }

    /// Reports whether the text of a value is valid for a node and can be passed to its type unchanged.
    #[inline(never)]
    fn fits_whole(&self, node: NodeId, text: &str, depth: usize, inside: Inside) -> bool {
        if self.is_verified() {
            // Inside this value the schema's integer positions are not tracked.
            if self.wide.get() == Wide::NotAsInteger && rounded_integer(text).is_some() {
                self.wide.set(Wide::Rejected);
            }
            return true;
        }
        let mut budget = self.budget.borrow_mut();
        let options = ReadOptions { max_depth: self.depth.saturating_sub(depth) };
        let Ok(document) = Document::read(text, options, &mut budget) else { return false };
        !document.has_long_integer()
            && !document.has_inexact_float()
            && walk::fits(self.arena, node, document.root(), &mut budget)
            && key_faults(&document, inside, &self.limits).is_empty()
            && rewrite::needs_no_rewrite(self.arena, node, &document, &mut budget)
    }
}

/// Decodes argument text. Blank text is read as `{}`: models send it when a tool has no parameters. The value goes
/// straight to `take`, as every move of it shows in the cost of a call.
///
/// Only the code that depends on the types is generic: it is compiled again for every type, in the user's crate.
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
    let repairs = read_text(arena, custom, text, options, purpose, &mut |deserializer, context| {
        let value = one_value(deserializer, context)?;
        taken = take.take().map(|take| take(value));
        Ok(())
    })?;
    match taken {
        Some(value) => Ok(Decoded { value, repairs }),
        None => Err(undecodable(arena, &RejectedPath::default(), rejection())),
    }
}

/// A function that reads one value from text, as a type.
type ReadValue<'r> = dyn FnMut(&mut serde_json::Deserializer<StrRead<'_>>, &ReadContext<'_>) -> Result<(), Error> + 'r;

/// Decodes argument text with `read`, and returns the repairs that were made.
fn read_text(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &str,
    options: &DecodeOptions,
    purpose: Purpose,
    read: &mut ReadValue<'_>,
) -> Result<Vec<Repair>, Issues> {
    let text = within_size(text, &options.limits)?;
    if custom.is_none() && options.limits.duplicate_keys == DuplicateKeys::Reject {
        let wide = if purpose == Purpose::Use { Wide::Float } else { purpose.wide(text) };
        let context = ReadContext::new(arena, text, options.limits, wide, None);
        if one_pass(&context, text, read).is_ok() {
            return Ok(Vec::new());
        }
        if context.budget.borrow().is_spent() {
            return Err(message::too_costly(text.len()).into());
        }
    }
    let Verified { text, repairs } = verify::verify(arena, custom, text, options)?;
    let rejected = match read_verified(arena, &text, options, purpose, read) {
        Ok(()) => return Ok(repairs),
        Err(issues) => issues,
    };
    // A type may take nothing but integers where its schema allows other numbers.
    match verify::with_all_integers(&text, &options.limits) {
        Some(text) => read_verified(arena, &text, options, purpose, read).map(|()| repairs).map_err(|_| rejected),
        None => Err(rejected),
    }
}

/// Decodes text that is valid.
#[cold]
#[inline(never)]
fn read_verified(
    arena: &Arena,
    text: &str,
    options: &DecodeOptions,
    purpose: Purpose,
    read: &mut ReadValue<'_>,
) -> Result<(), Issues> {
    let path_to_rejected = RejectedPath::default();
    let context = ReadContext::new(arena, text, options.limits, purpose.wide(text), Some(&path_to_rejected));
    one_pass(&context, text, read).map_err(|error| {
        if context.rejected_wide.get() {
            inexact(&path_to_rejected, text, error)
        } else {
            undecodable(arena, &path_to_rejected, error)
        }
    })
}

/// Checks argument text without reading it into a type, and returns it in the form that a type would receive.
pub(super) fn checked_text<'t>(
    arena: &Arena,
    custom: Option<&Validator>,
    text: &'t str,
    options: &DecodeOptions,
) -> Result<Decoded<Cow<'t, str>>, Issues> {
    let Verified { text, repairs } = verify::verify(arena, custom, within_size(text, &options.limits)?, options)?;
    Ok(Decoded { value: text, repairs })
}

/// Returns the text of the arguments, where blank text is `{}`, if it is not too long.
#[inline]
fn within_size<'t>(text: &'t str, limits: &Limits) -> Result<&'t str, Issues> {
    let text = if text.trim_ascii().is_empty() { "{}" } else { text };
    if text.len() <= limits.max_bytes { Ok(text) } else { Err(verify::too_long(text.len(), limits.max_bytes).into()) }
}

fn one_pass(context: &ReadContext<'_>, text: &str, read: &mut ReadValue<'_>) -> Result<(), Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // Depth is counted here, and its limit may exceed the recursion limit of `serde_json`.
    deserializer.disable_recursion_limit();
    read(&mut deserializer, context)
}

/// Reads one value and nothing after it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "saves one move of the value; measured")]
fn one_value<T: DeserializeOwned>(
    deserializer: &mut serde_json::Deserializer<StrRead<'_>>,
    context: &ReadContext<'_>,
) -> Result<T, Error> {
    let value =
        T::deserialize(CheckedDeserializer { inner: &mut *deserializer, position: &ReadPosition::root(context) })?;
    deserializer.end()?;
    // A type may ignore the error of a field, and hide that the schema forbids the value.
    if context.has_rejected.get() { Err(rejection()) } else { Ok(value) }
}

/// Returns the issue for an integer that would have to be rounded to be read at all.
#[cold]
#[inline(never)]
fn inexact(path_to_rejected: &RejectedPath, text: &str, error: Error) -> Issues {
    let integer = rounded_integer(text).unwrap_or_default();
    Issues::from(message::inexact(path_to_rejected.pointer(), integer)).because(TypeError(error))
}

/// Returns the issue for text that is valid for the schema and rejected by the type. The error text of the type is for
/// the operator: it comes from user code, and may contain anything.
#[cold]
#[inline(never)]
fn undecodable(arena: &Arena, path_to_rejected: &RejectedPath, error: Error) -> Issues {
    let expected = described(arena, path_to_rejected.node.get().unwrap_or(arena.root()));
    let message = if expected.is_empty() {
        "the tool does not accept this value; send another".to_owned()
    } else {
        format!("the tool does not accept this value; send another that is {expected}")
    };
    let expected = if expected.is_empty() { "a value that the tool accepts".to_owned() } else { expected };
    let issue = Issue::new(path_to_rejected.pointer(), "decode", message).expected(expected);
    Issues::from(issue).because(TypeError(error))
}

/// Returns a description of the values that a node accepts, or an empty string if it accepts anything.
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
