//! How large an answer may be.
//!
//! What counts is what the model would read: a text as it is, any other value as its JSON; of parts, text as it is and
//! everything else as its JSON, so with its data; of a failure its message, and the issues and details that are shown
//! beside it. What is noted about a cut comes on top.
//!
//! Only what came of running a tool is held to a cap. Why a call was not run is said whole: it is no output, and of a tool
//! that is hidden not even the cap may show.

use serde::Serialize;

use crate::content::{ContentPart, TextPart};
use crate::failure::{SHOWN_ISSUES, ToolFailure};
use crate::failure_kind::FailureKind;
use crate::issue::{CharBoundary, Issue, Issues};
use crate::json_text::JsonText;
use crate::output::ToolOutput;
use crate::result::{Outcome, model_text, quoted};
use crate::tool::{OnOverflow, OutputCap};

/// No failure is held to less: the sentence that would take its place is as long.
const LEAST_REASON: usize = 200;

/// The tighter of two caps.
pub(super) fn tighter(one: Option<OutputCap>, other: Option<OutputCap>) -> Option<OutputCap> {
    [one, other].into_iter().flatten().min_by_key(|cap| cap.bytes)
}

/// What came of running a tool, held to a cap.
pub(super) fn hold(outcome: Outcome, cap: OutputCap) -> Outcome {
    let most = cap.bytes.get();
    match outcome {
        Outcome::Ok(output) => hold_output(output, most, cap.on_overflow),
        Outcome::Failed(mut failure) => {
            hold_failure(&mut failure, most.max(LEAST_REASON), cap.on_overflow);
            Outcome::Failed(failure)
        }
    }
}

fn hold_output(mut output: ToolOutput, most: usize, rule: OnOverflow) -> Outcome {
    let size = match &output.model {
        Some(parts) => parts.iter().map(part_bytes).sum(),
        // A text is never longer than its JSON, which need not be read when it fits.
        None if output.value.as_str().len() <= most => 0,
        None => model_text(&output).len(),
    };
    if size <= most {
        return output.into();
    }
    match rule {
        OnOverflow::Fail => {
            let message = format!(
                "the output of {size} bytes is larger than the {most} bytes allowed; \
                 ask for less, for example with a filter or a smaller page"
            );
            ToolFailure::new(FailureKind::OutputTooLarge, message).into()
        }
        OnOverflow::Truncate => {
            let parts = output.model.take().unwrap_or_else(|| vec![ContentPart::text(model_text(&output))]);
            output.for_model(shortened(parts, size, most)).into()
        }
    }
}

/// The parts that fit, and of the first text that doesn't its beginning; then a note of what is missing.
fn shortened(parts: Vec<ContentPart>, size: usize, most: usize) -> Vec<ContentPart> {
    let (all, mut room, mut left_out) = (parts.len(), most, 0);
    let mut kept = Vec::with_capacity(all + 1);
    for part in parts {
        let bytes = part_bytes(&part);
        match part {
            part if bytes <= room => {
                room -= bytes;
                kept.push(part);
            }
            // What a text cites, it cites by place: the beginning stands alone.
            ContentPart::Text(TextPart { text, .. }) if text.floor_char_boundary_at(room) > 0 => {
                let beginning = &text[..text.floor_char_boundary_at(room)];
                room -= beginning.len();
                kept.push(ContentPart::text(beginning));
            }
            _ => left_out += 1,
        }
    }
    let here: usize = kept.iter().map(part_bytes).sum();
    kept.push(ContentPart::text(match left_out {
        0 => format!("[cut off: these are the first {here} of {size} bytes]"),
        _ => format!("[cut off: these are {here} of {size} bytes; left out: {left_out} of {all} parts]"),
    }));
    kept
}

fn hold_failure(failure: &mut ToolFailure, most: usize, rule: OnOverflow) {
    let size = reason_bytes(failure);
    match rule {
        _ if size <= most => {}
        OnOverflow::Fail => {
            failure.message = format!(
                "the call failed with {}, and the {size} bytes it gives as the reason are more than the {most} bytes \
                 allowed",
                quoted(failure.kind.as_str())
            );
            failure.kind = FailureKind::OutputTooLarge;
            failure.issues = Issues::default();
            failure.details = None;
        }
        OnOverflow::Truncate => shorten(failure, most),
    }
}

/// Keeps the beginning of the message, then the issues, then the details, as far as there is room.
fn shorten(failure: &mut ToolFailure, most: usize) {
    let (shown, details) = failure.beside_message();
    let (shown, details) = (shown.len().min(SHOWN_ISSUES), details.map(|details| details.as_str().len()));
    let length = failure.message.len();
    let kept = failure.message.floor_char_boundary_at(most);
    let mut room = most - kept;
    let mut issues = std::mem::take(&mut failure.issues).into_vec();
    let fitting = issues.iter().take(shown).take_while(|issue| takes(&mut room, issue_bytes(issue))).count();
    // Issues that the message spells out are not shown; beside a message that ends in a note they would be.
    if fitting < shown || shown == 0 {
        issues.truncate(fitting);
    }
    failure.issues = Issues::new(issues);
    let lacks_details = details.is_some_and(|bytes| !takes(&mut room, bytes));
    if details.is_none() || lacks_details {
        failure.details = None;
    }
    failure.message.truncate(kept);
    let missing_issues = (fitting < shown).then(|| format!("{} of {shown} issues", shown - fitting));
    let missing_details = lacks_details.then(|| "the details".to_owned());
    let missing: Vec<_> = missing_issues.into_iter().chain(missing_details).collect();
    let cut = (kept < length).then(|| format!("these are the first {kept} of {length} bytes"));
    let left_out = (!missing.is_empty()).then(|| format!("left out: {}", missing.join(" and ")));
    let note: Vec<_> = cut.into_iter().chain(left_out).collect();
    failure.message.push_str(&format!(" [cut off: {}]", note.join("; ")));
}

/// Whether there is room for so many bytes, which are then taken.
fn takes(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

fn reason_bytes(failure: &ToolFailure) -> usize {
    let (issues, details) = failure.beside_message();
    let issues: usize = issues.iter().take(SHOWN_ISSUES).map(issue_bytes).sum();
    failure.message.len() + issues + details.map_or(0, |details| details.as_str().len())
}

fn part_bytes(part: &ContentPart) -> usize {
    match part {
        ContentPart::Text(TextPart { text, citations, provider_data })
            if citations.is_empty() && provider_data.is_empty() =>
        {
            text.len()
        }
        part => encoded_bytes(part),
    }
}

fn issue_bytes(issue: &Issue) -> usize {
    encoded_bytes(issue)
}

/// Parts and issues can't fail to encode; the zero is there for the type.
fn encoded_bytes<T: Serialize>(value: &T) -> usize {
    JsonText::encode(value).map_or(0, |text| text.as_str().len())
}
