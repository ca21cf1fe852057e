//! Tracing spans and events of calls.

mod recorder;

use std::time::Duration;

use futures_util::FutureExt;
use haft_core::{ToolCall, ToolFailure};
use haft_executor::{Cx, ExecutionLimits, HandlerError, OutputCap, Permission, RunOptions, Tool, Toolkit};
use tokio::time::sleep;

use self::recorder::{Recorder, Seen, SpanRecord};
use crate::executing::{calls, kit};

/// Runs one call of a toolkit in every way, each once.
async fn every_way(kit: &Toolkit, call: &ToolCall) {
    kit.run_call(call).await;
    kit.run_call_with(call, RunOptions::new().concurrency(1)).await;
    let _ = kit.try_run_call(call, RunOptions::new()).await;
    kit.run([call]).collect_results().await;
    kit.run_with([call], RunOptions::new().spawned()).collect_results().await;
}

const WAYS: usize = 5;

fn double() -> Toolkit {
    kit([Tool::new("double").describe("Twice a number.").handler(|n: i64, _cx| async move { n.wrapping_mul(2) })])
}

#[tokio::test]
async fn a_call_is_a_span_by_the_conventions() {
    let (kit, call) = (double(), ToolCall::new("call_7", "double", "21"));
    let seen = Recorder::watch(every_way(&kit, &call)).await;
    assert_eq!(seen.spans.len(), WAYS);
    for span in &seen.spans {
        assert_eq!((span.name, span.target, span.level), ("execute_tool", "haft", tracing::Level::INFO));
        for (field, value) in [
            ("otel.name", "execute_tool double"),
            ("otel.kind", "internal"),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "double"),
            ("gen_ai.tool.type", "function"),
            ("gen_ai.tool.call.id", "call_7"),
        ] {
            assert_eq!(span.at_start(field), Some(value), "{field}");
        }
        assert_eq!(span.get("error.type"), None);
        assert_eq!(span.get("otel.status_code"), None);
        assert!(span.is_closed);
    }
}

/// Exporters take a span's end from when it is closed: the span lasts as long as its call, not as long as the run.
#[tokio::test]
async fn a_span_is_closed_when_its_call_is_done_and_not_with_the_run() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let kit = kit([
            Tool::new("quick").handler(|(), _cx| async {}),
            Tool::new("endless").handler(|(), _cx| std::future::pending::<()>()),
        ]);
        let recorder = Recorder::default();
        let closed = recorder.clone();
        recorder
            .watching(async {
                let mut run = kit.run_with(calls([("quick", ""), ("endless", "")]), options);
                assert_eq!(run.next().await.unwrap().index(), 0);
                tokio::task::yield_now().await;
                assert_eq!(closed.closed(), [true, false]);
            })
            .await;
    }
}

#[tokio::test]
async fn a_blocking_handler_is_inside_its_span() {
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let recorder = Recorder::default();
        let kit = kit([Tool::new("block").blocking_handler(|(), _cx| ())]);
        let run = kit.run_with(calls([("block", "")]), options);
        let seen = recorder.watching(run.collect_results()).await;
        assert!(seen.spans[0].is_closed);
        assert_eq!(seen.spans[0].threads.len(), 2, "where it is polled, and where it runs");
    }
}

#[tokio::test]
async fn a_providers_tool_is_an_extension() {
    let kit = kit([Tool::provider("vendor.search").with_args(()).define()]);
    let seen = Recorder::watch(kit.run(calls([("search", "{}")])).collect_results()).await;
    assert_eq!(seen.spans[0].get("gen_ai.tool.type"), Some("extension"));
    assert_eq!(seen.spans[0].get("error.type"), Some("non_local_tool"));
}

fn failing() -> Toolkit {
    kit([
        Tool::new("declared").try_handler(|_: u8, _cx| async { Err::<(), _>("sold out") }),
        Tool::new("broken").try_handler_opaque(|_: u8, _cx| async { Err::<(), _>("a wire is loose") }),
        Tool::new("panics").handler(|_: u8, cx: Cx| async move { assert!(cx.is_cancelled(), "a handler that breaks") }),
        Tool::new("own_kind").try_handler_mixed(|_: u8, _cx| async {
            Err::<(), HandlerError>(HandlerError::opaque(ToolFailure::new("busy", "later")))
        }),
        Tool::new("fine").handler(|n: u8, _cx| async move { n }),
        Tool::signal("signal").define(),
    ])
}

#[tokio::test]
async fn a_failure_is_recorded_by_its_kind() {
    let kit = failing();
    for (name, arguments, kind, started) in [
        ("declared", "1", "tool_failed", "true"),
        ("broken", "1", "execution_error", "true"),
        ("panics", "1", "execution_error", "true"),
        ("own_kind", "1", "busy", "true"),
        ("fine", "300", "input_validation_error", "false"),
        ("signal", "{}", "non_local_tool", "false"),
    ] {
        let call = ToolCall::new("c1", name, arguments);
        let seen = Recorder::watch(every_way(&kit, &call)).await;
        assert_eq!(seen.spans.len(), WAYS, "{name}");
        for span in &seen.spans {
            assert_eq!(span.get("error.type"), Some(kind), "{name}");
            assert_eq!(span.get("otel.status_code"), Some("ERROR"), "{name}");
            assert_eq!(span.get("haft.started"), Some(started), "{name}");
        }
        assert_eq!(seen.events.len(), WAYS, "{name}");
        assert!(seen.events.iter().all(|event| event.inside.is_some()), "inside of its span");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_has_its_metrics_once() {
    let kit = kit([
        Tool::new("slow").handler(|(), _cx| async { sleep(Duration::from_secs(2)).await }),
        Tool::new("broken").try_handler(|(), _cx| async { Err::<(), _>("no") }),
    ]);
    let run = kit.run_with(
        calls([("slow", ""), ("broken", ""), ("slow", ""), ("made_up", "")]),
        RunOptions::new().concurrency(1),
    );
    let seen = Recorder::watch(run.collect_results()).await;
    let told: Vec<_> = ["gen_ai.tool.name", "error.type", "monotonic_counter.haft.tool.failures"]
        .map(|field| seen.metrics.iter().map(|metric| metric.get(field).unwrap_or("-")).collect::<Vec<_>>().join(" "))
        .into();
    // The first is rejected before anything waits; the others are recorded as they end. A name that a model invented
    // is not used in metrics.
    assert_eq!(told, ["- slow broken slow", "unknown_tool - tool_failed -", "1 - 1 -"]);
    let seconds = |field| seen.metrics.iter().map(|metric| metric.get(field).unwrap()).collect::<Vec<_>>();
    assert_eq!(seconds("histogram.haft.tool.queue_seconds"), ["0.0", "0.0", "2.0", "2.0"]);
    assert_eq!(seconds("histogram.haft.tool.run_seconds"), ["0.0", "2.0", "0.0", "2.0"]);
    assert!(seen.metrics.iter().all(|metric| metric.get("monotonic_counter.haft.tool.calls") == Some("1")));
    assert!(seen.metrics.iter().all(|metric| metric.inside.is_some()), "inside of its span");
}

/// The operator reads the cause, the model doesn't.
#[tokio::test]
async fn the_cause_is_recorded_with_the_failure() {
    let seen = Recorder::watch(failing().run(calls([("broken", "1")])).collect_results()).await;
    assert_eq!(seen.events[0].get("cause"), Some("a wire is loose"));
    assert_eq!(seen.events[0].get("kind"), Some("execution_error"));
}

#[tokio::test]
async fn the_rule_of_a_denial_is_recorded() {
    for (permission, rule, cause) in [
        (
            Permission::denied("no").by_rule("office-hours"),
            Some("office-hours"),
            Some("denied by the rule `office-hours`"),
        ),
        (Permission::denied("no"), None, None),
    ] {
        let options = RunOptions::new().permit(move |_: &Tool, _: &ToolCall, _: &Cx| permission.clone());
        let seen = Recorder::watch(double().run_with(calls([("double", "1")]), options).collect_results()).await;
        assert_eq!(seen.spans[0].get("error.type"), Some("permission_denied"));
        assert_eq!(seen.spans[0].get("haft.rule"), rule);
        let failed = seen.events.iter().find(|event| event.get("kind").is_some()).unwrap();
        assert_eq!(failed.get("cause"), cause);
        let denied = seen.events.iter().find(|event| event.get("kind").is_none()).unwrap();
        assert_eq!((denied.get("tool"), denied.get("rule")), (Some("double"), rule), "the audit record");
    }
}

/// The cause that is worth knowing is often further down.
#[tokio::test]
async fn the_cause_is_recorded_down_to_its_root() {
    let root = ToolFailure::new("root", "disk full");
    let middle = ToolFailure::new("middle", "no write").cause(root);
    let deep = Tool::new("deep").try_handler_opaque(move |(), _cx| {
        let failure = ToolFailure::new("outer", "later").cause(middle.clone());
        async move { Err::<(), _>(failure) }
    });
    let kit = kit([deep]);
    let seen = Recorder::watch(every_way(&kit, &ToolCall::new("c1", "deep", ""))).await;
    assert_eq!(seen.events.len(), WAYS);
    for event in &seen.events {
        assert_eq!(event.get("cause"), Some("middle: no write: root: disk full"));
    }
}

/// The calls of a run that was never polled are cancelled as those of any other dropped run.
#[tokio::test]
async fn calls_of_a_run_that_was_never_polled_are_recorded() {
    let kit = double();
    let seen = Recorder::watch(async { drop(kit.run(calls([("double", "1"), ("missing", "2")]))) }).await;
    let names: Vec<_> = seen.spans.iter().map(|span| span.at_start("gen_ai.tool.name")).collect();
    assert_eq!(names, [Some("double"), Some("missing")]);
    for (span, id) in seen.spans.iter().zip(["c1", "c2"]) {
        assert_eq!((span.name, span.at_start("gen_ai.tool.call.id")), ("execute_tool", Some(id)));
        assert_eq!(span.get("error.type"), Some("cancelled"));
        assert_eq!(span.get("otel.status_code"), Some("ERROR"));
        assert_eq!(span.get("haft.started"), Some("false"));
        assert!(span.is_closed);
    }
    let told: Vec<_> = seen.events.iter().map(|event| (event.get("kind"), event.inside)).collect();
    assert_eq!(told, [(Some("cancelled"), Some(1)), (Some("cancelled"), Some(2))]);

    let seen = Recorder::deaf_to("haft").watching(async { drop(kit.run(calls([("double", "1")]))) }).await;
    assert!(seen.spans.is_empty() && seen.events.is_empty());
}

#[tokio::test(start_paused = true)]
async fn rejections_timeouts_and_cancellations_are_recorded() {
    let no = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("no");
    let seen =
        Recorder::watch(failing().run_with(calls([("fine", "1")]), RunOptions::new().permit(no)).collect_results())
            .await;
    assert_eq!(seen.spans[0].get("error.type"), Some("permission_denied"));

    let stuck = kit([Tool::new("stuck").handler(|(), _cx| std::future::pending::<()>())]);
    let late = stuck.run_with(calls([("stuck", "")]), RunOptions::new().timeout(Duration::from_millis(1)));
    let seen = Recorder::watch(late.collect_results()).await;
    assert_eq!(seen.spans[0].get("error.type"), Some("timed_out"));

    let mut dropped = stuck.run(calls([("stuck", ""), ("stuck", "")]));
    let seen = Recorder::watch(async move {
        assert!(dropped.next().now_or_never().is_none());
        drop(dropped);
    })
    .await;
    assert_eq!(seen.spans.len(), 2);
    for span in &seen.spans {
        assert_eq!(span.get("error.type"), Some("cancelled"));
        assert!(span.is_closed);
    }
}

/// A value beyond its cap is a failure to the reader, and must be recorded as one for the operator.
#[tokio::test]
async fn an_output_beyond_its_cap_is_recorded_as_a_failure() {
    let cap = OutputCap::new(3.try_into().unwrap());
    let kit =
        kit([Tool::new("long").limits(ExecutionLimits::new().output_cap(cap)).handler(|(), _cx| async { "too long" })]);
    let call = &calls([("long", "")])[0];
    let seen = Recorder::watch(async {
        assert_eq!(kit.run([call]).collect_results().await[0].failure().unwrap().kind.as_str(), "output_too_large");
        assert_eq!(kit.run_call(call).await.failure().unwrap().kind.as_str(), "output_too_large");
    })
    .await;
    assert_eq!(seen.spans.len(), 2);
    for span in &seen.spans {
        assert_eq!(span.get("error.type"), Some("output_too_large"));
    }
}

#[tokio::test]
async fn arguments_and_results_are_not_recorded_by_default() {
    let secret = "hunter2-hunter2";
    let kit = kit([
        Tool::new("echo").handler(|text: String, _cx| async move { text }),
        Tool::new("fails").try_handler(|text: String, _cx| async move { Err::<(), _>(text) }),
        Tool::new("number").handler(|n: i64, _cx| async move { n }),
    ]);
    for name in ["echo", "fails", "number", secret] {
        let call = ToolCall::new("c1", name, format!("{secret:?}")).metadata("note", secret);
        let seen = Recorder::watch(every_way(&kit, &call)).await;
        assert!(seen.spans.len() + usize::from(name == secret) > 0);
        let recorded = seen.spans.iter().flat_map(|span| &span.fields);
        let told = seen.events.iter().flat_map(|event| &event.fields);
        for (field, value) in recorded.chain(told) {
            assert!(!value.contains(secret) || name == secret, "{name}: {field} is {value}");
        }
        for span in &seen.spans {
            assert_eq!(span.get("gen_ai.tool.call.arguments"), None);
            assert_eq!(span.get("gen_ai.tool.call.result"), None);
        }
    }
}

/// Calls that run beside each other: whatever a handler traces is inside of its own call's span.
#[tokio::test]
async fn each_handler_runs_inside_of_its_own_span() {
    let chatty = || {
        kit([Tool::new("chatty").handler(|n: u8, cx: Cx| async move {
            for step in 0..3_u8 {
                tracing::info!(target: "app", call = cx.call_id().as_str(), step, n);
                tokio::task::yield_now().await;
            }
        })])
    };
    let four = || calls([("chatty", "1"), ("chatty", "2"), ("chatty", "3"), ("chatty", "4")]);
    let inline = Recorder::watch(chatty().run(four()).collect_results()).await;
    let spawned = Recorder::watch(chatty().run_with(four(), RunOptions::new().spawned()).collect_results()).await;
    let single = Recorder::watch(async {
        for call in four() {
            chatty().run_call(&call).await;
        }
    })
    .await;
    for seen in [inline, spawned, single] {
        assert_eq!(seen.spans.len(), 4);
        assert_eq!(seen.events.len(), 12);
        for event in &seen.events {
            let span = seen.span(event.inside.unwrap());
            assert_eq!(event.get("call"), span.get("gen_ai.tool.call.id"));
        }
        assert_entered_and_left(&seen);
    }
}

fn assert_entered_and_left(seen: &Seen) {
    for SpanRecord { entered, left, is_closed, .. } in &seen.spans {
        assert!(*entered > 0);
        assert_eq!(entered, left);
        assert!(is_closed);
    }
}

#[tokio::test]
async fn a_handlers_panic_leaves_its_span() {
    let seen = Recorder::watch(every_way(&failing(), &ToolCall::new("c1", "panics", "1"))).await;
    assert_eq!(seen.spans.len(), WAYS);
    assert_entered_and_left(&seen);
}

#[tokio::test(start_paused = true)]
async fn waiting_and_running_are_recorded_separately() {
    let slow = kit([Tool::new("slow").handler(|(), _cx| sleep(Duration::from_secs(2)))]);
    let run = slow.run_with(calls([("slow", ""), ("slow", "")]), RunOptions::new().concurrency(1));
    let seen = Recorder::watch(run.collect_results()).await;
    let times = |span: &SpanRecord| {
        ["haft.queue_seconds", "haft.run_seconds"].map(|field| {
            let seconds: f64 = span.get(field).unwrap().parse().unwrap();
            format!("{seconds:.0}")
        })
    };
    assert_eq!(times(&seen.spans[0]), ["0", "2"]);
    assert_eq!(times(&seen.spans[1]), ["2", "2"]);
}

/// The call's span is a child of the span in which the run is polled.
#[tokio::test]
async fn a_call_is_traced_below_the_current_span() {
    let kit = double();
    let seen = Recorder::watch(async {
        let turn = tracing::info_span!(target: "app", "turn").entered();
        let mut run = kit.run(calls([("double", "1")]));
        assert!(run.next().now_or_never().is_some());
        drop(turn);
    })
    .await;
    let turn = seen.spans.iter().find(|span| span.name == "turn").unwrap();
    let call = seen.spans.iter().find(|span| span.name == "execute_tool").unwrap();
    assert_eq!(call.parent, Some(turn.id));
}

#[tokio::test]
async fn a_disabled_subscriber_receives_nothing() {
    let (kit, call) = (double(), ToolCall::new("c1", "double", "21"));
    let seen = Recorder::watch(async {}).await;
    every_way(&kit, &call).await;
    assert!(seen.spans.is_empty() && seen.events.is_empty());

    let deaf = Recorder::deaf_to("haft");
    let seen = deaf.watching(every_way(&kit, &call)).await;
    assert!(seen.spans.is_empty() && seen.events.is_empty());
    assert_eq!(kit.run([&call]).collect_results().await[0].value().unwrap().as_str(), "42");
}
