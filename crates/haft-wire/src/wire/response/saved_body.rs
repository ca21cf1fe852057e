//! A saved response: a whole body, a chunk list, or server-sent events.
//!
//! This crate has no event decoder: the caller passes decoded events to a [`TurnReader`]. A wire's own readers read all
//! forms, so a saved response can't be read differently from a received one.

use std::fmt;

use haft_core::{Delta, Turn};
use serde_json::value::RawValue;

use crate::wire::response::depth;
use crate::wire::{ReadContext, StreamReader, Wire, WireEvent};
use crate::wire_error::ReadError;

/// The fields that a server-sent event may begin with. A comment begins with the colon alone.
const FIELDS: [&str; 5] = ["event:", "data:", "id:", "retry:", ":"];

/// The form of a saved response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BodyForm {
    /// A whole response, or anything that is not another form.
    Whole,
    /// A JSON array of chunks, in which Gemini streams unless you request events.
    Array,
    /// Server-sent events.
    Events,
}

impl BodyForm {
    /// Returns the form that a body begins in.
    #[must_use]
    pub fn of(body: &str) -> Self {
        let start = body.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}');
        if start.starts_with('[') {
            Self::Array
        } else if FIELDS.iter().any(|field| start.starts_with(field)) {
            Self::Events
        } else {
            Self::Whole
        }
    }
}

/// Reads a saved response in any form. `decode` passes the events in a [`BodyForm::Events`] text to the reader, and is
/// not called for other forms. With the server-sent event decoder in `haft-http` that takes a few lines; you find them
/// in the module documentation of `haft::wire`.
///
/// An error that the provider reported is [`ReadError::Provider`], and a truncated stream is [`ReadError::Incomplete`].
///
/// ```
/// use haft_core::TurnRequest;
/// use haft_wire::{KnownWire, ReadContext, ReadError, RenderTools, WireEvent, read_body};
///
/// let saved = r#"data: {"candidates":[{"content":{"parts":[{"text":"Hi!"}]},"finishReason":"STOP"}]}"#;
/// let wire = KnownWire::recognise(saved).expect("one of Gemini").wire();
/// let context = ReadContext::new(TurnRequest::new("", vec![]).render_tools(wire.profile()));
/// let turn = read_body(&*wire, saved, &context, |text, reader| {
///     // Enough for events of one line.
///     let mut events = text.lines().filter_map(|line| line.strip_prefix("data: "));
///     events.try_for_each(|data| reader.event(WireEvent::new(None, data)))
/// })?;
/// assert_eq!(turn.text(), "Hi!");
/// # Ok::<_, ReadError>(())
/// ```
pub fn read_body<E: From<ReadError>>(
    wire: &dyn Wire,
    body: &str,
    context: &ReadContext,
    decode: impl FnOnce(&str, &mut TurnReader) -> Result<(), E>,
) -> Result<Turn, E> {
    let form = BodyForm::of(body);
    let body = body.trim_start_matches('\u{feff}');
    if body.trim().is_empty() {
        return Err(ReadError::invalid("the response is empty; save the body that the provider sent").into());
    }
    let mut reader = TurnReader::new(wire, context);
    match form {
        BodyForm::Whole => return Ok(wire.response(body, context)?),
        BodyForm::Array => read_chunks(body, &mut reader)?,
        BodyForm::Events => decode(body, &mut reader)?,
    }
    Ok(reader.end()?)
}

fn read_chunks(body: &str, reader: &mut TurnReader) -> Result<(), ReadError> {
    depth::check(body)?;
    let chunks: Vec<&RawValue> = serde_json::from_str(body).map_err(|error| {
        if error.is_eof() { ReadError::Incomplete } else { ReadError::json("the list of chunks", error) }
    })?;
    chunks.into_iter().try_for_each(|chunk| reader.event(WireEvent::new(None, chunk.get())))
}

/// Reads a response's events when you only want the turn.
pub struct TurnReader {
    reader: Box<dyn StreamReader>,
    /// One event's deltas, which nobody displays.
    deltas: Vec<Delta>,
    turn: Option<Turn>,
}

impl TurnReader {
    /// Creates a reader for a wire's response.
    #[must_use]
    pub fn new(wire: &dyn Wire, context: &ReadContext) -> Self {
        Self { reader: wire.stream(context), deltas: Vec::new(), turn: None }
    }

    /// Reads one event.
    pub fn event(&mut self, event: WireEvent<'_>) -> Result<(), ReadError> {
        self.reader.event(event, &mut self.deltas)?;
        self.keep_turn();
        Ok(())
    }

    /// Reads the event that the text ends in, such as a file's last one without an empty line after it. If its data is
    /// truncated, it is left out.
    pub fn unfinished(&mut self, event: WireEvent<'_>) -> Result<(), ReadError> {
        let data = event.data.trim();
        let is_cut_off = data.starts_with('{') && serde_json::from_str::<&RawValue>(data).is_err();
        if is_cut_off { Ok(()) } else { self.event(event) }
    }

    /// Reads the response's end and returns the turn.
    pub fn end(mut self) -> Result<Turn, ReadError> {
        if self.turn.is_none() {
            self.reader.end(&mut self.deltas)?;
            self.keep_turn();
        }
        self.turn.ok_or(ReadError::Incomplete)
    }

    fn keep_turn(&mut self) {
        for delta in self.deltas.drain(..) {
            if let Delta::TurnComplete(turn) = delta {
                self.turn = Some(*turn);
            }
        }
    }
}

impl fmt::Debug for TurnReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnReader").field("is_complete", &self.turn.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_that_of_the_start() {
        for (body, form) in [
            ("", BodyForm::Whole),
            (" {}", BodyForm::Whole),
            ("<html>", BodyForm::Whole),
            ("\u{feff}\n [{}", BodyForm::Array),
            ("\r\ndata: {}", BodyForm::Events),
            ("\u{feff}event: ping\n", BodyForm::Events),
            (": OPENROUTER PROCESSING\n\ndata: {}", BodyForm::Events),
            ("database", BodyForm::Whole),
        ] {
            assert_eq!(BodyForm::of(body), form, "{body}");
        }
    }
}
