//! The comparison of observed and expected outcomes.
//!
//! The gravest violation is reported first: handlers that ran, then those that did not, then events and records.

use std::collections::BTreeMap;

use haft_executor::{ApprovalOutcome, AuditRecord, RejectedVerdict, VerdictFault};
use haft_schema::Issues;

use super::bench::{Bench, Sights};
use super::model::{Fate, Model, Refusals, State};

/// The approval requests that must have a final record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audited {
    /// All that were made.
    All,
    /// Those that were answered: the others were only created to be shown. A server that stores and signs nothing
    /// can't know which call a request belongs to, so there one request may be answered for a call of each round.
    Answered,
}

/// Checks every promise at the end of a case. `notes` are violations that were found earlier.
pub(super) fn check(bench: &Bench, model: &Model, notes: Vec<String>, audited: Audited) -> Result<(), String> {
    bench.seen.note(|sights| {
        check_runs(sights, model)?;
        check_results(sights, model)?;
        notes.into_iter().next().map_or(Ok(()), Err)?;
        check_questions(sights, model)?;
        check_records(sights, model, audited)
    })
}

/// Compares the rejected verdicts with the expected ones.
pub(super) fn check_refused(found: &[RejectedVerdict], expected: &Refusals) -> Result<(), String> {
    let told = |refused: &RejectedVerdict| {
        let fault = without_issues(refused.fault.clone());
        (refused.response.request_id.to_string(), format!("{fault:?}"))
    };
    let mut found: Vec<_> = found.iter().map(told).collect();
    let mut expected: Vec<_> = expected.iter().map(|(id, fault)| (id.to_string(), format!("{fault:?}"))).collect();
    found.sort();
    expected.sort();
    ensure(found == expected, || format!("refused verdicts are {found:?}, and should be {expected:?}"))
}

/// Reduces a fault to what the model knows: that something is invalid, without the issues.
pub(super) fn without_issues(fault: VerdictFault) -> VerdictFault {
    match fault {
        VerdictFault::Invalid { .. } => VerdictFault::Invalid { issues: Issues::default() },
        other => other,
    }
}

pub(super) fn ensure(holds: bool, or: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(or()) }
}

fn check_runs(sights: &Sights, model: &Model) -> Result<(), String> {
    let mut runs = BTreeMap::new();
    for ran in &sights.ran {
        let earlier = runs.insert(ran.call_id.as_str(), ran);
        ensure(earlier.is_none(), || format!("{ran:?} ran twice, before that as {earlier:?}"))?;
    }
    // Only the first of calls that share an id may run.
    for ran in &sights.ran {
        let call = model.calls().find(|call| call.id == ran.call_id);
        let fate = call.map(|call| (call.tool, &call.state));
        ensure(fate == Some((&ran.tool, &State::Done(Fate::Runs(ran.n)))), || {
            format!("{ran:?} ran without a matching approval: {fate:?}")
        })?;
    }
    for call in model.calls() {
        if let State::Done(Fate::Runs(_)) = call.state {
            ensure(runs.contains_key(call.id.as_str()), || format!("{} was free to run and did not", call.id))?;
        }
    }
    Ok(())
}

fn check_results(sights: &Sights, model: &Model) -> Result<(), String> {
    let mut expected = Vec::new();
    for call in model.calls() {
        match &call.state {
            State::Unknown => {}
            State::Done(fate) => expected.push((call.id.clone(), fate.told())),
            open => return Err(format!("{} is still open: {open:?}", call.id)),
        }
    }
    let mut found = sights.outputs.clone();
    found.sort();
    expected.sort();
    ensure(found == expected, || format!("the results are {found:?}, and should be {expected:?}"))
}

/// Checks that approval is requested exactly where it is required, and with the arguments of the call.
fn check_questions(sights: &Sights, model: &Model) -> Result<(), String> {
    let mut found: Vec<_> = sights.questions.iter().map(|question| question.call_id.to_string()).collect();
    let mut expected: Vec<_> =
        model.calls().flat_map(|call| std::iter::repeat_n(call.id.clone(), call.questions)).collect();
    found.sort();
    expected.sort();
    ensure(found == expected, || format!("there were questions about {found:?}, and should be {expected:?}"))
}

/// Checks that each approval request has one final record, after those of rejected verdicts, and that each call that
/// required approval and ran has a record of it.
fn check_records(sights: &Sights, model: &Model, audited: Audited) -> Result<(), String> {
    let mut latest = BTreeMap::new();
    for record in sights.records.iter().filter(|record| record.outcome != ApprovalOutcome::Suspended) {
        let about = if audited == Audited::All { "" } else { record.call_id.as_str() };
        let earlier: Option<&AuditRecord> = latest.insert((record.request_id.clone().unwrap(), about), record);
        let is_open = earlier.is_none_or(|earlier| earlier.outcome == ApprovalOutcome::Rejected);
        ensure(is_open, || format!("{record:?} is the second record, after {earlier:?}"))?;
    }
    for question in sights.questions.iter().filter(|_| audited == Audited::All) {
        ensure(latest.contains_key(&(question.request_id.clone(), "")), || format!("{question:?} has no record"))?;
    }
    let is_yes = |outcome| {
        use ApprovalOutcome::{Approved, Edited, Remembered};
        matches!(outcome, Approved | Edited | Remembered)
    };
    for call in model.calls().filter(|call| call.asked.is_some()) {
        let runs = matches!(call.state, State::Done(Fate::Runs(_)));
        let yes = latest.values().filter(|record| record.call_id == *call.id && is_yes(record.outcome)).count();
        ensure(!runs || yes == 1, || format!("{} ran by {yes} records", call.id))?;
    }
    check_outcomes(sights, model)
}

/// Checks that the records of a call are the outcomes of its approval request, verdict by verdict.
fn check_outcomes(sights: &Sights, model: &Model) -> Result<(), String> {
    let mut found = BTreeMap::<_, Vec<_>>::new();
    for record in sights.records.iter().filter(|record| record.outcome != ApprovalOutcome::Suspended) {
        found.entry(record.call_id.to_string()).or_default().push(record.outcome);
    }
    let written = model.calls().filter(|call| !call.written.is_empty());
    let expected: BTreeMap<_, _> = written.map(|call| (call.id.clone(), call.written.clone())).collect();
    ensure(found == expected, || format!("the records are {found:?}, and should be {expected:?}"))
}
