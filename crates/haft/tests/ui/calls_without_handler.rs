use haft::prelude::*;
use haft::run::{ToolCalls, Typed};
use haft::tool::{NoFailure, ToolType};

struct ApiKey;

#[tool]
fn get_weather(city: String, #[service] _key: &ApiKey) -> String {
    city
}

struct Search;

impl ToolType for Search {
    const NAME: &'static str = "search";
    type Params = String;
    type Success = Vec<String>;
    type Failure = NoFailure;
    type Services = ();
}

/// It reads calls, and that compiles without a handler.
#[derive(ToolCalls)]
enum SearchCall {
    Search(Typed<Search>),
}

#[derive(ToolCalls)]
enum ValueCall {
    #[value]
    Search(Typed<Search>),
}

#[derive(ToolCalls)]
enum WeatherCall {
    GetWeather(Typed<GetWeather>),
}

fn main() {
    let _kit: Toolkit = SearchCall::toolkit();
    let _kit: Toolkit = ValueCall::toolkit(Search);
    let _kit: Toolkit = WeatherCall::toolkit();
}
