//! The log of a server, without secrets.
//!
//! A server chooses the level of its messages, so all of them are shown more quietly than our own: a server must not flood
//! the terminal of an operator. Every text is bounded, and the secrets that the server got are removed.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use haft_core::Secret;
use haft_schema::internal::CharBoundary;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The longest text of one log message.
const MAX_TEXT: usize = 2000;
/// The lines of a server's standard error that are kept for error messages.
const KEPT_LINES: usize = 20;
/// Shorter secrets occur in ordinary words.
const MIN_SECRET: usize = 4;

/// The log of one server. Clones share it.
#[derive(Clone)]
pub(crate) struct ServerLog(Arc<LogState>);

struct LogState {
    server: String,
    secrets: Vec<Secret>,
    lines: Mutex<VecDeque<String>>,
}

impl ServerLog {
    pub(crate) fn new(server: &str, secrets: Vec<Secret>) -> Self {
        Self(Arc::new(LogState { server: server.to_owned(), secrets, lines: Mutex::default() }))
    }

    pub(crate) fn server(&self) -> &str {
        &self.0.server
    }

    /// Logs a `notifications/message`.
    pub(crate) fn message(&self, params: Option<&RawValue>) {
        #[derive(Deserialize)]
        struct Message {
            #[serde(default)]
            level: String,
            data: Value,
        }
        let Some(message) = params.and_then(|params| Message::deserialize(params).ok()) else { return };
        let text = match message.data {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let (server, text) = (self.server(), self.clean(&text));
        match message.level.as_str() {
            "debug" | "info" | "notice" => tracing::debug!(server, "{text}"),
            "warning" => tracing::info!(server, "{text}"),
            _ => tracing::warn!(server, "{text}"),
        }
    }

    /// Logs a line of the server's standard error, and keeps it for error messages.
    pub(crate) fn stderr(&self, line: &str) {
        let line = self.clean(line);
        tracing::debug!(server = self.server(), "{line}");
        let mut lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Returns the last lines of the server's standard error.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Returns a text of the server without secrets and control characters, cut to a maximum length.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.0.secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= MIN_SECRET) {
            if text.contains(secret) {
                text = text.replace(secret, "[redacted]");
            }
        }
        text.truncate(text.floor_char_boundary_at(MAX_TEXT));
        text.retain(|character| !character.is_control() || character == '\n' || character == '\t');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_server_contains_no_secret_and_is_bounded() {
        let log = ServerLog::new("s", vec![Secret::new("sk-12345"), Secret::new("abc")]);
        assert_eq!(log.clean("token sk-12345, abc\u{1b}[2J"), "token [redacted], abc[2J");
        assert_eq!(log.clean(&"ä".repeat(5000)).len(), MAX_TEXT);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let log = ServerLog::new("s", Vec::new());
        (0..100).for_each(|line| log.stderr(&line.to_string()));
        let lines = log.last_lines();
        assert_eq!((lines.len(), &*lines[0], &*lines[19]), (KEPT_LINES, "80", "99"));
    }
}
