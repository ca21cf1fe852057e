//! Middleware around every tool of a kit: two user-defined ones, a closure and a type that needs a service, among
//! those that are shipped. The last one applied is the outermost.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft::middleware::{Backoff, Cache, Middleware, Next, RateLimit, Request, Retry, Timeout, Trace};
use haft::prelude::*;
use haft::run::Outcome;
use haft::toolkit::Needs;
use serde::Serialize;

/// The users with access.
struct Staff(Vec<&'static str>);

#[derive(Services)]
struct App {
    staff: Staff,
    requests: AtomicU32,
}

/// A middleware that rejects everyone but the staff. Its services become those of the toolkit it wraps.
struct StaffOnly;

impl Middleware for StaffOnly {
    type Services = (Needs<Staff>,);

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let caller = request.cx().caller().map_or("nobody", |caller| caller.as_str());
        match request.cx().service::<Staff>() {
            Ok(staff) if staff.0.contains(&caller) => next.run(request).await,
            _ => ToolFailure::new(FailureKind::PermissionDenied, format!("{caller} is not of the staff")).into(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema, Failure)]
enum FetchError {
    /// The server is busy.
    #[failure(retryable)]
    Busy,
}

/// Fetches a page.
#[tool(readonly, idempotent)]
fn fetch(url: String, #[service] requests: &AtomicU32) -> Result<String, FetchError> {
    // Every first request fails.
    match requests.fetch_add(1, Ordering::Relaxed) {
        0 => Err(FetchError::Busy),
        _ => Ok(format!("contents of {url}")),
    }
}

/// The content of the log, to check it at the end.
type Log = Arc<Mutex<Vec<String>>>;

/// Creates a middleware from a closure, which records the calls and their outcomes.
fn logging(place: &'static str, log: &Log) -> impl Middleware<Services = ()> + use<> {
    let log = Arc::clone(log);
    move |request: Request, next: Next| {
        let log = Arc::clone(&log);
        async move {
            let call = format!("{} (attempt {})", request.call_id(), request.attempt());
            note(&log, format!("{place:<7} > {call}"));
            let outcome = next.run(request).await;
            let went = match &outcome {
                Outcome::Ok(_) => "ok".to_owned(),
                Outcome::Failed(failure) => failure.to_string(),
            };
            note(&log, format!("{place:<7} < {call}: {went}"));
            outcome
        }
    }
}

fn note(log: &Log, line: String) {
    println!("{line}");
    log.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

#[tokio::main]
async fn main() {
    let log = Log::default();
    let kit = toolkit![Fetch]
        .wrap(Timeout::new(Duration::from_secs(5))) // the innermost: the time of one attempt
        .wrap(RateLimit::new(100, Duration::from_secs(1))) // every attempt takes its turn
        .wrap(logging("inside", &log)) // sees every attempt
        .wrap(Retry::new(3).backoff(Backoff::constant(Duration::from_millis(20))))
        .wrap(Cache::new(Duration::from_secs(60))) // a remembered answer costs nothing
        .wrap(logging("outside", &log)) // sees every call that is let in
        .wrap(StaffOnly)
        .wrap(Trace::new()) // the outermost: shows everything to a `tracing` subscriber, once there is one
        .provide(App { staff: Staff(vec!["ana"]), requests: AtomicU32::new(0) });

    let page = r#"{"url": "https://a.example"}"#;
    for (id, caller) in [("first", "ana"), ("second", "ana"), ("third", "eve")] {
        println!("--- {caller} calls");
        let run = kit.run_with([ToolCall::new(id, "fetch", page)], RunOptions::new().caller(caller));
        for result in run.collect_results().await {
            println!("    {}", result.to_call_output().output);
            assert_eq!(result.is_ok(), caller == "ana");
        }
    }

    let log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = [
        "outside > first (attempt 1)",
        "inside  > first (attempt 1)",
        "inside  < first (attempt 1): tool_failed: The server is busy.",
        "inside  > first (attempt 2)",
        "inside  < first (attempt 2): ok",
        "outside < first (attempt 1): ok",
        // The second call is answered from the cache, and the third is rejected.
        "outside > second (attempt 1)",
        "outside < second (attempt 1): ok",
    ];
    assert_eq!(*log, expected);
}
