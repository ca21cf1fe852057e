//! Faulty tools, and the few sound ones that the rows need.

use std::future::{Ready, pending, ready};
use std::num::NonZeroUsize;
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use haft_core::{ApprovalDecision, ApprovalRequest, FailureKind, Outcome, ToolCall, ToolFailure, Verdict};
use haft_executor::{
    ApprovalPolicy, BoxError, Cx, EmitBuffer, ExecutionLimits, Middleware, Next, NoFailure, Outputs, Permission,
    Request, Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::time::{sleep, timeout};

use super::case::{Ran, SECRET};
use super::record::mark;

pub(super) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(super) fn limits() -> ExecutionLimits {
    ExecutionLimits::new()
}

/// Creates a buffer for at most this many events.
pub(super) fn room(most: usize) -> EmitBuffer {
    EmitBuffer::Bounded(NonZeroUsize::new(most).unwrap())
}

/// The parameters of [`target`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the fields are there to be checked")]
pub(super) struct Target {
    #[schemars(length(min = 2))]
    city: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
}

/// Creates a sound tool with strict parameters, which counts its runs.
pub(super) fn target(ran: &Ran) -> Tool {
    let ran = ran.clone();
    let run = move |Target { .. }: Target, _: Cx| {
        ran.note();
        async {}
    };
    Tool::new("target").handler(run).unwrap()
}

/// Creates a sound tool without parameters, which counts its runs.
pub(super) fn plain(ran: &Ran) -> Tool {
    let ran = ran.clone();
    let run = move |(), _: Cx| {
        ran.note();
        async {}
    };
    Tool::new("plain").handler(run).unwrap()
}

/// Creates the same tool, requiring approval.
pub(super) fn gated(ran: &Ran) -> Tool {
    plain(ran).set_needs_approval(ApprovalPolicy::always()).unwrap()
}

/// Creates a tool that emits a value and never ends.
pub(super) fn endless() -> Tool {
    let run = |(), cx: Cx| async move {
        cx.emit(mark(&cx, 0_u64)).await.unwrap();
        pending::<()>().await;
    };
    Tool::new("endless").handler(run).unwrap()
}

/// Creates a tool that emits this many values, waiting before each.
pub(super) fn talkative(count: u32, pause: Duration) -> Tool {
    let run = move |(), cx: Cx| async move {
        for n in 0..count {
            sleep(pause).await;
            cx.emit(mark(&cx, n)).await.unwrap();
        }
        count
    };
    Tool::new("talkative").handler(run).unwrap()
}

/// Creates a tool that returns this many values, counted from zero, waiting before each.
pub(super) fn counting(count: u32, pause: Duration) -> Tool {
    let run = move |(), _: Cx| Outputs::<_, NoFailure>::values(paced(count, pause));
    Tool::new("counting").stream_handler(run).unwrap()
}

/// Creates the same tool, which never ends.
pub(super) fn counting_for_ever(count: u32, pause: Duration) -> Tool {
    let run = move |(), _: Cx| Outputs::<_, NoFailure>::values(paced(count, pause).chain(stream::pending()));
    Tool::new("counting").stream_handler(run).unwrap()
}

fn paced(count: u32, pause: Duration) -> impl Stream<Item = u32> + Send {
    stream::iter(0..count).then(move |n| async move {
        sleep(pause).await;
        n
    })
}

/// The point at which a handler panics.
#[derive(Clone, Copy)]
pub(super) enum Panics {
    /// In the call, before there is a future.
    AtOnce,
    /// Before its first await.
    First,
    /// After it has emitted a value and waited.
    AfterProgress,
    /// With a payload that is not text.
    WithoutText,
    /// With a payload whose drop panics too.
    WithFragilePayload,
    /// In the drop of a local, when its value is already computed.
    AtTheEnd,
}

pub(super) fn panicking(panics: Panics) -> Tool {
    let run = move |(), cx: Cx| {
        assert!(!matches!(panics, Panics::AtOnce), "{SECRET}");
        async move {
            let _fragile = matches!(panics, Panics::AtTheEnd).then(|| Fragile);
            match panics {
                Panics::AtOnce | Panics::AtTheEnd => {}
                Panics::First => panic!("{SECRET}"),
                Panics::AfterProgress => {
                    cx.emit(mark(&cx, 0_u64)).await.unwrap();
                    sleep(ms(1)).await;
                    panic!("{SECRET}");
                }
                Panics::WithoutText => panic_any(7_u8),
                Panics::WithFragilePayload => panic_any(Fragile),
            }
        }
    };
    Tool::new("panicking").handler(run).unwrap()
}

/// A value that panics when it is dropped.
pub(super) struct Fragile;

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("{SECRET}");
    }
}

/// A future that never ends and panics when it is dropped.
struct FragileFuture(#[allow(dead_code, reason = "there to be dropped")] Fragile);

impl Future for FragileFuture {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

pub(super) fn never_ending_and_fragile() -> Tool {
    Tool::new("fragile").handler(|(), _: Cx| FragileFuture(Fragile)).unwrap()
}

/// Parameters that panic when they are deserialized.
#[derive(JsonSchema)]
struct Unreadable {}

impl<'de> Deserialize<'de> for Unreadable {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("{SECRET}");
    }
}

pub(super) fn with_unreadable_parameters() -> Tool {
    Tool::new("unreadable").handler(|Unreadable {}, _: Cx| async {}).unwrap()
}

/// A value that panics when it is serialized.
#[derive(JsonSchema)]
struct Unwritable {}

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("{SECRET}");
    }
}

pub(super) fn with_unwritable_result() -> Tool {
    Tool::new("unwritable").handler(|(), _: Cx| async { Unwritable {} }).unwrap()
}

/// Creates a permit that decides so for every tool but the healthy one.
pub(super) fn permit<P>(
    decide: impl Fn() -> P + Send + Sync + 'static,
) -> impl Fn(&Tool, &ToolCall, &Cx) -> haft_executor::Permitting + Send + Sync + 'static
where
    P: Into<haft_executor::Permitting>,
{
    move |tool, _, _| if tool.name() == "healthy" { Permission::Allowed.into() } else { decide().into() }
}

/// Creates an approver that answers every request with this decision.
pub(super) fn deciding(
    decision: ApprovalDecision,
    reason: &'static str,
) -> impl Fn(ApprovalRequest, Cx) -> Ready<Result<Verdict, BoxError>> + Send + Sync + 'static {
    move |request, _| ready(Ok(request.respond(decision.clone()).reason(reason)))
}

/// Creates the error that operators may read.
pub(super) fn secret_error() -> BoxError {
    SECRET.into()
}

/// A middleware that stops waiting for a call.
pub(super) struct TimeLimit(pub(super) Duration);

/// A middleware that runs a failed call once more.
pub(super) struct TryTwice;

impl Middleware for TimeLimit {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        match timeout(self.0, next.run(request)).await {
            Ok(outcome) => outcome,
            Err(_) => ToolFailure::new(FailureKind::TimedOut, format!("longer than {:?}", self.0)).into(),
        }
    }
}

impl Middleware for TryTwice {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let again = request.again();
        match next.run(request).await {
            Outcome::Failed(_) => next.run(again).await,
            outcome @ Outcome::Ok(_) => outcome,
        }
    }
}
