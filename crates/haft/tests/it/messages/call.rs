//! Calls: tools that are not there, handlers that fail, timeouts and cancellations.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;
use haft::JsonSchema;
use haft::approval::ApprovalRequest;
use haft::conversation::{Finish, Turn, history};
use haft::middleware::{RateLimit, Timeout};
use haft::run::{CallError, FailureClass, ToolCalls, Typed};
use haft::tool::{
    Caller, Cancellation, EmitError, ExecutionLimits, ForwardCx, NoFailure, Outputs, Question, Resumable,
};
use serde::Serialize;
use tokio::time::Instant;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn named(name: &str) -> Tool {
    Tool::new(name).handler(|(), _cx| async { "fine" }).unwrap()
}

/// A tool whose calls never end.
fn endless(limits: ExecutionLimits) -> Tool {
    Tool::new("wait").limits(limits).handler(|(), _cx| pending::<()>()).unwrap()
}

pub(super) fn kinds(messages: &mut Messages) {
    messages.section("Failures without a message of their own");
    for kind in FailureKind::ALL.into_iter().chain(["out_of_stock".into()]) {
        messages.add(kind.as_str(), kind.default_message());
    }
}

/// Hides tools whose names begin with `secret`.
struct Hiding;

impl Permit for Hiding {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> haft::run::Permitting {
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
        !tool.name().starts_with("secret")
    }
}

pub(super) async fn unknown_tools(messages: &mut Messages) {
    messages.section("Unknown tools");
    let kit = |names: &[&str]| -> Toolkit { names.iter().map(|name| named(name)).collect() };
    let many: Vec<String> = (1..=15).map(|number| format!("tool_{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (situation, name, tools) in [
        ("one name is near", "serch", &["search", "fetch"][..]),
        ("several names are near", "read_fil", &["read_file", "read_files", "fetch"]),
        ("no name is near", "weather", &["search", "fetch"]),
        ("no name is near, and there is one tool", "weather", &["search"]),
        ("no name is near, and there are many tools", "weather", &many),
        ("there are no tools", "weather", &[]),
        ("the name is very long", &"weather_".repeat(40), &["search"]),
    ] {
        let results = run(&kit(tools), [ToolCall::new("c1", name, "")], RunOptions::new()).await;
        messages.failure(situation, &failure_of(&results[0]));
    }
    let hiding = || RunOptions::new().permit(Hiding);
    let secret = ToolCall::new("c1", "secret_door", "");
    let results = run(&kit(&["secret_door", "search"]), [secret.clone()], hiding()).await;
    messages.failure("the permit hides the tool", &failure_of(&results[0]));
    let results = run(&kit(&[&["secret_door"], &many[..]].concat()), [secret], hiding()).await;
    messages.failure("the permit hides the tool among many", &failure_of(&results[0]));
}

pub(super) async fn not_run_here(messages: &mut Messages) {
    messages.section("Calls that are not run");
    let note = Tool::signal("note").params::<u8>().define().unwrap();
    messages.failure("a signal, run without a loop", &failed(note.clone(), "1").await);
    messages.failure("a signal with invalid arguments", &failed(note, "-1").await);
    let kit: Toolkit = Toolkit::from_iter([named("search")]);
    let calls = [ToolCall::new("c1", "search", "").executed_by_provider()];
    messages.failure("the provider runs the call", &failure_of(&run(&kit, calls, RunOptions::new()).await[0]));
    let calls = [ToolCall::new("c1", "search", ""), ToolCall::new("c1", "search", "")];
    messages.failure("the id of an earlier call", &failure_of(&run(&kit, calls, RunOptions::new()).await[1]));
    let turn = Turn::new(vec![ToolCall::new("c1", "search", "{\"te").into()], Finish::Length);
    messages.failure("the response was cut off", &failure_of(&turn.interrupted_results()[0]));
    let history = vec![Item::from(ToolCall::new("c1", "search", "{}"))];
    let cancelled = history::cancel_pending(&history, "");
    messages.failure("cancelled when the history is continued", &failure_of(&cancelled[0]));
}

#[derive(Debug, PartialEq, Serialize, JsonSchema, haft::Failure)]
enum Stock {
    #[failure(message = "'{0}' is sold out")]
    SoldOut(String),
    /// The warehouse is closed.
    Closed,
}

pub(super) async fn handlers(messages: &mut Messages) {
    messages.section("Handlers that fail");
    let panics = Tool::new("panics").handler(|(), _cx| async { panic!("secret") as u8 }).unwrap();
    messages.failure("panic in the handler", &failed(panics.clone(), "").await);
    let spawned = RunOptions::new().spawned();
    messages.failure("panic in a handler that runs in a task", &failed_with(panics, "", spawned).await);
    let broken = Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("secret") }).unwrap();
    messages.failure("undeclared error of the handler", &failed(broken, "").await);
    for (situation, failure) in [
        ("declared failure with a message", Stock::SoldOut("tea".to_owned())),
        ("declared failure with a doc comment", Stock::Closed),
    ] {
        let failure = Arc::new(Mutex::new(Some(failure)));
        let buy = Tool::new("buy").try_handler(move |(), _cx| {
            let failure = failure.lock().unwrap().take();
            async move { Err::<(), _>(failure.unwrap()) }
        });
        messages.failure(situation, &failed(buy.unwrap(), "").await);
    }
    let own = Tool::new("own").try_handler_opaque(|(), _cx| async {
        Err::<(), _>(ToolFailure::new("busy", "the printer is busy").retry_after(SECOND))
    });
    messages.failure("a `ToolFailure` of the handler", &failed(own.unwrap(), "").await);
    let lost = Tool::dynamic("lost").define().unwrap().with_forward(|_: Tool, _: ToolCall, _: ForwardCx| async {
        Err(ToolFailure::new(FailureKind::OutcomeUnknown, ""))
    });
    messages.failure("a forwarded call without a reply", &failed(lost.unwrap(), "").await);
    let asking = || {
        Tool::new("book")
            .resumable(|(), _, _cx| async { Resumable::<()>::wait([Question::input::<u8>("How many?")], ()) })
    };
    messages.failure("a question without an approver", &failed(asking().unwrap(), "").await);
    let agreeable = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move { request.approve() });
    messages.failure("a question without a valid answer", &failed_with(asking().unwrap(), "", agreeable).await);
    let endless = RunOptions::new().approvals(|request: ApprovalRequest, _cx: Cx| async move { request.deny("no") });
    messages.failure("a call that asks again and again", &failed_with(asking().unwrap(), "", endless).await);
    let empty = Tool::new("empty").stream_handler(|(), _cx| Outputs::<u8>::values(futures_util::stream::empty()));
    messages.failure("the stream of the handler has no final value", &failed(empty.unwrap(), "").await);
    let kit: Toolkit = Toolkit::from_iter([Tool::new("later").params::<u8>().define().unwrap()]);
    let results = run(&kit, [ToolCall::new("c1", "later", "1")], RunOptions::new()).await;
    messages.failure("the tool has no handler", &failure_of(&results[0]));
}

pub(super) async fn timeouts(messages: &mut Messages) {
    messages.section("Timeouts and rate limits");
    let limits = ExecutionLimits::new;
    messages.failure("the timeout of the tool", &failed(endless(limits().timeout(30 * SECOND)), "").await);
    messages.failure("the idle timeout of the tool", &failed(endless(limits().idle_timeout(5 * SECOND)), "").await);
    let options = || RunOptions::new();
    let endless = || endless(limits());
    let call_timeout = options().call_timeout(Duration::from_millis(1500));
    messages.failure("the call timeout of the run", &failed_with(endless(), "", call_timeout).await);
    messages.failure("the timeout of the run", &failed_with(endless(), "", options().timeout(SECOND)).await);
    let past = options().deadline(Instant::now());
    messages.failure("the run's deadline is past", &failed_with(endless(), "", past).await);
    let wrapped = endless().wrap(Timeout::new(2 * SECOND));
    messages.failure("the timeout middleware", &failed(wrapped, "").await);

    let limited = named("search").wrap(RateLimit::new(1, 60 * SECOND).reject());
    let kit: Toolkit = Toolkit::from_iter([limited]);
    let calls = ["c1", "c2"].map(|id| ToolCall::new(id, "search", ""));
    messages.failure("the rate limit is exceeded", &failure_of(&run(&kit, calls, options()).await[1]));
    let closed = named("search").wrap(RateLimit::new(0, SECOND));
    messages.failure("the rate limit is zero", &failed(closed, "").await);
}

pub(super) async fn cancellations(messages: &mut Messages) {
    messages.section("Cancellations");
    let flag = Cancellation::new();
    flag.cancel();
    let options = RunOptions::new().cancellation(flag);
    messages.failure("cancelled before the call begins", &failed_with(named("search"), "", options.clone()).await);
    let kit: Toolkit = Toolkit::from_iter([endless(ExecutionLimits::new())]);
    let call = ToolCall::new("c1", "wait", "");
    let single = kit.run_call_with(&call, &options).await;
    messages.failure("cancelled before a single call begins", &failure_of(&single));
    let mut running = kit.run([call.clone()]);
    assert!(running.next().now_or_never().is_none());
    running.cancel();
    messages.failure("cancelled while the call runs", &failure_of(&running.collect_results().await[0]));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&seen);
    let options = RunOptions::new().observe(move |event| record.lock().unwrap().push(event.clone()));
    let mut dropped = kit.run_with([call], options);
    assert!(dropped.next().now_or_never().is_none());
    drop(dropped);
    let events = seen.lock().unwrap();
    let Some(ToolEvent::Output { result, .. }) = events.last() else { panic!("{events:?}") };
    messages.failure("the run is dropped", &failure_of(result));
}

/// The causes of failures, which only the operator sees.
pub(super) async fn causes(messages: &mut Messages) {
    messages.section("Causes of failed calls, for the operator");
    let panics = Tool::new("panics").handler(|(), _cx| async { panic!("index out of bounds") as u8 }).unwrap();
    messages.caused("panic in the handler", &failed(panics, "").await);
    let broken =
        Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("connection refused") }).unwrap();
    messages.caused("undeclared error of the handler", &failed(broken, "").await);
    let empty = Tool::new("empty").stream_handler(|(), _cx| Outputs::<u8>::values(futures_util::stream::empty()));
    messages.caused("the stream of the handler has no final value", &failed(empty.unwrap(), "").await);
    let later = Tool::new("later").params::<u8>().define().unwrap();
    messages.caused("the tool has no handler", &failed(later, "1").await);
    let denied = RunOptions::new().permit(|_: &Tool, _: &ToolCall, _: &Cx| Err::<Permission, _>("no session"));
    messages.caused("the permit failed", &failed_with(named("search"), "", denied).await);
    let ruled = |_: &Tool, _: &ToolCall, _: &Cx| Permission::denied("not now").by_rule("office-hours");
    let ruled = failed_with(named("search"), "", RunOptions::new().permit(ruled)).await;
    messages.caused("denied by a rule of a permit", &ruled);
    let policy = ApprovalPolicy::when(|(), _| async { Err::<bool, _>("no session") });
    let asking = Tool::new("pay").needs_approval(policy).handler(|(), _cx| async {}).unwrap();
    messages.caused("the approval policy failed", &failed(asking, "").await);
    let decoded = ToolResult::ok(&ToolCall::new("c1", "add", ""), serde_json::json!("three")).decode::<u8>();
    messages.caused("a result of another type", &decoded.unwrap_err());
    // Outside of a runtime a future is polled once, which is enough for these to fail.
    let outside = |tool: Tool, options: RunOptions| {
        let (call, kit): (_, Toolkit) = (ToolCall::new("c1", tool.name(), ""), Toolkit::from_iter([tool]));
        let polled = std::thread::spawn(move || kit.run_with([call], options).collect_results().now_or_never());
        failure_of(&polled.join().unwrap().unwrap()[0])
    };
    messages.caused("a spawned run without a runtime", &outside(named("search"), RunOptions::new().spawned()));
    let endless = endless(ExecutionLimits::new().timeout(SECOND));
    messages.caused("a timeout without a runtime", &outside(endless, RunOptions::new()));
    let blocking = Tool::new("read").blocking_handler(|(), _cx| 1).unwrap();
    messages.caused("a blocking handler without a runtime", &outside(blocking, RunOptions::new()));
}

/// Deletes a file.
#[tool]
fn delete_file(path: String) -> bool {
    !path.is_empty()
}

#[derive(Debug, ToolCalls)]
enum FileCall {
    #[allow(dead_code, reason = "only errors are shown here")]
    Delete(Typed<DeleteFile>),
}

pub(super) async fn errors(messages: &mut Messages) {
    messages.section("Errors of runs and typed calls");
    let broken = Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("secret") }).unwrap();
    let kit: Toolkit = Toolkit::from_iter([named("search"), broken]);
    let calls = [("c1", "broken"), ("c2", "search"), ("c3", "broken")].map(|(id, name)| ToolCall::new(id, name, ""));
    let error = kit.run(calls).fail_on([FailureClass::Internal]).collect_results().await.unwrap_err();
    messages.add("RunError", &error);
    messages.add("RunError, its source", error.source().unwrap());
    let declared: CallError<Stock> = CallError::Declared(Stock::SoldOut("tea".to_owned()));
    messages.add("CallError::Declared", declared);
    let fault: CallError<NoFailure> = CallError::Fault(ToolFailure::new(FailureKind::TimedOut, ""));
    messages.add("CallError::Fault", fault);
    let decoded = |name: &str, arguments: &str| FileCall::decode(ToolCall::new("c1", name, arguments)).unwrap_err();
    messages.add("CallDecodeError, invalid arguments", decoded("delete_file", r#"{"path": 7}"#));
    messages.add("CallDecodeError, an unknown tool", decoded("delete_fil", "{}"));
    let other = DeleteFile::decode(&ToolCall::new("c1", "list_files", "")).unwrap_err();
    messages.add("CallDecodeError, another tool", other);
    messages.add("HandlerError::Opaque", HandlerError::<String>::opaque("connection refused"));
    let cx = Cx::for_call(&ToolCall::new("c1", "search", ""));
    messages.add("MissingService", cx.service::<String>().unwrap_err());
    let (emitter, _emitted) = tokio::sync::mpsc::unbounded_channel();
    let encode: EmitError = cx.with_emitter(emitter.clone()).emit(output::Unwritable).await.unwrap_err();
    messages.add("EmitError::Encode", encode);
    let counted = Tool::new("count").handler(|(), _cx| async { 1u8 }).unwrap();
    let cx = Cx::for_tool(&counted, &ToolCall::new("c1", "count", "")).with_emitter(emitter);
    messages.add("EmitError::Preliminary", cx.preliminary("three").await.unwrap_err());
    let declared = Tool::new("count").emits::<u8>().handler(|(), _cx| async { 1u8 }).unwrap();
    let cx = Cx::for_tool(&declared, &ToolCall::new("c1", "count", ""));
    messages.add("EmitError::Invalid", cx.emit("three").await.unwrap_err());
}
