//! The table of JSON Schema keywords.
//!
//! A keyword is a row of a table: its name, the drafts that define it, the required form of its value, and how it
//! compiles. Its compiled form checks values and reports their problems: rules by type where a value can be checked
//! while it is read (see [`TypeRules`](super::node::TypeRules)), or a [`KeywordRule`](super::rule::KeywordRule) where
//! the whole value is needed.
//!
//! To add a keyword, write its file with its row and its rule, and add the file to [`GROUPS`]. `even.rs` is a worked
//! example.

mod annotation;
mod array;
mod combination;
mod condition;
mod contains;
mod dependency;
#[cfg(test)]
mod even;
mod literal;
pub(super) mod number;
mod object;
mod pattern_property;
mod reference;
pub(super) mod string;
mod type_name;
mod unevaluated;
pub(super) mod union;
mod unique;

use std::collections::HashMap;
use std::sync::OnceLock;

use serde_json::Value;

use super::compile::SubschemaCompiler;
use super::draft::Draft;
use super::shape::Shape;

pub(super) use self::combination::AllOf;
pub(super) use self::type_name::types as types_named;

/// A keyword, as a range of drafts defines it.
#[derive(Debug)]
pub(super) struct Keyword {
    pub(super) name: &'static str,
    /// The first and the last draft that define it in this form.
    drafts: (Draft, Draft),
    pub(super) shape: Shape,
    pub(super) compile: Compile,
    /// The keyword without which it has no effect.
    pub(super) beside: Option<&'static str>,
    /// The part of a value that its subschemas apply to.
    pub(super) part: ValuePart,
}

/// The part of a value that the subschemas of a keyword apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValuePart {
    /// None: there are no subschemas, or only definitions.
    Nothing,
    /// The value itself.
    Value,
    /// Members, by name.
    Members,
    /// Members, by a pattern of their names.
    MatchingMembers,
    /// Members that no other keyword covers.
    OtherMembers,
    MemberNames,
    /// Items: by index if there is a list of subschemas, otherwise all of them.
    Items,
}

/// The compilation of a keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compile {
    /// The keyword compiles to rules.
    Rules(for<'c, 'a> fn(&mut SubschemaCompiler<'c, 'a>, &'a Value)),
    /// The keyword is not compiled: it annotates, holds definitions, or is read by the keyword it belongs to.
    Nothing,
}

/// Every keyword. Rules are checked in this order, so keywords that depend on others come last.
const GROUPS: &[&[Keyword]] = &[
    annotation::KEYWORDS,
    reference::KEYWORDS,
    union::KEYWORDS,
    combination::KEYWORDS,
    type_name::KEYWORDS,
    literal::KEYWORDS,
    number::KEYWORDS,
    string::KEYWORDS,
    array::KEYWORDS,
    unique::KEYWORDS,
    contains::KEYWORDS,
    object::KEYWORDS,
    pattern_property::KEYWORDS,
    dependency::KEYWORDS,
    condition::KEYWORDS,
    unevaluated::KEYWORDS,
    #[cfg(test)]
    even::KEYWORDS,
];

const ALL: (Draft, Draft) = (Draft::Draft4, Draft::Draft202012);

impl Keyword {
    /// Creates a keyword that these drafts define.
    const fn new(name: &'static str, drafts: (Draft, Draft), shape: Shape, compile: Compile) -> Self {
        Self { name, drafts, shape, compile, part: ValuePart::Nothing, beside: None }
    }

    /// Sets the part of a value that the keyword's subschemas apply to.
    const fn about(mut self, part: ValuePart) -> Self {
        self.part = part;
        self
    }

    /// Declares that the keyword has an effect only beside another.
    const fn beside(mut self, other: &'static str) -> Self {
        self.beside = Some(other);
        self
    }

    /// Reports whether the keyword refers to another subschema.
    pub(super) fn is_reference(&self) -> bool {
        matches!(self.name, "$ref" | "$dynamicRef" | "$recursiveRef")
    }

    /// Finds a keyword of a draft, with its index in the order of rules.
    pub(super) fn find(name: &str, draft: Draft) -> Option<(usize, &'static Self)> {
        static BY_NAME: OnceLock<HashMap<&'static str, Vec<(usize, &'static Keyword)>>> = OnceLock::new();
        let by_name = BY_NAME.get_or_init(|| {
            let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
            for (place, keyword) in GROUPS.iter().copied().flatten().enumerate() {
                by_name.entry(keyword.name).or_default().push((place, keyword));
            }
            by_name
        });
        by_name.get(name)?.iter().copied().find(|(_, keyword)| keyword.is_known_to(draft))
    }

    /// Returns every keyword of a draft.
    pub(super) fn of(draft: Draft) -> impl Iterator<Item = &'static Self> {
        GROUPS.iter().copied().flatten().filter(move |keyword| keyword.is_known_to(draft))
    }

    fn is_known_to(&self, draft: Draft) -> bool {
        (self.drafts.0..=self.drafts.1).contains(&draft)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_draft_defines_each_keyword_once() {
        for draft in [Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012] {
            let mut names = HashSet::new();
            let twice: Vec<&str> =
                Keyword::of(draft).map(|keyword| keyword.name).filter(|name| !names.insert(*name)).collect();
            assert!(twice.is_empty(), "{draft:?}: {twice:?}");
        }
    }
}
