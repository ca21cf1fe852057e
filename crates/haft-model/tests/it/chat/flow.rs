//! The flow of a message, and of what waits.

use haft_executor::{AuditRecord, VerdictFault};
use haft_model::{Budget, Expect, Spent, StateError};

use super::*;

#[tokio::test(start_paused = true)]
async fn each_message_continues_the_conversation() {
    let first = ScriptedTurn::text("Hello!").expect(Expect::new());
    let model = ScriptedModel::default().then(first).then("Bye!").then("Other.");
    let chat = Chat::new(desk(model.clone()).agent, MemoryStore::new());
    let chat = chat.request(TurnRequest::new("gpt", Vec::new()).instructions("Be brief."));
    assert!(chat.load(ID).await.unwrap().is_none());
    assert_eq!(say(&chat, "Hi.").await.0, LoopEnd::Stopped);
    let (_, state) = say(&chat, "Bye.").await;
    assert_eq!(told(&state), ["user: hi.", "assistant: hello!", "user: bye.", "assistant: bye!"]);
    assert_eq!((state.turns(), state.total_turns()), (1, 2));
    assert_eq!(stored(&chat).await, state);
    assert_eq!(model.requests()[1].instructions.as_deref(), Some("Be brief."));

    let begin = TurnRequest::new("other", Vec::new());
    let other = chat.message("acme/43", "Hi.").begin_with(begin).await.unwrap().finish().await.unwrap();
    assert_eq!((other.state.history().len(), other.state.request().model.as_str()), (2, "other"));
}

#[tokio::test(start_paused = true)]
async fn what_a_reader_sees_was_saved_and_calls_run_after_their_turn_was() {
    let calls = [call("c1", "deploy", "\"web\""), call("c2", "deploy", "\"db\"")];
    let desk = desk(ScriptedModel::default().then(calls).then("Live."));
    let store = SpyStore::new(&desk.diary);
    let chat = Chat::new(desk.agent, store.clone());
    let mut run = chat.message(ID, "Deploy!").await.unwrap();
    read_to(&mut run, is_turn).await;
    while let Some(event) = run.next().await {
        if let LoopEvent::Tool(ToolEvent::Output { result, .. }) = &event {
            let saved = store.versions();
            let seen = |state: &LoopState| {
                let text = format!("output {}: {}", result.call_id, result.to_model_text());
                told(state).contains(&text)
            };
            assert!(saved.iter().any(seen), "{event:?} was seen before it was saved");
        }
    }
    let expected = [
        "saved user: deploy!",
        "saved output c2: outcome_unknown",
        "deploy web",
        "deploy db",
        "saved output c2: outcome_unknown",
        "saved output c2: db is live",
        "saved assistant: live.",
    ];
    assert_eq!(desk.diary.lines(), expected);
    assert_eq!((store.count(Operation::Claim), store.count(Operation::Release)), (1, 1));
}

/// A decide function may go on after an answer without calls: the answer is saved before the model is asked again.
#[tokio::test(start_paused = true)]
async fn an_answer_without_calls_is_saved_before_the_next_request() {
    let desk = desk(ScriptedModel::new(["One.", "Two."]));
    let agent = desk.agent.decide(|mut after| async move {
        if after.number() == 2 {
            return after.stop();
        }
        after.push(Item::user("And?"));
        after.next()
    });
    let chat = Chat::new(agent, SpyStore::new(&desk.diary));
    say(&chat, "Count.").await;
    assert_eq!(desk.diary.lines(), ["saved user: count.", "saved user: and?", "saved assistant: two."]);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_runs_is_busy() {
    let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Hi!").then("Done.").then("Yes."));
    let chat = Chat::new(desk.agent, MemoryStore::new());
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_turn).await;
    let busy = chat.message(ID, "Are you done?").await.unwrap_err();
    assert!(matches!(busy, ChatError::Busy { .. }), "{busy}");
    assert!(matches!(chat.cancel_pending(ID, "stop").await, Err(ChatError::Busy { .. })));
    let other = chat.message("acme/43", "Hi.").await.unwrap();
    assert_eq!(other.finish().await.unwrap().state.text(), "Hi!");

    desk.go.notify_one();
    run.finish().await.unwrap();
    assert_eq!(told(&stored(&chat).await).len(), 4, "the message that was rejected left nothing");
    assert_eq!(say(&chat, "Are you done?").await.1.history().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_needs_the_id_of_its_request_only_and_counts_once() {
    let model = ScriptedModel::default().then([call("c1", "pay", "500")]).then("Paid.");
    let desk = desk(model);
    let log = Diary::default();
    let audited = log.clone();
    let audit = move |record: &AuditRecord| {
        audited.note(format!("{:?} by {}", record.outcome, record.who.as_deref().unwrap_or("nobody")));
    };
    let options = RunOptions::new().caller("bob").audit(audit);
    let chat = Chat::new(desk.agent, MemoryStore::new());
    let outcome = chat.message(ID, "Pay!").options(options.clone()).await.unwrap().finish().await.unwrap();
    let pending = outcome.state.approvals().remove(0);

    let bare = |digest: &str| {
        let mut verdict = haft_core::Verdict::new(&pending.request_id, haft_core::ApprovalDecision::Approved)
            .decided("a forged name", haft_core::Timestamp::from_unix_millis(1))
            .scope(haft_core::ApprovalScope::ThisSession);
        verdict.digest = digest.to_owned();
        verdict
    };
    let forged = chat.verdicts(ID, [bare("sha256:0")]).await.unwrap_err();
    assert!(matches!(forged, ChatError::State(StateError::OtherDigest { .. })), "{forged}");
    let unknown = chat.verdicts(ID, [haft_core::ApprovalRequest::new("q9", &call("c9", "pay", "1")).approve()]).await;
    assert!(matches!(unknown, Err(ChatError::State(StateError::UnknownApproval { .. }))), "{unknown:?}");
    let invalid = chat.verdicts(ID, [pending.edit(json!("much"))]).await.unwrap_err();
    assert!(
        matches!(invalid, ChatError::State(StateError::Verdict { fault: VerdictFault::Invalid { .. }, .. })),
        "{invalid}"
    );
    assert_eq!(stored(&chat).await.approvals(), std::slice::from_ref(&pending), "nothing was changed");

    let run = chat.verdicts(ID, [bare("")]).decided_by("ana").options(options.clone()).await.unwrap();
    let outcome = run.finish().await.unwrap();
    assert_eq!(told(&outcome.state)[2..], ["output c1: 500 by bob", "assistant: paid."]);
    assert_eq!(desk.diary.lines(), ["pay 500"]);
    assert!(log.lines().contains(&"Approved by ana".to_owned()), "{:?}", log.lines());
    let again = chat.verdicts(ID, [bare("")]).await.unwrap_err();
    assert!(matches!(again, ChatError::State(StateError::UnknownApproval { .. })), "{again}");
}

#[tokio::test(start_paused = true)]
async fn a_message_waits_for_what_waits_unless_that_is_cancelled() {
    let model = || {
        let calls = [call("c1", "pay", "5"), call("c2", "ask", "\"why?\"")];
        ScriptedModel::default().then(calls).then("Fine.").then("Sure.")
    };
    let chat = Chat::new(desk(model()).agent, MemoryStore::new());
    assert!(say(&chat, "Pay!").await.0.is_waiting());
    let waiting = chat.message(ID, "Hello?").await.unwrap_err();
    assert_eq!(
        waiting.to_string(),
        "2 calls of the conversation wait for a verdict or an answer; give it, or go on without it by `cancel_pending`"
    );
    assert_eq!(waiting.http_status(), 409);
    let ChatError::Waiting { approvals, interactions } = waiting else { panic!() };
    assert_eq!((approvals.len(), interactions.len()), (1, 1));

    let run = chat.message(ID, "Never mind.").cancel_pending("the user went on").await.unwrap();
    let state = run.finish().await.unwrap().state;
    let expected = ["output c1: cancelled", "output c2: cancelled", "user: never mind.", "assistant: fine."];
    assert_eq!(told(&state)[3..], expected);

    let chat = Chat::new(desk(model()).agent, MemoryStore::new());
    say(&chat, "Pay!").await;
    assert_eq!(chat.cancel_pending(ID, "closed").await.unwrap().len(), 2);
    assert_eq!(chat.cancel_pending(ID, "closed").await.unwrap().len(), 0);
    assert_eq!(say(&chat, "Hello?").await.1.text(), "Fine.");
}

#[tokio::test(start_paused = true)]
async fn answers_are_checked_and_continue_the_conversation() {
    let model = ScriptedModel::default().then([call("c1", "ask", "\"why?\"")]).then("I see.");
    let chat = Chat::new(desk(model).agent, MemoryStore::new());
    say(&chat, "Help.").await;
    let early = chat.message(ID, "Hello?").await.unwrap_err().to_string();
    assert!(early.starts_with("one call of the conversation waits for a verdict or an answer"), "{early}");
    let wrong = chat.answers(ID, [("c1".into(), json!(7))]).await.unwrap_err();
    assert!(matches!(wrong, ChatError::State(StateError::Answer { .. })), "{wrong}");
    assert_eq!(wrong.http_status(), 422);
    let run = chat.answers(ID, [("c1".into(), json!("because"))]).await.unwrap();
    assert_eq!(told(&run.finish().await.unwrap().state)[2..], ["output c1: because", "assistant: i see."]);
}

#[tokio::test(start_paused = true)]
async fn only_what_is_there_can_be_continued() {
    let model =
        ScriptedModel::default().then(haft_model::ModelError::Authentication { message: "no".into() }).then("Hello!");
    let chat = Chat::new(desk(model).agent, MemoryStore::new());
    assert!(matches!(chat.resume(ID).await, Err(ChatError::Unknown)));
    assert!(matches!(chat.verdicts(ID, []).await, Err(ChatError::Unknown)));
    assert!(matches!(chat.cancel_pending(ID, "stop").await, Err(ChatError::Unknown)));
    assert!(matches!(say(&chat, "Hi.").await.0, LoopEnd::Failed(LoopError::Model { .. })));
    let outcome = chat.resume(ID).await.unwrap().finish().await.unwrap();
    assert_eq!(told(&outcome.state), ["user: hi.", "assistant: hello!"]);
    assert!(matches!(chat.resume(ID).await, Err(ChatError::NothingToDo)));
    // A conversation that was rejected is not claimed.
    assert!(matches!(chat.resume(ID).await, Err(ChatError::NothingToDo)));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_has_its_own_budget() {
    let turn = || [call("c1", "deploy", "\"web\"")];
    let model = ScriptedModel::default().then(turn()).then("Done.").then(turn()).then("Done.");
    let chat = Chat::new(desk(model).agent, MemoryStore::new());
    say(&chat, "Deploy!").await;
    let run = chat.message(ID, "Again!").conversation_budget(Budget::new().calls(1)).await.unwrap();
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Budget(Spent::Calls));
    let run = chat.message(ID, "Again!").budget(Budget::new().time(Duration::ZERO)).await.unwrap();
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Budget(Spent::Time));
}

#[test]
fn outside_of_a_runtime_the_error_says_so() {
    let chat = Chat::new(desk(ScriptedModel::default()).agent, MemoryStore::new());
    let mut future = chat.message(ID, "Hi.").into_future();
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let polled = future.as_mut().poll(&mut task);
    assert!(matches!(polled, std::task::Poll::Ready(Err(ChatError::NoRuntime))), "{polled:?}");
}

/// Permissions in a scope hold for the run, which is another task.
#[tokio::test(start_paused = true)]
async fn what_is_ambient_follows_into_the_run() {
    let who =
        Tool::new("who").handler(|(), _cx| async { haft_executor::Ambient::current().get::<u8>().copied() }).unwrap();
    let model = ScriptedModel::default().then([call("c1", "who", "")]).then("7.");
    let chat = Chat::new(TurnLoop::new(model, Toolkit::from_iter([who])), MemoryStore::new());
    let scope = haft_executor::Ambient::default().with(7_u8);
    let run = scope.scope(async { chat.message(ID, "Who?").await }).await.unwrap();
    assert_eq!(told(&run.finish().await.unwrap().state)[2], "output c1: 7");
}

/// Many messages at once: each runs when it is its turn, and none is lost.
#[tokio::test(start_paused = true)]
async fn concurrent_messages_run_one_after_the_other() {
    let model = (0..20).fold(ScriptedModel::default(), |model, _| model.then("ok"));
    let chat = Chat::new(desk(model).agent, MemoryStore::new());
    let sends = (0..20).map(|number| {
        let chat = chat.clone();
        tokio::spawn(async move {
            loop {
                match chat.message(ID, format!("message {number}")).await {
                    Ok(run) => return run.finish().await.unwrap().end,
                    Err(ChatError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(number)).await,
                    Err(error) => panic!("{error}"),
                }
            }
        })
    });
    for send in sends.collect::<Vec<_>>() {
        assert_eq!(send.await.unwrap(), LoopEnd::Stopped);
    }
    let history = told(&stored(&chat).await);
    assert_eq!(history.len(), 40);
    for number in 0..20 {
        assert_eq!(history.iter().filter(|line| **line == format!("user: message {number}")).count(), 1);
    }
}
