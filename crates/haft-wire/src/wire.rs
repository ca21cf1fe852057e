//! A wire: a provider's HTTP API, without the HTTP.
//!
//! ```text
//! TurnRequest ──> Wire::request ──> WireRequest { path, headers, body, context } ──> the provider
//!                                                              │
//! Turn, Delta <── Wire::response, Wire::stream <── body, events ┘
//! ErrorReport <── Wire::error <── status, headers, body
//!
//! Turn, ToolResults ──> Wire::results ──> WireResults { member, json } ──> the next request of a program
//! ```
//!
//! A wire does no I/O, keeps no state and knows no key: a client sends what it returns. Events, items and parts with
//! types that a wire does not know are kept and never cause an error.
//!
//! The four wires are folders with the same files. `request` and `response` hold what all wires share, `openai` what
//! OpenAI's two APIs share, and `known_wire` lists the wires.

pub(crate) mod anthropic_messages;
pub(crate) mod gemini_content;
pub(crate) mod known_wire;
pub(crate) mod openai;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
pub(crate) mod request;
pub(crate) mod response;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use haft_core::{Delta, History, Item, Secret, ToolResult, Turn, TurnRequest};
use haft_schema::Codec;

use crate::profile::Profile;
use crate::profile::rendered_tools::RenderedTools;
use crate::seal::Opened;
use crate::wire::request::warning::RequestWarning;
use crate::wire_error::{ErrorReport, ReadError, RequestError};

/// A provider's API: its requests, responses, streams and errors.
pub trait Wire: fmt::Debug + Send + Sync {
    /// Returns the provider's name, such as `openai`, under which you give its options and it keeps its data.
    fn provider(&self) -> &str {
        self.profile().provider()
    }

    /// Returns the demands on tools.
    fn profile(&self) -> &Profile;

    /// Writes a request.
    ///
    /// Parts that this provider can't receive, such as another provider's reasoning, are dropped and reported.
    ///
    /// # Errors
    ///
    /// If the model does not support what the request asks for. The error says what to change.
    fn request(&self, request: &TurnRequest, delivery: Delivery) -> Result<WireRequest, RequestError>;

    /// Returns the wire with prompt caching switched on, if requests have to ask for it. The default is for a provider
    /// that caches by itself, or not at all.
    fn caching(&self) -> Option<Arc<dyn Wire>> {
        None
    }

    /// Reads a whole response. The default rejects every response: it is for a provider that only streams.
    fn response(&self, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
        let _ = (body, context);
        Err(ReadError::invalid("the response is no stream of events, and this wire reads no other"))
    }

    /// Starts to read a streamed response.
    fn stream(&self, context: &ReadContext) -> Box<dyn StreamReader>;

    /// Writes only the results of a turn's calls, as the provider takes them back, for a program that keeps the
    /// conversation itself. They look as in [`request`](Self::request) and follow the calls' order. The turn may come
    /// from another provider, or consist of plain calls; `context` has the tools that were sent.
    ///
    /// Every call that your application runs must have exactly one result. Results of calls that the provider executed
    /// are reported and not written.
    ///
    /// ```
    /// use haft_core::{Finish, ToolCall, ToolResult, Turn, TurnRequest};
    /// use haft_wire::{KnownWire, ReadContext, RenderTools};
    /// use serde_json::json;
    ///
    /// let wire = KnownWire::OpenAiChat.wire();
    /// let context = ReadContext::new(TurnRequest::new("", vec![]).render_tools(wire.profile()));
    /// let call = ToolCall::new("c1", "get_time", "{}");
    /// let noon = ToolResult::ok(&call, json!("12:00"));
    /// let turn = Turn::new(vec![call.into()], Finish::ToolCalls);
    ///
    /// let written = wire.results(&turn, &[noon], &context)?;
    /// assert_eq!(written.member, "messages");
    /// assert_eq!(written.json, r#"[{"role":"tool","tool_call_id":"c1","content":"12:00"}]"#);
    /// # Ok::<_, haft_wire::RequestError>(())
    /// ```
    ///
    /// The default rejects every call: it is for a wire that writes whole histories only.
    fn results(&self, turn: &Turn, results: &[ToolResult], context: &ReadContext) -> Result<WireResults, RequestError> {
        let _ = (turn, results, context);
        Err(RequestError::Invalid {
            param: "results".to_owned(),
            message: "this wire writes no results alone; send the whole history with `Wire::request`".to_owned(),
        })
    }

    /// Reads an error response. The default is [`ErrorReport::of_status`].
    fn error(&self, response: &ErrorResponse<'_>) -> ErrorReport {
        ErrorReport::of_status(response)
    }
}

/// Reads a streamed response.
pub trait StreamReader: Send {
    /// Reads one server-sent event and adds its deltas. A response's last delta is its turn.
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError>;

    /// Reads the end of a stream whose events contained no turn.
    ///
    /// Adds the turn if the provider marks the end in no other way. Fails if the response is incomplete. The default
    /// always fails: it is for a provider whose last event ends the turn.
    fn end(&mut self, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let _ = deltas;
        Err(ReadError::Incomplete)
    }
}

/// The way in which a response is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// As one body.
    Whole,
    /// As server-sent events.
    Streamed,
}

/// A request, ready to send. `Debug` omits the body, which may contain secrets.
#[derive(Clone)]
#[non_exhaustive]
pub struct WireRequest {
    /// The path and query, to append to the provider's base URL. It starts with `/`.
    pub path: String,
    /// The headers that this request requires, besides the client's own (key, version, content type).
    pub headers: Vec<(&'static str, String)>,
    /// The body, as JSON text.
    pub body: String,
    /// The data for reading the response.
    pub context: ReadContext,
    /// The request parts that this provider can't receive.
    pub dropped: Vec<Dropped>,
    /// The request parts that are sent though the model is not known to support them.
    pub warnings: Vec<RequestWarning>,
    /// The body's secrets. Never show them, and remove them from errors: some providers quote what they reject.
    pub secrets: Vec<Secret>,
}

/// A turn's call results, as a provider takes them back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireResults {
    /// The body member that you append them to, after the turn, such as `messages`.
    pub member: &'static str,
    /// The items, messages or contents to append, as a JSON array. It is empty if the turn has no calls.
    pub json: String,
    /// The result parts that this provider can't receive. Their positions are those in the results you passed.
    pub dropped: Vec<Dropped>,
}

/// The request data needed to read its response.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadContext {
    /// The tools that were sent.
    pub tools: Arc<RenderedTools>,
    /// Converts an answer in a requested format.
    pub output: Codec,
    /// The number of items in the request's history. Calls to which a provider gives no id are numbered from it, so
    /// that ids stay unique in a conversation.
    pub turn: usize,
}

/// A request part that is left out because the provider can't receive it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The item's position in the history, or the result's position when only results are written. `None` for a request
    /// setting.
    pub item: Option<usize>,
    /// The part's name, such as `reasoning`, `audio` or `temperature`.
    pub part: Cow<'static, str>,
    /// The reason, for people.
    pub reason: String,
}

/// One server-sent event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireEvent<'e> {
    /// The event's name, if it has one.
    pub name: Option<&'e str>,
    /// The data.
    pub data: &'e str,
}

/// A response whose status is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorResponse<'r> {
    /// The HTTP status.
    pub status: u16,
    /// The time to wait that the headers state.
    pub retry_after: Option<std::time::Duration>,
    /// The body, which may be anything.
    pub body: &'r str,
}

impl WireRequest {
    /// Creates a request without extra headers.
    #[must_use]
    pub fn new(path: impl Into<String>, body: String, context: ReadContext) -> Self {
        let secrets = context.tools.secrets();
        let (headers, dropped, warnings) = (Vec::new(), Vec::new(), Vec::new());
        Self { path: path.into(), headers, body, context, dropped, warnings, secrets }
    }

    /// Adds the provider options' secrets.
    pub(crate) fn secrets(mut self, options: Option<Opened<'_>>) -> Self {
        self.secrets.extend(options.into_iter().flat_map(|options| options.secrets));
        self
    }

    /// Sets the request parts that this provider can't receive.
    #[must_use]
    pub fn dropped(mut self, dropped: Vec<Dropped>) -> Self {
        self.dropped = dropped;
        self
    }
}

impl WireResults {
    /// Creates results to append to a body member, for a wire in another crate.
    #[must_use]
    pub fn new(member: &'static str, json: String) -> Self {
        Self { member, json, dropped: Vec::new() }
    }

    /// Sets the result parts that this provider can't receive.
    #[must_use]
    pub fn dropped(mut self, dropped: Vec<Dropped>) -> Self {
        self.dropped = dropped;
        self
    }
}

impl ReadContext {
    /// Creates the data to read a response to a request with these tools.
    #[must_use]
    pub fn new(tools: Arc<RenderedTools>) -> Self {
        Self { tools, output: Codec::identity(), turn: 0 }
    }

    /// Sets the conversion for an answer in a requested format.
    #[must_use]
    pub fn output(mut self, codec: Codec) -> Self {
        self.output = codec;
        self
    }

    /// Sets the number of items in the request's history.
    #[must_use]
    pub fn turn(mut self, items: usize) -> Self {
        self.turn = items;
        self
    }

    /// Sets the number from which calls without an id are numbered, from the request's history. It is the number of
    /// items, or more if a call already has an id with that number, as in a shortened history.
    ///
    /// ```
    /// use haft_core::{History, Item, ToolCall, TurnRequest};
    /// use haft_wire::{Profile, ReadContext, RenderTools};
    ///
    /// let tools = TurnRequest::new("m", vec![]).render_tools(&Profile::gemini());
    /// let context = ReadContext::new(tools);
    /// let short = History::from(vec![Item::user("hi")]);
    /// assert_eq!(context.clone().after(&short).turn, 1);
    /// let shortened = History::from(vec![ToolCall::new("call_7_1", "t", "{}").into()]);
    /// assert_eq!(context.after(&shortened).turn, 8);
    /// ```
    #[must_use]
    pub fn after(self, history: &History) -> Self {
        let numbers = history.iter().filter_map(assigned_number).map(|number| number + 1);
        let turn = numbers.fold(history.len(), usize::max);
        self.turn(turn)
    }
}

/// Returns the number in an id that was assigned to a call without one, `call_<number>_<position>`.
fn assigned_number(item: &Item) -> Option<usize> {
    let id = item.local_call().map(|call| &call.call_id).or_else(|| item.provider_call_id())?;
    let (number, position) = id.as_str().strip_prefix("call_")?.split_once('_')?;
    // If no history reaches the number, the id is not ours.
    let number: u32 = position.parse::<u64>().ok().and(number.parse().ok())?;
    usize::try_from(number).ok().filter(|number| *number < usize::MAX)
}

impl Dropped {
    /// Creates a report about a history item.
    #[must_use]
    pub fn item(at: usize, part: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self { item: Some(at), part: part.into(), reason: reason.into() }
    }

    /// Creates a report about a request setting.
    #[must_use]
    pub fn setting(part: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Self { item: None, part: part.into(), reason: reason.into() }
    }
}

impl<'e> WireEvent<'e> {
    /// Creates an event.
    #[must_use]
    pub fn new(name: Option<&'e str>, data: &'e str) -> Self {
        Self { name, data }
    }
}

impl<'r> ErrorResponse<'r> {
    /// Creates a response without a time to wait.
    #[must_use]
    pub fn new(status: u16, body: &'r str) -> Self {
        Self { status, retry_after: None, body }
    }

    /// Sets the time to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<std::time::Duration>) -> Self {
        self.retry_after = wait;
        self
    }
}

impl fmt::Debug for WireRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, headers, body, context, dropped, warnings, secrets: _ } = self;
        f.debug_struct("WireRequest")
            .field("path", path)
            .field("headers", headers)
            .field("body_bytes", &body.len())
            .field("context", context)
            .field("dropped", dropped)
            .field("warnings", warnings)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, part, reason } = self;
        match item {
            Some(at) => write!(f, "item {at}: {part}: {reason}"),
            None => write!(f, "{part}: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use haft_core::Finish;
    use serde_json::Value;

    use super::*;
    use crate::wire_error::ErrorCause;
    use crate::{FunctionTool, McpDialect, RenderTools};

    /// A wire with only the required methods.
    #[derive(Debug)]
    struct Least(Profile);

    struct LeastStream;

    impl Wire for Least {
        fn profile(&self) -> &Profile {
            &self.0
        }

        fn request(&self, request: &TurnRequest, _: Delivery) -> Result<WireRequest, RequestError> {
            let dropped = vec![Dropped::setting("everything", "there is no place for it")];
            let context = ReadContext::new(request.render_tools(&self.0));
            Ok(WireRequest::new("/", String::new(), context).dropped(dropped))
        }

        fn stream(&self, _: &ReadContext) -> Box<dyn StreamReader> {
            Box::new(LeastStream)
        }
    }

    impl StreamReader for LeastStream {
        fn event(&mut self, _: WireEvent<'_>, _: &mut Vec<Delta>) -> Result<(), ReadError> {
            Ok(())
        }
    }

    #[test]
    fn the_defaults_of_a_wire_accept_no_response_that_it_does_not_read() {
        let wire = Least(Profile::new("least", McpDialect, |_: &FunctionTool<'_>| Value::Null));
        let sent = wire.request(&TurnRequest::new("m", Vec::new()), Delivery::Whole).unwrap();
        assert_eq!(sent.dropped[0].to_string(), "everything: there is no place for it");
        let whole = wire.response("{}", &sent.context).unwrap_err();
        assert!(matches!(&whole, ReadError::Invalid { .. }) && whole.to_string().contains("no stream of events"));
        let unwritten = wire.results(&Turn::new(Vec::new(), Finish::Stop), &[], &sent.context).unwrap_err();
        assert!(unwritten.to_string().contains("`Wire::request`"), "{unwritten}");
        assert!(matches!(wire.stream(&sent.context).end(&mut Vec::new()), Err(ReadError::Incomplete)));
    }

    #[test]
    fn the_default_report_is_that_of_the_status() {
        let wire = Least(Profile::new("least", McpDialect, |_: &FunctionTool<'_>| Value::Null));
        let wait = Some(Duration::from_secs(3));
        let report = wire.error(&ErrorResponse::new(503, "<html>").retry_after(wait));
        assert_eq!((report.cause, report.retry_after), (ErrorCause::Unavailable, wait));
        assert_eq!(report.message, "status 503 with a page of HTML");
    }
}
