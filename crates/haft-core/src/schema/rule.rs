//! Rules that take a whole value.

use std::fmt;

use super::document::Instance;
use super::mark::Marks;
use super::node::{NodeId, TypeRules};
use super::walk::Walk;

/// A rule that takes the whole value.
pub(super) trait KeywordRule: fmt::Debug + Send + Sync {
    /// Reports everything that is wrong with a value. `owner` holds the keywords that stand beside this one.
    fn check(&self, owner: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>);

    /// Marks the members and items that this rule has evaluated in a value that fits it.
    fn mark(&self, _value: Instance<'_>, _walk: &mut Walk<'_, '_>, _marks: &mut Marks) {}

    /// Visits every node that this rule applies.
    fn edges(&mut self, _visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {}

    /// Returns the nodes that a fitting value fits as well.
    fn all_of(&self) -> &[NodeId] {
        &[]
    }

    /// Returns the alternatives of which a fitting value fits one.
    fn any_of(&self) -> &[NodeId] {
        &[]
    }
}

/// The part of a value that a node is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppliedTo {
    /// The same value.
    InPlace,
    /// A member, an item or a key of it.
    ToParts,
}
