//! The generated cases: rounds of calls, and the steps that affect them.

use haft_core::{ApprovalDecision, ApprovalRequest, ApprovalScope, ToolCall, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::json;

/// The duration of one wait, in milliseconds. No sum of these is the [lifetime](LIFETIME) or the [timeout](PATIENCE).
pub(super) const WAIT: u64 = 400;
/// The lifetime of a request where it is limited.
pub(super) const LIFETIME: u64 = 700;
/// The timeout of a round for each verdict where it is limited.
pub(super) const PATIENCE: u64 = 1_000;

/// One case.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) rounds: Vec<Round>,
    pub(super) steps: Vec<Step>,
    pub(super) is_signed: bool,
    pub(super) questions_lapse: bool,
}

/// Calls that run together.
#[derive(Clone, Debug)]
pub(super) struct Round {
    pub(super) asked: Vec<Asked>,
    pub(super) policy: RunPolicy,
    pub(super) caller: &'static str,
    pub(super) has_timeout: bool,
}

/// One call. Its tool is named by its approval policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) tool: &'static str,
    pub(super) n: u8,
    pub(super) is_valid: bool,
    /// True if it has the id of the first call of its round.
    pub(super) has_first_id: bool,
}

/// The policy of a run, in addition to or in place of those of the tools.
#[derive(Clone, Copy, Debug)]
pub(super) enum RunPolicy {
    Silent,
    Always,
    Large,
    Failing,
    LargeInstead,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The next round begins.
    Begin,
    /// A verdict arrives on one of the requests so far.
    Verdict(ScriptedVerdict),
    /// An earlier verdict arrives once more.
    Again(Index),
    /// Time passes.
    Wait,
    /// A round is cancelled.
    Cancel(Index),
    /// A round is dropped.
    Drop(Index),
    /// All senders of verdicts are dropped.
    End,
    /// The queue is closed.
    Close,
    /// Everything that is not stored is lost; a new process reads the rest.
    Restart(Restart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restart {
    /// With the same tools.
    Same,
    /// With tools of other definitions.
    Changed,
    /// With the same tools, and with calls whose arguments were changed in store.
    Swapped,
}

/// A verdict, generated before its request is known.
#[derive(Clone, Debug)]
pub(super) struct ScriptedVerdict {
    on: Index,
    says: Says,
    flaw: Flaw,
    scope: ApprovalScope,
}

#[derive(Clone, Copy, Debug)]
enum Says {
    Approve,
    Deny,
    Edit(u8),
    EditBadly,
    Answer,
    AnswerBadly,
    Mumble,
}

#[derive(Clone, Debug)]
enum Flaw {
    Nothing,
    /// The digest of another request.
    DigestOf(Index),
    /// A digest of no request.
    NoSuchDigest,
    /// The id of no request.
    NoSuchQuestion,
    /// The id of another request.
    NamesQuestion(Index),
    Forged,
    Unsigned,
}

pub(super) fn scripts() -> impl Strategy<Value = Script> {
    (vec(round(), 1..=3), vec(step(), 0..=12), prop::bool::weighted(0.4), prop::bool::weighted(0.3))
        .prop_map(|(rounds, steps, is_signed, questions_lapse)| Script { rounds, steps, is_signed, questions_lapse })
}

fn round() -> impl Strategy<Value = Round> {
    let policy = prop_oneof![
        6 => Just(RunPolicy::Silent),
        2 => Just(RunPolicy::Always),
        2 => Just(RunPolicy::Large),
        1 => Just(RunPolicy::Failing),
        1 => Just(RunPolicy::LargeInstead),
    ];
    let caller = prop_oneof![3 => Just("ana"), 1 => Just("bob")];
    (vec(asked(), 0..=4), policy, caller, prop::bool::weighted(0.2))
        .prop_map(|(asked, policy, caller, has_timeout)| Round { asked, policy, caller, has_timeout })
}

fn asked() -> impl Strategy<Value = Asked> {
    let tool = prop_oneof![
        2 => Just("open"),
        6 => Just("gated"),
        3 => Just("large"),
        2 => Just("failing"),
        1 => Just("unknown"),
    ];
    (tool, 0_u8..4, prop::bool::weighted(0.9), prop::bool::weighted(0.08))
        .prop_map(|(tool, n, is_valid, has_first_id)| Asked { tool, n, is_valid, has_first_id })
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let restart = prop_oneof![4 => Just(Restart::Same), 1 => Just(Restart::Changed), 1 => Just(Restart::Swapped)];
    prop_oneof![
        6 => Just(Step::Begin),
        20 => verdict().prop_map(Step::Verdict),
        4 => index().prop_map(Step::Again),
        4 => Just(Step::Wait),
        2 => index().prop_map(Step::Cancel),
        2 => index().prop_map(Step::Drop),
        1 => Just(Step::End),
        1 => Just(Step::Close),
        4 => restart.prop_map(Step::Restart),
    ]
}

fn verdict() -> impl Strategy<Value = ScriptedVerdict> {
    let says = prop_oneof![
        10 => Just(Says::Approve),
        4 => Just(Says::Deny),
        3 => (0_u8..6).prop_map(Says::Edit),
        1 => Just(Says::EditBadly),
        2 => Just(Says::Answer),
        1 => Just(Says::AnswerBadly),
        1 => Just(Says::Mumble),
    ];
    let flaw = prop_oneof![
        20 => Just(Flaw::Nothing),
        2 => any::<Index>().prop_map(Flaw::DigestOf),
        1 => Just(Flaw::NoSuchDigest),
        2 => Just(Flaw::NoSuchQuestion),
        2 => any::<Index>().prop_map(Flaw::NamesQuestion),
        1 => Just(Flaw::Forged),
        1 => Just(Flaw::Unsigned),
    ];
    let scope = prop_oneof![
        8 => Just(ApprovalScope::ThisCall),
        2 => Just(ApprovalScope::TheseArguments),
        2 => Just(ApprovalScope::ThisTool),
        1 => Just(ApprovalScope::ThisSession),
        1 => Just(ApprovalScope::Other("for a while".to_owned())),
    ];
    (any::<Index>(), says, flaw, scope).prop_map(|(on, says, flaw, scope)| ScriptedVerdict { on, says, flaw, scope })
}

impl Round {
    /// Returns the calls of the round at an index.
    pub(super) fn calls(&self, place: usize) -> Vec<ToolCall> {
        let calls = self.asked.iter().enumerate();
        calls.map(|(index, asked)| ToolCall::new(asked.id(place, index), asked.tool, asked.arguments())).collect()
    }
}

impl Asked {
    pub(super) fn id(&self, round: usize, index: usize) -> String {
        format!("r{round}c{}", if self.has_first_id { 0 } else { index })
    }

    pub(super) fn arguments(&self) -> String {
        if self.is_valid { arguments(self.n) } else { r#"{"n":"many"}"#.to_owned() }
    }
}

/// Returns the arguments of a call, as text.
pub(super) fn arguments(n: u8) -> String {
    json!({ "n": n }).to_string()
}

impl RunPolicy {
    /// Returns whether a call requires approval.
    pub(super) fn asks_about(self, tool: &str, n: u8) -> bool {
        let own = match tool {
            "open" => false,
            "large" => n >= 2,
            _ => true,
        };
        match self {
            Self::Silent => own,
            Self::Always | Self::Failing => true,
            Self::Large => own || n >= 2,
            Self::LargeInstead => n >= 2,
        }
    }
}

impl ScriptedVerdict {
    /// Returns the verdict on one of the requests so far. Nothing if there are none.
    pub(super) fn written(&self, questions: &[ApprovalRequest], number: usize) -> Option<Verdict> {
        if questions.is_empty() {
            return None;
        }
        let question = self.on.get(questions);
        let decision = match self.says {
            Says::Approve => ApprovalDecision::Approved,
            Says::Deny => ApprovalDecision::Denied,
            Says::Edit(n) => ApprovalDecision::Edited(json!({ "n": n }).into()),
            Says::EditBadly => ApprovalDecision::Edited(json!({ "n": -1 }).into()),
            Says::Answer => ApprovalDecision::Answered(json!(77).into()),
            Says::AnswerBadly => ApprovalDecision::Answered(json!("seventy-seven").into()),
            Says::Mumble => ApprovalDecision::Other("perhaps".to_owned()),
        };
        let mut verdict = question.respond(decision).scope(self.scope.clone());
        match &self.flaw {
            Flaw::Nothing => {}
            Flaw::DigestOf(other) => verdict.digest.clone_from(&other.get(questions).digest),
            Flaw::NoSuchDigest => "sha256:00".clone_into(&mut verdict.digest),
            Flaw::NoSuchQuestion => verdict.request_id = format!("nobody-asked-{number}").into(),
            Flaw::NamesQuestion(other) => verdict.request_id = other.get(questions).request_id.clone(),
            Flaw::Forged => {
                if let Some(signature) = &mut verdict.signature {
                    signature.mac = signature.mac.chars().rev().collect();
                }
            }
            Flaw::Unsigned => verdict.signature = None,
        }
        Some(verdict)
    }
}
