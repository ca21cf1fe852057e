//! The Model Context Protocol's dialect.

use haft_core::{Dialect, RenderFault, Rendered};
use haft_schema::Schema;

use crate::dialect::envelope::{self, Roots};
use crate::dialect::rules::Keys;

/// The JSON Schema form that the Model Context Protocol requires for tool input: any schema with an object root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct McpDialect;

const ROOTS: Roots = Roots { name: "MCP", rejected: &[], keys: Keys::Any };

impl Dialect for McpDialect {
    fn name(&self) -> &'static str {
        ROOTS.name
    }

    fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
        envelope::render(&ROOTS, schema)
    }
}
