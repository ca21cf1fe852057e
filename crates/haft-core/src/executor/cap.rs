//! How large an output may be.

use crate::content::ContentPart;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::issue::CharBoundary;
use crate::json_text::JsonText;
use crate::output::ToolOutput;
use crate::result::{Outcome, model_text};
use crate::tool::{OnOverflow, OutputCap};

/// The tighter of two caps.
pub(super) fn tighter(one: Option<OutputCap>, other: Option<OutputCap>) -> Option<OutputCap> {
    [one, other].into_iter().flatten().min_by_key(|cap| cap.bytes)
}

/// The outcome, held to a cap.
pub(super) fn hold(outcome: Outcome, cap: OutputCap) -> Outcome {
    match outcome {
        Outcome::Ok(output) if !fits(&output, cap.bytes.get()) => overflow(output, cap),
        held => held,
    }
}

/// What counts is what the model would read: parts of the output's own, a bare text, or JSON.
fn fits(output: &ToolOutput, most: usize) -> bool {
    match &output.model {
        Some(parts) => JsonText::encode(parts).is_ok_and(|text| text.as_str().len() <= most),
        None => output.value.as_str().len() <= most || model_text(output).len() <= most,
    }
}

fn overflow(output: ToolOutput, cap: OutputCap) -> Outcome {
    let (text, most) = (model_text(&output), cap.bytes.get());
    match cap.on_overflow {
        OnOverflow::Fail => {
            let message = format!(
                "the output of {} bytes is larger than the {most} bytes allowed; \
                 ask for less, for example with a filter or a smaller page",
                text.len()
            );
            ToolFailure::new(FailureKind::OutputTooLarge, message).into()
        }
        OnOverflow::Truncate => {
            let kept = &text[..text.floor_char_boundary_at(most)];
            let note = format!("[cut off: these are the first {} of {} bytes]", kept.len(), text.len());
            let parts = vec![ContentPart::text(kept), ContentPart::text(note)];
            output.for_model(parts).into()
        }
    }
}
