//! Two kinds of one name, beside tools made at run time and in kits of kits.

use haft::prelude::*;
use haft::toolkit::ComposeError;

/// Hands over.
#[tool(signal)]
struct Escalate;

/// Hands over.
#[tool(provider = "vendor.escalate", name = "escalate")]
struct Handover {
    level: Option<u8>,
}

fn made() -> Vec<Tool> {
    Vec::new()
}

fn kit() -> Result<Toolkit, ComposeError> {
    Toolkit::compose([toolkit![Escalate, Handover { level: None }; made()].unwrap()])
}

fn main() {
    let _ = kit();
}
