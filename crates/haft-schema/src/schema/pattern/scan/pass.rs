//! One pass of a segment over a text.

use super::super::BudgetSpent;
use super::super::class::Class;
use super::super::meter::Meter;
use super::super::syntax::{CharSet, Direction, Sign};
use super::counter::RepetitionStarts;
use super::table::CompleteRows;
use super::{Counter, ScanOp, Seeds, Segment};

/// The state sets of a pass.
#[derive(Debug)]
pub(super) struct Threads<'s> {
    /// The stamp of the position at which each operation was last reached.
    seen: &'s mut [u32],
    /// The operations that read the next character.
    now: ThreadList<'s>,
    /// The operations that read the character after it.
    next: ThreadList<'s>,
    /// The operations still to be followed. Each is here at most once per position.
    pending: ThreadList<'s>,
}

/// A list of operation indices with a fixed capacity, one per operation.
#[derive(Debug)]
struct ThreadList<'s> {
    pcs: &'s mut [u16],
    len: usize,
}

/// One pass of a segment over a text.
#[derive(Debug)]
pub(super) struct Pass<'p, 's, 'b> {
    segment: &'p Segment,
    text: &'p str,
    classes: &'p [Class],
    looks: CompleteRows<'p>,
    threads: &'p mut Threads<'s>,
    meter: &'p mut Meter<'b>,
    /// The repetitions in progress of each counter of the segment.
    entries: Vec<RepetitionStarts>,
    /// The bytes that are charged for `entries`.
    charged: usize,
    /// The steps that are not charged yet.
    steps: u64,
}

/// A position in the text.
#[derive(Clone, Copy, Debug)]
struct TextPosition {
    offset: usize,
    /// The number of positions passed so far.
    time: u32,
}

impl<'s> Threads<'s> {
    /// Creates empty sets from a stamp and three indices per operation.
    pub(super) fn new(seen: &'s mut [u32], pcs: &'s mut [u16]) -> Self {
        let capacity = seen.len();
        let (now, rest) = pcs.split_at_mut(capacity);
        let (next, pending) = rest.split_at_mut(capacity);
        let list = |pcs| ThreadList { pcs, len: 0 };
        Self { seen, now: list(now), next: list(next), pending: list(pending) }
    }
}

impl TextPosition {
    /// Returns the stamp of the position. Zero stamps operations that were never reached.
    #[inline]
    fn stamp(self) -> u32 {
        self.time + 1
    }
}

impl ThreadList<'_> {
    #[inline]
    fn push(&mut self, pc: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_SIZE")]
        let pc_16 = pc as u16;
        self.pcs[self.len] = pc_16;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<usize> {
        self.len = self.len.checked_sub(1)?;
        Some(usize::from(self.pcs[self.len]))
    }
}

impl<'p, 's, 'b> Pass<'p, 's, 'b> {
    pub(super) fn new(
        segment: &'p Segment,
        text: &'p str,
        classes: &'p [Class],
        looks: CompleteRows<'p>,
        threads: &'p mut Threads<'s>,
        meter: &'p mut Meter<'b>,
    ) -> Result<Self, BudgetSpent> {
        threads.seen[..segment.code.len()].fill(0);
        threads.next.len = 0;
        let mut entries = Vec::new();
        let charged = segment.counters.len() * size_of::<RepetitionStarts>();
        if charged > 0 {
            meter.hold(charged)?;
            entries.resize_with(segment.counters.len(), RepetitionStarts::default);
        }
        // The stamps are filled 16 at a time.
        let steps = segment.code.len() as u64 / 16;
        Ok(Self { segment, text, classes, looks, threads, meter, entries, charged, steps })
    }

    /// Passes over the text. At each position where a match ends `on_match` is called; `true` ends the pass.
    /// Returns `true` if the pass was ended.
    pub(super) fn run(mut self, mut on_match: impl FnMut(usize) -> bool) -> Result<bool, BudgetSpent> {
        let direction = self.segment.direction;
        let position = match direction {
            Direction::Forward => 0,
            Direction::Backward => self.text.len(),
        };
        let mut position = TextPosition { offset: position, time: 0 };
        let mut is_matched = false;
        let found = loop {
            if self.segment.seeds == Seeds::Each || position.time == 0 {
                if self.threads.next.len == 0 && !is_matched && !self.skip(&mut position) {
                    break false;
                }
                is_matched |= self.follow(0, position);
            }
            if is_matched && on_match(position.offset) {
                break true;
            }
            std::mem::swap(&mut self.threads.now, &mut self.threads.next);
            self.threads.next.len = 0;
            if self.threads.now.len == 0 && self.segment.seeds == Seeds::First {
                break false;
            }
            let Some((c, offset)) = direction.read(self.text, position.offset) else {
                break false;
            };
            position = TextPosition { offset, time: position.time + 1 };
            is_matched = self.step(c, position);
            if self.steps >= Meter::INTERVAL {
                self.charge()?;
            }
        };
        self.charge()?;
        self.meter.release(self.charged);
        Ok(found)
    }

    /// Moves to the next position where a match can begin, while none is in progress. Returns `false` if there is none.
    fn skip(&mut self, position: &mut TextPosition) -> bool {
        let (ScanOp::One(CharSet::Char(first)), Direction::Forward, Seeds::Each) =
            (self.segment.code[0], self.segment.direction, self.segment.seeds)
        else {
            return true;
        };
        let rest = self.text.get(position.offset..).unwrap_or_default();
        let skipped = rest.find(first);
        let bytes = skipped.unwrap_or(rest.len());
        self.steps += bytes as u64 / 16;
        position.offset += bytes;
        skipped.is_some()
    }

    /// Reads the character before `position` in all states. Returns `true` if a match ends at `position`.
    fn step(&mut self, c: char, position: TextPosition) -> bool {
        let mut is_matched = false;
        for index in 0..self.threads.now.len {
            let pc = usize::from(self.threads.now.pcs[index]);
            match self.segment.code[pc] {
                ScanOp::One(set) if set.contains(c, self.classes) => is_matched |= self.follow(pc + 1, position),
                ScanOp::Star(set) if set.contains(c, self.classes) => is_matched |= self.follow(pc, position),
                ScanOp::Count(index) => is_matched |= self.count(pc, index, c, position),
                // Sets that do not contain it, and operations that read no character and are never listed.
                ScanOp::One(_)
                | ScanOp::Star(_)
                | ScanOp::Split(_)
                | ScanOp::Jump(_)
                | ScanOp::Edge(_)
                | ScanOp::Look(..)
                | ScanOp::Match => {}
            }
        }
        is_matched
    }

    fn count(&mut self, pc: usize, index: u16, c: char, position: TextPosition) -> bool {
        let entries = &mut self.entries[usize::from(index)];
        let Counter { set, min, max } = self.segment.counters[usize::from(index)];
        if !set.contains(c, self.classes) {
            entries.clear_before(position.time);
            return false;
        }
        let Some(longest) = entries.longest(position.time, max) else {
            return false;
        };
        if self.mark(pc, position.stamp()) {
            self.threads.next.push(pc);
        }
        longest >= min && self.follow(pc + 1, position)
    }

    /// Marks an operation as reached at the position with this stamp. Returns `false` if it is already marked.
    #[inline]
    fn mark(&mut self, pc: usize, stamp: u32) -> bool {
        let is_new = self.threads.seen[pc] != stamp;
        self.threads.seen[pc] = stamp;
        self.steps += u64::from(is_new);
        is_new
    }

    /// Adds an operation and all that it reaches without reading a character. Returns `true` if a match is among them.
    fn follow(&mut self, pc: usize, position: TextPosition) -> bool {
        let mut is_matched = false;
        let mut pc = pc;
        loop {
            let op = self.segment.code[pc];
            if let ScanOp::Count(index) = op {
                // A repetition can begin while an older one is in progress.
                self.entries[usize::from(index)].enter(position.time);
            }
            let goes_on = self.mark(pc, position.stamp())
                && match op {
                    ScanOp::One(_) => {
                        self.threads.next.push(pc);
                        false
                    }
                    ScanOp::Star(_) => {
                        self.threads.next.push(pc);
                        true
                    }
                    ScanOp::Count(index) => {
                        self.threads.next.push(pc);
                        self.segment.counters[usize::from(index)].min == 0
                    }
                    ScanOp::Split(other) => {
                        self.threads.pending.push(usize::from(other));
                        true
                    }
                    ScanOp::Jump(target) => {
                        self.threads.pending.push(usize::from(target));
                        false
                    }
                    ScanOp::Edge(edge) => edge.holds(self.text, position.offset),
                    ScanOp::Look(row, sign) => self.looks.get(row, position.offset) == (sign == Sign::Positive),
                    ScanOp::Match => {
                        is_matched = true;
                        false
                    }
                };
            if goes_on {
                pc += 1;
            } else if let Some(pending) = self.threads.pending.pop() {
                pc = pending;
            } else {
                return is_matched;
            }
        }
    }

    /// Charges the steps so far, and the memory of the counters if it grew.
    fn charge(&mut self) -> Result<(), BudgetSpent> {
        self.meter.charge(std::mem::take(&mut self.steps))?;
        let reserved: usize = self.entries.iter().map(RepetitionStarts::reserved).sum();
        let held = self.entries.len() * size_of::<RepetitionStarts>() + reserved * RepetitionStarts::SPAN;
        if held > self.charged {
            self.meter.hold(held - self.charged)?;
            self.charged = held;
        }
        Ok(())
    }
}
