//! Parameters that borrow.

use haft::tool;

#[tool]
fn get_weather(city: &str, days: &[u8], units: Option<&str>) -> String {
    format!("{city} {days:?} {units:?}")
}

fn main() {}
