//! The four ways in which every row is checked.

use std::time::Duration;

use haft_core::ToolCall;
use haft_executor::{Cx, RunOptions, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use super::record::mark;

/// The number of healthy calls around a faulty one, if there are any.
const SIBLINGS: u32 = 64;

/// The siblings of a call, and where its handler runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) company: Company,
    pub(super) place: Place,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Company {
    Alone,
    Siblings,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    InTask,
    Spawned,
}

#[derive(Deserialize, JsonSchema)]
struct Healthy {
    n: u32,
}

impl Way {
    pub(super) const ALL: [Self; 4] = [
        Self { company: Company::Alone, place: Place::InTask },
        Self { company: Company::Siblings, place: Place::InTask },
        Self { company: Company::Alone, place: Place::Spawned },
        Self { company: Company::Siblings, place: Place::Spawned },
    ];

    /// Returns how many siblings precede the faulty call, and how many there are.
    pub(super) fn siblings(self) -> (u32, u32) {
        match self.company {
            Company::Alone => (0, 0),
            Company::Siblings => (SIBLINGS / 2, SIBLINGS),
        }
    }

    pub(super) fn options(self, options: RunOptions) -> RunOptions {
        match self.place {
            Place::InTask => options,
            Place::Spawned => options.spawned(),
        }
    }
}

/// Creates a sound tool: it emits as many values as [`healthy_shows`] returns, waiting a little in between, and
/// returns its number doubled.
pub(super) fn healthy_tool() -> Tool {
    let run = |Healthy { n }: Healthy, cx: Cx| async move {
        for step in 0..healthy_shows(n) {
            cx.emit(mark(&cx, step)).await.unwrap();
            sleep(Duration::from_millis(u64::from(n % 5))).await;
        }
        2 * n
    };
    Tool::new("healthy").handler(run).unwrap()
}

/// Returns the number of values that the healthy call of a number emits.
pub(super) fn healthy_shows(n: u32) -> u32 {
    1 + n % 3
}

pub(super) fn healthy_call(n: u32) -> ToolCall {
    ToolCall::new(format!("healthy_{n}"), "healthy", format!(r#"{{"n":{n}}}"#))
}

/// Creates a runtime of one thread whose clock advances only when every task waits for it.
pub(crate) fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}
