//! Every public way to run a call reaches its handler by the same path, so all of them keep the same promises.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use haft_core::{FailureKind, Outcome, ToolCall, ToolFailure, ToolResult};
use haft_executor::{ApprovalPolicy, Dispatch, FailureMode, Next, OutputCap, Request, RunOptions, Tool, Toolkit};
use serde_json::json;
use tokio::sync::Notify;

/// The ways to run one call.
#[derive(Clone, Copy, Debug)]
enum Path {
    Run,
    RunWith,
    Spawned,
    RunCall,
    RunCallWith,
    TryRunCall,
    Dispatch,
    Planned,
}

const PATHS: [Path; 8] = [
    Path::Run,
    Path::RunWith,
    Path::Spawned,
    Path::RunCall,
    Path::RunCallWith,
    Path::TryRunCall,
    Path::Dispatch,
    Path::Planned,
];

impl Path {
    async fn run(self, tool: &Tool, arguments: &str) -> ToolResult {
        let kit: Toolkit = Toolkit::from_iter([tool.set_failure_mode(FailureMode::Return).unwrap()]);
        let call = ToolCall::new("c1", tool.name(), arguments);
        let generous = RunOptions::new().timeout(Duration::from_secs(3600)).caller("ana");
        match self {
            Self::Run => kit.run([call]).collect_results().await.remove(0),
            Self::RunWith => kit.run_with([call], generous).collect_results().await.remove(0),
            Self::Spawned => kit.run_with([call], RunOptions::new().spawned()).collect_results().await.remove(0),
            Self::RunCall => kit.run_call(&call).await,
            Self::RunCallWith => kit.run_call_with(&call, &generous).await,
            Self::TryRunCall => kit.try_run_call(&call, RunOptions::new()).await.unwrap().result,
            Self::Dispatch => {
                let run = Dispatch::run_calls(&kit, vec![call.into()], RunOptions::new());
                run.collect_results().await.remove(0)
            }
            Self::Planned => {
                let plan = kit.plan_from_map(RunOptions::new(), [], [call]).await;
                kit.run(plan).collect_results().await.remove(0)
            }
        }
    }
}

fn failure(result: &ToolResult) -> &ToolFailure {
    result.failure().unwrap()
}

#[tokio::test(start_paused = true)]
async fn arguments_that_a_policy_has_seen_can_not_be_changed_by_a_middleware() {
    for path in PATHS {
        let ran = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&ran);
        let tool = Tool::new("pay")
            .needs_approval(ApprovalPolicy::when(|cents: u64, _cx| async move { cents > 100 }))
            .handler(move |cents: u64, _cx| {
                counted.fetch_add(1, Ordering::SeqCst);
                async move { cents }
            })
            .unwrap()
            .wrap(|request: Request, next: Next| async move { next.run(request.with_arguments(&json!(900))).await });
        let result = path.run(&tool, "5").await;
        assert_eq!((&failure(&result).kind, failure(&result).started), (&FailureKind::Denied, false), "{path:?}");
        assert_eq!(ran.load(Ordering::SeqCst), 0, "{path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_the_failure_of_its_call() {
    for path in PATHS {
        let early = Tool::new("t").handler(|(), _cx| -> std::future::Ready<u8> { panic!("early") }).unwrap();
        let late = Tool::new("t").handler(|is_late: bool, _cx| async move {
            tokio::task::yield_now().await;
            assert!(!is_late, "as it was told to");
        });
        let late = late.unwrap();
        let wrapped = late.wrap(|request: Request, next: Next| async move { next.run(request).await });
        for (tool, arguments) in [(early, "{}"), (late, "true"), (wrapped, "true")] {
            let result = path.run(&tool, arguments).await;
            assert_eq!(
                (&failure(&result).kind, failure(&result).started),
                (&FailureKind::ExecutionError, true),
                "{path:?}"
            );
        }
        let before = Tool::new("t").handler(|(), _cx| async {}).unwrap();
        let before = before.wrap(|_: Request, _: Next| async move { panic!("before the handler") });
        let result = path.run(&before, "{}").await;
        assert!(!failure(&result).started, "{path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_output_cap_of_a_tool_holds() {
    for path in PATHS {
        let limits = haft_executor::ExecutionLimits::new().output_cap(OutputCap::new(NonZeroUsize::MIN));
        let tool = Tool::new("t").limits(limits).handler(|(), _cx| async { "x".repeat(1000) }).unwrap();
        let result = path.run(&tool, "{}").await;
        assert_eq!(failure(&result).kind, FailureKind::OutputTooLarge, "{path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_middleware_that_lies_about_started_is_not_believed() {
    let lie = |started: bool| {
        let mut failure = ToolFailure::new(FailureKind::ToolFailed, "a lie");
        failure.started = started;
        Outcome::from(failure)
    };
    for path in PATHS {
        let tool = Tool::new("t").handler(|(), _cx| async {}).unwrap();
        let never_ran = tool.wrap(move |_: Request, _: Next| async move { lie(true) });
        assert!(!failure(&path.run(&never_ran, "{}").await).started, "{path:?}");
        let did_run = tool.wrap(move |request: Request, next: Next| async move {
            next.run(request).await;
            lie(false)
        });
        assert!(failure(&path.run(&did_run, "{}").await).started, "{path:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_half_way_drops_its_handler() {
    struct OnDrop(Arc<Notify>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    for path in PATHS {
        let dropped = Arc::new(Notify::new());
        let telling = Arc::clone(&dropped);
        let tool = Tool::new("t").handler(move |(), _cx| {
            let guard = OnDrop(Arc::clone(&telling));
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        });
        let tool = tool.unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(1), path.run(&tool, "{}")).await;
        assert!(ended.is_err(), "{path:?}");
        dropped.notified().await;
    }
}
