use haft::run::{ToolCalls, Typed};
use haft::tool::ToolType;

#[derive(ToolCalls)]
enum AppCall<T: ToolType> {
    Tool(Typed<T>),
}

fn main() {}
