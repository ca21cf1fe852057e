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
    Other(String),
}

fn main() {}
