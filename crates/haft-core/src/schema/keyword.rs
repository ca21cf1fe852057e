//! The keywords of JSON Schema, each in one place.
//!
//! A keyword is a row of a table: its name, the drafts that know it, the form its value must have, and how it compiles.
//! Its compiled form checks values and says what is wrong with them: rules by type where a value can be checked
//! while it is read (see [`TypeRules`](super::node::TypeRules)), a [`KeywordRule`](super::rule::KeywordRule) where it takes the whole value.
//!
//! To add a keyword, write its file with its row and its rule, and name the file in [`GROUPS`]. `even.rs` is a worked example.

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

/// A keyword as certain drafts know it.
#[derive(Debug)]
pub(super) struct Keyword {
    pub(super) name: &'static str,
    /// The first and the last draft that know it in this form.
    drafts: (Draft, Draft),
    pub(super) shape: Shape,
    pub(super) compile: Compile,
    /// The keyword that must stand beside it.
    pub(super) beside: Option<&'static str>,
    /// The part of a value that its subschemas are about.
    pub(super) part: ValuePart,
}

/// The part of a value that the subschemas of a keyword are about.
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
    /// Members that nothing else speaks of.
    OtherMembers,
    MemberNames,
    /// Items: by index where there is a list of subschemas, else all of them.
    Items,
}

/// The way a keyword compiles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compile {
    /// To rules.
    Rules(for<'c, 'a> fn(&mut SubschemaCompiler<'c, 'a>, &'a Value)),
    /// Not at all: it annotates, holds definitions, or is read by the keyword it belongs to.
    Nothing,
}

/// Every keyword. Rules are checked in this order, so what depends on others comes last.
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
    /// A keyword that these drafts know.
    const fn new(name: &'static str, drafts: (Draft, Draft), shape: Shape, compile: Compile) -> Self {
        Self { name, drafts, shape, compile, part: ValuePart::Nothing, beside: None }
    }

    /// Says what of a value the keyword's subschemas are about.
    const fn about(mut self, part: ValuePart) -> Self {
        self.part = part;
        self
    }

    /// Says that the keyword means something only beside another.
    const fn beside(mut self, other: &'static str) -> Self {
        self.beside = Some(other);
        self
    }

    /// Reports whether the keyword refers to a subschema somewhere else.
    pub(super) fn is_reference(&self) -> bool {
        matches!(self.name, "$ref" | "$dynamicRef" | "$recursiveRef")
    }

    /// Finds a keyword of a draft, with its place in the order of rules.
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
    fn a_draft_knows_each_keyword_in_one_form() {
        for draft in [Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012] {
            let mut names = HashSet::new();
            let twice: Vec<&str> =
                Keyword::of(draft).map(|keyword| keyword.name).filter(|name| !names.insert(*name)).collect();
            assert!(twice.is_empty(), "{draft:?}: {twice:?}");
        }
    }
}
