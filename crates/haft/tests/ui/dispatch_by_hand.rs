//! Calls are run by the core alone: a type that has tools implements `ToolSource`.

use std::sync::Arc;

use haft::approval::{Suspended, Verdict};
use haft::prelude::*;
use haft::run::{Dispatch, RequestedCall, Run};
use haft::tool::ToolDescriptor;

struct Remote;

impl Dispatch for Remote {
    fn list(&self, _: &RunOptions) -> Vec<Arc<ToolDescriptor>> {
        Vec::new()
    }

    fn run_calls(&self, _: Vec<RequestedCall>, _: RunOptions) -> Run {
        Toolkit::new().run([ToolCall::new("c1", "ping", "")])
    }

    fn resume_calls(&self, _: Suspended, _: Vec<Verdict>, _: RunOptions) -> Run {
        Toolkit::new().run([ToolCall::new("c1", "ping", "")])
    }
}

fn main() {}
