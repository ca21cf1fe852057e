use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

#[derive(ToolCalls)]
enum AppCall {
    Nothing,
    Two(Typed<GetWeather>, Typed<GetWeather>),
    Named { call: Typed<GetWeather> },
    #[other]
    Other { call: ToolCall },
    #[value = "weather"]
    GetWeather(Typed<GetWeather>),
}

fn main() {}
