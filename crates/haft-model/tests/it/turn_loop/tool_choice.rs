//! The tool choice, checked against the calls of the model.

use haft_core::{ProviderCall, ToolChoice};
use haft_model::{LoopError, ScriptedModel};

use super::*;

#[tokio::test(start_paused = true)]
async fn calls_that_the_choice_does_not_permit_are_rejected() {
    for (choice, said) in [
        (ToolChoice::tool("double"), "'double'"),
        (ToolChoice::may_call(["double", "wait"]), "'double', 'wait'"),
        (ToolChoice::None, "no tool may be called"),
    ] {
        let ran = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = std::sync::Arc::clone(&ran);
        let forbidden = Tool::new("forbidden").handler(move |(), _cx| {
            flag.store(true, std::sync::atomic::Ordering::SeqCst);
            async {}
        });
        let model = ScriptedModel::default().then([
            call("c1", "forbidden", "{}"),
            call("c2", "note", "1"),
            call("c3", "double", "2"),
        ]);
        let agent =
            TurnLoop::new(model, kit().with(forbidden.unwrap()).unwrap()).decide(|after| async { after.stop() });
        let outcome = finish(&agent, request().tool_choice(choice.clone())).await;
        let outputs = &outcome.state.history()[4..];
        let message = |item: &Item| match item {
            Item::ToolOutput(output) => output.output.to_string(),
            other => panic!("{other:?}"),
        };
        for refused in &outputs[..2] {
            assert!(
                message(refused).contains("tool_choice_violation") && message(refused).contains(said),
                "{choice:?}"
            );
        }
        let last = if choice == ToolChoice::None { "tool_choice_violation" } else { "4" };
        assert_eq!(kind_or_text(&message(&outputs[2])), last);
        assert!(!ran.load(std::sync::atomic::Ordering::SeqCst));
        assert_eq!(outcome.state.calls(), u64::from(choice != ToolChoice::None), "rejected calls do not count");
    }
}

#[tokio::test(start_paused = true)]
async fn a_required_call_that_is_missing_ends_the_loop_and_keeps_the_turn() {
    for choice in [ToolChoice::Required, ToolChoice::tool("double"), ToolChoice::must_call_one_of(["double"])] {
        let model = ScriptedModel::default().then("I would rather not");
        let told = words(&events(agent(&model).start(request().tool_choice(choice.clone()))).await);
        assert_eq!(told[told.len() - 2..], ["ended 1 with 0", "failed: tool_choice"]);

        let model = ScriptedModel::default().then("I would rather not");
        let outcome = finish(&agent(&model), request().tool_choice(choice.clone())).await;
        assert!(matches!(&outcome.end, LoopEnd::Failed(LoopError::ToolChoice { choice: found }) if *found == choice));
        assert_eq!((outcome.state.text().as_str(), outcome.state.turns()), ("I would rather not", 1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_incomplete_turn_or_one_with_a_provider_call_is_not_missing_its_call() {
    let cut = Turn::new(vec![Item::assistant("I will c")], Finish::Length);
    let searched = ProviderCall::new("openai", "web_search", serde_json::json!({}));
    let truncated = LoopEnd::Truncated { finish: Finish::Length };
    for (turn, end) in [(cut, truncated), (Turn::new(vec![searched.into()], Finish::Stop), LoopEnd::Stopped)] {
        let model = ScriptedModel::default().then(turn);
        let outcome = finish(&agent(&model), request().tool_choice(ToolChoice::Required)).await;
        assert_eq!(outcome.end, end);
    }
}
