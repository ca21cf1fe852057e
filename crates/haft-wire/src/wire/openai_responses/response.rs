//! Responses: the envelope, the usage and the end reason.

mod item;
mod message;

use std::borrow::Cow;

use haft_core::{Finish, Turn, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(super) use self::item::{ItemReader, OutputKind, belongs_to_no_call, is_failed, required};
pub(super) use self::message::citation;
use super::error::ResponsesError;
use crate::wire::ReadContext;
use crate::wire::response::text::Text;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire_error::ReadError;

/// A response. All members may be absent.
#[derive(Deserialize)]
pub(super) struct ResponseBody<'b> {
    #[serde(borrow, default)]
    id: Option<Text<'b>>,
    #[serde(borrow, default)]
    model: Option<Text<'b>>,
    #[serde(borrow, default)]
    status: Option<Text<'b>>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'b RawValue>>,
    #[serde(borrow, default)]
    usage: Option<&'b RawValue>,
    #[serde(borrow, default)]
    error: Option<&'b RawValue>,
    #[serde(borrow, default)]
    incomplete_details: Option<IncompleteDetails<'b>>,
    // What a turn has no field for is kept as its data.
    #[serde(borrow, default)]
    conversation: Option<&'b RawValue>,
    #[serde(borrow, default)]
    moderation: Option<&'b RawValue>,
    #[serde(borrow, default)]
    prompt_cache_diagnostics: Option<&'b RawValue>,
    #[serde(borrow, default)]
    service_tier: Option<&'b RawValue>,
    #[serde(borrow, default)]
    tool_usage: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct IncompleteDetails<'b> {
    #[serde(borrow, default)]
    reason: Option<Text<'b>>,
}

/// The usage. Input includes cache reads and writes, and output includes reasoning.
#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageBody {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

/// Reads a whole response.
pub(super) fn read(provider: &str, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
    let response = ResponseBody::read(body)?;
    if response.is_other() {
        return Err(ReadError::invalid("the response is invalid: it has neither `output` nor `status`"));
    }
    let mut turn = TurnBuilder::new(context);
    let reader = ItemReader::new(provider, context);
    response.ensure_success()?;
    let Some(output) = &response.output else {
        return Err(ReadError::invalid("the response has no `output`; check that the server has the Responses API"));
    };
    for item in output {
        reader.read(&mut turn, item.get())?;
    }
    Ok(response.finish(provider, turn))
}

impl<'b> ResponseBody<'b> {
    pub(super) fn read(body: &'b str) -> Result<Self, ReadError> {
        serde_json::from_str(body).map_err(|error| ReadError::json("the response", error))
    }

    /// Reports whether this is some other object, such as another server's answer.
    fn is_other(&self) -> bool {
        self.output.is_none() && self.status.is_none() && self.error.is_none()
    }

    /// Sets the status that a stream's last event type stands for, unless the response states one.
    pub(super) fn or_status(mut self, event_type: &'b str) -> Self {
        let status = event_type.strip_prefix("response.").unwrap_or(event_type);
        self.status.get_or_insert(Text(Cow::Borrowed(status)));
        self
    }

    /// Returns the usage, if the response states it.
    pub(super) fn usage(&self) -> Option<Usage> {
        let usage: UsageBody = serde_json::from_str(self.usage?.get()).ok()?;
        Some(usage.usage())
    }

    /// Returns a failed response's error.
    pub(super) fn ensure_success(&self) -> Result<(), ReadError> {
        let status = self.status.as_ref().map(Text::as_str);
        if status == Some("failed") || (status.is_none() && self.error.is_some()) {
            let error = self.error.map(|error| ResponsesError::read(error.get())).unwrap_or_default();
            return Err(ReadError::Provider(error.into_report()));
        }
        Ok(())
    }

    /// Completes a turn whose items were read.
    pub(super) fn finish(self, provider: &str, mut turn: TurnBuilder) -> Turn {
        let status = self.status.as_ref().map(Text::as_str);
        if let Some(usage) = self.usage() {
            *turn.usage_mut() = usage;
        }
        let reason = self.incomplete_details.as_ref().and_then(|details| details.reason.as_ref());
        let finish = finish(status, reason.map(Text::as_str), &turn);
        if let Some(data) = self.further_data() {
            turn.provider_data().insert(provider.to_owned(), Value::Object(data));
        }
        if let Some(id) = self.id {
            turn.response_id(id.0.into_owned());
        }
        if let Some(model) = self.model {
            turn.model(model.0.into_owned());
        }
        let mut turn = turn.finish(finish);
        if turn.finish == Finish::Stop && turn.refusal().is_some() {
            turn.finish = Finish::Refusal;
        }
        turn
    }

    fn further_data(&self) -> Option<Map<String, Value>> {
        let members = [
            ("conversation", self.conversation),
            ("moderation", self.moderation),
            ("prompt_cache_diagnostics", self.prompt_cache_diagnostics),
            ("service_tier", self.service_tier),
            ("tool_usage", self.tool_usage),
        ];
        let read = |(key, value): (&str, Option<&RawValue>)| {
            let value: Value = serde_json::from_str(value?.get()).ok()?;
            (!value.is_null()).then(|| (key.to_owned(), value))
        };
        let data: Map<String, Value> = members.into_iter().filter_map(read).collect();
        (!data.is_empty()).then_some(data)
    }
}

/// Returns the end reason. An unknown status or reason counts as cut off.
fn finish(status: Option<&str>, reason: Option<&str>, turn: &TurnBuilder) -> Finish {
    match (status, reason) {
        (None | Some("completed"), _) if turn.has_calls() => Finish::ToolCalls,
        (None | Some("completed"), _) => Finish::Stop,
        (Some("incomplete"), Some("max_output_tokens")) => Finish::Length,
        (Some("incomplete"), Some("content_filter")) => Finish::ContentFilter,
        (Some("incomplete"), Some(reason)) => Finish::Other(reason.to_owned()),
        (Some(status), _) => Finish::Other(status.to_owned()),
    }
}

impl UsageBody {
    fn usage(&self) -> Usage {
        let (input, output) = (self.input_tokens.unwrap_or(0), self.output_tokens.unwrap_or(0));
        let usage = Usage::new(input, output);
        let read = self.input_tokens_details.as_ref();
        let reasoning = self.output_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        usage
            .total(self.total_tokens.unwrap_or(usage.total_tokens))
            .cache_read(read.and_then(|details| details.cached_tokens).unwrap_or(0))
            .cache_write(read.and_then(|details| details.cache_write_tokens).unwrap_or(0))
            .reasoning(reasoning.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use haft_core::{Item, TurnRequest};

    use super::*;
    use crate::wire::openai_responses::OpenAiResponses;
    use crate::wire::{Delivery, Wire};

    #[test]
    fn an_object_of_another_kind_is_no_turn() {
        let wire = OpenAiResponses::new();
        let context = wire.request(&TurnRequest::new("m", vec![Item::user("?")]), Delivery::Whole).unwrap().context;
        for body in ["{}", r#"{"detail":"Not Found"}"#, r#"{"output":null,"status":null,"error":null}"#] {
            let read = wire.response(body, &context);
            assert!(matches!(read, Err(ReadError::Invalid { .. })), "{body}: {read:?}");
        }
        assert!(wire.response(r#"{"output":[]}"#, &context).is_ok());
    }
}
