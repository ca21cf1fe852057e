//! Permits, policies and observers of one run: each is added to those before it, and none replaces another.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ApprovalRequest, ApprovalRule, Caller, ToolCall, ToolEvent};
use haft_executor::{
    ApprovalPolicy, CallArguments, Cx, Dispatch, Permission, Permit, Permitting, RunOptions, Tool, Toolkit,
};
use tokio::time::{Instant, sleep};

use crate::executing::{calls, came, kit, tell, told};

type Log = Arc<Mutex<Vec<String>>>;

/// The decision of a permit in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruling {
    Allows,
    Denies,
    Fails,
    Panics,
    AllowsLater,
    DeniesLater,
    FailsLater,
    PanicsLater,
}

/// The decision of a policy in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Requirement {
    Never,
    Always,
    No,
    Yes,
    YesLater,
    Fails,
    Panics,
    PanicsLater,
}

/// The step in which the permits of the table decide; in the other one they allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Call,
    Arguments,
}

struct Scripted {
    name: usize,
    step: Step,
    ruling: Ruling,
    log: Log,
}

impl Ruling {
    const ALL: [Self; 8] = [
        Self::Allows,
        Self::Denies,
        Self::Fails,
        Self::Panics,
        Self::AllowsLater,
        Self::DeniesLater,
        Self::FailsLater,
        Self::PanicsLater,
    ];

    fn decide(self, name: usize) -> Permitting {
        let denied = move || Ok::<_, &str>(Permission::denied(format!("{name} says no")));
        match self {
            Self::Allows => Permission::Allowed.into(),
            Self::Denies => denied().into(),
            Self::Fails => Err::<Permission, _>("no session").into(),
            Self::Panics => panicking(),
            Self::AllowsLater => Permitting::later(waiting(|| Ok::<_, &str>(Permission::Allowed))),
            Self::DeniesLater => Permitting::later(waiting(denied)),
            Self::FailsLater => Permitting::later(waiting(|| Err("no session"))),
            Self::PanicsLater => Permitting::later(waiting(|| -> Result<_, &str> { panicking() })),
        }
    }

    /// Returns the message of the call, if this permit ends it.
    fn message(self, name: usize) -> Option<String> {
        match self {
            Self::Allows | Self::AllowsLater => None,
            Self::Denies | Self::DeniesLater => Some(format!("{name} says no")),
            Self::Fails | Self::FailsLater | Self::Panics | Self::PanicsLater => {
                Some("the permission check failed, so this call was not run".to_owned())
            }
        }
    }
}

impl Requirement {
    const ALL: [Self; 8] =
        [Self::Never, Self::Always, Self::No, Self::Yes, Self::YesLater, Self::Fails, Self::Panics, Self::PanicsLater];

    fn policy(self) -> ApprovalPolicy {
        match self {
            Self::Never => ApprovalPolicy::never(),
            Self::Always => ApprovalPolicy::always(),
            Self::No => ApprovalPolicy::when(|_: u8, _| async { false }),
            Self::Yes => ApprovalPolicy::when(|_: u8, _| async { true }),
            Self::YesLater => ApprovalPolicy::when(|_: u8, _| waiting(|| true)),
            Self::Fails => ApprovalPolicy::when(|_: u8, _| async { Err::<bool, _>("no session") }),
            Self::Panics => ApprovalPolicy::when(|_: u8, _| -> std::future::Ready<bool> { panicking() }),
            Self::PanicsLater => ApprovalPolicy::when(|_: u8, _| waiting(|| -> bool { panicking() })),
        }
    }

    /// Returns the rule that is recorded if this policy is the first that requires approval.
    fn rule(self) -> Option<ApprovalRule> {
        match self {
            Self::Never | Self::No => None,
            Self::Always | Self::Yes | Self::YesLater => Some(ApprovalRule::RunPolicy),
            Self::Fails | Self::Panics | Self::PanicsLater => Some(ApprovalRule::PolicyFailed),
        }
    }
}

impl Permit for Scripted {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        self.log.lock().unwrap().push(format!("call {}", self.name));
        if self.step == Step::Call { self.ruling.decide(self.name) } else { Permission::Allowed.into() }
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        self.log.lock().unwrap().push(format!("arguments {} {}", self.name, arguments.tree().unwrap()));
        if self.step == Step::Arguments { self.ruling.decide(self.name) } else { Permission::Allowed.into() }
    }
}

/// Panics without a message on the standard error, of which the table would print thousands.
fn panicking() -> ! {
    std::panic::resume_unwind(Box::new("as scripted"))
}

/// Waits once, then decides.
async fn waiting<T>(decide: impl FnOnce() -> T) -> T {
    tokio::task::yield_now().await;
    decide()
}

fn echo() -> Toolkit {
    kit([Tool::new("echo").handler(|n: u8, _cx| async move { n })])
}

/// Returns the options of a case, with an approver that approves and logs the rule, and three observers of which the
/// second panics.
fn options(step: Step, rulings: [Ruling; 2], requirements: [Requirement; 2], log: &Log, seen: &[Log; 2]) -> RunOptions {
    let asked = Arc::clone(log);
    let approver = move |request: ApprovalRequest, _cx: Cx| {
        asked.lock().unwrap().push(format!("approver {:?}", request.rule));
        async move { request.approve() }
    };
    let observer = |seen: &Log| {
        let seen = Arc::clone(seen);
        move |event: &ToolEvent| seen.lock().unwrap().push(told(event))
    };
    let mut options = RunOptions::new().approvals(approver);
    for (name, ruling) in rulings.into_iter().enumerate() {
        options = options.permit(Scripted { name, step, ruling, log: Arc::clone(log) });
    }
    for requirement in requirements {
        options = options.policy(requirement.policy());
    }
    options.observe(observer(&seen[0])).observe(|_| panicking()).observe(observer(&seen[1]))
}

/// Returns everything that is asked in a case, and the events of its call.
fn expected(step: Step, rulings: [Ruling; 2], requirements: [Requirement; 2]) -> (Vec<String>, Vec<String>, String) {
    let (mut log, mut message) = (Vec::new(), None);
    for asked in [Step::Call, Step::Arguments] {
        for (name, ruling) in rulings.into_iter().enumerate() {
            if message.is_none() {
                log.push(if asked == Step::Call { format!("call {name}") } else { format!("arguments {name} 7") });
                message = ruling.message(name).filter(|_| asked == step);
            }
        }
    }
    if let Some(message) = message {
        return (log, vec!["c1 output permission_denied".to_owned()], message);
    }
    // A policy that always requires approval needs no decision, so it is considered first.
    let always = requirements.into_iter().find(|requirement| *requirement == Requirement::Always);
    let rule = always.into_iter().chain(requirements).find_map(Requirement::rule);
    let mut events = Vec::new();
    if rule.is_some() {
        log.push(format!("approver {rule:?}"));
        events.extend(["c1 asked".to_owned(), "c1 approved".to_owned()]);
    }
    events.push("c1 output 7".to_owned());
    (log, events, String::new())
}

#[tokio::test]
async fn every_combination_of_permits_policies_and_observers_decides_as_the_first_objection_does() {
    let kit = echo();
    let pairs = |n: usize| (0..n * n).map(move |pair| (pair / n, pair % n));
    for step in [Step::Call, Step::Arguments] {
        for (a, b) in pairs(Ruling::ALL.len()) {
            for (c, d) in pairs(Requirement::ALL.len()) {
                let rulings = [Ruling::ALL[a], Ruling::ALL[b]];
                let requirements = [Requirement::ALL[c], Requirement::ALL[d]];
                let case = format!("{step:?} {rulings:?} {requirements:?}");
                let (log, seen) = (Log::default(), [Log::default(), Log::default()]);
                let options = options(step, rulings, requirements, &log, &seen);
                let events: Vec<_> = kit.run_with(calls([("echo", "7")]), options).collect().await;
                let (asked, expected, message) = expected(step, rulings, requirements);
                assert_eq!(*log.lock().unwrap(), asked, "{case}");
                assert_eq!(events.iter().map(told).collect::<Vec<_>>(), expected, "{case}");
                for seen in &seen {
                    assert_eq!(*seen.lock().unwrap(), expected, "{case}");
                }
                if let Some(ToolEvent::Output { result, .. }) = events.last() {
                    let failure = result.failure();
                    assert_eq!(failure.map_or("", |failure| &failure.message), message, "{case}");
                    assert!(failure.is_none_or(|failure| !failure.started), "{case}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn permits_that_wait_are_awaited_one_after_the_other() {
    let slow = |decision: fn() -> Permission| {
        move |_: &Tool, _: &ToolCall, _: &Cx| {
            Permitting::later(async move {
                sleep(Duration::from_secs(1)).await;
                Ok::<_, &str>(decision())
            })
        }
    };
    let allow = || Permission::Allowed;
    for (permits, seconds, outcome) in [
        (vec![slow(allow), slow(allow), slow(allow)], 3, "7"),
        (vec![slow(allow), slow(|| Permission::denied("no")), slow(allow)], 2, "permission_denied"),
    ] {
        let began = Instant::now();
        let options = permits.into_iter().fold(RunOptions::new(), RunOptions::permit);
        let results = echo().run_with(calls([("echo", "7")]), options).collect_results().await;
        assert_eq!(came(&results[0]), outcome);
        assert_eq!(began.elapsed(), Duration::from_secs(seconds));
    }
}

/// Hides one tool from everyone but the administrator.
struct Hiding(&'static str);

impl Permit for Hiding {
    fn permit(&self, tool: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        assert_ne!(tool.name(), self.0, "a hidden tool is not asked about");
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
        assert_ne!(tool.name(), "cursed", "whether this may be seen is undecided");
        tool.name() != self.0 || caller.is_some_and(|caller| *caller == "admin")
    }
}

fn named(names: &[&'static str]) -> Toolkit {
    kit(names.iter().map(|name| Tool::new(*name).handler(|(), _cx| async {})))
}

#[tokio::test]
async fn a_tool_is_visible_only_if_every_permit_sees_it() {
    let kit = named(&["read_a", "read_b", "read_c", "cursed"]);
    let listed =
        |options: &RunOptions| kit.list(options).iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(" ");
    let one = RunOptions::new().permit(Hiding("read_a"));
    let both = one.clone().permit(Hiding("read_b"));
    let other_way = RunOptions::new().permit(Hiding("read_b")).permit(Hiding("read_a"));
    assert_eq!(listed(&one), "read_b read_c", "options that were cloned before keep their permits");
    for options in [both, other_way] {
        assert_eq!(listed(&options), "read_c");
        assert_eq!(listed(&options.clone().caller("admin")), "read_a read_b read_c");
        for hidden in ["read_a", "read_b", "read_d", "cursed"] {
            let result = kit.run_call_with(&ToolCall::new("c1", hidden, ""), &options).await;
            let failure = result.failure().unwrap();
            assert_eq!(failure.kind.as_str(), "unknown_tool", "{hidden}");
            let others = failure.message.replace(&format!("'{hidden}'"), "");
            assert!(!["read_a", "read_b", "cursed"].iter().any(|name| others.contains(name)), "{others}");
        }
        let result = kit.run_call_with(&ToolCall::new("c1", "read_c", ""), &options).await;
        assert_eq!(came(&result), "null");
    }
}

#[tokio::test]
async fn replacing_the_policies_of_tools_keeps_those_of_the_run() {
    let always = || ApprovalPolicy::always();
    let never = || ApprovalPolicy::never();
    let new = RunOptions::new;
    for (options, outcome) in [
        (new(), "denied"),
        (new().policy(never()), "denied"),
        (new().policy_instead(never()), "7"),
        (new().policy_instead(never()).policy(never()), "7"),
        (new().policy(never()).policy_instead(never()), "7"),
        (new().policy_instead(never()).policy(always()), "denied"),
        (new().policy(always()).policy_instead(never()), "denied"),
        (new().policy_instead(always()).policy_instead(never()), "denied"),
        (new().policy_instead(never()).policy_instead(always()), "denied"),
    ] {
        let gated = kit([Tool::new("echo").needs_approval(always()).handler(|n: u8, _cx| async move { n })]);
        let told = tell(gated.run_with(calls([("echo", "7")]), options)).await;
        assert_eq!(told, [format!("c1 output {outcome}")]);
    }
}

#[tokio::test]
async fn every_observer_receives_what_the_reader_of_a_dropped_run_missed() {
    let seen = [Log::default(), Log::default()];
    let mut options = RunOptions::new().observe(|_| panicking());
    for seen in &seen {
        let seen = Arc::clone(seen);
        options = options.observe(move |event| seen.lock().unwrap().push(told(event)));
    }
    let kit = kit([Tool::new("endless").handler(|(), _cx| std::future::pending::<()>())]);
    drop(kit.run_with(calls([("endless", ""), ("endless", "")]), options));
    for seen in seen {
        assert_eq!(*seen.lock().unwrap(), ["c1 output cancelled", "c2 output cancelled"]);
    }
}
