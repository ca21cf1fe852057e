//! The destination of a single call's progress.

use std::num::NonZeroUsize;

use haft_core::{FailureKind, ToolFailure};
use haft_executor::{
    Cancellation, Cx, DefinitionError, EmitBuffer, Emitted, ExecutionLimits, HandlerError, RunOptions, Tool,
};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::seconds;
use crate::executing::{calls, came, kit};

fn one() -> EmitBuffer {
    EmitBuffer::Bounded(NonZeroUsize::MIN)
}

/// Creates a tool that emits numbers, a preliminary result last.
fn chatty(limits: ExecutionLimits) -> Result<Tool, DefinitionError> {
    Tool::new("chatty").limits(limits).try_handler_mixed(|to: u32, cx: Cx| async move {
        for n in 0..to {
            cx.emit(n).await?;
        }
        cx.preliminary(to).await?;
        Ok::<_, HandlerError>(to)
    })
}

fn text(emitted: Emitted) -> String {
    match emitted {
        Emitted::Progress(data) => format!("progress {data}"),
        Emitted::Preliminary(value) => format!("preliminary {value}"),
        other => panic!("{other:?}"),
    }
}

/// There is no reader, and a queue of one is soon full: still nothing waits.
#[tokio::test(start_paused = true)]
async fn without_a_sink_progress_is_dropped_and_nothing_waits() {
    let small = ExecutionLimits::new().emit_buffer(one());
    for limits in [small.clone(), small.clone().timeout(seconds(5)), small.idle_timeout(seconds(5))] {
        let kit = kit([chatty(limits)]);
        let began = Instant::now();
        let call = &calls([("chatty", "1000")])[0];
        assert_eq!(kit.try_run_call(call, RunOptions::new()).await.unwrap().encoded.as_str(), "1000");
        assert_eq!(kit.try_run_call(call, RunOptions::new().spawned()).await.unwrap().encoded.as_str(), "1000");
        assert_eq!(came(&kit.run_call(call).await), "1000");
        assert_eq!(began.elapsed(), seconds(0));
    }
}

#[tokio::test]
async fn a_sink_gets_everything_in_order() {
    let (queue, mut reader) = mpsc::unbounded_channel();
    let kit = kit([chatty(ExecutionLimits::new().emit_buffer(one()))]);
    let result = kit.try_run_call(&calls([("chatty", "100")])[0], RunOptions::new().sink(queue)).await.unwrap();
    assert_eq!(result.encoded.as_str(), "100");
    let mut got = Vec::new();
    while let Some(emitted) = reader.recv().await {
        got.push(text(emitted));
    }
    let mut expected: Vec<_> = (0..100).map(|n| format!("progress {n}")).collect();
    expected.push("preliminary 100".to_owned());
    assert_eq!(got, expected, "and the queue ends with the call");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_the_sink_gets_everything_too() {
    let (queue, mut reader) = mpsc::channel(1);
    let reading = tokio::spawn(async move {
        let mut got = Vec::new();
        while let Some(emitted) = reader.recv().await {
            sleep(seconds(1)).await;
            got.push(text(emitted));
        }
        got
    });
    let options = RunOptions::new().sink(queue);
    let result = kit([chatty(ExecutionLimits::new())]).try_run_call(&calls([("chatty", "5")])[0], &options).await;
    drop(options);
    assert!(result.is_ok());
    assert_eq!(
        reading.await.unwrap(),
        ["progress 0", "progress 1", "progress 2", "progress 3", "progress 4", "preliminary 5"]
    );
}

#[tokio::test]
async fn a_sink_without_a_reader_blocks_nothing() {
    let (queue, reader) = mpsc::channel(1);
    drop(reader);
    let kit = kit([chatty(ExecutionLimits::new().emit_buffer(one()))]);
    let result = kit.try_run_call(&calls([("chatty", "100")])[0], RunOptions::new().sink(queue)).await;
    assert_eq!(result.unwrap().encoded.as_str(), "100");
}

/// The queue stays full: timeouts and cancellations work all the same.
#[tokio::test(start_paused = true)]
async fn a_sink_that_is_never_read_does_not_keep_a_call_from_ending() {
    let call = &calls([("chatty", "100")])[0];
    let (queue, _unread) = mpsc::channel(1);
    let full = RunOptions::new().sink(queue);

    let limited = kit([chatty(ExecutionLimits::new().emit_buffer(one()).timeout(seconds(3)))]);
    let began = Instant::now();
    let failure = limited.try_run_call(call, &full).await.unwrap_err();
    assert_eq!((failure.kind, began.elapsed()), (FailureKind::TimedOut, seconds(3)));

    let plain = kit([chatty(ExecutionLimits::new().emit_buffer(one()))]);
    let failure = plain.try_run_call(call, full.clone().timeout(seconds(2))).await.unwrap_err();
    assert_eq!((failure.kind, began.elapsed()), (FailureKind::TimedOut, seconds(5)));

    let flag = Cancellation::new();
    let cancel = flag.clone();
    let options = full.cancellation(flag);
    let cancelling = async move {
        sleep(seconds(1)).await;
        cancel.cancel();
    };
    let (failure, ()) = tokio::join!(plain.try_run_call(call, &options), cancelling);
    assert_eq!((failure.unwrap_err().kind, began.elapsed()), (FailureKind::Cancelled, seconds(6)));
}

/// A failure that the handler itself calls `timed_out` is an ordinary result: values emitted before it are delivered.
#[tokio::test(start_paused = true)]
async fn a_handlers_own_timed_out_failure_loses_no_progress() {
    let tool = Tool::new("t").try_handler_mixed(|(), cx: Cx| async move {
        for n in 0..3 {
            cx.emit(n).await?;
        }
        let late = ToolFailure::new(FailureKind::TimedOut, "the other side did not answer");
        Err::<(), _>(HandlerError::<String>::opaque(late))
    });
    let (queue, mut reader) = mpsc::channel(1);
    let reading = tokio::spawn(async move {
        let mut got = Vec::new();
        while let Some(emitted) = reader.recv().await {
            sleep(seconds(1)).await;
            got.push(text(emitted));
        }
        got
    });
    let options = RunOptions::new().sink(queue);
    let failure = kit([tool]).try_run_call(&calls([("t", "")])[0], &options).await.unwrap_err();
    drop(options);
    assert_eq!(failure.message, "the other side did not answer");
    assert_eq!(reading.await.unwrap(), ["progress 0", "progress 1", "progress 2"]);
}

/// A run of many calls has events; its options may still carry a sink for single calls.
#[tokio::test]
async fn a_run_of_many_ignores_the_sink() {
    let (queue, mut reader) = mpsc::unbounded_channel::<Emitted>();
    let kit = kit([chatty(ExecutionLimits::new())]);
    let run = kit.run_with(calls([("chatty", "1")]), RunOptions::new().sink(queue));
    let events = crate::executing::tell(run).await;
    assert_eq!(events, ["c1 progress 0", "c1 preliminary 1", "c1 output 1"]);
    assert!(reader.recv().await.is_none());
}
