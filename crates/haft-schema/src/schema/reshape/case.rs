//! The choice between changes by the value: for alternatives of a schema that change in different ways.

use serde_json::Value;

use super::super::document::Instance;
use super::super::types::JsonType;
use super::{ReshapeDirection, ReshapeId};

/// A change of the values that have a type, and perhaps a member.
///
/// ```
/// use haft_schema::{Reshape, ReshapeCase, ReshapeKind, ReshapeMember};
///
/// // {"kind": "circle", "radius"?: number} or {"kind": "square", "side"?: number}
/// let mut reshape = Reshape::new();
/// let (shape, circle, square) = (reshape.add(), reshape.add(), reshape.add());
/// reshape.member(circle, ReshapeMember::new("radius").absent_as_null());
/// reshape.member(square, ReshapeMember::new("side").absent_as_null());
/// for (name, change) in [("circle", circle), ("square", square)] {
///     let is_kind = ReshapeCase::new(ReshapeKind::Object, change).with_member("kind").equal_to([name]);
///     reshape.case(shape, is_kind);
/// }
/// let codec = reshape.finish(shape);
/// assert_eq!(codec.encode(r#"{"kind":"square"}"#)?, r#"{"kind":"square","side":null}"#);
/// # Ok::<_, haft_schema::CodecError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a case changes nothing until it is added to a node"]
pub struct ReshapeCase {
    kind: ReshapeKind,
    sent_kind: ReshapeKind,
    member: Option<CaseMember>,
    pub(super) change: ReshapeId,
}

/// The type of the values that a case applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReshapeKind {
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
    /// A value of any type.
    Any,
}

/// A member that an object must have for a case to apply.
#[derive(Clone, Debug)]
struct CaseMember {
    name: String,
    sent_name: String,
    /// Its possible values; if there are none, it may have any value.
    values: Vec<Value>,
}

impl ReshapeCase {
    /// Creates a case for the values of a type, which are sent in the same type.
    pub fn new(kind: ReshapeKind, change: ReshapeId) -> Self {
        Self { kind, sent_kind: kind, member: None, change }
    }

    /// Sets the type that the values are sent in.
    pub fn sent_as(mut self, kind: ReshapeKind) -> Self {
        self.sent_kind = kind;
        self
    }

    /// Restricts the case to objects that have this member.
    pub fn with_member(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.member = Some(CaseMember { sent_name: name.clone(), name, values: Vec::new() });
        self
    }

    /// Sets the name that the member is sent by.
    pub fn named(mut self, sent_name: impl Into<String>) -> Self {
        if let Some(member) = &mut self.member {
            member.sent_name = sent_name.into();
        }
        self
    }

    /// Restricts the case to objects whose member has one of these values.
    pub fn equal_to(mut self, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        if let Some(member) = &mut self.member {
            member.values.extend(values.into_iter().map(Into::into));
        }
        self
    }

    /// Reports whether a value in the text that is read meets the case.
    pub(super) fn applies(&self, direction: ReshapeDirection, value: Instance<'_>) -> bool {
        let kind = match direction {
            ReshapeDirection::Encode => self.kind,
            ReshapeDirection::Decode => self.sent_kind,
        };
        let has_kind = matches!(
            (kind, value.kind()),
            (ReshapeKind::String, JsonType::String)
                | (ReshapeKind::Array, JsonType::Array)
                | (ReshapeKind::Object, JsonType::Object)
                | (ReshapeKind::Any, _)
        );
        has_kind && self.member.as_ref().is_none_or(|member| member.is_in(direction, value))
    }
}

impl CaseMember {
    fn is_in(&self, direction: ReshapeDirection, object: Instance<'_>) -> bool {
        let name = match direction {
            ReshapeDirection::Encode => &self.name,
            ReshapeDirection::Decode => &self.sent_name,
        };
        let Some(found) = object.get(name) else { return false };
        let is_equal = |value: &Value| match value {
            Value::String(text) => found.kind() == JsonType::String && found.string().as_deref() == Some(text),
            // Compared as written: a discriminator is rarely a number, and never one with two spellings.
            other => {
                let written = other.to_string();
                found.raw() == written
            }
        };
        self.values.is_empty() || self.values.iter().any(is_equal)
    }
}
