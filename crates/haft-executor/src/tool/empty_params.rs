//! The parameters of a tool that takes none.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// No parameters: the closed empty object. Every key is rejected.
///
/// ```
/// use haft_executor::{EmptyParams, Tool};
/// use serde_json::json;
///
/// let tool = Tool::new("now").params::<EmptyParams>().define()?;
/// let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
/// assert_eq!(tool.json_schema(), &closed);
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyParams {}

/// A derived schema would contain the documentation above, so it is written by hand.
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
