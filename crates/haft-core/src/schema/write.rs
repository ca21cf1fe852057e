//! From a type to JSON text, checked on the way out.
//!
//! The value is serialised once, straight into the text that travels on. A number that JSON has no form for (NaN,
//! infinity) is a problem, not `null`, and so is nesting beyond what every reader takes: each level takes stack here and
//! in whoever reads the text. Checking and writing are one step (`serializer`, `compound`): what the schema knows of an
//! object, such as how its keys are spelled in JSON, need not be found out again.

mod compound;
mod key;
mod serializer;
mod text;

use std::cell::{Cell, RefCell};

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::Error;

use self::serializer::CheckedSerializer;
use self::text::JsonBuffer;
use super::budget::WorkBudget;
use super::disclosure::{Rejected, ResultStep};
use super::limit::{HELD_DEPTH, OUTPUT_DEPTH};
use super::node::{ANY, Arena, NEVER, NodeId};
use super::scan::nesting;
use super::tree::read_written;
use super::validation::Validator;
use super::verify;
use crate::issue::Issue;
use crate::json_text::JsonText;

/// Writes one value, held to what a node says of it.
type WriteValue<'v> = dyn Fn(&mut Writing<'_>, NodeId) -> Result<(), Error> + 'v;

/// Encodes a value: checked while it is written, or, where that can't be done or refuses, written and then checked.
///
/// Only what must know the type is generic: it is compiled again for every type there is, in the user's crate.
#[inline]
pub(super) fn to_text<T: Serialize + ?Sized>(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &T,
) -> Result<JsonText, Box<Rejected>> {
    encode(arena, custom, &|writing, node| writing.value(node, value))
}

fn encode(arena: &Arena, custom: Option<&Validator>, value: &WriteValue<'_>) -> Result<JsonText, Box<Rejected>> {
    match write(arena, None, arena.root(), value) {
        Ok(text) => match custom {
            None => Ok(text),
            Some(custom) => match custom.check(&text.to_value()) {
                Ok(()) => Ok(text),
                Err(issues) => Err(Box::new(Rejected::Check(issues))),
            },
        },
        // Not only for refusals: variants with content are left to this way too.
        Err(_) => write_then_check(arena, custom, value),
    }
}

/// Checks text that was written elsewhere.
pub(super) fn check_text(arena: &Arena, custom: Option<&Validator>, text: &str) -> Result<(), Box<Rejected>> {
    if nesting(text) > OUTPUT_DEPTH {
        let (issue, steps) = (too_deep(), Vec::new());
        return Err(Box::new(Rejected::Unwritten { issue, steps, cause: None }));
    }
    check(arena, custom, text)
}

/// Writes any value as JSON text. What JSON can't say of a number is `null`, as `serde_json` has it.
pub(super) fn freely<T: Serialize + ?Sized>(value: &T) -> Result<JsonText, Error> {
    let unruled = Arena::any();
    let (text, budget) = (JsonBuffer::new(), WorkBudget::for_input(0));
    let mut writing = Writing {
        arena: &unruled,
        trail: None,
        text,
        is_broken: false,
        is_verbatim: false,
        room: HELD_DEPTH,
        odd: NonFinite::IsNull,
        budget,
    };
    writing.value(ANY, value)?;
    if writing.is_broken { Err(writing.refusal()) } else { Ok(JsonText::written(writing.text.into_string())) }
}

#[cold]
#[inline(never)]
fn write_then_check(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &WriteValue<'_>,
) -> Result<JsonText, Box<Rejected>> {
    let unruled = Arena::any();
    let trail = WriteFailure::default();
    match write(&unruled, Some(&trail), ANY, value) {
        Ok(text) => check(arena, custom, text.as_str()).map(|()| text),
        Err(error) => Err(Box::new(trail.rejected(error))),
    }
}

/// Checks a value that was written.
fn check(arena: &Arena, custom: Option<&Validator>, text: &str) -> Result<(), Box<Rejected>> {
    let value = || read_written(text).unwrap_or_default();
    let issues = verify::problems_of_written(arena, text);
    if !issues.is_empty() {
        return Err(Box::new(Rejected::Rules { issues, value: value() }));
    }
    custom.map_or(Ok(()), |custom| custom.check(&value())).map_err(|issues| Box::new(Rejected::Check(issues)))
}

fn too_deep() -> Issue {
    let message = format!("nests deeper than the {OUTPUT_DEPTH} levels that a result may have");
    Issue::new("", "maxDepth", message).expected(format!("at most {OUTPUT_DEPTH} levels"))
}

/// Writes a value, held to what a node says of it.
fn write(arena: &Arena, trail: Option<&WriteFailure>, node: NodeId, value: &WriteValue<'_>) -> Result<JsonText, Error> {
    let (text, budget) = (JsonBuffer::new(), WorkBudget::for_input(0));
    let mut writing = Writing {
        arena,
        trail,
        text,
        is_broken: false,
        is_verbatim: false,
        room: OUTPUT_DEPTH,
        odd: NonFinite::IsRejected,
        budget,
    };
    value(&mut writing, node)?;
    // A type may pass over an error; what was written by then is not JSON.
    if writing.is_broken { Err(writing.refusal()) } else { Ok(JsonText::written(writing.text.into_string())) }
}

/// Text that is being written, and what it is held to.
struct Writing<'a> {
    arena: &'a Arena,
    /// Kept only when somebody asks.
    trail: Option<&'a WriteFailure>,
    text: JsonBuffer,
    /// Whether something was refused: the text is good for nothing then.
    is_broken: bool,
    /// Set if the next string is JSON already, and the only value that may come.
    is_verbatim: bool,
    /// The number of arrays and objects that may still be opened inside of each other.
    room: usize,
    odd: NonFinite,
    /// The budget of patterns, and of values that are checked whole. It grows with their text.
    budget: WorkBudget,
}

/// The treatment of a number that isn't finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NonFinite {
    IsRejected,
    IsNull,
}

/// The reason why a value can't be written, and its place.
#[derive(Default)]
struct WriteFailure {
    begin: Cell<WriteFailureReason>,
    /// The steps to the place, innermost first; filled on the way back up.
    steps: RefCell<Vec<ResultStep>>,
}

/// The reason why a value can't be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WriteFailureReason {
    /// Its type says so.
    #[default]
    Type,
    NotFinite,
    TooDeep,
}

impl WriteFailure {
    fn rejected(self, error: Error) -> Rejected {
        let steps = || self.steps.take().into_iter().rev().collect();
        match self.begin.get() {
            WriteFailureReason::NotFinite => {
                let message = "is NaN or infinite, which JSON can't say; give a finite number or null";
                let issue = Issue::new("", "finite", message).expected("a finite number");
                Rejected::Unwritten { issue, steps: steps(), cause: None }
            }
            // The way down is as long as it is deep.
            WriteFailureReason::TooDeep => Rejected::Unwritten { issue: too_deep(), steps: Vec::new(), cause: None },
            WriteFailureReason::Type => {
                let issue = Issue::new("", "encode", "the tool's own type could not be written as JSON");
                Rejected::Unwritten { issue, steps: Vec::new(), cause: Some(error) }
            }
        }
    }
}

impl Writing<'_> {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "runs for every value there is; measured")]
    fn value<T: Serialize + ?Sized>(&mut self, node: NodeId, value: &T) -> Result<(), Error> {
        let (is_buffered, before) = (Arena::is_buffered(node), self.text.len());
        let known = if is_buffered { ANY } else { node };
        let written = value.serialize(CheckedSerializer { writing: &mut *self, node: known });
        if is_buffered || written.is_err() { self.finish_value(node, before, written) } else { written }
    }

    /// Checks a value whole that was written from here on, or notes that it could not be.
    #[cold]
    #[inline(never)]
    fn finish_value(&mut self, node: NodeId, before: usize, written: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = written {
            // Also an error of the type's own, which whoever holds the value may pass over.
            self.is_broken = true;
            return Err(error);
        }
        let written = self.text.since(before);
        self.budget.extend(written.len());
        let fits = verify::fits_written(self.arena, node, written, &mut self.budget);
        if fits { Ok(()) } else { Err(self.refusal()) }
    }

    /// The error that ends a writing when a rule is broken. Its text is never shown.
    #[cold]
    #[inline(never)]
    fn refusal(&mut self) -> Error {
        self.is_broken = true;
        Error::custom("")
    }

    /// Writes a string that does not fit its node: as it is where it is JSON text, else not at all.
    #[cold]
    #[inline(never)]
    fn verbatim(&mut self, node: NodeId, text: &str) -> Result<(), Error> {
        if node == NEVER && std::mem::take(&mut self.is_verbatim) {
            self.text.push(text);
            return Ok(());
        }
        Err(self.refusal())
    }

    /// A number that isn't finite.
    #[cold]
    #[inline(never)]
    fn not_finite(&mut self) -> Result<(), Error> {
        if self.odd == NonFinite::IsNull {
            self.text.push("null");
            return Ok(());
        }
        Err(self.begin(WriteFailureReason::NotFinite, "a number that is not finite"))
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, begin: WriteFailureReason, error: &str) -> Error {
        self.is_broken = true;
        if let Some(trail) = self.trail {
            trail.begin.set(begin);
        }
        Error::custom(error)
    }

    /// Makes room for an array or object. Whoever closes it gives the room back.
    #[inline]
    fn enter(&mut self) -> Result<(), Error> {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(self.begin(WriteFailureReason::TooDeep, "nests too deep")),
        }
    }

    /// Notes the way back from where something can't be written: a step, in a variant if one is named.
    #[cold]
    #[inline(never)]
    fn leave(&self, variant: Option<&'static str>, step: ResultStep) {
        if let Some(trail) = self.trail.filter(|trail| trail.begin.get() == WriteFailureReason::NotFinite) {
            let mut steps = trail.steps.borrow_mut();
            steps.push(step);
            steps.extend(variant.map(|variant| ResultStep::Named(variant.to_owned())));
        }
    }
}
