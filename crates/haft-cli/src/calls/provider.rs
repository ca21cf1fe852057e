//! Model providers' responses: recognises one, reads its calls, and writes the results to send back.

use std::sync::Arc;

use haft::conversation::{Turn, TurnRequest};
use haft::http::{SseDecoder, SseError};
use haft::run::ToolResult;
use haft::tool::ToolDescriptor;
use haft::wire::{KnownWire, ReadContext, ReadError, RenderTools, TurnReader, WireEvent, WireResults, read_body};

use super::record::quoted;
use crate::error::Fault;
use crate::input::TextInput;
use crate::wire::WireName;

impl WireName {
    /// Recognises a provider's response.
    pub(crate) fn recognise(text: &str) -> Option<Self> {
        KnownWire::recognise(text).map(Self)
    }

    /// Reads a response, whole or streamed, and translates its calls' names and arguments with the tools.
    pub(crate) fn read(self, input: &TextInput, tools: &[Arc<ToolDescriptor>]) -> Result<Turn, Fault> {
        let turn = read_body(&*self.0.wire(), &input.text, &self.context(tools), read_events);
        turn.map_err(|error| {
            let message = format!("{} can't be read as a response of {self}", quoted(&input.origin));
            let fault = Fault::new(message).cause(&error);
            match error {
                SavedError::Read(ReadError::Incomplete) => fault.advice("save the response to its end"),
                SavedError::Read(ReadError::Provider { .. }) => fault.advice("there are no calls in an error"),
                _ => fault.advice("`haft run --help` lists the forms that are read; `--from` names one"),
            }
        })
    }

    /// Writes results as the provider takes them back.
    pub(crate) fn results(
        self,
        turn: &Turn,
        results: &[ToolResult],
        tools: &[Arc<ToolDescriptor>],
    ) -> Result<WireResults, Fault> {
        let written = self.0.wire().results(turn, results, &self.context(tools));
        written.map_err(|error| Fault::new(format!("the results can't be written for {self}")).cause(&error))
    }

    fn context(self, tools: &[Arc<ToolDescriptor>]) -> ReadContext {
        ReadContext::new(TurnRequest::new("", Vec::new()).tools(tools).render_tools(self.0.wire().profile()))
    }
}

/// The reason why a saved response can't be read.
#[derive(Debug, thiserror::Error)]
enum SavedError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Events(#[from] SseError),
}

/// Passes a saved stream's events to a reader.
fn read_events(text: &str, reader: &mut TurnReader) -> Result<(), SavedError> {
    let (mut decoder, mut bytes) = (SseDecoder::new(), text.as_bytes());
    while let Some(event) = decoder.next(&mut bytes)? {
        reader.event(WireEvent::new(Some(&event.name), &event.data))?;
    }
    if let Some(event) = decoder.unfinished() {
        reader.unfinished(WireEvent::new(Some(&event.name), &event.data))?;
    }
    Ok(())
}
