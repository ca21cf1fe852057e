//! URLs with variables.
//!
//! ```text
//! https://api.example.com/repos/{owner}/files/{+path}?ref={branch}
//! └────── origin ───────┘└────────── path ──────────┘ └─ query ──┘
//!        no variables      `{x}` is part of a segment    `{x}` is part of a value
//! ```
//!
//! A template is parsed once. A variable's value can only change the variable's place: scheme, host and port are
//! constant, and every character with a meaning in URLs is escaped. A value that would make a path segment empty or a
//! step up (`..`) is rejected, in escaped form too, because servers unescape at different times.

mod expand;
mod parse;

use std::fmt;
use std::str::FromStr;

pub(super) use self::expand::{Escape, escaped};

/// A URL with variables in its path and its query.
///
/// `{x}` is replaced by the escaped value of `x`, within one path segment. `{+x}` is a whole segment and may become
/// several: its value keeps its slashes. In the query a variable may be a value, or a part of one.
///
/// ```
/// use haft_tools::http::UrlTemplate;
///
/// let template: UrlTemplate = "https://api.example.com/repos/{owner}/issues?state={state}".parse()?;
/// assert_eq!(template.path_variables().collect::<Vec<_>>(), ["owner"]);
/// assert_eq!(template.query_variables().collect::<Vec<_>>(), ["state"]);
///
/// assert!("https://{host}/repos".parse::<UrlTemplate>().is_err());
/// # Ok::<_, haft_tools::http::UrlTemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlTemplate {
    text: String,
    /// The scheme, host and port, without a slash.
    origin: String,
    /// The path segments, each after a slash.
    path: Vec<Segment>,
    query: Vec<QueryPair>,
}

/// A path segment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// One segment with literals and variables.
    One(Vec<UrlPiece>),
    /// All segments from a variable.
    Many(String),
}

/// A query's name and value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QueryPair {
    /// The escaped name.
    name: String,
    /// The value; none if there is no `=`.
    value: Option<Vec<UrlPiece>>,
}

/// A part of a segment or value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum UrlPiece {
    /// Escaped text.
    Literal(String),
    /// A variable's name.
    Variable(String),
}

/// A text that is no URL template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlTemplateError {
    /// The URL is not absolute, or has no valid host.
    #[error("the URL must be absolute, such as `https://api.example.com/items`: {0}")]
    NotAbsolute(String),
    /// The scheme is neither `http` nor `https`.
    #[error("the scheme of the URL must be `http` or `https`")]
    Scheme,
    /// The URL contains a user or a password.
    #[error("the URL must not contain a user or a password; set `auth` to a named secret")]
    Credentials,
    /// A variable is part of the scheme, host or port.
    #[error("a variable can't be part of the scheme, the host or the port of the URL")]
    VariableOrigin,
    /// The URL has a fragment.
    #[error("the URL must not have a fragment (`#`), which is never sent")]
    Fragment,
    /// A brace has no counterpart, or there is no valid name between two.
    #[error("`{{` and `}}` must enclose the name of an argument; write `%7B` and `%7D` for braces")]
    Brace,
    /// A variable is part of a query name.
    #[error("a variable can't be part of a name in the query")]
    VariableName,
    /// A variable for several segments is only a part of one.
    #[error("`{{+{0}}}` must be a whole segment of the path")]
    PartOfSegment(String),
    /// A segment is `.` or `..`.
    #[error("the path must not contain the segments `.` and `..`")]
    DotSegment,
    /// The URL contains a backslash or a control character.
    #[error("the URL must not contain backslashes, control characters or white space")]
    Character,
}

impl UrlTemplate {
    /// Returns the template as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the scheme, host and port, such as `https://api.example.com`. No argument changes them.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the path variables' names. A name may occur more than once.
    pub fn path_variables(&self) -> impl Iterator<Item = &str> {
        self.path.iter().flat_map(|segment| match segment {
            Segment::One(pieces) => variables(pieces).collect::<Vec<_>>(),
            Segment::Many(name) => vec![name.as_str()],
        })
    }

    /// Returns the query variables' names. A name may occur more than once.
    pub fn query_variables(&self) -> impl Iterator<Item = &str> {
        self.query.iter().flat_map(|pair| variables(pair.value.as_deref().unwrap_or_default()))
    }

    /// Returns the template if it has no variables.
    pub(crate) fn constant(self) -> Result<Self, UrlTemplateError> {
        let has_variables = self.path_variables().chain(self.query_variables()).next().is_some();
        if has_variables { Err(UrlTemplateError::Brace) } else { Ok(self) }
    }

    /// Returns the escaped names in the query.
    pub(super) fn query_names(&self) -> impl Iterator<Item = &str> {
        self.query.iter().map(|pair| pair.name.as_str())
    }
}

fn variables(pieces: &[UrlPiece]) -> impl Iterator<Item = &str> {
    pieces.iter().filter_map(|piece| match piece {
        UrlPiece::Variable(name) => Some(name.as_str()),
        UrlPiece::Literal(_) => None,
    })
}

impl FromStr for UrlTemplate {
    type Err = UrlTemplateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::template(text)
    }
}

impl fmt::Display for UrlTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
