//! The syntax tree of a pattern.

use std::ops::Range;

use super::class::Class;

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Syntax {
    pub(super) root: SyntaxNode,
    /// The classes that [`CharSet::Class`] refers to.
    pub(super) classes: Vec<Class>,
    /// The number of capturing groups.
    pub(super) groups: u16,
    /// The number of lookarounds.
    pub(super) looks: u16,
    /// The group of each [`SyntaxNode::Reference`].
    pub(super) references: Vec<u16>,
}

/// A part of a pattern. Trees are at most a few levels deeper than [`super::MAX_DEPTH`] groups, so that recursion over
/// them is bounded.
#[derive(Debug)]
pub(super) enum SyntaxNode {
    Set(CharSet),
    Edge(Edge),
    Sequence(Vec<SyntaxNode>),
    Alternatives(Vec<SyntaxNode>),
    /// A capturing group and its index, from 0.
    Group(u16, Box<SyntaxNode>),
    Repeat(Box<Repeat>),
    Look(Box<Lookaround>),
    /// A backreference, as an index into [`Syntax::references`].
    Reference(u16),
}

/// A set of characters, one of which is matched.
#[derive(Clone, Copy, Debug)]
pub(super) enum CharSet {
    Char(char),
    /// An index into the classes of the pattern.
    Class(u16),
}

/// A condition on a position.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    Start,
    End,
    Word,
    NotWord,
}

#[derive(Debug)]
pub(super) struct Repeat {
    pub(super) body: SyntaxNode,
    pub(super) min: u32,
    /// `None` is unbounded.
    pub(super) max: Option<u32>,
    pub(super) greed: Greed,
    /// The capturing groups inside. They are unset when an iteration starts.
    pub(super) groups: Range<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
}

#[derive(Debug)]
pub(super) struct Lookaround {
    /// The number of this lookaround within the pattern.
    pub(super) index: u16,
    pub(super) side: LookSide,
    pub(super) sign: Sign,
    pub(super) body: SyntaxNode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookSide {
    Ahead,
    Behind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Positive,
    Negative,
}

/// The direction in which a program reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

impl CharSet {
    #[inline]
    pub(super) fn contains(self, c: char, classes: &[Class]) -> bool {
        match self {
            Self::Char(expected) => c == expected,
            Self::Class(index) => classes[usize::from(index)].contains(c),
        }
    }
}

impl Edge {
    #[inline]
    pub(super) fn holds(self, text: &str, position: usize) -> bool {
        // The bytes of characters beyond ASCII are not word bytes, just as those characters are not word characters.
        let is_word = |at: usize| text.as_bytes().get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let is_boundary = || is_word(position) != (position > 0 && is_word(position - 1));
        match self {
            Self::Start => position == 0,
            Self::End => position == text.len(),
            Self::Word => is_boundary(),
            Self::NotWord => !is_boundary(),
        }
    }
}

impl Direction {
    /// Returns the character next to `position` and the position beyond it.
    #[inline]
    pub(super) fn read(self, text: &str, position: usize) -> Option<(char, usize)> {
        match self {
            Self::Forward => match text.as_bytes().get(position)? {
                byte if byte.is_ascii() => Some((char::from(*byte), position + 1)),
                _ => text.get(position..)?.chars().next().map(|c| (c, position + c.len_utf8())),
            },
            Self::Backward => text.get(..position)?.chars().next_back().map(|c| (c, position - c.len_utf8())),
        }
    }
}

impl SyntaxNode {
    /// Returns `true` if no match of the node can begin after the start of the text.
    pub(super) fn is_anchored(&self) -> bool {
        match self {
            Self::Edge(edge) => matches!(edge, Edge::Start),
            Self::Sequence(nodes) => {
                // Conditions on the position may precede the anchor.
                let leading = nodes.iter().take_while(|node| matches!(node, Self::Edge(_) | Self::Look(_))).count();
                nodes.iter().take(leading + 1).any(Self::is_anchored)
            }
            Self::Alternatives(nodes) => nodes.iter().all(Self::is_anchored),
            Self::Group(_, body) => body.is_anchored(),
            Self::Repeat(repeat) => repeat.min > 0 && repeat.body.is_anchored(),
            Self::Set(_) | Self::Look(_) | Self::Reference(_) => false,
        }
    }

    /// Returns the set if the node matches exactly one character, captured or not.
    pub(super) fn as_set(&self) -> Option<CharSet> {
        match self {
            Self::Set(set) => Some(*set),
            Self::Group(_, body) => body.as_set(),
            Self::Edge(_)
            | Self::Sequence(_)
            | Self::Alternatives(_)
            | Self::Repeat(_)
            | Self::Look(_)
            | Self::Reference(_) => None,
        }
    }
}
