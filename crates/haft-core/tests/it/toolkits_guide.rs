//! Tools and toolkits through the executor, in the order in which one meets them: defining tools, their kinds,
//! streaming, schemas, wiring, composing, middleware, services, running, results, and the way back into the history.

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

use haft_core::{DefinitionError, Tool};

/// Gives back what it is given.
fn echo(name: &str) -> Result<Tool, DefinitionError> {
    Tool::new(name).run(|text: String, _cx| async move { text })
}

/// Says always the same.
fn says(name: &str, text: &'static str) -> Result<Tool, DefinitionError> {
    Tool::new(name).run(move |(), _cx| async move { text })
}

/// One tool of each kind that is not run here.
fn non_local() -> [Result<Tool, DefinitionError>; 3] {
    [
        Tool::provider("vendor.web_search").with_args(()).define(),
        Tool::signal("escalate").params::<String>().define(),
        Tool::interaction("choose_account").params::<Vec<String>>().define(),
    ]
}
