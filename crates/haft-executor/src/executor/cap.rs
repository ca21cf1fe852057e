//! The output cap: a limit on the size of what the model reads of a call.
//!
//! The size is counted in the form that the model would read: a text in plain form, any other value as its JSON; of
//! content parts, text in plain form and every other part as its JSON, including its data; of a failure its message,
//! the issues and details that are sent beside it, and its content parts. The note about a truncation is added on top.
//! Metadata is not sent to the model and not counted. The default cap counts no media: they are kept whole.
//!
//! Only the outcome of running a tool is capped. The reason that a call was not run is reported in full: it is no
//! output, and the cap of a hidden tool must not be revealed.

use haft_core::internal::{SHOWN_ISSUES, Shown, model_text, quoted};
use haft_core::{ContentPart, FailureKind, Outcome, ResourceContents, TextPart, ToolFailure, ToolOutput};
use haft_schema::internal::CharBoundary;
use haft_schema::{Issue, Issues, JsonText};
use serde::Serialize;

use crate::tool::{CountedContent, OnOverflow, OutputCap};

/// The smallest cap for failures: the message that would replace one is about as long.
const MIN_FAILURE_CAP: usize = 200;

/// Applies a cap to the outcome of running a tool. Every call has one, so an outcome that fits costs a comparison of
/// lengths unless it has parts or issues.
#[inline]
pub(super) fn cap_outcome(outcome: Outcome, cap: OutputCap) -> Outcome {
    let most = cap.bytes.get();
    let fits = match &outcome {
        Outcome::Ok(output) => match output.shown() {
            // A text is never longer than its JSON, which need not be decoded when it fits.
            Shown::Value(value) => value.as_str().len() <= most,
            Shown::Content(_) => false,
        },
        Outcome::Failed(failure) => {
            let details = failure.details.as_ref().map_or(0, |details| details.as_str().len());
            let is_text = failure.issues.is_empty() && failure.content().is_empty();
            is_text && failure.message.len().saturating_add(details) <= most
        }
    };
    if fits { outcome } else { cap_measured(outcome, cap) }
}

#[inline(never)]
fn cap_measured(outcome: Outcome, cap: OutputCap) -> Outcome {
    match outcome {
        Outcome::Ok(output) => cap_output(output, cap),
        Outcome::Failed(mut failure) => {
            cap_failure(&mut failure, cap);
            Outcome::Failed(failure)
        }
    }
}

fn cap_output(output: ToolOutput, cap: OutputCap) -> Outcome {
    let most = cap.bytes.get();
    let size = match output.shown() {
        Shown::Content(parts) => parts.iter().map(|part| part_bytes(part, cap.counted)).sum(),
        Shown::Value(_) => model_text(&output).len(),
    };
    if size <= most {
        return output.into();
    }
    match cap.on_overflow {
        OnOverflow::Fail => {
            let message = format!(
                "the output of {size} bytes exceeds the limit of {most} bytes; \
                 request less, for example with a filter or a smaller page"
            );
            ToolFailure::new(FailureKind::OutputTooLarge, message).into()
        }
        OnOverflow::Truncate => {
            let parts = match output.shown() {
                Shown::Content(parts) => parts.to_vec(),
                Shown::Value(_) => vec![ContentPart::text(model_text(&output))],
            };
            output.for_model(shortened(parts, size, most, cap.counted)).into()
        }
    }
}

/// Returns the parts that fit, the beginning of texts that don't, and a note about what is missing.
fn shortened(parts: Vec<ContentPart>, size: usize, most: usize, counted: CountedContent) -> Vec<ContentPart> {
    let (all, mut room, mut omitted) = (parts.len(), most, 0);
    let mut kept = Vec::with_capacity(all + 1);
    for part in parts {
        let bytes = part_bytes(&part, counted);
        match part {
            part if bytes <= room => {
                room -= bytes;
                kept.push(part);
            }
            // Citations refer to positions in the text, so the beginning is kept without them.
            ContentPart::Text(TextPart { text, .. }) if text.floor_char_boundary_at(room) > 0 => {
                let beginning = &text[..text.floor_char_boundary_at(room)];
                room -= beginning.len();
                kept.push(ContentPart::text(beginning));
            }
            _ => omitted += 1,
        }
    }
    let here: usize = kept.iter().map(|part| part_bytes(part, counted)).sum();
    kept.push(ContentPart::text(match omitted {
        0 => format!("[truncated: the first {here} of {size} bytes are shown]"),
        _ => format!("[truncated: {here} of {size} bytes are shown; {omitted} of {all} parts are omitted]"),
    }));
    kept
}

fn cap_failure(failure: &mut ToolFailure, cap: OutputCap) {
    let most = cap.bytes.get().max(MIN_FAILURE_CAP);
    let reason = reason_bytes(failure);
    let content: usize = failure.content().iter().map(|part| part_bytes(part, cap.counted)).sum();
    let size = reason + content;
    match cap.on_overflow {
        _ if size <= most => {}
        OnOverflow::Fail => {
            failure.message = format!(
                "the call failed with {}, and the {size} bytes of its error message and details exceed the limit of \
                 {most} bytes",
                quoted(failure.kind.as_str())
            );
            failure.kind = FailureKind::OutputTooLarge;
            failure.issues = Issues::default();
            failure.details = None;
            failure.set_content(Vec::new());
        }
        OnOverflow::Truncate => {
            if reason > most {
                shorten(failure, most);
            }
            let room = most.saturating_sub(reason);
            if content > room {
                failure.set_content(shortened(failure.content().to_vec(), content, room, cap.counted));
            }
        }
    }
}

/// Keeps the beginning of the message, then the issues, then the details, as far as the cap allows.
fn shorten(failure: &mut ToolFailure, most: usize) {
    let (shown, details) = failure.beside_message();
    let (shown, details) = (shown.len().min(SHOWN_ISSUES), details.map(|details| details.as_str().len()));
    let length = failure.message.len();
    let kept = failure.message.floor_char_boundary_at(most);
    let mut room = most - kept;
    let mut issues = std::mem::take(&mut failure.issues).into_vec();
    let fitting = issues.iter().take(shown).take_while(|issue| take_bytes(&mut room, issue_bytes(issue))).count();
    // Issues that the message repeats are not sent beside it; beside a message that ends in a note they would be.
    if fitting < shown || shown == 0 {
        issues.truncate(fitting);
    }
    failure.issues = Issues::new(issues);
    let lacks_details = details.is_some_and(|bytes| !take_bytes(&mut room, bytes));
    if details.is_none() || lacks_details {
        failure.details = None;
    }
    failure.message.truncate(kept);
    let missing_issues = (fitting < shown).then(|| format!("{} of {shown} issues", shown - fitting));
    let missing_details = lacks_details.then(|| "the details".to_owned());
    let missing: Vec<_> = missing_issues.into_iter().chain(missing_details).collect();
    let cut = (kept < length).then(|| format!("the first {kept} of {length} bytes are shown"));
    let omitted = (!missing.is_empty()).then(|| format!("{} are omitted", missing.join(" and ")));
    let note: Vec<_> = cut.into_iter().chain(omitted).collect();
    failure.message.push_str(&format!(" [truncated: {}]", note.join("; ")));
}

/// Takes this many bytes from the room. Returns false, and takes nothing, if there are not enough.
fn take_bytes(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

fn reason_bytes(failure: &ToolFailure) -> usize {
    let (issues, details) = failure.beside_message();
    let issues: usize = issues.iter().take(SHOWN_ISSUES).map(issue_bytes).sum();
    failure.message.len() + issues + details.map_or(0, |details| details.as_str().len())
}

fn part_bytes(part: &ContentPart, counted: CountedContent) -> usize {
    match part {
        part if counted == CountedContent::Text && is_binary(part) => 0,
        ContentPart::Text(TextPart { text, citations, provider_data })
            if citations.is_empty() && provider_data.is_empty() =>
        {
            text.len()
        }
        part => encoded_bytes(part),
    }
}

/// Reports whether a part holds data that no model reads as text.
fn is_binary(part: &ContentPart) -> bool {
    match part {
        ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::File(_) => true,
        ContentPart::Resource(resource) => matches!(resource.contents, ResourceContents::Blob(_)),
        ContentPart::Text(_) | ContentPart::Refusal(_) | ContentPart::ResourceLink(_) | ContentPart::Unknown(_) => {
            false
        }
    }
}

fn issue_bytes(issue: &Issue) -> usize {
    encoded_bytes(issue)
}

/// Returns the size of the JSON. Encoding parts and issues can't fail, so the zero is never used.
fn encoded_bytes<T: Serialize>(value: &T) -> usize {
    JsonText::encode(value).map_or(0, |text| text.as_str().len())
}
