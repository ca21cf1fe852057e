//! Replaces variables by values.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::super::exact::ExactValue;
use super::super::value::{repeated_texts, scalar};
use super::{QueryPair, Segment, UrlPiece, UrlTemplate, variables};

/// All characters but RFC 3986's unreserved ones.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// As [`RESERVED`], without the reserved characters that neither end a value nor change its meaning: `#`, `&`, `+` and
/// `%` do.
const BUT_RESERVED: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

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

/// The characters of a text to escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Escape {
    /// Every character that has a meaning in a URL.
    Full,
    /// As `Full`, without slashes.
    ButSlashes,
    /// As `Full`, without reserved characters that neither end a value nor change its meaning.
    ButReserved,
    /// None: the text is not part of a URL.
    Nothing,
}

impl Escape {
    pub(in super::super) fn write(self, text: &str) -> String {
        match self {
            Self::Full => escaped(text),
            Self::ButSlashes => text.split('/').map(escaped).collect::<Vec<_>>().join("/"),
            Self::ButReserved => utf8_percent_encode(text, BUT_RESERVED).to_string(),
            Self::Nothing => text.to_owned(),
        }
    }

    /// Writes a name, in which nothing is left unescaped but by [`Nothing`](Self::Nothing).
    pub(in super::super) fn write_name(self, name: &str) -> String {
        match self {
            Self::Full | Self::ButSlashes | Self::ButReserved => escaped(name),
            Self::Nothing => name.to_owned(),
        }
    }
}

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
                    let text = written(pieces, |name| value(name, Escape::Full));
                    if let Some(name) = variables(pieces).last() {
                        check_segment(&text).map_err(|fault| (name, fault))?;
                    }
                    url.push_str(&text);
                }
                Segment::Many(name) => {
                    let text = value(name, Escape::ButSlashes);
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
        value: impl Fn(&str) -> &'v ExactValue,
    ) -> Vec<(String, Option<String>)> {
        let mut written_pairs = Vec::new();
        for QueryPair { name, value: pieces } in &self.query {
            match pieces.as_deref() {
                None => written_pairs.push((name.clone(), None)),
                Some([UrlPiece::Variable(variable)]) => {
                    let values = repeated_texts(value(variable));
                    written_pairs.extend(values.map(|text| (name.clone(), Some(escaped(&text)))));
                }
                Some(pieces) if variables(pieces).any(|name| *value(name) == ExactValue::Null) => {}
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
