//! The standard toolbox, called as a model calls it: with JSON, through a toolkit.

mod calculate;
mod date;
mod descriptor;
mod encoding;
mod file;
mod json;
mod text;

use std::time::{Duration, UNIX_EPOCH};

use haft_core::{FailureKind, ToolCall};
use haft_executor::Toolkit;
use haft_registry::Registry;
use haft_tools::standard::StandardToolbox;
use serde_json::Value;

/// 2024-05-01T12:00:00.5Z.
const NOW: Duration = Duration::from_millis(1_714_564_800_500);

/// A failure as the model reads it.
#[derive(Debug)]
struct Failed {
    kind: FailureKind,
    /// Empty unless the tool declared the failure.
    reason: String,
    message: String,
    position: Option<u64>,
}

fn toolbox() -> StandardToolbox {
    StandardToolbox::new().clock(|| UNIX_EPOCH + NOW)
}

fn kit() -> Toolkit {
    toolbox().toolkit().unwrap()
}

async fn call(kit: &Toolkit, tool: &str, arguments: Value) -> Result<Value, Failed> {
    let result = kit.run_call(&ToolCall::new("c1", tool, arguments.to_string())).await;
    match result.failure() {
        None => Ok(result.decode().unwrap()),
        Some(failure) => {
            let details: Value =
                failure.details.as_ref().map_or(Value::Null, |details| serde_json::from_str(details.as_str()).unwrap());
            Err(Failed {
                kind: failure.kind.clone(),
                reason: details["reason"].as_str().unwrap_or_default().to_owned(),
                message: failure.message.clone(),
                position: details["position"].as_u64(),
            })
        }
    }
}

#[tokio::test]
async fn the_registry_takes_the_toolbox() {
    let registry = Registry::builder().internal(kit()).build().unwrap();
    assert_eq!(registry.list().len(), 15);
    assert!(registry.find("calculate").is_ok());
}

#[tokio::test]
async fn unknown_arguments_are_rejected() {
    let kit = kit();
    for tool in kit.names() {
        let failed = call(&kit, tool, serde_json::json!({"surprise": 1})).await.unwrap_err();
        assert_eq!(failed.kind, FailureKind::InputValidationError, "{tool}: {}", failed.message);
    }
}
