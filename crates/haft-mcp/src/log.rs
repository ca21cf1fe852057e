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

type RedactFn = dyn Fn(&mut Value) + Send + Sync;

type SinkFn = dyn Fn(&str) + Send + Sync;

/// The functions of an application that take part.
#[derive(Clone, Default)]
pub(crate) struct LogHooks {
    /// Removes secrets.
    pub(crate) redact: Option<Arc<RedactFn>>,
    /// Gets each line.
    pub(crate) sink: Option<Arc<SinkFn>>,
}

/// The log of one server. Clones share it.
#[derive(Clone)]
pub(crate) struct ServerLog(Arc<LogState>);

struct LogState {
    server: String,
    secrets: Vec<Secret>,
    hooks: LogHooks,
    lines: Mutex<VecDeque<String>>,
}

impl ServerLog {
    pub(crate) fn new(server: &str, secrets: Vec<Secret>, hooks: LogHooks) -> Self {
        Self(Arc::new(LogState { server: server.to_owned(), secrets, hooks, lines: Mutex::default() }))
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
        self.write(&format!("[{}] {text}", self.clean(&message.level)));
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
        self.write(&line);
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

    fn write(&self, line: &str) {
        if let Some(sink) = &self.0.hooks.sink {
            sink(line);
        }
    }

    /// Removes the secrets from what the server sent.
    pub(crate) fn redact(&self, value: &mut Value) {
        if let Some(redact) = &self.0.hooks.redact {
            redact(value);
        }
    }

    /// Returns a text of the server without secrets and control characters, cut to a maximum length.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut text = match &self.0.hooks.redact {
            Some(redact) => {
                let mut value = Value::from(text);
                redact(&mut value);
                value.as_str().unwrap_or_default().to_owned()
            }
            None => text.to_owned(),
        };
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
        let secrets = vec![Secret::new("sk-12345"), Secret::new("abc")];
        let log = ServerLog::new("s", secrets, LogHooks::default());
        assert_eq!(log.clean("token sk-12345, abc\u{1b}[2J"), "token [redacted], abc[2J");
        assert_eq!(log.clean(&"ä".repeat(5000)).len(), MAX_TEXT);
    }

    #[test]
    fn what_is_logged_reaches_the_function_without_secrets() {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&lines);
        let redact = |value: &mut Value| *value = value.as_str().unwrap().replace("czNjcmV0", "[removed]").into();
        let sink = move |line: &str| kept.lock().unwrap().push(line.to_owned());
        let hooks = LogHooks { redact: Some(Arc::new(redact)), sink: Some(Arc::new(sink)) };
        let log = ServerLog::new("s", Vec::new(), hooks);
        log.stderr("base64 czNjcmV0");
        let params = RawValue::from_string(r#"{"level": "info", "data": {"a": "czNjcmV0"}}"#.to_owned()).unwrap();
        log.message(Some(&params));
        assert_eq!(*lines.lock().unwrap(), ["base64 [removed]", r#"[info] {"a":"[removed]"}"#]);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let log = ServerLog::new("s", Vec::new(), LogHooks::default());
        (0..100).for_each(|line| log.stderr(&line.to_string()));
        let lines = log.last_lines();
        assert_eq!((lines.len(), &*lines[0], &*lines[19]), (KEPT_LINES, "80", "99"));
    }
}
