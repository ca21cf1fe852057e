//! A batch of calls as a model sends them, run concurrently: one streams, one has invalid arguments, one misspells its
//! tool, one panics, one is too slow, one succeeds. Each gets exactly one result, and none affects the others.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::BTreeMap;
use std::error::Error;
use std::panic;
use std::time::Duration;

use haft::prelude::*;
use tokio::time::{Instant, sleep};

/// Current weather for a city.
#[tool(readonly)]
fn get_weather(city: String, #[schemars(range(min = 1, max = 14))] days: u8) -> String {
    format!("{city}: sunny for {days} days")
}

/// Downloads a file and returns its size in bytes.
#[tool]
async fn download(url: String, cx: &Cx) -> Result<u32, HandlerError> {
    for part in 1..=4 {
        sleep(Duration::from_millis(60)).await;
        cx.progress(f64::from(part), 4.0, &*url).await?;
    }
    Ok(4 * 1024)
}

/// Divides two whole numbers.
#[tool]
fn divide(dividend: i64, divisor: i64) -> i64 {
    dividend / divisor
}

/// Searches the archive.
#[tool(timeout = "300ms")]
async fn search(query: String) -> Vec<String> {
    sleep(Duration::from_secs(3600)).await;
    vec![query]
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let kit = toolkit![GetWeather, Download, Divide, Search];
    kit.ensure_runnable()?;

    let calls = [
        ToolCall::new("call_1", "download", r#"{"url": "https://a.example/file"}"#),
        ToolCall::new("call_2", "get_weather", r#"{"citty": "Paris", "days": 30}"#),
        ToolCall::new("call_3", "get_wether", r#"{"city": "Paris", "days": 3}"#),
        ToolCall::new("call_4", "divide", r#"{"dividend": 84, "divisor": 0}"#),
        ToolCall::new("call_5", "search", r#"{"query": "haft"}"#),
        ToolCall::new("call_6", "get_weather", r#"{"city": "Oslo", "days": 2}"#),
    ];

    // A panic of a tool is caught and becomes the result of its call. Rust would still report it on the terminal, in
    // the middle of the output, so its report is disabled meanwhile.
    let usual_report = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));

    println!("What happens, as it happens:\n");
    println!("{:>7}  {:<7} {:<12} {:>3}  event", "time", "call", "tool", "seq");
    let began = Instant::now();
    let mut results = BTreeMap::new();
    let mut run = kit.run(&calls);
    while let Some(event) = run.next().await {
        show(&event, began);
        if let ToolEvent::Output { index, result } = event {
            results.insert(index, result);
        }
    }
    panic::set_hook(usual_report);

    println!("\nWhat the model reads, in the order it asked:\n");
    for result in results.values() {
        let answer = result.to_call_output();
        println!("{}  {}", answer.call_id, answer.output);
    }

    let kinds: Vec<_> = results.values().map(|result| result.failure().map_or("ok", |f| f.kind.as_str())).collect();
    let expected = ["ok", "input_validation_error", "unknown_tool", "execution_error", "timed_out", "ok"];
    assert_eq!(kinds, expected);
    assert!(results.values().map(|result| &result.call_id).eq(calls.iter().map(|call| &call.call_id)));

    let cause = results[&3].failure().and_then(Error::source).map(ToString::to_string);
    println!("\nWhat only the operator learns of call_4: {}", cause.as_deref().unwrap_or("nothing"));
    assert_eq!(cause.as_deref(), Some("panicked: attempt to divide by zero"));
    Ok(())
}

/// Prints one line per event.
fn show(event: &ToolEvent, began: Instant) {
    let (seq, what) = match event {
        ToolEvent::Progress { seq, data, .. } => (seq.to_string(), format!("progress {data}")),
        ToolEvent::Output { result, .. } => match result.failure() {
            None => (String::new(), "output   ok".to_owned()),
            Some(failure) => (String::new(), format!("output   {}", failure.kind)),
        },
        other => (String::new(), format!("{other:?}")),
    };
    let time = format!("{} ms", began.elapsed().as_millis());
    println!("{time:>7}  {:<7} {:<12} {seq:>3}  {what}", event.call_id().as_str(), event.tool());
}
