//! The URL template parser.

use oauth2::url::{Position, Url};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::expand::is_dot_segment;
use super::{QueryPair, Segment, UrlPiece, UrlTemplate, UrlTemplateError};

/// The characters that are escaped in a literal. Its existing escapes stay.
const LITERAL: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'^').add(b'`').add(b'|').add(b'\'');

pub(super) fn template(text: &str) -> Result<UrlTemplate, UrlTemplateError> {
    if text.chars().any(|c| c == '\\' || c.is_control() || c.is_whitespace()) {
        return Err(UrlTemplateError::Character);
    }
    let (origin, rest) = origin(text)?;
    if rest.contains('#') {
        return Err(UrlTemplateError::Fragment);
    }
    // No name contains a question mark, so the first one always begins the query.
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let path = path.strip_prefix('/').unwrap_or_default();
    let path = path.split('/').map(segment).collect::<Result<_, _>>()?;
    let query = query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    let query = query.map(query_pair).collect::<Result<_, _>>()?;
    Ok(UrlTemplate { text: text.to_owned(), origin, path, query })
}

/// Splits a URL into its origin and the rest.
fn origin(text: &str) -> Result<(String, &str), UrlTemplateError> {
    let not_absolute = |reason: &str| UrlTemplateError::NotAbsolute(reason.to_owned());
    let (scheme, after) = text.split_once("://").ok_or_else(|| not_absolute("it has no scheme"))?;
    let length = after.find(['/', '?', '#']).unwrap_or(after.len());
    let (authority, rest) = after.split_at(length);
    if scheme.contains(['{', '}']) || authority.contains(['{', '}']) {
        return Err(UrlTemplateError::VariableOrigin);
    }
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return Err(UrlTemplateError::Scheme);
    }
    if authority.contains('@') {
        return Err(UrlTemplateError::Credentials);
    }
    if authority.is_empty() {
        return Err(not_absolute("it has no host"));
    }
    let url = Url::parse(&format!("{scheme}://{authority}/")).map_err(|error| not_absolute(&error.to_string()))?;
    Ok((url[..Position::BeforePath].to_owned(), rest))
}

fn segment(text: &str) -> Result<Segment, UrlTemplateError> {
    if let Some(name) = text.strip_prefix("{+").and_then(|text| text.strip_suffix('}'))
        && is_name(name)
    {
        return Ok(Segment::Many(name.to_owned()));
    }
    let pieces = pieces(text)?;
    match pieces.iter().find_map(|piece| match piece {
        UrlPiece::Variable(name) => name.strip_prefix('+'),
        UrlPiece::Literal(_) => None,
    }) {
        Some(name) => Err(UrlTemplateError::PartOfSegment(name.to_owned())),
        None if is_dot_segment(text) => Err(UrlTemplateError::DotSegment),
        None => Ok(Segment::One(pieces)),
    }
}

fn query_pair(text: &str) -> Result<QueryPair, UrlTemplateError> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    if name.contains(['{', '}']) {
        return Err(UrlTemplateError::VariableName);
    }
    let value = value.map(pieces).transpose()?;
    Ok(QueryPair { name: literal(name), value })
}

fn pieces(mut text: &str) -> Result<Vec<UrlPiece>, UrlTemplateError> {
    let mut pieces = Vec::new();
    while let Some(start) = text.find(['{', '}']) {
        let (before, braced) = text.split_at(start);
        let inner = braced.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, after) = inner.filter(|(name, _)| is_name(name)).ok_or(UrlTemplateError::Brace)?;
        if !before.is_empty() {
            pieces.push(UrlPiece::Literal(literal(before)));
        }
        pieces.push(UrlPiece::Variable(name.to_owned()));
        text = after;
    }
    if !text.is_empty() {
        pieces.push(UrlPiece::Literal(literal(text)));
    }
    Ok(pieces)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['{', '}', '/', '?', '&', '=', '#'])
}

fn literal(text: &str) -> String {
    utf8_percent_encode(text, LITERAL).to_string()
}
