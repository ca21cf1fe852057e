//! The types of JSON values: as a reader distinguishes them, and as schemas name them.

/// The JSON types that a reader distinguishes; an integer is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum JsonType {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

/// A set of JSON Schema types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Types(u8);

impl JsonType {
    pub(super) const COUNT: usize = 6;
    pub(super) const EACH: [Self; Self::COUNT] =
        [Self::Null, Self::Boolean, Self::Number, Self::String, Self::Array, Self::Object];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    /// Every number; includes [`Types::INTEGER`].
    pub(super) const NUMBER: Self = Self(1 << 2 | 1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    pub(super) const ALL: Self = Self(0x7f);

    /// Returns the type that a schema calls `name`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn intersect(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Reports whether some value of this type is valid.
    #[inline]
    pub(super) fn allows(self, json_type: JsonType) -> bool {
        self.0 & Self::of(json_type).0 != 0
    }

    /// Returns all types whose values a reader reads as `json_type`.
    pub(super) fn of(json_type: JsonType) -> Self {
        match json_type {
            JsonType::Null => Self::NULL,
            JsonType::Boolean => Self::BOOLEAN,
            JsonType::Number => Self::NUMBER,
            JsonType::String => Self::STRING,
            JsonType::Array => Self::ARRAY,
            JsonType::Object => Self::OBJECT,
        }
    }

    /// Returns the types in words: "a string or null".
    pub(super) fn describe(self) -> String {
        let mut text = String::with_capacity(16);
        for (types, name) in [
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::INTEGER, "an integer"),
            (Self::BOOLEAN, "a boolean"),
            (Self::ARRAY, "an array"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ] {
            let said_already = types == Self::INTEGER && self.contains(Self::NUMBER);
            if self.contains(types) && !said_already {
                if !text.is_empty() {
                    text.push_str(" or ");
                }
                text.push_str(name);
            }
        }
        text
    }
}
