//! Approvals as a state machine: random rounds of calls, random verdicts, and random disturbances.
//!
//! [`script`] generates cases: overlapping rounds of calls that are gated in every way, verdicts with every flaw,
//! time, cancellations, drops, ends and restarts. Each case is played in each of the ways to get approvals: [`queued`]
//! (runs, plans and suspended runs that share a queue), [`planned`] (all verdicts come with a request) and [`stored`]
//! (runs that are suspended, stored as JSON and resumed, repeatedly). [`model`] computes the expected outcome of every
//! call and every verdict from the inputs alone; [`bench`] records the actual ones, and [`check`] compares them.
//!
//! Runs are created on a live source ([`bench`]), which has other tools as soon as a run exists: a run keeps its own,
//! and a change counts when a round is resumed.
//!
//! In every case: no handler runs without an approval of exactly its arguments, none runs twice, every call has one
//! result over its lifetime, every verdict that is not used is reported, every approval request has one final record,
//! and nothing waits for ever. [`gatekeeper`] has four broken ways to deliver verdicts, each of which must be
//! detected.

mod bench;
mod check;
mod gatekeeper;
mod model;
mod planned;
mod queued;
mod script;
mod stored;

use proptest::prelude::*;
use proptest::test_runner::TestError;

use self::gatekeeper::{FailOpen, Gatekeeper, LoseVerdicts, NoDigest, RunTwice, Sound};
use self::queued::Opening;
use self::script::{Script, scripts};
use crate::executor_faults::way::paused;
use crate::seeded::{for_all, runner};

const CASES: u32 = 3_000;

/// A way to get approvals.
#[derive(Clone, Copy, Debug)]
enum Way {
    Queued(Opening),
    Planned,
    Stored,
}

fn play(script: &Script, gate: &dyn Gatekeeper, way: Way) -> Result<(), TestCaseError> {
    let played = paused().block_on(async {
        match way {
            Way::Queued(opening) => queued::play(script, gate, opening).await,
            Way::Planned => planned::play(script, gate).await,
            Way::Stored => stored::play(script, gate).await,
        }
    });
    played.map_err(TestCaseError::fail)
}

#[test]
fn runs_that_share_a_queue_keep_every_promise() {
    for_all(CASES, scripts(), |script| play(&script, &Sound, Way::Queued(Opening::Run)));
}

#[test]
fn plans_that_share_a_queue_keep_every_promise() {
    for_all(CASES, scripts(), |script| play(&script, &Sound, Way::Queued(Opening::Plan)));
}

#[test]
fn verdicts_that_come_before_their_requests_are_renewed_keep_every_promise() {
    for_all(CASES, scripts(), |script| play(&script, &Sound, Way::Queued(Opening::Suspended)));
}

#[test]
fn plans_with_all_verdicts_keep_every_promise() {
    for_all(CASES, scripts(), |script| play(&script, &Sound, Way::Planned));
}

#[test]
fn runs_that_are_stored_and_resumed_keep_every_promise() {
    for_all(CASES, scripts(), |script| play(&script, &Sound, Way::Stored));
}

/// Asserts that the machine finds a case in which a broken gatekeeper violates this promise.
fn notices(gate: &dyn Gatekeeper, way: Way, breach: &str) {
    let (mut runner, seed) = runner(CASES);
    let played = runner.run(&scripts(), |script| match play(&script, gate, way) {
        Err(TestCaseError::Fail(reason)) if reason.message().contains(breach) => Err(TestCaseError::Fail(reason)),
        _ => Ok(()),
    });
    assert!(matches!(played, Err(TestError::Fail(..))), "{way:?}: not noticed, {seed}");
}

#[test]
fn a_gate_that_fails_open_is_detected() {
    for opening in [Opening::Run, Opening::Suspended] {
        notices(&FailOpen, Way::Queued(opening), "ran without a matching approval");
    }
}

#[test]
fn a_gate_that_runs_a_call_twice_is_detected() {
    for opening in [Opening::Run, Opening::Plan, Opening::Suspended] {
        notices(&RunTwice, Way::Queued(opening), "ran twice");
    }
}

#[test]
fn a_gate_that_ignores_the_digest_is_detected() {
    for way in [Way::Queued(Opening::Run), Way::Queued(Opening::Plan), Way::Planned, Way::Stored] {
        notices(&NoDigest, way, "ran without a matching approval");
    }
}

#[test]
fn a_gate_that_loses_verdicts_is_detected() {
    for opening in [Opening::Run, Opening::Plan, Opening::Suspended] {
        notices(&LoseVerdicts, Way::Queued(opening), "was free to run and did not");
    }
}
