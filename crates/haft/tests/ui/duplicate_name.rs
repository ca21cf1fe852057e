//! Two tools of one name.

use haft::{tool, toolkit};
use haft::toolkit::Toolkit;

#[tool]
fn search() {}

mod other {
    #[haft::tool(name = "search")]
    pub fn find() {}
}

fn main() {
    let _kit: Toolkit = toolkit![Search, other::Find];
}
