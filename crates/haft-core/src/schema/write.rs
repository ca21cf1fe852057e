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
use super::path::{push_index, push_key};
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
    let writing = Writing { arena, trail: None };
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
    let trail = Trail::default();
    let writing = Writing { arena: &unruled, trail: Some(&trail) };
    let text = writing.text(ANY, value).map_err(|error| {
        if !trail.begins.get() {
            return Issue::new("", "encode", format!("can't be encoded as JSON: {error}"));
        }
        let pointer: String = trail.steps.borrow().iter().rev().map(String::as_str).collect();
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
    /// Kept only when somebody asks.
    trail: Option<&'a Trail>,
}

/// Where the number that isn't finite stands.
#[derive(Default)]
struct Trail {
    /// Whether there is one.
    begins: Cell<bool>,
    /// The steps to it, innermost first; filled on the way back up.
    steps: RefCell<Vec<String>>,
}

impl Writing<'_> {
    fn text<T: Serialize + ?Sized>(&self, node: NodeId, value: &T) -> Result<JsonText, serde_json::Error> {
        JsonText::encode(&At { writing: self, node, value })
    }

    #[cold]
    #[inline(never)]
    fn not_finite<E: Error>(&self) -> E {
        if let Some(trail) = self.trail {
            trail.begins.set(true);
        }
        E::custom("a number that is not finite")
    }

    /// Writes a value by itself and checks it whole.
    #[cold]
    #[inline(never)]
    fn buffer<T: Serialize + ?Sized, E: Error>(&self, node: NodeId, value: &T) -> Result<JsonText, E> {
        let text = self.text(ANY, value).map_err(E::custom)?;
        let fits = explain::fits(self.arena, node, &text.to_value(), Exactness::Waived);
        if fits { Ok(text) } else { Err(refusal()) }
    }

    /// Notes the way back from a number that isn't finite: it stands under `key`, in a variant if one is named.
    #[cold]
    #[inline(never)]
    fn leave_key(&self, variant: Option<&str>, key: &str) {
        self.leave(variant, |step| push_key(step, key));
    }

    /// The same for an element.
    #[cold]
    #[inline(never)]
    fn leave_element(&self, variant: Option<&str>, index: usize) {
        self.leave(variant, |step| push_index(step, index));
    }

    fn leave(&self, variant: Option<&str>, push: impl FnOnce(&mut String)) {
        if let Some(trail) = self.trail.filter(|trail| trail.begins.get()) {
            let mut step = String::new();
            if let Some(variant) = variant {
                push_key(&mut step, variant);
            }
            push(&mut step);
            trail.steps.borrow_mut().push(step);
        }
    }
}

/// A value at its node: what serde is given in place of the value alone.
struct At<'a, 'v, T: ?Sized> {
    writing: &'a Writing<'a>,
    node: NodeId,
    value: &'v T,
}

impl<T: Serialize + ?Sized> Serialize for At<'_, '_, T> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value there is; measured")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { writing, node, value } = *self;
        if !Arena::is_buffered(node) {
            return value.serialize(Checked { inner: serializer, writing, node });
        }
        writing.buffer(node, value)?.serialize(serializer)
    }
}

/// The error that ends a writing when a rule is broken. Its text is never shown.
#[cold]
#[inline(never)]
fn refusal<E: Error>() -> E {
    E::custom("")
}
