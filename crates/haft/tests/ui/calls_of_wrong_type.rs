use haft::prelude::*;
use haft::run::{ToolCalls, Typed};

#[tool]
fn get_weather(city: String) -> String {
    city
}

type WeatherCall = Typed<GetWeather>;

#[derive(ToolCalls)]
enum AppCall {
    GetWeather(GetWeather),
    Alias(WeatherCall),
    Count(u32),
    Other(ToolCall),
    Typed(Typed),
}

fn main() {}
