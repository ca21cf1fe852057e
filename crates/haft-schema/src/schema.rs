//! JSON Schemas and the checks compiled from them.
//!
//! A schema is generated from a Rust type (`typed`) or given as JSON. It is compiled once into nodes (`compile`,
//! `keyword`, `node`), which are then used to read arguments (`read`), to write results (`write`), and to report every
//! problem of an invalid value (`verify`, `walk`, `message`).
//!
//! A schema is immutable, is never fetched from anywhere, and is never less strict than it states: a schema that cannot
//! be enforced in full is rejected when it is created.

mod budget;
mod codec;
mod compile;
mod decimal;
mod disclosure;
mod document;
mod draft;
mod enforcement;
mod forbidden;
mod intern;
mod kept;
mod keyword;
mod limit;
mod mark;
mod message;
mod meta_schema;
mod node;
#[cfg(test)]
mod parts;
mod path;
mod pattern;
mod problem;
mod read;
mod repair;
mod reshape;
mod resource;
mod rewrite;
mod rule;
mod scan;
mod seen;
mod shape;
mod sorted;
mod subschema;
mod tree;
mod typed;
mod types;
mod uri;
mod validation;
mod verify;
mod walk;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use self::codec::{Codec, CodecError, Transcode};
use self::compile::{SchemaSource, Widths, compile};
use self::disclosure::Rejected;
use self::draft::Draft;
pub use self::enforcement::{EnforcedRules, Enforcement};
pub use self::limit::OUTPUT_DEPTH;
pub use self::limit::{DecodeOptions, DuplicateKeys, Limits, Repair, RepairKind, Repairs};
pub use self::message::INEXACT;
use self::node::{ANY, Arena};
pub use self::read::Decoded;
use self::read::Purpose;
pub use self::reshape::{Reshape, ReshapeCase, ReshapeId, ReshapeKind, ReshapeMember};
pub use self::scan::{nests_within, numbers, rounded_integer};
pub use self::subschema::{AppliesTo, Subschema, Subschemas};
pub(crate) use self::tree::read_written;
pub use self::tree::{read as read_tree, tree, unambiguous_tree};
pub use self::validation::{Validation, Validator};
use crate::issue::Issues;
use crate::json_text::JsonText;

/// A JSON Schema with its compiled check. Clones share both, and equal schemas share their compiled form.
///
/// ```
/// use haft_schema::{DecodeOptions, Schema};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Debug, Deserialize, JsonSchema)]
/// struct Forecast {
///     city: String,
///     #[schemars(range(min = 1, max = 14))]
///     days: u8,
/// }
///
/// let schema = Schema::of::<Forecast>()?;
/// let options = DecodeOptions::default();
/// let forecast: Forecast = schema.decode(r#"{"city": "Paris", "days": 3}"#, &options)?.value;
/// assert_eq!((forecast.city.as_str(), forecast.days), ("Paris", 3));
///
/// let issues = schema.decode::<Forecast>(r#"{"days": 30}"#, &options).unwrap_err();
/// assert_eq!(
///     issues.to_string(),
///     r#"the key "city" (a string) is missing and must be given; /days: must be at most 14, and is 30"#,
/// );
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Schema {
    compiled: Arc<Compiled>,
    custom: Option<Validator>,
    is_raw: bool,
}

/// The error for an invalid schema: all its faults, each with a JSON Pointer into the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid schema: {issues}")]
pub struct SchemaError {
    issues: Issues,
}

/// The compiled form that equal schemas share.
#[derive(Debug)]
struct Compiled {
    json: Value,
    widths: Widths,
    arena: Arena,
}

impl Schema {
    /// Creates the schema of a type that is deserialized, as serde and schemars describe it: draft 2020-12, definitions
    /// in `$defs`, properties in the order of the fields.
    pub fn of<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Self::from_type(typed::schema::<T>(Contract::Deserialize))
    }

    /// Creates the schema of a tool's parameters. It differs from [`Schema::of`] for a type without content (`()`, a
    /// unit struct), whose schema is the empty object.
    pub fn of_params<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Self::from_type(typed::parameters::<T>())
    }

    /// Returns the schema of a tool's parameters, as [`of_params`](Schema::of_params) creates it. It is created once
    /// per type.
    pub fn kept_params<T: JsonSchema + 'static>() -> Result<Self, SchemaError> {
        kept::parameters::<T>()
    }

    /// Creates the schema of a type that is serialized, such as a tool's result.
    pub fn of_output<T: JsonSchema + ?Sized>() -> Result<Self, SchemaError> {
        Self::from_type(typed::schema::<T>(Contract::Serialize))
    }

    /// Creates a schema from raw JSON Schema, which is kept unchanged and enforced in full. `$schema` selects the draft
    /// (draft 4 to 2020-12; 2020-12 if absent). References must stay inside the schema; `format` is an annotation.
    pub fn json(schema: Value) -> Result<Self, SchemaError> {
        Self::json_with(schema, Validation::Full)
    }

    /// Creates a schema from raw JSON Schema, which is kept unchanged, with a choice of how values are checked.
    pub fn json_with(schema: Value, validation: Validation) -> Result<Self, SchemaError> {
        if let Some(fault) = compile::depth_fault(&schema) {
            return Err(Issues::from(fault).into());
        }
        let (compiled, custom) = match validation {
            Validation::Full => (Compiled::enforced(schema, Widths::Ignored)?, None),
            Validation::FullThen(custom) => (Compiled::enforced(schema, Widths::Ignored)?, Some(custom)),
            Validation::With(custom) => (Compiled::shown(schema)?, Some(custom)),
            Validation::None => (Compiled::shown(schema)?, None),
        };
        Ok(Self { compiled, custom, is_raw: true })
    }

    /// Creates a schema from stored JSON, enforced in the same way as before it was stored. A custom check can't be
    /// stored: it is recorded, and left to the code that executes the calls.
    pub fn stored(json: &Value, enforcement: Enforcement) -> Result<Self, SchemaError> {
        let Enforcement { rules, custom_check } = enforcement;
        if let Some(fault) = compile::depth_fault(json) {
            return Err(Issues::from(fault).into());
        }
        let compiled = match rules {
            EnforcedRules::All => Compiled::enforced(json.clone(), Widths::Ignored)?,
            EnforcedRules::AllAndWidths => Compiled::enforced(json.clone(), Widths::Checked)?,
            EnforcedRules::None => Compiled::shown(json.clone())?,
        };
        Ok(Self { compiled, custom: custom_check.then(|| Validator::new(|_| Ok(()))), is_raw: true })
    }

    /// Creates the schema of the closed empty object: no parameters.
    #[must_use]
    pub fn empty() -> Self {
        Self::constant(typed::empty_object())
    }

    /// Creates the schema that accepts any value: `{}`.
    #[must_use]
    pub fn unknown() -> Self {
        Self::constant(json!({}))
    }

    /// Creates the schema that accepts only `null`: a result without content.
    #[must_use]
    pub fn unit() -> Self {
        Self::constant(json!({"type": "null"}))
    }

    /// Creates the schema that accepts no value: `false`. It is the schema of a failure that is not declared.
    #[must_use]
    pub fn never() -> Self {
        Self::constant(Value::Bool(false))
    }

    /// Reports whether the schema was given as JSON, rather than generated from a type or by a constructor such as
    /// [`Schema::empty`].
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.is_raw
    }

    /// Returns the schema's subschemas: the pointer to each, the part of a value that it applies to, and its
    /// references.
    ///
    /// JSON that only looks like a subschema (in a literal, in an example, or under a keyword that the draft does not
    /// define) is not one; a property *named* `$ref` is a property.
    ///
    /// ```
    /// use haft_schema::{AppliesTo, Schema};
    /// use serde_json::json;
    ///
    /// let schema = Schema::json(json!({
    ///     "properties": {"home": {"$ref": "#/$defs/address"}, "tags": {"items": {"type": "string"}}},
    ///     "$defs": {"address": {"type": "string"}},
    /// }))?;
    /// let all = schema.subschemas();
    /// let pointers: Vec<&str> = all.iter().map(|subschema| subschema.pointer()).collect();
    /// assert_eq!(pointers, ["", "/properties/home", "/properties/tags", "/$defs/address", "/properties/tags/items"]);
    ///
    /// let home = all.root().parts().find(|part| part.applies_to() == AppliesTo::Member("home")).unwrap();
    /// let (keyword, address) = home.references().next().unwrap();
    /// assert_eq!((keyword, address.pointer()), ("$ref", "/$defs/address"));
    /// # Ok::<_, haft_schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn subschemas(&self) -> Subschemas<'_> {
        Subschemas::of(self.as_json())
    }

    /// Returns the JSON Schema.
    #[must_use]
    pub fn as_json(&self) -> &Value {
        &self.compiled.json
    }

    /// Returns the description at the root of the schema.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.as_json().get("description").and_then(Value::as_str)
    }

    /// Checks a value, and returns all its problems if it is invalid.
    pub fn check(&self, value: &Value) -> Result<(), Issues> {
        limit::within_depth(value)?;
        verify::check(&self.compiled.arena, self.custom.as_ref(), JsonText::from(value).as_str())
    }

    /// Checks an encoded result. Problems are reported as by [`encode`](Schema::encode).
    pub fn check_output(&self, output: &JsonText) -> Result<(), Issues> {
        let checked = write::check_text(&self.compiled.arena, self.custom.as_ref(), output.as_str());
        checked.map_err(|rejected| rejected.disclosed(&self.compiled.json))
    }

    /// Deserializes argument text into a type. A value that the schema forbids never reaches the type, even if serde
    /// would accept it.
    ///
    /// Blank text is read as `{}`. Integers may be written as floats (`3.0`, `1e3`). Besides what violates the schema,
    /// text is rejected if it is malformed, exceeds its [`Limits`], or contains a duplicate key or one of the keys that
    /// [`secure_json`](crate::secure_json) forbids, and if the type itself rejects the value (a custom `Deserialize`, a
    /// `format` that the type requires, a numeric map key out of range).
    pub fn decode<T: DeserializeOwned>(&self, text: &str, options: &DecodeOptions) -> Result<Decoded<T>, Issues> {
        self.decode_then(text, options, |value| value)
    }

    /// Works like [`decode`](Schema::decode), and passes the value straight to `take` without moving it in between.
    pub fn decode_then<T: DeserializeOwned, U>(
        &self,
        text: &str,
        options: &DecodeOptions,
        take: impl FnOnce(T) -> U,
    ) -> Result<Decoded<U>, Issues> {
        read::from_text(&self.compiled.arena, self.custom.as_ref(), text, options, Purpose::Use, take)
    }

    /// Deserializes argument text into a type that a decision is based on: the type receives exactly what was written,
    /// or the text is rejected. An integer beyond 64 bits must be read as a 128-bit integer, or ignored.
    pub fn decode_exactly<T: DeserializeOwned>(
        &self,
        text: &str,
        options: &DecodeOptions,
    ) -> Result<Decoded<T>, Issues> {
        read::from_text(&self.compiled.arena, self.custom.as_ref(), text, options, Purpose::Decide, |value| value)
    }

    /// Checks argument text without reading it into a type, and returns the text to pass on: the given one, unless a
    /// repair, a repeated key that is allowed, or an integer written as a float requires another.
    pub fn check_arguments<'t>(&self, text: &'t str, options: &DecodeOptions) -> Result<Decoded<Cow<'t, str>>, Issues> {
        read::checked_text(&self.compiled.arena, self.custom.as_ref(), text, options)
    }

    /// Deserializes a tree into a type, with the same checks as [`decode`](Schema::decode).
    pub fn decode_value<T: DeserializeOwned>(&self, value: &Value) -> Result<T, Issues> {
        limit::within_depth(value)?;
        let text = JsonText::from(value);
        let limits = Limits::default().max_bytes(usize::MAX).max_depth(Limits::DEEPEST);
        let options = DecodeOptions::default().limits(limits);
        let arena = &self.compiled.arena;
        let decoded =
            read::from_text(arena, self.custom.as_ref(), text.as_str(), &options, Purpose::Use, |value| value);
        decoded.map(|decoded| decoded.value)
    }

    /// Serializes a value to JSON text, checked against the schema. NaN, infinity and nesting beyond 128 levels are
    /// issues; they are never written as `null`.
    ///
    /// The issues are safe to send to a model: they report where the value is invalid and what the schema requires, and
    /// quote nothing of the value. In their pointers, `*` stands for a key that the schema does not declare. All other
    /// details, including the error of the type's own `Serialize`, are in their [source](std::error::Error::source).
    pub fn encode<T: Serialize + ?Sized>(&self, value: &T) -> Result<JsonText, Issues> {
        let written = write::to_text(&self.compiled.arena, self.custom.as_ref(), value);
        written.map_err(|rejected| rejected.disclosed(&self.compiled.json))
    }

    /// Serializes the parameters of a call, as [`encode`](Schema::encode) does. A value without content (`()`, a unit
    /// struct) is written as the empty object, which [`of_params`](Schema::of_params) describes it as.
    pub fn encode_params<T: Serialize + ?Sized>(&self, value: &T) -> Result<JsonText, Issues> {
        let (arena, custom) = (&self.compiled.arena, self.custom.as_ref());
        write::to_text(arena, custom, value)
            .or_else(|rejected| match *rejected {
                Rejected::Rules { value: Value::Null, .. } if write::check_text(arena, custom, "{}").is_ok() => {
                    Ok(JsonText::written("{}".to_owned()))
                }
                _ => Err(rejected),
            })
            .map_err(|rejected| rejected.disclosed(&self.compiled.json))
    }

    /// Returns how values are checked, as data: the same JSON may be enforced or only shown to the model.
    #[must_use]
    pub fn enforcement(&self) -> Enforcement {
        let rules = match self.compiled.widths {
            _ if self.takes_anything() && !states_nothing(self.as_json()) => EnforcedRules::None,
            _ if self.takes_anything() => EnforcedRules::All,
            Widths::Checked => EnforcedRules::AllAndWidths,
            Widths::Ignored => EnforcedRules::All,
        };
        Enforcement { rules, custom_check: self.custom.is_some() }
    }

    /// Reports whether a result may lack a value: the schema enforces nothing, or accepts `null` alone.
    #[must_use]
    pub fn allows_no_value(&self) -> bool {
        self.custom.is_none() && (self.takes_anything() || self.compiled.json == json!({"type": "null"}))
    }

    fn takes_anything(&self) -> bool {
        self.compiled.arena.root() == ANY
    }

    fn from_type(json: Value) -> Result<Self, SchemaError> {
        let compiled = Compiled::shared(json, Widths::Checked, |json| {
            compile(SchemaSource { schema: json, draft: Draft::Draft202012, widths: Widths::Checked })
        })?;
        Ok(Self { compiled, custom: None, is_raw: false })
    }

    /// Creates a schema from JSON that is known to compile. If it did not, the result would accept no value.
    fn constant(json: Value) -> Self {
        Self::from_type(json).unwrap_or_else(|_| {
            let compiled = Compiled { json: Value::Bool(false), widths: Widths::Checked, arena: Arena::never() };
            Self { compiled: Arc::new(compiled), custom: None, is_raw: false }
        })
    }
}

/// Reports whether a schema states no rule: `{}` or `true`.
#[must_use]
pub fn states_nothing(json: &Value) -> bool {
    match json {
        Value::Object(keywords) => keywords.is_empty(),
        json => json == &Value::Bool(true),
    }
}

/// Serializes any value to JSON text. Only numbers that JSON cannot represent and nesting beyond the limit are
/// rejected.
pub fn encode_unchecked<T: Serialize + ?Sized>(value: &T) -> Result<JsonText, Issues> {
    static UNCHECKED: OnceLock<Arena> = OnceLock::new();
    let written = write::to_text(UNCHECKED.get_or_init(Arena::any), None, value);
    written.map_err(|rejected| rejected.disclosed(&Value::Bool(true)))
}

/// Serializes any value to JSON text as `serde_json` does, within the nesting limit for stored values.
pub(crate) fn encode_stored<T: Serialize + ?Sized>(value: &T) -> Result<JsonText, serde_json::Error> {
    write::write_unchecked(value)
}

impl Compiled {
    /// Returns the compiled form of an equal schema that is already in use, or compiles a new one and shares it.
    fn shared(
        json: Value,
        widths: Widths,
        compile: impl FnOnce(&Value) -> Result<Arena, Issues>,
    ) -> Result<Arc<Self>, SchemaError> {
        if let Some(known) = intern::find(&json, widths) {
            return Ok(known);
        }
        let arena = compile(&json)?;
        let compiled = Arc::new(Self { json, widths, arena });
        intern::share(&compiled);
        Ok(compiled)
    }

    /// Compiles a raw schema that is enforced.
    fn enforced(json: Value, widths: Widths) -> Result<Arc<Self>, SchemaError> {
        Self::shared(json, widths, |json| {
            let draft = Draft::detect(json)?;
            compile(SchemaSource { schema: json, draft, widths })
        })
    }

    /// Accepts a raw schema that is only shown to the model. Its keywords must be well formed, but its references need
    /// not resolve, because nothing is enforced.
    fn shown(json: Value) -> Result<Arc<Self>, SchemaError> {
        let draft = Draft::detect(&json).map_err(Issues::from)?;
        compile::check_form(&json, draft)?;
        Ok(Arc::new(Self { json, widths: Widths::Ignored, arena: Arena::any() }))
    }
}

impl SchemaError {
    /// Returns the faults, each with a pointer into the schema.
    #[must_use]
    pub fn issues(&self) -> &Issues {
        &self.issues
    }
}

impl From<Issues> for SchemaError {
    fn from(issues: Issues) -> Self {
        Self { issues }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&format_args!("{}", self.as_json())).finish()
    }
}

/// Two schemas are equal if their JSON is equal and both are enforced or both are only shown. A schema with a custom
/// validator equals only its clones.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        match (&self.custom, &other.custom) {
            (None, None) => self.as_json() == other.as_json() && self.takes_anything() == other.takes_anything(),
            (Some(a), Some(b)) => self.as_json() == other.as_json() && a.is_same(b),
            _ => false,
        }
    }
}
