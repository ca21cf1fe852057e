//! Works whose cost must not grow faster than their size: `growth WORK SIZE` does one work at one size, once.
//!
//! `cargo xtask growth` runs this program under an instruction counter, at a size and at a hundred times that size.
//! Only the code inside [`counted`] is counted, so each work does its preparation first. `growth --list` prints the
//! works with the larger of the two sizes, one per line.

#![allow(clippy::print_stdout, reason = "printing is what this program is for")]
#![allow(clippy::unwrap_used, reason = "a work that can't be prepared should stop")]

#[path = "growth/schema.rs"]
mod schema;
#[cfg(feature = "clients")]
#[path = "growth/wire.rs"]
mod wire;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use haft_core::{Delta, Finish, History, Item, ToolCall, ToolResult, Turn, TurnRequest, history};
use haft_executor::{ApprovalPolicy, Concurrency, ExecutionLimits, RunOptions, Suspend, Tool, Toolkit};
use haft_middleware::RateLimit;
use haft_model::{LanguageModel, ModelInfo, ScriptedModel, ScriptedTurn, TurnLoop, TurnStream};
use serde_json::json;
use tokio::task::yield_now;

/// A work: its name, the size it is measured at, and the function that does it at a given size.
type Work = (&'static str, usize, fn(usize));

const WORKS: [Work; 12] = [
    ("max", 40_000, max),
    ("keyed", 40_000, keyed),
    ("cancel", 40_000, cancel),
    ("approvals", 3_000, approvals),
    ("answers", 10_000, answers),
    ("append", 5_000, append),
    ("turn-loop", 5_000, turn_loop),
    ("decide", 5_000, decide),
    ("scripted", 3_000, scripted),
    ("merge", 100_000, merge),
    ("drop-resumed", 10_000, drop_resumed),
    ("rate-limit", 10_000, rate_limit),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    match (arguments.next(), arguments.next().and_then(|size| size.parse().ok())) {
        (Some(name), Some(size)) => match works().find(|(known, ..)| *known == name) {
            Some((_, _, work)) => work(size),
            None => panic!("there is no work `{name}`"),
        },
        _ => works().for_each(|(name, size, _)| println!("{name} {size}")),
    }
}

fn works() -> impl Iterator<Item = &'static Work> {
    #[cfg(feature = "clients")]
    let of_wires: &[Work] = &wire::WORKS;
    #[cfg(not(feature = "clients"))]
    let of_wires: &[Work] = &[];
    WORKS.iter().chain(&schema::WORKS).chain(of_wires)
}

/// Runs the part of a work that is counted.
fn measured<T>(work: impl FnOnce() -> T) -> T {
    let (mut work, mut done) = (Some(work), None);
    counted(&mut || done = work.take().map(|work| work()));
    done.unwrap()
}

/// The function that the instruction counter knows by its name.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    black_box(work)();
}

/// Runs a future to its end, without a clock.
fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn calls(tool: &str, count: usize) -> Vec<ToolCall> {
    (0..count).map(|n| ToolCall::new(format!("c{n}"), tool, "{}")).collect()
}

/// Creates a tool whose calls do not finish at once, under a limit.
fn waiting(name: &str, concurrency: Concurrency) -> Tool {
    let limits = ExecutionLimits::new().concurrency(concurrency);
    // A call is polled twice before it waits.
    let handler = |(), _cx| async {
        yield_now().await;
        yield_now().await;
    };
    Tool::new(name).limits(limits).handler(handler).unwrap()
}

/// Runs calls that wait for one tool.
fn max(count: usize) {
    let kit: Toolkit = Toolkit::from_iter([waiting("one", Concurrency::Max(NonZeroUsize::MIN))]);
    let calls = calls("one", count);
    let results = measured(|| block_on(kit.run(calls).collect_results()));
    assert_eq!(results.len(), count);
}

/// Creates the tools of a run with all kinds of limits, and calls of them in turn.
fn mixed(count: usize) -> (Toolkit, Vec<ToolCall>) {
    let two = NonZeroUsize::new(2).unwrap();
    let mut tools: Vec<Tool> =
        (0..8).map(|n| waiting(&format!("key{n}"), Concurrency::Keyed(format!("k{}", n % 4)))).collect();
    tools.push(waiting("two", Concurrency::Max(two)));
    tools.push(waiting("shared", Concurrency::Shared));
    tools.push(waiting("alone", Concurrency::Exclusive));
    let names: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    // An exclusive call ends every round of a thousand.
    let name = |n: usize| if n % 1_000 == 999 { "alone" } else { &names[n % 10] };
    let calls = (0..count).map(|n| ToolCall::new(format!("c{n}"), name(n), "{}")).collect();
    (Toolkit::from_iter(tools), calls)
}

/// Runs calls that wait for keys, for a tool, and for the run.
fn keyed(count: usize) {
    let (kit, calls) = mixed(count);
    let results = measured(|| block_on(kit.run(calls).collect_results()));
    assert_eq!(results.len(), count);
}

/// Cancels calls while they wait.
fn cancel(count: usize) {
    let (kit, calls) = mixed(count);
    let results = measured(|| {
        let mut run = kit.run(calls);
        block_on(async {
            let _ = run.next().await;
            run.cancel();
            run.collect_results().await
        })
    });
    assert!(results.len() + 10 > count);
}

fn paying() -> Toolkit {
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|(), _cx| async { "paid" });
    Toolkit::from_iter([pay.unwrap()])
}

/// Runs one turn whose calls all require approval: they are suspended, approved and resumed.
fn approvals(count: usize) {
    let model = ScriptedModel::new([ScriptedTurn::calls(calls("pay", count)), ScriptedTurn::text("done")]);
    let agent = TurnLoop::new(model, paying()).options(RunOptions::new().approvals(Suspend)).repeated_calls(0);
    measured(|| {
        block_on(async {
            let mut state = agent.start(request()).finish().await.state;
            for question in state.approvals() {
                agent.verdict(&mut state, question.approve()).unwrap();
            }
            let outcome = agent.start(state).finish().await;
            assert!(outcome.end.is_stopped(), "{:?}", outcome.end);
        });
    });
}

/// Answers every open interaction of one turn.
fn answers(count: usize) {
    let ask = Tool::interaction("ask").success::<bool>().define().unwrap();
    let model = ScriptedModel::new([ScriptedTurn::calls(calls("ask", count)), ScriptedTurn::text("done")]);
    let agent = TurnLoop::new(model, Toolkit::from_iter([ask])).repeated_calls(0);
    let mut state = block_on(agent.start(request()).finish()).state;
    let open: Vec<_> = state.interactions().iter().map(|interaction| interaction.call_id().clone()).collect();
    assert_eq!(open.len(), count);
    measured(|| {
        for call_id in open {
            agent.answer(&mut state, call_id, true).unwrap();
        }
        let outcome = block_on(agent.start(state).finish());
        assert!(outcome.end.is_stopped(), "{:?}", outcome.end);
    });
}

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("go")])
}

/// Appends turns with the results of their calls. The model reuses one id.
fn append(count: usize) {
    let mut conversation = History::from([Item::user("go")]);
    measured(|| {
        for _ in 0..count {
            let items = vec![Item::assistant("once more"), ToolCall::new("call_0", "look", "{}").into()];
            let mut turn = Turn::new(items, Finish::ToolCalls);
            conversation.fresh_ids(&mut turn);
            let results: Vec<_> = turn.tool_calls().iter().map(|call| ToolResult::ok(call, json!("dark"))).collect();
            turn.append_to_history(&mut conversation, results).unwrap();
        }
    });
    assert!(history::is_reconciled(&conversation));
    assert_eq!(conversation.len(), 1 + 3 * count);
}

/// A model that makes one call per turn, always with the same id, and then stops.
struct Caller {
    turns: usize,
    asked: AtomicUsize,
}

impl LanguageModel for Caller {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, _request: &TurnRequest) -> TurnStream {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let turn = if asked < self.turns {
            Turn::new(vec![ToolCall::new("call_0", "look", "{}").into()], Finish::ToolCalls)
        } else {
            Turn::new(vec![Item::assistant("done")], Finish::Stop)
        };
        TurnStream::of([Ok(Delta::complete(turn))])
    }
}

fn looking() -> Toolkit {
    Toolkit::from_iter([Tool::new("look").handler(|(), _cx| async { "dark" }).unwrap()])
}

fn turns(agent: &TurnLoop, count: usize) {
    let outcome = measured(|| block_on(agent.start(request()).finish()));
    assert!(outcome.end.is_stopped(), "{:?}", outcome.end);
    assert_eq!(outcome.state.turns() as usize, count + 1);
}

/// Runs a loop of many turns.
fn turn_loop(count: usize) {
    let model = Caller { turns: count, asked: AtomicUsize::new(0) };
    turns(&TurnLoop::new(model, looking()).repeated_calls(0).max_turns(u32::MAX), count);
}

/// Runs the same loop with a function that decides after every turn, and adds a message.
fn decide(count: usize) {
    let model = Caller { turns: count, asked: AtomicUsize::new(0) };
    let agent = TurnLoop::new(model, looking()).repeated_calls(0).max_turns(u32::MAX);
    let agent = agent.decide(|mut after| async move {
        if after.results().is_empty() {
            return after.stop();
        }
        after.push(Item::user("go on"));
        after.next()
    });
    turns(&agent, count);
}

/// Runs the same loop with a model that answers by a script and records its requests.
fn scripted(count: usize) {
    let script = (0..count).map(|n| ScriptedTurn::calls([ToolCall::new(format!("c{n}"), "look", "{}")]));
    let model = ScriptedModel::new(script.chain([ScriptedTurn::text("done")]));
    turns(&TurnLoop::new(model.clone(), looking()).repeated_calls(0).max_turns(u32::MAX), count);
    model.finish().unwrap();
}

/// Merges two toolkits that have every name in common.
fn merge(count: usize) {
    let kit: Toolkit = (0..count).map(|n| Tool::signal(format!("t{n}")).define().unwrap()).collect();
    let merged = measured(|| kit.clone().merge(kit.clone()));
    assert_eq!((merged.len(), merged.shadowed().len()), (count, count));
}

/// Resumes a run with every other call done, and drops it before it is polled.
fn drop_resumed(count: usize) {
    let kit = Toolkit::compose([paying(), looking()]).unwrap();
    let calls: Vec<ToolCall> = (0..count)
        .map(|n| ToolCall::new(format!("c{n}"), if n.is_multiple_of(2) { "look" } else { "pay" }, "{}"))
        .collect();
    let suspended =
        block_on(kit.run_with(calls, RunOptions::new().approvals(Suspend)).collect_or_suspend()).unwrap_err();
    measured(|| drop(kit.resume(*suspended, [])));
}

/// Cancels calls that wait for a rate limit, all at once.
fn rate_limit(count: usize) {
    let limit = RateLimit::new(1, Duration::from_secs(1));
    let look = Tool::new("look").handler(|(), _cx| async { "dark" }).unwrap().wrap(limit);
    let kit: Toolkit = Toolkit::from_iter([look]);
    let calls = calls("look", count);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _guard = runtime.enter();
    measured(|| {
        let mut run = kit.run(calls);
        let _ = pin!(run.next()).poll(&mut Context::from_waker(Waker::noop()));
        drop(run);
    });
}
