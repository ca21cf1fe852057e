//! Values of user code are dropped in isolation, however the loop ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{Item, ToolCall, ToolEvent, TurnRequest};
use haft_executor::{Cx, Permission, RunOptions, Services, Tool, Toolkit};
use haft_model::{LanguageModel, LoopEnd, LoopEvent, ModelInfo, ScriptedModel, TurnLoop, TurnStream};

/// A value that panics when it is dropped, and counts the drops.
struct Fragile(Arc<AtomicUsize>);

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("dropped");
    }
}

struct Model(ScriptedModel, #[allow(dead_code, reason = "there to be dropped")] Fragile);

impl LanguageModel for Model {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, request: &TurnRequest) -> TurnStream {
        self.0.stream_turn(request)
    }
}

/// A loop of two turns with six values that panic when they are dropped.
fn agent(drops: &Arc<AtomicUsize>) -> TurnLoop {
    let fragile = || Fragile(Arc::clone(drops));
    let (handler, decide, permit, observer) = (fragile(), fragile(), fragile(), fragile());
    let tool = Tool::new("add").handler(move |(a, b): (i64, i64), _: Cx| {
        let _ = &handler;
        async move { a + b }
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]).with_services(Services::new().with(fragile()));
    let options = RunOptions::new()
        .permit(move |_: &Tool, _: &ToolCall, _: &Cx| {
            let _ = &permit;
            Permission::Allowed
        })
        .observe(move |_: &ToolEvent| {
            let _ = &observer;
        });
    let model = ScriptedModel::default().then([ToolCall::new("c1", "add", "[19, 23]")]).then("It is 42.");
    TurnLoop::new(Model(model, fragile()), kit).options(options).decide(move |after| {
        let _ = &decide;
        async move { if after.number() == 2 { after.stop() } else { after.next() } }
    })
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("What is 19 + 23?")])
}

#[tokio::test(start_paused = true)]
async fn panicking_drops_have_no_effect_when_a_loop_ends() {
    let drops = Arc::<AtomicUsize>::default();
    let run = agent(&drops).start(request());
    let outcome = run.finish().await;
    assert!(matches!(outcome.end, LoopEnd::Stopped), "{:?}", outcome.end);
    assert_eq!(outcome.state.text(), "It is 42.");
    assert_eq!(drops.load(Ordering::SeqCst), 6);
}

#[tokio::test(start_paused = true)]
async fn panicking_drops_have_no_effect_when_a_loop_is_dropped_midway() {
    let drops = Arc::<AtomicUsize>::default();
    let mut run = agent(&drops).start(request());
    while let Some(event) = run.next().await {
        if matches!(event, LoopEvent::Tool(ToolEvent::Output { .. })) {
            break;
        }
    }
    drop(run);
    assert_eq!(drops.load(Ordering::SeqCst), 6);
}

#[tokio::test(start_paused = true)]
async fn panicking_drops_have_no_effect_when_a_loop_is_never_polled() {
    let drops = Arc::<AtomicUsize>::default();
    drop(agent(&drops).start(request()));
    assert_eq!(drops.load(Ordering::SeqCst), 6);
}
