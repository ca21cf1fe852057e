//! The tools of the machine, and everything that observes them.
//!
//! Handlers record their arguments, observers the events, auditors the records. Nothing here knows the expected
//! outcome.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use haft_core::{ApprovalRequest, Timestamp, ToolCall, ToolEvent, Verdict};
use haft_executor::{
    ApprovalMemory, ApprovalPolicy, AuditRecord, Cx, Dispatch, Run, RunOptions, SharedToolkit, SigningKeys, Suspended,
    Tool, Toolkit,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;

use super::script::{LIFETIME, PATIENCE, Restart, Round, RunPolicy, Script};

/// A handler that ran, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ran {
    pub(super) call_id: String,
    pub(super) tool: String,
    pub(super) n: u8,
}

/// The tool that is missing where the tools have changed.
pub(super) const GONE: &str = "failing";

/// The observations of one case.
#[derive(Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Sights>>);

#[derive(Default)]
pub(super) struct Sights {
    pub(super) ran: Vec<Ran>,
    /// The approval requests, each once, in order.
    pub(super) questions: Vec<ApprovalRequest>,
    /// The id of a call and its outcome, for every output.
    pub(super) outputs: Vec<(String, String)>,
    pub(super) records: Vec<AuditRecord>,
}

/// The state that the rounds of a case share.
pub(super) struct Bench {
    pub(super) seen: Seen,
    /// The tools that a round must be run with.
    pub(super) kit: Toolkit,
    /// The live source that rounds are run on. It has those tools only while a run is created.
    live: SharedToolkit,
    pub(super) memory: ApprovalMemory,
    keys: Option<SigningKeys>,
    questions_lapse: bool,
    began: Instant,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
struct Params {
    n: u8,
}

/// The toolkits of two processes with the same tools and of one with changed tools. Creating tools takes longer than
/// most cases, so they are created once.
static KITS: LazyLock<[Toolkit; 3]> = LazyLock::new(|| {
    let otherwise = kit("otherwise").filter(|tool| tool.name() != GONE);
    [kit("as shown"), kit("as shown"), otherwise]
});
static KEYS: LazyLock<SigningKeys> = LazyLock::new(|| SigningKeys::new("k1", [7; 32]).unwrap());

fn kit(description: &str) -> Toolkit {
    let tool = |name: &str, policy: ApprovalPolicy| {
        let handler = |Params { n }: Params, cx: Cx| async move {
            let ran = Ran { call_id: cx.call_id().to_string(), tool: cx.tool_name().to_owned(), n };
            cx.extension::<Seen>().unwrap().note(|sights| sights.ran.push(ran));
            n
        };
        Tool::new(name).describe(description).needs_approval(policy).handler(handler).unwrap()
    };
    [
        tool("open", ApprovalPolicy::never()),
        tool("gated", ApprovalPolicy::always()),
        tool("large", large()),
        tool("failing", failing()),
    ]
    .into_iter()
    .collect()
}

fn large() -> ApprovalPolicy {
    ApprovalPolicy::when(|Params { n }: Params, _| async move { n >= 2 })
}

fn failing() -> ApprovalPolicy {
    ApprovalPolicy::when(|_: Params, _| async { Err::<bool, _>("out of order") })
}

impl Seen {
    pub(super) fn note<T>(&self, write: impl FnOnce(&mut Sights) -> T) -> T {
        write(&mut self.0.lock().unwrap())
    }

    pub(super) fn questions(&self) -> Vec<ApprovalRequest> {
        self.note(|sights| sights.questions.clone())
    }

    /// Records an approval request, which may have been recorded before.
    pub(super) fn asked(&self, question: &ApprovalRequest) {
        self.note(|sights| {
            if !sights.questions.iter().any(|known| known.request_id == question.request_id) {
                sights.questions.push(question.clone());
            }
        });
    }

    fn told(&self, event: &ToolEvent) {
        match event {
            ToolEvent::ApprovalRequested { request, .. } => self.asked(request),
            ToolEvent::Output { result, .. } => {
                let came = crate::executing::came(result).to_owned();
                self.note(|sights| sights.outputs.push((result.call_id.to_string(), came)));
            }
            _ => {}
        }
    }
}

impl Bench {
    pub(super) fn new(script: &Script) -> Self {
        Self {
            seen: Seen::default(),
            kit: KITS[0].clone(),
            live: SharedToolkit::default(),
            memory: ApprovalMemory::new(),
            keys: script.is_signed.then(|| KEYS.clone()),
            questions_lapse: script.questions_lapse,
            began: Instant::now(),
        }
    }

    /// Runs calls on the live source, whose tools change while the run goes on.
    pub(super) fn run(&self, calls: Vec<ToolCall>, options: RunOptions) -> Run {
        self.while_live(|source| source.run_calls(calls.into_iter().map(Into::into).collect(), options))
    }

    /// Resumes a round on the live source, whose tools change while the run goes on.
    pub(super) fn resume(&self, suspended: Suspended, verdicts: Vec<Verdict>, options: RunOptions) -> Run {
        self.while_live(|source| source.resume_calls(suspended, verdicts, options))
    }

    fn while_live(&self, create: impl FnOnce(&dyn Dispatch) -> Run) -> Run {
        self.change_to(&self.kit);
        let run = create(&self.live);
        self.change_to(&self.elsewhere());
        run
    }

    /// Changes the tools of the live source, in one step.
    fn change_to(&self, kit: &Toolkit) {
        let Ok(changed) = self.live.update(|_| Ok::<_, Infallible>(kit.clone()));
        assert!(changed.toolkit().iter().map(Tool::identity).eq(kit.iter().map(Tool::identity)));
    }

    /// Returns the milliseconds since the case began.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap()
    }

    /// Keeps the state that survives when a process ends and another one starts.
    pub(super) fn restart(&mut self, restart: Restart) {
        self.kit = match restart {
            Restart::Same | Restart::Swapped => KITS[1].clone(),
            Restart::Changed => KITS[2].clone(),
        };
        let stored = serde_json::to_string(&self.memory).unwrap();
        self.memory = serde_json::from_str(&stored).unwrap();
    }

    /// Returns the tools of a process with other definitions.
    pub(super) fn elsewhere(&self) -> Toolkit {
        let is_as_shown = self.kit.get(GONE).is_some();
        KITS[if is_as_shown { 2 } else { 0 }].clone()
    }

    /// Returns the options for handlers and observers, without approvals.
    pub(super) fn plain(&self) -> RunOptions {
        let seen = self.seen.clone();
        RunOptions::new().extension(self.seen.clone()).observe(move |event| seen.told(event))
    }

    /// Returns the options of a round, without its approver.
    pub(super) fn options(&self, round: &Round) -> RunOptions {
        let seen = self.seen.clone();
        self.unaudited(round).audit(move |record| seen.note(|sights| sights.records.push(record.clone())))
    }

    /// Returns the same options without an auditor.
    pub(super) fn unaudited(&self, round: &Round) -> RunOptions {
        let began = self.began;
        let clock = move || Timestamp::from_unix_millis(u64::try_from(began.elapsed().as_millis()).unwrap());
        let mut options = self.plain().caller(round.caller).approval_memory(&self.memory).approval_clock(clock);
        if let Some(keys) = &self.keys {
            options = options.approval_keys(keys.clone());
        }
        if self.questions_lapse {
            options = options.approval_lifetime(Duration::from_millis(LIFETIME));
        }
        if round.has_timeout {
            options = options.approval_timeout(Duration::from_millis(PATIENCE));
        }
        match round.policy {
            RunPolicy::Silent => options,
            RunPolicy::Always => options.policy(ApprovalPolicy::always()),
            RunPolicy::Large => options.policy(large()),
            RunPolicy::Failing => options.policy(failing()),
            RunPolicy::LargeInstead => options.policy_instead(large()),
        }
    }
}
