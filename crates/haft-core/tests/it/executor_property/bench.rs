//! The tools of the random batches. Every handler does what its arguments say, under the eyes of a gauge.

use std::future::pending;
use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::stream;
use haft_core::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, ApprovalResponse, BoxError, Concurrency, Cx, EmitBuffer,
    ExecutionLimits, Outputs, Permission, Permitting, Tool, ToolCall, Toolkit,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;

use super::batch::{Batch, THINKING, TIMEOUT};
use super::gauge::{Class, Gauge};

pub(super) struct Bench {
    pub(super) kit: Toolkit,
}

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

impl Bench {
    pub(super) fn new(gauge: &Gauge, batch: &Batch) -> Self {
        gauge.allow(batch.concurrency);
        let tool = |name: &str, class: Class| working(gauge, batch, name, class);
        let always = ApprovalPolicy::always;
        let kit = [
            tool("shared", Class::Shared),
            tool("exclusive", Class::Exclusive),
            tool("key_a", Class::Keyed("a")),
            tool("key_a_too", Class::Keyed("a")),
            tool("key_b", Class::Keyed("b")),
            tool("pair", Class::Max(2)),
            tool("gated", Class::Shared).set_needs_approval(always()),
            tool("forbidden", Class::Shared).set_needs_approval(always()),
            tool("slow_permit", Class::Shared),
            streaming(gauge, batch),
        ];
        Self { kit: kit.into_iter().collect() }
    }
}

/// Says yes after a while, except about `forbidden`.
pub(super) async fn approve(request: ApprovalRequest, _: Cx) -> Result<ApprovalResponse, BoxError> {
    sleep(THINKING / 2).await;
    let decision = match request.tool.as_str() {
        "forbidden" => ApprovalDecision::Denied,
        _ => ApprovalDecision::Approved,
    };
    Ok(ApprovalResponse::new(request.request_id, decision))
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

fn working(gauge: &Gauge, batch: &Batch, name: &str, class: Class) -> Tool {
    let gauge = gauge.clone();
    let handler = move |job: Job, cx: Cx| {
        let gauge = gauge.clone();
        async move {
            let _running = gauge.enter(class);
            work(job, &cx).await
        }
    };
    Tool::new(name).limits(limits(batch, class)).try_run(handler).unwrap()
}

/// The same as a stream: what is emitted is an early result.
fn streaming(gauge: &Gauge, batch: &Batch) -> Tool {
    let gauge = gauge.clone();
    let handler = move |job: Job, cx: Cx| {
        let gauge = gauge.clone();
        let values = async move {
            let _running = gauge.enter(Class::Shared);
            let done = work(job, &cx).await;
            stream::iter([done.clone().map(|_| 0), done])
        };
        Outputs::try_values(futures_util::FutureExt::flatten_stream(values))
    };
    Tool::new("stream").limits(limits(batch, Class::Shared)).run_stream(handler).unwrap()
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
