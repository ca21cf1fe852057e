//! Concurrency slots, which decide when a ready call may run.
//!
//! Calls that are ready to run take a slot or wait for one, first come, first served. A call that waits only for a slot
//! of its own kind (its tool, its key) lets others overtake it; a call that needs the run exclusively does not, or it
//! might wait forever. A slot is freed when the handler has returned, not when its result is read.
//!
//! Each kind has its own queue. Only the first call of a queue can be next, so finding the next call takes time
//! proportional to the number of kinds, not of waiting calls.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::num::NonZeroUsize;

use haft_core::ToolName;

use crate::tool::{Concurrency, Tool};

/// The slots of one run.
#[derive(Debug)]
pub(super) struct Slots {
    most: Option<NonZeroUsize>,
    running: usize,
    /// Set while an exclusive call runs.
    exclusive: bool,
    /// The kinds that every run has, [`SHARED`] and [`EXCLUSIVE`].
    fixed: [Kind; 2],
    /// The kinds of tools and keys that have a limit, in the order of their first call.
    limited: Vec<Kind>,
    tools: HashMap<ToolName, usize>,
    keys: HashMap<String, usize>,
    /// The first waiting call of each kind that has room, by its number.
    heads: BTreeSet<(u64, usize)>,
    /// The number of calls that wait.
    waiting: usize,
    /// The number of calls that have waited so far, which is the number of the next one.
    numbers: u64,
}

/// Calls that share a limit.
#[derive(Debug)]
struct Kind {
    /// The number of them that may run at a time.
    most: usize,
    running: usize,
    /// Those that wait, with their numbers, first come first.
    queue: VecDeque<(u64, usize)>,
}

/// The kind of calls that only the run's limit applies to.
const SHARED: usize = 0;
/// The kind of exclusive calls.
const EXCLUSIVE: usize = 1;

impl Default for Slots {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Slots {
    pub(super) fn new(most: Option<NonZeroUsize>) -> Self {
        Self {
            most,
            running: 0,
            exclusive: false,
            fixed: [Kind::of(usize::MAX), Kind::of(usize::MAX)],
            limited: Vec::new(),
            tools: HashMap::new(),
            keys: HashMap::new(),
            heads: BTreeSet::new(),
            waiting: 0,
            numbers: 0,
        }
    }

    /// Takes a slot for a call, or puts the call at the end of its queue.
    pub(super) fn enter(&mut self, index: usize, tool: &Tool) -> bool {
        let kind = self.kind(&tool.limits().concurrency, tool);
        if self.waiting == 0 && self.has_room(kind) {
            self.take(kind);
            return true;
        }
        let number = self.numbers;
        self.numbers += 1;
        self.waiting += 1;
        self.at_mut(kind).queue.push_back((number, index));
        self.update_head(kind);
        false
    }

    /// Frees a slot.
    pub(super) fn leave(&mut self, tool: &Tool) {
        let kind = self.kind(&tool.limits().concurrency, tool);
        self.running -= 1;
        self.exclusive &= kind != EXCLUSIVE;
        self.at_mut(kind).running -= 1;
        self.update_head(kind);
    }

    /// Removes all calls that wait.
    pub(super) fn clear_waiting(&mut self) {
        self.waiting = 0;
        self.heads.clear();
        for kind in self.fixed.iter_mut().chain(&mut self.limited) {
            kind.queue.clear();
        }
    }

    /// Returns the next call that may run now; it has taken its slot.
    pub(super) fn next(&mut self) -> Option<usize> {
        // The first head is not blocked by its own kind. If it can't run, the run itself is full, or it is exclusive:
        // in both cases no other call may overtake it.
        let &(number, kind) = self.heads.first()?;
        if !self.has_room(kind) {
            return None;
        }
        let (_, index) = self.at_mut(kind).queue.pop_front()?;
        self.heads.remove(&(number, kind));
        self.waiting -= 1;
        self.take(kind);
        self.update_head(kind);
        Some(index)
    }

    /// Reports whether a call of a kind could run if it were the first that waits.
    fn has_room(&self, kind: usize) -> bool {
        let is_full = self.exclusive || self.most.is_some_and(|most| self.running >= most.get());
        !is_full && self.at(kind).has_room() && (kind != EXCLUSIVE || self.running == 0)
    }

    fn take(&mut self, kind: usize) {
        self.running += 1;
        self.exclusive = kind == EXCLUSIVE;
        self.at_mut(kind).running += 1;
    }

    /// Adds the first call of a kind to the heads, if its kind has room.
    fn update_head(&mut self, kind: usize) {
        let calls = self.at(kind);
        if let Some(&(number, _)) = calls.queue.front().filter(|_| calls.has_room()) {
            self.heads.insert((number, kind));
        }
    }

    fn at(&self, kind: usize) -> &Kind {
        self.fixed.get(kind).unwrap_or_else(|| &self.limited[kind - self.fixed.len()])
    }

    fn at_mut(&mut self, kind: usize) -> &mut Kind {
        let fixed = self.fixed.len();
        self.fixed.get_mut(kind).unwrap_or_else(|| &mut self.limited[kind - fixed])
    }

    /// Returns the kind of a tool's calls. This allocates only for the first call of a kind.
    fn kind(&mut self, concurrency: &Concurrency, tool: &Tool) -> usize {
        let (known, most) = match concurrency {
            Concurrency::Shared => return SHARED,
            Concurrency::Exclusive => return EXCLUSIVE,
            Concurrency::Max(most) => (self.tools.get(tool.name()), most.get()),
            Concurrency::Keyed(key) => (self.keys.get(key), 1),
        };
        if let Some(&kind) = known {
            return kind;
        }
        let kind = self.fixed.len() + self.limited.len();
        self.limited.push(Kind::of(most));
        match concurrency {
            Concurrency::Keyed(key) => self.keys.insert(key.clone(), kind),
            Concurrency::Shared | Concurrency::Exclusive | Concurrency::Max(_) => {
                self.tools.insert(tool.shared_name().clone(), kind)
            }
        };
        kind
    }
}

impl Kind {
    fn of(most: usize) -> Self {
        Self { most, running: 0, queue: VecDeque::new() }
    }

    fn has_room(&self) -> bool {
        self.running < self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::ExecutionLimits;

    /// A reference implementation: all waiting calls are examined in the order they came.
    struct ReferenceSlots<'a> {
        tools: &'a [Tool],
        most: usize,
        running: Vec<usize>,
        waiting: Vec<(usize, usize)>,
    }

    impl ReferenceSlots<'_> {
        fn may_run(&self, tool: usize) -> Result<(), bool> {
            let concurrency = |tool: usize| &self.tools[tool].limits().concurrency;
            let alone = self.running.iter().any(|&tool| *concurrency(tool) == Concurrency::Exclusive);
            if alone || self.running.len() >= self.most {
                return Err(false);
            }
            let of_its_kind = match concurrency(tool) {
                Concurrency::Shared => return Ok(()),
                Concurrency::Exclusive if self.running.is_empty() => return Ok(()),
                Concurrency::Exclusive => return Err(false),
                Concurrency::Max(most) => (self.running.iter().filter(|&&other| other == tool).count(), most.get()),
                keyed @ Concurrency::Keyed(_) => {
                    (self.running.iter().filter(|&&other| concurrency(other) == keyed).count(), 1)
                }
            };
            if of_its_kind.0 < of_its_kind.1 { Ok(()) } else { Err(true) }
        }

        fn enter(&mut self, index: usize, tool: usize) -> bool {
            let entered = self.waiting.is_empty() && self.may_run(tool).is_ok();
            if entered {
                self.running.push(tool);
            } else {
                self.waiting.push((index, tool));
            }
            entered
        }

        fn next(&mut self) -> Option<usize> {
            for position in 0..self.waiting.len() {
                let (index, tool) = self.waiting[position];
                match self.may_run(tool) {
                    Ok(()) => {
                        self.running.push(tool);
                        self.waiting.remove(position);
                        return Some(index);
                    }
                    Err(lets_pass) if !lets_pass => return None,
                    Err(_) => {}
                }
            }
            None
        }
    }

    fn tools() -> Vec<Tool> {
        let max = |most: usize| Concurrency::Max(NonZeroUsize::new(most).unwrap());
        let keyed = |key: &str| Concurrency::Keyed(key.to_owned());
        let kinds = [
            Concurrency::Shared,
            Concurrency::Exclusive,
            max(1),
            max(2),
            max(2),
            keyed("a"),
            keyed("a"),
            keyed("b"),
            Concurrency::Shared,
        ];
        let tool = |(n, concurrency)| {
            let limits = ExecutionLimits::new().concurrency(concurrency);
            Tool::new(format!("t{n}")).limits(limits).handler(|(), _| async {}).unwrap()
        };
        kinds.into_iter().enumerate().map(tool).collect()
    }

    #[test]
    fn calls_get_slots_in_order_and_overtake_only_those_that_wait_for_their_own_kind() {
        let tools = tools();
        let mut random: u64 = 7;
        let mut draw = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(random >> 33).unwrap() % below
        };
        for most in [1, 3, usize::MAX] {
            let mut slots = Slots::new(NonZeroUsize::new(most).filter(|most| most.get() < usize::MAX));
            let mut reference = ReferenceSlots { tools: &tools, most, running: Vec::new(), waiting: Vec::new() };
            let mut waited = 0;
            for index in 0..5_000 {
                if draw(2) == 0 || reference.running.is_empty() {
                    let tool = draw(tools.len());
                    assert_eq!(slots.enter(index, &tools[tool]), reference.enter(index, tool), "{most} {index}");
                } else {
                    let left = draw(reference.running.len());
                    slots.leave(&tools[reference.running.swap_remove(left)]);
                }
                loop {
                    let next = slots.next();
                    assert_eq!(next, reference.next(), "{most} {index}");
                    if next.is_none() {
                        break;
                    }
                    waited += 1;
                }
            }
            assert!(waited > 1_000, "{most}: {waited}");
        }
    }

    #[test]
    fn at_most_one_waiting_call_per_kind_is_a_candidate() {
        let tools = tools();
        let mut slots = Slots::new(None);
        for index in 0..1_000 {
            slots.enter(index, &tools[2 + index % 6]);
            // One head per kind that has room; the calls behind it are not examined.
            assert!(slots.heads.len() <= slots.fixed.len() + slots.limited.len());
        }
        while slots.next().is_some() {}
        assert!(slots.heads.is_empty() && slots.waiting > 900, "{} wait", slots.waiting);
        slots.clear_waiting();
        assert_eq!((slots.next(), slots.waiting), (None, 0));
    }
}
