//! The compiler to the operations of [`ScanProgram`].

use super::super::syntax::{CharSet, Direction, LookSide, Lookaround, Repeat, Syntax, SyntaxNode};
use super::super::{MAX_SIZE, MAX_VISITS, VISITS_PER_UNIT, WorkBudget};
use super::{Counter, Obstacle, ScanOp, ScanProgram, Seeds, Segment};

/// Repetitions of a set up to this many times are unrolled, which is faster than counting.
const WRITTEN_OUT: u32 = 8;

impl ScanProgram {
    /// Compiles a pattern without backreferences, one step per visit to a part of it.
    pub(in super::super) fn compile(syntax: &Syntax, budget: &mut WorkBudget) -> Result<Self, Obstacle> {
        let mut emitter = ScanEmitter {
            segments: Vec::new(),
            segment_of_look: vec![None; usize::from(syntax.looks)],
            finished: 0,
            visits: 0,
            code: Vec::new(),
            counters: Vec::new(),
            direction: Direction::Forward,
        };
        emitter.node(&syntax.root)?;
        emitter.push(ScanOp::Match)?;
        budget.work(emitter.visits as u64 / VISITS_PER_UNIT)?;
        let seeds = if syntax.root.is_anchored() { Seeds::First } else { Seeds::Each };
        let main = emitter.segment(seeds);
        Ok(Self { main, looks: emitter.segments.into() })
    }
}

struct ScanEmitter {
    /// The segments of lookarounds, those inside others first.
    segments: Vec<Segment>,
    /// The segment of each lookaround that is already compiled. Repetitions compile their bodies several times.
    segment_of_look: Vec<Option<u16>>,
    /// The operations of finished segments and of the segments around this one.
    finished: usize,
    visits: usize,
    code: Vec<ScanOp>,
    counters: Vec<Counter>,
    direction: Direction,
}

impl ScanEmitter {
    /// Finishes the current segment.
    fn segment(&mut self, seeds: Seeds) -> Segment {
        Segment {
            code: std::mem::take(&mut self.code).into(),
            counters: std::mem::take(&mut self.counters).into(),
            direction: self.direction,
            seeds,
        }
    }

    /// Appends an operation and returns its index.
    fn push(&mut self, op: ScanOp) -> Result<usize, Obstacle> {
        if self.finished + self.code.len() >= MAX_SIZE {
            return Err(Obstacle::Size);
        }
        self.code.push(op);
        Ok(self.code.len() - 1)
    }

    fn pc(&self) -> u16 {
        narrow(self.code.len())
    }

    fn node(&mut self, node: &SyntaxNode) -> Result<(), Obstacle> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(Obstacle::Size);
        }
        match node {
            SyntaxNode::Set(set) => self.push(ScanOp::One(*set)).map(drop),
            SyntaxNode::Edge(edge) => self.push(ScanOp::Edge(*edge)).map(drop),
            SyntaxNode::Sequence(nodes) => match self.direction {
                Direction::Forward => nodes.iter().try_for_each(|node| self.node(node)),
                Direction::Backward => nodes.iter().rev().try_for_each(|node| self.node(node)),
            },
            SyntaxNode::Alternatives(nodes) => self.alternatives(nodes),
            SyntaxNode::Group(_, body) => self.node(body),
            SyntaxNode::Repeat(repeat) => match repeat.body.as_set() {
                Some(set) => self.repeat_set(set, repeat),
                None => self.repeat(repeat),
            },
            SyntaxNode::Look(look) => self.look(look),
            SyntaxNode::Reference(_) => Err(Obstacle::Reference),
        }
    }

    fn alternatives(&mut self, nodes: &[SyntaxNode]) -> Result<(), Obstacle> {
        let mut exits = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let is_last = index + 1 == nodes.len();
            let split = if is_last { None } else { Some(self.push(ScanOp::Split(0))?) };
            self.node(node)?;
            if let Some(split) = split {
                exits.push(self.push(ScanOp::Jump(0))?);
                self.code[split] = ScanOp::Split(self.pc());
            }
        }
        for exit in exits {
            self.code[exit] = ScanOp::Jump(self.pc());
        }
        Ok(())
    }

    fn repeat_set(&mut self, set: CharSet, repeat: &Repeat) -> Result<(), Obstacle> {
        match (repeat.min, repeat.max) {
            (min, Some(max)) if max > WRITTEN_OUT => self.count(set, min, max),
            (min, None) => {
                if min > WRITTEN_OUT {
                    self.count(set, min, min)?;
                } else {
                    (0..min).try_for_each(|_| self.push(ScanOp::One(set)).map(drop))?;
                }
                self.push(ScanOp::Star(set)).map(drop)
            }
            (_, Some(_)) => self.repeat(repeat),
        }
    }

    fn count(&mut self, set: CharSet, min: u32, max: u32) -> Result<(), Obstacle> {
        let index = narrow(self.counters.len());
        self.counters.push(Counter { set, min, max });
        self.push(ScanOp::Count(index)).map(drop)
    }

    /// Unrolls the body as often as needed. A state set holds an operation once, so that a body that matches nothing
    /// does not loop.
    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Obstacle> {
        let Repeat { body, min, max, greed: _, groups: _ } = repeat;
        match max {
            None if *min == 0 => {
                let split = self.push(ScanOp::Split(0))?;
                self.node(body)?;
                self.push(ScanOp::Jump(narrow(split)))?;
                self.code[split] = ScanOp::Split(self.pc());
            }
            None => {
                self.copies(body, min - 1)?;
                let start = self.pc();
                self.node(body)?;
                self.push(ScanOp::Split(start))?;
            }
            Some(max) => {
                self.copies(body, *min)?;
                let mut splits = Vec::new();
                for _ in *min..*max {
                    splits.push(self.push(ScanOp::Split(0))?);
                    self.node(body)?;
                }
                for split in splits {
                    self.code[split] = ScanOp::Split(self.pc());
                }
            }
        }
        Ok(())
    }

    fn copies(&mut self, body: &SyntaxNode, count: u32) -> Result<(), Obstacle> {
        for _ in 0..count {
            let before = self.pc();
            self.node(body)?;
            // Repeating an empty body has no effect.
            if self.pc() == before {
                break;
            }
        }
        Ok(())
    }

    /// Compiles a lookaround to a separate segment. A lookahead is read backward from the end of the text, so that one
    /// pass evaluates it for all positions; a lookbehind forward for the same reason.
    fn look(&mut self, look: &Lookaround) -> Result<(), Obstacle> {
        let known = self.segment_of_look[usize::from(look.index)];
        let segment = if let Some(segment) = known {
            segment
        } else {
            let direction = match look.side {
                LookSide::Ahead => Direction::Backward,
                LookSide::Behind => Direction::Forward,
            };
            let outer_direction = std::mem::replace(&mut self.direction, direction);
            let outer_code = std::mem::take(&mut self.code);
            let outer_counters = std::mem::take(&mut self.counters);
            self.finished += outer_code.len();
            self.node(&look.body)?;
            self.push(ScanOp::Match)?;
            let inner = self.segment(Seeds::Each);
            self.finished = self.finished - outer_code.len() + inner.code.len();
            self.direction = outer_direction;
            self.code = outer_code;
            self.counters = outer_counters;
            self.segments.push(inner);
            let segment = narrow(self.segments.len() - 1);
            self.segment_of_look[usize::from(look.index)] = Some(segment);
            segment
        };
        self.push(ScanOp::Look(segment, look.sign)).map(drop)
    }
}

/// Narrows an operation index or the index of a counter or segment, of which there are at most [`MAX_SIZE`].
#[expect(clippy::cast_possible_truncation, reason = "at most MAX_SIZE")]
fn narrow(pc: usize) -> u16 {
    const { assert!(MAX_SIZE < u16::MAX as usize) };
    pc as u16
}
