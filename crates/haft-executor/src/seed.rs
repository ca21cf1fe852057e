//! The hash state of maps whose keys come from outside.
//!
//! It is seeded at random, so that keys cannot be chosen to collide. Only the build of `cargo xtask bench
//! --instructions` sets `haft_fixed_seeds`: its counts must not depend on which names happen to collide.

#[cfg(haft_fixed_seeds)]
pub(crate) use foldhash::fast::FixedState as RandomState;
#[cfg(not(haft_fixed_seeds))]
pub(crate) use foldhash::fast::RandomState;
