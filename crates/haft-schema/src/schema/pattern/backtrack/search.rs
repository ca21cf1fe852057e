//! A search by backtracking over one text.

use super::super::BudgetSpent;
use super::super::class::Class;
use super::super::meter::Meter;
use super::super::syntax::{Direction, Sign};
use super::BacktrackOp;

/// The value of an unset register. No position is this large.
const UNSET: u32 = u32::MAX;

/// A search over one text.
#[derive(Debug)]
pub(super) struct Search<'s, 'b> {
    code: &'s [BacktrackOp],
    text: &'s str,
    classes: &'s [Class],
    meter: &'s mut Meter<'b>,
    registers: Vec<u32>,
    frames: Vec<Frame>,
    /// The frame of the innermost lookaround in progress, counted from 1.
    look: usize,
    /// The frames that memory is charged for.
    charged: usize,
    /// The steps that are not charged yet.
    steps: u64,
}

/// A step that is undone, or an alternative that is tried, when the search fails.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// An untried alternative.
    Choice { pc: u16, position: u32 },
    /// A register that was overwritten.
    Restore { register: u16, value: u32 },
    /// The start of a lookaround.
    Look { after: u16, sign: Sign, position: u32, outer: usize },
}

/// The position in the program and in the text.
#[derive(Clone, Copy, Debug)]
struct SearchState {
    pc: u16,
    position: u32,
}

/// The outcome of one operation.
enum StepOutcome {
    Next(SearchState),
    Failed,
    Matched,
}

impl<'s, 'b> Search<'s, 'b> {
    pub(super) fn new(
        code: &'s [BacktrackOp],
        registers: u16,
        text: &'s str,
        classes: &'s [Class],
        meter: &'s mut Meter<'b>,
    ) -> Result<Self, BudgetSpent> {
        let count = usize::from(registers);
        meter.hold(count * size_of::<u32>())?;
        meter.charge(count as u64 / 16)?;
        let registers = vec![UNSET; count];
        Ok(Self { code, text, classes, meter, registers, frames: Vec::new(), look: 0, charged: 0, steps: 0 })
    }

    /// Searches for a match that begins at `position`. All registers are unset before and after an attempt that fails.
    pub(super) fn attempt(&mut self, position: usize) -> Result<bool, BudgetSpent> {
        let mut state = SearchState { pc: 0, position: narrow(position) };
        loop {
            self.steps += 1;
            if self.steps >= Meter::INTERVAL {
                self.charge()?;
            }
            state = match self.execute(state) {
                StepOutcome::Next(next) => next,
                StepOutcome::Failed => match self.resume() {
                    Some(next) => next,
                    None => break,
                },
                StepOutcome::Matched => {
                    self.charge()?;
                    return Ok(true);
                }
            };
        }
        self.charge()?;
        Ok(false)
    }

    fn execute(&mut self, state: SearchState) -> StepOutcome {
        let SearchState { pc, position } = state;
        let at = position as usize;
        let next = SearchState { pc: pc + 1, position };
        let goes_on = match self.code[usize::from(pc)] {
            BacktrackOp::One(set, direction) => {
                return match direction.read(self.text, at) {
                    Some((c, beyond)) if set.contains(c, self.classes) => {
                        StepOutcome::Next(SearchState { position: narrow(beyond), ..next })
                    }
                    _ => StepOutcome::Failed,
                };
            }
            BacktrackOp::Edge(edge) => edge.holds(self.text, at),
            BacktrackOp::Split { first, second } => {
                self.frames.push(Frame::Choice { pc: second, position });
                return StepOutcome::Next(SearchState { pc: first, position });
            }
            BacktrackOp::Jump(target) => return StepOutcome::Next(SearchState { pc: target, position }),
            BacktrackOp::Save(register) => {
                self.set(register, position);
                true
            }
            BacktrackOp::Unset(first, last) => {
                self.steps += u64::from(last - first);
                (first..=last).for_each(|register| self.set(register, UNSET));
                true
            }
            BacktrackOp::Advance(register) => self.registers[usize::from(register)] != position,
            BacktrackOp::Reference(group, direction) => {
                return match self.refer(group, direction, at) {
                    Some(beyond) => StepOutcome::Next(SearchState { position: narrow(beyond), ..next }),
                    None => StepOutcome::Failed,
                };
            }
            BacktrackOp::Look { after, sign } => {
                self.frames.push(Frame::Look { after, sign, position, outer: self.look });
                self.look = self.frames.len();
                true
            }
            BacktrackOp::LookEnd => return self.end_look(),
            BacktrackOp::Match => return StepOutcome::Matched,
        };
        if goes_on { StepOutcome::Next(next) } else { StepOutcome::Failed }
    }

    fn set(&mut self, register: u16, value: u32) {
        let old = std::mem::replace(&mut self.registers[usize::from(register)], value);
        if old != value {
            self.frames.push(Frame::Restore { register, value: old });
        }
    }

    /// Returns the position after the text that a group captured, if that text comes next.
    fn refer(&mut self, group: u16, direction: Direction, at: usize) -> Option<usize> {
        let bounds = (self.registers[2 * usize::from(group)], self.registers[2 * usize::from(group) + 1]);
        if bounds.0 == UNSET || bounds.1 == UNSET {
            return Some(at);
        }
        let captured = self.text.get(bounds.0 as usize..bounds.1 as usize)?;
        self.steps += captured.len() as u64 / 16;
        match direction {
            Direction::Forward => self.text.get(at..)?.starts_with(captured).then(|| at + captured.len()),
            Direction::Backward => self.text.get(..at)?.ends_with(captured).then(|| at - captured.len()),
        }
    }

    /// Ends the lookaround whose body has matched. It is not entered again: its choices are dropped, while its captures
    /// stay and are undone when an earlier choice is resumed.
    fn end_look(&mut self) -> StepOutcome {
        let start = self.look - 1;
        let Frame::Look { after, sign, position, outer } = self.frames[start] else {
            return StepOutcome::Failed;
        };
        self.steps += (self.frames.len() - start) as u64;
        let mut kept = start;
        for index in start..self.frames.len() {
            if matches!(self.frames[index], Frame::Restore { .. }) {
                self.frames[kept] = self.frames[index];
                kept += 1;
            }
        }
        self.frames.truncate(kept);
        self.look = outer;
        match sign {
            Sign::Positive => StepOutcome::Next(SearchState { pc: after, position }),
            Sign::Negative => StepOutcome::Failed,
        }
    }

    /// Returns to the last untried alternative.
    fn resume(&mut self) -> Option<SearchState> {
        loop {
            self.steps += 1;
            match self.frames.pop()? {
                Frame::Choice { pc, position } => return Some(SearchState { pc, position }),
                Frame::Restore { register, value } => self.registers[usize::from(register)] = value,
                Frame::Look { after, sign, position, outer } => {
                    self.look = outer;
                    match sign {
                        Sign::Positive => {}
                        Sign::Negative => return Some(SearchState { pc: after, position }),
                    }
                }
            }
        }
    }

    fn charge(&mut self) -> Result<(), BudgetSpent> {
        self.meter.charge(std::mem::take(&mut self.steps))?;
        let reserved = self.frames.capacity();
        if reserved > self.charged {
            self.meter.hold((reserved - self.charged) * size_of::<Frame>())?;
            self.charged = reserved;
        }
        Ok(())
    }
}

/// Narrows a position. Longer texts are rejected before a search begins.
#[expect(clippy::cast_possible_truncation, reason = "checked before the search")]
fn narrow(position: usize) -> u32 {
    position as u32
}
