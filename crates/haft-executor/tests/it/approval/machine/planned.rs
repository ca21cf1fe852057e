//! Rounds that are planned when all their verdicts have arrived, as by a server that stores nothing between requests.

use std::time::Duration;

use haft_core::{ApprovalRequest, ToolCall, Verdict};
use haft_executor::{ApprovalOutcome, AuditRecord};
use tokio::time::{sleep, timeout};

use super::bench::Bench;
use super::check::{Audited, check, check_refused, ensure};
use super::gatekeeper::Gatekeeper;
use super::model::{Fate, Model, State};
use super::script::{Script, Step, WAIT, arguments};

const FOR_EVER: Duration = Duration::from_secs(3_600);

struct Planned<'a> {
    script: &'a Script,
    gate: &'a dyn Gatekeeper,
    bench: Bench,
    model: Model,
    begun: usize,
    /// Rounds that have returned their approval requests.
    open: Vec<usize>,
    inbox: Vec<Verdict>,
    handed_in: Vec<Verdict>,
    notes: Vec<String>,
}

/// Plays a script and checks every promise.
pub(super) async fn play(script: &Script, gate: &dyn Gatekeeper) -> Result<(), String> {
    let mut planned = Planned {
        script,
        gate,
        bench: Bench::new(script),
        model: Model::new(script),
        begun: 0,
        open: Vec::new(),
        inbox: Vec::new(),
        handed_in: Vec::new(),
        notes: Vec::new(),
    };
    let played = timeout(FOR_EVER, async {
        planned.show().await;
        for step in &script.steps {
            planned.take(step).await;
        }
        planned.run_all().await;
    });
    played.await.map_err(|_| "a plan never ends".to_owned())?;
    check(&planned.bench, &planned.model, planned.notes, Audited::Answered)
}

impl Planned<'_> {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Begin => self.show().await,
            Step::Verdict(verdict) => {
                if let Some(verdict) = verdict.written(&self.model.questions, self.handed_in.len()) {
                    self.handed_in.push(verdict.clone());
                    self.inbox.push(verdict);
                }
            }
            Step::Again(which) if !self.handed_in.is_empty() => {
                self.inbox.push(which.get(&self.handed_in).clone());
            }
            Step::Wait => {
                sleep(Duration::from_millis(WAIT)).await;
                self.model.pass(self.bench.now());
            }
            Step::Cancel(which) | Step::Drop(which) if !self.open.is_empty() => {
                let round = self.open.remove(which.index(self.open.len()));
                let verdicts = self.inbox.clone();
                let end = if matches!(step, Step::Drop(_)) { End::Dropped } else { End::RunElsewhere };
                self.run(round, &verdicts, end).await;
            }
            Step::Restart(restart) => {
                self.bench.restart(*restart);
                self.model.restart(*restart);
                self.run_all().await;
            }
            Step::Again(_) | Step::Cancel(_) | Step::Drop(_) | Step::End | Step::Close => {}
        }
    }

    /// Serves the first request of a round, without any verdict.
    async fn show(&mut self) {
        let Some(round) = self.script.rounds.get(self.begun) else { return };
        let place = self.begun;
        self.begun += 1;
        let before = self.bench.seen.note(|sights| sights.ran.len());
        let plan = self.bench.kit.plan_from_map(self.bench.options(round), [], round.calls(place)).await;
        self.check_put_off(&plan.requests);
        plan.requests.iter().for_each(|question| self.bench.seen.asked(question));
        let after = self.bench.seen.note(|sights| sights.ran.len());
        self.notes.extend(ensure(before == after, || "a plan ran something".to_owned()).err());
        self.open.push(place);
        self.model.begin(place, &State::Stored);
        self.model.questions = self.bench.seen.questions();
    }

    async fn run_all(&mut self) {
        let verdicts = std::mem::take(&mut self.inbox);
        for round in std::mem::take(&mut self.open) {
            self.run(round, &verdicts, End::Run).await;
        }
    }

    /// Serves the second request of a round, which brings verdicts, including some that are meant for another round.
    async fn run(&mut self, place: usize, verdicts: &[Verdict], end: End) {
        let round = &self.script.rounds[place];
        let calls = self.calls(place);
        let without = self.bench.kit.plan_from_map(self.bench.unaudited(round), [], &calls).await;
        let given = self.gate.hand_in(&without.requests, verdicts.to_vec());
        let plan = self.bench.kit.plan_from_map(self.bench.options(round), given, &calls).await;
        let (refused, raised) = self.model.plan(place, verdicts);
        self.notes.extend(check_refused(&plan.rejected_verdicts, &refused).err());
        let found: Vec<_> = plan.requests.iter().map(|question| question.call_id.to_string()).collect();
        let are_raised = || format!("the plan asks about {found:?}, and should about {raised:?}");
        self.notes.extend(ensure(found == raised, are_raised).err());
        self.check_put_off(&plan.requests);
        match end {
            End::Run => drop(self.bench.kit.run(plan).collect_results().await),
            End::RunElsewhere => {
                self.bench.elsewhere().run_with(plan, self.bench.plain()).collect_results().await;
                self.model.run_elsewhere(place);
            }
            End::Dropped => {
                drop(self.bench.kit.run_with(plan, self.bench.plain()));
                let calls = self.model.rounds[place].iter_mut();
                calls.for_each(|call| call.state = State::Done(Fate::Fails("cancelled")));
            }
        }
    }

    /// Checks that a request which a plan returns is suspended, and not closed.
    fn check_put_off(&mut self, questions: &[ApprovalRequest]) {
        for question in questions {
            let is_about = |record: &&AuditRecord| record.request_id.as_ref() == Some(&question.request_id);
            let outcomes: Vec<_> = self
                .bench
                .seen
                .note(|sights| sights.records.iter().filter(is_about).map(|record| record.outcome).collect());
            let is_put_off = outcomes == [ApprovalOutcome::Suspended];
            self.notes.extend(ensure(is_put_off, || format!("{question:?} was given out as {outcomes:?}")).err());
        }
    }

    /// Returns the current calls, whose arguments may have been changed.
    fn calls(&self, place: usize) -> Vec<ToolCall> {
        let calls = self.script.rounds[place].calls(place).into_iter().zip(&self.model.rounds[place]);
        let changed = calls.map(|(call, model)| match model.state {
            State::Stored => ToolCall::new(call.call_id, call.name, arguments(model.n)),
            _ => call,
        });
        changed.collect()
    }
}

/// The end of a plan.
#[derive(Clone, Copy, Debug)]
enum End {
    Run,
    /// It is run with other tools than those it was made for.
    RunElsewhere,
    /// Its run is dropped before it begins.
    Dropped,
}
