//! Sources that break their contract, as parts of others: they harm their own tools at most.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use haft_executor::{Changed, SharedToolkit, Snapshot, ToolSource, Toolkit};

use super::{generation, names, tool};

/// A source with any generation that a test sets, which never reports a change.
#[derive(Default)]
struct Unsteady(Mutex<Snapshot>);

impl Unsteady {
    fn set(&self, name: &str, generation: u64) {
        *self.0.lock().unwrap() = Snapshot::new(Toolkit::from_iter([tool(name, 1)]), generation);
    }
}

impl ToolSource for Unsteady {
    fn snapshot(&self) -> Snapshot {
        self.0.lock().unwrap().clone()
    }

    fn changed(&self, _: u64) -> Changed<'_> {
        Box::pin(std::future::pending())
    }
}

/// A source that always reports a change and has none.
#[derive(Default)]
struct Restless(AtomicUsize);

impl ToolSource for Restless {
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }

    fn changed(&self, _: u64) -> Changed<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}

#[test]
fn a_generation_that_goes_back_leaves_the_newest_tools() {
    let (unsteady, steady) = (Unsteady::default(), SharedToolkit::default());
    let all = (&unsteady).merged(steady.clone());
    unsteady.set("new", 5);
    assert_eq!((names(&all), generation(&all)), (vec!["new".to_owned()], 5));
    unsteady.set("old", 1);
    assert_eq!((names(&all), generation(&all)), (vec!["new".to_owned()], 5));
    steady.add(tool("added", 2)).unwrap();
    assert_eq!((names(&all), generation(&all)), (vec!["new".to_owned(), "added".to_owned()], 6));
}

/// The wait counts the same generations as the snapshots do.
#[tokio::test]
async fn a_generation_that_goes_back_hides_no_change_of_the_other_source() {
    let (unsteady, steady) = (Unsteady::default(), SharedToolkit::default());
    let all = (&unsteady).merged(steady.clone());
    unsteady.set("new", 5);
    let seen = generation(&all);
    unsteady.set("old", 1);
    let mut changed = all.changed(seen);
    assert!((&mut changed).now_or_never().is_none());
    steady.add(tool("added", 2)).unwrap();
    assert!(changed.now_or_never().is_some());
    assert!(all.changed(generation(&all)).now_or_never().is_none());
}

#[tokio::test]
async fn a_source_that_reports_changes_without_any_blocks_no_thread() {
    let (restless, steady) = (Restless::default(), SharedToolkit::default());
    let all = (&restless).merged(steady.clone());
    let mut changed = all.changed(0);
    for _ in 0..3 {
        assert!((&mut changed).now_or_never().is_none());
    }
    assert!(restless.0.load(Ordering::SeqCst) <= 4, "it is asked once for each poll");
    steady.add(tool("added", 1)).unwrap();
    assert!(changed.now_or_never().is_some());
}
