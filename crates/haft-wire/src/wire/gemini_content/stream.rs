//! Streamed responses: each event's data is a chunk of the response.

use haft_core::Delta;

use super::response::GeminiResponse;
use super::turn::GeminiTurn;
use crate::wire::response::depth;
use crate::wire::{ReadContext, StreamReader, WireEvent};
use crate::wire_error::ReadError;

/// Reads a streamed response. The provider marks the end only by ending the stream.
#[derive(Debug)]
pub(super) struct GeminiStream {
    /// The turn, until it is completed.
    turn: Option<GeminiTurn>,
}

impl GeminiStream {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self { turn: Some(GeminiTurn::new(provider, context)) }
    }
}

impl StreamReader for GeminiStream {
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let data = event.data.trim();
        // Proxies end every stream this way.
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        depth::check(data)?;
        let chunk: GeminiResponse<'_> =
            serde_json::from_str(data).map_err(|source| ReadError::json("a chunk of the response", source))?;
        if chunk.is_unknown() {
            GeminiTurn::unknown_chunk(data, deltas);
            return Ok(());
        }
        match &mut self.turn {
            Some(turn) => turn.add(chunk, deltas),
            None => Ok(()),
        }
    }

    fn end(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        match self.turn.take() {
            Some(turn) if turn.is_finished() => {
                let complete = turn.complete(deltas)?;
                deltas.push(Delta::complete(complete));
                Ok(())
            }
            Some(_) | None => Err(ReadError::Incomplete),
        }
    }
}
