use haft::run::{ToolCalls, Typed};

struct NotATool;

#[derive(ToolCalls)]
enum AppCall {
    NotATool(Typed<NotATool>),
}

fn main() {}
