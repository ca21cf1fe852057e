//! Rounds that are stored while they wait for verdicts, and resumed with those that arrived since.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::{Stream, future::poll_fn};
use haft_core::Verdict;
use haft_executor::{Run, Suspend, Suspended, VerdictQueue};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::bench::Bench;
use super::check::{Audited, check, check_refused};
use super::gatekeeper::Gatekeeper;
use super::model::{Model, SWAPPED, State};
use super::script::{Restart, Script, Step, WAIT};

const FOR_EVER: Duration = Duration::from_secs(3_600);

struct Stored<'a> {
    script: &'a Script,
    gate: &'a dyn Gatekeeper,
    bench: Bench,
    model: Model,
    begun: usize,
    waiting: Vec<(usize, Suspended)>,
    /// Verdicts that arrived since the last restart.
    inbox: Vec<Verdict>,
    handed_in: Vec<Verdict>,
    /// The number of times that rounds were resumed.
    resumed: usize,
    notes: Vec<String>,
}

/// Plays a script and checks every promise.
pub(super) async fn play(script: &Script, gate: &dyn Gatekeeper) -> Result<(), String> {
    let mut stored = Stored {
        script,
        gate,
        bench: Bench::new(script),
        model: Model::new(script),
        begun: 0,
        waiting: Vec::new(),
        inbox: Vec::new(),
        handed_in: Vec::new(),
        resumed: 0,
        notes: Vec::new(),
    };
    let played = timeout(FOR_EVER, async {
        stored.begin().await;
        for step in &script.steps {
            stored.take(step).await;
        }
        stored.resume_all().await;
        // All requests that are pending then are denied.
        let open = stored.waiting.iter().flat_map(|(_, suspended)| suspended.pending());
        stored.inbox = open.map(|question| question.deny("too late")).collect();
        stored.resume_all().await;
    });
    played.await.map_err(|_| "a run never ends".to_owned())?;
    check(&stored.bench, &stored.model, stored.notes, Audited::All)
}

impl Stored<'_> {
    async fn take(&mut self, step: &Step) {
        match step {
            Step::Begin => self.begin().await,
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
            Step::Cancel(which) | Step::Drop(which) if !self.waiting.is_empty() => {
                let (round, suspended) = self.waiting.remove(which.index(self.waiting.len()));
                self.cancel_resumed(round, suspended, matches!(step, Step::Drop(_))).await;
            }
            Step::Restart(restart) => {
                self.bench.restart(*restart);
                self.model.restart(*restart);
                for (_, suspended) in &mut self.waiting {
                    *suspended = swap_arguments(suspended, *restart);
                }
                self.resume_all().await;
            }
            Step::Again(_) | Step::Cancel(_) | Step::Drop(_) | Step::End | Step::Close => {}
        }
    }

    async fn begin(&mut self) {
        let Some(round) = self.script.rounds.get(self.begun) else { return };
        let place = self.begun;
        self.begun += 1;
        let run = self.bench.run(round.calls(place), self.bench.options(round).approvals(Suspend));
        self.store(place, run).await;
        self.model.begin(place, &State::Stored);
        self.model.questions = self.bench.seen.questions();
    }

    /// Runs to the end, and keeps the suspended calls as another process would read them.
    async fn store(&mut self, round: usize, mut run: Run) {
        while run.next().await.is_some() {}
        if let Some(suspended) = run.suspended() {
            self.waiting.push((round, suspended));
        }
    }

    /// Resumes every round with all verdicts that arrived, including those that are meant for another round.
    async fn resume_all(&mut self) {
        let verdicts = std::mem::take(&mut self.inbox);
        for (round, suspended) in std::mem::take(&mut self.waiting) {
            let mut options = self.bench.options(&self.script.rounds[round]);
            self.resumed += 1;
            if self.resumed.is_multiple_of(2) {
                options = options.approvals(Suspend);
            }
            let open: Vec<_> = suspended.pending().cloned().collect();
            let given = self.gate.hand_in(&open, verdicts.clone());
            let mut run = self.bench.resume(suspended, given, options);
            while run.next().await.is_some() {}
            let expected = self.model.resume(round, &verdicts);
            if let Err(note) = check_refused(run.rejected_verdicts(), &expected) {
                self.notes.push(note);
            }
            self.model.questions = self.bench.seen.questions();
            self.store(round, run).await;
        }
    }

    /// Resumes a round, and cancels or drops it while it waits.
    async fn cancel_resumed(&mut self, round: usize, suspended: Suspended, is_dropped: bool) {
        let (_sender, queue) = VerdictQueue::new();
        let options = self.bench.options(&self.script.rounds[round]).approvals(queue);
        let mut run = self.bench.resume(suspended, Vec::new(), options);
        // Polls until it waits.
        while poll_fn(|task| Poll::Ready(Pin::new(&mut run).poll_next(task).is_ready())).await {
            if run.size_hint().0 == 0 {
                break;
            }
        }
        if !is_dropped {
            run.cancel();
            while run.next().await.is_some() {}
        }
        self.model.cancel_resumed(round);
        self.model.questions = self.bench.seen.questions();
    }
}

/// Returns the value as another process reads it, in which the arguments of waiting calls may have been changed.
pub(super) fn swap_arguments(suspended: &Suspended, restart: Restart) -> Suspended {
    let mut written = serde_json::to_value(suspended).unwrap();
    if restart == Restart::Swapped {
        let open: Vec<_> = written["pending"].as_array().unwrap().iter().map(|open| open["index"].clone()).collect();
        for index in open {
            let call = &mut written["calls"][usize::try_from(index.as_u64().unwrap()).unwrap()];
            let mut arguments: Value = serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap();
            arguments["n"] = json!(arguments["n"].as_u64().unwrap() | u64::from(SWAPPED));
            call["arguments"] = json!(arguments.to_string());
        }
    }
    serde_json::from_str(&written.to_string()).unwrap()
}
