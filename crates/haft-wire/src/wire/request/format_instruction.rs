//! The instruction for an answer format that an API can't hold the model to.

use haft_core::OutputFormat;

use crate::profile::RenderedOutput;

/// Returns the instruction. It contains the word JSON, which some servers require in a request for it.
pub(crate) fn of(output: &RenderedOutput, format: &OutputFormat) -> String {
    let mut text = String::from("Answer with a single JSON value and nothing else: no other text, no code fence. ");
    if let Some(description) = &format.description {
        text.push_str(description.trim());
        text.push(' ');
    }
    text.push_str("It must be valid by this JSON Schema:\n");
    text.push_str(&output.schema.to_string());
    text
}
