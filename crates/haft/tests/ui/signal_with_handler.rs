//! A signal with a handler.

use haft::tool;

/// Hand over to a person.
#[tool(signal)]
async fn hand_over(reason: String, urgent: Option<bool>) -> String {
    let _ = urgent;
    reason
}

/// Asks the user.
#[tool(interaction)]
fn ask_user() {}

fn main() {}
