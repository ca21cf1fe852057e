//! Whose turn it is.
//!
//! Calls that are ready to run take a place or wait for one, first come, first served. A call that is waiting only for
//! its own kind (its tool, its key) lets others pass; one that needs the run for itself does not, or it might wait for
//! ever. Places are given back when the handler is done, not when its result is read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroUsize;

use crate::tool::{Concurrency, Tool, ToolName};

/// The places of one run.
#[derive(Debug, Default)]
pub(super) struct Slots {
    most: Option<NonZeroUsize>,
    running: usize,
    exclusive: bool,
    tools: HashMap<ToolName, usize>,
    keys: HashSet<String>,
    waiting: VecDeque<usize>,
}

/// Why a call can't run yet.
enum Blocked {
    /// By calls of its own kind.
    Itself,
    /// By all calls: nobody may pass it.
    Everything,
}

impl Slots {
    pub(super) fn new(most: Option<NonZeroUsize>) -> Self {
        Self { most, ..Self::default() }
    }

    /// Takes a place for a call, or puts it at the end of the line.
    pub(super) fn enter(&mut self, index: usize, tool: &Tool) -> bool {
        let entered = self.waiting.is_empty() && self.take(tool).is_ok();
        if !entered {
            self.waiting.push_back(index);
        }
        entered
    }

    /// Gives a place back.
    pub(super) fn leave(&mut self, tool: &Tool) {
        self.running -= 1;
        match &tool.limits().concurrency {
            Concurrency::Shared => {}
            Concurrency::Exclusive => self.exclusive = false,
            Concurrency::Max(_) => {
                if let Some(count) = self.tools.get_mut(tool.name()) {
                    *count -= 1;
                }
            }
            Concurrency::Keyed(key) => {
                self.keys.remove(key);
            }
        }
    }

    /// Forgets all calls that wait.
    pub(super) fn clear_line(&mut self) {
        self.waiting.clear();
    }

    /// The next call that may run now; it has taken its place.
    pub(super) fn next<'t>(&mut self, tool_of: impl Fn(usize) -> Option<&'t Tool>) -> Option<usize> {
        let mut at = 0;
        while let Some(&index) = self.waiting.get(at) {
            match tool_of(index).map(|tool| self.take(tool)) {
                Some(Ok(())) => return self.waiting.remove(at),
                Some(Err(Blocked::Everything)) => return None,
                Some(Err(Blocked::Itself)) | None => at += 1,
            }
        }
        None
    }

    fn take(&mut self, tool: &Tool) -> Result<(), Blocked> {
        if self.exclusive || self.most.is_some_and(|most| self.running >= most.get()) {
            return Err(Blocked::Everything);
        }
        match &tool.limits().concurrency {
            Concurrency::Shared => {}
            Concurrency::Exclusive if self.running > 0 => return Err(Blocked::Everything),
            Concurrency::Exclusive => self.exclusive = true,
            Concurrency::Max(most) => {
                let count = self.tools.entry(tool.shared_name().clone()).or_default();
                if *count >= most.get() {
                    return Err(Blocked::Itself);
                }
                *count += 1;
            }
            Concurrency::Keyed(key) => {
                if self.keys.contains(key) {
                    return Err(Blocked::Itself);
                }
                self.keys.insert(key.clone());
            }
        }
        self.running += 1;
        Ok(())
    }
}
