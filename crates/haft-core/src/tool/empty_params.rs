//! The parameters of a tool that takes none.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// No parameters: the closed empty object. Any key is refused.
///
/// ```
/// use haft_core::{EmptyParams, Tool};
/// use serde_json::json;
///
/// let tool = Tool::new("now").params::<EmptyParams>().define()?;
/// let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
/// assert_eq!(tool.json_schema(), &closed);
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyParams {}

/// Written by hand: a derived schema would carry the documentation above to the model.
impl JsonSchema for EmptyParams {
    fn schema_name() -> Cow<'static, str> {
        "EmptyParams".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "additionalProperties": false})
    }
}
