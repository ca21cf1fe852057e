//! `file_search`.

use std::io::Read;

use haft_executor::{Cx, DefinitionError, HandlerError, Tool};
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::entry::open_regular;
use super::fault::FileToolFault;
use super::list::prefix;
use super::root::FileRoot;
use super::walk::{Onward, Visited, Visitor, Walk, WalkEnd};
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;
use crate::standard::pattern::{LetterCase, PatternSyntax, SearchLimit, clip, compile, searchable};

/// The largest file to search, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024;
/// The most bytes in all files.
const MAX_BYTES: u64 = 128 * 1024 * 1024;
/// The deepest directories.
const MAX_DEPTH: usize = 32;
/// The first bytes, in which a zero byte marks a binary file.
const BINARY_PROBE: usize = 8 * 1024;
/// The most directories to report progress for.
const MAX_REPORTS: usize = 1000;
/// The characters to return from a line.
const MAX_LINE: usize = 300;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileSearchParams {
    /// The text or the regular expression to search for, within lines.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The notation of the pattern.
    #[serde(default)]
    syntax: PatternSyntax,
    /// The treatment of letters.
    #[serde(default)]
    letter_case: LetterCase,
    /// The directory to search in, relative to the root. The root itself if omitted.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    path: String,
    /// A pattern for names of files, in which * stands for any text and ? for one character, e.g. "*.rs".
    #[schemars(length(min = 1, max = 200))]
    name: Option<String>,
    /// True to search files and directories whose names begin with a dot.
    #[serde(default)]
    hidden: bool,
    /// The maximum number of matching lines.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 500))]
    max_matches: usize,
}

fn default_limit() -> usize {
    100
}

/// The matching lines that were found.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct FileMatches {
    matches: Vec<FileMatch>,
    /// The number of files that were searched.
    files_searched: usize,
    /// The number of files that were not searched because they are binary, too large or not readable.
    files_skipped: usize,
    /// True if the search ended before all files, because of `max_matches` or a limit.
    truncated: bool,
}

/// A matching line.
#[derive(Debug, Serialize, JsonSchema)]
struct FileMatch {
    /// The path from the root.
    path: String,
    /// The line, from 1.
    line: usize,
    /// The column of the first match in the line, in characters from 1.
    column: usize,
    /// The line; a long one is cut off with an ellipsis.
    text: String,
}

/// Creates the tool.
pub(super) fn tool(root: &FileRoot) -> Result<Tool, DefinitionError> {
    let root = root.clone();
    pure(Tool::new("file_search"))
        .title("Search files")
        .describe(
            "Searches the files below the root, or below a directory of it, for lines that contain a literal text or match a \
             regular expression (Rust syntax), and returns path, line and column. Of longer lines, the first 100,000 \
             bytes are searched. Binary files, files of more than 4 MiB, \
             symbolic links and, unless asked for, names that begin with a dot are skipped.",
        )
        .example(json!({"pattern": "TODO", "name": "*.rs"}))
        .example(json!({"pattern": "fn \\w+_test", "syntax": "regex", "path": "src"}))
        .try_blocking_handler_mixed(move |params: FileSearchParams, cx: Cx| -> Result<_, HandlerError<StandardFailure>> {
            let pattern =
                compile(&params.pattern, params.syntax, params.letter_case).map_err(HandlerError::Declared)?;
            let limit = SearchLimit::new(&cx);
            let mut search = FileSearch::new(&params, pattern, limit);
            search.run(&root, &cx).map_err(FileToolFault::into_error)?;
            match search.slow {
                Some(failure) if search.found.matches.is_empty() => Err(HandlerError::Declared(failure)),
                _ => Ok(search.found),
            }
        })
}

struct FileSearch<'p> {
    params: &'p FileSearchParams,
    pattern: Regex,
    limit: SearchLimit<'p>,
    bytes: u64,
    /// The failure for a search that took too long.
    slow: Option<StandardFailure>,
    /// The number of directories to still report progress for.
    reports: usize,
    found: FileMatches,
}

impl<'p> FileSearch<'p> {
    fn new(params: &'p FileSearchParams, pattern: Regex, limit: SearchLimit<'p>) -> Self {
        Self { params, pattern, limit, bytes: 0, slow: None, reports: MAX_REPORTS, found: FileMatches::default() }
    }

    fn run(&mut self, root: &FileRoot, cx: &Cx) -> Result<(), FileToolFault> {
        let dir = root.directory(&self.params.path)?;
        let walk = Walk { root, depth: MAX_DEPTH, name: self.params.name.as_deref(), hidden: self.params.hidden };
        let end = walk.run(&dir, prefix(&self.params.path), cx, self)?;
        self.found.truncated |= end == WalkEnd::Cut;
        Ok(())
    }

    /// Reads a file, or returns `None` to skip it.
    fn content(&mut self, visited: &Visited<'_>) -> Option<Vec<u8>> {
        let (file, metadata) = open_regular(visited.dir, visited.name).ok()?.ok()?;
        if metadata.len() > MAX_FILE {
            return None;
        }
        let mut content = Vec::new();
        // The file may have grown.
        file.take(MAX_FILE).read_to_end(&mut content).ok()?;
        self.bytes += content.len() as u64;
        let probe = &content[..content.len().min(BINARY_PROBE)];
        (!probe.contains(&0)).then_some(content)
    }

    fn search(&mut self, path: &str, content: &str) -> Onward {
        self.found.files_searched += 1;
        for (index, line) in content.lines().enumerate() {
            if self.is_slow() {
                return Onward::Stop;
            }
            let line = searchable(line);
            let Some(found) = self.pattern.find(line) else { continue };
            if self.found.matches.len() == self.params.max_matches {
                return Onward::Stop;
            }
            self.found.matches.push(FileMatch {
                path: path.to_owned(),
                line: index + 1,
                column: line[..found.start()].chars().count() + 1,
                text: clip(line, MAX_LINE),
            });
        }
        Onward::Continue
    }

    /// Reports whether the search must end because it was cancelled or takes too long.
    fn is_slow(&mut self) -> bool {
        self.slow = self.limit.check().err();
        self.slow.is_some()
    }
}

impl Visitor for FileSearch<'_> {
    fn visit(&mut self, visited: &Visited<'_>) -> Onward {
        if !visited.kind.is_file() {
            return Onward::Continue;
        }
        // Files that are skipped were read as well, at least in part.
        if self.bytes >= MAX_BYTES || self.is_slow() {
            return Onward::Stop;
        }
        match self.content(visited) {
            Some(content) => self.search(&visited.path, &String::from_utf8_lossy(&content)),
            None => {
                self.found.files_skipped += 1;
                Onward::Continue
            }
        }
    }

    /// Reports the number of files searched so far, and the directory.
    fn leave(&mut self, path: &str) {
        if self.reports == 0 {
            return;
        }
        self.reports -= 1;
        let done = u32::try_from(self.found.files_searched).unwrap_or(u32::MAX);
        let directory = if path.is_empty() { "." } else { path };
        // Progress that can't be reported is no reason to end the search.
        drop(self.limit.exempt(|cx| cx.progress_blocking(done.into(), None, directory)));
    }
}
