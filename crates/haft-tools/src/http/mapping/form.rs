//! Request bodies.

use std::collections::HashSet;

use super::super::body::{BodyFormat, BodyMapping, FormField};
use super::super::exact::ExactValue;
use super::super::parameter::ParameterStyle;
use super::super::template::{Escape, escaped};
use super::super::value::{Notation, pairs, scalar};
use super::multipart::{Part, multipart};
use super::{PreparedBody, unescaped};

/// A member of the body that can't be written, if it is one of them, and the reason.
type Fault = (Option<String>, String);

/// Writes a body.
pub(super) fn body(mapping: &BodyMapping, value: &ExactValue) -> Result<PreparedBody, Fault> {
    let BodyMapping { format, content_type, .. } = mapping;
    let media_type = content_type.as_deref().unwrap_or(format.media_type());
    let (content_type, bytes) = match format {
        BodyFormat::Json => (media_type.to_owned(), value.to_string()),
        BodyFormat::Text => (media_type.to_owned(), scalar(value).unwrap_or_default().into_owned()),
        BodyFormat::Form => {
            let fields = fields(mapping, value, |name, value, field| {
                let escape = if field.allow_reserved { Escape::ButReserved } else { Escape::Full };
                let style = field.style.unwrap_or(ParameterStyle::Repeat);
                pairs(name, value, Notation { escape, ..Notation::of(style) }).map_err(|error| error.to_string())
            })?;
            let texts: Vec<String> = fields.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            (media_type.to_owned(), texts.join("&"))
        }
        BodyFormat::Multipart => {
            let (boundary, text) = multipart(&fields(mapping, value, parts)?);
            (format!("{media_type}; boundary={boundary}"), text)
        }
    };
    Ok(PreparedBody { content_type, bytes: bytes.into() })
}

/// Writes a form's fields, each as `write` does. A field that is written under the names of its members must not use the
/// name of another one.
fn fields<W: Named>(
    mapping: &BodyMapping,
    value: &ExactValue,
    write: impl Fn(&str, &ExactValue, &FormField) -> Result<Vec<W>, String>,
) -> Result<Vec<W>, Fault> {
    let ExactValue::Object(members) = value else {
        return Err((None, "must be an object, as it is sent as a form".to_owned()));
    };
    let names: HashSet<String> = members.iter().map(|(name, _)| escaped(name)).collect();
    let default = FormField::default();
    let mut written = Vec::new();
    for (name, value) in members {
        let field = mapping.fields.get(name).unwrap_or(&default);
        let fault = |message| (Some(name.clone()), message);
        let of_field = write(name, value, field).map_err(fault)?;
        if field.style == Some(ParameterStyle::Spread) {
            let own = escaped(name);
            let is_other = |written: &&W| written.escaped_name() != own && names.contains(&written.escaped_name());
            if let Some(other) = of_field.iter().find(is_other) {
                let other = unescaped(&other.escaped_name());
                return Err(fault(format!("must not be sent as `{other}`, which is another field; remove it")));
            }
        }
        written.extend(of_field);
    }
    Ok(written)
}

/// A written part of a form.
trait Named {
    fn escaped_name(&self) -> String;
}

impl Named for (String, String) {
    fn escaped_name(&self) -> String {
        self.0.clone()
    }
}

impl Named for Part {
    fn escaped_name(&self) -> String {
        escaped(&self.name)
    }
}

/// Writes a multipart field: by its style, or one part per value, as JSON if it is an array or an object.
fn parts(name: &str, value: &ExactValue, field: &FormField) -> Result<Vec<Part>, String> {
    let FormField { style, content_type, .. } = field;
    if let Some(style) = style {
        let json = (*style == ParameterStyle::Json).then(|| "application/json".to_owned());
        let content_type = content_type.clone().or(json);
        let written = pairs(name, value, Notation { escape: Escape::Nothing, ..Notation::of(*style) });
        let part = |(name, text)| Part { name, text, content_type: content_type.clone() };
        return Ok(written.map_err(|error| error.to_string())?.into_iter().map(part).collect());
    }
    let values = match value {
        ExactValue::List(list) => list.as_slice(),
        value => std::slice::from_ref(value),
    };
    let part = |value: &ExactValue| {
        let json = || value.is_composite().then(|| "application/json".to_owned());
        let content_type = content_type.clone().or_else(json);
        Some(Part { name: name.to_owned(), text: scalar(value)?.into_owned(), content_type })
    };
    Ok(values.iter().filter_map(part).collect())
}
