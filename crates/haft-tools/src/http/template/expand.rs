//! Replaces variables by values.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

use super::super::value::{pairs, scalar};
use super::{QueryPair, Segment, UrlPiece, UrlTemplate, variables};
use crate::http::ParameterStyle;

/// All characters but RFC 3986's unreserved ones.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The number of times to unescape a value in search of a step up.
const UNESCAPES: usize = 3;

/// The reason that a value can't be part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in super::super) enum PathFault {
    #[error("must not be empty, as it is a part of the path of a URL")]
    Empty,
    #[error("must not contain `.` or `..` as a step of a path")]
    DotSegment,
    #[error("must not begin with a slash")]
    LeadingSlash,
    #[error("must not contain an empty step of a path")]
    EmptyStep,
    #[error("must not contain control characters")]
    Control,
}

/// A function that escapes a text.
pub(in super::super) type Escape = fn(&str) -> String;

/// Escapes every character that has a meaning in a URL.
pub(in super::super) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

impl UrlTemplate {
    /// Writes the origin and the path, with the variables' escaped values. The error names the variable whose value is
    /// not allowed.
    pub(in super::super) fn expand_path(
        &self,
        value: impl Fn(&str, Escape) -> String,
    ) -> Result<String, (&str, PathFault)> {
        let mut url = self.origin.clone();
        for segment in &self.path {
            url.push('/');
            match segment {
                Segment::One(pieces) => {
                    let text = written(pieces, |name| value(name, escaped));
                    if let Some(name) = variables(pieces).last() {
                        check_segment(&text).map_err(|fault| (name, fault))?;
                    }
                    url.push_str(&text);
                }
                Segment::Many(name) => {
                    let text = value(name, escaped_but_slashes);
                    check_segments(&text).map_err(|fault| (name.as_str(), fault))?;
                    url.push_str(&text);
                }
            }
        }
        Ok(url)
    }

    /// Writes the query as escaped pairs of name and value. Omits a pair with a variable that has no value. If a pair's
    /// value is only a variable, repeats the pair for each array element.
    pub(in super::super) fn expand_query<'v>(
        &self,
        value: impl Fn(&str) -> &'v Value,
    ) -> Vec<(String, Option<String>)> {
        let mut written_pairs = Vec::new();
        for QueryPair { name, value: pieces } in &self.query {
            match pieces.as_deref() {
                None => written_pairs.push((name.clone(), None)),
                Some([UrlPiece::Variable(variable)]) => {
                    let values = pairs("", value(variable), ParameterStyle::Repeat);
                    written_pairs.extend(values.into_iter().map(|(_, value)| (name.clone(), Some(value))));
                }
                Some(pieces) if variables(pieces).any(|name| value(name).is_null()) => {}
                Some(pieces) => {
                    let text = written(pieces, |name| escaped(&scalar(value(name)).unwrap_or_default()));
                    written_pairs.push((name.clone(), Some(text)));
                }
            }
        }
        written_pairs
    }
}

/// Reports whether a path segment, unescaped or not, stands for its own folder or the one above.
pub(super) fn is_dot_segment(segment: &str) -> bool {
    matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..")
}

fn written(pieces: &[UrlPiece], value: impl Fn(&str) -> String) -> String {
    let text = pieces.iter().map(|piece| match piece {
        UrlPiece::Literal(text) => Cow::Borrowed(text.as_str()),
        UrlPiece::Variable(name) => Cow::Owned(value(name)),
    });
    text.collect()
}

fn escaped_but_slashes(text: &str) -> String {
    text.split('/').map(escaped).collect::<Vec<_>>().join("/")
}

/// Checks the escaped text for several segments.
fn check_segments(text: &str) -> Result<(), PathFault> {
    match text {
        "" => Err(PathFault::Empty),
        _ if text.starts_with('/') => Err(PathFault::LeadingSlash),
        _ => text.split('/').try_for_each(|segment| match segment {
            "" => Err(PathFault::EmptyStep),
            segment => check_segment(segment),
        }),
    }
}

/// Checks one segment's escaped text, as it is and unescaped a few times: an escaped slash is not a separator, but some
/// servers unescape the path before they split it.
fn check_segment(text: &str) -> Result<(), PathFault> {
    if text.is_empty() {
        return Err(PathFault::Empty);
    }
    let mut unescaped = text.to_owned();
    for _ in 0..UNESCAPES {
        unescaped = percent_decode_str(&unescaped).decode_utf8_lossy().into_owned();
        if unescaped.chars().any(char::is_control) {
            return Err(PathFault::Control);
        }
        if unescaped.starts_with(['/', '\\']) {
            return Err(PathFault::LeadingSlash);
        }
        // Some servers cut a step off at a semicolon, so `..;x` is `..` for them.
        let mut steps = unescaped.split(['/', '\\']).map(|step| step.split(';').next());
        if steps.any(|step| matches!(step, Some("." | ".."))) {
            return Err(PathFault::DotSegment);
        }
    }
    Ok(())
}
