//! The regular expressions of schemas (`pattern`, `patternProperties`), with the semantics of ECMA-262 and its `u`
//! flag.
//!
//! Texts and many patterns come from untrusted sources, so the time of a match is bounded by construction:
//!
//! - A pattern without backreferences is matched by [`ScanProgram`], which moves a set of states over the text. It
//!   takes at most one step per operation and character, O(program × text), and memory in proportion to the program
//!   plus one bit per byte of text and lookaround.
//! - A pattern with backreferences is matched by [`BacktrackProgram`]. No bound better than exponential is known for
//!   these; the budget ends the search.
//!
//! A step tests one character, follows one edge of the program, compares or skips up to 16 bytes, or clears up to 16
//! words.
//!
//! Both charge their steps to the budget ([`WorkBudget::steps`]), and at least one unit of work per match. Neither
//! recurses while it matches, and groups nest at most [`MAX_DEPTH`] deep, so neither patterns nor texts can overflow
//! the stack.
//!
//! The parser is as lenient as Annex B where existing schemas need it: `\-` and other escaped punctuation, a lone `]`,
//! `{` or `}`, and `[\w-.]`. Syntax of other dialects is rejected with advice, never guessed.

use crate::schema::budget::{BudgetSpent, WorkBudget};

mod backtrack;
mod class;
mod fault;
mod foreign;
mod meter;
mod parse;
mod property;
mod scan;
mod syntax;
#[cfg(test)]
mod tests;

use backtrack::BacktrackProgram;
use class::Class;
pub(crate) use fault::PatternFault;
use meter::Meter;
use scan::{Obstacle, ScanProgram};
use syntax::SyntaxNode;

/// The most operations of a program, and the most parts of a pattern.
const MAX_SIZE: usize = 10_000;

/// The most visits to parts of a pattern while it is compiled. Repetitions visit their bodies several times.
const MAX_VISITS: usize = 4 * MAX_SIZE;

/// The most groups that may nest.
const MAX_DEPTH: usize = 100;

/// The visits to parts of a pattern, while it is compiled, that one unit of work pays for.
const VISITS_PER_UNIT: u64 = 16;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    classes: Box<[Class]>,
    matcher: Matcher,
}

#[derive(Debug)]
enum Matcher {
    Scan(ScanProgram),
    Backtrack(BacktrackProgram),
}

impl Pattern {
    /// Compiles a pattern. Its program, at most [`MAX_SIZE`] operations, is charged to the budget.
    pub(crate) fn compile(source: &str, budget: &mut WorkBudget) -> Result<Self, PatternFault> {
        budget.work(1 + source.len() as u64 / VISITS_PER_UNIT)?;
        // A part of a pattern takes at least one byte of its source.
        let tree = source.len().min(MAX_SIZE) * size_of::<SyntaxNode>();
        budget.memory(tree)?;
        let syntax = parse::parse(source)?;
        let matcher = match ScanProgram::compile(&syntax, budget) {
            Ok(scan) => Matcher::Scan(scan),
            Err(Obstacle::Reference) => Matcher::Backtrack(BacktrackProgram::compile(&syntax, budget)?),
            Err(Obstacle::Size) => return Err(PatternFault::TooLarge),
            Err(Obstacle::Spent) => return Err(PatternFault::Spent),
        };
        budget.release(tree);
        let program = match &matcher {
            Matcher::Scan(scan) => scan.heap(),
            Matcher::Backtrack(backtrack) => backtrack.heap(),
        };
        let classes = syntax.classes.into_boxed_slice();
        let listed: usize = classes.iter().map(|class| size_of::<Class>() + class.heap()).sum();
        budget.memory(source.len() + program + listed)?;
        Ok(Self { source: source.into(), classes, matcher })
    }

    /// Searches for the pattern anywhere in `text`.
    pub(crate) fn is_match(&self, text: &str, budget: &mut WorkBudget) -> Result<bool, BudgetSpent> {
        // Positions are stored in 32 bits.
        if text.len() >= u32::MAX as usize {
            budget.work(u64::MAX)?;
        }
        let mut meter = Meter::new(budget);
        let found = match &self.matcher {
            Matcher::Scan(scan) => scan.is_match(text, &self.classes, &mut meter),
            Matcher::Backtrack(backtrack) => backtrack.is_match(text, &self.classes, &mut meter),
        }?;
        meter.finish()?;
        Ok(found)
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}
