//! Argument values as request text.

use std::borrow::Cow;

use super::exact::ExactValue;
use super::parameter::ParameterStyle;
use super::template::{Escape, escaped};

/// The deepest objects and arrays that [`ParameterStyle::DeepObject`] writes.
const MAX_DEPTH: usize = 16;
/// The longest text of one value. Names of deep objects repeat, so a short value can have a long text.
const MAX_BYTES: usize = 32 << 20;

/// The reason that a style has no text for a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Inexpressible {
    #[error("must not contain `{0}` inside a list or an object, whose parts it separates in the request")]
    Separator(&'static str),
    #[error("must not contain the key `{0}`, as brackets enclose keys in the request")]
    Bracket(String),
    #[error("must not nest deeper than {MAX_DEPTH} levels, as it is not sent as JSON")]
    TooDeep,
    #[error("must be shorter: it takes more than {MAX_BYTES} bytes in the request")]
    TooLong,
}

/// The notation of one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    pub(super) style: ParameterStyle,
    /// The characters of a value to escape. Names are escaped fully, unless nothing is.
    pub(super) escape: Escape,
    /// The text of a value that has none, such as an empty list.
    pub(super) empty: EmptyText,
}

/// The text of a value that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyText {
    /// The value is left out.
    Omitted,
    /// The name is sent with an empty text.
    Sent,
}

impl Notation {
    /// Creates a style's notation, fully escaped, without empty texts.
    pub(super) fn of(style: ParameterStyle) -> Self {
        Self { style, escape: Escape::Full, empty: EmptyText::Omitted }
    }
}

/// The separators of a style with one text.
struct Marks {
    /// In front of everything.
    prefix: String,
    /// In front of each element of a list.
    element: String,
    between: &'static str,
    binder: &'static str,
}

impl Marks {
    fn new(name: &str, style: ParameterStyle) -> Self {
        let marks =
            |prefix: &str, between, binder| Self { prefix: prefix.to_owned(), element: String::new(), between, binder };
        match style {
            ParameterStyle::Repeat
            | ParameterStyle::Spread
            | ParameterStyle::Comma
            | ParameterStyle::DeepObject
            | ParameterStyle::Json => marks("", ",", ","),
            ParameterStyle::CommaPairs => marks("", ",", "="),
            ParameterStyle::Space => marks("", " ", " "),
            ParameterStyle::Pipe => marks("", "|", "|"),
            ParameterStyle::Label => marks(".", ",", ","),
            ParameterStyle::LabelPairs => marks(".", ".", "="),
            ParameterStyle::Matrix => marks(&format!(";{}=", escaped(name)), ",", ","),
            ParameterStyle::MatrixPairs => Self { element: format!("{}=", escaped(name)), ..marks(";", ";", "=") },
        }
    }

    /// Returns a separator's text. Space and bar must be escaped like everything else; the others have no other meaning.
    fn written(mark: &str, escape: Escape) -> Cow<'_, str> {
        if matches!(mark, " " | "|") { escape.write(mark).into() } else { mark.into() }
    }

    /// Writes a part of a list or an object, in which none of these separators may occur.
    fn part(text: &str, separators: &[&'static str], escape: Escape) -> Result<String, Inexpressible> {
        let mut part = escape.write(text);
        for &separator in separators {
            if !part.contains(&*Self::written(separator, escape)) {
                continue;
            }
            let other = escaped(separator);
            if escape != Escape::ButReserved || other == separator || matches!(separator, " " | "|") {
                return Err(Inexpressible::Separator(separator));
            }
            part = part.replace(separator, &other);
        }
        Ok(part)
    }
}

/// Returns a value's text: none for `null`, JSON for arrays and objects.
pub(super) fn scalar(value: &ExactValue) -> Option<Cow<'_, str>> {
    match value {
        ExactValue::Null => None,
        ExactValue::Text(text) => Some(text.into()),
        ExactValue::Number(number) => Some(number.into()),
        ExactValue::Bool(_) | ExactValue::List(_) | ExactValue::Object(_) => Some(value.to_string().into()),
    }
}

/// Returns the texts of a list's elements, or of any other value.
pub(super) fn repeated_texts(value: &ExactValue) -> impl Iterator<Item = Cow<'_, str>> {
    let values = match value {
        ExactValue::List(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    values.iter().filter_map(scalar)
}

/// Writes a value as one text, for a path or a header. Returns `None` if nothing is left.
pub(super) fn single(
    name: &str,
    value: &ExactValue,
    style: ParameterStyle,
    escape: Escape,
) -> Result<Option<String>, Inexpressible> {
    if style == ParameterStyle::Json {
        return Ok(Some(escape.write(&value.to_string())));
    }
    let Marks { prefix, element, between, binder } = Marks::new(name, style);
    let texts: Vec<String> = match value {
        ExactValue::Null | ExactValue::Bool(_) | ExactValue::Number(_) | ExactValue::Text(_) => {
            let text = scalar(value).map(|text| escape.write(&text));
            return Ok(text.map(|text| match &*text {
                "" => format!("{prefix}{element}").trim_end_matches('=').to_owned(),
                text => format!("{prefix}{element}{text}"),
            }));
        }
        ExactValue::List(list) => {
            let written = |text: Cow<'_, str>| Ok(format!("{element}{}", Marks::part(&text, &[between], escape)?));
            list.iter().filter_map(scalar).map(written).collect::<Result<_, _>>()?
        }
        ExactValue::Object(members) => {
            let bound = |(name, value): &(String, ExactValue)| {
                let text = scalar(value)?;
                let name = Marks::part(name, &[between, binder], escape);
                let value = Marks::part(&text, &[between], escape);
                Some(name.and_then(|name| Ok(format!("{name}{}{}", Marks::written(binder, escape), value?))))
            };
            members.iter().filter_map(bound).collect::<Result<_, _>>()?
        }
    };
    let text = texts.join(&Marks::written(between, escape));
    Ok((!texts.is_empty()).then(|| format!("{prefix}{text}")))
}

/// Writes a value as pairs of name and value, for a query, a form or cookies.
pub(super) fn pairs(
    name: &str,
    value: &ExactValue,
    notation: Notation,
) -> Result<Vec<(String, String)>, Inexpressible> {
    let mut writer = PairWriter { notation, pairs: Vec::new(), bytes: 0 };
    match (notation.style, value) {
        (_, ExactValue::Null) => return Ok(writer.pairs),
        (ParameterStyle::Spread, ExactValue::Object(members)) => {
            members.iter().try_for_each(|(name, value)| writer.repeated(name, value))?;
        }
        (ParameterStyle::Repeat | ParameterStyle::Spread, value) => writer.repeated(name, value)?,
        (ParameterStyle::DeepObject, value) => writer.deep(name, value, 0)?,
        (style, value) => {
            if let Some(text) = single(name, value, style, notation.escape)? {
                writer.push(name, text)?;
            }
        }
    }
    if writer.pairs.is_empty() && notation.empty == EmptyText::Sent {
        writer.push(name, String::new())?;
    }
    Ok(writer.pairs)
}

/// Pairs in the making.
struct PairWriter {
    notation: Notation,
    pairs: Vec<(String, String)>,
    bytes: usize,
}

impl PairWriter {
    /// Adds a pair with a text that is already escaped.
    fn push(&mut self, name: &str, text: String) -> Result<(), Inexpressible> {
        let name = self.notation.escape.write_name(name);
        self.spend(name.len() + text.len())?;
        self.pairs.push((name, text));
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Inexpressible> {
        self.bytes += bytes;
        if self.bytes > MAX_BYTES { Err(Inexpressible::TooLong) } else { Ok(()) }
    }

    fn repeated(&mut self, name: &str, value: &ExactValue) -> Result<(), Inexpressible> {
        repeated_texts(value).try_for_each(|text| self.push(name, self.notation.escape.write(&text)))
    }

    /// Writes objects as `a[key]`, lists of scalars as `a[]`, and other lists by their indices: `a[0][key]`.
    fn deep(&mut self, name: &str, value: &ExactValue, depth: usize) -> Result<(), Inexpressible> {
        if value.is_composite() && depth >= MAX_DEPTH {
            return Err(Inexpressible::TooDeep);
        }
        match value {
            ExactValue::Object(members) => members.iter().try_for_each(|(member, value)| {
                if member.contains(['[', ']']) {
                    return Err(Inexpressible::Bracket(member.chars().take(40).collect()));
                }
                self.deep_member(name, member, value, depth)
            }),
            ExactValue::List(list) => {
                let is_numbered = list.iter().any(ExactValue::is_composite);
                let present = list.iter().filter(|value| **value != ExactValue::Null).enumerate();
                for (at, value) in present {
                    let index = if is_numbered { at.to_string() } else { String::new() };
                    self.deep_member(name, &index, value, depth)?;
                }
                Ok(())
            }
            value => self.repeated(name, value),
        }
    }

    fn deep_member(&mut self, name: &str, member: &str, value: &ExactValue, depth: usize) -> Result<(), Inexpressible> {
        // A name is written for every value below it, even if none of them is sent.
        self.spend(name.len() + member.len())?;
        self.deep(&format!("{name}[{member}]"), value, depth + 1)
    }
}
