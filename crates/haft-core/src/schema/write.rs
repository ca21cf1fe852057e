//! From a type to JSON text, checked on the way out.
//!
//! The value is serialised once, straight into the text that travels on. A number that JSON has no form for (NaN,
//! infinity) is a problem, not `null`. Checking and writing are one step (`serializer`, `compound`): what the schema
//! knows of an object, such as how its keys are spelled in JSON, need not be found out again.

mod compound;
mod key;
mod serializer;
mod text;

use std::cell::{Cell, RefCell};

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::Error;

use self::serializer::Checked;
use self::text::Text;
use super::explain;
use super::node::{ANY, Arena, NodeId};
use super::number::Exactness;
use super::path::{push_index, push_key};
use super::read;
use super::text::read_written;
use super::validation::Validator;
use crate::issue::{Issue, Issues};
use crate::json_text::JsonText;

/// Encodes a value: checked while it is written, or, where that can't be done or refuses, written and then checked.
pub(super) fn to_text<T: Serialize + ?Sized>(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &T,
) -> Result<JsonText, Issues> {
    match write(arena, None, arena.root(), value) {
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
    let text = write(&unruled, Some(&trail), ANY, value).map_err(|error| {
        if !trail.begins.get() {
            return Issue::new("", "encode", format!("can't be encoded as JSON: {error}"));
        }
        let pointer: String = trail.steps.borrow().iter().rev().map(String::as_str).collect();
        let message = "is NaN or infinite, which JSON can't say; give a finite number or null";
        Issue::new(pointer, "finite", message).expected("a finite number")
    })?;
    let (tree, mut faults) = read_written(text.as_str());
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

/// Writes a value, held to what a node says of it.
#[inline]
fn write<T: Serialize + ?Sized>(
    arena: &Arena,
    trail: Option<&Trail>,
    node: NodeId,
    value: &T,
) -> Result<JsonText, Error> {
    let mut writing = Writing { arena, trail, text: Text::new(), is_broken: false };
    writing.value(node, value)?;
    // A type may pass over an error; what was written by then is not JSON.
    if writing.is_broken { Err(writing.refusal()) } else { Ok(JsonText::written(writing.text.into_string())) }
}

/// Text that is being written, and what it is held to.
struct Writing<'a> {
    arena: &'a Arena,
    /// Kept only when somebody asks.
    trail: Option<&'a Trail>,
    text: Text,
    /// Whether something was refused: the text is good for nothing then.
    is_broken: bool,
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
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value there is; measured")]
    fn value<T: Serialize + ?Sized>(&mut self, node: NodeId, value: &T) -> Result<(), Error> {
        let written = if Arena::is_buffered(node) {
            self.whole(node, value)
        } else {
            value.serialize(Checked { writing: &mut *self, node })
        };
        // Also an error of the type's own, which whoever holds the value may pass over.
        self.is_broken |= written.is_err();
        written
    }

    /// Writes a value and then checks it whole.
    #[cold]
    #[inline(never)]
    fn whole<T: Serialize + ?Sized>(&mut self, node: NodeId, value: &T) -> Result<(), Error> {
        let before = self.text.len();
        value.serialize(Checked { writing: self, node: ANY })?;
        let tree = read_written(self.text.since(before)).0;
        let fits = tree.is_some_and(|tree| explain::fits(self.arena, node, &tree, Exactness::Waived));
        if fits { Ok(()) } else { Err(self.refusal()) }
    }

    /// The error that ends a writing when a rule is broken. Its text is never shown.
    #[cold]
    #[inline(never)]
    fn refusal(&mut self) -> Error {
        self.is_broken = true;
        Error::custom("")
    }

    #[cold]
    #[inline(never)]
    fn not_finite(&mut self) -> Error {
        self.is_broken = true;
        if let Some(trail) = self.trail {
            trail.begins.set(true);
        }
        Error::custom("a number that is not finite")
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
