//! Generated types: each with its schema and values.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// A type that the strict dialect can render.
#[derive(Clone, Debug)]
pub(super) enum GeneratedType {
    Boolean,
    Integer,
    Text,
    Pattern,
    NullableText,
    List(Box<GeneratedType>),
    Mapping(Box<GeneratedType>),
    Record(Vec<GeneratedField>),
}

#[derive(Clone, Debug)]
pub(super) struct GeneratedField {
    name: String,
    is_required: bool,
    ty: GeneratedType,
}

const NAMES: [&str; 6] = ["key", "value", "a b", "é/~", "", "0_"];

impl GeneratedType {
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let leaf = prop_oneof![
            Just(Self::Boolean),
            Just(Self::Integer),
            Just(Self::Text),
            Just(Self::Pattern),
            Just(Self::NullableText)
        ];
        leaf.prop_recursive(4, 16, 4, |inner| {
            let fields = prop::collection::vec((any::<bool>(), inner.clone()), NAMES.len());
            let chosen = prop::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_shuffle();
            prop_oneof![
                inner.clone().prop_map(|item| Self::List(item.into())),
                inner.prop_map(|value| Self::Mapping(value.into())),
                (chosen, fields).prop_map(|(names, fields)| {
                    let field = |(name, (is_required, ty)): (&str, _)| GeneratedField {
                        name: name.to_owned(),
                        is_required,
                        ty,
                    };
                    Self::Record(names.into_iter().zip(fields).map(field).collect())
                }),
            ]
        })
    }

    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Boolean => json!({"type": "boolean"}),
            Self::Integer => json!({"type": "integer"}),
            Self::Text => json!({"type": "string"}),
            Self::Pattern => json!({"type": "string", "pattern": "^x*$"}),
            Self::NullableText => json!({"type": ["string", "null"]}),
            Self::List(item) => json!({"type": "array", "items": item.schema()}),
            Self::Mapping(value) => json!({"type": "object", "additionalProperties": value.schema()}),
            Self::Record(fields) => {
                let properties: Map<_, _> =
                    fields.iter().map(|field| (field.name.clone(), field.ty.schema())).collect();
                let required: Vec<_> =
                    fields.iter().filter(|field| field.is_required).map(|field| field.name.as_str()).collect();
                json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": false,
                })
            }
        }
    }

    fn value(&self) -> BoxedStrategy<Value> {
        match self {
            Self::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Self::Integer => any::<i64>().prop_map(Value::from).boxed(),
            Self::Text => ".{0,3}".prop_map(Value::from).boxed(),
            Self::Pattern => "x{0,3}".prop_map(Value::from).boxed(),
            Self::NullableText => prop_oneof![Just(Value::Null), ".{0,3}".prop_map(Value::from)].boxed(),
            Self::List(item) => prop::collection::vec(item.value(), 0..3).prop_map(Value::from).boxed(),
            Self::Mapping(value) => {
                let key = prop_oneof![prop::sample::select(NAMES.to_vec()).prop_map(String::from), ".{0,3}"];
                let members = prop::collection::vec((key, value.value()), 0..3);
                members.prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
            }
            Self::Record(fields) => {
                let members: Vec<_> = fields
                    .iter()
                    .map(|field| {
                        let (name, is_required) = (field.name.clone(), field.is_required);
                        (any::<bool>(), field.ty.value()).prop_map(move |(is_present, value)| {
                            (is_required || is_present).then(|| (name.clone(), value))
                        })
                    })
                    .collect();
                members.prop_map(|members| Value::Object(members.into_iter().flatten().collect())).boxed()
            }
        }
    }

    /// Reports whether the type has a member that may be absent and may be `null`.
    pub(super) fn is_ambiguous(&self) -> bool {
        match self {
            Self::List(inner) | Self::Mapping(inner) => inner.is_ambiguous(),
            Self::Record(fields) => fields.iter().any(|field| field.is_ambiguous() || field.ty.is_ambiguous()),
            _ => false,
        }
    }

    /// Returns the value that a dialect decodes which sends absent members as `null`.
    pub(super) fn without_ambiguous_nulls(&self, value: &Value) -> Value {
        match (self, value) {
            (Self::List(item), Value::Array(items)) => {
                items.iter().map(|value| item.without_ambiguous_nulls(value)).collect()
            }
            (Self::Mapping(ty), Value::Object(members)) => {
                members.iter().map(|(key, value)| (key.clone(), ty.without_ambiguous_nulls(value))).collect()
            }
            (Self::Record(fields), Value::Object(members)) => {
                let kept = members.iter().filter_map(|(key, value)| {
                    let field = fields.iter().find(|field| field.name == *key)?;
                    let is_kept = !field.is_ambiguous() || !value.is_null();
                    is_kept.then(|| (key.clone(), field.ty.without_ambiguous_nulls(value)))
                });
                kept.collect()
            }
            _ => value.clone(),
        }
    }
}

impl GeneratedField {
    fn is_ambiguous(&self) -> bool {
        !self.is_required && matches!(self.ty, GeneratedType::NullableText)
    }
}

/// Generates a type and one of its values.
pub(super) fn typed_value() -> impl Strategy<Value = (GeneratedType, Value)> {
    GeneratedType::any().prop_flat_map(|ty| {
        let value = ty.value();
        (Just(ty), value)
    })
}
