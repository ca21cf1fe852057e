use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

#[tool(name = "get_weather")]
fn forecast(city: String) -> String {
    city
}

#[derive(ToolCalls)]
enum AppCall {
    GetWeather(Typed<GetWeather>),
    Forecast(Typed<Forecast>),
}

fn main() {}
