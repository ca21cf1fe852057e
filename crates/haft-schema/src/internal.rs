//! Parts for the other crates of this workspace. They may change with any release.

pub use crate::issue::{CharBoundary, OperatorCause, TypeError};
pub use crate::nearest::{SUGGESTED, ranked};
pub use crate::schema::{
    INEXACT, OUTPUT_DEPTH, encode_unchecked, nests_within, numbers, read_tree, rounded_integer, states_nothing, tree,
    unambiguous_tree,
};
