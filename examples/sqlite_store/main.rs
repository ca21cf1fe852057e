//! A store of conversations in a database of your own, and the suite that tests any store. `chat_service` uses it.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use haft::conversation::Timestamp;
use haft::model::store_suite;

use self::store::SqliteStore;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The suite moves the time by itself.
    let millis = Arc::new(AtomicU64::new(1_000));
    let clock = Arc::clone(&millis);
    let store = SqliteStore::open(":memory:")?.clock(move || Timestamp::from_unix_millis(clock.load(Ordering::SeqCst)));
    let advance = |by: std::time::Duration| {
        millis.fetch_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
    };
    store_suite(&store, advance).await?;
    println!("the store in SQLite keeps every law of a store");
    Ok(())
}
