//! A source that is written with the public API only, as a client of another server would be.

use std::sync::{Mutex, PoisonError};

use haft_core::ToolCall;
use haft_executor::{Changed, DefinitionError, Dispatch, RunOptions, Snapshot, SourceFault, Tool, ToolSource, Toolkit};
use serde_json::json;
use tokio::sync::Notify;

use super::{generation, left_out, names};

/// A list of tools that another program sends again whenever it changes. Entries that are no tools are reported.
#[derive(Default)]
struct Listing {
    current: Mutex<Snapshot>,
    notify: Notify,
}

impl Listing {
    /// Takes over a list of names. A name that is invalid is left out.
    fn receive(&self, listed: &[&str]) {
        let (mut tools, mut faults) = (Vec::new(), Vec::new());
        for name in listed {
            match defined(name) {
                Ok(tool) => tools.push(tool),
                Err(error) => faults.push(SourceFault::new(*name, error)),
            }
        }
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Snapshot::new(Toolkit::from_iter(tools), current.generation() + 1).with_faults(faults);
        drop(current);
        self.notify.notify_waiters();
    }
}

fn defined(name: &str) -> Result<Tool, DefinitionError> {
    let answer = format!("{name} of the other program");
    let tool = Tool::dynamic(name).params_json(json!({"type": "object"}));
    tool.handler(move |_: serde_json::Value, _cx| {
        let answer = answer.clone();
        async move { json!(answer) }
    })
}

impl ToolSource for Listing {
    fn snapshot(&self) -> Snapshot {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        Box::pin(async move {
            loop {
                let notified = self.notify.notified();
                if self.snapshot().generation() > after {
                    return;
                }
                notified.await;
            }
        })
    }
}

#[tokio::test]
async fn it_is_used_as_any_other() {
    let listing = Listing::default();
    let all = (&listing).namespaced("far").unwrap().merged(Toolkit::new());
    let waiting = all.changed(generation(&all));
    listing.receive(&["draw", "", "erase"]);
    waiting.await;
    assert_eq!((names(&all), left_out(&all)), (vec!["far__draw".into(), "far__erase".into()], vec![String::new()]));
    let snapshot = all.snapshot();
    assert!(snapshot.faults()[0].cause.downcast_ref::<DefinitionError>().is_some());

    let served: &dyn Dispatch = &all;
    assert_eq!(served.list(&RunOptions::new()).len(), 2);
    let calls = || vec![ToolCall::new("c1", "far__draw", "{}").into()];
    let (before, calls_after) = (served.run_calls(calls(), RunOptions::new()), calls());
    listing.receive(&["erase"]);
    assert_eq!(before.collect_results().await[0].to_model_text(), "draw of the other program");
    let after = served.run_calls(calls_after, RunOptions::new()).collect_results().await;
    assert_eq!(after[0].failure().unwrap().kind.as_str(), "unknown_tool");
}

#[test]
fn faults_add_up() {
    let snapshot = Snapshot::new(Toolkit::new(), 3).with_faults([]);
    assert!(snapshot.faults().is_empty());
    let snapshot = snapshot.with_faults([SourceFault::new("a", "odd")]).with_faults([SourceFault::new("b", "even")]);
    let told: Vec<_> = snapshot.faults().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["the tool `a` is left out: odd", "the tool `b` is left out: even"]);
    assert_eq!((snapshot.generation(), snapshot.into_toolkit().len()), (3, 0));
}
