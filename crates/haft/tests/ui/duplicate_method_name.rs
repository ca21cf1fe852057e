//! Two methods with one tool name.

use haft::tools;

struct Desk;

#[tools]
impl Desk {
    #[tool]
    fn open(&self) {}

    #[tool(name = "open")]
    fn reopen(&self) {}
}

fn main() {}
