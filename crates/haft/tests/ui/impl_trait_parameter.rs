//! Types without a name.

use haft::tool;

#[tool]
fn length(text: impl AsRef<str>) -> impl serde::Serialize {
    text.as_ref().len()
}

fn main() {}
