//! A source whose tools are those of two others.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use tokio::task::yield_now;

use super::cache::SnapshotCache;
use super::{Changed, Snapshot, SourceFault, ToolSource};
use crate::toolkit::{ComposeError, Toolkit};

/// A source of the tools of two others. Its generation is the sum of theirs. See [`ToolSource::merged`] and
/// [`ToolSource::composed`].
#[derive(Debug)]
pub struct Merged<A, B> {
    first: A,
    second: B,
    on_collision: Collision,
    /// The newest snapshots that were read.
    newest: Mutex<(Snapshot, Snapshot)>,
    cache: SnapshotCache,
}

/// The treatment of a name that both sources use.
#[derive(Clone, Copy, Debug)]
enum Collision {
    /// The tool of the second source is used.
    Replace,
    /// Neither tool is used.
    LeaveOut,
}

impl<A, B> Merged<A, B> {
    pub(super) fn over(first: A, second: B) -> Self {
        Self::new(first, second, Collision::Replace)
    }

    pub(super) fn beside(first: A, second: B) -> Self {
        Self::new(first, second, Collision::LeaveOut)
    }

    fn new(first: A, second: B, on_collision: Collision) -> Self {
        Self { first, second, on_collision, newest: Mutex::default(), cache: SnapshotCache::default() }
    }

    /// Returns the two sources.
    pub fn sources(&self) -> (&A, &B) {
        (&self.first, &self.second)
    }
}

impl<A: ToolSource, B: ToolSource> Merged<A, B> {
    /// Returns the newest snapshots of both sources.
    ///
    /// The two are read one after the other. Of two threads that read during changes of both, one may read an old first
    /// and a new second snapshot and the other the reverse: other tools with the same sum. So each replaces only what
    /// is older, and the pairs that are returned only ever grow.
    fn newest(&self) -> (Snapshot, Snapshot) {
        let read = (self.first.snapshot(), self.second.snapshot());
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        // Replaced snapshots are dropped when the lock is released: dropping tools runs user code.
        let _replaced = (newest.0.raise_to(&read.0), newest.1.raise_to(&read.1));
        let pair = newest.clone();
        drop(newest);
        pair
    }

    /// Returns the generations of the newest snapshots, and keeps no tools.
    fn generations(&self) -> (u64, u64) {
        let (first, second) = self.newest();
        (first.generation, second.generation)
    }

    fn combine(&self, first: Snapshot, second: Snapshot, generation: u64) -> Snapshot {
        let faults: Vec<_> = [&first, &second].into_iter().flat_map(Snapshot::faults).cloned().collect();
        let (kits, left_out) = match self.on_collision {
            Collision::Replace => ([first.kit, second.kit], Vec::new()),
            Collision::LeaveOut => without_collisions([first.kit, second.kit]),
        };
        let [first, second] = kits;
        Snapshot::new(first.merge(second), generation).with_faults(faults.into_iter().chain(left_out))
    }
}

impl Snapshot {
    /// Replaces the snapshot unless it is newer, and returns the old one.
    fn raise_to(&mut self, read: &Self) -> Option<Self> {
        (read.generation >= self.generation).then(|| std::mem::replace(self, read.clone()))
    }
}

/// Leaves out the tools whose names both toolkits use.
fn without_collisions(kits: [Toolkit; 2]) -> ([Toolkit; 2], Vec<SourceFault>) {
    let Err(ComposeError { collisions }) = Toolkit::compose(kits.clone()) else { return (kits, Vec::new()) };
    let names: HashSet<&str> = collisions.iter().map(|collision| &*collision.name).collect();
    let kits = kits.map(|kit| kit.filter(|tool| !names.contains(tool.name())));
    drop(names);
    let faults = collisions.into_iter().map(|collision| SourceFault::new(collision.name.clone(), collision));
    (kits, faults.collect())
}

impl<A: ToolSource, B: ToolSource> ToolSource for Merged<A, B> {
    fn snapshot(&self) -> Snapshot {
        let (first, second) = self.newest();
        let generation = first.generation.saturating_add(second.generation);
        self.cache.get_or_derive(generation, || self.combine(first, second, generation))
    }

    fn changed(&self, after: u64) -> Changed<'_> {
        Box::pin(async move {
            let is_after = |(first, second): (u64, u64)| first.saturating_add(second) > after;
            let mut generations = self.generations();
            while !is_after(generations) {
                let (mut first, mut second) = (self.first.changed(generations.0), self.second.changed(generations.1));
                poll_fn(|task| {
                    let is_changed = first.as_mut().poll(task).is_ready() || second.as_mut().poll(task).is_ready();
                    if is_changed { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
                generations = self.generations();
                if !is_after(generations) {
                    // A source that reports changes and has none must not keep the thread.
                    yield_now().await;
                }
            }
        })
    }
}
