//! Tools and toolkits through the executor, in the order in which a user meets them: defining tools, their kinds,
//! streaming, schemas, wiring, composing, middleware, services, running, results, and the history.

mod composition;
mod definition;
mod execution;
mod kind;
mod middleware;
mod outcome;
mod round_trip;
mod schema_form;
mod service;
mod streaming;
mod wiring;

use haft_executor::{DefinitionError, Tool};

/// Creates a tool that returns its argument.
fn echo(name: &str) -> Result<Tool, DefinitionError> {
    Tool::new(name).handler(|text: String, _cx| async move { text })
}

/// Creates a tool that always returns the same text.
fn says(name: &str, text: &'static str) -> Result<Tool, DefinitionError> {
    Tool::new(name).handler(move |(), _cx| async move { text })
}

/// Returns one tool of each kind that is not run here.
fn non_local() -> [Result<Tool, DefinitionError>; 3] {
    [
        Tool::provider("vendor.web_search").with_args(()).define(),
        Tool::signal("escalate").params::<String>().define(),
        Tool::interaction("choose_account").params::<Vec<String>>().define(),
    ]
}
