//! Matching with sets of states, for patterns without backreferences.
//!
//! Without backreferences neither the text that a group captured nor the order of alternatives matters: a match depends
//! on the operation and the position alone. All operations that some match reaches at a position are therefore kept as
//! one set, and the set moves over the text one character at a time ([`Pass::run`]).
//!
//! A lookaround, too, depends on the position alone. Before the pattern itself is matched, each lookaround takes a
//! separate pass that records for all positions whether it holds ([`Table`]). Lookaheads pass backward from the end.
//!
//! A step visits one operation at one position: it tests at most one character and tries at most two edges. A set holds
//! an operation once, so a program of p operations takes at most p × (n + 1) steps for n characters, plus p / 16 to
//! prepare. A repetition of a set is counted, which takes amortized constant time per step. Nothing is allocated up to
//! [`INLINE`] operations and for short texts, unless the pattern counts.

use super::BudgetSpent;
use super::class::Class;
use super::meter::Meter;
use super::syntax::{CharSet, Direction, Edge, Sign};

mod counter;
mod emit;
mod pass;
mod table;

use pass::{Pass, Threads};
use table::Table;

/// The longest segment whose state sets are stored on the stack.
const INLINE: usize = 64;

/// A program of state sets.
#[derive(Debug)]
pub(super) struct ScanProgram {
    main: Segment,
    /// The lookarounds, those inside others first.
    looks: Box<[Segment]>,
}

/// The reason why a pattern cannot be compiled to state sets.
#[derive(Debug)]
pub(super) enum Obstacle {
    /// It has a backreference.
    Reference,
    /// It needs too many operations.
    Size,
    /// The budget is spent.
    Spent,
}

/// The pattern itself or one lookaround. Operation indices are relative to the segment.
#[derive(Debug)]
struct Segment {
    code: Box<[ScanOp]>,
    counters: Box<[Counter]>,
    direction: Direction,
    seeds: Seeds,
}

/// The positions where a match may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seeds {
    First,
    Each,
}

/// An operation. Unless stated otherwise, execution continues with the next one.
#[derive(Clone, Copy, Debug)]
enum ScanOp {
    /// Reads one character of a set.
    One(CharSet),
    /// Reads any number of characters of a set.
    Star(CharSet),
    /// Reads as many characters of a set as a counter allows.
    Count(u16),
    /// Continues with the next operation and with this one.
    Split(u16),
    /// Continues with this operation only.
    Jump(u16),
    Edge(Edge),
    /// Looks up the table of a lookaround.
    Look(u16, Sign),
    Match,
}

/// A bounded repetition of a set.
#[derive(Clone, Copy, Debug)]
struct Counter {
    set: CharSet,
    min: u32,
    max: u32,
}

impl From<BudgetSpent> for Obstacle {
    fn from(_: BudgetSpent) -> Self {
        Self::Spent
    }
}

impl ScanProgram {
    pub(super) fn is_match(&self, text: &str, classes: &[Class], meter: &mut Meter<'_>) -> Result<bool, BudgetSpent> {
        let longest = self.segments().map(|segment| segment.code.len()).max().unwrap_or_default();
        if longest <= INLINE {
            let mut seen = [0; INLINE];
            let mut pcs = [0; 3 * INLINE];
            self.search(text, classes, &mut Threads::new(&mut seen, &mut pcs), meter)
        } else {
            meter.hold(longest * (size_of::<u32>() + 3 * size_of::<u16>()))?;
            let mut seen = vec![0; longest];
            let mut pcs = vec![0; 3 * longest];
            self.search(text, classes, &mut Threads::new(&mut seen, &mut pcs), meter)
        }
    }

    fn search(
        &self,
        text: &str,
        classes: &[Class],
        threads: &mut Threads<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<bool, BudgetSpent> {
        let mut table = Table::new(self.looks.len(), text, meter)?;
        for (index, segment) in self.looks.iter().enumerate() {
            let (known, mut row) = table.split(index);
            Pass::new(segment, text, classes, known, threads, meter)?.run(|position| {
                row.set(position);
                false
            })?;
        }
        Pass::new(&self.main, text, classes, table.known(), threads, meter)?.run(|_| true)
    }

    fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.looks.iter().chain([&self.main])
    }

    /// Returns the size of the program on the heap, in bytes.
    pub(super) fn heap(&self) -> usize {
        let segment = |Segment { code, counters, direction: _, seeds: _ }: &Segment| {
            size_of::<Segment>() + size_of_val::<[_]>(code) + size_of_val::<[_]>(counters)
        };
        self.segments().map(segment).sum()
    }
}
