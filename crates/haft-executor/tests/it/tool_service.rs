//! The requirements of a service that stores and executes tools on one tool: a definition that a model can choose by,
//! an implementation with an input and an output schema, and one pipeline with an error for each of its stages.
//!
//! Registration in layers, full names, permissions and further kinds of implementation belong to the registry and are
//! tested there.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{FailureKind, ToolCall};
use haft_executor::Tool;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::running::{alone, failure, run, value};

/// Adds numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The numbers to add
    #[schemars(length(min = 1))]
    numbers: Vec<f64>,
}

fn add() -> Tool {
    Tool::new("add")
        .params::<Add>()
        .success_json(json!({"type": "number", "maximum": 1000}))
        .handler(|add, _cx| async move { add.numbers.iter().sum::<f64>() })
        .unwrap()
}

#[test]
fn a_definition_contains_what_a_model_needs_to_choose() {
    let descriptor = add().descriptor();
    assert_eq!(descriptor.name, "add");
    assert_eq!(descriptor.description.as_deref(), Some("Adds numbers."));
    let numbers = &descriptor.input_schema.as_json()["properties"]["numbers"];
    assert_eq!(numbers["description"], "The numbers to add");
    assert_eq!(descriptor.output_schema.as_ref().unwrap().as_json()["type"], "number");
}

#[tokio::test]
async fn a_good_call_passes_every_stage() {
    assert_eq!(value(&add(), r#"{"numbers": [1, 2.5]}"#).await, json!(3.5));
}

/// Lookup, input, execution, output: the first stage that fails names the error, and the later ones are not reached.
#[tokio::test]
async fn each_stage_has_its_error() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let tool = Tool::new("divide")
        .success_json(json!({"type": "integer", "minimum": 0}))
        .try_handler_opaque(move |(a, b): (i64, i64), _cx| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { a.checked_div(b).ok_or_else(|| std::io::Error::other("secret detail")) }
        })
        .unwrap();

    let call = ToolCall::new("c", "multiply", "[1, 2]");
    let not_found = alone(&tool).run_call(&call).await;
    assert_eq!(not_found.failure().unwrap().kind, FailureKind::UnknownTool);

    assert_eq!(failure(&tool, "[1]").await.kind, FailureKind::InputValidationError);
    assert_eq!(ran.load(Ordering::SeqCst), 0, "nothing ran that was not checked");

    let execution = failure(&tool, "[1, 0]").await;
    assert_eq!(execution.kind, FailureKind::ExecutionError);
    assert!(execution.started);
    assert!(!serde_json::to_string(&execution).unwrap().contains("secret detail"));
    let cause = std::error::Error::source(&execution).unwrap();
    assert_eq!(cause.to_string(), "secret detail", "the cause is kept for the operator");

    let output = failure(&tool, "[-4, 2]").await;
    assert_eq!(output.kind, FailureKind::OutputValidationError);
    assert_eq!(output.issues.as_slice()[0].keyword, "minimum");
    assert_eq!(ran.load(Ordering::SeqCst), 2);

    assert!(run(&tool, "[4, 2]").await.is_ok());
}
