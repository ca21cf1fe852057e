//! Rules that need a whole value.

use std::fmt;

use super::document::Instance;
use super::mark::Marks;
use super::node::{NodeId, TypeRules};
use super::walk::Walk;

/// A rule that needs the whole value.
pub(super) trait KeywordRule: fmt::Debug + Send + Sync {
    /// Reports all problems of a value. `owner` holds the rules of the keywords beside this one.
    fn check(&self, owner: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>);

    /// Marks the members and items that this rule has evaluated in a valid value.
    fn mark(&self, _value: Instance<'_>, _walk: &mut Walk<'_, '_>, _marks: &mut Marks) {}

    /// Visits every node that this rule applies.
    fn edges(&mut self, _visit: &mut dyn FnMut(&mut NodeId, AppliedTo)) {}

    /// Returns the nodes for which a valid value is valid as well.
    fn all_of(&self) -> &[NodeId] {
        &[]
    }

    /// Returns the alternatives, for one of which a valid value is valid.
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
