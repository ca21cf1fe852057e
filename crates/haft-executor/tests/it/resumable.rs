//! Handlers that wait for answers, and calls that ask while they run.

mod ask;
mod live;
mod property;
mod stored;
mod tampered;

use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, Question, ToolCall, Verdict};
use haft_executor::{Cx, Resumable, Resumed, RunOptions, Suspend, Suspended, Tool, ToolBuilder, Toolkit};
use serde_json::{Value, json};

use crate::executing::kit;

/// The actions of handlers, in order.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A tool that asks for a number as often as its argument says, and returns the sum of the answers. A declined question
/// counts as a hundred.
fn sum(log: &Log) -> Tool {
    sum_of(Tool::new("sum"), log)
}

fn sum_of(builder: ToolBuilder, log: &Log) -> Tool {
    let log = log.clone();
    let sum = builder.resumable(move |rounds: u32, resumed: Option<Resumed>, cx: Cx| {
        let log = log.clone();
        async move {
            let (round, total) = match &resumed {
                None => (0, 0),
                Some(resumed) => {
                    let total: u64 = resumed.state().unwrap();
                    let answers = resumed.answers().iter();
                    let added: u64 = answers.map(|answer| answer.decode::<u64>().unwrap().unwrap_or(100)).sum();
                    (resumed.round(), total + added)
                }
            };
            log.note(format!("{round} {}", &cx.idempotency_key()[..4]));
            if round == rounds {
                return Resumable::Done(total);
            }
            Resumable::wait([Question::input::<u8>(format!("number {}", round + 1))], total)
        }
    });
    sum.unwrap()
}

fn call(rounds: u32) -> ToolCall {
    ToolCall::new("c1", "sum", rounds.to_string())
}

/// Options whose approver decides at once.
fn deciding(decide: impl Fn(&ApprovalRequest) -> Verdict + Send + Sync + 'static) -> RunOptions {
    let decide = Arc::new(decide);
    RunOptions::new().approvals(move |request: ApprovalRequest, _: Cx| {
        let decide = Arc::clone(&decide);
        async move { decide(&request) }
    })
}

/// Returns a suspended run as another process reads it.
fn stored(suspended: &Suspended) -> Suspended {
    serde_json::from_str(&serde_json::to_string(suspended).unwrap()).unwrap()
}

/// Runs calls until they wait.
async fn suspend(kit: &Toolkit, options: &RunOptions, calls: &[ToolCall]) -> Suspended {
    let run = kit.run_with(calls, options.clone().approvals(Suspend));
    stored(&run.collect_or_suspend().await.unwrap_err())
}

fn answer_all(suspended: &Suspended, value: &Value) -> Vec<Verdict> {
    suspended.pending().map(|request| request.answer(value.clone())).collect()
}

#[test]
fn a_question_is_data_of_its_request() {
    let request = ApprovalRequest::new("q1", &call(1)).asking(Question::input_json("?", json!({"type": "integer"})));
    let written = serde_json::to_value(&request).unwrap();
    assert_eq!(written["question"], json!({"type": "input", "message": "?", "schema": {"type": "integer"}}));
}

fn sum_kit(log: &Log) -> Toolkit {
    kit([Ok(sum(log))])
}
