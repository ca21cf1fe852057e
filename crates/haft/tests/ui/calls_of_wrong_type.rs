use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

struct NotATool;

#[derive(ToolCalls)]
enum AppCall {
    GetWeather(GetWeather),
    Count(u32),
    Other(ToolCall),
    NotATool(Typed<NotATool>),
}

fn main() {}
