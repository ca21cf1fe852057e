//! Calls that are answered from the cache, and calls that never are.

use haft_core::{Annotations, Idempotent, Readonly, ToolCall, ToolFailure, ToolOutput};
use haft_executor::{Ambient, Cancellation, Cx, ForwardCx, Next, Request, RunOptions, Tool};
use haft_schema::Schema;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::tests::{Probe, brief, busy, call, fails, ms, pure, run, run_call, run_in, succeeds};

/// Answers for ten seconds.
fn cache() -> Cache {
    Cache::new(ms(10_000))
}

async fn run_with(tool: &Tool, arguments: &str) -> Value {
    let call = call(arguments);
    brief(&run_call(tool, &call, &RunOptions::new()).await)
}

async fn run_as(tool: &Tool, caller: &str) -> Value {
    brief(&run_in(tool, |options| options.caller(caller)).await)
}

#[tokio::test(start_paused = true)]
async fn only_tools_that_read_and_are_idempotent_are_answered_from_memory() {
    let none = Annotations::new;
    let table = [
        (none(), 2),
        (none().with(Readonly(true)), 2),
        (none().with(Idempotent(true)), 2),
        (none().with(Idempotent(true)).with(Readonly(false)), 2),
        (none().with(Idempotent(true)).with(Readonly(true)), 1),
    ];
    for (annotations, runs) in table {
        let probe = Probe::new([]);
        let shown = format!("{annotations:?}");
        let tool = probe.tool(annotations).wrap(cache());
        assert!(run(&tool).await.is_ok() && run(&tool).await.is_ok());
        assert_eq!(probe.runs().len(), runs, "{shown}");
    }
}

/// A handler that forwards calls sees all of them, so it may answer by their metadata.
#[tokio::test(start_paused = true)]
async fn calls_with_other_metadata_do_not_share_the_answer_of_a_forwarding_tool() {
    let whose = Tool::dynamic("whose").define().unwrap().annotate(Readonly(true)).annotate(Idempotent(true));
    let whose = whose.with_forward(|_: Tool, call: ToolCall, _: ForwardCx| async move {
        Ok(ToolOutput::from(json!([call.metadata, call.provider_data])).with_metadata("node", "eu-1"))
    });
    let requested = || ToolCall::new("c1", "whose", "{}");
    let calls = [
        requested(),
        requested().metadata("tenant", "t1"),
        requested().metadata("tenant", "t2"),
        requested().provider_data("tenant", "t1"),
    ];
    let (own, everyone) =
        (whose.as_ref().unwrap().wrap(cache()), whose.as_ref().unwrap().wrap(cache().shared_between_callers()));
    for call in [&calls[..], &calls[..]].concat() {
        let result = run_call(&own, &call, &RunOptions::new()).await;
        assert_eq!(brief(&result), json!([call.metadata, call.provider_data]));
        assert_eq!(result.metadata().unwrap()["node"], "eu-1", "metadata of the result is part of the answer");
        assert_eq!(brief(&run_call(&everyone, &call, &RunOptions::new()).await), json!([{}, {}]));
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_are_compared_by_value() {
    let equal =
        [r#"{"a":1,"b":[true,"x"]}"#, r#" { "b" : [ true, "\u0078" ], "a" : 1.0 } "#, r#"{"b":[true,"x"],"a":1e0}"#];
    let different = [
        r#"{"a":1,"b":["x",true]}"#,
        r#"{"a":"1","b":[true,"x"]}"#,
        r#"{"a":1}"#,
        r#"{"a":9007199254740992}"#,
        r#"{"a":9007199254740993}"#,
        "null",
        "{}",
        "[]",
        "",
    ];
    let probe = Probe::new([]);
    let tool = probe.tool(pure()).wrap(cache());
    for arguments in equal {
        assert_eq!(run_with(&tool, arguments).await, 0, "{arguments}");
    }
    let mut answers = Vec::new();
    for arguments in different {
        answers.push(run_with(&tool, arguments).await);
    }
    // Blank text stands for the empty object, which was there before.
    assert_eq!(answers, [1, 2, 3, 4, 5, 6, 7, 8, 7]);
}

#[tokio::test(start_paused = true)]
async fn callers_share_nothing_unless_it_is_asked_for() {
    let probe = Probe::new([]);
    let tool = probe.tool(pure()).wrap(cache());
    assert_eq!(run_as(&tool, "ada").await, 0);
    assert_eq!(run_as(&tool, "bob").await, 1);
    assert_eq!(brief(&run(&tool).await), 2);
    assert_eq!(run_as(&tool, "ada").await, 0);
    assert_eq!(brief(&run(&tool).await), 2);

    let probe = Probe::new([]);
    let tool = probe.tool(pure()).wrap(cache().shared_between_callers());
    assert_eq!(run_as(&tool, "ada").await, 0);
    assert_eq!(run_as(&tool, "bob").await, 0);
    assert_eq!(brief(&run(&tool).await), 0);
}

#[tokio::test(start_paused = true)]
async fn tools_share_nothing_whatever_they_are_called() {
    let (probe, shared) = (Probe::new([]), cache());
    let plain = probe.tool(pure());
    let tenant = |request: Request, next: Next| async move { next.run(request.with_extension("tenant")).await };
    let tools = [
        plain.wrap(shared.clone()),
        plain.wrap(tenant).wrap(shared.clone()),
        plain.set_success(Schema::unknown()).wrap(shared.clone()),
        probe.tool(pure()).wrap(shared.clone()),
    ];
    for (answer, tool) in tools.iter().enumerate() {
        assert_eq!(brief(&run(tool).await), answer);
    }
    for (answer, tool) in tools.iter().enumerate() {
        assert_eq!(brief(&run(&tool.clone()).await), answer);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_does_not_keep_its_tool_alive() {
    let (probe, shared) = (Probe::new([]), cache());
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let watch = move |request: Request, next: Next| {
        assert!(Arc::strong_count(&inside) > 1);
        next.run(request)
    };
    let tool = probe.tool(pure()).wrap(watch).wrap(shared.clone());
    run(&tool).await;
    assert_eq!(Arc::strong_count(&held), 2);
    drop(tool);
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(shared.store.len(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_forgotten_when_its_time_is_over() {
    let probe = Probe::new([succeeds().after(500)]);
    let tool = probe.tool(pure()).wrap(cache());
    let mut answers = Vec::new();
    // The time counts from when the answer was there, and asking for it doesn't lengthen it.
    for pause in [0, 5_000, 4_999, 1, 9_999] {
        sleep(ms(pause)).await;
        answers.push(brief(&run(&tool).await));
    }
    assert_eq!(answers, [0, 0, 0, 1, 1]);
    let forever = Probe::new([]).tool(pure()).wrap(Cache::new(Duration::MAX));
    run(&forever).await;
    sleep(Duration::from_secs(86_400 * 365)).await;
    assert_eq!(brief(&run(&forever).await), 0);
}

#[tokio::test(start_paused = true)]
async fn the_answer_that_was_not_used_for_longest_goes_first() {
    let probe = Probe::new([]);
    let small = cache().max_entries(2);
    let tool = probe.tool(pure()).wrap(small.clone());
    let mut answers = Vec::new();
    for arguments in ["1", "2", "1", "3", "1", "2", "3"] {
        answers.push(run_with(&tool, arguments).await);
    }
    assert_eq!(answers, [0, 1, 0, 2, 0, 3, 4]);
    assert_eq!(small.store.len(), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn failures_are_not_cached() {
    let probe = Probe::new([fails(ToolFailure::new("broken", "no")), fails(busy()), succeeds()]);
    let kept = cache();
    let tool = probe.tool(pure()).wrap(kept.clone());
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(brief(&run(&tool).await));
    }
    assert_eq!(answers, [json!(["broken", true]), json!(["execution_error", true]), json!(2), json!(2)]);
    assert_eq!(kept.store.len(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn equal_calls_at_the_same_time_run_once() {
    for max_entries in [1024, 0] {
        let probe = Probe::new([succeeds().after(500)]);
        let kept = cache().max_entries(max_entries);
        let tool = probe.tool(pure()).wrap(kept.clone());
        let began = Instant::now();
        let (a, b, c, other) = tokio::join!(run(&tool), run(&tool), run(&tool), run_with(&tool, "1"));
        assert_eq!([brief(&a), brief(&b), brief(&c), other], [json!(0), json!(0), json!(0), json!(1)]);
        assert_eq!(began.elapsed(), ms(500));
        assert_eq!(kept.store.len(), (max_entries.min(2), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_first_fails_the_next_one_runs() {
    let probe = Probe::new([fails(busy()).after(100), fails(busy()).after(100), succeeds().after(100)]);
    let kept = cache();
    let tool = probe.tool(pure()).wrap(kept.clone());
    let (a, b, c, d) = tokio::join!(run(&tool), run(&tool), run(&tool), run(&tool));
    let failed = json!(["execution_error", true]);
    assert_eq!([brief(&a), brief(&b), brief(&c), brief(&d)], [failed.clone(), failed, json!(2), json!(2)]);
    assert_eq!(probe.times(), [0, 100, 200]);
    assert_eq!(kept.store.len(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn when_the_first_is_dropped_the_next_one_runs() {
    let probe = Probe::new([succeeds().after(60_000)]);
    let kept = cache();
    let tool = probe.tool(pure()).wrap(kept.clone());
    let (first, second) = tokio::join!(timeout(ms(100), run(&tool)), run(&tool));
    assert!(first.is_err());
    assert_eq!(brief(&second), 1);
    assert_eq!(probe.times(), [0, 100]);
    assert_eq!(kept.store.len(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn when_the_first_panics_the_next_one_runs() {
    let kept = cache();
    let crashing = |request: Request, next: Next| async move {
        assert!(request.call_id().as_str() != "crash", "a planned panic");
        next.run(request).await
    };
    let tool = Probe::new([]).tool(pure()).wrap(crashing).wrap(kept.clone());
    let crashed = run_call(&tool, &ToolCall::new("crash", "probe", "{}"), &RunOptions::new()).await;
    assert_eq!(brief(&crashed), json!(["execution_error", false]));
    assert_eq!(brief(&run(&tool).await), 0);
    assert_eq!(kept.store.len(), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_waiting_call_can_be_cancelled_and_leaves_nothing_behind() {
    let probe = Probe::new([fails(busy()).after(1_000)]);
    let kept = cache();
    let tool = probe.tool(pure()).wrap(kept.clone());
    let cancellation = Cancellation::new();
    let waiting = async {
        let result = run_in(&tool, |options| options.cancellation(cancellation.clone())).await;
        (brief(&result), Instant::now())
    };
    let began = Instant::now();
    let (_, (result, at), ()) = tokio::join!(run(&tool), waiting, async {
        sleep(ms(300)).await;
        cancellation.cancel();
    });
    assert_eq!((result, at - began), (json!(["cancelled", false]), ms(300)));
    assert_eq!(probe.runs().len(), 1);
    assert_eq!(kept.store.len(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_a_layer_spoiled_are_never_answered_from_memory() {
    let nullable = Schema::of::<Option<bool>>().unwrap();
    let spoil = |request: Request, next: Next| async move {
        let spoiled =
            if request.raw_arguments().trim() == "null" { request } else { request.with_arguments(&json!("spoiled")) };
        next.run(spoiled).await
    };
    let tool = Probe::new([]).tool(pure()).set_parameters(nullable).wrap(cache()).wrap(spoil);
    assert_eq!(run_with(&tool, "null").await, 0);
    assert_eq!(run_with(&tool, " null ").await, 0);
    assert_eq!(run_with(&tool, "true").await, json!(["input_validation_error", false]));
}

#[tokio::test(start_paused = true)]
async fn many_tasks_that_fail_and_are_dropped_leave_nothing_pending() {
    let probe = Probe::new((0..200).map(|step| match step % 3 {
        0 => succeeds().after(7),
        _ => fails(busy()).after(5),
    }));
    let kept = Cache::new(ms(3)).max_entries(4);
    let tool = probe.tool(pure()).wrap(kept.clone());
    let tasks: Vec<_> = (0..120u64)
        .map(|number| {
            let tool = tool.clone();
            tokio::spawn(async move {
                sleep(ms(number % 11)).await;
                let _ = timeout(ms(number % 13), run_with(&tool, &(number % 5).to_string())).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let (entries, pending) = kept.store.len();
    assert!(entries <= 4 && pending == 0, "{entries} entries, {pending} pending");
}

#[tokio::test]
async fn a_blocking_handler_runs_inside_of_the_call_that_the_cache_runs() {
    let where_it_runs = |(), _: Cx| Ambient::current().get::<run::InsideCachedCall>().is_some();
    let plain = Tool::new("probe").annotate(Readonly(true)).annotate(Idempotent(true));
    let tool = plain.blocking_handler(where_it_runs).unwrap();
    assert_eq!(brief(&run(&tool).await), false);
    assert_eq!(brief(&run(&tool.wrap(cache())).await), true);
    assert_eq!(brief(&run(&tool).await), false);
}
