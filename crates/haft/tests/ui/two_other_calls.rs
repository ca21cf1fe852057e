use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

#[derive(ToolCalls)]
enum AppCall {
    GetWeather(Typed<GetWeather>),
    #[other]
    Other(ToolCall),
    #[other]
    Rest(ToolCall),
}

#[derive(ToolCalls)]
enum HandledCall {
    #[other]
    #[value]
    Other(ToolCall),
}

fn main() {}
