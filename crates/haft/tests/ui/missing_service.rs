//! A state that lacks a service of one of the tools.

use haft::{tool, toolkit};
use haft::toolkit::Services;

struct ApiKey;
struct Database;

#[tool]
fn get_weather(#[service] _key: &ApiKey, #[service] _database: &Database) {}

#[derive(Services)]
struct App {
    key: ApiKey,
}

fn main() {
    let _kit = toolkit![GetWeather].provide(App { key: ApiKey });
}
