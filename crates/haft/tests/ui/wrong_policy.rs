//! A policy, an annotation and an example of the wrong type.

use haft::tool;

#[tool(approval = |params, _cx| params.city.len(), annotate(5), meta = 7)]
fn get_weather(city: String) -> String {
    city
}

fn main() {}
