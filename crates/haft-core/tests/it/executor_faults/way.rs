//! The four ways every row is held.

use std::time::Duration;

use haft_core::{Cx, RunOptions, Tool, ToolCall};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

use super::record::mark;

/// How many healthy calls stand around a faulty one, when any do.
const SIBLINGS: u32 = 64;

/// The company of a call, and where its handler runs.
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

    /// How many siblings stand before the faulty call, and how many there are.
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

/// A tool with which nothing is wrong: shows some things, as many as [`healthy_shows`] says, waiting a little in
/// between, and gives its number doubled.
pub(super) fn healthy_tool() -> Tool {
    let run = |Healthy { n }: Healthy, cx: Cx| async move {
        for step in 0..healthy_shows(n) {
            cx.emit(mark(&cx, step)).await.unwrap();
            sleep(Duration::from_millis(u64::from(n % 5))).await;
        }
        2 * n
    };
    Tool::new("healthy").run(run).unwrap()
}

/// How many things the healthy call of a number shows.
pub(super) fn healthy_shows(n: u32) -> u32 {
    1 + n % 3
}

pub(super) fn healthy_call(n: u32) -> ToolCall {
    ToolCall::new(format!("healthy_{n}"), "healthy", format!(r#"{{"n":{n}}}"#))
}

/// A runtime of one thread whose clock only moves when everybody waits for it.
pub(crate) fn paused() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}
