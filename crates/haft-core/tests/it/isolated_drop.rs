//! State that user code captured is dropped in isolation: a drop that panics costs nothing, and any number of them at once
//! end neither the run nor the process.
//!
//! [`bench`] builds a toolkit and options in which any part may hold such state; [`way`] lets go of them in every way
//! there is.

mod bench;
mod subscriber;
mod waker;
mod way;

use self::bench::{ALL, Bench, Part};
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

/// Lets go of these fragile parts in every way. Each is dropped once.
async fn hold(fragile: &[Part]) {
    for way in WAYS {
        let bench = Bench::new(fragile);
        let drops = bench.drops();
        way.go(bench).await;
        assert_eq!(drops.count(), fragile.len(), "{fragile:?}, {way:?}");
    }
}
