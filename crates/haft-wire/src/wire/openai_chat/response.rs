//! Chat Completions responses.

use haft_core::{Finish, Turn, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::answer::{Answer, AnswerReader};
use super::error::ErrorBody;
use super::lenient::{LenientCount, LenientList, LenientObject, LenientText};
use crate::wire::ReadContext;
use crate::wire::response::turn_builder::TurnBuilder;
use crate::wire_error::ReadError;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Completion<'b> {
    #[serde(borrow)]
    id: LenientText<'b>,
    #[serde(borrow)]
    model: LenientText<'b>,
    #[serde(borrow)]
    choices: LenientList<Choice<'b>>,
    usage: LenientObject<ChatUsage>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'b> {
    #[serde(borrow)]
    finish_reason: LenientText<'b>,
    #[serde(borrow)]
    message: LenientObject<Answer<'b>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChatUsage {
    prompt_tokens: LenientCount,
    completion_tokens: LenientCount,
    total_tokens: LenientCount,
    prompt_tokens_details: LenientObject<PromptDetails>,
    completion_tokens_details: LenientObject<CompletionDetails>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: LenientCount,
    cache_write_tokens: LenientCount,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: LenientCount,
}

/// The reasons why an answer ended. All others are kept by name.
const FINISHES: [(&str, Finish); 8] = [
    ("stop", Finish::Stop),
    ("eos", Finish::Stop),
    ("tool_calls", Finish::ToolCalls),
    ("function_call", Finish::ToolCalls),
    ("length", Finish::Length),
    ("model_length", Finish::Length),
    ("content_filter", Finish::ContentFilter),
    ("error", Finish::Error),
];

pub(super) fn read(provider: &str, body: &str, context: &ReadContext) -> Result<Turn, ReadError> {
    let completion: Completion<'_> =
        serde_json::from_str(body).map_err(|error| ReadError::json("the chat completion", error))?;
    if let Some(error) = ErrorBody::of(completion.error) {
        return Err(ReadError::Provider(error.unannounced()));
    }
    let Some(Choice { finish_reason, message: LenientObject(Some(message)) }) =
        completion.choices.into_objects().into_iter().next()
    else {
        return Err(ReadError::invalid("the chat completion has no choice with a message"));
    };
    let mut answer = AnswerReader::new(provider, context);
    // What a stream displays is not needed.
    let mut deltas = Vec::new();
    answer.named(completion.id.get(), completion.model.get());
    if let Some(usage) = completion.usage.0 {
        answer.usage(usage.into());
    }
    answer.add_whole(message, &mut deltas);
    Ok(answer.finish(|turn| finish(finish_reason.get(), turn), &mut deltas))
}

/// Returns the reason why an answer ended. Without one it counts as cut off.
pub(super) fn finish(reason: Option<&str>, turn: &TurnBuilder) -> Finish {
    let reason = reason.unwrap_or("missing");
    let known = FINISHES.iter().find(|(name, _)| *name == reason).map(|(_, finish)| finish.clone());
    match known.unwrap_or_else(|| Finish::Other(reason.to_owned())) {
        Finish::Stop if turn.has_calls() => Finish::ToolCalls,
        Finish::Stop if turn.has_refusal() => Finish::Refusal,
        finish => finish,
    }
}

impl From<ChatUsage> for Usage {
    fn from(usage: ChatUsage) -> Self {
        let count = |count: LenientCount| count.0.unwrap_or(0);
        let prompt = usage.prompt_tokens_details.0.unwrap_or_default();
        let completion = usage.completion_tokens_details.0.unwrap_or_default();
        let mut counted = Self::new(count(usage.prompt_tokens), count(usage.completion_tokens))
            .cache_read(count(prompt.cached_tokens))
            .cache_write(count(prompt.cache_write_tokens))
            .reasoning(count(completion.reasoning_tokens));
        if let Some(total) = usage.total_tokens.0 {
            counted = counted.total(total);
        }
        counted
    }
}
