//! A loop takes tools that can run: the state must be provided first.

use haft::prelude::*;

struct Key(String);

#[derive(Services)]
struct App {
    key: Key,
}

/// Returns the key.
#[tool]
fn whoami(#[service] key: &Key) -> String {
    key.0.clone()
}

fn main() {
    let kit: Toolkit<App> = toolkit![Whoami];
    let _ = TurnLoop::new(ScriptedModel::default(), kit);
}
