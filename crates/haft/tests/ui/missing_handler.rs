//! A tool without a handler.

use haft::toolkit;
use haft::tool::{NoFailure, ToolType};
use haft::toolkit::Toolkit;

struct Search;

impl ToolType for Search {
    const NAME: &'static str = "search";
    type Params = String;
    type Success = String;
    type Failure = NoFailure;
    type Services = ();
}

fn main() {
    let _kit: Toolkit = toolkit![Search];
}
