//! The problems of a value, in sentences that a model can act on.
//!
//! A rejection does not stop at the first problem: it carries a list of [`Issue`]s, each with a JSON Pointer to the
//! value, the rule that is violated, what was expected, what was found, and one sentence to act on. The list is for
//! programs; [`Issues::reason`] is the capped text for the model.
//!
//! An issue quotes at most a short excerpt of a value, because values may be large. Issues of arguments quote what the
//! model wrote; issues of results quote nothing, and no issue repeats an error text of user code. Details that only the
//! operator may see are the [source](std::error::Error::source) of the list, and are not stored with it.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::isolation::Isolated;

/// The default cap of [`Issues::reason`], in bytes.
pub const REASON_CAP: usize = 2_000;

/// The most bytes that the issues of a rejected call take as JSON: 256 KiB. The first issues are kept, followed by one
/// with the keyword `maxIssues` that states that there are more.
///
/// The whole `ToolResult` of a rejection is only slightly larger: its message has at most
/// [`REASON_CAP`] bytes and a few words, before escaping.
pub const ISSUES_CAP: usize = 256 << 10;

/// One problem of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Issue {
    /// A JSON Pointer to the invalid value; empty for the root.
    pub pointer: String,
    /// The rule that is violated: a JSON Schema keyword, or one of haft's own (`json`, `maxBytes`, `maxDepth`,
    /// `maxIssues`, `budget`, `duplicateKey`, `forbiddenKey`, `validator`, `decode`, `exact`; for results also `finite`
    /// and `encode`).
    pub keyword: String,
    /// A short description of what the rule requires.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// A short description of the value that was found instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// One sentence that a model can act on. It does not repeat the pointer.
    pub message: String,
}

impl Issue {
    /// Creates an issue at `pointer` that violates `keyword`, with the sentence to act on.
    #[must_use]
    pub fn new(pointer: impl Into<String>, keyword: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            keyword: keyword.into(),
            expected: String::new(),
            found: String::new(),
            message: message.into(),
        }
    }

    /// Sets the description of what the rule requires.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    /// Sets the description of the value that was found instead.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = found.into();
        self
    }

    /// The bytes that an issue with empty texts takes as JSON in a list.
    const NAMES: usize = r#"{"pointer":"","keyword":"","expected":"","found":"","message":""},"#.len();

    /// Returns the total length of the issue's texts, in bytes.
    fn text_length(&self) -> usize {
        let Self { pointer, keyword, expected, found, message } = self;
        pointer.len() + keyword.len() + expected.len() + found.len() + message.len()
    }

    /// Returns the most bytes that the issue takes as JSON in a list.
    fn json_length(&self) -> usize {
        let Self { pointer, keyword, expected, found, message } = self;
        Self::NAMES
            + [pointer, keyword, expected, found, message].into_iter().map(|text| escaped_length(text)).sum::<usize>()
    }
}

/// Returns the length of text as a JSON string, without the quotes.
fn escaped_length(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        ..0x20 => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer, self.message)
        }
    }
}

/// All problems of one value, in the order they were found. A rejection has at least one.
///
/// The issues are for the model. Details that only the operator may see, such as the values of a result or the error of
/// a type's own `Deserialize`, are available through [`Error::source`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Issues {
    list: Vec<Issue>,
    #[serde(skip)]
    cause: Option<Arc<OperatorCause>>,
}

/// An error that only the operator may see. It is one pointer wide instead of two: failures are returned as errors, and
/// a large error type slows down every success.
#[derive(Debug)]
pub struct OperatorCause(Isolated<Box<dyn Error + Send + Sync>>);

impl OperatorCause {
    /// Wraps an error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Arc<Self> {
        Arc::new(Self(Isolated::new(error.into())))
    }

    /// Returns the error.
    #[must_use]
    pub fn error(&self) -> &(dyn Error + 'static) {
        &**self.0
    }
}

/// The error of a type's own `Serialize` or `Deserialize` that rejected a value.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TypeError(pub serde_json::Error);

impl Issues {
    /// Creates a list of issues.
    #[must_use]
    pub fn new(issues: Vec<Issue>) -> Self {
        Self { list: issues, cause: None }
    }

    /// Returns the first issues, as many as [`ISSUES_CAP`] allows. The last one is kept as well if it reports that the
    /// check was aborted.
    #[doc(hidden)]
    #[must_use]
    pub fn bounded(mut self) -> Self {
        /// The bytes reserved for the last issue.
        const LAST: usize = 1_024;
        // JSON takes at most six bytes per byte of text, so most lists need no exact measurement.
        let most = self.list.iter().map(|issue| Issue::NAMES + 6 * issue.text_length()).sum::<usize>();
        if most <= ISSUES_CAP - LAST {
            return self;
        }
        let each = || self.list.iter().map(Issue::json_length);
        if each().sum::<usize>() <= ISSUES_CAP - LAST {
            return self;
        }
        let mut room = ISSUES_CAP - LAST;
        let fits = |length: &usize| match room.checked_sub(*length) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let kept = each().take_while(fits).count();
        let told = self.list.pop().filter(|last| last.keyword == "budget" && last.json_length() <= LAST);
        self.list.truncate(kept);
        let kept = self.list.len();
        self.list.push(told.unwrap_or_else(|| {
            Issue::new("", "maxIssues", format!("there are more problems than the {kept} that are listed"))
        }));
        self
    }

    /// Adds the cause that only the operator may see.
    pub(crate) fn because(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(OperatorCause::new(cause));
        self
    }

    /// Removes and returns the cause that only the operator may see.
    pub fn take_cause(&mut self) -> Option<Arc<OperatorCause>> {
        self.cause.take()
    }

    /// Returns the issues, in the order they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Issue] {
        &self.list
    }

    /// Returns the issues as a vector.
    #[must_use]
    pub fn into_vec(self) -> Vec<Issue> {
        self.list
    }

    /// Returns an iterator over the issues.
    pub fn iter(&self) -> std::slice::Iter<'_, Issue> {
        self.list.iter()
    }

    /// Reports whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of issues.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the issues joined by `; `, in at most `cap` bytes: as many as fit, with a note of how many are left out.
    /// If the first issue alone is too long, it is cut at a character boundary.
    #[must_use]
    pub fn reason(&self, cap: usize) -> String {
        let whole = self.list.iter().map(|issue| issue.pointer.len() + issue.message.len() + 4).sum::<usize>();
        let mut text = String::with_capacity(whole.min(cap));
        if whole <= cap {
            // Nearly always all issues fit.
            for (index, issue) in self.list.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "; " });
                if !issue.pointer.is_empty() {
                    text.push_str(&issue.pointer);
                    text.push_str(": ");
                }
                text.push_str(&issue.message);
            }
            return text;
        }
        for (index, issue) in self.list.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let next = format!("{separator}{issue}");
            let rest = self.list.len() - index - 1;
            let note = if rest == 0 { 0 } else { left_out(rest).len() };
            if text.len() + next.len() + note <= cap {
                text.push_str(&next);
                continue;
            }
            if index == 0 {
                text.push_str(&next[..next.floor_char_boundary_at(cap.saturating_sub(note))]);
            }
            let rest = if index == 0 { rest } else { rest + 1 };
            if rest > 0 && text.len() + left_out(rest).len() <= cap {
                text.push_str(&left_out(rest));
            }
            break;
        }
        text
    }
}

fn left_out(count: usize) -> String {
    format!(" (and {count} more)")
}

impl Error for Issue {}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason(REASON_CAP))
    }
}

impl Error for Issues {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(OperatorCause::error)
    }
}

/// Compares what the model sees: the cause does not count.
impl PartialEq for Issues {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Issues {}

impl From<Issue> for Issues {
    fn from(issue: Issue) -> Self {
        Self::new(vec![issue])
    }
}

impl FromIterator<Issue> for Issues {
    fn from_iter<I: IntoIterator<Item = Issue>>(issues: I) -> Self {
        Self::new(issues.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Issues {
    type Item = &'a Issue;
    type IntoIter = std::slice::Iter<'a, Issue>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// Truncation of text at a character boundary; `str::floor_char_boundary` is newer than the supported `rust-version`.
pub trait CharBoundary {
    /// Returns the largest character boundary at or before `at`.
    fn floor_char_boundary_at(&self, at: usize) -> usize;
}

impl CharBoundary for str {
    fn floor_char_boundary_at(&self, at: usize) -> usize {
        let mut at = at.min(self.len());
        while !self.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}
