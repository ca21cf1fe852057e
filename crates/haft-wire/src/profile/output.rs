//! An answer format, rendered for a profile.

use haft_core::{Loss, OutputFormat, RenderFault, Rendered};
use haft_schema::{Codec, Schema};
use serde_json::Value;

use super::render::{NullReading, narrows};
use super::{ProfileDefinition, Strictness};
use crate::wire_error::RequestError;

/// An answer format, rendered for one wire.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderedOutput {
    /// The schema to send.
    pub schema: Value,
    /// The resolved mode.
    pub strict: bool,
    /// Converts the answer.
    pub codec: Codec,
    /// The schema parts that the wire can't express. They are still checked.
    pub losses: Vec<Loss>,
}

pub(super) fn render(profile: &ProfileDefinition, format: &OutputFormat) -> Result<RenderedOutput, RequestError> {
    let schema = Schema::json(format.schema.clone())
        .map_err(|error| invalid(format!("the schema is invalid: {error}; correct it")))?;
    let plain = || profile.plain.render(&schema).map(|rendered| RenderedOutput::new(rendered, false));
    let strict = |rendered| RenderedOutput::new(rendered, true);
    let rendered = match (&profile.strict, format.strict, profile.strictness) {
        (None, Some(true), _) => {
            let message = format!("{} has no strict mode; remove `strict` from the format", profile.name);
            return Err(invalid(message));
        }
        (None, _, _) | (Some(_), Some(false), _) | (Some(_), None, Strictness::Off) => plain(),
        (Some(dialect), Some(true), _) | (Some(dialect), None, Strictness::On) => dialect.render(&schema).map(strict),
        (Some(dialect), None, Strictness::Auto) => match dialect.render(&schema) {
            Ok(rendered) if !rendered.losses.iter().any(|loss| narrows(loss.kind, NullReading::Absent)) => {
                Ok(strict(rendered))
            }
            Ok(_) | Err(_) => plain(),
        },
    };
    rendered.map_err(|RenderFault { pointer, message, remedy, .. }| invalid(format!("{pointer}: {message}; {remedy}")))
}

fn invalid(message: String) -> RequestError {
    RequestError::Invalid { param: "output_format".to_owned(), message }
}

impl RenderedOutput {
    fn new(rendered: Rendered, strict: bool) -> Self {
        Self { schema: rendered.json, strict, codec: rendered.codec, losses: rendered.losses }
    }
}
