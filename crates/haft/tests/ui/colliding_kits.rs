//! Two kits with a tool of the same name.

use haft::toolkit::Toolkit;
use haft::{compose, tool, toolkit, tools};

#[tool]
fn search() {}

#[tool]
fn fetch() {}

toolkit! {
    struct WebKit = [Fetch, Search];
}

struct Desk;

#[tools]
impl Desk {
    #[tool(name = "search", type = SearchTickets)]
    fn search(&self) {}
}

fn main() {
    let _kit: Toolkit<Desk> = compose![WebKit, Desk];
}
