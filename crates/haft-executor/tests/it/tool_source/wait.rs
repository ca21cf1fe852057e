//! Waiting for a change.

use futures_util::FutureExt;
use haft_executor::{SharedToolkit, ToolSource, Toolkit};

use super::{generation, tool};

#[tokio::test]
async fn a_toolkit_never_changes() {
    let kit: Toolkit = Toolkit::from_iter([tool("a", 1)]);
    assert_eq!(generation(&kit), 0);
    for after in [0, 1, u64::MAX] {
        assert!(kit.changed(after).now_or_never().is_none());
    }
}

#[tokio::test]
async fn it_completes_at_once_if_the_generation_is_greater_already() {
    let tools = SharedToolkit::default();
    assert!(tools.changed(0).now_or_never().is_none());
    tools.add(tool("a", 1)).unwrap();
    tools.add(tool("b", 1)).unwrap();
    assert!(tools.changed(0).now_or_never().is_some());
    assert!(tools.changed(1).now_or_never().is_some());
    assert!(tools.changed(2).now_or_never().is_none());
    assert!(tools.changed(u64::MAX).now_or_never().is_none());
}

#[tokio::test]
async fn every_waiter_is_woken_and_a_dropped_one_changes_nothing() {
    let tools = SharedToolkit::default();
    let waiters: Vec<_> = (0..20)
        .map(|after| {
            let tools = tools.clone();
            tokio::spawn(async move {
                tools.changed(after / 10).await;
                tools.snapshot().generation()
            })
        })
        .collect();
    tokio::task::yield_now().await;
    // Polled once, and dropped.
    assert!(tools.changed(0).now_or_never().is_none());
    tools.add(tool("a", 1)).unwrap();
    tokio::task::yield_now().await;
    assert_eq!(waiters.iter().filter(|waiter| waiter.is_finished()).count(), 10);
    tools.remove("a");
    for (after, waiter) in waiters.into_iter().enumerate() {
        assert!(waiter.await.unwrap() > after as u64 / 10);
    }
}

/// A future that waits across changes that do not count completes with the first that does.
#[tokio::test]
async fn it_waits_for_the_generation_and_not_for_any_change() {
    let tools = SharedToolkit::default();
    let mut third = tools.changed(2);
    for change in 1..=3 {
        assert!((&mut third).now_or_never().is_none(), "before change {change}");
        tools.replace(tool("a", change));
    }
    assert!(third.now_or_never().is_some());
}

#[tokio::test]
async fn made_of_others_it_completes_when_any_of_them_changes() {
    let (first, second) = (SharedToolkit::default(), SharedToolkit::default());
    let all =
        first.clone().merged(second.clone().namespaced("ns").unwrap().filtered(|_| true)).composed(Toolkit::new());
    for (source, change) in [(&first, 1), (&second, 2), (&second, 3), (&first, 4)] {
        let seen = all.snapshot();
        let mut changed = all.changed(seen.generation());
        assert!((&mut changed).now_or_never().is_none());
        source.replace(tool("a", change));
        assert!(changed.now_or_never().is_some());
        assert!(all.snapshot().generation() > seen.generation());
    }
    assert!(all.changed(4).now_or_never().is_none());
}

/// A change that is made between reading and waiting is not missed.
#[tokio::test]
async fn no_change_is_missed() {
    let tools = SharedToolkit::default();
    let all = tools.clone().merged(Toolkit::new());
    let changes = tokio::spawn(async move {
        for change in 0..100 {
            tools.replace(tool("a", change));
            tokio::task::yield_now().await;
        }
    });
    let mut seen = 0;
    while seen < 100 {
        all.changed(seen).await;
        let now = all.snapshot().generation();
        assert!(now > seen);
        seen = now;
    }
    changes.await.unwrap();
}
