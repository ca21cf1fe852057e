//! Builds a turn from a streamed answer's pieces.
//!
//! Every method adds a piece to the turn and returns the delta that displays it, so that a stream and its final turn
//! can't differ. It translates call names and arguments with the request's tools.

mod keyed_list;

use std::borrow::Cow;

use haft_core::{
    CallId, Citation, ContentPart, Delta, Finish, Item, Message, ProviderCall, Reasoning, ReasoningForm, RefusalPart,
    Role, TextPart, ToolCall, Turn, Usage,
};
use haft_schema::JsonText;
use serde_json::{Map, Value};

use self::keyed_list::KeyedList;
use crate::wire::ReadContext;

/// A turn in progress.
///
/// ```
/// use haft_core::{Delta, Finish};
/// use haft_wire::TurnBuilder;
///
/// let mut turn = TurnBuilder::default();
/// let mut deltas = vec![turn.text("One "), turn.text("moment.")];
/// deltas.push(turn.call_start("c1", "get_weather"));
/// deltas.push(turn.call_arguments("c1", r#"{"city":"#));
/// deltas.push(turn.call_arguments("c1", r#""Oslo"}"#));
/// deltas.push(turn.call_end("c1"));
/// let turn = turn.finish(Finish::ToolCalls);
///
/// assert_eq!(deltas[1], Delta::text("moment."));
/// assert_eq!(turn.text(), "One moment.");
/// assert_eq!(turn.tool_calls()[0].arguments, r#"{"city":"Oslo"}"#);
/// ```
///
/// If pieces arrive interleaved, use keys: [`text_at`](TurnBuilder::text_at) adds to the part with a key, whatever came
/// between. Choose the keys yourself, such as the index that the provider sends. A part's place in the turn is where
/// its first piece arrived.
#[derive(Debug, Default)]
pub struct TurnBuilder {
    context: Option<ReadContext>,
    /// The pieces in the order they began; each is a position in one of the lists below.
    order: Vec<Piece>,
    texts: OpenParts<TextPart>,
    refusals: OpenParts<RefusalPart>,
    reasoning: OpenParts<Reasoning>,
    calls: KeyedList<CallId, ToolCall>,
    provider_calls: KeyedList<CallId, OpenProviderCall>,
    items: Vec<Option<Item>>,
    /// Complete parts, each with its message number.
    contents: Vec<(usize, ContentPart)>,
    /// The number of parts that began.
    parts: usize,
    /// The ended messages, each with the data that its provider demands back.
    ended_messages: Vec<Map<String, Value>>,
    usage: Usage,
    response_id: Option<String>,
    model: Option<String>,
    provider_data: Map<String, Value>,
}

/// One kind's parts by key. A part without a key only grows while it is the last piece.
type OpenParts<T> = KeyedList<u64, Open<T>>;

/// A part in progress.
#[derive(Debug)]
struct Open<T> {
    /// The part number, for deltas.
    part: usize,
    /// The message number.
    message: usize,
    content: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Text(usize),
    Refusal(usize),
    Reasoning(usize),
    Call(usize),
    ProviderCall(usize),
    Item(usize),
    Content(usize),
}

#[derive(Debug)]
struct OpenProviderCall {
    call: ProviderCall,
    arguments: String,
}

impl TurnBuilder {
    /// Creates an empty turn that answers a request with these tools.
    #[must_use]
    pub fn new(context: &ReadContext) -> Self {
        Self { context: Some(context.clone()), ..Self::default() }
    }

    /// Adds text to the last part, or begins one.
    pub fn text(&mut self, text: impl Into<String>) -> Delta {
        self.add_text(None, text.into())
    }

    /// Adds text to the part with a key, beginning it if needed.
    pub fn text_at(&mut self, key: u64, text: impl Into<String>) -> Delta {
        self.add_text(Some(key), text.into())
    }

    /// Adds to the refusal that is the last part, or begins one.
    pub fn refusal(&mut self, text: impl Into<String>) -> Delta {
        self.add_refusal(None, text.into())
    }

    /// Adds to the refusal with a key, beginning it if needed.
    pub fn refusal_at(&mut self, key: u64, text: impl Into<String>) -> Delta {
        self.add_refusal(Some(key), text.into())
    }

    /// Adds reasoning to the last part, or begins one.
    pub fn reasoning(&mut self, text: impl Into<String>) -> Delta {
        self.add_reasoning(None, ReasoningForm::Text, text.into())
    }

    /// Adds reasoning to the part with a key, beginning it if needed. Parts with different keys become different items
    /// in the turn.
    pub fn reasoning_at(&mut self, key: u64, form: ReasoningForm, text: impl Into<String>) -> Delta {
        self.add_reasoning(Some(key), form, text.into())
    }

    /// Begins another paragraph in the summary with a key.
    pub fn summary_paragraph(&mut self, key: u64) {
        let at = self.reasoning_part(Some(key));
        let open = &mut self.reasoning[at];
        if !open.content.summary.is_empty() {
            open.part = self.parts;
            self.parts += 1;
        }
        open.content.summary.push(String::new());
    }

    /// Adds a citation to the last text. Returns `None` if there is no text.
    pub fn citation(&mut self, citation: Citation) -> Option<Delta> {
        let open = self.texts.last_mut()?;
        open.content.citations.push(citation.clone());
        Some(Delta::CitationDelta { citation, part: open.part })
    }

    /// Adds a citation to the text with a key, beginning it if needed.
    pub fn citation_at(&mut self, key: u64, citation: Citation) -> Delta {
        let at = self.text_part(Some(key));
        self.texts[at].content.citations.push(citation.clone());
        Delta::CitationDelta { citation, part: self.texts[at].part }
    }

    /// Begins a call. The name is the wire name.
    pub fn call_start(&mut self, call_id: impl Into<CallId>, wire_name: &str) -> Delta {
        let name = match &self.context {
            Some(context) => context.tools.tool_name(wire_name).into_owned(),
            None => wire_name.to_owned(),
        };
        let call_id = call_id.into();
        self.order.push(Piece::Call(self.calls.len()));
        self.calls.push(Some(call_id.clone()), ToolCall::new(call_id.clone(), name.as_str(), ""));
        Delta::ToolCallStart { call_id, name }
    }

    /// Adds to a call's arguments. They have the shape that the provider was sent, and are converted when the turn is
    /// finished. A fragment for a call that was not begun is only displayed.
    pub fn call_arguments(&mut self, call_id: impl Into<CallId>, fragment: impl Into<String>) -> Delta {
        let (call_id, arguments) = (call_id.into(), fragment.into());
        if let Some(call) = self.call_mut(&call_id) {
            call.arguments.push_str(&arguments);
        }
        Delta::ToolCallArgsDelta { call_id, arguments }
    }

    /// Ends a call's arguments.
    pub fn call_end(&mut self, call_id: impl Into<CallId>) -> Delta {
        Delta::ToolCallEnd { call_id: call_id.into() }
    }

    /// Begins a call that the provider executes, with the provider's tool name.
    pub fn provider_call_start(
        &mut self,
        call_id: impl Into<CallId>,
        provider: impl Into<String>,
        name: impl Into<String>,
    ) -> Delta {
        let (call_id, name) = (call_id.into(), name.into());
        let call = ProviderCall::new(provider, name.as_str(), Value::Null).call_id(call_id.clone());
        self.order.push(Piece::ProviderCall(self.provider_calls.len()));
        self.provider_calls.push(Some(call_id.clone()), OpenProviderCall { call, arguments: String::new() });
        Delta::ProviderCallStart { call_id, name }
    }

    /// Adds to the arguments of a call that the provider executes.
    pub fn provider_call_arguments(&mut self, call_id: impl Into<CallId>, fragment: impl Into<String>) -> Delta {
        let (call_id, arguments) = (call_id.into(), fragment.into());
        if let Some(open) = self.provider_call(&call_id) {
            open.arguments.push_str(&arguments);
        }
        Delta::ProviderCallArgsDelta { call_id, arguments }
    }

    /// Returns the arguments so far for a call that the provider executes.
    #[must_use]
    pub fn arguments_of_provider_call(&mut self, call_id: &CallId) -> Option<&str> {
        self.provider_call(call_id).map(|open| open.arguments.as_str())
    }

    /// Reports the output of a call that the provider executed, for display. To set the call's payload, use
    /// [`provider_call_mut`](Self::provider_call_mut).
    pub fn provider_call_output(&mut self, call_id: impl Into<CallId>, output: JsonText, is_error: bool) -> Delta {
        let call_id = call_id.into();
        if let Some(open) = self.provider_call(&call_id) {
            open.call.is_error = is_error;
        }
        Delta::ProviderCallOutput { call_id, output, is_error }
    }

    /// Returns a call that the provider executes, so that you can set its payload.
    pub fn provider_call_mut(&mut self, call_id: &CallId) -> Option<&mut ProviderCall> {
        self.provider_call(call_id).map(|open| &mut open.call)
    }

    /// Adds a complete part to the message in progress.
    pub fn content(&mut self, part: ContentPart) {
        self.order.push(Piece::Content(self.contents.len()));
        self.contents.push((self.ended_messages.len(), part));
    }

    /// Adds a complete item.
    pub fn item(&mut self, item: impl Into<Item>) {
        self.order.push(Piece::Item(self.items.len()));
        self.items.push(Some(item.into()));
    }

    /// Ends the message in progress: later text belongs to another one. `data` is what the provider demands back with
    /// the ended message.
    pub fn end_message(&mut self, data: Map<String, Value>) {
        self.ended_messages.push(data);
    }

    /// Returns the call with an id, so that you can add provider data to it.
    pub fn call_mut(&mut self, call_id: &CallId) -> Option<&mut ToolCall> {
        self.calls.get_mut(call_id)
    }

    /// Returns the reasoning with a key, so that you can sign it. Begins it without text if it does not exist.
    pub fn reasoning_mut(&mut self, key: u64) -> &mut Reasoning {
        let at = self.reasoning_part(Some(key));
        &mut self.reasoning[at].content
    }

    /// Returns the refusal with a key, so that you can add provider data to it. Begins it without text if it does not
    /// exist.
    pub fn refusal_mut(&mut self, key: u64) -> &mut RefusalPart {
        let at = self.refusal_part(Some(key));
        &mut self.refusals[at].content
    }

    /// Returns the text with a key, so that you can add provider data to it. Begins it without text if it does not
    /// exist.
    pub fn text_mut(&mut self, key: u64) -> &mut TextPart {
        let at = self.text_part(Some(key));
        &mut self.texts[at].content
    }

    /// Sets the usage.
    pub fn usage(&mut self, usage: Usage) -> Delta {
        self.usage = usage;
        Delta::UsageUpdate(usage)
    }

    /// Returns the usage.
    #[must_use]
    pub fn usage_mut(&mut self) -> &mut Usage {
        &mut self.usage
    }

    /// Sets the provider's response id.
    pub fn response_id(&mut self, id: impl Into<String>) {
        self.response_id = Some(id.into());
    }

    /// Sets the model that answered.
    pub fn model(&mut self, model: impl Into<String>) {
        self.model = Some(model.into());
    }

    /// Returns the turn's provider data.
    #[must_use]
    pub fn provider_data(&mut self) -> &mut Map<String, Value> {
        &mut self.provider_data
    }

    /// Reports whether the turn has a call that the application runs.
    #[must_use]
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty() || self.items.iter().flatten().any(|item| item.local_call().is_some())
    }

    /// Reports whether the turn has a refusal.
    #[must_use]
    pub fn has_refusal(&self) -> bool {
        !self.refusals.is_empty()
    }

    /// Reports whether the turn has anything besides reasoning and blank text.
    pub(crate) fn has_answer(&self) -> bool {
        let is_said = |open: &Open<TextPart>| !open.content.text.trim().is_empty();
        self.has_calls()
            || self.has_refusal()
            || !self.provider_calls.is_empty()
            || !self.items.is_empty()
            || !self.contents.is_empty()
            || self.texts.iter().any(is_said)
    }

    /// Completes the turn. Converts call arguments, and an answer in a requested format, to the shape of their schemas.
    #[must_use]
    pub fn finish(mut self, finish: Finish) -> Turn {
        // A refusal without a word is a refusal.
        if finish == Finish::Refusal && !self.has_answer() {
            self.add_refusal(None, String::new());
        }
        let mut turn = Turn::new(Vec::new(), finish).usage(self.usage);
        turn.response_id = self.response_id.take();
        turn.model = self.model.take();
        turn.provider_data = std::mem::take(&mut self.provider_data);
        turn.items = self.into_items();
        turn
    }

    fn into_items(mut self) -> Vec<Item> {
        let mut items = Vec::new();
        // The message that content is added to, while nothing else comes between.
        let mut open: Option<(usize, Message)> = None;
        for piece in std::mem::take(&mut self.order) {
            let (message, content) = match piece {
                Piece::Text(at) => (self.texts[at].message, self.take_text(at)),
                Piece::Refusal(at) => {
                    let refusal = std::mem::take(&mut self.refusals[at].content);
                    (self.refusals[at].message, ContentPart::Refusal(refusal))
                }
                Piece::Content(at) => {
                    let (message, content) = &mut self.contents[at];
                    (*message, std::mem::replace(content, ContentPart::text("")))
                }
                Piece::Reasoning(_) | Piece::Call(_) | Piece::ProviderCall(_) | Piece::Item(_) => {
                    items.extend(open.take().map(|(_, message)| Item::Message(message)));
                    items.extend(self.take_item(piece));
                    continue;
                }
            };
            match &mut open {
                Some((number, same)) if *number == message => same.content.push(content),
                _ => {
                    items.extend(open.take().map(|(_, message)| Item::Message(message)));
                    let mut begun = Message::new(Role::Assistant, vec![content]);
                    if let Some(data) = self.ended_messages.get_mut(message) {
                        begun.provider_data = std::mem::take(data);
                    }
                    open = Some((message, begun));
                }
            }
        }
        items.extend(open.map(|(_, message)| Item::Message(message)));
        items
    }

    fn take_text(&mut self, at: usize) -> ContentPart {
        let mut text = std::mem::take(&mut self.texts[at].content);
        let decoded = self.context.as_ref().and_then(|context| context.output.decode(&text.text).ok());
        if let Some(Cow::Owned(decoded)) = decoded {
            text.text = decoded;
        }
        ContentPart::Text(text)
    }

    fn take_item(&mut self, piece: Piece) -> Option<Item> {
        match piece {
            Piece::Reasoning(at) => Some(Item::Reasoning(std::mem::take(&mut self.reasoning[at].content))),
            Piece::Call(at) => {
                let empty = ToolCall::new("", "", "");
                let mut call = std::mem::replace(&mut self.calls[at], empty);
                self.context.iter().for_each(|context| context.tools.decode_call(&mut call));
                Some(Item::ToolCall(call))
            }
            Piece::ProviderCall(at) => {
                let empty = ProviderCall::new("", "", Value::Null);
                Some(Item::ProviderCall(std::mem::replace(&mut self.provider_calls[at].call, empty)))
            }
            Piece::Item(at) => self.items[at].take(),
            Piece::Text(_) | Piece::Refusal(_) | Piece::Content(_) => None,
        }
    }

    fn add_text(&mut self, key: Option<u64>, added: String) -> Delta {
        let at = self.text_part(key);
        let open = &mut self.texts[at];
        open.content.text.push_str(&added);
        Delta::TextDelta { text: added, part: open.part }
    }

    fn add_refusal(&mut self, key: Option<u64>, added: String) -> Delta {
        let at = self.refusal_part(key);
        let open = &mut self.refusals[at];
        open.content.text.push_str(&added);
        Delta::RefusalDelta { text: added, part: open.part }
    }

    fn add_reasoning(&mut self, key: Option<u64>, form: ReasoningForm, added: String) -> Delta {
        let at = self.reasoning_part(key);
        let Open { part, content, .. } = &mut self.reasoning[at];
        match form {
            ReasoningForm::Summary => match content.summary.last_mut() {
                Some(paragraph) => paragraph.push_str(&added),
                None => content.summary.push(added.clone()),
            },
            _ => content.text.get_or_insert_default().push_str(&added),
        }
        Delta::ReasoningDelta { text: added, form, part: *part }
    }

    /// Returns the position of the text with a key, beginning it if needed.
    fn text_part(&mut self, key: Option<u64>) -> usize {
        let message = self.ended_messages.len();
        part_at(&mut self.texts, key, Piece::Text, message, (&mut self.order, &mut self.parts))
    }

    /// Returns the position of the refusal with a key, beginning it if needed.
    fn refusal_part(&mut self, key: Option<u64>) -> usize {
        let message = self.ended_messages.len();
        part_at(&mut self.refusals, key, Piece::Refusal, message, (&mut self.order, &mut self.parts))
    }

    /// Returns the position of the reasoning with a key, beginning it if needed.
    fn reasoning_part(&mut self, key: Option<u64>) -> usize {
        let message = self.ended_messages.len();
        part_at(&mut self.reasoning, key, Piece::Reasoning, message, (&mut self.order, &mut self.parts))
    }

    fn provider_call(&mut self, call_id: &CallId) -> Option<&mut OpenProviderCall> {
        self.provider_calls.get_mut(call_id)
    }
}

/// Returns the position of the part with a key, beginning it if needed. Without a key, the last piece's position if it
/// is a part without one.
fn part_at<T: Default>(
    parts: &mut OpenParts<T>,
    key: Option<u64>,
    piece: fn(usize) -> Piece,
    message: usize,
    (order, begun): (&mut Vec<Piece>, &mut usize),
) -> usize {
    let found = match &key {
        Some(key) => parts.position(key),
        None => parts.last_without_key().filter(|at| order.last() == Some(&piece(*at))),
    };
    found.unwrap_or_else(|| {
        let part = *begun;
        *begun += 1;
        order.push(piece(parts.len()));
        parts.push(key, Open { part, message, content: T::default() })
    })
}
