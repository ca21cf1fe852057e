//! The hash state for maps keyed by names.
//!
//! It is seeded at random, so that nobody can choose names that collide. As in `haft-core`, only the
//! `cargo xtask bench --instructions` build sets `haft_fixed_seeds`: its counts must not depend on which names happen
//! to collide.

#[cfg(haft_fixed_seeds)]
pub(crate) use foldhash::fast::FixedState as RandomState;
#[cfg(not(haft_fixed_seeds))]
pub(crate) use foldhash::fast::RandomState;
