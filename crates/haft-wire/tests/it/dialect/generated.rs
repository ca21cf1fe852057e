//! Generated types: their JSON Schemas, and values of them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names of members. Some are keywords, and some are rejected by a provider.
const NAMES: &[&str] =
    &["a", "b", "city", "$ref", "oneOf", "properties", "value", "key", "item_1", "a b", "1st", "é", "a/b~c", ""];

/// A type with a JSON Schema.
#[derive(Clone, Debug)]
pub(crate) enum GeneratedType {
    Any,
    Text,
    Code,
    Date,
    Integer,
    Number,
    Boolean,
    Color,
    Level,
    Mixed,
    NullableText,
    FreeObject,
    List(Box<Self>),
    Pair(Box<Self>, Box<Self>, usize),
    Mapping(Box<Self>),
    Record(Vec<GeneratedField>),
    /// Two records of which both apply.
    Both(Vec<GeneratedField>, Vec<GeneratedField>),
    /// Records that a member tells apart.
    Tagged(Vec<Vec<GeneratedField>>),
    /// Records that their only member tells apart.
    Keyed(Vec<Self>),
    Untagged(Vec<Self>),
    Nullable(Box<Self>),
    /// A reference to a definition.
    Named(Box<Self>),
    /// A reference to a recursive definition.
    Tree,
}

/// A member of a record.
#[derive(Clone, Debug)]
pub(crate) struct GeneratedField {
    name: String,
    ty: GeneratedType,
    is_required: bool,
}

impl GeneratedType {
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let leaf = prop_oneof![
            Just(Self::Any),
            Just(Self::Text),
            Just(Self::Code),
            Just(Self::Date),
            Just(Self::Integer),
            Just(Self::Number),
            Just(Self::Boolean),
            Just(Self::Color),
            Just(Self::Level),
            Just(Self::Mixed),
            Just(Self::NullableText),
            Just(Self::FreeObject),
            Just(Self::Tree),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let fields = || fields(inner.clone());
            prop_oneof![
                inner.clone().prop_map(|item| Self::List(Box::new(item))),
                (inner.clone(), inner.clone(), 0..3_usize).prop_map(|(first, second, least)| Self::Pair(
                    Box::new(first),
                    Box::new(second),
                    least
                )),
                inner.clone().prop_map(|value| Self::Mapping(Box::new(value))),
                fields().prop_map(Self::Record),
                (fields(), fields()).prop_map(|(first, second)| Self::both(first, second)),
                prop::collection::vec(fields(), 1..4).prop_map(Self::Tagged),
                prop::collection::vec(inner.clone(), 1..4).prop_map(Self::Keyed),
                prop::collection::vec(inner.clone(), 1..4).prop_map(Self::Untagged),
                inner.clone().prop_map(|inner| Self::Nullable(Box::new(inner))),
                inner.clone().prop_map(|inner| Self::Named(Box::new(inner))),
            ]
        })
    }

    /// Two records without common members.
    fn both(first: Vec<GeneratedField>, mut second: Vec<GeneratedField>) -> Self {
        second.retain(|field| first.iter().all(|other| other.name != field.name));
        Self::Both(first, second)
    }

    /// Returns the whole schema, with its definitions.
    pub(crate) fn schema(&self) -> Value {
        let mut definitions = Map::new();
        let mut schema = self.schema_in(&mut definitions);
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        schema
    }

    fn schema_in(&self, definitions: &mut Map<String, Value>) -> Value {
        match self {
            Self::Any => json!({}),
            Self::Text => json!({"type": "string", "description": "some text"}),
            Self::Code => json!({"type": "string", "pattern": "^x*$", "maxLength": 3, "title": "Code"}),
            Self::Date => json!({"type": "string", "format": "date", "default": "2020-01-01"}),
            Self::Integer => json!({"type": "integer", "minimum": 0, "exclusiveMaximum": 100, "format": "uint8"}),
            Self::Number => json!({"type": "number", "examples": [1.5]}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Color => json!({"enum": ["Red", "green", "BLUE"]}),
            Self::Level => json!({"type": "integer", "enum": [1, 2, 3]}),
            Self::Mixed => json!({"enum": ["one", 2, true, null]}),
            Self::NullableText => json!({"type": ["string", "null"]}),
            Self::FreeObject => json!({"type": "object"}),
            Self::List(item) => json!({"type": "array", "items": item.schema_in(definitions), "maxItems": 3}),
            Self::Pair(first, second, least) => {
                let prefix = [first.schema_in(definitions), second.schema_in(definitions)];
                json!({"type": "array", "prefixItems": prefix, "minItems": least, "maxItems": 2})
            }
            Self::Mapping(value) => json!({"type": "object", "additionalProperties": value.schema_in(definitions)}),
            Self::Record(fields) => closed(record(fields, definitions)),
            Self::Both(first, second) => {
                json!({"allOf": [record(first, definitions), record(second, definitions)], "description": "both"})
            }
            Self::Tagged(variants) => {
                let variants = variants.iter().enumerate().map(|(at, fields)| {
                    let mut schema = closed(record(fields, definitions));
                    schema["properties"]["kind"] = json!({"const": format!("kind {at}")});
                    schema["required"].as_array_mut().unwrap().push("kind".into());
                    schema
                });
                json!({"oneOf": variants.collect::<Vec<Value>>()})
            }
            Self::Keyed(variants) => {
                let variants = variants.iter().enumerate().map(|(at, ty)| {
                    let name = format!("variant_{at}");
                    closed(
                        json!({"type": "object", "properties": {&name: ty.schema_in(definitions)}, "required": [name]}),
                    )
                });
                json!({"oneOf": variants.collect::<Vec<_>>()})
            }
            Self::Untagged(variants) => {
                let variants = variants.iter().map(|ty| ty.schema_in(definitions));
                json!({"anyOf": variants.collect::<Vec<_>>()})
            }
            Self::Nullable(inner) => json!({"anyOf": [inner.schema_in(definitions), {"type": "null"}]}),
            Self::Named(inner) => {
                let name = format!("Type{}", definitions.len());
                definitions.insert(name.clone(), Value::Null);
                definitions[&name] = inner.schema_in(definitions);
                json!({"$ref": format!("#/$defs/{name}")})
            }
            Self::Tree => {
                let children = json!({"type": "array", "items": {"$ref": "#/$defs/Tree"}});
                let tree = json!({
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "children": children},
                    "required": ["name"],
                    "additionalProperties": false,
                });
                definitions.insert("Tree".to_owned(), tree);
                json!({"$ref": "#/$defs/Tree", "description": "a tree"})
            }
        }
    }

    /// Returns values of the type.
    pub(crate) fn value(&self) -> BoxedStrategy<Value> {
        match self {
            Self::Any => any_json(),
            Self::Text => ".{0,3}".prop_map(Value::from).boxed(),
            Self::Code => "x{0,3}".prop_map(Value::from).boxed(),
            Self::Date => Just(json!("2024-02-29")).boxed(),
            Self::Integer => (0..100).prop_map(Value::from).boxed(),
            Self::Number => prop_oneof![Just(json!(1.5)), any::<i32>().prop_map(Value::from)].boxed(),
            Self::Boolean => any::<bool>().prop_map(Value::from).boxed(),
            Self::Color => prop::sample::select(vec!["Red", "green", "BLUE"]).prop_map(Value::from).boxed(),
            Self::Level => (1..=3).prop_map(Value::from).boxed(),
            Self::Mixed => prop::sample::select(vec![json!("one"), json!(2), json!(true), json!(null)]).boxed(),
            Self::NullableText => prop_oneof![Just(Value::Null), ".{0,3}".prop_map(Value::from)].boxed(),
            Self::FreeObject => members(any_json()),
            Self::List(item) => prop::collection::vec(item.value(), 0..3).prop_map(Value::from).boxed(),
            Self::Pair(first, second, least) => (first.value(), second.value(), *least..=2)
                .prop_map(|(first, second, length)| [first, second].into_iter().take(length).collect())
                .boxed(),
            Self::Mapping(value) => members(value.value()),
            Self::Record(fields) => fields_value(fields, None),
            Self::Both(first, second) => (fields_value(first, None), fields_value(second, None))
                .prop_map(|(first, second)| merged(first, second))
                .boxed(),
            Self::Tagged(variants) => {
                let variants = variants.iter().enumerate();
                let values = variants.map(|(at, fields)| fields_value(fields, Some(format!("kind {at}"))));
                one_of(values.collect())
            }
            Self::Keyed(variants) => {
                let variants = variants.iter().enumerate();
                let values = variants
                    .map(|(at, ty)| ty.value().prop_map(move |value| json!({format!("variant_{at}"): value})).boxed());
                one_of(values.collect())
            }
            Self::Untagged(variants) => one_of(variants.iter().map(Self::value).collect()),
            Self::Nullable(inner) => prop_oneof![Just(Value::Null), inner.value()].boxed(),
            Self::Named(inner) => inner.value(),
            Self::Tree => {
                let leaf = Just(json!({"name": "leaf"}));
                let tree = leaf.prop_recursive(3, 8, 3, |inner| {
                    prop::collection::vec(inner, 0..3).prop_map(|children| json!({"name": "n", "children": children}))
                });
                tree.boxed()
            }
        }
    }
}

fn fields(inner: impl Strategy<Value = GeneratedType> + Clone) -> impl Strategy<Value = Vec<GeneratedField>> {
    let names = prop::sample::subsequence(NAMES, 0..4);
    (names, prop::collection::vec((inner, any::<bool>()), 4)).prop_map(|(names, types)| {
        let fields = names.into_iter().zip(types);
        fields.map(|(name, (ty, is_required))| GeneratedField { name: name.to_owned(), ty, is_required }).collect()
    })
}

fn record(fields: &[GeneratedField], definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.clone(), field.ty.schema_in(definitions));
    }
    let required: Vec<&str> =
        fields.iter().filter(|field| field.is_required).map(|field| field.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn closed(mut record: Value) -> Value {
    record["additionalProperties"] = false.into();
    record
}

fn fields_value(fields: &[GeneratedField], kind: Option<String>) -> BoxedStrategy<Value> {
    let members: Vec<_> = fields
        .iter()
        .map(|field| {
            let (name, is_required) = (field.name.clone(), field.is_required);
            (any::<bool>(), field.ty.value())
                .prop_map(move |(is_present, value)| (is_required || is_present).then(|| (name.clone(), value)))
        })
        .collect();
    let kind = kind.map(|kind| ("kind".to_owned(), Value::from(kind)));
    members.prop_map(move |members| Value::Object(members.into_iter().flatten().chain(kind.clone()).collect())).boxed()
}

fn merged(first: Value, second: Value) -> Value {
    let (Value::Object(mut first), Value::Object(second)) = (first, second) else { return Value::Null };
    first.extend(second);
    first.into()
}

fn one_of(values: Vec<BoxedStrategy<Value>>) -> BoxedStrategy<Value> {
    proptest::strategy::Union::new(values).boxed()
}

fn members(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let key = prop_oneof![prop::sample::select(NAMES.to_vec()).prop_map(String::from), "[a-z]{0,3}"];
    prop::collection::vec((key, value), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())).boxed()
}

/// Returns JSON of any type.
pub(crate) fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-z]{0,2}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Returns a type, and a value of it.
pub(crate) fn typed_value() -> impl Strategy<Value = (GeneratedType, Value)> {
    GeneratedType::any().prop_flat_map(|ty| {
        let value = ty.value();
        (Just(ty), value)
    })
}
