//! Quantifiers.

use super::super::syntax::{Greed, Repeat, SyntaxNode};
use super::super::{PatternFault, foreign};
use super::Parser;

impl Parser<'_> {
    /// Wraps an atom in the quantifier that follows it, if one does. `groups` is the count before the atom.
    pub(super) fn quantified(&mut self, atom: SyntaxNode, groups: u16) -> Result<SyntaxNode, PatternFault> {
        let at = self.at;
        let (min, max) = if self.eat("*") {
            (0, None)
        } else if self.eat("+") {
            (1, None)
        } else if self.eat("?") {
            (0, Some(1))
        } else if let Some(bounds) = self.bounds()? {
            bounds
        } else {
            return Ok(atom);
        };
        if matches!(atom, SyntaxNode::Edge(_) | SyntaxNode::Look(_)) {
            return Err(PatternFault::NothingToRepeat { at });
        }
        if max.is_some_and(|max| max < min) {
            return Err(PatternFault::ReversedBounds { at });
        }
        let greed = if self.eat("?") { Greed::Lazy } else { Greed::Greedy };
        if self.peek() == Some('+') {
            return Err(foreign::possessive(self.at));
        }
        Ok(SyntaxNode::Repeat(Box::new(Repeat { body: atom, min, max, greed, groups: groups..self.groups })))
    }

    /// Reads `{n}`, `{n,}` or `{n,m}`. Anything else that begins with `{` is a literal.
    pub(super) fn bounds(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternFault> {
        let Some(rest) = self.rest().strip_prefix('{') else {
            return Ok(None);
        };
        let inside = rest.split(|c: char| !c.is_ascii_digit() && c != ',').next().unwrap_or_default();
        if !rest.get(inside.len()..).is_some_and(|rest| rest.starts_with('}')) {
            return Ok(None);
        }
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        // A bound beyond 32 bits is beyond every text.
        let number = |text: &str| text.parse().unwrap_or(u32::MAX);
        let bounds = match inside.split_once(',') {
            None if is_number(inside) => (number(inside), Some(number(inside))),
            Some((min, "")) if is_number(min) => (number(min), None),
            Some((min, max)) if is_number(min) && is_number(max) => (number(min), Some(number(max))),
            Some(("", max)) if is_number(max) => return Err(foreign::open_bound(self.at)),
            _ => return Ok(None),
        };
        self.offset += inside.len() + 2;
        self.at += inside.len() + 2;
        Ok(Some(bounds))
    }
}
