//! Patterns for tools' full names.
//!
//! A pattern is compared with a tool's canonical full name, segment by segment, in time linear in both. It is checked
//! when it is written: a pattern that no name can match, such as `../x`, is an error at its position, never a rule
//! without effect.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::name::{FullName, MAX_SEGMENT_LEN};

/// The maximum pattern length in bytes.
pub const MAX_PATTERN_LEN: usize = 256;

/// A pattern for tools' full names.
///
/// | pattern | matches |
/// |---|---|
/// | `*`, `**` | every tool |
/// | `math/add` | this project tool |
/// | `github/*` | every tool in the project's toolbox `github` |
/// | `github/delete_*` | tools in that toolbox whose name begins with `delete_` |
/// | `acme/*/*`, `acme/**` | every tool in the organisation `acme`; the second also matches the project's toolbox `acme` |
/// | `**/add` | every tool named `add` |
/// | `add`, `/add` | the standard toolbox's tool `add`, and no other |
/// | `/*` | every tool in the standard toolbox |
///
/// A `*` matches any characters but a slash. `**` stands for any number of segments, at the end for at least one.
/// Letter case matters.
///
/// ```
/// use haft_registry::ToolPattern;
///
/// let pattern: ToolPattern = "github/delete_*".parse()?;
/// assert!(pattern.matches(&"github/delete_repo".parse()?));
/// assert!(!pattern.matches(&"acme/github/delete_repo".parse()?));
///
/// let invalid = "github/../*".parse::<ToolPattern>().unwrap_err();
/// assert_eq!(invalid.at, 7);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolPattern {
    text: Box<str>,
    segments: Box<[PatternSegment]>,
}

/// A rejected pattern, with the fault's position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` is invalid at byte {at}: {fault}")]
#[non_exhaustive]
pub struct ToolPatternError {
    /// The pattern, shortened if it is very long.
    pub pattern: String,
    /// The fault's position, in bytes from the start.
    pub at: usize,
    /// The fault.
    pub fault: ToolPatternFault,
}

/// The reason why a pattern is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolPatternFault {
    /// The pattern, or a part between slashes, is empty.
    #[error("it has an empty segment; write `*` for every tool, or `namespace/*` for those of a toolbox")]
    EmptySegment,
    /// The pattern is longer than [`MAX_PATTERN_LEN`].
    #[error("it is longer than {MAX_PATTERN_LEN} bytes; shorten it")]
    TooLong,
    /// The pattern has more segments than any name.
    #[error("no name has more than three segments; write at most `organisation/namespace/tool`")]
    TooManySegments,
    /// A segment is longer than any name segment.
    #[error("no name has a segment of more than {MAX_SEGMENT_LEN} bytes; shorten it")]
    SegmentTooLong,
    /// A segment begins with a character that no name segment begins with.
    #[error("a segment begins with an ASCII letter or digit, or with `*`")]
    Start,
    /// The pattern contains a character that no name contains.
    #[error("no name contains {0:?}; use ASCII letters, digits, `_`, `-`, `.` and `*`")]
    Character(char),
    /// `**` is only a part of a segment.
    #[error("`**` stands for whole segments; write `*` for characters of one")]
    PartialDoubleStar,
    /// A pattern with several segments begins with a slash.
    #[error("only a tool of the standard toolbox is written with a slash at the start; remove the slash")]
    LeadingSlash,
}

/// A pattern segment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum PatternSegment {
    /// Any number of segments.
    Any,
    /// One segment: the literal texts between the stars. The first and the last are anchored.
    One(Box<[Box<str>]>),
}

impl ToolPattern {
    /// Checks a pattern.
    pub fn new(pattern: &str) -> Result<Self, ToolPatternError> {
        let segments = parse(pattern).map_err(|(at, fault)| ToolPatternError {
            pattern: pattern.chars().take(80).collect(),
            at,
            fault,
        })?;
        Ok(Self { text: pattern.into(), segments: segments.into() })
    }

    /// Reports whether the pattern matches this full name.
    #[must_use]
    pub fn matches(&self, name: &FullName) -> bool {
        self.matches_text(&name.to_string())
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the pattern in lower case, for lower-case names.
    pub(super) fn to_lowercase(&self) -> Self {
        let lower = |piece: &str| Box::from(piece.to_ascii_lowercase());
        let segments = self.segments.iter().map(|segment| match segment {
            PatternSegment::Any => PatternSegment::Any,
            PatternSegment::One(pieces) => PatternSegment::One(pieces.iter().map(|piece| lower(piece)).collect()),
        });
        Self { text: lower(&self.text), segments: segments.collect() }
    }

    /// Reports whether the pattern matches a full name's text.
    pub(super) fn matches_text(&self, name: &str) -> bool {
        let names: Vec<&str> = name.split('/').collect();
        // Bit i is set if the pattern's segments so far match the name's first i segments. No name has more than three.
        let mut reached = 1_u8;
        for (index, segment) in self.segments.iter().enumerate() {
            let is_last = index + 1 == self.segments.len();
            reached = match segment {
                PatternSegment::Any => after_any(reached, is_last),
                PatternSegment::One(pieces) => {
                    let matched = |at: &usize| reached >> at & 1 == 1 && matches_segment(pieces, names[*at]);
                    (0..names.len().min(3)).filter(matched).fold(0, |next, at| next | 2 << at)
                }
            };
        }
        names.len() <= 3 && reached >> names.len() & 1 == 1
    }
}

/// Returns the positions that `**` reaches from these ones.
fn after_any(reached: u8, is_last: bool) -> u8 {
    if reached == 0 {
        return 0;
    }
    let from = u8::MAX << reached.trailing_zeros();
    if is_last { from << 1 } else { from }
}

/// Reports whether a name segment consists of these texts, with anything between them.
fn matches_segment(pieces: &[Box<str>], segment: &str) -> bool {
    let [first, middle @ .., last] = pieces else {
        return pieces.first().is_some_and(|only| **only == *segment);
    };
    let Some(mut rest) = segment.strip_prefix(&**first) else { return false };
    for piece in middle {
        // The leftmost occurrence leaves the most for the others.
        let Some(at) = rest.find(&**piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(&**last)
}

fn parse(pattern: &str) -> Result<Vec<PatternSegment>, (usize, ToolPatternFault)> {
    if pattern.len() > MAX_PATTERN_LEN {
        return Err((MAX_PATTERN_LEN, ToolPatternFault::TooLong));
    }
    if pattern == "*" {
        return Ok(vec![PatternSegment::Any]);
    }
    let (start, written) = pattern.strip_prefix('/').map_or((0, pattern), |rest| (1, rest));
    if start == 1 && written.contains('/') {
        return Err((0, ToolPatternFault::LeadingSlash));
    }
    let mut segments = Vec::new();
    let mut at = start;
    for text in written.split('/') {
        segments.push(parse_segment(text).map_err(|(inside, fault)| (at + inside, fault))?);
        let ones = segments.iter().filter(|segment| matches!(segment, PatternSegment::One(_))).count();
        if ones > 3 {
            return Err((at, ToolPatternFault::TooManySegments));
        }
        at += text.len() + 1;
    }
    match segments.as_slice() {
        [PatternSegment::Any] if start == 1 => Err((0, ToolPatternFault::LeadingSlash)),
        _ => Ok(segments),
    }
}

fn parse_segment(text: &str) -> Result<PatternSegment, (usize, ToolPatternFault)> {
    if text.is_empty() {
        return Err((0, ToolPatternFault::EmptySegment));
    }
    if text == "**" {
        return Ok(PatternSegment::Any);
    }
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '*');
    if let Some((at, character)) = text.char_indices().find(|(_, character)| !is_allowed(*character)) {
        return Err((at, ToolPatternFault::Character(character)));
    }
    if let Some(at) = text.find("**") {
        return Err((at, ToolPatternFault::PartialDoubleStar));
    }
    if !text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '*') {
        return Err((0, ToolPatternFault::Start));
    }
    let pieces: Box<[Box<str>]> = text.split('*').map(Box::from).collect();
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() > MAX_SEGMENT_LEN {
        return Err((0, ToolPatternFault::SegmentTooLong));
    }
    Ok(PatternSegment::One(pieces))
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for ToolPattern {
    type Err = ToolPatternError;

    fn from_str(pattern: &str) -> Result<Self, ToolPatternError> {
        Self::new(pattern)
    }
}

impl Serialize for ToolPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for ToolPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::new(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for ToolPattern {
    fn schema_name() -> Cow<'static, str> {
        "ToolPattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": MAX_PATTERN_LEN,
            "description": "A pattern over full names of tools, such as `math/add`, `github/*`, `**/add`, or `*` for all.",
        })
    }
}
