//! Schemas: the check of every argument and every result.
//!
//! ```text
//!   Rust type ──┐                 ┌─► arguments: text ─► ╔════════╗ ─► typed value ─► handler
//!               ├─► Schema ──────►┤                      ║ checks ║
//!   JSON Schema ┘                 └─► result:    value ─► ╚════════╝ ─► text ─► ToolResult
//! ```
//!
//! A schema comes from a type ([`Schema::of`]) or is raw JSON Schema ([`Schema::json`], drafts 4, 6, 7, 2019-09 and
//! 2020-12); either is compiled once. Arguments are checked on the way into their type, in one pass over the text, and
//! results on the way out. A rejection lists every [`Issue`] with its JSON Pointer, the rule, what was expected and
//! found, and a sentence that a model can act on.
//!
//! ```
//! use haft::schema::{DecodeOptions, Schema};
//!
//! let days = Schema::json(haft::serde_json::json!({ "type": "integer", "minimum": 1, "maximum": 14 }))?;
//! let issues = days.decode::<u8>("30", &DecodeOptions::default()).unwrap_err();
//! assert_eq!(issues.to_string(), "must be at most 14, and is 30");
//! # Ok::<_, haft::schema::SchemaError>(())
//! ```
//!
//! - Every check has a budget of work and memory that grows with its input only, patterns included, and so has compiling a
//!   schema. Input that would cost more is rejected with a reason.
//! - Numbers are exact: `3.0` is an integer and `4.99999999999999999999` is not 5.
//! - Nothing is ever fetched: references must stay inside their schema.
//! - [`DecodeOptions`] set limits on size, depth and duplicate keys, and opt-in [`Repairs`] of small mistakes.
//! - [`secure_json`] reads JSON from outside with the same limits.
//!
//! # Dialects
//!
//! Providers accept different subsets of JSON Schema. A [`Dialect`] renders a schema for one of them and reports every
//! [`Loss`], or a [`RenderFault`] if there is no useful rendering. Checks always use the tool's own schema.
//!
//! ```text
//!   Schema ─► Dialect::render ─► Rendered { json ─► provider, losses, codec }
//!
//!   arguments from the provider ─► codec.decode ─► ToolCall ─► checked by Schema ─► handler
//!   arguments of earlier turns  ─► codec.encode ─► provider
//! ```
//!
//! A dialect that changes the shape of values returns a [`Codec`] with the rendering. [`Reshape`] makes one from the
//! usual changes: optional members as `null`, maps as pairs, other names, and values in an object. Any other conversion
//! implements [`Transcode`]. Conversion is from text to text, so numbers keep all digits.
//!
//! ```
//! use haft::schema::{Dialect, LossKind, RenderFault, Rendered, Reshape, ReshapeMember, Schema};
//! use haft::serde_json::json;
//!
//! /// Requires every member: one that may be absent is sent as `null`.
//! struct AllRequired;
//!
//! impl Dialect for AllRequired {
//!     fn name(&self) -> &str {
//!         "all required"
//!     }
//!
//!     fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
//!         let mut json = schema.as_json().clone();
//!         let Some(properties) = json["properties"].as_object_mut() else {
//!             return Err(RenderFault::new("", "only objects are supported", "put the value in a struct"));
//!         };
//!         let (mut reshape, required) = (Reshape::new(), schema.as_json()["required"].clone());
//!         let root = reshape.add();
//!         for (name, member) in properties.iter_mut() {
//!             if !required.as_array().is_some_and(|required| required.contains(&json!(name))) {
//!                 *member = json!({ "anyOf": [member.take(), { "type": "null" }] });
//!                 reshape.member(root, ReshapeMember::new(name).absent_as_null());
//!             }
//!         }
//!         let all: Vec<&String> = properties.keys().collect();
//!         json["required"] = json!(all);
//!         let is_open = json["additionalProperties"] != false;
//!         let rendered = Rendered::exact(json).with_codec(reshape.finish(root));
//!         if !is_open {
//!             return Ok(rendered);
//!         }
//!         Ok(rendered.with_loss("", LossKind::OpenObject, "the model can't send further keys"))
//!     }
//! }
//!
//! let schema = Schema::json(json!({
//!     "type": "object",
//!     "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
//!     "required": ["city"]
//! }))?;
//! let rendered = AllRequired.render(&schema)?;
//! assert_eq!(rendered.losses[0].kind, LossKind::OpenObject);
//! assert_eq!(rendered.codec.decode(r#"{"city":"Oslo","days":null}"#)?, r#"{"city":"Oslo"}"#);
//! assert_eq!(rendered.codec.encode(r#"{"city":"Oslo"}"#)?, r#"{"city":"Oslo","days":null}"#);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

#[doc(inline)]
pub use haft_core::{Dialect, Loss, LossKind, RenderFault, Rendered};
#[doc(inline)]
pub use haft_schema::{
    AppliesTo, Codec, CodecError, DecodeOptions, Decoded, DuplicateKeys, EnforcedRules, Enforcement, ISSUES_CAP, Issue,
    Issues, JsonText, Limits, REASON_CAP, Repair, RepairKind, Repairs, Reshape, ReshapeCase, ReshapeId, ReshapeKind,
    ReshapeMember, Schema, SchemaError, Subschema, Subschemas, Transcode, Validation, Validator, secure_json,
};
