//! The turn that a response or a stream's chunks add up to.
//!
//! Adjacent pieces of text are joined, so that a stream and a whole response give the same turn. A text with a
//! signature stays a part of its own, because it must go back with exactly that signature.

mod built_in;
mod call;

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use haft_core::{CallId, Citation, ContentPart, Delta, MediaData, MediaPart, ReasoningForm, Turn};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use self::call::OpenCall;
use super::citation;
use super::error;
use super::finish::{fault, finish};
use super::response::{Candidate, GeminiResponse, ReadPart};
use super::usage::GeminiUsage;
use crate::profile::rendered_tools::RenderedTools;
use crate::wire::ReadContext;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire_error::{ErrorCause, ErrorReport, ReadError};

/// The `provider_data` member with a part's signature.
pub(super) const SIGNATURE: &str = "thoughtSignature";
/// The `provider_data` member with a part's members beside its content.
pub(super) const MEMBERS: &str = "members";
/// The `provider_data` member with a call's id.
pub(super) const CALL_ID: &str = "id";
/// The type for a part that this version does not know.
pub(super) const UNKNOWN_PART: &str = "google.part";
/// The part members whose content is a file.
const MEDIA: [&str; 2] = ["inlineData", "fileData"];
/// The response member with search sources.
const GROUNDING: &str = "groundingMetadata";
/// The response member that explains its end.
const FINISH_MESSAGE: &str = "finishMessage";
/// The type for a chunk that this version does not know.
const UNKNOWN_CHUNK: &str = "google.chunk";

/// A turn in progress.
#[derive(Debug)]
pub(super) struct GeminiTurn {
    provider: String,
    builder: TurnBuilder,
    tools: Arc<RenderedTools>,
    /// True if the text is an answer in a format, which is converted as a whole.
    is_formatted: bool,
    last: LastPart,
    /// The number of part keys given out.
    keys: u64,
    texts: Vec<u64>,
    /// The number of history items, and of calls that got an id here.
    history_items: usize,
    assigned_ids: usize,
    /// All call ids so far.
    call_ids: HashSet<CallId>,
    open_call: Option<OpenCall>,
    usage: GeminiUsage,
    sources: Vec<Citation>,
    has_candidate: bool,
    finish_reason: Option<String>,
    /// Response members that are kept as they are.
    data: Map<String, Value>,
    seen: SeenNames,
}

/// The response's names that have arrived; every chunk repeats them.
#[derive(Debug, Default)]
struct SeenNames {
    response_id: bool,
    model: bool,
}

/// The last part, as far as the next one may belong to it.
#[derive(Debug, PartialEq, Eq)]
enum LastPart {
    /// Text that more text is added to.
    Text(u64),
    /// A thought that later pieces extend.
    Thought(u64),
    /// A call that the provider executes, without its result.
    ProviderCall(CallId),
    /// Another part, or none.
    Closed,
}

/// A part's members beside its content, which are sent back with it.
#[derive(Debug, Default)]
struct PartExtras<'r> {
    signature: Option<Cow<'r, str>>,
    members: Map<String, Value>,
}

impl GeminiTurn {
    pub(super) fn new(provider: &str, context: &ReadContext) -> Self {
        Self {
            provider: provider.to_owned(),
            builder: TurnBuilder::new(context),
            tools: Arc::clone(&context.tools),
            is_formatted: !context.output.is_identity(),
            last: LastPart::Closed,
            keys: 0,
            texts: Vec::new(),
            history_items: context.turn,
            assigned_ids: 0,
            call_ids: HashSet::new(),
            open_call: None,
            usage: GeminiUsage::default(),
            sources: Vec::new(),
            has_candidate: false,
            finish_reason: None,
            data: Map::new(),
            seen: SeenNames::default(),
        }
    }

    /// Reports whether any answer part has arrived.
    pub(super) fn has_candidate(&self) -> bool {
        self.has_candidate
    }

    /// Reports whether the reason for the end arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }

    /// Adds a response, or a chunk of one.
    pub(super) fn add(&mut self, response: GeminiResponse<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        if let Some(error) = response.error {
            return Err(ReadError::Provider(error::of_body(error.get())));
        }
        if let Some(id) = response.response_id.filter(|_| !self.seen.response_id) {
            self.seen.response_id = true;
            self.builder.response_id(id.0);
        }
        if let Some(model) = response.model_version.filter(|_| !self.seen.model) {
            self.seen.model = true;
            self.builder.model(model.0);
        }
        // Several answers are possible, but a turn is one: the first.
        for candidate in response.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or_default() == 0 {
                self.add_candidate(candidate, deltas)?;
            }
        }
        if let Some(feedback) = response.prompt_feedback {
            self.check_feedback(feedback)?;
        }
        if let Some(usage) = response.usage_metadata {
            let before = self.usage;
            self.usage.update(usage);
            if self.usage != before {
                deltas.push(self.builder.usage(self.usage.usage()));
            }
        }
        Ok(())
    }

    /// Passes on a chunk that has none of a response's members.
    pub(super) fn unknown_chunk(chunk: &str, deltas: &mut Vec<Delta>) {
        deltas.extend(unknown_delta(UNKNOWN_CHUNK, "chunk", &serde_json::from_str(chunk).unwrap_or_default()));
    }

    /// Completes the turn.
    pub(super) fn complete(mut self, deltas: &mut Vec<Delta>) -> Result<Turn, ReadError> {
        // The protobuf default for a missing reason.
        let reason = self.finish_reason.as_deref().unwrap_or("FINISH_REASON_UNSPECIFIED");
        if let Some(fault) = fault(reason, self.builder.has_answer()) {
            return Err(self.unusable(fault, reason));
        }
        let finish = finish(reason, self.builder.has_calls());
        match self.open_call.take() {
            Some(call) if finish.is_cut_off() => self.end_call(call, deltas),
            Some(call) => return Err(call.incomplete()),
            None => {}
        }
        self.cite(deltas);
        if !self.data.is_empty() {
            let data = std::mem::take(&mut self.data);
            self.builder.provider_data().insert(self.provider.clone(), Value::Object(data));
        }
        Ok(self.builder.finish(finish))
    }

    /// Returns the error for an unusable response. Another attempt usually succeeds.
    fn unusable(&self, fault: &str, reason: &str) -> ReadError {
        let mut message = format!("{fault} ({reason})");
        if let Some(more) = self.data.get(FINISH_MESSAGE).and_then(Value::as_str) {
            message.push_str(": ");
            message.push_str(more);
        }
        ReadError::Provider(ErrorReport::new(
            ErrorCause::Unavailable,
            crate::wire::response::error_body::capped(message),
        ))
    }

    /// Rejects a response to a prompt that was blocked.
    fn check_feedback(&mut self, feedback: &RawValue) -> Result<(), ReadError> {
        #[derive(Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        struct Feedback {
            block_reason: Option<String>,
            block_reason_message: Option<String>,
        }

        let Feedback { block_reason, block_reason_message } = serde_json::from_str(feedback.get()).unwrap_or_default();
        match block_reason {
            Some(reason) if !self.has_candidate => {
                let mut message = format!("the prompt was blocked: {reason}");
                if let Some(more) = block_reason_message {
                    message.push_str(": ");
                    message.push_str(&more);
                }
                let message = crate::wire::response::error_body::capped(message);
                Err(ReadError::Provider(ErrorReport::new(ErrorCause::ContentFiltered, message)))
            }
            _ => Ok(()),
        }
    }

    fn add_candidate(&mut self, candidate: Candidate<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        self.has_candidate = true;
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.add_part(part, deltas)?;
        }
        if let Some(reason) = candidate.finish_reason {
            self.finish_reason = Some(reason.0.into_owned());
        }
        if let Some(grounding) = candidate.grounding_metadata {
            self.keep_grounding(grounding);
        }
        if let Some(citations) = candidate.citation_metadata {
            self.sources.extend(citation::recited(citations));
        }
        for (name, json) in [
            ("urlContextMetadata", candidate.url_context_metadata),
            (FINISH_MESSAGE, candidate.finish_message),
            ("continuationToken", candidate.continuation_token),
        ] {
            if let Some(json) = json {
                self.keep(name, json);
            }
        }
        Ok(())
    }

    /// Keeps a response member in the turn's data. A member that can't be read is left out.
    fn keep(&mut self, name: &str, json: &RawValue) {
        if let Ok(json) = serde_json::from_str::<Value>(json.get()) {
            self.data.insert(name.to_owned(), json);
        }
    }

    /// Merges the search sources into those so far. Chunks repeat the member, also without content.
    fn keep_grounding(&mut self, json: &RawValue) {
        let Ok(Value::Object(more)) = serde_json::from_str(json.get()) else { return };
        if more.is_empty() {
            return;
        }
        match self.data.entry(GROUNDING).or_insert_with(|| Value::Object(Map::new())) {
            Value::Object(known) => known.extend(more),
            other => *other = Value::Object(more),
        }
    }

    fn add_part(&mut self, mut part: ReadPart<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        if let Some(call) = part.call.take() {
            self.last = LastPart::Closed;
            let extras = PartExtras::of(&mut part, &[])?;
            return self.add_call(call, extras, deltas);
        }
        if part.is_empty() {
            return Ok(());
        }
        if let Some(report) = built_in::Report::of(&part) {
            return self.add_report(&report, &part, deltas);
        }
        // A picture among the thoughts is not an answer, and is sent back as it is.
        if let Some(media) = media(&part).filter(|_| !part.is_thought) {
            let extras = PartExtras::of(&mut part, &MEDIA)?;
            self.add_media(media, extras);
            return Ok(());
        }
        let has_text = part.text.as_ref().is_some_and(|text| !text.is_empty());
        if !has_text && !part.members.is_empty() {
            return self.add_unknown(&part, deltas);
        }
        let text = part.text.take().unwrap_or_default();
        let is_thought = part.is_thought;
        let extras = PartExtras::of(&mut part, &[])?;
        if is_thought {
            self.add_thought(text, extras, deltas);
        } else {
            self.add_text(text, extras, deltas);
        }
        Ok(())
    }

    fn add_text(&mut self, text: Cow<'_, str>, extras: PartExtras<'_>, deltas: &mut Vec<Delta>) {
        if text.is_empty() && extras.is_empty() {
            return;
        }
        let key = match self.last {
            LastPart::Text(key) if extras.is_empty() || self.is_formatted => key,
            _ => {
                let key = self.next_key();
                self.texts.push(key);
                key
            }
        };
        let stays_open = extras.is_empty() || self.is_formatted;
        self.last = if stays_open { LastPart::Text(key) } else { LastPart::Closed };
        if !text.is_empty() {
            deltas.push(self.builder.text_at(key, text));
        }
        if !extras.is_empty() {
            extras.insert(&mut self.builder.text_mut(key).provider_data, &self.provider);
        }
    }

    fn add_thought(&mut self, text: Cow<'_, str>, mut extras: PartExtras<'_>, deltas: &mut Vec<Delta>) {
        if text.is_empty() && extras.is_empty() {
            return;
        }
        let key = match self.last {
            LastPart::Thought(key) if extras.is_empty() => key,
            _ => self.next_key(),
        };
        self.last = if extras.is_empty() { LastPart::Thought(key) } else { LastPart::Closed };
        if !text.is_empty() {
            deltas.push(self.builder.reasoning_at(key, ReasoningForm::Summary, text));
        }
        let reasoning = self.builder.reasoning_mut(key);
        if reasoning.provider.is_none() {
            reasoning.provider = Some(self.provider.clone());
        }
        reasoning.signature = extras.signature.take().map(Cow::into_owned);
        extras.insert(&mut reasoning.provider_data, &self.provider);
    }

    fn add_media(&mut self, mut media: MediaPart, extras: PartExtras<'_>) {
        self.last = LastPart::Closed;
        extras.insert(&mut media.provider_data, &self.provider);
        let media_type = media.media_type.as_deref().unwrap_or_default();
        let part = match media_type.split('/').next() {
            Some("image") => ContentPart::Image(media),
            Some("audio") => ContentPart::Audio(media),
            _ => ContentPart::File(media),
        };
        self.builder.content(part);
    }

    /// Keeps a part with an unknown shape, to send it back.
    fn add_unknown(&mut self, part: &ReadPart<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        self.last = LastPart::Closed;
        let part = part.to_json()?;
        let kept = json!({"type": UNKNOWN_PART, "provider": self.provider, "part": part});
        self.builder.content(ContentPart::Unknown(kept));
        deltas.extend(unknown_delta(UNKNOWN_PART, "part", &part));
        Ok(())
    }

    /// Adds the sources that the response names to the texts they belong to.
    fn cite(&mut self, deltas: &mut Vec<Delta>) {
        let mut citations = self.data.get(GROUNDING).map(citation::grounded).unwrap_or_default();
        citations.append(&mut self.sources);
        if citations.is_empty() {
            return;
        }
        // Positions count within a part, whose number is unknown in a stream.
        let text = |key: &u64| (*key, self.builder.text_mut(*key).text.clone());
        let texts: Vec<(u64, String)> = self.texts.iter().take(citation::MAX_TEXTS).map(text).collect();
        for citation in citations {
            let found = texts.iter().find(|(_, text)| citation::is_in(&citation, text)).map(|(key, _)| key);
            if let Some(key) = found.or(self.texts.last()) {
                deltas.push(self.builder.citation_at(*key, citation));
            }
        }
    }

    fn next_key(&mut self) -> u64 {
        self.keys += 1;
        self.keys
    }

    /// Returns an id for a call without one. It depends only on the call's position in the conversation.
    fn assigned_id(&mut self) -> CallId {
        loop {
            self.assigned_ids += 1;
            let id = CallId::from(format!("call_{}_{}", self.history_items, self.assigned_ids));
            if self.call_ids.insert(id.clone()) {
                return id;
            }
        }
    }
}

impl<'r> PartExtras<'r> {
    /// Takes the members that a part has beside its content members.
    fn of(part: &mut ReadPart<'r>, content: &[&str]) -> Result<Self, ReadError> {
        let signature = part.signature.take();
        let is_content = |name: &str| content.contains(&name);
        if part.members.iter().all(|(name, _)| is_content(name)) {
            return Ok(Self { signature, members: Map::new() });
        }
        let Value::Object(mut members) = part.to_json()? else { return Ok(Self { signature, members: Map::new() }) };
        members.retain(|name, _| !is_content(name) && !matches!(name.as_str(), "text" | "thought"));
        Ok(Self { signature, members })
    }

    fn is_empty(&self) -> bool {
        self.signature.is_none() && self.members.is_empty()
    }

    /// Adds everything to a provider's data.
    fn insert(self, data: &mut Map<String, Value>, provider: &str) {
        if let Some(signature) = self.signature {
            insert_data(data, provider, SIGNATURE, signature.into());
        }
        if !self.members.is_empty() {
            insert_data(data, provider, MEMBERS, self.members.into());
        }
    }
}

/// Adds a member to a provider's data.
fn insert_data(data: &mut Map<String, Value>, provider: &str, member: &str, value: Value) {
    let entry = data.entry(provider).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(members) = entry {
        members.insert(member.to_owned(), value);
    }
}

/// Reads a file's or picture's content.
fn media(part: &ReadPart<'_>) -> Option<MediaPart> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ReadMedia {
        mime_type: Option<String>,
        data: Option<String>,
        file_uri: Option<String>,
        display_name: Option<String>,
    }

    if part.text.is_some() {
        return None;
    }
    let json = MEDIA.iter().find_map(|name| part.member(name))?;
    let read: ReadMedia = serde_json::from_str(json.get()).ok()?;
    let mut media = MediaPart::new(match (read.data, read.file_uri) {
        (Some(data), None) => MediaData::Base64(data),
        (None, Some(uri)) => MediaData::Url(uri),
        _ => return None,
    });
    media.media_type = read.mime_type;
    media.name = read.display_name;
    Some(media)
}

fn unknown_delta(kind: &str, member: &str, content: &Value) -> Option<Delta> {
    serde_json::from_value(json!({"type": kind, member: content})).ok()
}
