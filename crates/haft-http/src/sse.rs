//! Decodes server-sent events without I/O.
//!
//! The decoder follows the HTML standard's event stream format and takes the bytes in pieces of any size. It keeps one
//! event and one incomplete line, both under a limit, looks at each byte once, and reuses its buffers, so that an event
//! costs no allocation.
//!
//! It is written here because no crate fits untrusted servers: `eventsource-stream`, `sse-stream` and `sseer` buffer a
//! line or an event without a limit and report invalid UTF-8, which the standard replaces, as an error; the first
//! parses an unfinished line again with every chunk.
//!
//! It must never interpret data: `[DONE]` is an event's data like any other.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use memchr::memchr2;

/// The default event name.
const UNNAMED: &str = "message";
/// The default event limit in bytes. Images arrive as one event with some megabytes.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// The capacity that a buffer keeps from one event to the next.
const KEPT_CAPACITY: usize = 64 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent<'a> {
    /// The event's type, `message` if the sender did not name it.
    pub name: Cow<'a, str>,
    /// The data lines, separated by line feeds.
    pub data: Cow<'a, str>,
    /// The last id that the sender assigned, to this event or to an earlier one; empty if there is none.
    pub id: Cow<'a, str>,
}

impl SseEvent<'_> {
    /// Copies the event out of the decoder.
    #[must_use]
    pub fn into_owned(self) -> SseEvent<'static> {
        // The usual name needs no allocation.
        let name = if self.name == UNNAMED { Cow::Borrowed(UNNAMED) } else { self.name.into_owned().into() };
        SseEvent { name, data: self.data.into_owned().into(), id: self.id.into_owned().into() }
    }
}

/// The reason why a decoder stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SseError {
    /// An event, or one of its lines, exceeds the limit.
    #[error("a server-sent event exceeds the limit of {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// An incremental decoder for server-sent events.
///
/// ```
/// use haft_http::SseDecoder;
///
/// let mut decoder = SseDecoder::new();
/// let mut seen = Vec::new();
/// for chunk in ["event: delta\ndata: {\"a\"", ":1}\r\n\r\n: a comment\ndata: [DONE]\n\ndata: cut"] {
///     let mut input = chunk.as_bytes();
///     while let Some(event) = decoder.next(&mut input)? {
///         seen.push(format!("{} {}", event.name, event.data));
///     }
/// }
/// assert_eq!(seen, [r#"delta {"a":1}"#, "message [DONE]"]);
/// assert!(decoder.is_within_event());
/// # Ok::<_, haft_http::SseError>(())
/// ```
#[derive(Clone)]
pub struct SseDecoder {
    limit: usize,
    phase: Phase,
    /// The part of the current line from earlier input.
    line: Vec<u8>,
    /// The last line ended in a carriage return: a line feed right after it belongs to the same line end.
    after_return: bool,
    name: String,
    data: String,
    /// True if the event has a data line, which may be empty.
    has_data: bool,
    /// The current event's id, which is the last event's unless the sender changed it.
    id: String,
    /// The id in effect at the last event's end.
    last_id: String,
    retry: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before the first line's end, which may begin with a byte order mark.
    FirstLine,
    Lines,
    /// The buffers hold a returned event; they are cleared before the next one.
    Dispatched,
    Failed,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SseDecoder {
    /// Creates a decoder that accepts events up to 16 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// Creates a decoder that accepts events up to `limit` bytes: the name, the data, the id and the incomplete line
    /// together.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            phase: Phase::FirstLine,
            line: Vec::new(),
            after_return: false,
            name: String::new(),
            data: String::new(),
            has_data: false,
            id: String::new(),
            last_id: String::new(),
            retry: None,
        }
    }

    /// Returns the input's next event and removes what it read from the input.
    ///
    /// Without an event, the input is empty on return, and the decoder has kept what the next piece continues. The
    /// decoder ends at its first error: each further call returns the same one.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<SseEvent<'_>>, SseError> {
        Ok(if self.advance(input)? { Some(self.event()) } else { None })
    }

    /// Returns whether the input so far ends inside an event. At a stream's end that event is lost: the format has no
    /// event without the empty line after it.
    #[must_use]
    pub fn is_within_event(&self) -> bool {
        let line = match self.phase {
            Phase::FirstLine => self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line),
            Phase::Lines => &self.line,
            Phase::Dispatched | Phase::Failed => return false,
        };
        let within_field = line.first().is_some_and(|&byte| byte != b':');
        within_field || self.has_data || !self.name.is_empty()
    }

    /// Returns the event that the input ends in, as if the empty line after it had arrived. Its data may be cut off, so
    /// use it only for a protocol whose data shows where it ends.
    ///
    /// ```
    /// use haft_http::SseDecoder;
    ///
    /// let mut decoder = SseDecoder::new();
    /// assert!(decoder.next(&mut &b"data: [DONE]"[..])?.is_none());
    /// assert_eq!(decoder.unfinished().unwrap().data, "[DONE]");
    /// assert!(decoder.unfinished().is_none());
    /// # Ok::<_, haft_http::SseError>(())
    /// ```
    pub fn unfinished(&mut self) -> Option<SseEvent<'_>> {
        if !self.is_within_event() {
            return None;
        }
        // The last line's end, and the empty line after it.
        let found = self.end_line(&[]) || self.end_line(&[]);
        self.phase = Phase::Dispatched;
        found.then(|| self.event())
    }

    /// Returns the id to send as `Last-Event-ID` when you reconnect; empty if there is none.
    #[must_use]
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// Returns the time to wait before reconnecting, if the sender stated it.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Reads up to the next event's end and returns whether there is one. [`event`](Self::event) returns it.
    pub(crate) fn advance(&mut self, input: &mut &[u8]) -> Result<bool, SseError> {
        match self.phase {
            Phase::FirstLine | Phase::Lines => {}
            Phase::Dispatched => self.clear(),
            Phase::Failed => return Err(SseError::TooLarge { limit: self.limit }),
        }
        loop {
            if self.after_return && !input.is_empty() {
                self.after_return = false;
                *input = input.strip_prefix(b"\n").unwrap_or(input);
            }
            let Some(end) = memchr2(b'\n', b'\r', input) else { break };
            let (line, rest) = input.split_at(end);
            self.after_return = rest.first() == Some(&b'\r');
            *input = rest.get(1..).unwrap_or_default();
            self.check_room(line.len())?;
            if self.end_line(line) {
                self.phase = Phase::Dispatched;
                return Ok(true);
            }
        }
        self.check_room(input.len())?;
        self.line.extend_from_slice(input);
        *input = &[];
        Ok(false)
    }

    /// Returns the event that [`advance`](Self::advance) found.
    pub(crate) fn event(&self) -> SseEvent<'_> {
        let name = if self.name.is_empty() { UNNAMED } else { &self.name };
        // Every data line was written with a line feed after it; the last one does not belong to the data.
        let data = self.data.strip_suffix('\n').unwrap_or(&self.data);
        SseEvent { name: name.into(), data: data.into(), id: self.last_id.as_str().into() }
    }

    /// Fails if the event would exceed the limit with this many more bytes.
    fn check_room(&mut self, bytes: usize) -> Result<(), SseError> {
        let held = self.line.len() + self.data.len() + self.name.len() + self.id.len();
        if held.saturating_add(bytes) <= self.limit {
            return Ok(());
        }
        *self = Self { phase: Phase::Failed, ..Self::with_limit(self.limit) };
        Err(SseError::TooLarge { limit: self.limit })
    }

    /// Handles a line whose last part this is. Returns whether the line ends an event.
    fn end_line(&mut self, part: &[u8]) -> bool {
        if self.line.is_empty() {
            return self.whole_line(part);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(part);
        let is_end = self.whole_line(&line);
        line.clear();
        line.shrink_to(KEPT_CAPACITY);
        self.line = line;
        is_end
    }

    fn whole_line(&mut self, mut line: &[u8]) -> bool {
        if self.phase == Phase::FirstLine {
            self.phase = Phase::Lines;
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        self.field(line);
        false
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => {
                let value = line.get(at + 1..).unwrap_or_default();
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, [].as_slice()),
        };
        match name {
            b"data" => {
                push_utf8(&mut self.data, value);
                self.data.push('\n');
                self.has_data = true;
            }
            b"event" => {
                self.name.clear();
                push_utf8(&mut self.name, value);
            }
            b"id" if !value.contains(&0) => {
                self.id.clear();
                push_utf8(&mut self.id, value);
            }
            b"retry" => self.retry = milliseconds(value).or(self.retry),
            // Comments have an empty name, and unknown fields are ignored.
            _ => {}
        }
    }

    /// Ends the event and returns whether it is one: it needs a data line.
    fn end_event(&mut self) -> bool {
        if self.last_id != self.id {
            self.last_id.clone_from(&self.id);
        }
        if !self.has_data {
            self.name.clear();
        }
        self.has_data
    }

    /// Prepares the buffers for the next event. One large event must not keep its memory for the whole stream.
    fn clear(&mut self) {
        self.phase = Phase::Lines;
        self.has_data = false;
        self.name.clear();
        self.data.clear();
        self.data.shrink_to(KEPT_CAPACITY);
    }
}

// The buffers hold parts of a body.
impl fmt::Debug for SseDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseDecoder").field("limit", &self.limit).field("phase", &self.phase).finish_non_exhaustive()
    }
}

/// Appends UTF-8, with invalid bytes replaced.
fn push_utf8(text: &mut String, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(valid) => text.push_str(valid),
        // Not for valid bytes too: it checks them one at a time.
        Err(_) => text.push_str(&String::from_utf8_lossy(bytes)),
    }
}

/// Reads a number of milliseconds: ASCII digits only. A number that is too large for any use is ignored.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = value.iter().all(u8::is_ascii_digit).then_some(value)?;
    std::str::from_utf8(digits).ok()?.parse().ok().map(Duration::from_millis)
}
