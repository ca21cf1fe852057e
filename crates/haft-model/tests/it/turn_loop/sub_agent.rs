//! A tool that runs a loop itself.

use haft_executor::{Cx, EmitError};
use haft_model::ScriptedModel;

use super::*;

#[tokio::test(start_paused = true)]
async fn an_inner_loop_emits_its_events_as_progress() {
    let inner = agent(&ScriptedModel::default().then([call("i1", "double", "21")]).then("it is 42"));
    let research = Tool::new("research").try_handler_opaque(move |topic: String, cx: Cx| {
        let inner = inner.clone();
        async move {
            let mut run = inner.start(TurnRequest::new("small", vec![Item::user(topic)]));
            while let Some(event) = run.next().await {
                cx.emit(&event).await?;
            }
            Ok::<_, EmitError>(run.finish().await.state.text())
        }
    });
    let model = ScriptedModel::default().then([call("o1", "research", "\"life\"")]).then("42, they say");
    let outer = TurnLoop::new(model, Toolkit::from_iter([research.unwrap()]));
    let seen = events(outer.start(request())).await;
    let inner: Vec<LoopEvent> = seen
        .iter()
        .filter_map(|event| match event {
            LoopEvent::Tool(ToolEvent::Progress { data, .. }) => Some(data.decode().unwrap()),
            _ => None,
        })
        .collect();
    let told: Vec<_> = words(&inner).into_iter().filter(|word| word != "delta").collect();
    assert_eq!(
        told,
        ["turn 1", "complete", "output 0: 42", "ended 1 with 1", "turn 2", "complete", "ended 2 with 0", "stopped"]
    );
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert_eq!(super::told(state.history())[2], "output o1: it is 42");
}
