//! A process that dies after any save: the next message finds every call with one answer.

use super::*;

/// A store that begins with one conversation, as another process left it.
async fn left_with(state: &LoopState) -> MemoryStore {
    let store = MemoryStore::new();
    let claim = store.claim(ID, Duration::from_secs(1)).await.unwrap();
    let state: LoopState = serde_json::from_str(&serde_json::to_string(state).unwrap()).unwrap();
    store.save(&claim, 0, &state).await.unwrap();
    store.release(&claim).await.unwrap();
    store
}

/// Returns the number of effects that a call had, in both processes.
fn effects(diaries: [&Diary; 2], effect: &str) -> usize {
    diaries.iter().map(|diary| diary.count(effect)).sum()
}

#[tokio::test(start_paused = true)]
async fn after_any_save_each_call_has_one_answer_and_no_effect_is_repeated() {
    let calls = || [call("c1", "deploy", "\"web\""), call("c2", "deploy", "\"db\""), call("c3", "pay", "5")];
    let first =
        desk(ScriptedModel::default().then(calls()).then("Paid.").then([call("c4", "deploy", "\"app\"")]).then("Bye."));
    let store = SpyStore::new(&first.diary);
    let chat = Chat::new(first.agent, store.clone());
    assert!(say(&chat, "Deploy and pay.").await.0.is_waiting());
    let verdict = stored(&chat).await.approvals()[0].approve();
    chat.verdicts(ID, [verdict]).await.unwrap().finish().await.unwrap();
    say(&chat, "And the app.").await;
    let (versions, before) = (store.versions(), first.diary.lines());
    assert!(versions.len() > 9, "{before:?}");

    for (number, left) in versions.iter().enumerate() {
        // What had happened when this version was saved.
        let saves = before.iter().enumerate().filter(|(_, line)| line.starts_with("saved"));
        let at = saves.map(|(at, _)| at).nth(number).unwrap();
        let happened = Diary::default();
        // The process may have gone on to just before the next save.
        let next = before[at + 1..].iter().position(|line| line.starts_with("saved")).unwrap_or(0);
        for line in &before[..=at + next] {
            happened.note(line.clone());
        }

        let second = desk(ScriptedModel::new(["I will look.", "I will look.", "I will look."]));
        let chat = Chat::new(second.agent, left_with(left).await);
        let waits = !left.approvals().is_empty();
        let run = chat.message(ID, "What happened?").cancel_pending("a restart").await.unwrap();
        let state = run.finish().await.unwrap().state;
        let history = told(&state);
        assert!(history::is_reconciled(state.history()), "{number}: {history:?}");
        for id in ["c1", "c2", "c3", "c4"] {
            let is_made = history.contains(&format!("call {id}"));
            let outputs = history.iter().filter(|line| line.starts_with(&format!("output {id}:"))).count();
            assert_eq!(outputs, usize::from(is_made), "{number}: {history:?}");
        }
        for effect in ["deploy web", "deploy db", "deploy app"] {
            assert!(effects([&happened, &second.diary], effect) <= 1, "{number}: {effect}: {history:?}");
        }
        // An approval that was given and not used is used now, once.
        assert!(effects([&happened, &second.diary], "pay 5") <= 1, "{number}: {history:?}");
        if waits {
            assert!(history.contains(&"output c3: cancelled".to_owned()), "{number}: {history:?}");
        }
        assert_eq!(history.last().unwrap(), "assistant: i will look.", "{number}");
    }
}

/// A verdict that was stored, and not acted on before the process died, is acted on.
#[tokio::test(start_paused = true)]
async fn a_verdict_that_was_not_used_is_used_after_a_restart() {
    let first = desk(ScriptedModel::default().then([call("c1", "pay", "5")]).then("Paid."));
    let store = SpyStore::new(&first.diary);
    let chat = Chat::new(first.agent, store.clone());
    say(&chat, "Pay.").await;
    let verdict = stored(&chat).await.approvals()[0].approve();
    chat.verdicts(ID, [verdict]).await.unwrap().finish().await.unwrap();
    let decided = store.versions().into_iter().find(|state| told(state).contains(&"said approved".to_owned())).unwrap();

    let second = desk(ScriptedModel::new(["Paid now."]));
    let chat = Chat::new(second.agent, left_with(&decided).await);
    let state = chat.resume(ID).await.unwrap().finish().await.unwrap().state;
    assert_eq!(told(&state)[2..], ["output c1: 5 by ", "assistant: paid now."]);
    assert_eq!(second.diary.lines(), ["pay 5"]);
}
