//! Answers that must be a value of a type: how a model is asked for one, and how its answer is checked.
//!
//! An answer is read by the same checks as the arguments of a call. Requests and loops share this code, so that an answer
//! that one of them accepts is accepted by the other; only the reading itself is compiled per type.

use haft_core::{Author, ContentPart, Finish, Item, OutputFormat, Turn, TurnRequest};
use haft_schema::isolation::isolated;
use haft_schema::{DecodeOptions, Issue, Issues, REASON_CAP, Repair, RepairKind, Schema, SchemaError};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// The longest name of a format that all providers accept.
const NAME_LENGTH: usize = 64;

/// The type of an answer.
#[derive(Clone, Debug)]
pub(crate) struct AnswerFormat {
    name: String,
    schema: Schema,
    pub(crate) options: DecodeOptions,
    check: fn(&Schema, &str, &DecodeOptions) -> Result<(), Issues>,
}

/// The reason why a turn contains no answer, although the model has finished.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The model refused to answer, with this text.
    Refused(String),
    /// The turn was cut off, or paused.
    CutOff(Finish),
}

impl AnswerFormat {
    pub(crate) fn of<T: DeserializeOwned + JsonSchema>() -> Result<Self, SchemaError> {
        Ok(Self {
            name: format_name(&T::schema_name()),
            schema: Schema::of::<T>()?,
            options: DecodeOptions::default(),
            check: |schema, text, options| schema.decode::<T>(text, options).map(drop),
        })
    }

    /// Asks for the format in a request. A format that the request has keeps its name, description and strictness.
    pub(crate) fn apply(&self, request: &mut TurnRequest) {
        let schema = self.schema.as_json().clone();
        match &mut request.output_format {
            Some(format) => format.schema = schema,
            format @ None => {
                let new = OutputFormat::new(self.name.clone(), schema);
                *format = Some(self.schema.description().into_iter().fold(new, OutputFormat::describe));
            }
        }
    }

    /// Checks an answer.
    pub(crate) fn check(&self, answer: &str) -> Result<(), Issues> {
        read_with(answer, |text| (self.check)(&self.schema, text, &self.options)).map(drop)
    }

    /// Reads an answer, and returns the repairs that were made.
    pub(crate) fn read<T: DeserializeOwned>(&self, answer: &str) -> Result<(T, Vec<Repair>), Issues> {
        let (decoded, fence) = read_with(answer, |text| self.schema.decode::<T>(text, &self.options))?;
        Ok((decoded.value, fence.into_iter().chain(decoded.repairs).collect()))
    }
}

impl NoAnswer {
    /// Returns the reason why the turn has no answer, if it has none.
    pub(crate) fn of(turn: &Turn) -> Option<Self> {
        let refusal = turn.refusal();
        if refusal.is_some() || turn.finish == Finish::Refusal {
            return Some(Self::Refused(refusal.unwrap_or_else(|| turn.text())));
        }
        let is_whole = !turn.is_cut_off() && turn.finish != Finish::Pause;
        (!is_whole).then(|| Self::CutOff(turn.finish.clone()))
    }
}

/// Returns the answer at the end of a turn or a history: the last message of the model with text in it. Earlier messages
/// may announce what the model is about to do.
pub(crate) fn final_answer(items: &[Item]) -> String {
    let is_by_model = |item: &&Item| matches!(item.author(), Author::Model | Author::Provider);
    let texts = items.iter().rev().take_while(is_by_model).filter_map(|item| match item {
        Item::Message(message) => Some(message.content.iter().filter_map(ContentPart::as_text).collect::<String>()),
        _ => None,
    });
    texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

/// Returns the message that asks for a corrected answer.
pub(crate) fn correction(issues: &Issues) -> Item {
    let issues = issues.reason(REASON_CAP);
    Item::user(format!("Your answer is invalid: {issues}. Answer again, with the corrected JSON only."))
}

/// Reads the text of an answer, without its code fence if it has one.
fn read_with<D>(answer: &str, read: impl FnOnce(&str) -> Result<D, Issues>) -> Result<(D, Option<Repair>), Issues> {
    let (text, fence) = match unfenced(answer) {
        Some(text) => (text, Some(Repair::new("", RepairKind::CodeFence))),
        None => (answer, None),
    };
    if text.trim().is_empty() {
        // Blank arguments mean that there are none. An answer that is blank is missing.
        return Err(Issue::new("", "required", "the answer is empty; it must be JSON").into());
    }
    // The type's own code may panic. The text of a panic is not for the model.
    let unreadable = |_| Err(Issue::new("", "type", "can't be read by the application").into());
    Ok((isolated(|| read(text)).unwrap_or_else(unreadable)?, fence))
}

/// Returns the text inside of a Markdown code fence that encloses the whole answer. No JSON text begins with a fence.
fn unfenced(answer: &str) -> Option<&str> {
    let inside = answer.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (language, text) = inside.split_once('\n')?;
    let is_json = language.trim().is_empty() || language.trim().eq_ignore_ascii_case("json");
    is_json.then(|| text.trim())
}

/// Returns the name of a type in the characters that all providers accept.
fn format_name(type_name: &str) -> String {
    let allowed = |character: char| if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' };
    let name: String = type_name.chars().map(allowed).take(NAME_LENGTH).collect();
    if name.is_empty() { "answer".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_removed_only_if_it_encloses_the_whole_answer() {
        for (answer, inside) in [
            ("```json\n{\"a\":1}\n```", Some("{\"a\":1}")),
            (" ```JSON \r\n[1]\r\n``` \n", Some("[1]")),
            ("```\n1```", Some("1")),
            ("```\n```", Some("")),
            ("```rust\n1\n```", None),
            ("Here it is:\n```json\n1\n```", None),
            ("```json\n1\n```\nThat is it.", None),
            ("```1```", None),
            ("```", None),
            ("`1`", None),
            ("{\"a\":\"```\\n```\"}", None),
        ] {
            assert_eq!(unfenced(answer), inside, "{answer:?}");
        }
    }

    #[test]
    fn names_are_made_of_what_providers_accept() {
        for (name, expected) in
            [("Forecast", "Forecast"), ("Array_of_é<T>", "Array_of___T_"), ("", "answer"), ("a-1", "a-1")]
        {
            assert_eq!(format_name(name), expected);
        }
        assert_eq!(format_name(&"x".repeat(100)).len(), NAME_LENGTH);
    }

    #[test]
    fn the_answer_is_the_last_message_of_the_model_with_text() {
        let call = Item::from(haft_core::ToolCall::new("c1", "search", "{}").executed_by_provider());
        let items = [
            Item::user("go"),
            Item::assistant("Let me look."),
            call,
            Item::assistant("1"),
            haft_core::Reasoning::text("hm").into(),
            Item::assistant(" "),
        ];
        assert_eq!(final_answer(&items), "1");
        assert_eq!(final_answer(&items[..2]), "Let me look.");
        assert_eq!(final_answer(&items[..1]), "");
    }
}
