//! The public means of middlewares: arguments, the truth about the start of a handler, emitted values, services, ambient
//! values.

mod ambient;
mod argument;
mod emission;
mod service;
mod started;

use haft_core::{ToolCall, ToolResult};
use haft_executor::{RunOptions, Toolkit};

/// The calls of a toolkit in every way: singly, in a run and in a spawned run.
const WAYS: [Way; 3] = [Way::Single, Way::Run, Way::Spawned];

#[derive(Clone, Copy, Debug)]
enum Way {
    Single,
    Run,
    Spawned,
}

impl Way {
    async fn run(self, kit: &Toolkit, call: &ToolCall) -> ToolResult {
        let run = |options: RunOptions| kit.run_with([call.clone()], options).collect_results();
        match self {
            Self::Single => kit.run_call(call).await,
            Self::Run => run(RunOptions::new()).await.remove(0),
            Self::Spawned => run(RunOptions::new().spawned()).await.remove(0),
        }
    }
}
