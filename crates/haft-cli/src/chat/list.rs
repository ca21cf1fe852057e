//! The list of stored conversations, the latest first.

use std::time::{Duration, SystemTime};

use haft::conversation::Timestamp;
use serde::Serialize;

use super::record::StoredChat;
use super::store::{ChatEntry, ChatFolder};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::terminal::{cut, one_line};

/// A conversation in the list.
#[derive(Serialize)]
struct ListedChat {
    id: String,
    path: String,
    modified_ms: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    title: String,
    /// The reason why the file can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip)]
    age: Duration,
}

/// Prints the conversations.
pub(crate) fn run(cx: &Context, is_json: bool) -> Result<ExitStatus, CommandError> {
    let now = SystemTime::now();
    let chats: Vec<ListedChat> =
        ChatFolder::of(cx)?.list()?.into_iter().map(|entry| ListedChat::of(entry, now)).collect();
    if is_json || !cx.terminal.stdout {
        for chat in &chats {
            cx.terminal.print_json(serde_json::to_string(chat).map_err(|error| CommandError::Output(error.into()))?)?;
        }
        return Ok(ExitStatus::Done);
    }
    if chats.is_empty() {
        cx.terminal.note("no conversation is stored; `haft chat` starts one");
        return Ok(ExitStatus::Done);
    }
    let width = cx.terminal.width();
    for chat in &chats {
        let messages = chat.messages.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let model = one_line(chat.model.as_deref().unwrap_or("?"));
        let title = match &chat.error {
            Some(error) => format!("can't be read: {}", one_line(error)),
            None => one_line(&chat.title),
        };
        let line = format!("{}  {:>8}  {messages:>3}  {}  {title}", chat.id, age_text(chat.age), cut(&model, 30));
        cx.terminal.print(cut(&line, width))?;
    }
    Ok(ExitStatus::Done)
}

impl ListedChat {
    fn of(entry: ChatEntry, now: SystemTime) -> Self {
        let ChatEntry { id, path, modified } = entry;
        let age = now.duration_since(modified).unwrap_or_default();
        let listed = Self {
            id,
            path: path.display().to_string(),
            modified_ms: modified.into(),
            model: None,
            messages: None,
            total_tokens: None,
            title: String::new(),
            error: None,
            age,
        };
        match StoredChat::read(&path) {
            Ok(chat) => Self {
                model: chat.details.model.clone(),
                messages: Some(chat.questions()),
                total_tokens: Some(chat.usage().total_tokens),
                title: chat.title(),
                ..listed
            },
            Err(fault) => Self { error: Some(fault.message), ..listed },
        }
    }
}

/// Returns an age as people read it.
fn age_text(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => "now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit() {
        let text = |seconds| age_text(Duration::from_secs(seconds));
        assert_eq!([text(5), text(60), text(7200), text(3 * 86_400)], ["now", "1 min", "2 h", "3 days"]);
    }
}
