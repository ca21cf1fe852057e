//! What should have happened, by the promises alone.
//!
//! The model is told of everything that comes in, in order, and says what each verdict must be met with and what becomes
//! of each call. It never looks at a handler, a result or a record.

use std::collections::HashSet;

use haft_core::{
    ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalResponse, ApprovalScope, Delivery, SignatureError,
    VerdictFault,
};

use super::bench::GONE;
use super::script::{Asked, LIFETIME, PATIENCE, Restart, RunPolicy, Script};

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Its handler runs, with this.
    Runs(u8),
    /// A person's result stands in its place.
    Answered,
    /// It fails, by this kind.
    Fails(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its round has not begun.
    Unknown,
    /// Its question is open, and no run waits for the answer.
    Stored,
    /// A run waits for the answer, since then.
    Waits(u64),
    Done(Fate),
}

pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: &'static str,
    pub(super) n: u8,
    pub(super) state: State,
    /// When somebody was asked, and which tools there were.
    pub(super) asked: Option<(u64, Tools)>,
    /// Whether its arguments are others than when somebody was asked.
    is_swapped: bool,
    drawn: Asked,
    caller: &'static str,
    policy: RunPolicy,
    has_timeout: bool,
}

/// Which definitions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tools {
    AsShown,
    Otherwise,
}

/// A verdict that holds for more than one call.
struct Kept {
    caller: &'static str,
    subject: Subject,
    decision: ApprovalDecision,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Arguments(Tools, &'static str, u8),
    Tool(Tools, &'static str),
    Session,
}

/// What a verdict that was sent must be met with.
pub(super) type Met = Result<Delivery, VerdictFault>;
/// Verdicts that must be refused, and why.
pub(super) type Refusals = Vec<(ApprovalId, VerdictFault)>;

pub(super) struct Model {
    pub(super) rounds: Vec<Vec<Call>>,
    pub(super) questions: Vec<ApprovalRequest>,
    /// Verdicts that nobody has asked for.
    pub(super) parked: Vec<ApprovalResponse>,
    /// Verdicts that turned out to be unusable when their question was asked.
    pub(super) unusable: Refusals,
    pub(super) now: u64,
    pub(super) tools: Tools,
    is_signed: bool,
    questions_lapse: bool,
    memory: Vec<Kept>,
    decided: HashSet<ApprovalId>,
    is_over: bool,
}

impl Model {
    pub(super) fn new(script: &Script) -> Self {
        let rounds = script.rounds.iter().enumerate().map(|(place, round)| {
            let calls = round.asked.iter().enumerate().map(|(index, asked)| Call {
                id: asked.id(place, index),
                tool: asked.tool,
                n: asked.n,
                state: State::Unknown,
                asked: None,
                is_swapped: false,
                drawn: *asked,
                caller: round.caller,
                policy: round.policy,
                has_timeout: round.has_timeout,
            });
            calls.collect()
        });
        Self {
            rounds: rounds.collect(),
            questions: Vec::new(),
            parked: Vec::new(),
            unusable: Vec::new(),
            now: 0,
            tools: Tools::AsShown,
            is_signed: script.is_signed,
            questions_lapse: script.questions_lapse,
            memory: Vec::new(),
            decided: HashSet::new(),
            is_over: false,
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.rounds.iter().flatten()
    }

    /// A round begins: calls that nobody has to be asked about come to their end, the others get into this state.
    pub(super) fn begin(&mut self, round: usize, asked: &State) {
        for index in 0..self.rounds[round].len() {
            let state = match self.unasked(round, index) {
                Some(fate) => State::Done(fate),
                None => {
                    self.rounds[round][index].asked = Some((self.now, self.tools));
                    match asked {
                        State::Waits(_) if self.is_over => State::Done(Fate::Fails("cancelled")),
                        state => state.clone(),
                    }
                }
            };
            self.rounds[round][index].state = state;
        }
    }

    /// What becomes of a call without anybody being asked.
    fn unasked(&mut self, round: usize, index: usize) -> Option<Fate> {
        let call = &self.rounds[round][index];
        let is_repeated = self.rounds[round][..index].iter().any(|earlier| earlier.id == call.id);
        if is_repeated {
            Some(Fate::Fails("duplicate_call_id"))
        } else if self.is_gone(call) || call.tool == "unknown" {
            Some(Fate::Fails("unknown_tool"))
        } else if !call.drawn.is_valid {
            Some(Fate::Fails("input_validation_error"))
        } else if !call.policy.asks_about(call.tool, call.n) {
            Some(Fate::Runs(call.n))
        } else {
            self.remembered(round, index).map(|decision| fate(&decision, call.n))
        }
    }

    fn remembered(&self, round: usize, index: usize) -> Option<ApprovalDecision> {
        let Call { caller, tool, n, .. } = self.rounds[round][index];
        let narrowest_first =
            [Subject::Arguments(self.tools, tool, n), Subject::Tool(self.tools, tool), Subject::Session];
        narrowest_first.iter().find_map(|subject| {
            let kept = self.memory.iter().rev().find(|kept| kept.caller == caller && kept.subject == *subject);
            kept.map(|kept| kept.decision.clone())
        })
    }

    /// A verdict that counts: what it says is done, and remembered as far as it says.
    fn decide(&mut self, (round, index): (usize, usize), verdict: &ApprovalResponse) {
        let tools = self.tools;
        let call = &mut self.rounds[round][index];
        call.state = State::Done(fate(&verdict.decision, call.n));
        let these = Subject::Arguments(tools, call.tool, call.n);
        let is_plain = matches!(verdict.decision, ApprovalDecision::Approved | ApprovalDecision::Denied);
        let subject = match verdict.scope {
            _ if matches!(verdict.decision, ApprovalDecision::Other(_)) => return,
            ApprovalScope::ThisTool if is_plain => Subject::Tool(tools, call.tool),
            ApprovalScope::ThisSession if is_plain => Subject::Session,
            ApprovalScope::TheseArguments | ApprovalScope::ThisTool | ApprovalScope::ThisSession => these,
            _ => return,
        };
        self.memory.push(Kept { caller: call.caller, subject, decision: verdict.decision.clone() });
    }

    fn place_of(&self, call_id: &str) -> Option<(usize, usize)> {
        self.rounds
            .iter()
            .enumerate()
            .find_map(|(round, calls)| calls.iter().position(|call| call.id == call_id).map(|index| (round, index)))
    }

    /// The question of an id, and where its call is.
    fn question(&self, id: &ApprovalId) -> Option<(ApprovalRequest, (usize, usize))> {
        let question = self.questions.iter().find(|question| question.request_id == *id)?;
        Some((question.clone(), self.place_of(question.call_id.as_str())?))
    }

    fn call(&mut self, (round, index): (usize, usize)) -> &mut Call {
        &mut self.rounds[round][index]
    }

    fn fails(&mut self, place: (usize, usize), kind: &'static str) {
        self.call(place).state = State::Done(Fate::Fails(kind));
    }

    fn is_gone(&self, call: &Call) -> bool {
        self.tools == Tools::Otherwise && call.tool == GONE
    }

    fn has_lapsed(&self, (asked_at, _): (u64, Tools)) -> bool {
        self.questions_lapse && asked_at + LIFETIME <= self.now
    }

    fn is_proved(&self, question: &ApprovalRequest, verdict: &ApprovalResponse) -> bool {
        !self.is_signed
            || (verdict.request_id == question.request_id
                && verdict.call_id.as_ref() == Some(&question.call_id)
                && verdict.digest == question.digest
                && verdict.expires_at == question.expires_at
                && verdict.signature == question.signature)
    }
}

/// What comes by a queue.
impl Model {
    /// A verdict is sent.
    pub(super) fn send(&mut self, verdict: &ApprovalResponse) -> Met {
        let id = &verdict.request_id;
        let open = self.question(id).filter(|(_, place)| matches!(self.call(*place).state, State::Waits(_)));
        if let Some((question, place)) = open {
            if question.digest != verdict.digest {
                return Err(VerdictFault::OtherDigest);
            }
            self.deliver(&question, place, verdict);
            return Ok(Delivery::Delivered);
        }
        if self.is_over {
            return Err(VerdictFault::Closed);
        }
        if self.decided.contains(id) || self.parked.iter().any(|parked| parked.request_id == *id) {
            return Err(VerdictFault::AlreadyDecided);
        }
        self.parked.push(verdict.clone());
        Ok(Delivery::Parked)
    }

    fn deliver(&mut self, question: &ApprovalRequest, place: (usize, usize), verdict: &ApprovalResponse) {
        self.decided.insert(question.request_id.clone());
        let Some(asked) = self.call(place).asked else { return };
        if !self.is_proved(question, verdict) {
            self.fails(place, "denied");
        } else if self.has_lapsed(asked) {
            self.fails(place, "cancelled");
        } else {
            self.decide(place, verdict);
        }
    }

    /// A stored round goes on, waiting for its verdicts at the queue.
    pub(super) fn await_again(&mut self, round: usize) {
        for place in (0..self.rounds[round].len()).map(|index| (round, index)) {
            let (now, tools) = (self.now, self.tools);
            let call = self.call(place);
            let (State::Stored, Some(asked)) = (call.state.clone(), call.asked) else { continue };
            let is_changed = asked.1 != tools || call.is_swapped;
            if self.is_gone(&self.rounds[round][place.1]) {
                self.fails(place, "unknown_tool");
                continue;
            }
            if is_changed {
                self.fails(place, "denied");
                continue;
            }
            if self.has_lapsed(asked) {
                self.fails(place, "cancelled");
                continue;
            }
            self.call(place).state = State::Waits(now);
            self.unpark(place);
            if self.is_over && self.call(place).state == State::Waits(now) {
                self.fails(place, "cancelled");
            }
        }
    }

    /// A question is asked for which a verdict may be there already.
    fn unpark(&mut self, place: (usize, usize)) {
        let id = self.call(place).id.clone();
        let Some(question) = self.questions.iter().find(|question| question.call_id.as_str() == id).cloned() else {
            return;
        };
        let parked = self.parked.iter().position(|parked| parked.request_id == question.request_id);
        let Some(verdict) = parked.map(|parked| self.parked.remove(parked)) else { return };
        if verdict.digest == question.digest {
            self.deliver(&question, place, &verdict);
        } else {
            self.unusable.push((verdict.request_id, VerdictFault::OtherDigest));
        }
    }

    /// No more verdicts come.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.call_off(|_| true);
    }

    /// Time has passed.
    pub(super) fn pass(&mut self, now: u64) {
        self.now = now;
        self.call_off(|call| match call.state {
            State::Waits(since) => call.has_timeout && since + PATIENCE <= now,
            _ => false,
        });
    }

    /// Calls that wait do so no longer.
    pub(super) fn call_off(&mut self, which: impl Fn(&Call) -> bool) {
        for call in self.rounds.iter_mut().flatten() {
            if matches!(call.state, State::Waits(_)) && which(call) {
                call.state = State::Done(Fate::Fails("cancelled"));
            }
        }
    }

    /// Whoever waited is gone, and other tools may be there.
    pub(super) fn restart(&mut self, restart: Restart) {
        self.call_off(|_| true);
        self.tools = if restart == Restart::Changed { Tools::Otherwise } else { Tools::AsShown };
        if restart == Restart::Swapped {
            let stored = self.rounds.iter_mut().flatten().filter(|call| call.state == State::Stored);
            stored.for_each(|call| (call.n, call.is_swapped) = (call.n | SWAPPED, true));
        }
    }
}

/// What is set in the arguments of a call that somebody has changed.
pub(super) const SWAPPED: u8 = 16;

/// What comes all at once.
impl Model {
    /// A stored round goes on with these verdicts, and stores what is left.
    pub(super) fn resume(&mut self, round: usize, verdicts: &[ApprovalResponse]) -> Refusals {
        let mut refused = Vec::new();
        let mut given: Vec<(usize, &ApprovalResponse)> = Vec::new();
        for verdict in verdicts {
            let question = self.question(&verdict.request_id);
            let question = question.filter(|(_, place)| place.0 == round && self.call(*place).state == State::Stored);
            let fault = match question {
                None => VerdictFault::UnknownRequest,
                Some((_, (_, index))) if given.iter().any(|(known, _)| *known == index) => VerdictFault::AlreadyDecided,
                Some((question, _)) if question.digest != verdict.digest => VerdictFault::OtherDigest,
                Some((_, (_, index))) => {
                    given.push((index, verdict));
                    continue;
                }
            };
            refused.push((verdict.request_id.clone(), fault));
        }
        for place in (0..self.rounds[round].len()).map(|index| (round, index)) {
            let (tools, call) = (self.tools, self.call(place));
            let (State::Stored, Some(asked)) = (call.state.clone(), call.asked) else { continue };
            let is_changed = asked.1 != tools || call.is_swapped;
            let verdict = given.iter().find(|(known, _)| *known == place.1).map(|(_, verdict)| *verdict);
            let fault = if self.is_gone(&self.rounds[round][place.1]) {
                self.fails(place, "unknown_tool");
                VerdictFault::UnknownRequest
            } else if is_changed {
                self.fails(place, "denied");
                VerdictFault::OtherDigest
            } else if self.has_lapsed(asked) {
                self.fails(place, "cancelled");
                VerdictFault::Lapsed
            } else {
                match verdict {
                    None => continue,
                    Some(verdict) => match self.question(&verdict.request_id) {
                        Some((question, _)) if self.is_proved(&question, verdict) => {
                            self.decide(place, verdict);
                            continue;
                        }
                        _ => {
                            self.fails(place, "denied");
                            SignatureError::Forged.into()
                        }
                    },
                }
            };
            refused.extend(verdict.map(|verdict| (verdict.request_id.clone(), fault)));
        }
        refused
    }

    /// A round of which nothing has run is planned with these verdicts, and run.
    pub(super) fn plan(&mut self, round: usize, verdicts: &[ApprovalResponse]) -> Refusals {
        let mut refused = Vec::new();
        let mut given: Vec<(usize, &ApprovalResponse)> = Vec::new();
        for verdict in verdicts {
            let place = verdict.call_id.as_ref().and_then(|call_id| self.place_of(call_id.as_str()));
            let is_taken =
                |index| given.iter().any(|(known, other)| *known == index || other.request_id == verdict.request_id);
            match place.filter(|(of, _)| *of == round) {
                None => refused.push((verdict.request_id.clone(), VerdictFault::UnknownRequest)),
                Some((_, index)) if is_taken(index) => {
                    refused.push((verdict.request_id.clone(), VerdictFault::AlreadyDecided));
                }
                Some((_, index)) => given.push((index, verdict)),
            }
        }
        for place in (0..self.rounds[round].len()).map(|index| (round, index)) {
            let Some((_, verdict)) = given.iter().find(|(known, _)| *known == place.1) else {
                let fate = self.unasked(round, place.1).unwrap_or(Fate::Fails("cancelled"));
                self.call(place).state = State::Done(fate);
                continue;
            };
            refused.extend(self.judge(place, verdict).map(|fault| (verdict.request_id.clone(), fault)));
        }
        refused
    }

    /// What a plan lets run is run where the tools are others: nothing of it holds there.
    pub(super) fn run_elsewhere(&mut self, round: usize) {
        for call in &mut self.rounds[round] {
            if let State::Done(Fate::Runs(_)) = call.state {
                let kind = if call.tool == GONE { "unknown_tool" } else { "denied" };
                call.state = State::Done(Fate::Fails(kind));
            }
        }
    }

    /// A verdict that names a call rather than a question.
    fn judge(&mut self, place: (usize, usize), verdict: &ApprovalResponse) -> Option<VerdictFault> {
        let (tools, call) = (self.tools, self.call(place));
        let (id, is_swapped, asked) = (call.id.clone(), call.is_swapped, call.asked?);
        let question = self.questions.iter().find(|question| question.call_id.as_str() == id).cloned()?;
        if self.is_gone(&self.rounds[place.0][place.1]) {
            self.fails(place, "unknown_tool");
            Some(VerdictFault::UnknownRequest)
        } else if asked.1 != tools || is_swapped || question.digest != verdict.digest {
            self.fails(place, "denied");
            Some(VerdictFault::OtherDigest)
        } else if !self.is_proved(&question, verdict) {
            self.fails(place, "denied");
            Some(SignatureError::Forged.into())
        } else if self.has_lapsed(asked) {
            self.fails(place, "cancelled");
            Some(VerdictFault::Lapsed)
        } else {
            self.decide(place, verdict);
            None
        }
    }
}

fn fate(decision: &ApprovalDecision, n: u8) -> Fate {
    match decision {
        ApprovalDecision::Approved => Fate::Runs(n),
        ApprovalDecision::Edited(arguments) => match arguments.to_value()["n"].as_u64() {
            Some(n) => Fate::Runs(u8::try_from(n).unwrap()),
            None => Fate::Fails("input_validation_error"),
        },
        ApprovalDecision::Answered(answer) if answer.to_value().is_number() => Fate::Answered,
        ApprovalDecision::Answered(_) => Fate::Fails("output_validation_error"),
        _ => Fate::Fails("denied"),
    }
}

impl Fate {
    /// The result as it is told.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Runs(n) => n.to_string(),
            Self::Answered => "77".to_owned(),
            Self::Fails(kind) => (*kind).to_owned(),
        }
    }
}
