//! The annotations that the standard tools share.

use haft_core::{Destructive, Idempotent, OpenWorld, Readonly};
use haft_executor::{Inferred, ToolBuilder};

/// Marks a tool that reads only its arguments, or files that it can't change: a call may be repeated at any time.
pub(super) fn pure(tool: ToolBuilder<Inferred, Inferred>) -> ToolBuilder<Inferred, Inferred> {
    tool.annotate(Readonly(true)).annotate(Destructive(false)).annotate(Idempotent(true)).annotate(OpenWorld(false))
}
