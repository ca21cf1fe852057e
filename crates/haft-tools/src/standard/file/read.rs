//! `file_read`.

mod lines;

use std::io::{Read, Seek, SeekFrom};

use data_encoding::BASE64;
use haft_executor::{Cx, DefinitionError, HandlerError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::lines::{LineRange, read_lines};
use super::fault::FileToolFault;
use super::root::FileRoot;
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileReadParams {
    /// The file, relative to the root, with / between names.
    #[schemars(length(min = 1, max = 1000))]
    path: String,
    /// The form of the content: lines of text, or bytes in base64.
    #[serde(default)]
    format: ReadFormat,
    /// For text: the first line to read, from 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1))]
    start_line: u64,
    /// For text: the maximum number of lines.
    #[serde(default = "default_lines")]
    #[schemars(range(min = 1, max = 5000))]
    max_lines: usize,
    /// For base64: the first byte to read, from 0.
    #[serde(default)]
    offset: u64,
    /// For base64: the maximum number of bytes.
    #[serde(default = "default_bytes")]
    #[schemars(range(min = 1, max = 65536))]
    max_bytes: u64,
}

fn first_line() -> u64 {
    1
}

fn default_lines() -> usize {
    500
}

fn default_bytes() -> u64 {
    16_384
}

/// The form of the content of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReadFormat {
    #[default]
    Text,
    Base64,
}

/// A part of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "format", rename_all = "snake_case")]
enum FileContent {
    /// Lines of text.
    Text {
        /// The lines, separated by line feeds.
        text: String,
        /// The number of the first line.
        start_line: u64,
        /// The number of lines.
        lines: usize,
        /// The line to continue at, if the file has more.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_line: Option<u64>,
        /// The number of lines that were cut off with an ellipsis because they are too long.
        #[serde(skip_serializing_if = "is_zero")]
        clipped_lines: usize,
        /// True if bytes that are not UTF-8 were replaced.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        invalid_utf8: bool,
        /// The size of the file in bytes.
        size: u64,
    },
    /// Bytes.
    Base64 {
        /// The bytes in base64.
        base64: String,
        /// The position of the first byte.
        offset: u64,
        /// The number of bytes.
        bytes: usize,
        /// The position to continue at, if the file has more.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_offset: Option<u64>,
        /// The size of the file in bytes.
        size: u64,
    },
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Creates the tool.
pub(super) fn tool(root: &FileRoot) -> Result<Tool, DefinitionError> {
    let root = root.clone();
    pure(Tool::new("file_read"))
        .title("Read a file")
        .describe(
            "Reads a file below the root of the files: lines of text from `start_line`, or bytes in base64 from \
             `offset`. Up to 5,000 lines and 100,000 bytes of text, or 65,536 bytes, per call; read on at `next_line` or \
             `next_offset`. Lines of more than 2,000 characters are cut off.",
        )
        .example(json!({"path": "docs/readme.md"}))
        .example(json!({"path": "app.log", "start_line": 501, "max_lines": 100}))
        .example(json!({"path": "logo.png", "format": "base64", "max_bytes": 1024}))
        .try_blocking_handler_mixed(move |params: FileReadParams, cx: Cx| -> Result<_, HandlerError<StandardFailure>> {
            read(&root, &params, &cx).map_err(FileToolFault::into_error)
        })
}

fn read(root: &FileRoot, params: &FileReadParams, cx: &Cx) -> Result<FileContent, FileToolFault> {
    let (mut file, metadata) = root.file(&params.path)?;
    let size = metadata.len();
    match params.format {
        ReadFormat::Text => {
            let range = LineRange { start: params.start_line, most: params.max_lines };
            let found = read_lines(&mut file, range, &params.path, cx)?;
            let next_line = found.more.then_some(params.start_line + found.lines.len() as u64);
            Ok(FileContent::Text {
                text: found.lines.join("\n"),
                start_line: params.start_line,
                lines: found.lines.len(),
                next_line,
                clipped_lines: found.clipped,
                invalid_utf8: found.invalid_utf8,
                size,
            })
        }
        ReadFormat::Base64 => {
            let io = |error| FileToolFault::from_io(&params.path, error);
            let mut bytes = Vec::new();
            // Not every position can be sought.
            if params.offset < size {
                file.seek(SeekFrom::Start(params.offset)).map_err(io)?;
                file.take(params.max_bytes).read_to_end(&mut bytes).map_err(io)?;
            }
            let end = params.offset.saturating_add(bytes.len() as u64);
            let next_offset = (end < size && !bytes.is_empty()).then_some(end);
            let base64 = BASE64.encode(&bytes);
            Ok(FileContent::Base64 { base64, offset: params.offset, bytes: bytes.len(), next_offset, size })
        }
    }
}
