//! Readers that go away, come back, or stop reading.

use haft_model::ui::UiStream;

use super::*;

/// Runs `slow` after `deploy`, and answers.
fn slow_desk() -> Desk {
    let calls = [call("c1", "deploy", "\"web\""), call("c2", "slow", "")];
    desk(ScriptedModel::default().then(calls).then("Done.").then("Hello again."))
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_reader_is_gone_is_cancelled_and_saved() {
    let desk = slow_desk();
    let chat = Chat::new(desk.agent, MemoryStore::new());
    let mut stream = UiStream::events(chat.message(ID, "Go.").await.unwrap());
    while desk.diary.count("slow begins") == 0 {
        stream.next().await.unwrap();
    }
    assert!(chat.attach(ID).is_none(), "its events are not kept");
    drop(stream);
    chat.idle().await;
    let history = told(&stored(&chat).await);
    assert_eq!(history, ["user: go.", "call c1", "call c2", "output c1: web is live", "output c2: cancelled"]);
    assert_eq!(say(&chat, "Hello?").await.1.history().len(), 7, "the claim is released");
    assert_eq!(desk.diary.count("slow ends"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_detached_run_goes_on_and_a_second_reader_sees_all_of_it() {
    let desk = slow_desk();
    let chat = Chat::new(desk.agent, MemoryStore::new()).on_disconnect(Disconnect::Detach);
    let mut first = chat.message(ID, "Go.").await.unwrap();
    let mut seen = Vec::new();
    while desk.diary.count("slow begins") == 0 {
        seen.push(first.next().await.unwrap());
    }
    drop(first);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let second = chat.attach(ID).unwrap();
    let mut third = chat.attach(ID).unwrap();
    desk.go.notify_one();
    let mut all = Vec::new();
    while let Some(event) = third.next().await {
        all.push(event);
    }
    assert_eq!(all[..seen.len()], seen[..], "from the first event on");
    let outcome = second.finish().await.unwrap();
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Done."));
    assert_eq!(stored(&chat).await, outcome.state);
    assert!(chat.attach(ID).is_none(), "it has ended");
    assert_eq!(third.next().await, None);
}

/// Otherwise the page would show the beginning of the answer twice, and a call that runs as one that was interrupted.
#[tokio::test(start_paused = true)]
async fn a_page_that_is_loaded_during_a_run_shows_what_the_run_does_not() {
    for (disconnect, shown) in [(Disconnect::Cancel, None), (Disconnect::Detach, Some(["user: go."]))] {
        let desk = slow_desk();
        let chat = Chat::new(desk.agent, MemoryStore::new()).on_disconnect(disconnect);
        assert_eq!(chat.shown(ID).await.unwrap(), None);
        let mut run = chat.message(ID, "Go.").await.unwrap();
        while desk.diary.count("slow begins") == 0 {
            run.next().await.unwrap();
        }
        let (during, saved) = (told(&chat.shown(ID).await.unwrap().unwrap()), stored(&chat).await);
        assert_eq!(during, shown.map_or_else(|| told(&saved), |shown| shown.map(str::to_owned).to_vec()));
        desk.go.notify_one();
        let outcome = run.finish().await.unwrap();
        assert_eq!(chat.shown(ID).await.unwrap(), Some(outcome.state), "{disconnect:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_from_elsewhere() {
    let desk = slow_desk();
    let chat = Chat::new(desk.agent, MemoryStore::new()).on_disconnect(Disconnect::Detach);
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_output).await;
    assert!(chat.cancel(ID) && !chat.cancel("acme/43"));
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Cancelled);
    assert!(!chat.cancel(ID), "it has ended");
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_reader_from_the_start_does_what_it_is_told() {
    let never = ScriptedTurn::pending;
    for (disconnect, turn, history) in
        [(Disconnect::Cancel, never(), 1), (Disconnect::Detach, ScriptedTurn::text("Hello!"), 2)]
    {
        let model = ScriptedModel::default().then(turn);
        let chat = Chat::new(desk(model).agent, MemoryStore::new()).on_disconnect(disconnect);
        drop(chat.message(ID, "Hi.").await.unwrap());
        chat.idle().await;
        assert_eq!(stored(&chat).await.history().len(), history, "{disconnect:?}");
    }
    let chat = Chat::new(desk(ScriptedModel::new(["Hello!"])).agent, MemoryStore::new());
    chat.message(ID, "Hi.").await.unwrap().detach();
    chat.idle().await;
    assert_eq!(stored(&chat).await.history().len(), 2);
}

/// The client goes away while its request is being prepared.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_leaves_nothing_half_done() {
    for polls in 0..12 {
        let model = ScriptedModel::default().then("Hello!").then("Hello!").then("Hello!");
        let chat = Chat::new(desk(model).agent, SpyStore::new(&Diary::default()));
        let mut future = Box::pin(chat.message(ID, "Hi.").into_future());
        for _ in 0..polls {
            let mut task = std::task::Context::from_waker(std::task::Waker::noop());
            if future.as_mut().poll(&mut task).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(future);
        // The task that it started needs a few turns of the runtime.
        tokio::time::sleep(Duration::from_millis(1)).await;
        chat.idle().await;
        let (end, state) = say(&chat, "Hello?").await;
        assert_eq!(end, LoopEnd::Stopped, "the conversation is free after {polls} polls");
        assert!(history::is_reconciled(state.history()));
    }
}

/// Calls a tool without end.
fn endless(diary: &Diary) -> TurnLoop {
    let noted = diary.clone();
    let tick = Tool::new("tick").handler(move |n: u64, _cx| {
        noted.note(format!("tick {n}"));
        async move { n }
    });
    let turns = (0..200_u32).map(|n| [call(&format!("c{n}"), "tick", &n.to_string())]);
    let model = turns.fold(ScriptedModel::default(), ScriptedModel::then);
    TurnLoop::new(model, Toolkit::from_iter([tick.unwrap()])).max_turns(200)
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_slows_the_run_and_one_that_stops_reading_ends_it() {
    let diary = Diary::default();
    let chat = Chat::new(endless(&diary), MemoryStore::new()).stalled_after(Duration::from_secs(60));
    let mut run = chat.message(ID, "Go.").await.unwrap();
    let mut last = 0;
    for _ in 0..20 {
        run.next().await.unwrap();
        tokio::time::sleep(Duration::from_secs(50)).await;
        let ticks = diary.lines().len();
        assert!(ticks <= last + 32, "the run does not run away from its reader");
        last = ticks;
    }
    assert!(last < 40, "{last}");
    tokio::time::sleep(Duration::from_secs(61)).await;
    chat.idle().await;
    assert!(diary.lines().len() <= last + 1);
    assert!(history::is_reconciled(stored(&chat).await.history()));
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Cancelled, "a reader that comes back sees the end");
}

/// Wherever a reader leaves, the conversation is consistent and free, and no call ran twice.
#[tokio::test(start_paused = true)]
async fn a_reader_may_leave_after_any_event() {
    let script = || {
        let calls = [call("c1", "deploy", "\"web\""), call("c2", "deploy", "\"db\"")];
        ScriptedModel::default().then(calls).then("Done.").then("Hello again.").then("Hello again.")
    };
    for disconnect in [Disconnect::Cancel, Disconnect::Detach] {
        let mut is_whole = false;
        for events in 0.. {
            let desk = desk(script());
            let chat = Chat::new(desk.agent, MemoryStore::new()).on_disconnect(disconnect);
            let mut run = chat.message(ID, "Go.").await.unwrap();
            for _ in 0..events {
                is_whole |= run.next().await.is_none();
            }
            drop(run);
            chat.idle().await;
            let (end, state) = say(&chat, "Hello?").await;
            assert_eq!(end, LoopEnd::Stopped, "after {events} events");
            assert!(history::is_reconciled(state.history()), "after {events} events: {:?}", told(&state));
            assert!(desk.diary.count("deploy web") <= 1 && desk.diary.count("deploy db") <= 1);
            if disconnect == Disconnect::Detach {
                assert_eq!(desk.diary.lines().len(), 2, "it went on after {events} events");
            }
            if is_whole {
                break;
            }
        }
    }
}
