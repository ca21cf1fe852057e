use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

#[tool]
fn get_time(zone: String) -> String {
    zone
}

#[derive(ToolCalls)]
enum AppCall {
    GetWeather(Typed<GetWeather>),
    GetTime(Typed<GetTime>),
}

fn main() {
    let call = ToolCall::new("c1", "get_time", r#"{"zone": "UTC"}"#);
    match AppCall::decode(&call).unwrap() {
        AppCall::GetWeather(typed) => drop(typed.params.city),
    }
}
