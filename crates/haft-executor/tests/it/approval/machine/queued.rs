//! Rounds that wait on one queue, side by side.

use std::time::Duration;

use futures_util::FutureExt;
use haft_core::Verdict;
use haft_executor::{Cancellation, Suspend, Suspended, VerdictQueue, VerdictSender};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{sleep, timeout};

use super::bench::Bench;
use super::check::{Audited, check, check_refused, without_issues};
use super::gatekeeper::{Desk, Gatekeeper};
use super::model::{Model, State};
use super::script::{Restart, Script, Step, WAIT};
use super::stored::swap_arguments;

/// The way in which rounds start to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// As runs.
    Run,
    /// As plans, which are run.
    Plan,
    /// As runs that were suspended first: verdicts may arrive before a run waits for them.
    Suspended,
}

/// A duration longer than any case. On a paused clock, which advances when every task waits, it elapses at once.
const FOR_EVER: Duration = Duration::from_secs(3_600);

struct Queued<'a> {
    script: &'a Script,
    gate: &'a dyn Gatekeeper,
    opening: Opening,
    bench: Bench,
    model: Model,
    sender: Option<VerdictSender>,
    queue: VerdictQueue,
    begun: usize,
    live: Vec<Live>,
    stored: Vec<(usize, Suspended)>,
    handed_in: Vec<Verdict>,
    notes: Vec<String>,
}

/// A round that runs in a separate task.
struct Live {
    round: usize,
    flag: Cancellation,
    task: JoinHandle<()>,
}

/// Plays a script and checks every promise.
pub(super) async fn play(script: &Script, gate: &dyn Gatekeeper, opening: Opening) -> Result<(), String> {
    let (sender, queue) = VerdictQueue::new();
    let mut queued = Queued {
        script,
        gate,
        opening,
        bench: Bench::new(script),
        model: Model::new(script),
        sender: Some(sender),
        queue,
        begun: 0,
        live: Vec::new(),
        stored: Vec::new(),
        handed_in: Vec::new(),
        notes: Vec::new(),
    };
    queued.take(&Step::Begin).await;
    for step in &script.steps {
        queued.take(step).await;
    }
    queued.resume_all().await;
    queued.finish().await
}

impl Queued<'_> {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Begin => self.begin().await,
            Step::Verdict(verdict) => {
                let written = verdict.written(&self.model.questions, self.handed_in.len());
                self.send(written);
            }
            Step::Again(which) if !self.handed_in.is_empty() => {
                let verdict = which.get(&self.handed_in).clone();
                self.send(Some(verdict));
            }
            Step::Wait => {
                sleep(Duration::from_millis(WAIT)).await;
                self.model.pass(self.bench.now());
            }
            Step::Cancel(which) if !self.live.is_empty() => {
                let live = which.get(&self.live);
                live.flag.cancel();
                self.model_cancel(live.round);
            }
            Step::Drop(which) if !self.live.is_empty() => {
                let live = which.get(&self.live);
                live.task.abort();
                self.model_cancel(live.round);
            }
            Step::End => {
                self.sender = None;
                self.model.end();
            }
            Step::Close => {
                self.queue.close();
                self.model.end();
            }
            Step::Restart(restart) => self.restart(*restart).await,
            Step::Again(_) | Step::Cancel(_) | Step::Drop(_) => {}
        }
        self.run_until_idle().await;
    }

    fn model_cancel(&mut self, round: usize) {
        let prefix = format!("r{round}c");
        self.model.cancel(|call| call.id.starts_with(&prefix));
    }

    /// Lets all tasks run as far as they can without time passing.
    async fn run_until_idle(&mut self) {
        for _ in 0..8 {
            yield_now().await;
        }
        self.model.questions = self.bench.seen.questions();
    }

    async fn begin(&mut self) {
        let Some(round) = self.script.rounds.get(self.begun) else { return };
        let place = self.begun;
        self.begun += 1;
        let calls = round.calls(place);
        let flag = Cancellation::new();
        let options = self.bench.options(round).cancellation(flag.clone());
        let task = match self.opening {
            Opening::Run => {
                let run = self.bench.run(calls, self.gate.approvals(options, &self.queue));
                tokio::spawn(async move { drop(run.collect_results().await) })
            }
            Opening::Plan => {
                let (kit, queue) = (self.bench.kit.clone(), self.queue.clone());
                tokio::spawn(async move {
                    let mut plan = kit.plan_from_queue(options, &queue, calls).await;
                    // Some decisions are read before anything runs, which must not affect the run.
                    if place % 2 == 1 {
                        while let Some(Some(_)) = plan.next_decision().now_or_never() {}
                    }
                    plan.into_run().collect_results().await;
                })
            }
            Opening::Suspended => {
                let run = self.bench.run(calls, options.approvals(Suspend));
                if let Err(suspended) = run.collect_or_suspend().await {
                    self.stored.push((place, *suspended));
                }
                self.model.begin(place, &State::Stored);
                return;
            }
        };
        self.live.push(Live { round: place, flag, task });
        self.model.begin(place, &State::Waits(self.bench.now()));
    }

    fn send(&mut self, verdict: Option<Verdict>) {
        let (Some(verdict), Some(sender)) = (verdict, &self.sender) else { return };
        self.handed_in.push(verdict.clone());
        let desk = Desk { sender, queue: &self.queue, questions: &self.model.questions, bench: &self.bench };
        let met = self.gate.send(&desk, verdict.clone()).map_err(|refused| without_issues(refused.fault));
        let expected = self.model.send(&verdict);
        if met != expected {
            self.notes.push(format!("{verdict:?} was met with {met:?}, and should be with {expected:?}"));
        }
    }

    async fn restart(&mut self, restart: Restart) {
        self.live.iter().for_each(|live| live.task.abort());
        self.run_until_idle().await;
        self.bench.restart(restart);
        self.model.restart(restart);
        for (_, suspended) in &mut self.stored {
            *suspended = swap_arguments(suspended, restart);
        }
        self.resume_all().await;
    }

    /// Resumes the suspended rounds, which then wait on the queue.
    async fn resume_all(&mut self) {
        for (round, suspended) in std::mem::take(&mut self.stored) {
            let flag = Cancellation::new();
            let options = self.bench.options(&self.script.rounds[round]).cancellation(flag.clone());
            let run = self.bench.resume(suspended, Vec::new(), self.gate.approvals(options, &self.queue));
            let task = tokio::spawn(async move { drop(run.collect_results().await) });
            self.live.push(Live { round, flag, task });
            self.model.await_again(round);
            self.run_until_idle().await;
        }
    }

    async fn finish(mut self) -> Result<(), String> {
        self.sender = None;
        self.model.end();
        self.run_until_idle().await;
        for live in self.live {
            if timeout(FOR_EVER, live.task).await.is_err() {
                return Err(format!("round {} never ends", live.round));
            }
        }
        let mut unmatched = std::mem::take(&mut self.model.unusable);
        let parked = self.model.parked.iter().map(|verdict| verdict.request_id.clone());
        unmatched.extend(parked.map(|id| (id, haft_executor::VerdictFault::UnknownRequest)));
        if let Err(note) = check_refused(&self.queue.take_unmatched(), &unmatched) {
            self.notes.push(note);
        }
        check(&self.bench, &self.model, self.notes, Audited::All)
    }
}
