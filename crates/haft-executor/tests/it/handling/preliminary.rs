//! Preliminary results.

use futures_util::{StreamExt, stream};
use haft_core::{ToolCall, ToolEvent};
use haft_executor::{
    Cx, DefinitionError, ExecutionLimits, FailureMode, HandlerError, HandlerOutput, Outputs, RunOptions, Tool,
};
use tokio::time::{Instant, sleep};

use super::{MODES, in_mode, items, seconds};
use crate::executing::{calls, came, kit, tell};
use crate::running::alone;

/// Creates a tool that returns the numbers before the last one as preliminary results, and the last one as the final
/// one.
fn count() -> Result<Tool, DefinitionError> {
    Tool::new("count").stream_handler(|to: u32, _cx| Outputs::<_>::values(stream::iter(1..=to)))
}

#[tokio::test]
async fn preliminary_results_come_first_in_order_and_the_final_one_last() {
    let kit = kit([count()]);
    assert_eq!(items(kit.try_run_call(&calls([("count", "1")])[0], RunOptions::new())).await, ["final 1"]);
    assert_eq!(items(kit.try_run_call(&calls([("count", "2")])[0], RunOptions::new())).await, ["early 1", "final 2"]);
    let four = items(kit.try_run_call(&calls([("count", "4")])[0], RunOptions::new())).await;
    assert_eq!(four, ["early 1", "early 2", "early 3", "final 4"]);
}

#[tokio::test]
async fn a_caller_of_a_single_result_gets_the_final_one() {
    let result = kit([count()]).try_run_call(&calls([("count", "4")])[0], RunOptions::new()).await.unwrap();
    assert!(!result.preliminary);
    assert_eq!(result.encoded.as_str(), "4");
}

#[tokio::test]
async fn a_preliminary_result_names_its_call() {
    let mut stream = kit([count()]).try_run_call(ToolCall::new("c9", "count", "2"), RunOptions::new());
    let early = stream.next().await.unwrap().unwrap();
    assert!(early.preliminary && !early.is_failure);
    assert_eq!(early.result.call_id, "c9");
    assert_eq!(early.result.tool, "count");
    assert_eq!(early.result.value().unwrap().as_str(), "1");
}

#[tokio::test]
async fn progress_is_no_preliminary_result() {
    let tool = Tool::new("t").try_handler_mixed(|(), cx: Cx| async move {
        cx.emit("just talking").await?;
        cx.preliminary(1).await?;
        cx.progress(1.0, None, "").await?;
        Ok::<_, HandlerError>(2)
    });
    assert_eq!(
        items(kit([tool]).try_run_call(&calls([("t", "")])[0], RunOptions::new())).await,
        ["early 1", "final 2"]
    );
}

/// A value that is held back, because it may be the last one, still resets the idle timeout, with or without a reader.
#[tokio::test(start_paused = true)]
async fn a_call_that_produces_values_is_not_idle() {
    let paced = Tool::new("paced").stream_handler(|to: u32, _cx| {
        Outputs::<_>::values(stream::iter(1..=to).then(|n| async move {
            sleep(seconds(2)).await;
            n
        }))
    });
    let limits = ExecutionLimits::new().idle_timeout(seconds(3));
    let (kit, call) = (kit([paced.unwrap().with_limits(limits)]), &calls([("paced", "3")])[0]);
    assert_eq!(items(kit.try_run_call(call, RunOptions::new())).await, ["early 1", "early 2", "final 3"]);
    assert_eq!(came(&kit.run_call(call).await), "3");
    assert_eq!(came(&kit.run_call_with(call, RunOptions::new().caller("ana")).await), "3");
    assert_eq!(came(&alone(kit.get("paced").unwrap()).run_call(call).await), "3");
}

/// Creates a tool that emits a value at once and ends after some seconds.
fn slow() -> Result<Tool, DefinitionError> {
    Tool::new("slow").try_handler_mixed(|takes: u64, cx: Cx| async move {
        cx.preliminary(0).await?;
        sleep(seconds(takes)).await;
        Ok::<_, HandlerError>(takes)
    })
}

#[tokio::test(start_paused = true)]
async fn a_preliminary_result_is_delivered_while_the_handler_runs() {
    let began = Instant::now();
    let mut stream = kit([slow()]).try_run_call(&calls([("slow", "5")])[0], RunOptions::new());
    assert!(stream.next().await.unwrap().unwrap().preliminary);
    assert_eq!(began.elapsed(), seconds(0));
    assert!(!stream.next().await.unwrap().unwrap().preliminary);
    assert_eq!(began.elapsed(), seconds(5));
    assert!(stream.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn two_calls_emit_preliminary_results_at_once_and_end_separately() {
    let began = Instant::now();
    let mut run = kit([slow()]).run(calls([("slow", "2"), ("slow", "1")]));
    let mut times = Vec::new();
    while let Some(event) = run.next().await {
        let what = if matches!(event, ToolEvent::Preliminary { .. }) { "early" } else { "final" };
        times.push((what, event.index(), began.elapsed().as_secs()));
    }
    assert_eq!(times, [("early", 0, 0), ("early", 1, 0), ("final", 1, 1), ("final", 0, 2)]);
}

#[tokio::test]
async fn preliminary_results_before_a_failure_are_delivered() {
    let fails = || {
        Tool::new("fails").stream_handler(|(), _cx| {
            let steps = [Ok(HandlerOutput::Preliminary(1)), Ok(HandlerOutput::Preliminary(2)), Err("sold out")];
            Outputs::try_new(stream::iter(steps))
        })
    };
    for (mode, last) in MODES.into_iter().zip(["error tool_failed", "failed \"sold out\""]) {
        let kit = kit([in_mode(fails(), mode)]);
        assert_eq!(
            items(kit.try_run_call(&calls([("fails", "")])[0], RunOptions::new())).await,
            ["early 1", "early 2", last]
        );
        let single = kit.try_run_call(&calls([("fails", "")])[0], RunOptions::new()).await;
        assert_eq!(single.is_err(), mode == FailureMode::Error);
        assert_eq!(
            tell(kit.run(calls([("fails", "")]))).await,
            ["c1 preliminary 1", "c1 preliminary 2", "c1 output tool_failed"]
        );
    }
}

/// A preliminary result is checked like a final one.
#[tokio::test]
async fn a_preliminary_result_that_breaks_the_schema_fails_the_call() {
    let tool = || {
        Tool::new("t").success::<u8>().try_handler_mixed(|(), cx: Cx| async move {
            cx.preliminary("not a number").await?;
            Ok::<_, HandlerError>(1)
        })
    };
    let strict = kit([in_mode(tool(), FailureMode::Error)]);
    assert_eq!(
        items(strict.try_run_call(&calls([("t", "")])[0], RunOptions::new())).await,
        ["error output_validation_error"]
    );
    let mild = kit([in_mode(tool(), FailureMode::Return)])
        .try_run_call(&calls([("t", "")])[0], RunOptions::new())
        .await
        .unwrap();
    assert_eq!(mild.failure_origin, Some(haft_executor::FailureOrigin::Result));
}
