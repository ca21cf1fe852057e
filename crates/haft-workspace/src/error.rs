//! Faults in workspace files, each with its place.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A workspace file that can't be loaded, with all faults.
///
/// ```
/// use haft_workspace::{LoadOptions, load};
/// use haft_registry::Kinds;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "[limits]\nconcurency = 8\ntimeout = 'soon'\n")?;
/// let error = load(&path, &LoadOptions::new(Kinds::empty())?).await.unwrap_err();
/// let faults: Vec<String> = error.faults.iter().map(|fault| fault.in_file("haft.toml")).collect();
/// assert_eq!(faults, [
///     r#"haft.toml:2:1: limits.concurency: the key "concurency" is not allowed; did you mean "concurrency"?"#,
///     "haft.toml:3:11: limits.timeout: must be a number, not a string",
/// ]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileError {
    /// The path of the file to load.
    pub path: PathBuf,
    /// All faults, grouped by file and in file order. Never empty.
    pub faults: Vec<FileFault>,
    /// The files that were read, or that should have been.
    pub files: Vec<PathBuf>,
}

/// A fault in a workspace file, or a remark about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileFault {
    /// The file's path. It may be an organisation's file.
    pub path: Arc<Path>,
    /// The position in the file; unset for a fault of the whole file.
    pub position: Option<FilePosition>,
    /// The key, such as `toolbox.github.tool.search.url`; empty for a fault of the whole file.
    pub key: String,
    /// The fault, and what to do. It contains no secret.
    pub message: String,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FilePosition {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl FileFault {
    /// Creates a fault of a whole file.
    pub(crate) fn whole(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.into(), position: None, key: String::new(), message: message.into() }
    }

    /// Returns the fault as text, with another path for the file.
    #[must_use]
    pub fn in_file(&self, path: &str) -> String {
        let place = self.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        format!("{path}{place}: {key}{}", self.message)
    }
}

impl FilePosition {
    /// Returns the position of the byte at this offset.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        Self { line, column: before[start..].chars().count() + 1 }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_file(&self.path.to_string_lossy()))
    }
}

/// Formats one line per fault.
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

/// There is no source: the message contains all faults.
impl std::error::Error for FileError {}

#[cfg(test)]
mod tests {
    use super::FilePosition;

    #[test]
    fn columns_count_characters() {
        let text = "a\r\nü = 'é' # 字\n𝄞x";
        let at = |needle: &str| {
            let FilePosition { line, column } = FilePosition::of(text, text.find(needle).unwrap());
            (line, column)
        };
        assert_eq!(at("a"), (1, 1));
        assert_eq!(at("'é'"), (2, 5));
        assert_eq!(at("字"), (2, 11));
        assert_eq!(at("x"), (3, 2));
        // Offsets inside a character and beyond the end are moved back.
        assert_eq!(FilePosition::of(text, text.len() + 9), FilePosition { line: 3, column: 3 });
        assert_eq!(FilePosition::of(text, text.find('字').unwrap() + 1), FilePosition { line: 2, column: 11 });
    }
}
