//! Checking a row: its events, and its results where no events are read.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{ToolEvent, ToolResult};
use haft_executor::{Run, RunOptions};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::case::{Case, Ran, Reader, read};
use super::way::{Way, paused};

/// A duration longer than any row takes.
const FOREVER: Duration = Duration::from_secs(100 * 24 * 3600);

/// Checks a row all four ways.
pub(super) fn hold(_: &str, row: impl Fn(&Ran) -> Case) {
    for way in Way::ALL {
        hold_events(way, &row);
        hold_results(way, &row);
    }
}

/// Checks the events of the reader and the observer.
fn hold_events(way: Way, row: &impl Fn(&Ran) -> Case) {
    let (ran, told) = (Ran::default(), Arc::new(Mutex::new(Vec::new())));
    let telling = Arc::clone(&told);
    let (case, events) = within(async {
        let case = row(&ran);
        let run = run(&case, way, |options| options.observe(move |event| telling.lock().unwrap().push(event.clone())));
        let events = read(run, case.reader.clone()).await;
        (case, events)
    });
    case.check(way, &ran, &events);
    assert_eq!(*told.lock().unwrap(), events, "{way:?}: the observer was told something else");
}

/// Checks the results of a program that reads no events, or no more of them.
fn hold_results(way: Way, row: &impl Fn(&Ran) -> Case) {
    let (case, read, results) = within(async {
        let case = row(&Ran::default());
        let (read, results) = collect(run(&case, way, |options| options), case.reader.clone()).await;
        (case, read, results)
    });
    let answered: Vec<_> = results.iter().map(|result| result.call_id.clone()).collect();
    let left: Vec<_> = (0..).zip(case.all_calls(way)).filter(|(index, _)| !read.contains_key(index)).collect();
    let asked: Vec<_> = left.iter().map(|(_, call)| call.call_id.clone()).collect();
    assert_eq!(answered, asked, "{way:?}: results are not in the order of the calls");
    let results: BTreeMap<_, _> = left.into_iter().map(|(index, _)| index).zip(results).chain(read).collect();
    case.check_results(way, &results.into_values().collect::<Vec<_>>());
}

fn run(case: &Case, way: Way, change: impl FnOnce(RunOptions) -> RunOptions) -> Run {
    case.toolkit().run_with(case.all_calls(way), way.options(change(case.options.clone())))
}

/// Runs a future to its end, within a time limit.
fn within<T>(run: impl Future<Output = T>) -> T {
    let ended = paused().block_on(async { timeout(FOREVER, run).await });
    ended.unwrap_or_else(|_| panic!("the run never ends"))
}

/// Reads as the reader does until nothing disturbs the run any more, and collects the rest as results. Returns the
/// results that were read by then, by the index of their calls, and the rest.
async fn collect(mut run: Run, reader: Reader) -> (BTreeMap<usize, ToolResult>, Vec<ToolResult>) {
    let mut read = BTreeMap::new();
    let mut note = |event: ToolEvent| read.extend(event.result().map(|result| (event.index(), result.clone())));
    match reader {
        Reader::Eager | Reader::CancellingAtTheEnd(_) => {}
        Reader::Pausing(pause) => {
            for _ in 0..20 {
                let Some(event) = run.next().await else { break };
                note(event);
                sleep(pause).await;
            }
        }
        Reader::CancellingAfter(Duration::ZERO) => run.cancel(),
        Reader::CancellingAfter(wait) => {
            let at = Instant::now() + wait;
            while let Ok(Some(event)) = timeout_at(at, run.next()).await {
                note(event);
            }
            run.cancel();
        }
        Reader::RaisingAfter(Duration::ZERO, flag) => flag.cancel(),
        Reader::RaisingAfter(wait, flag) => {
            tokio::spawn(async move {
                sleep(wait).await;
                flag.cancel();
            });
        }
    }
    (read, run.collect_results().await)
}
