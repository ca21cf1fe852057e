//! The hash state of maps whose keys are names.
//!
//! It is seeded at random, so that names cannot be chosen to collide. As in `haft-core`, only the build of `cargo xtask
//! bench --instructions` sets `haft_fixed_seeds`: its counts must not depend on which names happen to collide.

#[cfg(haft_fixed_seeds)]
pub(crate) use foldhash::fast::FixedState as RandomState;
#[cfg(not(haft_fixed_seeds))]
pub(crate) use foldhash::fast::RandomState;
