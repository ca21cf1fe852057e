//! From a type to JSON text, checked on the way out.
//!
//! The value is serialised once, straight into the text that travels on. A number that JSON has no form for (NaN,
//! infinity) is a problem, not `null`.

mod compound;
mod serializer;

use std::cell::{Cell, RefCell};

use serde::Serialize;
use serde::ser::{Error, Serializer};

use self::serializer::Checked;
use super::explain;
use super::node::{ANY, Arena, NodeId};
use super::number::Exactness;
use super::path::push_key;
use super::read;
use super::text;
use super::validation::Validator;
use crate::issue::{Issue, Issues};
use crate::json_text::JsonText;

/// Encodes a value: checked while it is written, or, where that can't be done or refuses, written and then checked.
pub(super) fn to_text<T: Serialize + ?Sized>(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &T,
) -> Result<JsonText, Issues> {
    let writing = Writing::new(arena);
    match writing.text(arena.root(), value) {
        Ok(text) => match custom {
            None => Ok(text),
            Some(custom) => custom.check(&text.to_value()).map(|()| text),
        },
        // Not only for refusals: variants with content are left to this way too.
        Err(_) => write_then_check(arena, custom, value),
    }
}

#[cold]
#[inline(never)]
fn write_then_check<T: Serialize + ?Sized>(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &T,
) -> Result<JsonText, Issues> {
    let unruled = Arena::any();
    let writing = Writing { names: Names::Kept, ..Writing::new(&unruled) };
    let text = writing.text(ANY, value).map_err(|error| {
        if !writing.not_finite.get() {
            return Issue::new("", "encode", format!("can't be encoded as JSON: {error}"));
        }
        let pointer: String = writing.trail.borrow().iter().rev().map(String::as_str).collect();
        let message = "is NaN or infinite, which JSON can't say; give a finite number or null";
        Issue::new(pointer, "finite", message).expected("a finite number")
    })?;
    let (tree, mut faults) = text::read_written(text.as_str());
    let Some(tree) = tree else {
        return Err(Issues::new(faults));
    };
    // What keys a result may have is for its schema to say, but none may stand twice.
    faults.retain(|fault| fault.keyword == "duplicateKey");
    if let Err(issues) = read::check(arena, custom, &tree, Exactness::Waived) {
        faults.extend(issues.into_vec());
    }
    if faults.is_empty() { Ok(text) } else { Err(Issues::new(faults)) }
}

/// What is written against.
pub(super) struct Writing<'a> {
    arena: &'a Arena,
    not_finite: Cell<bool>,
    /// Where the number that isn't finite stands, innermost piece first; filled on the way back up.
    trail: RefCell<Vec<String>>,
    names: Names,
}

/// Whether a map's keys are remembered while their values are written, where no rule asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Kept,
    Forgotten,
}

impl<'a> Writing<'a> {
    fn new(arena: &'a Arena) -> Self {
        Self { arena, not_finite: Cell::new(false), trail: RefCell::default(), names: Names::Forgotten }
    }

    fn text<T: Serialize + ?Sized>(&self, node: NodeId, value: &T) -> Result<JsonText, serde_json::Error> {
        JsonText::encode(&At { writing: self, node, value })
    }

    fn not_finite<E: Error>(&self) -> E {
        self.not_finite.set(true);
        E::custom("a number that is not finite")
    }

    #[inline]
    fn stepped<T, E>(&self, result: Result<T, E>, step: impl FnOnce() -> String) -> Result<T, E> {
        if result.is_err() && self.not_finite.get() {
            self.trail.borrow_mut().push(step());
        }
        result
    }
}

/// The step of a pointer to a key.
fn key_step(key: &str) -> String {
    let mut step = String::new();
    push_key(&mut step, key);
    step
}

/// A value at its node: what serde is given in place of the value alone.
struct At<'a, 'v, T: ?Sized> {
    writing: &'a Writing<'a>,
    node: NodeId,
    value: &'v T,
}

impl<T: Serialize + ?Sized> Serialize for At<'_, '_, T> {
    #[inline]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { writing, node, value } = *self;
        if !Arena::is_buffered(node) {
            return value.serialize(Checked { inner: serializer, writing, node });
        }
        self.buffer()?.serialize(serializer)
    }
}

impl<T: Serialize + ?Sized> At<'_, '_, T> {
    /// Writes the value by itself and checks it whole.
    #[cold]
    #[inline(never)]
    fn buffer<E: Error>(&self) -> Result<JsonText, E> {
        let text = self.writing.text(ANY, self.value).map_err(E::custom)?;
        let fits = explain::fits(self.writing.arena, self.node, &text.to_value(), Exactness::Waived);
        if fits { Ok(text) } else { Err(refusal()) }
    }
}

/// The error that ends a writing when a rule is broken. Its text is never shown.
#[cold]
fn refusal<E: Error>() -> E {
    E::custom("")
}
