//! A conversation's written form: the loop's state, as the library writes it, with one more key.
//!
//! The file is a [`LoopState`] that programs can read as it is. The key `chat` holds what only the command needs.

use std::path::Path;

use haft::conversation::{Item, Usage};
use haft::model::LoopState;
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::input::TextInput;

/// The longest title, in characters.
const MAX_TITLE: usize = 60;

/// A conversation as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredChat {
    pub(crate) state: LoopState,
    pub(crate) details: ChatDetails,
}

/// The part of a stored conversation that only the command needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChatDetails {
    /// The model, as on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// The server, if it is not the provider's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base_url: Option<String>,
    /// The usage of all answers before the last question. The state has the usage of the answer to it.
    #[serde(default)]
    pub(crate) earlier_usage: Usage,
}

#[derive(Serialize)]
struct WrittenChat<'a> {
    #[serde(flatten)]
    state: &'a LoopState,
    chat: &'a ChatDetails,
}

#[derive(Deserialize)]
struct WrittenDetails {
    #[serde(default)]
    chat: ChatDetails,
}

impl StoredChat {
    /// Reads a conversation.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        Self::parse(&TextInput::read(path)?)
    }

    fn parse(input: &TextInput) -> Result<Self, Fault> {
        let unreadable = || Fault::new(format!("`{}` is not a conversation that can be continued", input.origin));
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&input.text) {
            return Err(unreadable()
                .excerpt(input.json_excerpt(0, &error))
                .advice("the file is unchanged; name another one, or start anew without `--resume`"));
        }
        let failed = |error: serde_json::Error| {
            unreadable()
                .cause(&error)
                .advice("the file is unchanged; it may be of a newer version of haft, or of another program")
        };
        let state = serde_json::from_str(&input.text).map_err(failed)?;
        let WrittenDetails { chat: details } = serde_json::from_str(&input.text).map_err(failed)?;
        Ok(Self { state, details })
    }

    /// Returns the written form.
    pub(crate) fn to_json(&self) -> Result<Vec<u8>, Fault> {
        let written = WrittenChat { state: &self.state, chat: &self.details };
        let mut text = serde_json::to_vec(&written)
            .map_err(|error| Fault::new("the conversation can't be written as JSON").cause(&error))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Returns the whole conversation's usage.
    pub(crate) fn usage(&self) -> Usage {
        self.details.earlier_usage + self.state.usage()
    }

    /// Adds a question. From now on, the usage so far belongs to earlier answers.
    pub(crate) fn ask(&mut self, question: &str) {
        self.details.earlier_usage = self.usage();
        self.state = self.state.clone().follow_up(Item::user(question));
    }

    /// Returns the first question in one line.
    pub(crate) fn title(&self) -> String {
        let first = self.state.history().iter().find_map(question_text).unwrap_or_default();
        let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() <= MAX_TITLE {
            return line;
        }
        line.chars().take(MAX_TITLE - 1).chain(['…']).collect()
    }

    /// Counts the questions.
    pub(crate) fn questions(&self) -> usize {
        self.state.history().iter().filter_map(question_text).count()
    }

    /// Returns the single-line questions, the latest last.
    pub(crate) fn question_lines(&self) -> Vec<String> {
        self.state.history().iter().filter_map(question_text).filter(|text| !text.contains('\n')).collect()
    }
}

/// Returns a user message's text.
fn question_text(item: &Item) -> Option<String> {
    let Item::Message(message) = item else { return None };
    if message.role != haft::conversation::Role::User {
        return None;
    }
    Some(message.content.iter().filter_map(haft::conversation::ContentPart::as_text).collect())
}

#[cfg(test)]
mod tests {
    use haft::conversation::TurnRequest;

    use super::*;

    fn chat() -> StoredChat {
        let state = LoopState::new(TurnRequest::new("gpt-5", Vec::new()));
        let details = ChatDetails { model: Some("openai:gpt-5".to_owned()), ..ChatDetails::default() };
        let mut chat = StoredChat { state, details };
        chat.ask("What  is\n7 * 6?");
        chat
    }

    fn parsed(text: &str) -> Result<StoredChat, Fault> {
        StoredChat::parse(&TextInput { origin: "a.json".to_owned(), text: text.to_owned() })
    }

    #[test]
    fn a_conversation_is_read_back_as_it_was_written() {
        let chat = chat();
        let text = String::from_utf8(chat.to_json().unwrap()).unwrap();
        let read = parsed(&text).unwrap();
        assert_eq!((&read.state, &read.details), (&chat.state, &chat.details));
        assert_eq!((read.title().as_str(), read.questions()), ("What is 7 * 6?", 1));
        // The library reads the file too.
        assert_eq!(serde_json::from_str::<LoopState>(&text).unwrap(), chat.state);
    }

    #[test]
    fn a_state_of_another_program_has_no_details() {
        let text = serde_json::to_string(&chat().state).unwrap();
        assert_eq!(parsed(&text).unwrap().details, ChatDetails::default());
    }

    #[test]
    fn broken_and_newer_files_are_reported() {
        let broken = parsed("{\"v\": 1, ").unwrap_err();
        assert!(broken.excerpt.is_some());
        let mut newer: serde_json::Value = serde_json::from_slice(&chat().to_json().unwrap()).unwrap();
        newer["v"] = 99.into();
        let newer = parsed(&newer.to_string()).unwrap_err();
        assert!(newer.causes[0].contains("99"), "{newer:?}");
        assert!(parsed("{}").unwrap_err().causes[0].contains("request"));
    }

    #[test]
    fn a_long_title_is_cut() {
        let mut chat =
            StoredChat { state: LoopState::new(TurnRequest::new("m", Vec::new())), details: ChatDetails::default() };
        chat.ask(&"long ".repeat(50));
        assert_eq!(chat.title().chars().count(), MAX_TITLE);
    }
}
