//! A command's standard output: its progress and its result.
//!
//! The output is capped as a whole. Beyond the cap nothing is read, and the reader kills the command. Invalid output
//! does not end the command, because its exit status is more important: the rest is read and ignored. The secrets from
//! the command's environment are removed from whatever leaves, because a model and a journal read it.

use std::sync::Arc;

use haft_executor::Cx;
use haft_schema::JsonText;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::io::AsyncRead;

use super::option::StdoutFormat;
use super::pipe::PipeReader;
use crate::redactor::Redactor;

/// A JSON line with a marked meaning: an object with exactly one of these keys.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum MarkedLine<'a> {
    #[serde(borrow)]
    Progress(&'a RawValue),
    #[serde(borrow)]
    Result(&'a RawValue),
}

/// The output that was read so far.
#[derive(Debug)]
pub(super) struct StdoutReader {
    format: StdoutFormat,
    limit: usize,
    /// The number of bytes read.
    total: usize,
    /// The bytes not interpreted yet: all, or the last line's.
    pending: Vec<u8>,
    lines: LineState,
    redactor: Arc<Redactor>,
}

/// The state of line-based output.
#[derive(Debug)]
enum LineState {
    /// No result yet.
    None,
    /// The last line's value, which is the result unless another line follows.
    Held(JsonText),
    /// The marked result.
    Result(JsonText),
    /// The output is invalid.
    Invalid(String),
}

/// More output than the cap.
#[derive(Debug)]
pub(super) struct TooMuchOutput;

impl StdoutReader {
    /// Creates a reader for at most this many bytes.
    pub(super) fn new(format: StdoutFormat, limit: usize, redactor: Arc<Redactor>) -> Self {
        Self { format, limit, total: 0, pending: Vec::new(), lines: LineState::None, redactor }
    }

    /// Reads a pipe to its end, and emits progress as it arrives.
    pub(super) async fn read<P>(&mut self, mut pipe: PipeReader<P>, cx: &Cx) -> Result<(), TooMuchOutput>
    where
        P: AsyncRead + Unpin,
    {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let count = pipe.read(&mut buffer).await;
            if count == 0 {
                return Ok(());
            }
            self.total = self.total.saturating_add(count);
            if self.total > self.limit {
                return Err(TooMuchOutput);
            }
            match self.format {
                StdoutFormat::Text | StdoutFormat::Json => self.pending.extend_from_slice(&buffer[..count]),
                StdoutFormat::JsonLines => self.add_lines(&buffer[..count], cx).await,
            }
        }
    }

    /// Returns the result, or the reason why there is none.
    pub(super) async fn finish(mut self, cx: &Cx) -> Result<JsonText, String> {
        let result = match self.format {
            StdoutFormat::Text => {
                let text = String::from_utf8_lossy(&self.pending);
                Value::from(text.trim_end_matches(['\n', '\r'])).into()
            }
            StdoutFormat::Json => parse(&self.pending).map_err(|reason| format!("it is not JSON: {reason}"))?,
            StdoutFormat::JsonLines => {
                self.end_line(cx).await;
                match self.lines {
                    LineState::Held(result) | LineState::Result(result) => result,
                    LineState::None => return Err("it has no line with a result".to_owned()),
                    LineState::Invalid(fault) => return Err(fault),
                }
            }
        };
        Ok(self.redactor.redact_json(result))
    }

    async fn add_lines(&mut self, bytes: &[u8], cx: &Cx) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.pending.extend_from_slice(&rest[..end]);
            self.end_line(cx).await;
            rest = &rest[end + 1..];
        }
        self.pending.extend_from_slice(rest);
    }

    /// Interprets the pending line.
    async fn end_line(&mut self, cx: &Cx) {
        let line = std::mem::take(&mut self.pending);
        if line.trim_ascii().is_empty() {
            return;
        }
        let fault = match std::mem::replace(&mut self.lines, LineState::None) {
            LineState::Invalid(fault) => Err(fault),
            LineState::Result(_) => Err("a line follows the line with the result".to_owned()),
            LineState::Held(value) => self.emit(value, cx).await,
            LineState::None => Ok(()),
        };
        self.lines = match fault {
            Ok(()) => self.read_line(&line, cx).await.unwrap_or_else(LineState::Invalid),
            Err(fault) => LineState::Invalid(fault),
        };
    }

    /// Reads one line, and emits its progress.
    async fn read_line(&self, line: &[u8], cx: &Cx) -> Result<LineState, String> {
        let value = parse(line).map_err(|reason| format!("a line is not JSON: {reason}"))?;
        match serde_json::from_str(value.as_str()) {
            Ok(MarkedLine::Progress(progress)) => {
                self.emit(parse(progress.get().as_bytes())?, cx).await?;
                Ok(LineState::None)
            }
            Ok(MarkedLine::Result(result)) => Ok(LineState::Result(parse(result.get().as_bytes())?)),
            Err(_) => Ok(LineState::Held(value)),
        }
    }

    async fn emit(&self, progress: JsonText, cx: &Cx) -> Result<(), String> {
        cx.emit(self.redactor.redact_json(progress)).await.map_err(|error| error.to_string())
    }
}

fn parse(bytes: &[u8]) -> Result<JsonText, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    JsonText::parse(text).map_err(|error| error.to_string())
}
