//! The names of tools.

use crate::text_id::text_id;

/// The separator between a namespace and the name of a tool.
pub const NAMESPACE_SEPARATOR: &str = "__";

text_id! {
    /// The name by which a model calls a tool. It is shared, so that every event and result can contain it.
    ToolName
}

text_id! {
    /// The identity of a tool, independent of its name: the name at creation, or `vendor.tool` for a provider-defined
    /// tool. Renaming the tool does not change it; a namespace prefixes it, except for a provider-defined tool.
    ToolId
}
