//! A response, or a stream's chunk, which looks the same. It is read without copies.

mod part;

use haft_core::Turn;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) use self::part::{PartialArg, ReadFunctionCall, ReadPart};
use super::turn::GeminiTurn;
use crate::wire::ReadContext;
use crate::wire::response::text::Text;
use crate::wire_error::ReadError;

/// A response, or a chunk of one. Members that a turn can do without are kept as text, so that an unexpected shape does
/// not make the response unreadable.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GeminiResponse<'r> {
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Candidate<'r>>>,
    #[serde(borrow)]
    pub(super) prompt_feedback: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) usage_metadata: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) model_version: Option<Text<'r>>,
    #[serde(borrow)]
    pub(super) response_id: Option<Text<'r>>,
    #[serde(borrow)]
    pub(super) error: Option<&'r RawValue>,
}

/// One of a response's answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'r> {
    /// The answer's number, if several were requested.
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) content: Option<CandidateContent<'r>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Text<'r>>,
    #[serde(borrow)]
    pub(super) finish_message: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) grounding_metadata: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) citation_metadata: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) url_context_metadata: Option<&'r RawValue>,
    #[serde(borrow)]
    pub(super) continuation_token: Option<&'r RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CandidateContent<'r> {
    #[serde(borrow)]
    pub(super) parts: Option<Vec<ReadPart<'r>>>,
}

impl GeminiResponse<'_> {
    /// Reports whether all known members are absent.
    pub(super) fn is_unknown(&self) -> bool {
        let Self { candidates, prompt_feedback, usage_metadata, model_version, response_id, error } = self;
        candidates.is_none()
            && prompt_feedback.is_none()
            && usage_metadata.is_none()
            && model_version.is_none()
            && response_id.is_none()
            && error.is_none()
    }
}

/// Reads a whole response.
pub(super) fn read(provider: &str, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
    let response: GeminiResponse<'_> =
        serde_json::from_str(body).map_err(|source| ReadError::json("the response", source))?;
    let mut turn = GeminiTurn::new(provider, context);
    let mut deltas = Vec::new();
    turn.add(response, &mut deltas)?;
    if !turn.has_candidate() {
        return Err(ReadError::invalid("the response has no candidates"));
    }
    turn.complete(&mut deltas)
}
