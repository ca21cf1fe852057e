//! Hooks before each request: what they may change, and what happens if the conversation is too long.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use haft_core::{ContentPart, Message, Role, Usage};
use haft_executor::BoxError;
use haft_model::{BeforeRequest, ClearToolResults, ModelError, ScriptedTurn, Summarize};

use super::*;

fn too_long() -> ModelError {
    ModelError::ContextTooLong { message: "9000 tokens are too many".into() }
}

/// A hook that removes all but the last items.
async fn last_two(mut request: BeforeRequest) -> Result<BeforeRequest, BoxError> {
    let old = request.history().len().saturating_sub(2);
    request.history_mut().drain(..old);
    Ok(request)
}

/// A history of a question and this many calls with long outputs.
fn long_history(calls: usize) -> Vec<Item> {
    let mut history = vec![Item::system("Be brief."), Item::user("Read all pages.")];
    for n in 0..calls {
        let read = call(&format!("p{n}"), "page", &n.to_string());
        let text = haft_core::ToolResult::ok(&read, serde_json::json!("word ".repeat(50)));
        history.extend([Item::from(read), Item::from(&text)]);
    }
    history
}

#[tokio::test(start_paused = true)]
async fn a_hook_prepares_every_request_and_the_state_has_its_history() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::calls([call("c1", "double", "1")]).usage(Usage::new(40, 2)))
        .then("done");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let agent = agent(&model).prepare(last_two).prepare(move |request: BeforeRequest| {
        log.lock().unwrap().push((request.number(), request.history().len(), request.input_tokens()));
        assert_eq!(request.too_long(), None);
        async { Ok(request) }
    });
    let request = TurnRequest::new("any", ["one", "two", "three"].map(Item::user).to_vec());
    let all = events(agent.start(request)).await;
    let rewritten = all.iter().filter_map(|event| match event {
        LoopEvent::HistoryRewritten { items_before, items } => Some((*items_before, *items)),
        _ => None,
    });
    assert_eq!(rewritten.collect::<Vec<_>>(), [(3, 2), (4, 2)]);
    assert_eq!(*seen.lock().unwrap(), [(1, 2, None), (2, 2, Some(40))], "hooks are called in order");
    let Some(LoopEvent::Ended { state, .. }) = all.last() else { panic!("no end") };
    assert_eq!(told(state.history()), ["call c1", "output c1: 2", "assistant"]);
    assert_eq!(stored(state), **state);
}

#[tokio::test(start_paused = true)]
async fn a_history_that_can_not_be_sent_is_rejected_and_the_state_stays() {
    let history = long_history(2);
    let broken: [fn(&mut Vec<Item>); 4] =
        [|items| drop(items.remove(3)), |items| drop(items.remove(2)), |items| items.swap(2, 3), Vec::clear];
    for change in broken {
        let model = ScriptedModel::new(["never"]);
        // Repairs are for histories that arrive broken, not for hooks that break them.
        let agent = agent(&model).repair("lost").prepare(move |mut request: BeforeRequest| {
            change(request.history_mut());
            async { Ok(request) }
        });
        let outcome = finish(&agent, TurnRequest::new("any", history.clone())).await;
        assert_eq!(ended(&outcome.end), "failed: prepared_history");
        let message = outcome.end.error().unwrap().to_string();
        assert!(message.contains("remove a call together with its output"), "{message}");
        assert_eq!((outcome.state.history(), model.requests().len()), (&history[..], 0));
    }
}

#[tokio::test(start_paused = true)]
async fn errors_panics_and_cancellation_leave_the_state_as_it_was() {
    let model = ScriptedModel::new(["never"]);
    let failing = agent(&model).prepare(|_: BeforeRequest| async { Err("no room".into()) });
    let panicking = agent(&model).prepare(|_: BeforeRequest| async { panic!("lost my head") });
    for (agent, kind, text) in [(failing, "prepare", "no room"), (panicking, "prepare_panicked", "lost my head")] {
        let outcome = finish(&agent, request()).await;
        let error = outcome.end.error().unwrap();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(outcome.state, LoopState::new(request()));
    }
    let pending = agent(&model).prepare(|_: BeforeRequest| std::future::pending());
    let run = pending.start(request());
    let flag = run.cancellation();
    let (outcome, ()) = tokio::join!(run.finish(), async move { flag.cancel() });
    assert_eq!((outcome.end, outcome.state), (LoopEnd::Cancelled, LoopState::new(request())));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_is_shortened_once_per_turn_and_sent_again() {
    let only_if_too_long = |mut request: BeforeRequest| async move {
        if request.too_long().is_some() {
            assert_eq!(request.too_long(), Some("9000 tokens are too many"));
            request.history_mut().remove(0);
        }
        Ok(request)
    };
    let history = || TurnRequest::new("any", ["one", "two", "three", "four"].map(Item::user).to_vec());
    let model = ScriptedModel::default()
        .then(ScriptedTurn::text("hal").then_failed(too_long()))
        .then([call("c1", "double", "1")])
        .then(too_long())
        .then("done");
    let told = words(&events(agent(&model).retries(0).prepare(only_if_too_long).start(history())).await);
    let retries = told.iter().filter(|word| word.starts_with("retry")).count();
    assert_eq!((retries, told.last().map(String::as_str)), (2, Some("stopped")), "without counting as retries");
    let lengths: Vec<usize> = model.requests().iter().map(|request| request.history.len()).collect();
    assert_eq!(lengths, [4, 3, 5, 4]);

    // Once per turn.
    let model = ScriptedModel::default().then(too_long()).then(too_long()).then("never");
    let outcome = finish(&agent(&model).prepare(only_if_too_long), history()).await;
    assert!(outcome.end.error().unwrap().to_string().contains("too long for the model"), "{:?}", outcome.end);
    assert_eq!((model.requests().len(), outcome.state.history().len()), (2, 3));

    // Only if it is shorter.
    let calls = Arc::new(AtomicUsize::new(0));
    for longer in [false, true] {
        let count = Arc::clone(&calls);
        let model = ScriptedModel::default().then(too_long()).then("never");
        let agent = agent(&model).prepare(move |mut request: BeforeRequest| {
            count.fetch_add(1, Ordering::SeqCst);
            if longer && request.too_long().is_some() {
                request.history_mut().push(Item::user("and more"));
            }
            async { Ok(request) }
        });
        let outcome = finish(&agent, history()).await;
        assert_eq!((ended(&outcome.end).as_str(), model.requests().len()), ("failed: model", 1), "{longer}");
    }
    assert_eq!(calls.load(Ordering::SeqCst), 4);

    // Without a hook the error is returned.
    let model = ScriptedModel::default().then(too_long()).then("never");
    assert_eq!(ended(&finish(&agent(&model), history()).await.end), "failed: model");
}

#[tokio::test(start_paused = true)]
async fn old_tool_results_are_cleared_and_the_last_ones_stay() {
    let mut history = long_history(4);
    let shot = call("shot", "screenshot", "{}");
    let image = haft_core::ToolCallOutput::new("shot", vec![ContentPart::text("a picture")]).tool("screenshot");
    history.splice(2..2, [Item::from(shot), image.into()]);
    let short = call("short", "add", "[1,2]");
    history.splice(
        2..2,
        [Item::from(short.clone()), Item::from(&haft_core::ToolResult::ok(&short, serde_json::json!(3)))],
    );
    let cleared = |history: &[Item]| -> Vec<String> {
        let outputs =
            history.iter().filter_map(|item| if let Item::ToolOutput(output) = item { Some(output) } else { None });
        let removed = outputs.filter(|output| output.output.to_string().starts_with("[this output was removed"));
        removed.map(|output| output.call_id.to_string()).collect()
    };
    let run = async |hook: ClearToolResults, turn: ScriptedTurn| {
        let model = ScriptedModel::default().then(turn).then("done");
        let agent = agent(&model).prepare(hook);
        let outcome = finish(&agent, TurnRequest::new("any", history.clone())).await;
        assert_eq!(outcome.end, LoopEnd::Stopped);
        model.requests().iter().map(|request| cleared(&request.history)).collect::<Vec<_>>()
    };
    let turn = || ScriptedTurn::calls([call("c1", "double", "1")]).usage(Usage::new(5_000, 1));
    assert_eq!(
        run(ClearToolResults::keep_last(2), turn()).await,
        [vec!["shot", "p0", "p1"], vec!["shot", "p0", "p1", "p2"]],
        "an output that is shorter than the note stays"
    );
    assert_eq!(run(ClearToolResults::keep_last(99), turn()).await, [vec![""; 0], vec![]]);
    assert_eq!(run(ClearToolResults::keep_last(2).above(5_001), turn()).await, [vec![""; 0], vec![]]);
    assert_eq!(
        run(ClearToolResults::keep_last(1).above(5_000), turn()).await,
        [vec![], vec!["shot", "p0", "p1", "p2", "p3"]]
    );
    assert_eq!(
        run(ClearToolResults::keep_last(1).above(u64::MAX), ScriptedTurn::failed(too_long())).await,
        [vec![], vec!["shot", "p0", "p1", "p2"]]
    );
}

#[tokio::test(start_paused = true)]
async fn the_start_of_the_conversation_is_summarised_and_calls_stay_with_their_outputs() {
    for keep in 0..12 {
        let summary = ScriptedTurn::text("Pages 1 to 3 are about words.").usage(Usage::new(300, 20));
        let summarizer = ScriptedModel::default().then(summary);
        let model = ScriptedModel::default().then(too_long()).then(ScriptedTurn::text("done").usage(Usage::new(50, 5)));
        let agent = agent(&model).prepare(Summarize::new(summarizer.clone(), "small").keep_last(keep));
        let history = long_history(4);
        let outcome = finish(&agent, TurnRequest::new("large", history.clone())).await;
        let sent = &model.requests()[model.requests().len() - 1].history;
        assert_eq!(sent[0], Item::system("Be brief."), "rules stay");
        if keep > 6 {
            // There is nothing before the calls that are kept but the question.
            assert_eq!((ended(&outcome.end).as_str(), summarizer.requests().len()), ("failed: model", 0), "{keep}");
            continue;
        }
        assert_eq!(outcome.end, LoopEnd::Stopped, "keep {keep}");
        let Item::Message(Message { role: Role::User, content, .. }) = &sent[1] else { panic!("{sent:?}") };
        let text = content[0].as_text().unwrap();
        assert_eq!(text, "Summary of the conversation so far:\n\nPages 1 to 3 are about words.");
        assert!(sent.len() >= keep + 2 && sent.len() < history.len(), "{keep}: {}", sent.len());
        assert!(haft_core::history::is_reconciled(sent));
        assert_eq!(history[history.len() - keep..], sent[sent.len() - keep..]);
        assert_eq!(outcome.state.usage().input_tokens, 350, "the summary is counted");
        let asked = &summarizer.requests()[0];
        assert_eq!((asked.model.as_str(), asked.history.len(), asked.tools.len()), ("small", 1, 0));
        let transcript = format!("{:?}", asked.history);
        assert!(transcript.contains("User: Read all pages.") && transcript.contains("Assistant called: page(0)"));
        assert!(!transcript.contains("Be brief."));
    }
}

#[tokio::test(start_paused = true)]
async fn a_summary_is_asked_for_above_its_threshold_and_its_errors_end_the_loop() {
    let turns = || {
        ScriptedModel::default()
            .then(ScriptedTurn::calls([call("c1", "double", "1")]).usage(Usage::new(1_000, 1)))
            .then("done")
    };
    let table: [(u64, ScriptedModel, &str, usize); 4] = [
        (1_001, ScriptedModel::default(), "stopped", 0),
        (1_000, ScriptedModel::new(["short"]), "stopped", 1),
        (1_000, ScriptedModel::new([" "]), "failed: prepare", 1),
        (1_000, ScriptedModel::default().then(too_long()), "failed: prepare", 1),
    ];
    for (above, summarizer, expected, asked) in table {
        let agent = agent(&turns()).prepare(Summarize::new(summarizer.clone(), "").above(above).keep_last(2));
        let outcome = finish(&agent, TurnRequest::new("large", long_history(3))).await;
        assert_eq!((ended(&outcome.end).as_str(), summarizer.requests().len()), (expected, asked), "{above}");
    }
}
