//! Values that a handler emits before it ends.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ToolCall, ToolEvent};
use haft_executor::{Cx, DefinitionError, EmitBuffer, ExecutionLimits, HandlerError, RunOptions, Tool, Toolkit};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::executing::{calls, kit, tell};

#[tokio::test]
async fn every_value_is_an_event_in_order_and_the_output_comes_last() {
    let count = Tool::new("count").try_handler_mixed(|to: u32, cx: Cx| async move {
        for n in 1..=to {
            cx.emit(n).await?;
        }
        cx.progress(1.0, 2.0, "half").await?;
        Ok::<_, HandlerError>("counted")
    });
    let events: Vec<_> = kit([count]).run(calls([("count", "3")])).collect().await;
    let seqs: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress { seq, data, tool, index, .. } => {
                assert_eq!((tool.as_str(), *index), ("count", 0));
                Some((*seq, data.to_value()))
            }
            _ => None,
        })
        .collect();
    let half = json!({"done": 1.0, "total": 2.0, "message": "half"});
    assert_eq!(seqs, [(0, json!(1)), (1, json!(2)), (2, json!(3)), (3, half)]);
    assert_eq!(events.len(), 5);
    assert_eq!(events[4].result().unwrap().value().unwrap().as_str(), "\"counted\"");
}

/// The inner run's events are forwarded one by one while their texts are folded into the answer.
#[tokio::test]
async fn a_sub_agents_events_flow_through_and_fold_into_the_answer() {
    let inner = kit([Tool::new("say").try_handler_mixed(|word: String, cx: Cx| async move {
        cx.emit(json!({"delta": word})).await?;
        Ok::<_, HandlerError>(word)
    })]);
    let ask = Tool::new("ask_subagent").try_handler_mixed(move |question: String, cx: Cx| {
        let inner = inner.clone();
        async move {
            let words = question.split(' ').enumerate();
            let calls = words.map(|(n, word)| ToolCall::new(format!("w{n}"), "say", json!(word).to_string()));
            let mut events = inner.run_with(calls.collect::<Vec<_>>(), RunOptions::new().concurrency(1));
            let mut answer = String::new();
            while let Some(event) = events.next().await {
                if let ToolEvent::Progress { data, .. } = &event {
                    answer.push_str(data.to_value()["delta"].as_str().unwrap_or_default());
                }
                cx.emit(&event).await?;
            }
            Ok::<_, HandlerError>(answer)
        }
    });
    let events: Vec<_> = kit([ask]).run(calls([("ask_subagent", r#""who are you""#)])).collect().await;
    let types: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ToolEvent::Progress { data, .. } => Some(data.to_value()["type"].as_str().unwrap().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(types, ["progress", "output", "progress", "output", "progress", "output"]);
    assert_eq!(events[6].result().unwrap().value().unwrap().as_str(), "\"whoareyou\"");
}

#[tokio::test(start_paused = true)]
async fn events_are_emitted_while_the_handler_runs() {
    let slow = Tool::new("slow").try_handler_mixed(|(), cx: Cx| async move {
        cx.emit("started").await?;
        sleep(Duration::from_secs(5)).await;
        Ok::<_, HandlerError>("done")
    });
    let began = Instant::now();
    let mut run = kit([slow]).run(calls([("slow", "")]));
    let first = run.next().await.unwrap();
    assert!(matches!(first, ToolEvent::Progress { .. }));
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert!(run.next().await.unwrap().result().unwrap().is_ok());
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn values_emitted_before_a_failure_are_delivered() {
    let fails = Tool::new("fails").try_handler_mixed(|(), cx: Cx| async move {
        cx.emit(1).await?;
        cx.emit(2).await?;
        Err::<(), _>(HandlerError::Declared("out of luck"))
    });
    let panics = Tool::new("panics").handler(|(), cx: Cx| async move {
        cx.emit(1).await.unwrap();
        assert!(cx.is_cancelled(), "a handler that breaks");
    });
    let run = kit([fails, panics]).run_with(calls([("fails", ""), ("panics", "")]), RunOptions::new().concurrency(1));
    assert_eq!(
        tell(run).await,
        ["c1 progress 1", "c1 progress 2", "c1 output tool_failed", "c2 progress 1", "c2 output execution_error"]
    );
}

/// Creates a tool that emits a hundred values and counts those that entered the queue.
fn chatty(buffer: Option<EmitBuffer>, sent: &Arc<AtomicUsize>) -> Result<Tool, DefinitionError> {
    let sent = Arc::clone(sent);
    let builder = Tool::new("chatty");
    let builder = match buffer {
        Some(buffer) => builder.limits(ExecutionLimits::new().emit_buffer(buffer)),
        None => builder,
    };
    builder.try_handler_mixed(move |(), cx: Cx| {
        let sent = Arc::clone(&sent);
        async move {
            for n in 0..100 {
                cx.emit(n).await?;
                sent.fetch_add(1, Ordering::Relaxed);
            }
            Ok::<_, HandlerError>(())
        }
    })
}

async fn runs_ahead_by(buffer: Option<EmitBuffer>, ahead: usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let mut run = kit([chatty(buffer, &sent)]).run(calls([("chatty", "")]));
    assert!(run.next().await.is_some());
    assert_eq!(sent.load(Ordering::Relaxed), ahead, "{buffer:?}");
    assert!(run.next().await.is_some());
    assert_eq!(sent.load(Ordering::Relaxed), (ahead + 1).min(100), "{buffer:?}");
    assert_eq!(run.count().await, 99);
    assert_eq!(sent.load(Ordering::Relaxed), 100);
}

/// Counted without the runtime's own limit on the steps of a task.
#[tokio::test]
async fn a_handler_runs_ahead_of_its_reader_by_its_queue_and_no_further() {
    let bounded = |size| Some(EmitBuffer::Bounded(NonZeroUsize::new(size).unwrap()));
    for (buffer, ahead) in [(bounded(1), 1), (bounded(7), 7), (None, 64), (Some(EmitBuffer::Unbounded), 100)] {
        tokio::task::unconstrained(runs_ahead_by(buffer, ahead)).await;
    }
}

/// A full queue affects one call: the others continue.
#[tokio::test]
async fn a_call_that_waits_for_its_reader_blocks_no_other() {
    let sent = Arc::new(AtomicUsize::new(0));
    let one = EmitBuffer::Bounded(NonZeroUsize::MIN);
    let kit: Toolkit = kit([chatty(Some(one), &sent), super::says("quick", "quick")]);
    let run = kit.run(calls([("chatty", ""), ("quick", "")]));
    let told = tell(run).await;
    assert_eq!(told.len(), 102);
    assert!(told[..3].contains(&"c2 output \"quick\"".to_owned()), "{:?}", &told[..3]);
    assert_eq!(told[101], "c1 output null");
}
