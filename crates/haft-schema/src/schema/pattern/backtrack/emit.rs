//! The compiler to the operations of [`BacktrackProgram`].
//!
//! The order of alternatives and the state of captures determine what a backreference matches, so this follows the
//! algorithms of ECMA-262 exactly, above all `RepeatMatcher`.

use super::super::syntax::{Direction, Greed, LookSide, Lookaround, Repeat, Syntax, SyntaxNode};
use super::super::{MAX_SIZE, MAX_VISITS, PatternFault, VISITS_PER_UNIT, WorkBudget};
use super::{BacktrackOp, BacktrackProgram};

impl BacktrackProgram {
    /// Compiles a pattern, one step per visit to a part of it.
    pub(in super::super) fn compile(syntax: &Syntax, budget: &mut WorkBudget) -> Result<Self, PatternFault> {
        let mut emitter = BacktrackEmitter {
            references: &syntax.references,
            registers: 2 * syntax.groups,
            visits: 0,
            code: Vec::new(),
            direction: Direction::Forward,
        };
        emitter.node(&syntax.root)?;
        emitter.push(BacktrackOp::Match)?;
        let BacktrackEmitter { references: _, registers, visits, code, direction: _ } = emitter;
        budget.work(visits as u64 / VISITS_PER_UNIT)?;
        Ok(Self { code: code.into(), registers, is_anchored: syntax.root.is_anchored() })
    }
}

struct BacktrackEmitter<'s> {
    references: &'s [u16],
    /// Two per group for its bounds, then one per loop for the start of its iteration.
    registers: u16,
    visits: usize,
    code: Vec<BacktrackOp>,
    direction: Direction,
}

impl BacktrackEmitter<'_> {
    /// Appends an operation and returns its index.
    fn push(&mut self, op: BacktrackOp) -> Result<usize, PatternFault> {
        if self.code.len() >= MAX_SIZE {
            return Err(PatternFault::TooLarge);
        }
        self.code.push(op);
        Ok(self.code.len() - 1)
    }

    fn pc(&self) -> u16 {
        narrow(self.code.len())
    }

    fn register(&mut self) -> u16 {
        self.registers += 1;
        self.registers - 1
    }

    fn node(&mut self, node: &SyntaxNode) -> Result<(), PatternFault> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(PatternFault::TooLarge);
        }
        match node {
            SyntaxNode::Set(set) => self.push(BacktrackOp::One(*set, self.direction)).map(drop),
            SyntaxNode::Edge(edge) => self.push(BacktrackOp::Edge(*edge)).map(drop),
            SyntaxNode::Sequence(nodes) => match self.direction {
                Direction::Forward => nodes.iter().try_for_each(|node| self.node(node)),
                Direction::Backward => nodes.iter().rev().try_for_each(|node| self.node(node)),
            },
            SyntaxNode::Alternatives(nodes) => self.alternatives(nodes),
            SyntaxNode::Group(index, body) => {
                let (start, end) = (2 * index, 2 * index + 1);
                let (first, last) = match self.direction {
                    Direction::Forward => (start, end),
                    Direction::Backward => (end, start),
                };
                self.push(BacktrackOp::Save(first))?;
                self.node(body)?;
                self.push(BacktrackOp::Save(last)).map(drop)
            }
            SyntaxNode::Repeat(repeat) => self.repeat(repeat),
            SyntaxNode::Look(look) => self.look(look),
            SyntaxNode::Reference(index) => {
                let group = self.references[usize::from(*index)];
                self.push(BacktrackOp::Reference(group, self.direction)).map(drop)
            }
        }
    }

    fn alternatives(&mut self, nodes: &[SyntaxNode]) -> Result<(), PatternFault> {
        let mut exits = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let is_last = index + 1 == nodes.len();
            let split = if is_last { None } else { Some(self.push(BacktrackOp::Match)?) };
            self.node(node)?;
            if let Some(split) = split {
                exits.push(self.push(BacktrackOp::Match)?);
                self.code[split] = BacktrackOp::Split { first: narrow(split + 1), second: self.pc() };
            }
        }
        for exit in exits {
            self.code[exit] = BacktrackOp::Jump(self.pc());
        }
        Ok(())
    }

    /// Compiles `body{min,max}`: required iterations, then optional ones. An optional iteration that matches nothing
    /// fails; each begins with its captures unset.
    fn repeat(&mut self, repeat: &Repeat) -> Result<(), PatternFault> {
        for _ in 1..repeat.min {
            let before = self.code.len();
            self.iteration(repeat)?;
            // Repeating an empty body has no effect.
            if self.code.len() == before {
                break;
            }
        }
        match repeat.max {
            None => self.unbounded(repeat),
            Some(max) => {
                if repeat.min > 0 {
                    self.iteration(repeat)?;
                }
                let mut splits = Vec::new();
                for _ in repeat.min..max {
                    splits.push(self.push(BacktrackOp::Match)?);
                    let register = self.register();
                    self.push(BacktrackOp::Save(register))?;
                    self.iteration(repeat)?;
                    self.push(BacktrackOp::Advance(register))?;
                }
                for split in splits {
                    self.code[split] = choice(repeat.greed, narrow(split + 1), self.pc());
                }
                Ok(())
            }
        }
    }

    /// Compiles the last required iteration, if any, and all optional ones, as one loop, so that nested loops do not
    /// double in size with each level.
    fn unbounded(&mut self, repeat: &Repeat) -> Result<(), PatternFault> {
        let register = self.register();
        let skip = if repeat.min == 0 {
            let skip = self.push(BacktrackOp::Match)?;
            self.push(BacktrackOp::Save(register))?;
            Some(skip)
        } else {
            // The first iteration is required and may match nothing.
            self.push(BacktrackOp::Unset(register, register))?;
            None
        };
        let start = self.pc();
        self.iteration(repeat)?;
        self.push(BacktrackOp::Advance(register))?;
        let again = self.push(BacktrackOp::Match)?;
        self.push(BacktrackOp::Save(register))?;
        self.push(BacktrackOp::Jump(start))?;
        let exit = self.pc();
        self.code[again] = choice(repeat.greed, narrow(again + 1), exit);
        if let Some(skip) = skip {
            self.code[skip] = choice(repeat.greed, narrow(skip + 1), exit);
        }
        Ok(())
    }

    fn iteration(&mut self, repeat: &Repeat) -> Result<(), PatternFault> {
        if let Some(last) = repeat.groups.clone().last() {
            self.push(BacktrackOp::Unset(2 * repeat.groups.start, 2 * last + 1))?;
        }
        self.node(&repeat.body)
    }

    fn look(&mut self, look: &Lookaround) -> Result<(), PatternFault> {
        let direction = match look.side {
            LookSide::Ahead => Direction::Forward,
            LookSide::Behind => Direction::Backward,
        };
        let outer = std::mem::replace(&mut self.direction, direction);
        let open = self.push(BacktrackOp::Match)?;
        self.node(&look.body)?;
        self.push(BacktrackOp::LookEnd)?;
        self.direction = outer;
        self.code[open] = BacktrackOp::Look { after: self.pc(), sign: look.sign };
        Ok(())
    }
}

fn choice(greed: Greed, body: u16, exit: u16) -> BacktrackOp {
    match greed {
        Greed::Greedy => BacktrackOp::Split { first: body, second: exit },
        Greed::Lazy => BacktrackOp::Split { first: exit, second: body },
    }
}

/// Narrows an operation index, of which there are at most [`MAX_SIZE`].
#[expect(clippy::cast_possible_truncation, reason = "at most MAX_SIZE")]
fn narrow(pc: usize) -> u16 {
    const { assert!(MAX_SIZE < u16::MAX as usize) };
    pc as u16
}
