//! Two tools of one name.

use haft::{Toolkit, tool, toolkit};

#[tool]
fn search() {}

mod other {
    #[haft::tool(name = "search")]
    pub fn find() {}
}

fn main() {
    let _kit: Toolkit = toolkit![Search, other::Find];
}
