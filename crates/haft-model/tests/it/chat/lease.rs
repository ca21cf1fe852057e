//! The lease of a run, by a clock that is that of the runtime.

use haft_core::Timestamp;
use tokio::time::Instant;

use super::*;

const LEASE: Duration = Duration::from_secs(9);

/// A store whose clock is that of the paused runtime.
fn store() -> MemoryStore {
    let start = Instant::now();
    MemoryStore::new().clock(move || Timestamp::from_unix_millis(start.elapsed().as_millis().try_into().unwrap()))
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_renewed_for_as_long_as_the_run_lasts() {
    let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Done."));
    let chat = Chat::new(desk.agent, store()).lease(LEASE);
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_turn).await;
    for _ in 0..100 {
        tokio::time::sleep(LEASE / 2).await;
        assert!(matches!(chat.message(ID, "Hello?").await, Err(ChatError::Busy { .. })));
    }
    desk.go.notify_one();
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Stopped);
}

/// A reader that takes its time does not keep the claim from being renewed.
#[tokio::test(start_paused = true)]
async fn a_claim_is_renewed_while_nobody_reads() {
    let desk = desk(ScriptedModel::default().then("x".repeat(1_000)));
    let chat = Chat::new(desk.agent, store()).lease(LEASE).stalled_after(LEASE * 10);
    let mut run = chat.message(ID, "Go.").await.unwrap();
    run.next().await.unwrap();
    tokio::time::sleep(LEASE * 5).await;
    assert!(matches!(chat.message(ID, "Hello?").await, Err(ChatError::Busy { .. })));
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Stopped);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_can_not_renew_for_a_moment_is_asked_again() {
    let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Done."));
    let fails = |operation, count| {
        let is_down = operation == Operation::Renew && count < 4;
        is_down.then(|| StoreError::failed("reach the database", "connection refused"))
    };
    let mut spy = SpyStore::new(&desk.diary).failing(fails);
    spy.inner = store();
    let chat = Chat::new(desk.agent, spy.clone()).lease(LEASE);
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_turn).await;
    tokio::time::sleep(LEASE * 3).await;
    assert!(matches!(chat.message(ID, "Hello?").await, Err(ChatError::Busy { .. })));
    desk.go.notify_one();
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Stopped);
    assert!(spy.count(Operation::Renew) > 4);
}

/// A process that was stopped for longer than its lease goes on if nobody has taken its place.
#[tokio::test(start_paused = true)]
async fn an_expired_claim_is_renewed_before_a_save() {
    let desk = desk(ScriptedModel::default().then([call("c1", "slow", "")]).then("Done."));
    let skip = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let (skipped, start) = (Arc::clone(&skip), Instant::now());
    let clock = move || {
        let millis: u64 = start.elapsed().as_millis().try_into().unwrap();
        Timestamp::from_unix_millis(millis + skipped.load(std::sync::atomic::Ordering::SeqCst))
    };
    let chat = Chat::new(desk.agent, MemoryStore::new().clock(clock)).lease(LEASE);
    let mut run = chat.message(ID, "Go.").await.unwrap();
    read_to(&mut run, is_turn).await;
    skip.store(60_000, std::sync::atomic::Ordering::SeqCst);
    desk.go.notify_one();
    assert_eq!(run.finish().await.unwrap().end, LoopEnd::Stopped);
    assert_eq!(told(&stored(&chat).await).len(), 4);
}

/// A run that dies without a word is busy until its lease expires.
#[tokio::test(start_paused = true)]
async fn a_conversation_of_a_process_that_died_is_free_when_the_lease_expires() {
    let store = store();
    let claim = store.claim(ID, LEASE).await.unwrap();
    drop(claim);
    let chat = Chat::new(desk(ScriptedModel::new(["Hello!"])).agent, store);
    let Err(ChatError::Busy { until }) = chat.message(ID, "Hi.").await else { panic!() };
    assert_eq!(until, Timestamp::from_unix_millis(9_000));
    tokio::time::sleep(LEASE).await;
    assert_eq!(say(&chat, "Hi.").await.0, LoopEnd::Stopped);
}
