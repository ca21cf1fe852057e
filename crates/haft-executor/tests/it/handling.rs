//! Single calls: failures by the tool's mode, preliminary results, and the destination of progress.

mod mode;
mod preliminary;
mod provider;
mod sink;

use std::time::Duration;

use futures_util::{Stream, StreamExt};
use haft_core::ToolFailure;
use haft_executor::{DefinitionError, FailureMode, HandlerResult, Tool};

const MODES: [FailureMode; 2] = [FailureMode::Error, FailureMode::Return];

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the same tool in another mode.
fn in_mode(tool: Result<Tool, DefinitionError>, mode: FailureMode) -> Result<Tool, DefinitionError> {
    tool?.set_failure_mode(mode)
}

/// Returns every item of a call's stream: whether it was preliminary, and its content.
async fn items(stream: impl Stream<Item = Result<HandlerResult, ToolFailure>>) -> Vec<String> {
    let told = |item: Result<HandlerResult, ToolFailure>| match item {
        Ok(result) if result.preliminary => format!("early {}", result.encoded),
        Ok(result) if result.is_failure => format!("failed {}", result.encoded),
        Ok(result) => format!("final {}", result.encoded),
        Err(failure) => format!("error {}", failure.kind),
    };
    stream.map(told).collect().await
}
