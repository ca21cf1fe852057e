//! The options of a run, and their effect on handlers, middlewares and permits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::Item;
use haft_executor::{
    Cancellation, Cx, DefinitionError, ExecutionLimits, Next, Request, RunOptions, Services, Tool, Toolkit,
};
use haft_schema::{DecodeOptions, Repairs};
use tokio::time::Instant;

use crate::executing::{calls, came, kit, tell};

#[derive(Clone, Debug, PartialEq)]
struct Trace(&'static str);

/// Creates a tool that returns its caller and the other data of its context.
fn tells() -> Result<Tool, DefinitionError> {
    Tool::new("tells").handler(|(), cx: Cx| async move { known(&cx) })
}

fn known(cx: &Cx) -> String {
    let caller = cx.caller().map_or("-", |caller| caller.as_str());
    let trace = cx.extension::<Trace>().map_or("-", |trace| trace.0);
    let service = cx.service::<&str>().copied().unwrap_or("-");
    format!("{caller} {trace} {service} {}", cx.messages().len())
}

fn told() -> RunOptions {
    RunOptions::new()
        .caller("user:ana")
        .extension(Trace("trace-1"))
        .services(Services::new().with("service"))
        .messages(vec![Item::user("hi"), Item::assistant("hello")])
}

/// Passes the same options through every function that takes them.
async fn every_way(kit: &Toolkit, name: &str, options: &RunOptions) -> Vec<String> {
    let call = &calls([(name, "")])[0];
    vec![
        came(&kit.run_call_with(call, options).await).to_owned(),
        kit.try_run_call(call, options).await.unwrap().encoded.as_str().to_owned(),
        came(&kit.run_with([call], options.clone()).collect_results().await[0]).to_owned(),
        came(&kit.run_with([call], options.clone().spawned()).collect_results().await[0]).to_owned(),
    ]
}

#[tokio::test]
async fn caller_messages_extensions_and_services_reach_the_handler_every_way() {
    let kit = kit([tells()]);
    let ways = every_way(&kit, "tells", &told()).await;
    assert_eq!(ways, vec!["\"user:ana trace-1 service 2\""; 4]);
    assert_eq!(every_way(&kit, "tells", &RunOptions::new()).await, vec!["\"- - - 0\""; 4]);
}

#[tokio::test]
async fn they_reach_middlewares_which_can_add_to_them() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let inner = Arc::clone(&seen);
    let looks = move |request: Request, next: Next| {
        inner.lock().unwrap().push(known(request.cx()));
        async move { next.run(request.with_extension(Trace("changed"))).await }
    };
    let kit = kit([tells()]).wrap(looks);
    assert_eq!(every_way(&kit, "tells", &told()).await, vec!["\"user:ana changed service 2\""; 4]);
    assert_eq!(*seen.lock().unwrap(), vec!["user:ana trace-1 service 2"; 4], "what one adds is not seen outside");
}

/// Options are a value: they can be kept, cloned, changed, and used for any number of runs.
#[tokio::test]
async fn options_serve_many_runs_and_clones_are_independent() {
    let kit = kit([tells()]);
    let base = told().concurrency(2);
    let other = base.clone().caller("user:bob").extension(Trace("trace-2"));
    let calls = calls([("tells", ""), ("tells", "")]);
    for _ in 0..3 {
        let run = kit.run_with(&calls, base.clone());
        assert_eq!(
            tell(run).await,
            ["c1 output \"user:ana trace-1 service 2\"", "c2 output \"user:ana trace-1 service 2\""]
        );
        let run = kit.run_with(&calls, other.clone());
        assert_eq!(tell(run).await[0], "c1 output \"user:bob trace-2 service 2\"");
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_counts_anew_for_every_run_and_a_deadline_does_not() {
    let kit = kit([Tool::new("slow").handler(|(), _cx| tokio::time::sleep(Duration::from_secs(2)))]);
    let call = calls([("slow", "")]);
    let timeout = RunOptions::new().timeout(Duration::from_secs(3));
    let deadline = RunOptions::new().deadline(Instant::now() + Duration::from_secs(3));
    assert_eq!(tell(kit.run_with(&call, timeout.clone())).await, ["c1 output null"]);
    assert_eq!(tell(kit.run_with(&call, timeout)).await, ["c1 output null"]);
    assert_eq!(tell(kit.run_with(&call, deadline)).await, ["c1 output timed_out"]);
}

#[tokio::test]
async fn one_flag_cancels_every_run_that_has_it() {
    let kit = kit([Tool::new("stuck").handler(|(), _cx| std::future::pending::<()>()), tells()]);
    let flag = Cancellation::new();
    let options = RunOptions::new().cancellation(flag.clone());
    let call = calls([("stuck", "")]);
    let both =
        async { tokio::join!(tell(kit.run_with(&call, options.clone())), tell(kit.run_with(&call, options.clone()))) };
    let cancelling = async {
        tokio::task::yield_now().await;
        flag.cancel();
    };
    let ((one, two), ()) = tokio::join!(both, cancelling);
    assert_eq!((one, two), (vec!["c1 output cancelled".to_owned()], vec!["c1 output cancelled".to_owned()]));
    assert_eq!(tell(kit.run_with(calls([("tells", "")]), options)).await, ["c1 output cancelled"], "and stays so");
}

/// Creates a toolkit whose tool returns the seconds until its deadline.
fn deadline(limits: ExecutionLimits) -> Toolkit {
    kit([Tool::new("deadline")
        .limits(limits)
        .handler(|(), cx: Cx| async move { cx.deadline().map(|deadline| (deadline - Instant::now()).as_secs()) })])
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn the_earlier_of_the_runs_deadline_and_the_tools_timeout_applies() {
    let (none, two, nine) = (
        ExecutionLimits::new(),
        ExecutionLimits::new().timeout(seconds(2)),
        ExecutionLimits::new().timeout(seconds(9)),
    );
    let run = RunOptions::new;
    for (tool, options, expected) in [
        (&none, run(), "null"),
        (&none, run().timeout(seconds(5)), "5"),
        (&none, run().deadline(Instant::now() + seconds(5)), "5"),
        (&two, run(), "2"),
        (&two, run().timeout(seconds(5)), "2"),
        (&nine, run().timeout(seconds(5)), "5"),
        (&none, run().call_timeout(seconds(9)), "9"),
        (&two, run().call_timeout(seconds(9)), "2"),
        (&nine, run().call_timeout(seconds(2)), "2"),
        (&nine, run().call_timeout(seconds(2)).timeout(seconds(1)), "1"),
    ] {
        assert_eq!(every_way(&deadline(tool.clone()), "deadline", &options).await, vec![expected; 4]);
    }
}

/// A tool's timeout begins when its handler does, not while it waits for a slot.
#[tokio::test(start_paused = true)]
async fn a_call_that_waited_has_its_full_timeout() {
    let tool = Tool::new("t").limits(ExecutionLimits::new().timeout(seconds(3))).handler(|(), cx: Cx| async move {
        let left = cx.deadline().map(|deadline| (deadline - Instant::now()).as_secs());
        tokio::time::sleep(seconds(2)).await;
        left
    });
    let run = kit([tool]).run_with(calls([("t", ""), ("t", ""), ("t", "")]), RunOptions::new().concurrency(1));
    assert_eq!(tell(run).await, ["c1 output 3", "c2 output 3", "c3 output 3"]);
}

#[tokio::test(start_paused = true)]
async fn a_middleware_can_only_bring_the_deadline_forward() {
    let nearer = |request: Request, next: Next| async move {
        let request = request.with_deadline(Instant::now() + seconds(4));
        next.run(request).await
    };
    for (timeout, expected) in [(2, "2"), (9, "4")] {
        let kit = deadline(ExecutionLimits::new()).wrap(nearer);
        assert_eq!(every_way(&kit, "deadline", &RunOptions::new().timeout(seconds(timeout))).await, vec![expected; 4]);
    }
}

/// A handler can read its tool, under its name in this toolkit.
#[tokio::test]
async fn a_handler_knows_its_tool() {
    let tool = Tool::new("who").describe("Tells.").handler(|(), cx: Cx| async move {
        let tool = cx.tool()?;
        Some(format!("{} {} {:?} {}", tool.name(), tool.id(), tool.description(), cx.tool_name() == tool.name()))
    });
    let kit = kit([tool]).namespace("ns").unwrap();
    let expected = r#""ns__who ns__who Some(\"Tells.\") true""#;
    assert_eq!(every_way(&kit, "ns__who", &RunOptions::new()).await, vec![expected; 4]);
    assert_eq!(came(&kit.run_call(&calls([("ns__who", "")])[0]).await), expected);
}

#[tokio::test]
async fn decoding_is_configured_by_an_option() {
    let kit = kit([Tool::new("n").handler(|n: u8, _cx| async move { n })]);
    let call = calls([("n", "\"3\"")]);
    assert_eq!(tell(kit.run(&call)).await, ["c1 output input_validation_error"]);
    let mending = RunOptions::new().decode_options(DecodeOptions::default().repairs(Repairs::all()));
    let results = kit.run_with(&call, mending.clone()).collect_results().await;
    assert_eq!((came(&results[0]), results[0].repairs.len()), ("3", 1));
    let result = kit.run_call_with(&call[0], &mending).await;
    assert_eq!((came(&result), result.repairs.len()), ("3", 1));
}
