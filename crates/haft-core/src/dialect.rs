//! Dialects of JSON Schema that providers accept.
//!
//! A dialect renders a schema for the model only. Arguments are always checked against the schema of the tool, so a
//! constraint that a dialect omits weakens the hint to the model, never the check. A dialect that changes the shape of
//! values returns the codec that changes them back, together with the schema: the two can't be mixed up.

use std::fmt;

use haft_schema::{Codec, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A provider's form of JSON Schema.
///
/// A dialect must be deterministic: the same schema always has the same rendering.
///
/// ```
/// use haft_core::{Dialect, RenderFault, Rendered};
/// use haft_schema::{Reshape, Schema};
/// use serde_json::json;
///
/// /// A provider that accepts objects only: everything else is sent in an object.
/// struct ObjectsOnly;
///
/// impl Dialect for ObjectsOnly {
///     fn name(&self) -> &str {
///         "objects only"
///     }
///
///     fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
///         let json = schema.as_json();
///         if json["type"] == "object" {
///             return Ok(Rendered::exact(json.clone()));
///         }
///         if !json["$defs"].is_null() {
///             let remedy = "define the type of the arguments in place";
///             return Err(RenderFault::new("/$defs", "the references would not resolve in an object", remedy));
///         }
///         let mut reshape = Reshape::new();
///         let root = reshape.add();
///         reshape.send_wrapped(root, "value");
///         let json = json!({"type": "object", "properties": {"value": json}, "required": ["value"]});
///         Ok(Rendered::exact(json).with_codec(reshape.finish(root)))
///     }
/// }
///
/// let rendered = ObjectsOnly.render(&Schema::of_params::<String>()?)?;
/// assert_eq!(rendered.json["properties"]["value"]["type"], "string");
/// assert_eq!(rendered.codec.decode(r#"{"value":"Ann"}"#)?, r#""Ann""#);
/// assert_eq!(rendered.codec.encode(r#""Ann""#)?, r#"{"value":"Ann"}"#);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Dialect: Send + Sync {
    /// Returns the name of the dialect, for reports.
    fn name(&self) -> &str;

    /// Renders a parameter schema in this dialect, and reports what it can't express. A schema that has no useful
    /// rendering is a fault, which concerns its own tool only.
    fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault>;
}

/// A schema rendered in a dialect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rendered {
    /// The schema to send.
    pub json: Value,
    /// The parts of the schema that the dialect can't express.
    pub losses: Vec<Loss>,
    /// The conversion of arguments between the shape of the tool's schema and that of the rendered one.
    pub codec: Codec,
}

/// One part of a schema that a dialect can't express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Loss {
    /// The JSON Pointer to the part in the schema of the tool.
    pub pointer: String,
    /// The cause.
    pub kind: LossKind,
    /// A description for people.
    pub message: String,
}

/// The cause of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossKind {
    /// The dialect does not have the keyword, so the model does not know the rule.
    Keyword,
    /// The dialect does not have the `format`.
    Format,
    /// A text or value that only informs the model is left out, such as a default or an example.
    Annotation,
    /// The dialect has no such combination of schemas, and a simpler one takes its place.
    Combination,
    /// A reference that the dialect can't follow, such as a recursive one, is cut off.
    Reference,
    /// A limit of the dialect on depth, length or number is exceeded, and the rest is cut off.
    Limit,
    /// The dialect has closed objects only, so the model can't send keys that the schema describes or allows explicitly.
    OpenObject,
    /// The dialect has closed objects only, and the schema lists keys without saying anything about others, so the model
    /// can't send others.
    UnlistedKeys,
    /// Two different values have the same form in this dialect, so the codec decodes both to the same value.
    Ambiguity,
    /// Any other cause.
    Other,
}

/// The error for a schema that a dialect can't render.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenderFault {
    /// The JSON Pointer to the part of the schema.
    pub pointer: String,
    /// The reason why it can't be rendered.
    pub message: String,
    /// The change that makes it possible.
    pub remedy: String,
}

impl Rendered {
    /// Creates a rendering without losses, whose values have the shape of the tool's schema.
    #[must_use]
    pub fn exact(json: Value) -> Self {
        Self { json, losses: Vec::new(), codec: Codec::identity() }
    }

    /// Adds a loss.
    #[must_use]
    pub fn with_loss(mut self, pointer: impl Into<String>, kind: LossKind, message: impl Into<String>) -> Self {
        self.losses.push(Loss::new(pointer, kind, message));
        self
    }

    /// Sets the conversion of arguments.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }
}

impl Loss {
    /// Creates a loss.
    #[must_use]
    pub fn new(pointer: impl Into<String>, kind: LossKind, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), kind, message: message.into() }
    }
}

impl RenderFault {
    /// Creates a fault: where it is, what it is, and what to do about it.
    #[must_use]
    pub fn new(pointer: impl Into<String>, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for RenderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pointer, message, remedy } = self;
        f.write_str("the schema can't be rendered: ")?;
        if !pointer.is_empty() {
            write!(f, "{pointer}: ")?;
        }
        write!(f, "{message}; {remedy}")
    }
}

impl std::error::Error for RenderFault {}
