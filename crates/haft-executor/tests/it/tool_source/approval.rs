//! Approvals of tools that change: an approval counts for the definition that it was requested for.

use std::collections::BTreeMap;

use haft_core::{ApprovalRequest, ApprovalRule, ToolCall};
use haft_executor::{
    ApprovalPolicy, Cx, Dispatch, RunOptions, SharedToolkit, Suspend, Suspended, Tool, ToolSource, VerdictFault,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::approval::bench::{Journal, all_came, tell};
use crate::executor_faults::way::paused;
use crate::seeded::for_all;

const CASES: u32 = 200;

/// Creates a version of `pay`. Each has another definition; each handler records the version that runs.
fn pay(version: u8, journal: &Journal) -> Tool {
    let journal = journal.clone();
    let tool = Tool::new("pay").describe(format!("Version {version}.")).needs_approval(ApprovalPolicy::always());
    let handler = move |(): (), cx: Cx| {
        journal.note(format!("{} v{version}", cx.call_id()));
        async move { version }
    };
    tool.handler(handler).unwrap()
}

fn suspending() -> RunOptions {
    RunOptions::new().approvals(Suspend)
}

async fn suspended(tools: &SharedToolkit) -> (Suspended, ApprovalRequest) {
    let mut run = tools.run_calls(vec![ToolCall::new("c1", "pay", "").into()], suspending());
    assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended"]);
    let suspended = run.suspended().unwrap();
    // As another process reads it.
    let suspended: Suspended = serde_json::from_str(&serde_json::to_string(&suspended).unwrap()).unwrap();
    let request = suspended.pending().next().unwrap().clone();
    (suspended, request)
}

#[tokio::test]
async fn with_the_same_definition_an_approved_call_runs() {
    let (tools, journal) = (SharedToolkit::default(), Journal::default());
    tools.add(pay(1, &journal)).unwrap();
    let (suspended, request) = suspended(&tools).await;
    // It was removed and is back, with another handler and other neighbours.
    tools.remove("pay");
    tools.add(super::tool("look", 1)).unwrap();
    tools.add(pay(1, &journal)).unwrap();
    let run = tools.resume_calls(suspended, vec![request.approve()], RunOptions::new());
    assert_eq!(all_came(&run.collect_results().await), ["1"]);
    assert_eq!(journal.lines(), ["c1 v1"]);
}

#[tokio::test]
async fn with_a_changed_definition_approval_is_requested_again() {
    let (tools, journal) = (SharedToolkit::default(), Journal::default());
    tools.add(pay(1, &journal)).unwrap();
    let (stored, first) = suspended(&tools).await;
    tools.replace(pay(2, &journal));
    let mut run = tools.resume_calls(stored, vec![first.approve()], RunOptions::new());
    // A change during the resumed run does not affect it.
    tools.replace(pay(3, &journal));
    assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended"]);
    assert_eq!(run.rejected_verdicts()[0].fault, VerdictFault::OtherDigest);
    let stored = run.suspended().unwrap();
    let second = stored.pending().next().unwrap().clone();
    assert_eq!(second.rule, Some(ApprovalRule::DefinitionChanged));
    assert_eq!(second.digest, pay(2, &journal).approval_digest(&serde_json::json!({})));

    // The second approval is for the second version only, the first for none.
    let mut run = tools.resume_calls(stored.clone(), vec![second.approve()], RunOptions::new());
    assert_eq!(tell(&mut run).await, ["c1 asked", "c1 suspended"]);
    tools.replace(pay(2, &journal));
    let mut run = tools.resume_calls(stored.clone(), vec![first.approve()], RunOptions::new());
    assert_eq!(tell(&mut run).await, ["c1 suspended"]);
    let run = tools.resume_calls(stored, vec![second.approve()], RunOptions::new());
    assert_eq!(all_came(&run.collect_results().await), ["2"]);
    assert_eq!(journal.lines(), ["c1 v2"]);
}

#[tokio::test]
async fn without_the_tool_the_call_fails_as_unknown() {
    let (tools, journal) = (SharedToolkit::default(), Journal::default());
    tools.add(pay(1, &journal)).unwrap();
    let (suspended, request) = suspended(&tools).await;
    tools.remove("pay");
    let mut run = tools.resume_calls(suspended, vec![request.approve()], RunOptions::new());
    tools.add(pay(1, &journal)).unwrap();
    assert_eq!(tell(&mut run).await, ["c1 output unknown_tool"]);
    assert_eq!(run.rejected_verdicts().len(), 1);
    assert_eq!(journal.lines(), [""; 0]);
}

/// A call that an approver in the process decides about runs as it was shown, whatever happens meanwhile.
#[tokio::test]
async fn a_run_that_waits_for_its_approver_keeps_its_tools() {
    let (tools, journal) = (SharedToolkit::default(), Journal::default());
    tools.add(pay(1, &journal)).unwrap();
    let meanwhile = (tools.clone(), journal.clone());
    let approver = move |request: ApprovalRequest, _: Cx| {
        let (tools, journal) = meanwhile.clone();
        async move {
            tools.replace(pay(2, &journal));
            tools.remove("pay");
            request.approve()
        }
    };
    let run = tools.run_calls(vec![ToolCall::new("c1", "pay", "").into()], RunOptions::new().approvals(approver));
    assert_eq!(tell(run).await, ["c1 asked", "c1 approved", "c1 output 1"]);
    assert_eq!(journal.lines(), ["c1 v1"]);
}

/// A step of a random case.
#[derive(Clone, Debug)]
enum Step {
    /// This version of the tool is the current one.
    Set(u8),
    Remove,
    /// So many calls are made in one run, and the tool changes to this version while it goes on.
    Begin(u8, u8),
    /// The pending requests of a suspended run are decided, by one bit for each.
    Decide(usize, u8),
    /// A suspended run is resumed, and the tool changes to this version while it goes on.
    Resume(usize, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let version = 0_u8..3;
    let step = prop_oneof![
        3 => version.clone().prop_map(Step::Set),
        1 => Just(Step::Remove),
        2 => (1_u8..4, version.clone()).prop_map(|(calls, version)| Step::Begin(calls, version)),
        3 => (any::<usize>(), any::<u8>()).prop_map(|(which, bits)| Step::Decide(which, bits)),
        3 => (any::<usize>(), version).prop_map(|(which, version)| Step::Resume(which, version)),
    ];
    vec(step, 0..24)
}

/// A suspended run, with the version that approval was requested for and the decision, by call.
struct Round {
    suspended: Suspended,
    asked: BTreeMap<String, (u8, Option<bool>)>,
}

struct World {
    tools: SharedToolkit,
    current: Option<u8>,
    journal: Journal,
    rounds: Vec<Round>,
    /// The expected actions of handlers.
    expected: Vec<String>,
    calls: usize,
    outputs: BTreeMap<String, Vec<String>>,
    /// The expected outcome of each call.
    fates: BTreeMap<String, String>,
}

#[test]
fn an_approval_never_runs_a_definition_that_it_was_not_given_for() {
    for_all(CASES, steps(), |steps| paused().block_on(hold(&steps)));
}

async fn hold(steps: &[Step]) -> TestCaseResult {
    let mut world = World {
        tools: SharedToolkit::default(),
        current: None,
        journal: Journal::default(),
        rounds: Vec::new(),
        expected: Vec::new(),
        calls: 0,
        outputs: BTreeMap::new(),
        fates: BTreeMap::new(),
    };
    for step in steps {
        world.take(step).await?;
    }
    // Every call that still waits is denied for the tool as it is, or found to be unknown.
    world.set(Some(0));
    for _ in 0..2 {
        for place in (0..world.rounds.len()).rev() {
            world.decide(place, 0);
            world.resume(place, 0).await?;
        }
    }
    prop_assert!(world.rounds.is_empty(), "calls wait for ever");
    prop_assert_eq!(world.journal.lines(), world.expected);
    let outputs: Vec<_> = world.outputs.into_iter().collect();
    let fates: Vec<_> = world.fates.into_iter().map(|(call, fate)| (call, vec![fate])).collect();
    prop_assert_eq!(outputs, fates, "one result for each call, and the right one");
    Ok(())
}

impl World {
    async fn take(&mut self, step: &Step) -> TestCaseResult {
        match *step {
            Step::Set(version) => self.set(Some(version)),
            Step::Remove => self.set(None),
            Step::Begin(calls, next) => self.begin(calls, next).await?,
            Step::Decide(which, bits) if !self.rounds.is_empty() => self.decide(which % self.rounds.len(), bits),
            Step::Resume(which, next) if !self.rounds.is_empty() => {
                self.resume(which % self.rounds.len(), next).await?;
            }
            Step::Decide(..) | Step::Resume(..) => {}
        }
        Ok(())
    }

    fn set(&mut self, version: Option<u8>) {
        let before = self.tools.snapshot().generation();
        let is_change = match version {
            Some(version) => {
                self.tools.replace(pay(version, &self.journal));
                true
            }
            None => self.tools.remove("pay").is_some(),
        };
        assert_eq!(self.tools.snapshot().generation(), before + u64::from(is_change));
        self.current = version;
    }

    async fn begin(&mut self, calls: u8, next: u8) -> TestCaseResult {
        let shown = self.current;
        let ids: Vec<String> = (0..calls).map(|n| format!("c{:03}", self.calls + usize::from(n))).collect();
        self.calls += ids.len();
        let calls = ids.iter().map(|id| ToolCall::new(id.clone(), "pay", "").into()).collect();
        let run = self.tools.run_calls(calls, suspending());
        self.set(Some(next));
        let asked = match shown {
            Some(version) => ids.into_iter().map(|id| (id, (version, None))).collect(),
            None => {
                self.fates.extend(ids.into_iter().map(|id| (id, "unknown_tool".to_owned())));
                BTreeMap::new()
            }
        };
        self.read(run, asked).await
    }

    /// Decides about the requests of a run by one bit each: approved if it is set.
    fn decide(&mut self, place: usize, bits: u8) {
        let undecided = self.rounds[place].asked.values_mut().filter(|(_, decision)| decision.is_none());
        undecided.enumerate().for_each(|(n, (_, decision))| *decision = Some(bits & (1 << n) != 0));
    }

    async fn resume(&mut self, place: usize, next: u8) -> TestCaseResult {
        let Round { suspended, asked } = self.rounds.remove(place);
        let verdicts = suspended.pending().filter_map(|request| {
            let is_approved = asked[request.call_id.as_str()].1?;
            Some(if is_approved { request.approve() } else { request.deny("no") })
        });
        let verdicts = verdicts.collect();
        let current = self.current;
        let run = self.tools.resume_calls(suspended, verdicts, suspending());
        self.set(Some(next));
        let mut open = BTreeMap::new();
        for (id, (version, decision)) in asked {
            match (current, decision) {
                (None, _) => drop(self.fates.insert(id, "unknown_tool".to_owned())),
                (Some(current), _) if current != version => drop(open.insert(id, (current, None))),
                (Some(_), None) => drop(open.insert(id, (version, None))),
                (Some(_), Some(false)) => drop(self.fates.insert(id, "denied".to_owned())),
                (Some(_), Some(true)) => {
                    self.expected.push(format!("{id} v{version}"));
                    self.fates.insert(id, version.to_string());
                }
            }
        }
        self.read(run, open).await
    }

    /// Reads a run to its end. The calls that it must leave open are given.
    async fn read(
        &mut self,
        mut run: haft_executor::Run,
        asked: BTreeMap<String, (u8, Option<bool>)>,
    ) -> TestCaseResult {
        while let Some(event) = run.next().await {
            if let Some(result) = event.result() {
                let came = crate::executing::came(result).to_owned();
                self.outputs.entry(result.call_id.to_string()).or_default().push(came);
            }
        }
        let suspended = run.suspended();
        let pending: Vec<_> = suspended.iter().flat_map(Suspended::pending).collect();
        let open: Vec<_> = pending.iter().map(|request| request.call_id.to_string()).collect();
        prop_assert_eq!(open, asked.keys().cloned().collect::<Vec<_>>());
        for request in pending {
            let shown = pay(asked[request.call_id.as_str()].0, &self.journal);
            prop_assert_eq!(&request.digest, &shown.approval_digest(&serde_json::json!({})));
        }
        self.rounds.extend(suspended.map(|suspended| Round { suspended, asked }));
        Ok(())
    }
}
