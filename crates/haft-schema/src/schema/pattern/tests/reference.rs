//! A matcher that transcribes the algorithms of ECMA-262 with continuations, without regard for time.

use std::cell::Cell;

use super::super::parse::parse;
use super::super::syntax::{Direction, Edge, Greed, LookSide, Repeat, Sign, Syntax, SyntaxNode};

/// The most steps, and the deepest recursion, of the matcher.
const MAX_STEPS: u32 = 20_000;
const MAX_DEPTH: u32 = 600;

/// The error for a match that exceeds the step limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepLimitReached;

type MatchResult = Result<bool, StepLimitReached>;
type MatchContinuation<'c> = &'c mut dyn FnMut(MatchState) -> MatchResult;

#[derive(Clone)]
struct MatchState {
    position: usize,
    captures: Vec<Option<(usize, usize)>>,
}

struct ReferenceMatcher<'t> {
    syntax: Syntax,
    text: &'t str,
    steps: Cell<u32>,
    depth: Cell<u32>,
}

/// Searches for a pattern anywhere in `text`.
pub(super) fn is_match(source: &str, text: &str) -> MatchResult {
    let reference = ReferenceMatcher { syntax: parse(source).unwrap(), text, steps: Cell::new(0), depth: Cell::new(0) };
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    for position in starts {
        let state = MatchState { position, captures: vec![None; usize::from(reference.syntax.groups)] };
        if reference.node(&reference.syntax.root, Direction::Forward, state, &mut |_| Ok(true))? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl ReferenceMatcher<'_> {
    fn node(&self, node: &SyntaxNode, direction: Direction, x: MatchState, c: MatchContinuation<'_>) -> MatchResult {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() > MAX_STEPS || self.depth.get() > MAX_DEPTH {
            return Err(StepLimitReached);
        }
        self.depth.set(self.depth.get() + 1);
        let found = self.compiled(node, direction, x, c);
        self.depth.set(self.depth.get() - 1);
        found
    }

    fn compiled(
        &self,
        node: &SyntaxNode,
        direction: Direction,
        x: MatchState,
        c: MatchContinuation<'_>,
    ) -> MatchResult {
        match node {
            SyntaxNode::Set(set) => match direction.read(self.text, x.position) {
                Some((char, position)) if set.contains(char, &self.syntax.classes) => c(MatchState { position, ..x }),
                _ => Ok(false),
            },
            SyntaxNode::Edge(edge) => {
                if self.holds(*edge, x.position) {
                    c(x)
                } else {
                    Ok(false)
                }
            }
            SyntaxNode::Sequence(nodes) => self.sequence(nodes, direction, x, c),
            SyntaxNode::Alternatives(nodes) => {
                for node in nodes {
                    if self.node(node, direction, x.clone(), c)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            SyntaxNode::Group(index, body) => {
                let start = x.position;
                self.node(body, direction, x, &mut |mut y| {
                    let bounds = (start.min(y.position), start.max(y.position));
                    y.captures[usize::from(*index)] = Some(bounds);
                    c(y)
                })
            }
            SyntaxNode::Repeat(repeat) => self.repeat(repeat, repeat.min, repeat.max, direction, x, c),
            SyntaxNode::Look(look) => {
                let direction = match look.side {
                    LookSide::Ahead => Direction::Forward,
                    LookSide::Behind => Direction::Backward,
                };
                let mut inner = None;
                let found = self.node(&look.body, direction, x.clone(), &mut |y| {
                    inner = Some(y);
                    Ok(true)
                })?;
                match (look.sign, found, inner) {
                    (Sign::Positive, true, Some(y)) => c(MatchState { captures: y.captures, ..x }),
                    (Sign::Negative, false, _) => c(x),
                    _ => Ok(false),
                }
            }
            SyntaxNode::Reference(index) => {
                let group = self.syntax.references[usize::from(*index)];
                let Some((start, end)) = x.captures[usize::from(group)] else { return c(x) };
                let captured = &self.text[start..end];
                let position = match direction {
                    Direction::Forward if self.text[x.position..].starts_with(captured) => x.position + captured.len(),
                    Direction::Backward if self.text[..x.position].ends_with(captured) => x.position - captured.len(),
                    _ => return Ok(false),
                };
                c(MatchState { position, ..x })
            }
        }
    }

    fn sequence(
        &self,
        nodes: &[SyntaxNode],
        direction: Direction,
        x: MatchState,
        c: MatchContinuation<'_>,
    ) -> MatchResult {
        let (next, rest) = match direction {
            Direction::Forward => nodes.split_first(),
            Direction::Backward => nodes.split_last(),
        }
        .unzip();
        let (Some(next), Some(rest)) = (next, rest) else { return c(x) };
        self.node(next, direction, x, &mut |y| self.sequence(rest, direction, y, c))
    }

    /// Transcribes `RepeatMatcher`.
    fn repeat(
        &self,
        repeat: &Repeat,
        min: u32,
        max: Option<u32>,
        direction: Direction,
        x: MatchState,
        c: MatchContinuation<'_>,
    ) -> MatchResult {
        if max == Some(0) {
            return c(x);
        }
        let mut fresh = x.clone();
        for group in repeat.groups.clone() {
            fresh.captures[usize::from(group)] = None;
        }
        let start = x.position;
        if min == 0 && repeat.greed == Greed::Lazy && c(x.clone())? {
            return Ok(true);
        }
        let again = |y: MatchState, c: MatchContinuation<'_>| {
            if min == 0 && y.position == start {
                return Ok(false);
            }
            self.repeat(repeat, min.saturating_sub(1), max.map(|max| max - 1), direction, y, c)
        };
        let found = self.node(&repeat.body, direction, fresh, &mut |y| again(y, c))?;
        if found || min > 0 || repeat.greed == Greed::Lazy { Ok(found) } else { c(x) }
    }

    fn holds(&self, edge: Edge, position: usize) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        let before = is_word(self.text[..position].chars().next_back());
        let after = is_word(self.text[position..].chars().next());
        match edge {
            Edge::Start => position == 0,
            Edge::End => position == self.text.len(),
            Edge::Word => before != after,
            Edge::NotWord => before == after,
        }
    }
}
