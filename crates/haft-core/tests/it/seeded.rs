//! Property tests that can be held again: one that fails says with which seed it drew.
//!
//! `PROPTEST_RNG_SEED` sets the seed. Nothing is written to disk: a case that failed becomes a test of its own.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};

/// Where the random values of a property test come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

/// How to draw the same values again.
impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "again with PROPTEST_RNG_SEED={}", self.0)
    }
}

/// Tries a property on so many values.
#[track_caller]
pub(crate) fn for_all<S: Strategy>(cases: u32, drawn: S, property: impl Fn(S::Value) -> TestCaseResult) {
    let (mut runner, seed) = runner(cases);
    if let Err(error) = runner.run(&drawn, property) {
        panic!("{error}\n{seed}");
    }
}

/// Tries a property on so many values, which are the same each time unless `PROPTEST_RNG_SEED` is set.
#[allow(dead_code, reason = "not every test program has such a property")]
#[track_caller]
pub(crate) fn for_all_from<S: Strategy>(
    seed: u64,
    cases: u32,
    drawn: S,
    property: impl Fn(S::Value) -> TestCaseResult,
) {
    let (mut runner, seed) = runner_from(seed, cases);
    if let Err(error) = runner.run(&drawn, property) {
        panic!("{error}\n{seed}");
    }
}

/// A runner of so many cases, and the seed it draws them with.
pub(crate) fn runner(cases: u32) -> (TestRunner, Seed) {
    runner_from(RandomState::new().build_hasher().finish(), cases)
}

fn runner_from(seed: u64, cases: u32) -> (TestRunner, Seed) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = if let RngSeed::Fixed(chosen) = config.rng_seed { chosen } else { seed };
    (TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..config }), Seed(seed))
}
