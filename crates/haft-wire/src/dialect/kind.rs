//! Sets of JSON types, by their names in schemas.

use serde_json::Value;

/// A JSON type. Integers are separate from other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Object = 1,
    Array = 1 << 1,
    String = 1 << 2,
    Integer = 1 << 3,
    /// A non-integer number; in a rendering, any number.
    Number = 1 << 4,
    Boolean = 1 << 5,
    Null = 1 << 6,
}

/// A type set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kind {
    const EACH: [Self; 7] =
        [Self::Object, Self::Array, Self::String, Self::Integer, Self::Number, Self::Boolean, Self::Null];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
        }
    }

    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl Kinds {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(0x7f);

    pub(crate) const fn one(kind: Kind) -> Self {
        Self(kind as u8)
    }

    /// Returns the types that a `type` keyword names.
    pub(crate) fn named(value: &Value) -> Self {
        let named = |name: &Value| match name.as_str() {
            Some("number") => Self::one(Kind::Integer).or(Self::one(Kind::Number)),
            name => Kind::EACH.into_iter().find(|kind| Some(kind.name()) == name).map_or(Self::NONE, Self::one),
        };
        match value {
            Value::Array(names) => names.iter().map(named).fold(Self::NONE, Self::or),
            name => named(name),
        }
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, kind: Kind) -> Self {
        Self(self.0 & !(kind as u8))
    }

    pub(crate) const fn has(self, kind: Kind) -> bool {
        self.0 & kind as u8 != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the types to render: an integer that may be any number is a number.
    pub(crate) fn rendered(self) -> impl Iterator<Item = Kind> {
        let kinds = if self.has(Kind::Number) { self.without(Kind::Integer) } else { self };
        Kind::EACH.into_iter().filter(move |kind| kinds.has(*kind))
    }
}
