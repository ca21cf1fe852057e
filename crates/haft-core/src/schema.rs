//! A JSON Schema together with its check.
//! (temporary body: the public signatures are settled, the engine behind them is being written)

mod limit;

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::limit::{DecodeOptions, DuplicateKeys, Limits, Repair, RepairKind, Repairs};
use crate::issue::{Issue, Issues};
use crate::json_text::JsonText;

/// A JSON Schema and its check. Cloning shares both.
#[derive(Clone)]
pub struct Schema(Arc<Value>);

/// A schema that can't be used: all faults, each at its place in the schema.
#[derive(Debug, Clone, thiserror::Error)]
#[error("invalid schema: {0}")]
pub struct SchemaError(pub Issues);

/// How a raw schema is checked.
#[derive(Clone, Debug)]
pub enum Validation { Full, With(Validator), FullThen(Validator), None }

/// A check of the user's own.
#[derive(Clone)]
pub struct Validator(Arc<dyn Fn(&Value) -> Result<(), Issues> + Send + Sync>);
impl fmt::Debug for Validator { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("Validator") } }
impl Validator {
    /// Wraps a function.
    pub fn new(check: impl Fn(&Value) -> Result<(), Issues> + Send + Sync + 'static) -> Self { Self(Arc::new(check)) }
}

/// A decoded value and the repairs it took.
#[derive(Debug, Clone)]
pub struct Decoded<T> { /// value
    pub value: T, /// repairs
    pub repairs: Vec<Repair> }

impl fmt::Debug for Schema { fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "Schema({})", self.0) } }
impl PartialEq for Schema { fn eq(&self, other: &Self) -> bool { self.0 == other.0 } }

impl Schema {
    /// The schema of a type that is read (parameters): schemars' deserialize contract.
    pub fn of<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        let mut v = serde_json::to_value(schemars::schema_for!(T)).unwrap_or_default();
        if let Some(o) = v.as_object_mut() { o.shift_remove("$schema"); o.shift_remove("title"); }
        if v == json!({"type":"object"}) || v == json!({"type":"object","additionalProperties":false}) { return Ok(Self::empty()); }
        Ok(Self(Arc::new(v)))
    }
    /// Like `of`, for a tool's parameters: `()` and unit structs become the closed empty object.
    pub fn of_params<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        let s = Self::of::<T>()?;
        Ok(if *s.0 == json!({"type":"null"}) { Self::empty() } else { s })
    }
    /// The schema of a type that is written (results): schemars' serialize contract.
    pub fn of_output<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> { Self::of::<T>() }
    /// A raw JSON Schema, kept verbatim, validated in full.
    pub fn json(value: Value) -> Result<Self, SchemaError> { Ok(Self(Arc::new(value))) }
    /// A raw JSON Schema with a chosen validation.
    pub fn json_with(value: Value, _v: Validation) -> Result<Self, SchemaError> { Ok(Self(Arc::new(value))) }
    /// The closed empty object.
    #[must_use] pub fn empty() -> Self { Self(Arc::new(json!({"type":"object","properties":{},"required":[],"additionalProperties":false}))) }
    /// Anything: `{}`.
    #[must_use] pub fn unknown() -> Self { Self(Arc::new(json!({}))) }
    /// Only `null`.
    #[must_use] pub fn unit() -> Self { Self(Arc::new(json!({"type":"null"}))) }
    /// Nothing at all: `false`.
    #[must_use] pub fn never() -> Self { Self(Arc::new(json!(false))) }
    /// The JSON Schema.
    #[must_use] pub fn as_json(&self) -> &Value { &self.0 }
    /// The root's own description.
    #[must_use] pub fn description(&self) -> Option<&str> { self.0.get("description").and_then(Value::as_str) }
    /// Checks a value; all issues.
    pub fn check(&self, _value: &Value) -> Result<(), Issues> { Ok(()) }
    /// Argument text into a type.
    pub fn decode<T: DeserializeOwned>(&self, text: &str, _o: &DecodeOptions) -> Result<Decoded<T>, Issues> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        serde_json::from_str(text).map(|value| Decoded { value, repairs: vec![] }).map_err(|e| Issue::new("", "json", e.to_string()).into())
    }
    /// A JSON value into a type, same checks.
    pub fn decode_value<T: DeserializeOwned>(&self, value: &Value) -> Result<T, Issues> {
        T::deserialize(value).map_err(|e| Issue::new("", "decode", e.to_string()).into())
    }
    /// A value into checked JSON text.
    pub fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<JsonText, Issues> {
        JsonText::encode(value).map_err(|e| Issue::new("", "encode", e.to_string()).into())
    }
}
