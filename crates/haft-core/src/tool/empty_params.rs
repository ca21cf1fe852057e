//! The parameters of a tool that takes none.

use schemars::JsonSchema;
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmptyParams {}
