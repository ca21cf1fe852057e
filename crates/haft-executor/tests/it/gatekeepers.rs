//! User-defined types that decide on calls: permits and approvers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{ApprovalDecision, ApprovalRequest, Caller, ToolCall, ToolEvent, Verdict};
use haft_executor::{
    ApprovalAnswer, ApprovalPolicy, Approve, BoxError, Cx, DefinitionError, ExecutionLimits, Permission, Permit,
    Permitting, RunOptions, Tool,
};
use tokio::time::{Instant, sleep};

use crate::executing::{calls, came, kit, tell};

/// The permissions of callers, with a slow lookup.
struct Directory {
    takes: Duration,
    asked: Arc<AtomicUsize>,
}

impl Permit for Directory {
    fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let caller = cx.caller().map(|caller| caller.as_str().to_owned());
        let wanted = format!("{} by {}", tool.name(), call.call_id);
        let takes = self.takes;
        Permitting::later(async move {
            sleep(takes).await;
            match caller.as_deref() {
                Some("ana") => Ok(Permission::Allowed),
                Some("bob") => Ok(Permission::denied(format!("{wanted} is not for bob"))),
                _ => Err("who is that?"),
            }
        })
    }

    fn sees(&self, _: &Tool, caller: Option<&Caller>) -> bool {
        caller.is_some_and(|caller| caller.as_str() != "eve")
    }
}

fn count(began: &Arc<AtomicUsize>) -> Result<Tool, DefinitionError> {
    let began = Arc::clone(began);
    Tool::new("count").handler(move |n: u8, _cx| {
        began.fetch_add(1, Ordering::Relaxed);
        async move { n }
    })
}

fn directory(takes: u64) -> (Directory, Arc<AtomicUsize>) {
    let asked = Arc::default();
    (Directory { takes: Duration::from_secs(takes), asked: Arc::clone(&asked) }, asked)
}

#[tokio::test(start_paused = true)]
async fn a_permit_that_takes_a_while_decides_on_every_call() {
    let began = Arc::default();
    let kit = kit([count(&began)]);
    for (caller, kind, message, times) in [
        ("ana", "1", "", 2),
        ("bob", "permission_denied", "count by c1 is not for bob", 2),
        // The permit is not called for a hidden tool, which is unknown to the caller.
        ("eve", "unknown_tool", "there is no tool called 'count'; there are no tools", 0),
        ("mallory", "permission_denied", "the permission check failed, so this call was not run", 2),
    ] {
        let (permit, asked) = directory(1);
        let started = Instant::now();
        let results =
            kit.run_with(calls([("count", "1"), ("count", "2")]), RunOptions::new().permit(permit).caller(caller));
        let results = results.collect_results().await;
        assert_eq!(came(&results[0]), kind, "{caller}");
        assert_eq!(results[0].failure().map_or("", |failure| &failure.message), message);
        assert!(results[0].failure().is_none_or(|failure| !failure.started));
        assert_eq!(asked.load(Ordering::Relaxed), times, "once per call");
        assert_eq!(started.elapsed(), Duration::from_secs(u64::from(times > 0)), "and all at once");
    }
    assert_eq!(began.load(Ordering::Relaxed), 2, "only ana's ran");
}

/// The permit is checked before the arguments are read: a denial contains nothing about them.
#[tokio::test(start_paused = true)]
async fn a_permit_is_checked_before_the_arguments_are_read_and_not_for_unknown_tools() {
    let (permit, asked) = directory(0);
    let kit = kit([count(&Arc::default())]);
    let run =
        kit.run_with(calls([("count", "not json"), ("ghost", "")]), RunOptions::new().permit(permit).caller("bob"));
    let results = run.collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["permission_denied", "unknown_tool"]);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// One call is never answered, the other is: each wait has its own timeout, and a call's timeout
/// begins with its handler.
#[tokio::test(start_paused = true)]
async fn a_wait_for_a_verdict_ends_at_its_own_timeout() {
    let gated = Tool::new("gated")
        .needs_approval(ApprovalPolicy::always())
        .limits(ExecutionLimits::new().timeout(Duration::from_secs(1)))
        .handler(|n: u8, _cx| async move { n });
    let approver = |request: ApprovalRequest, _cx: Cx| async move {
        let takes = if request.arguments == "1" { Duration::MAX } else { Duration::from_secs(4) };
        sleep(takes).await;
        request.approve()
    };
    let options = RunOptions::new().approvals(approver).approval_timeout(Duration::from_secs(5));
    let run = kit([gated]).run_with(calls([("gated", "1"), ("gated", "2")]), options);
    let began = Instant::now();
    let results = run.collect_results().await;
    assert_eq!(results.iter().map(came).collect::<Vec<_>>(), ["cancelled", "2"]);
    let failure = results[0].failure().unwrap();
    assert!(failure.message.contains("the approval request timed out") && !failure.started, "{failure}");
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_a_permit_beyond_its_deadline() {
    let (permit, _) = directory(60);
    let began = Arc::default();
    let options = RunOptions::new().permit(permit).caller("ana").timeout(Duration::from_secs(2));
    let run = kit([count(&began)]).run_with(calls([("count", "1")]), options);
    assert_eq!(tell(run).await, ["c1 output timed_out"]);
    assert_eq!(began.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_permit_around_another_can_await_its_decision() {
    assert_eq!(Permitting::from(Permission::Allowed).decided().await.unwrap(), Permission::Allowed);
    let later = Permitting::later(async { Ok::<_, BoxError>(Permission::denied("no")) });
    assert_eq!(format!("{later:?}"), "Permitting(later)");
    assert_eq!(later.decided().await.unwrap(), Permission::denied("no"));
    let failed = Permitting::from(Err::<Permission, _>("broken"));
    assert_eq!(failed.decided().await.unwrap_err().to_string(), "broken");
}

/// A permit around another one allows a call only if both do.
#[tokio::test]
async fn permits_can_be_nested() {
    struct OfficeHours<P>(P, bool);
    impl<P: Permit> Permit for OfficeHours<P> {
        fn permit(&self, tool: &Tool, call: &ToolCall, cx: &Cx) -> Permitting {
            let (inner, open) = (self.0.permit(tool, call, cx).decided(), self.1);
            Permitting::later(async move {
                match inner.await? {
                    Permission::Allowed if !open => Ok::<_, BoxError>(Permission::denied("closed")),
                    decided => Ok(decided),
                }
            })
        }
    }
    let kit = kit([count(&Arc::default())]);
    let call = calls([("count", "1")]);
    let run = |open| kit.run_with(&call, RunOptions::new().permit(OfficeHours(directory(0).0, open)).caller("ana"));
    assert_eq!(tell(run(true)).await, ["c1 output 1"]);
    assert_eq!(tell(run(false)).await, ["c1 output permission_denied"]);
}

/// An approver with a simple rule, and a memory.
#[derive(Clone, Default)]
struct Clerk(Arc<Mutex<Vec<String>>>);

impl Approve for Clerk {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        sleep(Duration::from_secs(1)).await;
        let caller = cx.caller().map_or("-", |caller| caller.as_str()).to_owned();
        self.0.lock().unwrap().push(format!("{} {} {} {caller}", request.call_id, request.tool, request.arguments));
        let amount: u8 = request.arguments.parse()?;
        let verdict = match amount {
            0..10 => request.approve(),
            10..100 => request.deny("too much"),
            100..200 => Verdict::new("another question", ApprovalDecision::Approved).digest(&*request.digest),
            200..250 => request.respond(ApprovalDecision::from("maybe")),
            _ => return Err("gone home".into()),
        };
        Ok(verdict.into())
    }
}

fn pay(began: &Arc<AtomicUsize>) -> Result<Tool, DefinitionError> {
    count(began)?.with_name("pay")?.set_needs_approval(ApprovalPolicy::always())
}

#[tokio::test(start_paused = true)]
async fn only_an_approval_of_the_exact_request_lets_a_call_run() {
    let (began, clerk) = (Arc::default(), Clerk::default());
    let kit = kit([pay(&began)]);
    let table = [
        ("7", "7", ""),
        ("70", "denied", "too much"),
        ("150", "denied", "this call requires approval and was not approved"),
        ("220", "denied", "this call requires approval and was not approved"),
        ("255", "denied", "this call requires approval and was not approved"),
        ("256", "input_validation_error", "must be at most 255"),
    ];
    let started = Instant::now();
    let run = kit.run_with(
        calls(table.map(|(amount, ..)| ("pay", amount))),
        RunOptions::new().approvals(clerk.clone()).caller("ana"),
    );
    let results = run.collect_results().await;
    for (result, (amount, came_of, message)) in results.iter().zip(table) {
        assert_eq!(came(result), came_of, "{amount}");
        let said = result.failure().map_or("", |failure| &failure.message);
        assert!(said.contains(message), "{amount}: {said}");
    }
    assert_eq!(began.load(Ordering::Relaxed), 1);
    assert_eq!(started.elapsed(), Duration::from_secs(1), "asked about all at once");
    let asked = clerk.0.lock().unwrap().clone();
    assert_eq!(asked.len(), 5, "bad arguments are no question: {asked:?}");
    assert!(asked.contains(&"c1 pay 7 ana".to_owned()), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn the_request_and_the_verdict_are_events_of_the_call() {
    let kit = kit([pay(&Arc::default()), count(&Arc::default())]);
    let run = kit
        .run_with(calls([("pay", "7"), ("pay", "70"), ("count", "1")]), RunOptions::new().approvals(Clerk::default()));
    let events: Vec<_> = run.collect().await;
    let told: Vec<_> = events.iter().map(crate::executing::told).collect();
    assert_eq!(
        told,
        ["c1 asked", "c2 asked", "c3 output 1", "c1 approved", "c1 output 7", "c2 denied", "c2 output denied"]
    );
    let (ToolEvent::ApprovalRequested { request, .. }, ToolEvent::ApprovalResolved { response, .. }) =
        (&events[0], &events[3])
    else {
        panic!("{told:?}")
    };
    assert_eq!(request.request_id, response.request_id);
    assert_eq!((request.tool.as_str(), request.arguments.as_str()), ("pay", "7"));
}

#[tokio::test]
async fn without_an_approver_gated_calls_are_denied() {
    let began = Arc::default();
    let kit = kit([pay(&began), count(&began)]);
    let run = kit.run(calls([("pay", "1"), ("count", "1")]));
    assert_eq!(tell(run).await, ["c1 output denied", "c2 output 1"]);
    let run = kit.run_with(calls([("count", "1")]), RunOptions::new().policy(ApprovalPolicy::always()));
    assert_eq!(tell(run).await, ["c1 output denied"], "the application can ask for more");
    assert_eq!(began.load(Ordering::Relaxed), 1);
}
