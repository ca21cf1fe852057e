//! Random batches of calls, run and read in random ways.
//!
//! [`batch`] generates the calls and the course of a run, [`bench`] is the set of tools, each with a gauge inside its
//! handler, [`gauge`] counts the handlers that run at the same time. In every case: each call has exactly one output
//! and nothing after it, the observer misses nothing, no concurrency limit is ever exceeded, everything ends in a
//! bounded time, and nothing is left running.

mod batch;
mod bench;
mod gauge;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ToolEvent, ToolResult};
use haft_executor::{Cancellation, Dispatch, Run, RunOptions, SharedToolkit, ToolSource};
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use self::batch::{Batch, Cap, Ending, Owner, batches};
use self::gauge::Gauge;
use crate::executor_faults::record;
use crate::executor_faults::way::paused;
use crate::seeded::for_all;

const CASES: u32 = 256;

#[test]
fn every_call_is_answered_once_and_no_limit_is_exceeded() {
    for_all(CASES, batches(), |batch| paused().block_on(hold(&batch, Tools::Fixed)));
}

/// The same for a run on a live source whose tools are all replaced before the first poll, and again after every event.
#[test]
fn a_run_executes_only_handlers_of_its_own_snapshot() {
    for_all(CASES, batches(), |batch| paused().block_on(hold(&batch, Tools::Live)));
}

#[test]
fn results_come_in_the_order_of_the_calls() {
    for_all(CASES, batches(), |batch| paused().block_on(hold_results(&batch)));
}

/// The tools of the source while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tools {
    Fixed,
    Live,
}

/// The events that a reader got, to the end or before it stopped.
struct Reading {
    events: Vec<ToolEvent>,
    elapsed: Duration,
}

async fn hold(batch: &Batch, tools: Tools) -> TestCaseResult {
    let (gauge, told) = (Gauge::new(batch.concurrency), Arc::new(Mutex::new(Vec::new())));
    let (calls, telling) = (batch.calls(), Arc::clone(&told));
    let (options, flag) = options(batch, &gauge);
    let options = options.observe(move |event| telling.lock().unwrap().push(event.clone()));
    let source = SharedToolkit::new(bench::kit(batch));
    let run = source.run_calls(calls.iter().map(Into::into).collect(), options);
    let change = || {
        if tools == Tools::Live {
            bench::intrude(&source);
        }
    };

    let reading = timeout(batch.longest() * 2, read(run, batch, flag, change)).await;
    prop_assert!(reading.is_ok(), "the run never ends");
    let Reading { events, elapsed } = reading.unwrap();
    prop_assert!(elapsed <= batch.longest(), "it took {elapsed:?} of {:?}", batch.longest());

    if !batch.is_spawned {
        prop_assert_eq!(gauge.live_in_tasks(), 0, "handlers in the reading task outlive it");
    }
    // Time stands still until the blocking ones have ended.
    sleep(Duration::from_millis(1)).await;
    prop_assert_eq!(gauge.live(), 0, "handlers are left running");
    prop_assert_eq!(gauge.breaches(), Vec::<String>::new());

    let told = told.lock().unwrap();
    prop_assert_eq!(record::check(&calls, &told), Ok(()));
    prop_assert_eq!(&told[..events.len()], &events[..], "the observer was told something else");
    if !batch.is_dropped() {
        prop_assert_eq!(told.len(), events.len());
    }
    if batch.is_undisturbed() {
        check_outcomes(batch, &told)?;
    }
    if tools == Tools::Live {
        prop_assert_eq!(source.snapshot().generation(), 1 + events.len() as u64);
    }
    Ok(())
}

async fn hold_results(batch: &Batch) -> TestCaseResult {
    let (gauge, calls) = (Gauge::new(batch.concurrency), batch.calls());
    let (options, flag) = options(batch, &gauge);
    if let Ending::Raised(after) = batch.ending {
        tokio::spawn(async move {
            sleep(after).await;
            flag.cancel();
        });
    }
    let results = timeout(batch.longest() * 2, bench::kit(batch).run_with(&calls, options).collect_results()).await;
    prop_assert!(results.is_ok(), "the run never ends");
    let results = results.unwrap();
    prop_assert_eq!(results.len(), calls.len());
    for (result, call) in results.iter().zip(&calls) {
        prop_assert_eq!((&result.call_id, result.tool.as_str()), (&call.call_id, call.name.as_str()));
    }
    prop_assert_eq!(gauge.breaches(), Vec::<String>::new());
    Ok(())
}

fn options(batch: &Batch, gauge: &Gauge) -> (RunOptions, Cancellation) {
    let flag = Cancellation::new();
    let mut options = RunOptions::new().concurrency(batch.concurrency).cancellation(flag.clone());
    options = options.extension(gauge.clone()).approvals(bench::approve).permit(bench::permit);
    if let Some(timeout) = batch.call_timeout {
        options = options.call_timeout(timeout);
    }
    if let Some(silence) = batch.call_silence {
        options = options.call_idle_timeout(silence);
    }
    if let Some(Cap { owner: Owner::Run, rule }) = batch.cap {
        options = options.output_cap(bench::output_cap(rule));
    }
    if let Ending::Deadline(after) = batch.ending {
        options = options.timeout(after);
    }
    if batch.is_spawned {
        options = options.spawned();
    }
    (options, flag)
}

/// Reads as the batch specifies, with a change of the tools before the first and after every event, and drops the run.
async fn read(mut run: Run, batch: &Batch, flag: Cancellation, change: impl Fn()) -> Reading {
    change();
    let start = Instant::now();
    let (cancel_at, raise_at) = match batch.ending {
        Ending::Cancelled(after) => (Some(start + after), None),
        Ending::Raised(after) => (None, Some(start + after)),
        _ => (None, None),
    };
    if let Some(at) = raise_at {
        tokio::spawn(async move {
            sleep_until(at).await;
            flag.cancel();
        });
    }
    let mut events = Vec::new();
    let mut cancel_at = cancel_at;
    loop {
        let event = tokio::select! {
            biased;
            () = sleep_until(cancel_at.unwrap_or(start)), if cancel_at.is_some() => {
                cancel_at = None;
                run.cancel();
                continue;
            }
            event = run.next() => event,
        };
        let Some(event) = event else { break };
        events.push(event);
        change();
        if matches!(batch.ending, Ending::Dropped(at) if at == events.len()) {
            break;
        }
        if !batch.pause.is_zero() {
            sleep(batch.pause).await;
        }
    }
    drop(run);
    Reading { events, elapsed: start.elapsed() }
}

fn in_call_order(events: &[ToolEvent]) -> Vec<ToolResult> {
    let mut results: Vec<_> = events.iter().filter_map(|event| Some((event.index(), event.result()?))).collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result.clone()).collect()
}

/// Checks that without disturbances every call ends as its arguments require, and emits all its values.
fn check_outcomes(batch: &Batch, events: &[ToolEvent]) -> TestCaseResult {
    for (index, result) in in_call_order(events).iter().enumerate() {
        let kind = result.failure().map(|failure| failure.kind.clone());
        prop_assert_eq!(&kind, &batch.fate(index), "call {}: {:?}", index, batch.asked[index]);
        let shown = |event: &&ToolEvent| {
            let is_shown = matches!(event, ToolEvent::Progress { .. } | ToolEvent::Preliminary { .. });
            is_shown && event.index() == index
        };
        if kind.is_none() {
            prop_assert_eq!(
                events.iter().filter(shown).count() as u64,
                batch.shown(index),
                "what call {} showed",
                index
            );
        }
    }
    Ok(())
}
