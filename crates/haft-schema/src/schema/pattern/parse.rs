//! The parser of patterns.
//!
//! It recurses once per open group, at most [`MAX_DEPTH`] deep.

use std::collections::BTreeMap;

use super::class::{Builder, Class, Polarity};
use super::syntax::{CharSet, Edge, LookSide, Lookaround, Sign, Syntax, SyntaxNode};
use super::{MAX_DEPTH, MAX_SIZE, PatternFault, foreign};

mod bracket;
mod escape;
mod quantifier;

use escape::{ClassMember, Escape};

/// Parses a pattern.
pub(super) fn parse(source: &str) -> Result<Syntax, PatternFault> {
    let mut parser = Parser {
        source,
        offset: 0,
        at: 0,
        depth: 0,
        parts: 0,
        groups: 0,
        looks: 0,
        names: BTreeMap::new(),
        references: Vec::new(),
        classes: Vec::new(),
    };
    let root = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(PatternFault::UnopenedGroup { at: parser.at });
    }
    let references = parser.resolve()?;
    Ok(Syntax { root, classes: parser.classes, groups: parser.groups, looks: parser.looks, references })
}

struct Parser<'s> {
    source: &'s str,
    /// The offset of the next byte.
    offset: usize,
    /// The number of characters before it.
    at: usize,
    /// The number of open groups.
    depth: usize,
    /// The number of nodes and classes so far.
    parts: usize,
    groups: u16,
    looks: u16,
    /// The names of groups and their indices.
    names: BTreeMap<&'s str, u16>,
    /// The backreferences with their positions. A group may follow them, so they are resolved at the end.
    references: Vec<(Backreference<'s>, usize)>,
    classes: Vec<Class>,
}

/// A backreference, by the number of the group from 1, or by its name.
#[derive(Clone, Copy)]
enum Backreference<'s> {
    Number(u32),
    Name(&'s str),
}

/// The kind of a group.
enum Opening {
    Plain,
    Capture,
    Look(LookSide, Sign),
}

impl<'s> Parser<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.offset..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.offset += c.len_utf8();
        self.at += 1;
        Some(c)
    }

    /// Reads ASCII `text` if it comes next.
    fn eat(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.offset += text.len();
            self.at += text.len();
        }
        is_next
    }

    fn count_part(&mut self) -> Result<(), PatternFault> {
        self.parts += 1;
        if self.parts > MAX_SIZE { Err(PatternFault::TooLarge) } else { Ok(()) }
    }

    fn alternatives(&mut self) -> Result<SyntaxNode, PatternFault> {
        let first = self.sequence()?;
        if self.peek() != Some('|') {
            return Ok(first);
        }
        let mut nodes = vec![first];
        while self.eat("|") {
            self.count_part()?;
            nodes.push(self.sequence()?);
        }
        Ok(SyntaxNode::Alternatives(nodes))
    }

    fn sequence(&mut self) -> Result<SyntaxNode, PatternFault> {
        let mut nodes = Vec::new();
        while !matches!(self.peek(), None | Some('|' | ')')) {
            self.count_part()?;
            let groups = self.groups;
            let atom = self.atom()?;
            nodes.push(self.quantified(atom, groups)?);
        }
        match nodes.pop() {
            Some(only) if nodes.is_empty() => Ok(only),
            last => {
                nodes.extend(last);
                Ok(SyntaxNode::Sequence(nodes))
            }
        }
    }

    fn atom(&mut self) -> Result<SyntaxNode, PatternFault> {
        let at = self.at;
        if self.bounds()?.is_some() {
            return Err(PatternFault::NothingToRepeat { at });
        }
        match self.next() {
            Some('^') => Ok(SyntaxNode::Edge(Edge::Start)),
            Some('$') => Ok(SyntaxNode::Edge(Edge::End)),
            Some('.') => self.class(Class::dot()),
            Some('(') => self.group(at),
            Some('[') => self.bracket(at),
            Some('\\') => match self.atom_escape(at)? {
                Escape::Member(member) => self.member(member),
                Escape::Edge(edge) => Ok(SyntaxNode::Edge(edge)),
                Escape::Reference(reference) => {
                    let index = small(self.references.len())?;
                    self.references.push((reference, at));
                    Ok(SyntaxNode::Reference(index))
                }
            },
            Some('*' | '+' | '?') => Err(PatternFault::NothingToRepeat { at }),
            Some(c) => Ok(SyntaxNode::Set(CharSet::Char(c))),
            None => Ok(SyntaxNode::Sequence(Vec::new())),
        }
    }

    fn member(&mut self, member: ClassMember) -> Result<SyntaxNode, PatternFault> {
        let mut builder = Builder::default();
        match member {
            ClassMember::Code(code) => match char::from_u32(code) {
                Some(c) => return Ok(SyntaxNode::Set(CharSet::Char(c))),
                // A lone surrogate, which no text contains.
                None => return self.class(Class::never()),
            },
            ClassMember::Shorthand(shorthand, polarity) => builder.shorthand(shorthand, polarity),
            ClassMember::Property(property, polarity) => builder.property(property, polarity),
        }
        self.class(builder.build(Polarity::Included))
    }

    fn class(&mut self, class: Class) -> Result<SyntaxNode, PatternFault> {
        let index = small(self.classes.len())?;
        self.classes.push(class);
        Ok(SyntaxNode::Set(CharSet::Class(index)))
    }

    fn group(&mut self, at: usize) -> Result<SyntaxNode, PatternFault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(PatternFault::TooDeep { at });
        }
        let opening = self.opening(at)?;
        let index = self.groups;
        if matches!(opening, Opening::Capture) {
            self.groups += 1;
        }
        let body = self.alternatives()?;
        if !self.eat(")") {
            return Err(PatternFault::UnclosedGroup { at });
        }
        self.depth -= 1;
        Ok(match (opening, body) {
            (Opening::Capture, body) => SyntaxNode::Group(index, Box::new(body)),
            (Opening::Look(side, sign), body) => {
                let index = self.looks;
                self.looks += 1;
                SyntaxNode::Look(Box::new(Lookaround { index, side, sign, body }))
            }
            // Conditions cannot be repeated, but groups that contain one can.
            (Opening::Plain, body @ (SyntaxNode::Edge(_) | SyntaxNode::Look(_))) => SyntaxNode::Sequence(vec![body]),
            (Opening::Plain, body) => body,
        })
    }

    /// Reads the rest of the opening of a group.
    fn opening(&mut self, at: usize) -> Result<Opening, PatternFault> {
        if !self.eat("?") {
            return Ok(Opening::Capture);
        }
        let plain = [
            (":", Opening::Plain),
            ("=", Opening::Look(LookSide::Ahead, Sign::Positive)),
            ("!", Opening::Look(LookSide::Ahead, Sign::Negative)),
            ("<=", Opening::Look(LookSide::Behind, Sign::Positive)),
            ("<!", Opening::Look(LookSide::Behind, Sign::Negative)),
        ];
        if let Some((_, opening)) = plain.into_iter().find(|(text, _)| self.eat(text)) {
            return Ok(opening);
        }
        if !self.eat("<") {
            return Err(foreign::group(at, self.rest()));
        }
        let name_at = self.at;
        let name = self.name()?;
        match self.names.insert(name, self.groups) {
            None => Ok(Opening::Capture),
            Some(_) => Err(PatternFault::DuplicateName { at: name_at }),
        }
    }

    /// Reads a group name and the `>` after it.
    fn name(&mut self) -> Result<&'s str, PatternFault> {
        let (at, rest) = (self.at, self.rest());
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '\u{200C}' | '\u{200D}');
        let is_first = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
        let name = rest.split(|c| !is_part(c)).next().unwrap_or_default();
        for _ in name.chars() {
            self.next();
        }
        if name.starts_with(is_first) && self.eat(">") { Ok(name) } else { Err(PatternFault::MalformedName { at }) }
    }

    /// Returns the group index of every backreference.
    fn resolve(&self) -> Result<Vec<u16>, PatternFault> {
        let group = |reference| match reference {
            Backreference::Number(number) => u16::try_from(number - 1).ok().filter(|index| *index < self.groups),
            Backreference::Name(name) => self.names.get(name).copied(),
        };
        self.references
            .iter()
            .map(|(reference, at)| group(*reference).ok_or(PatternFault::UnknownGroup { at: *at }))
            .collect()
    }
}

/// Narrows an index. There are fewer than [`MAX_SIZE`] of anything.
fn small(index: usize) -> Result<u16, PatternFault> {
    u16::try_from(index).map_err(|_| PatternFault::TooLarge)
}
