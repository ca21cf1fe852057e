use haft::tool;
use haft::tool::{Cx, RefineError};

async fn trimmed(city: String, _cx: Cx) -> Result<String, RefineError> {
    Ok(city.trim().to_owned())
}

#[tool(refine = trimmed)]
fn get_weather(city: String) -> String {
    city
}

fn main() {}
