use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

#[derive(ToolCalls)]
struct AppCall(Typed<GetWeather>);

#[derive(ToolCalls)]
enum NoCall {}

fn main() {}
