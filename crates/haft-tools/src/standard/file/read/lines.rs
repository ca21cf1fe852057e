//! A file's lines.
//!
//! The file is read once, from its beginning, in blocks. No line is held as a whole: a gigabyte-long one is passed over
//! like any other.

use std::io::{ErrorKind, Read};

use haft_executor::Cx;

use super::super::fault::FileToolFault;

/// The most characters to return from a line.
const MAX_LINE: usize = 2_000;
/// The most bytes in all lines.
const MAX_TEXT: usize = 100_000;
/// The maximum bytes that are read.
const MAX_SCAN: u64 = 256 * 1024 * 1024;
/// The first bytes, in which a zero byte marks a binary file.
const BINARY_PROBE: usize = 8 * 1024;
const BLOCK: usize = 64 * 1024;

/// The lines that are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    /// The first line, from 1.
    pub(super) start: u64,
    pub(super) most: usize,
}

/// The lines that were found.
#[derive(Debug, Default)]
pub(super) struct FoundLines {
    pub(super) lines: Vec<String>,
    /// True if the file has more lines after these.
    pub(super) more: bool,
    pub(super) clipped: usize,
    pub(super) invalid_utf8: bool,
}

/// Reads a file's lines.
pub(super) fn read_lines(
    file: &mut impl Read,
    range: LineRange,
    path: &str,
    cx: &Cx,
) -> Result<FoundLines, FileToolFault> {
    let mut collector =
        LineCollector { range, line: 1, kept: Vec::new(), dropped: 0, size: 0, found: FoundLines::default() };
    let mut block = vec![0; BLOCK];
    let mut read: u64 = 0;
    loop {
        if cx.is_cancelled() {
            return Err(FileToolFault::Cancelled);
        }
        let count = match file.read(&mut block) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(FileToolFault::from_io(path, error)),
        };
        if read == 0 && block[..count.min(BINARY_PROBE)].contains(&0) {
            return Err(FileToolFault::Binary { path: path.to_owned() });
        }
        read += count as u64;
        if collector.take(&block[..count]) == LineFill::Full {
            collector.found.more = true;
            return Ok(collector.found);
        }
        if read > MAX_SCAN {
            return Err(FileToolFault::TooFar { path: path.to_owned(), limit: MAX_SCAN });
        }
    }
    collector.end();
    Ok(collector.found)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineFill {
    Open,
    Full,
}

struct LineCollector {
    range: LineRange,
    /// The current line's number.
    line: u64,
    /// The current line's beginning.
    kept: Vec<u8>,
    /// The current line's bytes that were not kept.
    dropped: usize,
    size: usize,
    found: FoundLines,
}

impl LineCollector {
    /// Takes bytes. If a byte arrives when all lines are complete, the file has more.
    fn take(&mut self, mut bytes: &[u8]) -> LineFill {
        while !bytes.is_empty() {
            if self.is_full() {
                return LineFill::Full;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            self.keep(&bytes[..end.unwrap_or(bytes.len())]);
            match end {
                Some(end) => {
                    self.finish_line();
                    bytes = &bytes[end + 1..];
                }
                None => break,
            }
        }
        LineFill::Open
    }

    fn is_full(&self) -> bool {
        self.found.lines.len() == self.range.most || (self.size >= MAX_TEXT && !self.found.lines.is_empty())
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.line < self.range.start {
            return;
        }
        // A character has at most four bytes.
        let room = (MAX_LINE * 4).saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.dropped += bytes.len() - room;
    }

    fn finish_line(&mut self) {
        if self.line >= self.range.start {
            let line = self.text();
            self.size += line.len() + 1;
            self.found.lines.push(line);
        }
        self.kept.clear();
        self.dropped = 0;
        self.line += 1;
    }

    /// Returns the current line, without its carriage return.
    fn text(&mut self) -> String {
        if self.dropped == 0 && self.kept.last() == Some(&b'\r') {
            self.kept.pop();
        }
        // If the kept part ends inside a character, the file is not at fault.
        let whole = match std::str::from_utf8(&self.kept) {
            Err(error) if self.dropped > 0 && error.error_len().is_none() => error.valid_up_to(),
            _ => self.kept.len(),
        };
        let text = String::from_utf8_lossy(&self.kept[..whole]);
        self.found.invalid_utf8 |= matches!(text, std::borrow::Cow::Owned(_));
        match text.char_indices().nth(MAX_LINE) {
            Some((end, _)) => {
                self.found.clipped += 1;
                format!("{}…", &text[..end])
            }
            None => text.into_owned(),
        }
    }

    /// Ends the file: a last line may lack its line feed.
    fn end(&mut self) {
        if !self.kept.is_empty() {
            self.finish_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use haft_core::ToolCall;

    use super::*;

    fn lines(content: &[u8], start: u64, most: usize) -> FoundLines {
        let cx = Cx::for_call(&ToolCall::new("c", "file_read", ""));
        read_lines(&mut &content[..], LineRange { start, most }, "a", &cx).unwrap()
    }

    #[test]
    fn ranges_are_cut_at_lines() {
        let content = b"one\r\ntwo\n\nfour";
        for (start, most, expected, more) in [
            (1, 9, vec!["one", "two", "", "four"], false),
            (1, 4, vec!["one", "two", "", "four"], false),
            (1, 3, vec!["one", "two", ""], true),
            (2, 1, vec!["two"], true),
            (4, 1, vec!["four"], false),
            (5, 1, vec![], false),
            (u64::MAX, 1, vec![], false),
        ] {
            let found = lines(content, start, most);
            assert_eq!(
                (found.lines, found.more),
                (expected.iter().map(ToString::to_string).collect(), more),
                "{start}"
            );
        }
        assert_eq!(lines(b"", 1, 1).lines.len(), 0);
        assert_eq!(lines(b"\n", 1, 9).lines, [""]);
    }

    #[test]
    fn long_lines_are_clipped_at_a_character_and_passed_over() {
        let mut content = "ä".repeat(300_000).into_bytes();
        content.extend_from_slice(b"\nnext\n");
        let found = lines(&content, 1, 2);
        assert_eq!((found.lines[0].chars().count(), found.lines[1].as_str()), (MAX_LINE + 1, "next"));
        assert_eq!((found.clipped, found.invalid_utf8), (1, false));
        assert_eq!(lines(&content, 2, 1).lines, ["next"]);
    }

    #[test]
    fn the_text_as_a_whole_is_limited() {
        let content = format!("{}\n", "x".repeat(999)).repeat(1_000);
        let found = lines(content.as_bytes(), 1, 5_000);
        assert_eq!((found.lines.len(), found.more), (100, true));
    }

    #[test]
    fn invalid_bytes_are_replaced_and_reported() {
        let found = lines(b"caf\xe9\nok\n", 1, 9);
        assert_eq!(found.lines, ["caf\u{fffd}", "ok"]);
        assert!(found.invalid_utf8);
    }
}
