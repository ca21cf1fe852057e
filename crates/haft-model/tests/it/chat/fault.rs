//! Stores that fail, panic, or belong to somebody else by now.

use super::*;

fn broken() -> StoreError {
    StoreError::failed("write /var/chats/a.json", std::io::Error::other("no space left on device"))
}

fn is_not_saved(end: &LoopEnd) -> bool {
    matches!(end, LoopEnd::Failed(LoopError::NotSaved(_)))
}

#[tokio::test(start_paused = true)]
async fn no_call_begins_if_its_turn_can_not_be_saved() {
    let desk = desk(ScriptedModel::default().then([call("c1", "deploy", "\"web\"")]).then("Hello."));
    // The second save is that of the turn; those after it fail too, as on a full disk.
    let fails = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_full = Arc::clone(&fails);
    let store = SpyStore::new(&desk.diary).failing(move |operation, count| {
        let is_full = is_full.load(std::sync::atomic::Ordering::SeqCst);
        (operation == Operation::Save && count > 1 && is_full).then(broken)
    });
    let chat = Chat::new(desk.agent, store);
    let outcome = chat.message(ID, "Deploy!").await.unwrap().finish().await.unwrap();
    assert!(is_not_saved(&outcome.end), "{:?}", outcome.end);
    let text = "the conversation could not be saved: the store failed: can't write /var/chats/a.json: no space left";
    assert!(outcome.end.error().unwrap().to_string().starts_with(text), "{:?}", outcome.end);
    assert_eq!(desk.diary.lines(), ["saved user: deploy!"], "nothing ran");
    assert_eq!(told(&stored(&chat).await), ["user: deploy!"]);

    fails.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(say(&chat, "Hello?").await.0, LoopEnd::Stopped, "the claim was released");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_can_not_be_saved_ends_the_run_and_is_not_shown() {
    let calls = [call("c1", "deploy", "\"web\""), call("c2", "slow", "")];
    let desk = desk(ScriptedModel::default().then(calls).then("Hello."));
    let store = SpyStore::new(&desk.diary)
        .failing(|operation, count| (operation == Operation::Save && count == 3).then(broken));
    let chat = Chat::new(desk.agent, store);
    let mut run = chat.message(ID, "Deploy!").await.unwrap();
    let mut outputs = 0;
    let end = loop {
        match run.next().await.unwrap() {
            LoopEvent::Ended { end, .. } => break end,
            event => outputs += usize::from(is_output(&event)),
        }
    };
    assert!(is_not_saved(&end) && outputs == 0);
    // The last save worked, so what is known is not lost.
    let history = told(&stored(&chat).await);
    assert_eq!(history[3..], ["output c1: web is live", "output c2: cancelled"]);
    assert_eq!(desk.diary.count("slow ends"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_at_the_start_changes_nothing() {
    for operation in [Operation::Claim, Operation::Load, Operation::Save] {
        let store =
            SpyStore::new(&Diary::default()).failing(move |it, count| (it == operation && count == 1).then(broken));
        let chat = Chat::new(desk(ScriptedModel::new(["Hello!"])).agent, store.clone());
        let error = chat.message(ID, "Hi.").await.unwrap_err();
        assert!(matches!(error, ChatError::Store(StoreError::Failed { .. })), "{error}");
        assert_eq!(error.http_status(), 500);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(say(&chat, "Hi.").await.1.history().len(), 2, "{operation:?}: the conversation is free");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_costs_its_operation_only() {
    for panicking in [Operation::Claim, Operation::Load, Operation::Save, Operation::Release, Operation::Renew] {
        let store = SpyStore::new(&Diary::default()).failing(move |operation, count| {
            assert!(operation != panicking || count != 1, "a bug in the store");
            None
        });
        let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Done.").then("Hello."));
        let chat = Chat::new(desk.agent, store).lease(Duration::from_secs(9));
        match chat.message(ID, "Go.").await {
            Err(error) => {
                let text = "the store failed: can't use the store: its code panicked: a bug in the store";
                assert_eq!(error.to_string(), text, "{panicking:?}");
            }
            Ok(mut run) => {
                read_to(&mut run, is_turn).await;
                tokio::time::sleep(Duration::from_secs(60)).await;
                desk.go.notify_one();
                assert_eq!(run.finish().await.unwrap().end, LoopEnd::Stopped, "{panicking:?}");
            }
        }
    }
}

/// Another process has the conversation: this one was stopped for longer than its lease.
#[tokio::test(start_paused = true)]
async fn a_run_that_lost_its_claim_ends_and_overwrites_nothing() {
    let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Done."));
    let lost = |operation, _| (operation == Operation::Renew).then_some(StoreError::ClaimLost);
    let store = SpyStore::new(&desk.diary).failing(lost);
    let chat = Chat::new(desk.agent, store.clone()).lease(Duration::from_secs(9));
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_turn).await;
    let before = store.versions().len();
    let outcome = run.finish().await.unwrap();
    let LoopEnd::Failed(LoopError::NotSaved(error)) = &outcome.end else { panic!("{:?}", outcome.end) };
    assert!(matches!(**error, StoreError::ClaimLost));
    assert_eq!((store.versions().len(), store.count(Operation::Release)), (before, 0));
    assert_eq!(desk.diary.count("slow ends"), 0, "its calls were cancelled");
}
