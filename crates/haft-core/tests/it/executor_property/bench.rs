//! The tools of the random batches. Every handler does what its arguments say, under the eyes of a gauge.

use std::future::pending;
use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Duration;

use futures_util::{FutureExt, stream};
use haft_core::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalResponse, BoxError, Concurrency, Cx, EmitBuffer,
    ExecutionLimits, Outputs, Permission, Permitting, Tool, ToolCall, Toolkit,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::batch::{Batch, THINKING, TIMEOUT};
use super::gauge::{Class, Gauge, Running};

/// What a handler is to do.
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
}

/// Making a tool takes longer than most runs here do, so these are made once; what differs goes with the run.
static WORKING: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |job: Job, cx: Cx| async move {
        let _running = enter(&cx);
        work(job, &cx).await
    };
    Tool::new("working").try_run(handler).unwrap()
});

/// The same as a stream: an early result, then the final one.
static STREAMING: LazyLock<Tool> = LazyLock::new(|| {
    let handler = |job: Job, cx: Cx| {
        let values = async move {
            let _running = enter(&cx);
            let done = work(job, &cx).await;
            stream::iter([done.clone().map(|_| 0), done])
        };
        Outputs::try_values(values.flatten_stream())
    };
    Tool::new("streaming").run_stream(handler).unwrap()
});

/// The tools of a batch.
pub(super) fn kit(batch: &Batch) -> Toolkit {
    let tool = |tool: &Tool, name: &str| {
        tool.with_name(name).and_then(|tool| tool.with_limits(limits(batch, class_of(name)))).unwrap()
    };
    let open = ["shared", "exclusive", "key_a", "key_a_too", "key_b", "pair", "slow_permit"];
    let open = open.map(|name| tool(&WORKING, name));
    let gated = ["gated", "forbidden"].map(|name| tool(&WORKING, name).set_needs_approval(ApprovalPolicy::always()));
    open.into_iter().chain(gated).chain([tool(&STREAMING, "stream")]).collect()
}

/// Says yes after a while, except about `forbidden`.
pub(super) async fn approve(request: ApprovalRequest, _: Cx) -> Result<ApprovalResponse, BoxError> {
    sleep(THINKING / 2).await;
    let decision = match request.tool.as_str() {
        "forbidden" => ApprovalDecision::Denied,
        _ => ApprovalDecision::Approved,
    };
    Ok(request.respond(decision))
}

/// Says yes, after a while to calls of `slow_permit`.
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

fn enter(cx: &Cx) -> Running {
    cx.extension::<Gauge>().unwrap().enter(class_of(cx.tool_name()))
}

async fn work(job: Job, cx: &Cx) -> Result<u64, String> {
    let millis = Duration::from_millis;
    match job {
        Job::Nothing => {}
        Job::Sleep { ms } => sleep(millis(ms)).await,
        Job::Emit { count, gap } => {
            for n in 0..count {
                cx.emit(n).await.unwrap();
                sleep(millis(gap)).await;
            }
            return Ok(count);
        }
        Job::Panic => panic!("as asked"),
        Job::PanicLater { ms } => {
            sleep(millis(ms)).await;
            panic!("as asked, later");
        }
        Job::Fail => return Err("as asked".to_owned()),
        Job::Hang => pending().await,
    }
    Ok(0)
}

fn limits(batch: &Batch, class: Class) -> ExecutionLimits {
    let concurrency = match class {
        Class::Shared => Concurrency::Shared,
        Class::Exclusive => Concurrency::Exclusive,
        Class::Keyed(key) => Concurrency::Keyed(key.to_owned()),
        Class::Max(most) => Concurrency::Max(NonZeroUsize::new(most).unwrap()),
    };
    let room = EmitBuffer::Bounded(NonZeroUsize::new(batch.room).unwrap());
    ExecutionLimits::new().timeout(TIMEOUT).emit_buffer(room).concurrency(concurrency)
}
