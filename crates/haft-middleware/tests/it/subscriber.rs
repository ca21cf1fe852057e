//! A tracing subscriber is user code: one that panics loses no traced call's result.

#[path = "../../../haft-executor/tests/it/isolated_drop/subscriber/broken.rs"]
mod broken;

use haft_core::{ToolCall, ToolResult};
use haft_executor::{Cx, RunOptions, Tool, Toolkit};
use haft_middleware::Trace;

use self::broken::{PANICKING_METHODS, listening};

fn kit() -> Toolkit {
    let waits = |n: u32, _: Cx| async move {
        tokio::task::yield_now().await;
        n
    };
    let fails = |_: u32, _: Cx| async { Err::<(), _>("no") };
    let panics = |_: u32, _: Cx| async { panic!("the handler") };
    let tools = [
        Tool::new("plain").handler(|n: u32, _: Cx| async move { n }).unwrap(),
        Tool::new("waits").handler(waits).unwrap(),
        Tool::new("blocks").blocking_handler(|n: u32, _: Cx| n).unwrap(),
        Tool::new("fails").try_handler_opaque(fails).unwrap(),
        Tool::new("panics").handler::<_, (), _, _>(panics).unwrap(),
    ];
    Toolkit::from_iter(tools).wrap(Trace::new().with_content())
}

fn calls() -> impl Iterator<Item = ToolCall> {
    ["plain", "waits", "blocks", "fails", "panics"].into_iter().map(|name| ToolCall::new(name, name, "7"))
}

fn assert_expected(result: &ToolResult) {
    if ["fails", "panics"].contains(&result.tool.as_str()) {
        assert!(result.failure().is_some(), "{result:?}");
    } else {
        assert_eq!(result.to_model_text(), "7");
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_run() {
    for method in PANICKING_METHODS {
        for options in [RunOptions::new(), RunOptions::new().spawned()] {
            listening(method, async {
                let results = kit().run_with(calls(), options).collect_results().await;
                assert_eq!(results.len(), 5);
                results.iter().for_each(assert_expected);
            })
            .await;
        }
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_loses_no_result_of_a_single_call() {
    for method in PANICKING_METHODS {
        listening(method, async {
            let kit = kit();
            for call in calls() {
                assert_expected(&kit.run_call(&call).await);
            }
        })
        .await;
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_does_not_reach_the_drop_of_a_run() {
    for method in PANICKING_METHODS {
        listening(method, async {
            drop(kit().run(calls()));
            let mut run = kit().run(calls());
            assert!(run.next().await.is_some());
            drop(run);
        })
        .await;
    }
}
