//! State that user code captured is dropped in isolation: a drop that panics costs nothing, and any number of them at
//! once end neither the run nor the process.
//!
//! [`bench`] builds a toolkit and options in which any part may hold such state; [`way`] drops them in every way there
//! is.

mod bench;
mod subscriber;
mod waker;
mod way;

use std::future::pending;

use futures_util::{FutureExt, stream};
use haft_core::ToolCall;
use haft_executor::{Cx, Next, NoFailure, Outputs, Request, RunOptions, Tool, Toolkit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::bench::{ALL, Bench, Drops, Fragile, Part};
use self::way::WAYS;

#[tokio::test(start_paused = true)]
async fn one_panicking_drop_loses_no_result() {
    for part in ALL {
        hold(&[part]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn any_number_of_panicking_drops_lose_no_result() {
    hold(&ALL).await;
    for (n, part) in ALL.into_iter().enumerate() {
        hold(&[part, ALL[(n + 1) % ALL.len()]]).await;
    }
}

/// Drops these fragile parts in every way, and checks that each is dropped once.
async fn hold(fragile: &[Part]) {
    for way in WAYS {
        let bench = Bench::new(fragile);
        let drops = bench.drops();
        way.go(bench).await;
        assert_eq!(drops.count(), fragile.len(), "{fragile:?}, {way:?}");
    }
}

/// Creates a handler that waits for ever with a fragile value, inside of two middlewares that do.
fn waiting(drops: &Drops) -> Tool {
    let layer = |drops: &Drops| {
        let drops = drops.clone();
        move |request: Request, next: Next| {
            let fragile = Fragile::new(&drops);
            async move {
                let outcome = next.run(request).await;
                drop(fragile);
                outcome
            }
        }
    };
    let inside = drops.clone();
    let handler = move |(), _: Cx| {
        let fragile = Fragile::new(&inside);
        async move {
            pending::<()>().await;
            drop(fragile);
        }
    };
    Tool::new("waiting").handler(handler).unwrap().wrap(layer(drops)).wrap(layer(drops))
}

#[tokio::test]
async fn locals_of_a_handler_and_of_its_middlewares_are_dropped_separately() {
    for spawned in [false, true] {
        let drops = Drops::default();
        let kit: Toolkit =
            Toolkit::from_iter([waiting(&drops), Tool::new("done").handler(|(), _: Cx| async {}).unwrap()]);
        let options = if spawned { RunOptions::new().spawned() } else { RunOptions::new() };
        let calls = [ToolCall::new("c1", "waiting", ""), ToolCall::new("c2", "done", "")];
        let mut run = kit.run_with(calls, options);
        assert!(run.next().await.unwrap().result().unwrap().is_ok());
        run.cancel();
        assert!(!run.next().await.unwrap().result().unwrap().is_ok());
        tokio::task::yield_now().await;
        assert_eq!(drops.count(), 3, "spawned is {spawned}");
    }
}

/// A value whose drop panics.
#[derive(Serialize, JsonSchema)]
struct Value {
    #[serde(skip)]
    _fragile: Option<Fragile>,
}

/// Parameters whose drop panics.
#[derive(Deserialize, JsonSchema)]
struct Params {
    #[serde(skip, default = "fragile")]
    _fragile: Fragile,
}

fn fragile() -> Fragile {
    Fragile::new(&Drops::default())
}

#[tokio::test]
async fn the_stream_of_a_handler_and_its_last_value_are_dropped_separately() {
    let drops = Drops::default();
    let inside = drops.clone();
    let run = move |(), _: Cx| {
        let (held, value) = (Fragile::new(&inside), Value { _fragile: Some(Fragile::new(&inside)) });
        let mut value = Some(value);
        Outputs::<_, NoFailure>::values(stream::poll_fn(move |_| {
            let _ = &held;
            value.take().map_or(std::task::Poll::Pending, |value| std::task::Poll::Ready(Some(value)))
        }))
    };
    let kit: Toolkit = Toolkit::from_iter([Tool::new("stream").stream_handler(run).unwrap()]);
    let mut run = kit.run([ToolCall::new("c1", "stream", "")]);
    assert!(run.next().now_or_never().is_none());
    run.cancel();
    assert!(!run.next().await.unwrap().result().unwrap().is_ok());
    assert_eq!(drops.count(), 2);
}

#[tokio::test]
async fn parameters_that_a_middleware_withheld_are_dropped_separately() {
    let drops = Drops::default();
    let inside = drops.clone();
    let keeps = move |request: Request, _: Next| {
        let fragile = Fragile::new(&inside);
        async move {
            pending::<()>().await;
            drop((request, fragile));
            unreachable!()
        }
    };
    let tool = Tool::new("keeps").handler(|_: Params, _: Cx| async {}).unwrap().wrap(keeps);
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let mut run = kit.run([ToolCall::new("c1", "keeps", "{}")]);
    assert!(run.next().now_or_never().is_none());
    run.cancel();
    assert!(!run.next().await.unwrap().result().unwrap().is_ok());
    assert_eq!(drops.count(), 1);
}
