//! Scripts in JSON.
//!
//! Scripts are written by hand, so nothing is guessed: every unknown key is rejected with its location, and the
//! problems of all turns are reported together.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use haft_core::{Finish, FormatVersion, Item, ToolCall, Turn, Usage};
use haft_schema::{Issue, Issues, Limits, REASON_CAP, secure_json};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expect::Expect;
use super::turn::{End, ScriptedTurn};
use crate::error::{ModelError, WrittenError};

/// The error of a script that can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file can't be read.
    #[error("can't read the script {}: {source}; correct the path", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of reading it.
        source: io::Error,
    },
    /// The text is not a script.
    #[error("not a script{}: {}", of(.path.as_deref()), .issues.reason(REASON_CAP))]
    Malformed {
        /// The file, if the script was read from one.
        path: Option<PathBuf>,
        /// All problems, each with its location.
        issues: Issues,
    },
}

/// Reads the turns of a script from a file.
pub(super) fn read_file(path: &Path) -> Result<Vec<ScriptedTurn>, ScriptError> {
    let path = || path.to_owned();
    let text = std::fs::read(path()).map_err(|source| ScriptError::Unreadable { path: path(), source })?;
    turns(&text).map_err(|issues| ScriptError::Malformed { path: Some(path()), issues })
}

/// Reads the turns of a script from text.
pub(super) fn read(text: &str) -> Result<Vec<ScriptedTurn>, ScriptError> {
    turns(text.as_bytes()).map_err(|issues| ScriptError::Malformed { path: None, issues })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenScript {
    #[serde(default, rename = "v")]
    _v: FormatVersion,
    turns: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTurn {
    text: Option<String>,
    reasoning: Option<String>,
    calls: Option<Vec<Value>>,
    turn: Option<Value>,
    usage: Option<Value>,
    finish: Option<Finish>,
    error: Option<Value>,
    then: Option<WrittenEnd>,
    delay_ms: Option<u64>,
    expect: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum WrittenEnd {
    Incomplete,
    Pending,
}

fn turns(text: &[u8]) -> Result<Vec<ScriptedTurn>, Issues> {
    let tree = secure_json::parse_with(text, &Limits::default().max_bytes(usize::MAX))?;
    let script = WrittenScript::deserialize(tree).map_err(|error| Issues::new(vec![form("", &error)]))?;
    let mut issues = Vec::new();
    let mut turns = Vec::new();
    for (index, turn) in script.turns.into_iter().enumerate() {
        let mut reader = TurnReader { pointer: format!("/turns/{index}"), issues: &mut issues };
        turns.extend(reader.turn(turn));
    }
    if issues.is_empty() { Ok(turns) } else { Err(Issues::new(issues)) }
}

/// The reader of one turn, which collects its problems.
struct TurnReader<'i> {
    pointer: String,
    issues: &'i mut Vec<Issue>,
}

impl TurnReader<'_> {
    fn turn(&mut self, turn: Value) -> Option<ScriptedTurn> {
        let written = match WrittenTurn::deserialize(turn) {
            Ok(written) => written,
            Err(error) => {
                self.issues.push(form(&self.pointer, &error));
                return None;
            }
        };
        self.reject_contradictions(&written);
        let WrittenTurn { text, reasoning, calls, turn, usage, finish, error, then, delay_ms, expect } = written;
        let mut scripted = match turn {
            Some(turn) => self.exactly::<Turn>("turn", &turn).map_or_else(ScriptedTurn::empty, ScriptedTurn::from),
            None => ScriptedTurn::empty(),
        };
        scripted.turn.items.extend(text.map(Item::assistant));
        for (index, call) in calls.unwrap_or_default().into_iter().enumerate() {
            scripted = match self.exactly::<ToolCall>(&format!("calls/{index}"), &with_argument_text(call)) {
                Some(call) => scripted.call(call),
                None => scripted,
            };
        }
        if let Some(reasoning) = reasoning {
            scripted = scripted.reasoning(reasoning);
        }
        if let Some(usage) = usage.and_then(|usage| self.exactly::<Usage>("usage", &usage)) {
            scripted = scripted.usage(usage);
        }
        if let Some(finish) = finish {
            scripted = scripted.finish(finish);
        }
        if let Some(expect) = expect.and_then(|expect| self.value::<Expect>("expect", expect)) {
            scripted = scripted.expect(expect);
        }
        scripted.end = match (error.and_then(|error| self.error(error)), then) {
            (Some(error), _) => End::Failed(error),
            (None, Some(WrittenEnd::Incomplete)) => End::Incomplete,
            (None, Some(WrittenEnd::Pending)) => End::Pending,
            (None, None) => End::Complete,
        };
        Some(scripted.delay(Duration::from_millis(delay_ms.unwrap_or_default())))
    }

    fn reject_contradictions(&mut self, turn: &WrittenTurn) {
        let has_content = turn.text.is_some() || turn.calls.is_some() || turn.reasoning.is_some();
        if turn.turn.is_some() && has_content {
            self.reject("`turn` is a complete turn; put `text`, `reasoning` and `calls` into its items");
        }
        if turn.error.is_some() && turn.then.is_some() {
            self.reject("`error` and `then` both end the stream; keep one");
        }
        if turn.turn.is_none() && !has_content && turn.error.is_none() && turn.then.is_none() {
            self.reject("the turn is empty; set one of `text`, `calls`, `reasoning`, `turn`, `error` and `then`");
        }
    }

    fn reject(&mut self, message: &str) {
        self.issues.push(Issue::new(&self.pointer, "script", message));
    }

    fn error(&mut self, error: Value) -> Option<ModelError> {
        let written = self.value::<WrittenError>("error", error)?;
        let rejected = |unknown| Issue::new(format!("{}/error/kind", self.pointer), "enum", format!("{unknown}"));
        ModelError::try_from(written).map_err(rejected).map_err(|issue| self.issues.push(issue)).ok()
    }

    /// Reads a value of a type that rejects unknown keys.
    fn value<T: DeserializeOwned>(&mut self, key: &str, value: Value) -> Option<T> {
        let read = T::deserialize(value);
        read.map_err(|error| self.issues.push(form(&format!("{}/{key}", self.pointer), &error))).ok()
    }

    /// Reads a value of a type that ignores unknown keys. A key that is not written again was not read, and is
    /// rejected.
    fn exactly<T: DeserializeOwned + Serialize>(&mut self, key: &str, value: &Value) -> Option<T> {
        let read = self.value::<T>(key, value.clone())?;
        let again = serde_json::to_value(&read).unwrap_or_default();
        let pointer = format!("{}/{key}", self.pointer);
        let unread = unread(value, &again, &pointer);
        self.issues
            .extend(unread.map(|pointer| Issue::new(pointer, "unknownKey", "unknown key; remove or correct it")));
        Some(read)
    }
}

/// Writes arguments that are a JSON value as the text that a model would send.
fn with_argument_text(mut call: Value) -> Value {
    if let Value::Object(fields) = &mut call {
        let arguments = fields.entry("arguments").or_insert_with(|| Value::Object(serde_json::Map::new()));
        if !arguments.is_string() {
            *arguments = Value::from(arguments.to_string());
        }
    }
    call
}

/// Returns the first key of `given` that `again` lacks. Empty values are left out when they are written, so they may
/// lack.
fn unread(given: &Value, again: &Value, pointer: &str) -> Option<String> {
    match (given, again) {
        (Value::Object(given), Value::Object(again)) => given.iter().find_map(|(key, value)| {
            let pointer = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            match again.get(key) {
                Some(again) => unread(value, again, &pointer),
                None => Some(pointer).filter(|_| !is_empty(value)),
            }
        }),
        (Value::Array(given), Value::Array(again)) => {
            let mut pairs = given.iter().zip(again).enumerate();
            pairs.find_map(|(index, (given, again))| unread(given, again, &format!("{pointer}/{index}")))
        }
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn form(pointer: &str, error: &serde_json::Error) -> Issue {
    Issue::new(pointer, "script", error.to_string())
}

fn of(path: Option<&Path>) -> String {
    path.map(|path| format!(" ({})", path.display())).unwrap_or_default()
}
