//! Events as JSON lines: a run's events as the library writes them, each with its call's id at the top.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use haft::run::{CallId, ToolEvent};
use haft::serde_json;
use serde::Serialize;

use crate::error::Fault;

/// An event that has its call's id only inside its request or result.
#[derive(Serialize)]
struct WithCallId<'e> {
    call_id: &'e CallId,
    #[serde(flatten)]
    event: &'e ToolEvent,
}

/// A file that gets a run's events as JSON lines.
#[derive(Debug)]
pub(crate) struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Creates the file. An existing one is not overwritten, unless it is a pipe or a device.
    pub(crate) fn create(path: &Path) -> Result<Self, Fault> {
        let is_stream = path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        let file = OpenOptions::new().write(true).create_new(!is_stream).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Fault::new(format!("`{}` exists, and is not overwritten", path.display()))
                .advice("name another file for the events, or remove it"),
            _ => Fault::file(path, "write the events to", &error),
        })?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes an event as one line.
    pub(crate) fn write(&mut self, event: &ToolEvent) -> Result<(), Fault> {
        let line = line_of(event)?;
        // One write, so that a reader sees whole lines.
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.map_err(|error| Fault::file(&self.path, "write the events to", &error))
    }
}

/// Returns an event as one JSON line, or the fault that ends the command.
pub(crate) fn line_of(event: &ToolEvent) -> Result<String, Fault> {
    line(event).map_err(|error| {
        Fault::new(format!("an event of the call `{}` can't be written", event.call_id())).cause(&error)
    })
}

/// Returns an event as one JSON line.
fn line(event: &ToolEvent) -> Result<String, serde_json::Error> {
    let text = match event {
        ToolEvent::ApprovalRequested { .. } | ToolEvent::Suspended { .. } | ToolEvent::Output { .. } => {
            serde_json::to_string(&WithCallId { call_id: event.call_id(), event })
        }
        _ => serde_json::to_string(event),
    }?;
    Ok(compact(&text).into_owned())
}

/// Returns JSON without spaces and line breaks around its tokens: tools and people may have written values with some.
pub(crate) fn compact(json: &str) -> Cow<'_, str> {
    let is_space = |character: &char| matches!(character, ' ' | '\t' | '\n' | '\r');
    let (mut is_string, mut is_escaped) = (false, false);
    let mut is_kept = |character: &char| {
        let is_inside = is_string;
        is_string ^= *character == '"' && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_inside || !is_space(character)
    };
    let compact: String = json.chars().filter(&mut is_kept).collect();
    if compact.len() == json.len() { Cow::Borrowed(json) } else { Cow::Owned(compact) }
}

#[cfg(test)]
mod tests {
    use haft::approval::ApprovalRequest;
    use haft::run::{ToolCall, ToolResult};
    use haft::schema::JsonText;
    use haft::serde_json::Value;

    use super::*;

    #[test]
    fn every_line_has_the_id_once_and_is_read_as_the_event() {
        let call = ToolCall::new("c1", "pay", r#"{"cents": 5}"#);
        let request = Box::new(ApprovalRequest::new("q1", &call));
        let long = JsonText::parse("123456789012345678901234567890").unwrap();
        let events = [
            ToolEvent::Progress { index: 0, call_id: "c1".into(), tool: "pay".into(), seq: 0, data: long.clone() },
            ToolEvent::ApprovalRequested { index: 0, request: request.clone() },
            ToolEvent::ApprovalResolved {
                index: 0,
                call_id: "c1".into(),
                tool: "pay".into(),
                response: Box::new(request.approve()),
            },
            ToolEvent::Suspended { index: 0, request },
            ToolEvent::Output { index: 0, result: ToolResult::ok(&call, long) },
        ];
        for event in events {
            let line = line(&event).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["call_id"], "c1", "{line}");
            assert!(line.starts_with(r#"{"call_id":"c1","#) || line.matches("call_id").count() <= 2, "{line}");
            assert_eq!(serde_json::from_str::<ToolEvent>(&line).unwrap(), event, "{line}");
            assert!(event.result().is_none() || line.contains("123456789012345678901234567890"), "{line}");
        }
    }

    #[test]
    fn values_of_several_lines_become_one() {
        let pretty = "{\n  \"a b\": [1,\t2],\r\n  \"c\": \"x \\\" y\\\\\", \"d\": \" \" }";
        assert_eq!(compact(pretty), r#"{"a b":[1,2],"c":"x \" y\\","d":" "}"#);
        assert_eq!(compact("[1]"), "[1]");
        let call = ToolCall::new("c1", "t", "{}");
        let result = ToolResult::ok(&call, JsonText::parse("{\n  \"a\": 1\n}").unwrap());
        assert!(!line(&ToolEvent::Output { index: 0, result }).unwrap().contains('\n'));
    }
}
