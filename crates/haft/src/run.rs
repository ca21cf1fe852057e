//! Running calls: from [`ToolCall`] to exactly one [`ToolResult`].
//!
//! ```text
//!  ╔══════════╗                                        ToolEvent  ToolEvent
//!  ║ ToolCall ║ ─► look up ─► permit ─► decode ─► approve ─► slot     ▲
//!  ╚══════════╝                                               │       │ progress
//!  ╔════════════╗                                             ▼       │
//!  ║ ToolResult ║ ◄─ encode ◄──────────────── middleware ─► handler ──┘
//!  ╚════════════╝
//! ```
//!
//! Every way to run a call takes this path, and its handler is polled by one function. An unknown name, invalid JSON, a
//! panic, a timeout, a cancellation, a result that breaks its own schema, two calls with one id: each is answered once,
//! with a kind, a message that the model can act on, and whether the handler had started.
//!
//! # Ways to run
//!
//! | to | use | returns |
//! |---|---|---|
//! | run the calls of a model | [`kit.run(calls)`](Toolkit::run), [`run_with(calls, options)`](Toolkit::run_with) | [`Run`], a stream of [`ToolEvent`]s |
//! | run one call | [`kit.run_call(&call)`](Toolkit::run_call), [`run_call_with`](Toolkit::run_call_with) | [`ToolResult`] |
//! | run one call by its tool's failure mode, with early values | [`kit.try_run_call(call, options)`](Toolkit::try_run_call) | [`HandlerResults`], awaited or read as a stream |
//! | call a tool from the program, by its type | [`kit.call(params)`](Toolkit::call), [`call_with`](Toolkit::call_with), [`call_of`](Toolkit::call_of), [`call_named`](Toolkit::call_named) | the success type, or [`CallError`] |
//! | decide first, run later | [`plan_from_map`](Toolkit::plan_from_map), [`plan_from_queue`](Toolkit::plan_from_queue) | a plan: `kit.run(plan)`, or `plan.into_run()` |
//! | go on with a suspended run | [`kit.resume(suspended, verdicts)`](Toolkit::resume), [`resume_with`](Toolkit::resume_with) | [`Run`] |
//! | serve any source of tools, also a live one | [`source.run_calls(calls, options)`](Dispatch::run_calls), [`list`](Dispatch::list), [`resume_calls`](Dispatch::resume_calls) | [`Run`] |
//!
//! And with a [`Run`]: read its events with [`next`](Run::next) or as a stream;
//! [`collect_results`](Run::collect_results) for the results in call order;
//! [`collect_or_suspend`](Run::collect_or_suspend) where approvals may come later;
//! [`continue_with_results`](Run::continue_with_results) to end with a value made from all results;
//! [`fail_on`](Run::fail_on) to end with an error when calls failed in certain classes.
//!
//! ```
//! use haft::prelude::*;
//! use std::time::Duration;
//!
//! /// Deletes a file.
//! #[tool(approval = "always")]
//! async fn delete_file(path: String) -> String {
//!     format!("{path} is gone")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let kit = toolkit![DeleteFile];
//! let calls = [ToolCall::new("c1", "delete_file", r#"{"path": "a.txt"}"#)];
//! let denied = kit.run(&calls).collect_results().await;
//! assert_eq!(denied[0].failure().unwrap().kind, FailureKind::Denied);
//!
//! let approve_one = |request: ApprovalRequest, _cx: Cx| async move {
//!     if request.arguments.contains("a.txt") { request.approve() } else { request.deny("only a.txt") }
//! };
//! let options = RunOptions::new().timeout(Duration::from_secs(60)).approvals(approve_one);
//! let results = kit.run_with(&calls, options).collect_results().await;
//! assert_eq!(results[0].to_model_text(), "a.txt is gone");
//! # }
//! ```
//!
//! # Events
//!
//! The [`ToolEvent`]s of a call come in this order, with its index in the run and its call id:
//!
//! | event | when | how many |
//! |---|---|---|
//! | [`ApprovalRequested`](ToolEvent::ApprovalRequested) | approval is required | none, one, or more after invalid edits |
//! | [`ApprovalResolved`](ToolEvent::ApprovalResolved) | a verdict was accepted | at most one per request |
//! | [`Suspended`](ToolEvent::Suspended) | the verdict comes after this run; the last event of its call here | at most one |
//! | [`Started`](ToolEvent::Started) | an attempt reaches the handler; with [`started_events`](RunOptions::started_events) only | one per attempt |
//! | [`Progress`](ToolEvent::Progress), [`Preliminary`](ToolEvent::Preliminary) | the handler emits a value | any number |
//! | [`Output`](ToolEvent::Output) | the call has its result; the last event of its call | exactly one; a suspended call gets it when its run is resumed |
//!
//! [`event.progress()`](ToolEvent::progress) returns what a handler reported with [`cx.progress(done, total,
//! message)`](crate::tool::Cx::progress), typed; any other value that it emitted is the event's `data`.
//!
//! # Reading what a model did
//!
//! A call is text until it is decoded. The type of a tool decodes its calls, with the checks of a run and without
//! running anything, and reads its results:
//!
//! | to read | use | returns |
//! |---|---|---|
//! | the parameters of a call | `GetWeather::decode(&call)`, see [`ToolType::decode`] | its parameters, or [`CallDecodeError`] |
//! | a call with its id and parameters | [`Typed::<GetWeather>::decode(call)`](Typed::decode) | [`Typed`] |
//! | a result | `GetWeather::read(&result)`, see [`ToolType::read`] | the success type, or [`CallError`] |
//! | a preliminary or final result of [`try_run_call`](Toolkit::try_run_call) | [`handled.typed::<GetWeather>()`](HandlerResult::typed) | the success type, or [`CallError`] |
//! | any call of the program's tools | [`#[derive(ToolCalls)]`](macro@crate::ToolCalls) on an enum | a variant of the enum, for an exhaustive `match` |
//!
//! ```
//! use haft::prelude::*;
//! use haft::run::{ToolCalls, Typed};
//!
//! /// Deletes a file.
//! #[tool]
//! async fn delete_file(path: String) -> bool { !path.is_empty() }
//!
//! /// Lists the files.
//! #[tool]
//! async fn list_files() -> Vec<String> { vec!["a.txt".to_owned()] }
//!
//! #[derive(ToolCalls)]
//! enum FileCall {
//!     Delete(Typed<DeleteFile>),
//!     List(Typed<ListFiles>),
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kit: Toolkit = FileCall::toolkit();
//! let call = ToolCall::new("c1", "delete_file", r#"{"path": "a.txt"}"#);
//! let text = match FileCall::decode(&call)? {
//!     FileCall::Delete(typed) => format!("{} deletes {}", typed.call_id(), typed.params.path),
//!     FileCall::List(_) => "lists files".to_owned(),
//! };
//! assert_eq!(text, "c1 deletes a.txt");
//! assert!(DeleteFile::read(&kit.run_call(&call).await)?);
//! # Ok(())
//! # }
//! ```
//!
//! # Identity
//!
//! A run has an id, [`Run::run_id`], and each of its calls an idempotency key. A handler that sends a request to a
//! service passes the key on, so that the service can recognise a request that it has seen: the key is the same in
//! every attempt at a call and after every resume, and no other call has it.
//!
//! ```
//! use haft::prelude::*;
//!
//! /// Pays a sum.
//! #[tool]
//! async fn pay(cents: u64, cx: &Cx) -> String {
//!     format!("POST /payments\nIdempotency-Key: {}\n\n{cents}", cx.idempotency_key())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (kit, call) = (toolkit![Pay], ToolCall::new("c1", "pay", r#"{"cents": 500}"#));
//! let again = RunOptions::new().run_id("job-17");
//! let first = kit.run_call_with(&call, &again).await;
//! assert_eq!(kit.run_call_with(&call, &again).await, first, "the job is repeated under its own id");
//! assert_ne!(kit.run_call(&call).await, first, "another run");
//! # }
//! ```
//!
//! # Permits
//!
//! A [`Permit`] decides who may call what, before approval is requested and before a handler sees anything. A closure
//! permits or denies calls; a type hides tools as well, by [`Permit::sees`]: a hidden tool does not exist for its
//! caller, in a call, in a suggestion and in [`Dispatch::list`]. It may also decide on the decoded arguments, by
//! [`Permit::permits_arguments`]. A permit that fails or panics denies.
//!
//! Permits, policies and observers add up. [`RunOptions::permit`] adds a permit: all of them must allow a call and see
//! its tool, and the first denial decides. [`RunOptions::policy`] adds a policy: any of them may require approval.
//! [`RunOptions::observe`] adds an observer: each receives every event. [`RunOptions::merge`] combines the options of a
//! server with those of one conversation by the same rule: no check is lost, and the stricter limit applies.
//!
//! ```
//! use haft::prelude::*;
//!
//! # let reboot = Tool::new("reboot").handler(|(), _cx| async { "done" }).unwrap();
//! # let kit: Toolkit = Toolkit::from_iter([reboot]);
//! let only_ana = |_tool: &Tool, _call: &ToolCall, cx: &Cx| match cx.caller() {
//!     Some(caller) if *caller == "ana" => Permission::Allowed,
//!     _ => Permission::denied("only ana may do this"),
//! };
//! # let calls = [ToolCall::new("c1", "reboot", "{}")];
//! let run = kit.run_with(calls, RunOptions::new().caller("bob").permit(only_ana));
//! # #[tokio::main(flavor = "current_thread")] async fn main_(run: haft::run::Run) -> Vec<ToolResult> { run.collect_results().await }
//! assert_eq!(main_(run)[0].failure().unwrap().message, "only ana may do this");
//! ```
//!
//! A permit that has to wait, for a database for example, returns [`Permitting::later`]. One that denies may name its
//! rule, by [`Permission::by_rule`]: the operator finds it in the failure's cause and in the call's span, the model
//! never reads it.
//!
//! A permit or a policy that looks at what a tool may do asks `tool.annotations().may_destroy()`: unless annotated
//! otherwise a tool may, and a readonly one may not.
//!
//! # Details
//!
//! - Handlers run inside the task that polls the run: they advance, and timeouts fire, only while it is polled.
//!   `collect_results` polls to the end; [`spawned`](RunOptions::spawned) gives each handler a task of its own; a function
//!   that blocks its thread is marked `#[tool(blocking)]`.
//! - Dropping a run drops its handlers; [`cancel`](Run::cancel) goes on to a result for every call.
//! - The model reads at most 256 KiB of text of each result, and a note if there is more; the application gets the whole
//!   value. Images, audio and files don't count. A tool or [`RunOptions::output_cap`] sets another
//!   [`OutputCap`](crate::tool::OutputCap), or [none](crate::tool::OutputCap::unlimited).
//! - With `panic = "abort"` there is no isolation.
//! - Every call opens a `tracing` span by OpenTelemetry's names (`execute_tool`, `gen_ai.tool.*`), without arguments and
//!   results. Without a subscriber it costs one load.

#[allow(unused_imports, reason = "for links")]
use haft_executor::{ToolType, Toolkit};

// calls and their results
#[doc(inline)]
pub use haft_core::{
    CallId, CustomKind, FailureKind, Outcome, ResultParts, ToolCall, ToolFailure, ToolOutput, ToolResult,
};
// runs
#[doc(inline)]
pub use haft_core::{FailureClass, RunId, ToolEvent, UnknownEvent};
#[doc(inline)]
pub use haft_executor::{
    CallError, CallPlan, Continuation, Decision, Dispatch, FailureOrigin, HandlerResult, HandlerResults, Lane, Lanes,
    QueuePlan, RequestedCall, Run, RunCall, RunError, RunOptions, Step, TryRun, WaitingCall,
};
// calls and results with the types of their tools
#[doc(inline)]
pub use haft_executor::{CallDecodeError, CallVariant, ToolCalls, Typed};
// permits
#[doc(inline)]
pub use haft_executor::{CallArguments, Permission, Permit, Permitting};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use haft_macros::ToolCalls;
