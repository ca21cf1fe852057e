//! Members of an MCP tool's definition beyond haft's own settings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::descriptor::DescribedAnnotation;

/// The members of a tool's MCP form that haft has no setting for: `execution`, those of later protocol versions, and
/// unknown members of `annotations`, under their names.
///
/// `Tool::from_mcp` attaches it and the MCP profile writes its members again. Nothing in haft acts on them.
///
/// ```
/// use haft_core::{Annotations, McpMembers};
/// use serde_json::json;
///
/// let members = json!({"execution": {"taskSupport": "optional"}}).as_object().cloned().unwrap_or_default();
/// let annotations = Annotations::new().with(McpMembers(members));
/// let read = annotations.read::<McpMembers>()?.unwrap_or_default();
/// assert_eq!(read.0["execution"]["taskSupport"], "optional");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct McpMembers(pub Map<String, Value>);

impl DescribedAnnotation for McpMembers {
    const KEY: &'static str = "modelcontextprotocol.io/tool";
}
