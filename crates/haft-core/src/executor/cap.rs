//! How large an output may be.

use crate::content::ContentPart;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::issue::CharBoundary;
use crate::json_text::JsonText;
use crate::output::ToolOutput;
use crate::result::{Outcome, model_text};
use crate::tool::{ExecutionLimits, OnOverflow, OutputCap, Tool};

/// The outcome, held to the tighter of the tool's cap and the run's.
pub(super) fn capped(outcome: Outcome, tool: &Tool, run: Option<&ExecutionLimits>) -> Outcome {
    let caps = [tool.limits().output_cap, run.and_then(|limits| limits.output_cap)];
    let Some(cap) = caps.into_iter().flatten().min_by_key(|cap| cap.bytes) else { return outcome };
    match outcome {
        Outcome::Ok(output) => hold(output, cap),
        failed @ Outcome::Failed(_) => failed,
    }
}

/// What counts is what the model would read.
fn hold(output: ToolOutput, cap: OutputCap) -> Outcome {
    let size = match &output.model {
        None => output.value.as_str().len(),
        Some(parts) => JsonText::encode(parts).map_or(usize::MAX, |text| text.as_str().len()),
    };
    let most = cap.bytes.get();
    if size <= most {
        return output.into();
    }
    match cap.on_overflow {
        OnOverflow::Fail => {
            let message = format!(
                "the tool ran, but its output of {size} bytes is larger than the {most} bytes allowed; \
                 ask for less, for example with a filter or a smaller page"
            );
            ToolFailure::new(FailureKind::OutputTooLarge, message).into()
        }
        OnOverflow::Truncate => {
            let text = model_text(&output);
            let kept = &text[..text.floor_char_boundary_at(most)];
            let note = format!("[cut off: these are the first {} of {} bytes]", kept.len(), text.len());
            let parts = vec![ContentPart::text(kept), ContentPart::text(note)];
            output.for_model(parts).into()
        }
    }
}
