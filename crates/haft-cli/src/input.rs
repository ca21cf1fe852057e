//! Texts that commands read: files and standard input, limited in size, as UTF-8.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::context::Context;
use crate::error::{CommandError, Excerpt, Fault};

/// The largest text, in bytes.
const MAX_TEXT: u64 = 64 * 1024 * 1024;

/// A text with its origin's name, for messages.
#[derive(Clone, Debug)]
pub(crate) struct TextInput {
    /// The path, or `standard input`.
    pub(crate) origin: String,
    pub(crate) text: String,
}

impl TextInput {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Fault> {
        let origin = path.display().to_string();
        let unreadable = |error: &io::Error| Fault::file(path, "read", error);
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Fault::new(format!("`{origin}` is a folder")).advice("name a file in it"));
        }
        Self::from_reader(&origin, file)
    }

    /// Reads a file, or standard input if the path is `-`. An interrupt ends the wait for standard input.
    pub(crate) async fn read_or_wait(path: &Path, cx: &Context) -> Result<Self, CommandError> {
        if path != Path::new("-") {
            return Ok(Self::read(path)?);
        }
        if cx.terminal.stdin {
            cx.terminal.note("reading standard input; end it with Ctrl-D");
        }
        // A thread that waits for input can't be ended, but the process can.
        let reading = tokio::task::spawn_blocking(|| Self::from_reader("standard input", io::stdin().lock()));
        tokio::select! {
            read = reading => Ok(read.map_err(|error| Fault::new("can't read standard input").cause(&error))??),
            () = async { cx.interrupt.cancellation().cancelled().await } => Err(CommandError::Interrupted),
        }
    }

    fn from_reader(origin: &str, reader: impl Read) -> Result<Self, Fault> {
        let mut bytes = Vec::new();
        let read = reader.take(MAX_TEXT + 1).read_to_end(&mut bytes);
        read.map_err(|error| Fault::new(format!("can't read {}", quoted(origin))).cause(&error))?;
        if bytes.len() as u64 > MAX_TEXT {
            let limit = MAX_TEXT / (1024 * 1024);
            return Err(Fault::new(format!("{} is larger than {limit} MiB", quoted(origin))));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            Fault::new(format!("{} is not UTF-8 text: byte {at} is invalid", quoted(origin)))
                .advice("convert it, for example with `iconv -t UTF-8`")
        })?;
        // A byte order mark is not part of the text.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Self { origin: origin.to_owned(), text })
    }

    /// Returns a JSON error's place in this text, whose JSON starts at byte `offset`.
    pub(crate) fn json_excerpt(&self, offset: usize, error: &serde_json::Error) -> Excerpt {
        let before = &self.text[..offset];
        // The error's position counts from the start of the JSON text.
        let line_start = match error.line() {
            0 | 1 => offset,
            line => offset + self.text[offset..].split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>(),
        };
        debug_assert!(before.len() <= line_start);
        let mut at = (line_start + error.column().saturating_sub(1)).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let end = self.text[at..].chars().next().map_or(at, |character| at + character.len_utf8());
        let label = error.to_string();
        let label = label.rsplit_once(" at line ").map_or(label.as_str(), |(label, _)| label).to_owned();
        Excerpt { origin: self.origin.clone(), text: self.text.clone(), span: at..end, label }
    }
}

fn quoted(origin: &str) -> String {
    if origin == "standard input" { origin.to_owned() } else { format!("`{origin}`") }
}
