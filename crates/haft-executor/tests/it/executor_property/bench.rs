//! The tools of the random batches. Every handler follows its arguments, and is counted by a gauge.

use std::convert::Infallible;
use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::{FutureExt, stream};
use haft_core::{ApprovalDecision, ApprovalRequest, ToolCall, Verdict};
use haft_executor::{
    ApprovalPolicy, BoxError, Concurrency, Cx, EmitBuffer, ExecutionLimits, Next, OnOverflow, OutputCap, Outputs,
    Permission, Permitting, Request, SharedToolkit, Tool, Toolkit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::batch::{Batch, Cap, MOST_BYTES, Owner, THINKING, TIMEOUT};
use super::gauge::{Class, Gauge, Running, Spot};
use crate::executor_faults::record::mark;

/// The task of a handler.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(tag = "does", rename_all = "snake_case")]
enum Job {
    Nothing,
    Sleep { ms: u64 },
    Emit { count: u64, gap: u64 },
    Panic,
    PanicLater { ms: u64 },
    Fail,
    Hang,
    Give { bytes: usize },
}

/// The return value of a handler.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(untagged)]
enum Gift {
    Number(u64),
    Text(String),
}

/// The tool in a task. Creating a tool takes longer than most runs here, so these are created once; the rest is set
/// per run.
static WORKING: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |job: Job, cx: Cx| async move {
        let _running = enter(&cx, Spot::Task);
        work(job, &cx).await
    };
    Tool::new("working").try_handler(handler).unwrap()
});

/// The same on a blocking thread, without waiting: the paused clock stands still as long as one runs.
static BLOCKING: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |job: Job, cx: Cx| {
        let _running = enter(&cx, Spot::Thread);
        match job {
            Job::Panic | Job::PanicLater { .. } => panic!("as asked"),
            Job::Fail => Err("as asked".to_owned()),
            Job::Give { bytes } => Ok(Gift::Text("x".repeat(bytes))),
            Job::Nothing | Job::Sleep { .. } | Job::Emit { .. } | Job::Hang => Ok(Gift::Number(0)),
        }
    };
    Tool::new("blocking").try_blocking_handler(handler).unwrap()
});

/// A tool that must not run.
static INTRUDER: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |_: Job, cx: Cx| async move {
        cx.extension::<Gauge>().unwrap().breach(format!("{} is of another snapshot", cx.tool_name()));
    };
    Tool::new("intruder").handler(handler).unwrap()
});

/// The tools without a local handler.
static ELSEWHERE: LazyLock<[Tool; 3]> = LazyLock::new(|| {
    [
        Tool::signal("signal").params::<Job>().define().unwrap(),
        Tool::interaction("interaction").params::<Job>().define().unwrap(),
        Tool::provider("vendor.remote").with_args(()).define().unwrap(),
    ]
});

/// The same as a stream: a preliminary result, then the final one.
static STREAMING: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |job: Job, cx: Cx| {
        let values = async move {
            let _running = enter(&cx, Spot::Task);
            let done = work(job, &cx).await;
            // The number of values emitted before, as the record expects it.
            let early = done.clone().map(|gift| match gift {
                Gift::Number(shown) => Gift::Number(shown),
                Gift::Text(_) => Gift::Number(0),
            });
            stream::iter([early, done])
        };
        Outputs::try_values(values.flatten_stream())
    };
    Tool::new("streaming").stream_handler(handler).unwrap()
});

/// Creates the tools of a batch.
pub(super) fn kit(batch: &Batch) -> Toolkit {
    let tool =
        |tool: &Tool, name: &str| tool.with_name(name).and_then(|tool| tool.with_limits(limits(batch, name))).unwrap();
    let open = ["shared", "exclusive", "key_a", "key_a_too", "key_b", "pair", "slow_permit", "watched"];
    let open = open.map(|name| tool(&WORKING, name));
    let gated =
        ["gated", "forbidden"].map(|name| tool(&WORKING, name).set_needs_approval(ApprovalPolicy::always()).unwrap());
    let others = [tool(&STREAMING, "stream"), tool(&BLOCKING, "blocking")];
    let kit: Toolkit = open.into_iter().chain(gated).chain(others).chain(ELSEWHERE.iter().cloned()).collect();
    if batch.is_wrapped { kit.wrap(|request: Request, next: Next| next.run(request)) } else { kit }
}

/// Replaces every tool of a source by one whose handler records a violation.
pub(super) fn intrude(source: &SharedToolkit) {
    let intruder = |tool: &Tool| INTRUDER.with_name(tool.name()).unwrap();
    let Ok(_) = source.update(|kit| Ok::<_, Infallible>(kit.iter().map(intruder).collect()));
}

/// Approves after a while, except calls of `forbidden`.
pub(super) async fn approve(request: ApprovalRequest, _: Cx) -> Result<Verdict, BoxError> {
    sleep(THINKING / 2).await;
    let decision = match request.tool.as_str() {
        "forbidden" => ApprovalDecision::Denied,
        _ => ApprovalDecision::Approved,
    };
    Ok(request.respond(decision))
}

/// Permits all calls, after a while those of `slow_permit`.
pub(super) fn permit(tool: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
    match tool.name() {
        "slow_permit" => Permitting::later(async {
            sleep(THINKING).await;
            Ok::<_, BoxError>(Permission::Allowed)
        }),
        _ => Permission::Allowed.into(),
    }
}

fn class_of(name: &str) -> Class {
    match name {
        "exclusive" => Class::Exclusive,
        "key_a" | "key_a_too" => Class::Keyed("a"),
        "key_b" => Class::Keyed("b"),
        "pair" => Class::Max(2),
        _ => Class::Shared,
    }
}

fn enter(cx: &Cx, spot: Spot) -> Running {
    cx.extension::<Gauge>().unwrap().enter(class_of(cx.tool_name()), spot)
}

async fn work(job: Job, cx: &Cx) -> Result<Gift, String> {
    let millis = Duration::from_millis;
    match job {
        Job::Nothing => {}
        Job::Sleep { ms } => sleep(millis(ms)).await,
        Job::Emit { count, gap } => {
            for n in 0..count {
                cx.emit(mark(cx, n)).await.unwrap();
                sleep(millis(gap)).await;
            }
            return Ok(Gift::Number(count));
        }
        Job::Panic => panic!("as asked"),
        Job::PanicLater { ms } => {
            sleep(millis(ms)).await;
            panic!("as asked, later");
        }
        Job::Fail => return Err("as asked".to_owned()),
        Job::Hang => pending().await,
        Job::Give { bytes } => return Ok(Gift::Text("x".repeat(bytes))),
    }
    Ok(Gift::Number(0))
}

fn limits(batch: &Batch, name: &str) -> ExecutionLimits {
    let concurrency = match class_of(name) {
        Class::Shared => Concurrency::Shared,
        Class::Exclusive => Concurrency::Exclusive,
        Class::Keyed(key) => Concurrency::Keyed(key.to_owned()),
        Class::Max(most) => Concurrency::Max(NonZeroUsize::new(most).unwrap()),
    };
    let room = EmitBuffer::Bounded(NonZeroUsize::new(batch.room).unwrap());
    let mut limits = ExecutionLimits::new().timeout(TIMEOUT).emit_buffer(room).concurrency(concurrency);
    if name == "watched" {
        limits = limits.idle_timeout(batch.silence);
    }
    if let Some(Cap { owner: Owner::Tool, rule }) = batch.cap {
        limits = limits.output_cap(output_cap(rule));
    }
    limits
}

pub(super) fn output_cap(rule: OnOverflow) -> OutputCap {
    OutputCap::new(NonZeroUsize::new(MOST_BYTES).unwrap()).on_overflow(rule)
}
