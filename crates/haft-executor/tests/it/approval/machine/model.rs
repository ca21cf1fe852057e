//! The expected outcomes, derived from the promises alone.
//!
//! The model receives every input in order, and predicts the response to each verdict, the outcome of each call and
//! its audit records. It never uses a handler, a result or a record. [`sent`] models verdicts that are sent to waiting
//! runs, [`batch`] those that are delivered all at once.

mod batch;
mod sent;

use std::collections::HashMap;

use haft_core::{ApprovalDecision, ApprovalId, ApprovalRequest, ApprovalScope, Verdict};
use haft_executor::{ApprovalOutcome, Receipt, VerdictFault};
use haft_schema::Issues;

use super::bench::GONE;
use super::script::{Asked, LIFETIME, Restart, RunPolicy, Script};

/// The bit that is set in the arguments of a call that were changed in store.
pub(super) const SWAPPED: u8 = 16;

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Its handler runs, with this argument.
    Runs(u8),
    /// A person's answer is its result.
    Answered,
    /// It fails, with this kind.
    Fails(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its round has not begun.
    Unknown,
    /// Its request is pending, and no run waits for the verdict.
    Stored,
    /// A run has waited for the verdict since this time.
    Waits(u64),
    Done(Fate),
}

pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: &'static str,
    pub(super) n: u8,
    pub(super) state: State,
    /// The time of the approval request, and the tools of that time.
    pub(super) asked: Option<(u64, Tools)>,
    /// The number of approval requests for it.
    pub(super) questions: usize,
    /// The audit records of its request in order, without suspensions.
    pub(super) written: Vec<ApprovalOutcome>,
    /// True if its arguments have changed since the approval request.
    is_swapped: bool,
    drawn: Asked,
    caller: &'static str,
    policy: RunPolicy,
    has_timeout: bool,
}

/// The definitions that a process has.
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

/// The expected response to a verdict that was sent.
pub(super) type Met = Result<Receipt, VerdictFault>;
/// Verdicts that must be rejected, and the faults.
pub(super) type Refusals = Vec<(ApprovalId, VerdictFault)>;

pub(super) struct Model {
    pub(super) rounds: Vec<Vec<Call>>,
    pub(super) questions: Vec<ApprovalRequest>,
    /// Verdicts whose requests have not been made yet.
    pub(super) parked: Vec<Verdict>,
    /// Verdicts that were found to be invalid when their request was made.
    pub(super) unusable: Refusals,
    pub(super) now: u64,
    pub(super) tools: Tools,
    is_signed: bool,
    questions_lapse: bool,
    memory: Vec<Kept>,
    /// Requests that no run waits for any more, and the fault of a verdict on each.
    over: HashMap<ApprovalId, VerdictFault>,
    is_over: bool,
}

/// The position of a call: its round, and its index there.
type Place = (usize, usize);

impl Model {
    pub(super) fn new(script: &Script) -> Self {
        let rounds = script.rounds.iter().enumerate().map(|(place, round)| {
            let calls = round.asked.iter().enumerate().map(|(index, asked)| Call {
                id: asked.id(place, index),
                tool: asked.tool,
                n: asked.n,
                state: State::Unknown,
                asked: None,
                questions: 0,
                written: Vec::new(),
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
            over: HashMap::new(),
            is_over: false,
        }
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Call> {
        self.rounds.iter().flatten()
    }

    /// Begins a round: calls that require no approval end, the others enter this state.
    pub(super) fn begin(&mut self, round: usize, asked: &State) {
        for place in self.places(round) {
            if let Some(fate) = self.without_request(place) {
                self.call(place).state = State::Done(fate);
                continue;
            }
            let (now, tools) = (self.now, self.tools);
            let call = self.call(place);
            (call.asked, call.questions, call.state) = (Some((now, tools)), 1, asked.clone());
            if self.is_over && matches!(asked, State::Waits(_)) {
                self.ends(place, "cancelled", ApprovalOutcome::Unanswered);
            }
        }
    }

    /// Drops all waiting runs, and possibly changes the tools.
    pub(super) fn restart(&mut self, restart: Restart) {
        self.cancel(|_| true);
        self.tools = if restart == Restart::Changed { Tools::Otherwise } else { Tools::AsShown };
        if restart == Restart::Swapped {
            let stored = self.rounds.iter_mut().flatten().filter(|call| call.state == State::Stored);
            stored.for_each(|call| (call.n, call.is_swapped) = (call.n | SWAPPED, true));
        }
    }

    /// Returns the outcome of a call that is decided without an approval request.
    fn without_request(&mut self, (round, index): Place) -> Option<Fate> {
        let call = &self.rounds[round][index];
        let is_repeated = self.rounds[round][..index].iter().any(|earlier| earlier.id == call.id);
        if is_repeated {
            Some(Fate::Fails("duplicate_call_id"))
        } else if self.is_gone((round, index)) || call.tool == "unknown" {
            Some(Fate::Fails("unknown_tool"))
        } else if !call.drawn.is_valid {
            Some(Fate::Fails("input_validation_error"))
        } else if !call.policy.asks_about(call.tool, call.n) {
            Some(Fate::Runs(call.n))
        } else {
            self.remembered((round, index))
        }
    }

    /// Returns the outcome of a call by a remembered verdict.
    fn remembered(&mut self, (round, index): Place) -> Option<Fate> {
        let Call { caller, tool, n, .. } = self.rounds[round][index];
        let narrowest_first =
            [Subject::Arguments(self.tools, tool, n), Subject::Tool(self.tools, tool), Subject::Session];
        let latest = narrowest_first.iter().filter_map(|subject| {
            self.memory.iter().rposition(|kept| kept.caller == caller && kept.subject == *subject)
        });
        let latest: Vec<usize> = latest.collect();
        let is_no = |given: usize| self.memory[given].decision == ApprovalDecision::Denied;
        // A later, wider denial revokes everything that is not a denial itself.
        let is_revoked = |place: usize| latest[place + 1..].iter().any(|&wider| is_no(wider) && wider > latest[place]);
        let holds = |place: &usize| is_no(latest[*place]) || !is_revoked(*place);
        let decision = self.memory[latest[(0..latest.len()).find(holds)?]].decision.clone();
        let is_no = decision == ApprovalDecision::Denied;
        let outcome = if is_no { ApprovalOutcome::RememberedDenied } else { ApprovalOutcome::Remembered };
        self.call((round, index)).written.push(outcome);
        fate(&decision, n)
    }

    /// Returns the reason why a verdict does not count for a valid request.
    fn fault_of(&self, question: &ApprovalRequest, asked: (u64, Tools), verdict: &Verdict) -> Option<VerdictFault> {
        if !names(question, verdict) {
            Some(VerdictFault::OtherDigest)
        } else if verdict.signature != question.signature {
            let is_missing = verdict.signature.is_none();
            Some(if is_missing { VerdictFault::Unsigned } else { VerdictFault::Forged })
        } else if let ApprovalDecision::Other(word) = &verdict.decision {
            Some(VerdictFault::UnusableDecision { word: word.clone() })
        } else {
            let is_invalid = fate(&verdict.decision, 0).is_none();
            let invalid = is_invalid.then(|| VerdictFault::Invalid { issues: Issues::default() });
            self.has_lapsed(asked).then_some(VerdictFault::Expired).or(invalid)
        }
    }

    /// Applies a verdict that counts, and remembers it as far as its scope.
    fn decide(&mut self, place: Place, verdict: &Verdict) {
        let tools = self.tools;
        let call = self.call(place);
        call.state = State::Done(fate(&verdict.decision, call.n).unwrap());
        call.written.push(match verdict.decision {
            ApprovalDecision::Approved => ApprovalOutcome::Approved,
            ApprovalDecision::Edited(_) => ApprovalOutcome::Edited,
            ApprovalDecision::Answered(_) => ApprovalOutcome::Answered,
            _ => ApprovalOutcome::Denied,
        });
        let these = Subject::Arguments(tools, call.tool, call.n);
        let is_plain = matches!(verdict.decision, ApprovalDecision::Approved | ApprovalDecision::Denied);
        let subject = match verdict.scope {
            ApprovalScope::ThisTool if is_plain => Subject::Tool(tools, call.tool),
            ApprovalScope::ThisSession if is_plain => Subject::Session,
            ApprovalScope::TheseArguments | ApprovalScope::ThisTool | ApprovalScope::ThisSession => these,
            _ => return,
        };
        let caller = call.caller;
        self.memory.push(Kept { caller, subject, decision: verdict.decision.clone() });
    }

    /// Ends a request without a verdict that counts, and its call.
    fn ends(&mut self, place: Place, kind: &'static str, outcome: ApprovalOutcome) {
        let call = self.call(place);
        call.state = State::Done(Fate::Fails(kind));
        call.written.push(outcome);
    }

    /// Returns the reason why an earlier request is void. That ends its call, unless only the definition of the tool
    /// has changed: then approval is requested again. A missing tool is detected before the request is examined.
    fn close_changed(&mut self, place: Place, verdict: Option<&Verdict>) -> Option<VerdictFault> {
        let tools = self.tools;
        let call = self.call(place);
        let (asked, is_swapped) = (call.asked?, call.is_swapped);
        let has_lapsed = self.has_lapsed(asked);
        if self.is_gone(place) {
            let outcome = match verdict {
                Some(_) => ApprovalOutcome::Rejected,
                None if has_lapsed => ApprovalOutcome::Expired,
                None => ApprovalOutcome::Unanswered,
            };
            self.ends(place, "unknown_tool", outcome);
            Some(VerdictFault::UnknownRequest)
        } else if is_swapped {
            self.ends(place, "denied", ApprovalOutcome::Rejected);
            Some(VerdictFault::OtherDigest)
        } else if asked.1 != tools && !has_lapsed {
            self.ask_anew(place);
            Some(VerdictFault::OtherDigest)
        } else if has_lapsed {
            self.ends(place, "cancelled", ApprovalOutcome::Expired);
            Some(VerdictFault::Expired)
        } else {
            None
        }
    }

    /// Replaces a request for a changed definition by a new one, unless a remembered verdict answers that.
    fn ask_anew(&mut self, place: Place) {
        let asked = (self.now, self.tools);
        let call = self.call(place);
        call.asked = Some(asked);
        call.written.push(ApprovalOutcome::Rejected);
        match self.remembered(place) {
            Some(fate) => self.call(place).state = State::Done(fate),
            None => self.call(place).questions += 1,
        }
    }

    fn places(&self, round: usize) -> impl Iterator<Item = Place> + use<> {
        (0..self.rounds[round].len()).map(move |index| (round, index))
    }

    fn place_of(&self, call_id: &str) -> Option<Place> {
        self.rounds
            .iter()
            .enumerate()
            .find_map(|(round, calls)| calls.iter().position(|call| call.id == call_id).map(|index| (round, index)))
    }

    /// Returns the request of an id, and the position of its call.
    fn question(&self, id: &ApprovalId) -> Option<(ApprovalRequest, Place)> {
        let question = self.questions.iter().find(|question| question.request_id == *id)?;
        let place = self.place_of(question.call_id.as_str())?;
        self.question_about(place).filter(|latest| latest.request_id == *id).map(|latest| (latest, place))
    }

    /// Returns the latest request for a call.
    fn question_about(&self, (round, index): Place) -> Option<ApprovalRequest> {
        let id = &self.rounds[round][index].id;
        self.questions.iter().rfind(|question| question.call_id.as_str() == id).cloned()
    }

    fn call(&mut self, (round, index): Place) -> &mut Call {
        &mut self.rounds[round][index]
    }

    fn is_gone(&self, (round, index): Place) -> bool {
        self.tools == Tools::Otherwise && self.rounds[round][index].tool == GONE
    }

    fn has_lapsed(&self, (asked_at, _): (u64, Tools)) -> bool {
        self.questions_lapse && asked_at + LIFETIME <= self.now
    }
}

/// Returns whether a verdict names the call of a request, as it was then.
fn names(question: &ApprovalRequest, verdict: &Verdict) -> bool {
    verdict.call_id.as_ref() == Some(&question.call_id) && verdict.digest == question.digest
}

/// Returns the outcome of a call by a decision; none if the content of the decision is invalid.
fn fate(decision: &ApprovalDecision, n: u8) -> Option<Fate> {
    match decision {
        ApprovalDecision::Approved => Some(Fate::Runs(n)),
        ApprovalDecision::Edited(arguments) => {
            let n = arguments.to_value()["n"].as_u64()?;
            Some(Fate::Runs(u8::try_from(n).unwrap()))
        }
        ApprovalDecision::Answered(answer) => answer.to_value().is_number().then_some(Fate::Answered),
        _ => Some(Fate::Fails("denied")),
    }
}

impl Fate {
    /// Returns the result as it is reported.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Runs(n) => n.to_string(),
            Self::Answered => "77".to_owned(),
            Self::Fails(kind) => (*kind).to_owned(),
        }
    }
}
