//! Encoding of a typed value to JSON text, with checks during encoding.
//!
//! The value is serialized once, straight into the final text. A number that JSON cannot represent (NaN, infinity) is a
//! problem, not `null`, and so is nesting beyond the limit: each level takes stack here and in every reader of the
//! text. Checking and writing are one step (`serializer`, `compound`), so that what the schema knows of an object, such
//! as the escaped form of its keys, is not computed again.

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
use super::limit::{OUTPUT_DEPTH, STORED_DEPTH};
use super::node::{ANY, Arena, NEVER, NodeId};
use super::scan::nesting;
use super::tree::read_written;
use super::validation::Validator;
use super::verify;
use crate::issue::Issue;
use crate::json_text::JsonText;

/// A function that writes one value, checked against a node.
type WriteValue<'v> = dyn Fn(&mut Writing<'_>, NodeId) -> Result<(), Error> + 'v;

/// Encodes a value. It is checked while it is written or, if that is not possible or rejects it, written first and
/// checked afterwards.
///
/// Only the code that depends on the type is generic: it is compiled again for every type, in the user's crate.
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
        // Reached not only by rejections: variants with content are always checked this way.
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

/// Writes any value as JSON text. A number that JSON cannot represent is written as `null`, as `serde_json` does.
pub(super) fn write_unchecked<T: Serialize + ?Sized>(value: &T) -> Result<JsonText, Error> {
    let unchecked = Arena::any();
    let (text, budget) = (JsonBuffer::new(), WorkBudget::for_input(0));
    let mut writing = Writing {
        arena: &unchecked,
        failure: None,
        text,
        is_broken: false,
        is_verbatim: false,
        room: STORED_DEPTH,
        non_finite: NonFinite::IsNull,
        budget,
    };
    writing.value(ANY, value)?;
    if writing.is_broken { Err(writing.rejection()) } else { Ok(JsonText::written(writing.text.into_string())) }
}

#[cold]
#[inline(never)]
fn write_then_check(
    arena: &Arena,
    custom: Option<&Validator>,
    value: &WriteValue<'_>,
) -> Result<JsonText, Box<Rejected>> {
    let unchecked = Arena::any();
    let failure = WriteFailure::default();
    match write(&unchecked, Some(&failure), ANY, value) {
        Ok(text) => check(arena, custom, text.as_str()).map(|()| text),
        Err(error) => Err(Box::new(failure.rejected(error))),
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

/// Writes a value, checked against a node.
fn write(
    arena: &Arena,
    failure: Option<&WriteFailure>,
    node: NodeId,
    value: &WriteValue<'_>,
) -> Result<JsonText, Error> {
    let (text, budget) = (JsonBuffer::new(), WorkBudget::for_input(0));
    let mut writing = Writing {
        arena,
        failure,
        text,
        is_broken: false,
        is_verbatim: false,
        room: OUTPUT_DEPTH,
        non_finite: NonFinite::IsRejected,
        budget,
    };
    value(&mut writing, node)?;
    // A type may ignore an error; the text written until then is not valid JSON.
    if writing.is_broken { Err(writing.rejection()) } else { Ok(JsonText::written(writing.text.into_string())) }
}

/// The state of an encoding in progress: the text so far, and what it is checked against.
struct Writing<'a> {
    arena: &'a Arena,
    /// Present only if the caller needs the reason for a failure.
    failure: Option<&'a WriteFailure>,
    text: JsonBuffer,
    /// Set once something was rejected, after which the text must not be used.
    is_broken: bool,
    /// Set if the next string is already JSON, and no other value may follow.
    is_verbatim: bool,
    /// The number of further levels that arrays and objects may nest.
    room: usize,
    non_finite: NonFinite,
    /// The budget for patterns, and for values that are checked after they are written. It grows with their text.
    budget: WorkBudget,
}

/// The treatment of a number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NonFinite {
    IsRejected,
    IsNull,
}

/// The reason why a value cannot be written, and the path to it.
#[derive(Default)]
struct WriteFailure {
    reason: Cell<WriteFailureReason>,
    /// The steps to the value, innermost first; filled while the call stack unwinds.
    steps: RefCell<Vec<ResultStep>>,
}

/// The reason why a value cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WriteFailureReason {
    /// Its type reported an error.
    #[default]
    Type,
    NotFinite,
    TooDeep,
}

impl WriteFailure {
    fn rejected(self, error: Error) -> Rejected {
        let steps = || self.steps.take().into_iter().rev().collect();
        match self.reason.get() {
            WriteFailureReason::NotFinite => {
                let message = "is NaN or infinite, which JSON cannot represent; return a finite number or null";
                let issue = Issue::new("", "finite", message).expected("a finite number");
                Rejected::Unwritten { issue, steps: steps(), cause: None }
            }
            // The path would be as long as the nesting is deep.
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
    #[expect(clippy::inline_always, reason = "runs for every value; measured")]
    fn value<T: Serialize + ?Sized>(&mut self, node: NodeId, value: &T) -> Result<(), Error> {
        let (is_buffered, before) = (Arena::is_buffered(node), self.text.len());
        let known = if is_buffered { ANY } else { node };
        let written = value.serialize(CheckedSerializer { writing: &mut *self, node: known });
        if is_buffered || written.is_err() { self.finish_value(node, before, written) } else { written }
    }

    /// Checks a value after it was written, or records that writing failed.
    #[cold]
    #[inline(never)]
    fn finish_value(&mut self, node: NodeId, before: usize, written: Result<(), Error>) -> Result<(), Error> {
        if let Err(error) = written {
            // This includes an error of the type itself, which the value around it may ignore.
            self.is_broken = true;
            return Err(error);
        }
        let written = self.text.since(before);
        self.budget.extend(written.len());
        let fits = verify::fits_written(self.arena, node, written, &mut self.budget);
        if fits { Ok(()) } else { Err(self.rejection()) }
    }

    /// Returns the error that aborts an encoding when a rule is violated. Its text is never shown.
    #[cold]
    #[inline(never)]
    fn rejection(&mut self) -> Error {
        self.is_broken = true;
        Error::custom("")
    }

    /// Writes a string that violates its node: unchanged if it is JSON text already, otherwise rejected.
    #[cold]
    #[inline(never)]
    fn verbatim(&mut self, node: NodeId, text: &str) -> Result<(), Error> {
        if node == NEVER && std::mem::take(&mut self.is_verbatim) {
            self.text.push(text);
            return Ok(());
        }
        Err(self.rejection())
    }

    /// Writes or rejects a number that is not finite.
    #[cold]
    #[inline(never)]
    fn not_finite(&mut self) -> Result<(), Error> {
        if self.non_finite == NonFinite::IsNull {
            self.text.push("null");
            return Ok(());
        }
        Err(self.fail(WriteFailureReason::NotFinite, "a number that is not finite"))
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, reason: WriteFailureReason, error: &str) -> Error {
        self.is_broken = true;
        if let Some(failure) = self.failure {
            failure.reason.set(reason);
        }
        Error::custom(error)
    }

    /// Enters an array or object. Closing it must restore `room`.
    #[inline]
    fn enter(&mut self) -> Result<(), Error> {
        match self.room.checked_sub(1) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(self.fail(WriteFailureReason::TooDeep, "nests too deeply")),
        }
    }

    /// Records a step of the path to a value that cannot be written, inside a variant if one is named.
    #[cold]
    #[inline(never)]
    fn leave(&self, variant: Option<&'static str>, step: ResultStep) {
        if let Some(failure) = self.failure.filter(|failure| failure.reason.get() == WriteFailureReason::NotFinite) {
            let mut steps = failure.steps.borrow_mut();
            steps.push(step);
            steps.extend(variant.map(|variant| ResultStep::Named(variant.to_owned())));
        }
    }
}
