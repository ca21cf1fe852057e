//! Middlewares observe and replace the values that a handler emits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use haft_core::ToolCall;
use haft_executor::{Cx, Emitted, ExecutionLimits, Middleware, Next, Outputs, Request, RunOptions, Tool, Toolkit};
use haft_schema::{JsonText, Schema, Validation};
use serde_json::json;
use tokio::time::sleep;

use super::WAYS;
use crate::executing::{calls, tell};

/// The handlers that emit `1` as progress and `2` as a preliminary result, in every form.
fn emitting() -> Vec<Tool> {
    let future = |(), cx: Cx| async move {
        cx.emit(1).await.unwrap();
        cx.preliminary(2).await.unwrap();
        3
    };
    let blocking = |(), cx: Cx| {
        cx.emit_blocking(1).unwrap();
        cx.preliminary_blocking(2).unwrap();
        3
    };
    let streaming = |(), cx: Cx| {
        let first = async move {
            cx.emit(1).await.unwrap();
            2
        };
        Outputs::<i32>::values(stream::once(first).chain(stream::iter([3])))
    };
    vec![
        Tool::new("t").handler(future).unwrap(),
        Tool::new("t").blocking_handler(blocking).unwrap(),
        Tool::new("t").stream_handler(streaming).unwrap(),
    ]
}

/// A middleware that passes emitted values through a function.
fn mapping(map: impl Fn(Emitted) -> Option<Emitted> + Clone + Send + Sync + 'static) -> impl Middleware {
    move |request: Request, next: Next| next.run(request.map_emissions(map.clone()))
}

/// A middleware that multiplies every value and adds to it.
fn affine(factor: i64, summand: i64) -> impl Middleware {
    let change = move |text: &JsonText| JsonText::from(json!(text.decode::<i64>().unwrap() * factor + summand));
    mapping(move |emitted| match emitted {
        Emitted::Progress(text) => Some(Emitted::Progress(change(&text))),
        Emitted::Preliminary(text) => Some(Emitted::Preliminary(change(&text))),
        _ => None,
    })
}

async fn events(tool: Tool) -> [Vec<String>; 2] {
    let kit: Toolkit = Toolkit::from_iter([tool]);
    [tell(kit.run(calls([("t", "")]))).await, tell(kit.run_with(calls([("t", "")]), RunOptions::new().spawned())).await]
}

#[tokio::test]
async fn every_value_passes_the_innermost_function_first() {
    for tool in emitting() {
        let expected = ["c1 progress 20", "c1 preliminary 30", "c1 output 3"];
        // First plus one, then times ten.
        assert_eq!(events(tool.wrap(affine(1, 1)).wrap(affine(10, 0))).await, [expected, expected]);
    }
}

#[tokio::test]
async fn a_dropped_value_reaches_no_outer_function_and_no_reader() {
    for tool in emitting() {
        let seen = Arc::<Mutex<Vec<Emitted>>>::default();
        let sees = Arc::clone(&seen);
        let no_progress = mapping(|emitted| (!matches!(emitted, Emitted::Progress(_))).then_some(emitted));
        let observes = mapping(move |emitted| {
            sees.lock().unwrap().push(emitted.clone());
            Some(emitted)
        });
        let expected = ["c1 preliminary 2", "c1 output 3"];
        assert_eq!(events(tool.wrap(no_progress).wrap(observes)).await, [expected, expected]);
        assert_eq!(*seen.lock().unwrap(), vec![Emitted::Preliminary(JsonText::from(json!(2))); 2]);
    }
}

#[tokio::test]
async fn a_function_that_panics_costs_the_value_alone() {
    for tool in emitting() {
        let panics = mapping(|emitted| match emitted {
            Emitted::Progress(_) => panic!("no progress"),
            other => Some(other),
        });
        let expected = ["c1 preliminary 2", "c1 output 3"];
        assert_eq!(events(tool.wrap(panics)).await, [expected, expected]);
    }
}

#[tokio::test]
async fn a_preliminary_that_the_tool_could_not_emit_is_dropped() {
    for tool in emitting() {
        let small = Schema::json_with(json!({"type": "integer", "maximum": 5}), Validation::Full).unwrap();
        let expected = ["c1 progress 100", "c1 output 3"];
        assert_eq!(events(tool.set_success(small).wrap(affine(100, 0))).await, [expected, expected]);
    }
}

#[tokio::test]
async fn functions_are_called_without_a_reader_too() {
    for tool in emitting() {
        for way in WAYS {
            let seen = Arc::<Mutex<Vec<Emitted>>>::default();
            let sees = Arc::clone(&seen);
            let observes = mapping(move |emitted| {
                sees.lock().unwrap().push(emitted);
                None
            });
            let kit: Toolkit = Toolkit::from_iter([tool.wrap(observes)]);
            assert!(way.run(&kit, &ToolCall::new("c1", "t", "")).await.is_ok());
            let expected =
                [Emitted::Progress(JsonText::from(json!(1))), Emitted::Preliminary(JsonText::from(json!(2)))];
            assert_eq!(*seen.lock().unwrap(), expected, "{way:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_value_is_still_a_sign_of_progress() {
    let talks = |(), cx: Cx| async move {
        for step in 0..5 {
            sleep(Duration::from_millis(29)).await;
            cx.emit(step).await.unwrap();
        }
    };
    let limits = ExecutionLimits::new().idle_timeout(Duration::from_millis(30));
    let tool = Tool::new("t").handler(talks).unwrap().wrap(mapping(|_| None)).with_limits(limits).unwrap();
    assert_eq!(events(tool).await, [["c1 output null"], ["c1 output null"]]);
}

#[tokio::test]
async fn each_attempt_has_the_functions_of_its_own_request() {
    let counts = Arc::<Mutex<Vec<u32>>>::default();
    let counted = Arc::clone(&counts);
    let twice = move |request: Request, next: Next| {
        let counted = Arc::clone(&counted);
        let watch = move |request: Request| {
            let (attempt, counted) = (request.attempt(), Arc::clone(&counted));
            request.map_emissions(move |emitted| {
                counted.lock().unwrap().push(attempt);
                Some(emitted)
            })
        };
        async move {
            let again = request.again();
            next.run(watch(request)).await;
            next.run(watch(again)).await
        }
    };
    let tool = emitting().remove(0).wrap(twice);
    let kit: Toolkit = Toolkit::from_iter([tool]);
    assert!(kit.run_call(&ToolCall::new("c1", "t", "")).await.is_ok());
    assert_eq!(*counts.lock().unwrap(), [1, 1, 2, 2]);
}
