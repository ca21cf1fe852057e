//! Request bodies.

use std::collections::BTreeMap;

use haft_http::Method;
use schemars::JsonSchema;
use serde::Deserialize;

use super::parameter::ParameterStyle;

/// A request body: where it comes from and how it is written.
///
/// ```
/// use haft_tools::http::{BodyFormat, BodyMapping};
///
/// let upload = BodyMapping::argument("text", BodyFormat::Text).content_type("text/markdown");
/// assert_eq!(upload.format.media_type(), "text/plain; charset=utf-8");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyMapping {
    /// The body's source.
    pub source: BodySource,
    /// The body's format.
    pub format: BodyFormat,
    /// The header `content-type`, replacing the format's own.
    pub content_type: Option<String>,
    /// The notations of a form's fields, by their names. Those of all others are the format's.
    pub fields: BTreeMap<String, FormField>,
}

/// The notation of a form's field.
///
/// ```
/// use haft_tools::http::{BodyFormat, BodyMapping, FormField, ParameterStyle};
///
/// let items = FormField::styled(ParameterStyle::DeepObject);
/// let form = BodyMapping::argument("body", BodyFormat::Form).field("items", items);
/// assert_eq!(form.fields["items"].style, Some(ParameterStyle::DeepObject));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormField {
    /// The notation. Without one, arrays repeat the name, and objects are written as JSON.
    pub style: Option<ParameterStyle>,
    /// True if reserved characters such as `/` and `:` stay as they are in a URL-encoded form.
    pub allow_reserved: bool,
    /// The media type of the field's parts in a multipart form. Without one, it is `application/json` for arrays and
    /// objects that are written as JSON, and unset for texts.
    pub content_type: Option<String>,
}

/// A request body's source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodySource {
    /// There is no body.
    None,
    /// The arguments that nothing else uses, as an object. Without any there is no body.
    Rest,
    /// The arguments that nothing else uses, as an object, even if there are none.
    RestOrEmpty,
    /// One argument's value. Without it there is no body.
    Argument(String),
}

/// The format of the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BodyFormat {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`. Arrays repeat the name, and objects are written as JSON.
    Form,
    /// `multipart/form-data` with texts only. Arrays repeat the name, and objects are written as JSON.
    Multipart,
    /// The text of one argument as it is; numbers and booleans as in JSON.
    Text,
}

impl BodyMapping {
    /// Creates a request without a body.
    #[must_use]
    pub fn none() -> Self {
        Self { source: BodySource::None, format: BodyFormat::Json, content_type: None, fields: BTreeMap::new() }
    }

    /// Creates a body from the arguments that nothing else uses.
    #[must_use]
    pub fn rest(format: BodyFormat) -> Self {
        Self { source: BodySource::RestOrEmpty, format, content_type: None, fields: BTreeMap::new() }
    }

    /// Creates a body from one argument.
    #[must_use]
    pub fn argument(argument: impl Into<String>, format: BodyFormat) -> Self {
        Self { source: BodySource::Argument(argument.into()), format, content_type: None, fields: BTreeMap::new() }
    }

    /// Returns the default body for a method: none if requests with the method usually have no body, else the arguments
    /// that nothing else uses, as JSON.
    #[must_use]
    pub fn default_of(method: &Method) -> Self {
        if has_no_body(method) { Self::none() } else { Self { source: BodySource::Rest, ..Self::none() } }
    }

    /// Sets the header `content-type`, replacing the format's own. The `multipart/form-data` boundary is added.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }

    /// Sets the notation of a form's field.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, field: FormField) -> Self {
        self.fields.insert(name.into(), field);
        self
    }
}

impl FormField {
    /// Creates a field with this notation.
    #[must_use]
    pub fn styled(style: ParameterStyle) -> Self {
        Self { style: Some(style), ..Self::default() }
    }

    /// Leaves reserved characters in a URL-encoded form as they are.
    #[must_use]
    pub fn allow_reserved(mut self) -> Self {
        self.allow_reserved = true;
        self
    }

    /// Sets the media type of the field's parts in a multipart form.
    #[must_use]
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.content_type = Some(content_type.into());
        self
    }
}

impl BodyFormat {
    /// Returns the format's media type.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Multipart => "multipart/form-data",
            Self::Text => "text/plain; charset=utf-8",
        }
    }
}

/// Reports whether requests with this method usually have no body.
pub(super) fn has_no_body(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::DELETE | Method::OPTIONS)
}
