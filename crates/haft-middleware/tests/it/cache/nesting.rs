//! Calls that are made from inside of a cached call never wait for themselves.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use haft_core::{Idempotent, Readonly, ToolCall, ToolResult};
use haft_executor::{Cx, RunOptions, Tool, Toolkit};
use haft_middleware::Cache;
use tokio::time::timeout;

/// The toolkit through which handlers make calls.
type Shared = Arc<OnceLock<Toolkit>>;

/// The way in which a handler makes its call.
#[derive(Clone, Copy, Debug)]
enum By {
    RunCall,
    Run,
    SpawnedRun,
}

/// A tool that makes one call to another when it first runs, and returns the number of earlier runs.
fn calling(name: &'static str, called: &'static str, by: By, kit: &Shared) -> Tool {
    let (kit, runs) = (Arc::clone(kit), Arc::<AtomicUsize>::default());
    let run = move |(), _: Cx| {
        let (kit, before) = (Arc::clone(&kit), runs.fetch_add(1, Ordering::SeqCst));
        async move {
            tokio::task::yield_now().await;
            if before == 0 {
                let (kit, call) = (kit.get().unwrap(), ToolCall::new("inner", called, ""));
                let result = match by {
                    By::RunCall => kit.run_call(&call).await,
                    By::Run => kit.run([call]).collect_results().await.remove(0),
                    By::SpawnedRun => {
                        kit.run_with([call], RunOptions::new().spawned()).collect_results().await.remove(0)
                    }
                };
                assert!(result.is_ok(), "{result:?}");
            }
            before
        }
    };
    Tool::new(name).annotate(Readonly(true)).annotate(Idempotent(true)).handler(run).unwrap()
}

fn kit(tools: impl IntoIterator<Item = Tool>, shared: &Shared) -> Toolkit {
    let kit: Toolkit = Toolkit::from_iter(tools).wrap(Cache::new(Duration::from_secs(60)));
    shared.set(kit.clone()).unwrap();
    kit
}

async fn run(kit: &Toolkit, name: &str, options: RunOptions) -> ToolResult {
    let run = kit.run_with([ToolCall::new("outer", name, "")], options).collect_results();
    timeout(Duration::from_secs(60), run).await.unwrap_or_else(|_| panic!("the call waits for itself")).remove(0)
}

#[tokio::test(start_paused = true)]
async fn a_cached_tool_that_calls_itself_with_equal_arguments_does_not_wait_for_itself() {
    for by in [By::RunCall, By::Run, By::SpawnedRun] {
        for options in [RunOptions::new(), RunOptions::new().spawned()] {
            let shared = Shared::default();
            let kit = kit([calling("self", "self", by, &shared)], &shared);
            assert_eq!(run(&kit, "self", options.clone()).await.to_model_text(), "0", "{by:?}");
            // The cached result is that of the outer call.
            assert_eq!(run(&kit, "self", options).await.to_model_text(), "0", "{by:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cached_tool_that_calls_itself_through_another_does_not_wait_for_itself() {
    for by in [By::RunCall, By::Run, By::SpawnedRun] {
        for options in [RunOptions::new(), RunOptions::new().spawned()] {
            let shared = Shared::default();
            let tools = [calling("one", "two", by, &shared), calling("two", "one", by, &shared)];
            let kit = kit(tools, &shared);
            assert!(run(&kit, "one", options).await.is_ok(), "{by:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cached_tools_that_call_each_other_at_the_same_time_do_not_wait_for_each_other() {
    let shared = Shared::default();
    let by = By::RunCall;
    let kit = kit([calling("one", "two", by, &shared), calling("two", "one", by, &shared)], &shared);
    let (one, two) = tokio::join!(run(&kit, "one", RunOptions::new()), run(&kit, "two", RunOptions::new()));
    assert!(one.is_ok() && two.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_is_answered_from_the_cache() {
    let shared = Shared::default();
    let kit = kit([calling("one", "two", By::Run, &shared), calling("two", "none", By::Run, &shared)], &shared);
    // The first run of `two` calls a tool that does not exist, so this is not its first.
    let _ = timeout(Duration::from_secs(60), kit.run_call(&ToolCall::new("c", "two", ""))).await;
    assert_eq!(run(&kit, "two", RunOptions::new()).await.to_model_text(), "1");
    assert!(run(&kit, "one", RunOptions::new()).await.is_ok());
    assert_eq!(run(&kit, "two", RunOptions::new()).await.to_model_text(), "1");
}
