//! Reproducible property tests: one that fails prints its seed.
//!
//! `PROPTEST_RNG_SEED` sets the seed. Nothing is written to disk: a failed case becomes a separate test.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseResult, TestRunner};

/// The seed of the random values of a property test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(u64);

/// Formats the command that draws the same values again.
impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "again with PROPTEST_RNG_SEED={}", self.0)
    }
}

/// Checks a property on this many values.
#[track_caller]
pub(crate) fn for_all<S: Strategy>(cases: u32, drawn: S, property: impl Fn(S::Value) -> TestCaseResult) {
    let (mut runner, seed) = runner(cases);
    if let Err(error) = runner.run(&drawn, property) {
        panic!("{error}\n{seed}");
    }
}

/// Checks a property on this many values, which are the same each time unless `PROPTEST_RNG_SEED` is set.
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

/// Returns a runner of this many cases, and the seed it draws them with.
pub(crate) fn runner(cases: u32) -> (TestRunner, Seed) {
    runner_from(RandomState::new().build_hasher().finish(), cases)
}

fn runner_from(seed: u64, cases: u32) -> (TestRunner, Seed) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let seed = if let RngSeed::Fixed(chosen) = config.rng_seed { chosen } else { seed };
    (TestRunner::new(Config { rng_seed: RngSeed::Fixed(seed), ..config }), Seed(seed))
}
