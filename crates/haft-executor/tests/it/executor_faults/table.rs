//! The faults, one row each.
//!
//! A row contains a call, the course of the run, and the expected result. By default a call has the arguments `{}` and
//! is expected to return `null`; a failure is expected before the handler began, as retryable as its kind, without a
//! hidden cause, and with unaffected siblings.

use std::future::{Ready, pending};
use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::{StreamExt, stream};
use haft_core::FailureKind::{
    Cancelled, Denied, DuplicateCallId, ExecutionError, InputValidationError, NonLocalTool, OutputTooLarge,
    OutputValidationError, PermissionDenied, TimedOut, ToolFailed, UnknownTool,
};
use haft_core::{ApprovalDecision, ApprovalRequest, Caller, ContentPart, ToolCall, ToolFailure, Verdict};
use haft_executor::{
    ApprovalPolicy, BoxError, Cancellation, Concurrency, Cx, ExecutionLimits, Failure, HandlerOutput, Next, NoFailure,
    OnOverflow, OutputCap, Outputs, Permission, Permit, Permitting, Request, RunOptions, Tool, Toolkit,
};
use haft_schema::{DecodeOptions, Limits, Schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::broken::{
    Fragile, Panics, TimeLimit, TryTwice, counting, counting_for_ever, deciding, endless, gated, limits, ms,
    never_ending_and_fragile, panicking, permit, plain, room, secret_error, talkative, target,
    with_unreadable_parameters, with_unwritable_result,
};
use super::case::{Case, Ran, Reader, SECRET, of};
use super::hold::hold;

/// Creates a test for every row.
macro_rules! table {
    ($($(#[$meta:meta])* $name:ident: $row:expr;)*) => {
        $($(#[$meta])* #[test] fn $name() { hold(concat!(module_path!(), "::", stringify!($name)), $row); })*
    };
}

const TARGET: &str = r#"{"city":"Paris","days":3}"#;

// Tools.
table! {
    unknown_name: |ran| of(target(ran)).asking("targte").args(TARGET)
        .fails(UnknownTool).saying(&["'targte'", "nearest", "'target'"]).having_run(0);
    unknown_name_near_nothing: |ran| of(target(ran)).asking("xyz")
        .fails(UnknownTool).saying(&["there is no tool called 'xyz'; the ", "'target'"]).having_run(0);
    signal: |_| of(Tool::signal("halt").define().unwrap()).fails(NonLocalTool).saying(&["'halt'", "not run here"]);
    interaction: |_| of(Tool::interaction("ask").define().unwrap()).fails(NonLocalTool).saying(&["'ask'"]);
    provider_defined: |_| of(provider_tool()).fails(NonLocalTool).saying(&["not run here"]);
    executed_by_the_provider: |ran| of(plain(ran)).by_the_provider().fails(NonLocalTool)
        .saying(&["'plain'", "not run here"]).having_run(0);
    one_id_for_three_calls: |ran| of(plain(ran)).having_run(1)
        .again().fails(DuplicateCallId).saying(&["'fault'", "earlier", "not run"])
        .again().fails(DuplicateCallId);
}

// Arguments.
table! {
    blank_arguments_where_none_are_needed: |ran| of(plain(ran)).args(" \n").having_run(1);
    blank_arguments_where_some_are_needed: |ran| of(target(ran)).args("")
        .fails(InputValidationError).saying(&["city", "days"]).having_run(0);
    invalid_json: |ran| bad_arguments(ran, r#"{"city":"Paris","days":"#)
        .saying(&["not valid JSON", "line 1 column 23", "send one complete JSON value"]);
    trailing_text: |ran| bad_arguments(ran, r#"{"city":"Paris","days":3} and more"#)
        .saying(&["not valid JSON", "trailing characters at line 1 column 27", "send one complete JSON value"]);
    wrong_type: |ran| bad_arguments(ran, r#"{"city":"Paris","days":"three"}"#).saying(&["days"]);
    not_an_object: |ran| bad_arguments(ran, r#"["Paris",3]"#).saying(&["object"]);
    missing_key: |ran| bad_arguments(ran, r#"{"city":"Paris"}"#).saying(&["days"]);
    extra_key: |ran| bad_arguments(ran, r#"{"city":"Paris","days":3,"hour":4}"#).saying(&["hour"]);
    duplicate_key: |ran| bad_arguments(ran, r#"{"city":"Paris","days":3,"days":4}"#).saying(&["days"]);
    broken_constraints: |ran| bad_arguments(ran, r#"{"city":"P","days":15}"#).saying(&["city", "days", "14"]);
    too_many_bytes: |ran| bad_arguments(ran, format!(r#"{{"city":"{}","days":3}}"#, "P".repeat(50)))
        .given(|run| run.decode_options(DecodeOptions::default().limits(Limits::default().max_bytes(60))))
        .saying(&["60"]);
    too_deep: |ran| bad_arguments(ran, format!("{}{}", "[".repeat(9), "]".repeat(9)))
        .given(|run| run.decode_options(DecodeOptions::default().limits(Limits::default().max_depth(8))))
        .saying(&["8"]);
}

// Failures of the handler.
table! {
    declared_failure: |_| of(Tool::new("t").try_handler(|(), _| async { Err::<(), _>("sold out") }).unwrap())
        .fails(ToolFailed).started().saying(&["sold out"]);
    declared_failure_worth_retrying: |_| of(Tool::new("t").try_handler(|(), _| async { Err::<(), _>(Busy) }).unwrap())
        .fails(ToolFailed).started().worth_retrying().saying(&["busy"]);
    declared_failure_without_a_message: |_| of(Tool::new("t").try_handler(|(), _| async { Err::<(), _>(" ") }).unwrap())
        .fails(ToolFailed).started();
    undeclared_error: |_| of(failing(secret_error)).fails(ExecutionError).started().hiding_its_cause();
    failure_of_a_kind_of_its_own: |_| of(failing(|| ToolFailure::new("out_of_stock", "sold out").cause(SECRET).into()))
        .fails("out_of_stock".into()).started().saying(&["sold out"]).hiding_its_cause();
    success_that_breaks_its_schema: |_| of(giving(7, json!({"type": "integer", "maximum": 5})))
        .fails(OutputValidationError).started().saying(&["5"]);
    success_that_is_no_number: |_| of(Tool::new("t").handler(|(), _| async { f64::NAN }).unwrap())
        .fails(OutputValidationError).started()
        .saying(&["the tool returned an invalid result", "NaN or infinite"]);
    preliminary_that_breaks_its_schema: |_| of(giving_early(7, json!({"type": "integer", "maximum": 5})))
        .fails(OutputValidationError).started().saying(&["5"]);
    failure_that_breaks_its_schema: |_| of(failing_against(json!({"maxLength": 3})))
        .fails(OutputValidationError).started()
        .saying(&["the tool returned an invalid result", "at most 3 characters"]);
    stream_of_nothing: |_| of(streaming(0)).fails(ExecutionError).started()
        .saying(&["the tool failed with an internal error; only its operator can see the cause"]).because("ended without a final value");
    stream_without_an_end: |_| of(streaming(2)).showing(2).fails(ExecutionError).started()
        .saying(&["the tool failed with an internal error; only its operator can see the cause"]).because("ended without a final value");
    too_large_output: |_| of(giving_text(cap(20))).fails(OutputTooLarge).started().saying(&["20 bytes", "request less"]);
    too_large_output_for_the_run: |_| of(giving_text(None)).given(|run| run.output_cap(cap(20).unwrap()))
        .fails(OutputTooLarge).started().saying(&["100 bytes", "20 bytes", "request less"]);
    too_large_output_cut_off: |_| of(giving_text(cap(20).map(|cap| cap.on_overflow(OnOverflow::Truncate))))
        .gives_shortened("x".repeat(100), &["xxxxxxxxxxxxxxxxxxxx", "[truncated: the first 20 of 100 bytes are shown]"]);
}

// Panics.
table! {
    panic_before_there_is_a_future: |_| of(panicking(Panics::AtOnce)).fails(ExecutionError).started().hiding_its_cause();
    panic_before_the_first_await: |_| of(panicking(Panics::First)).fails(ExecutionError).started().hiding_its_cause();
    panic_after_progress: |_| of(panicking(Panics::AfterProgress))
        .showing(1).fails(ExecutionError).started().hiding_its_cause();
    panic_without_text: |_| of(panicking(Panics::WithoutText)).fails(ExecutionError).started();
    panic_with_a_payload_that_panics: |_| of(panicking(Panics::WithFragilePayload)).fails(ExecutionError).started();
    panic_at_the_end: |_| of(panicking(Panics::AtTheEnd)).fails(ExecutionError).started().hiding_its_cause();
    panic_in_a_blocking_handler: |_| of(Tool::new("t").blocking_handler(|(), _| -> () { panic!("{SECRET}") }).unwrap())
        .fails(ExecutionError).started().hiding_its_cause();
    panic_when_dropped: |_| of(never_ending_and_fragile().with_limits(limits().timeout(ms(30))).unwrap())
        .fails(TimedOut).started().saying(&["30ms"]);
    panic_when_given_up_by_a_middleware: |_| of(never_ending_and_fragile().wrap(TimeLimit(ms(30))))
        .fails(TimedOut).started().saying(&["30ms"]);
    panic_in_parameters_never_used: |_| of(holding_fragile_parameters()).fails(Denied);
    panic_in_deserialize: |_| of(with_unreadable_parameters()).fails(ExecutionError).hiding_its_cause();
    panic_in_serialize: |_| of(with_unwritable_result()).fails(ExecutionError).started().hiding_its_cause();
    panic_in_a_failures_message: |_| of(Tool::new("t").try_handler(|(), _| async { Err::<(), _>(Mute) }).unwrap())
        .fails(ExecutionError).started().hiding_its_cause();
    panic_in_the_model_output: |_| of(Tool::new("t")
            .to_model_output(|(): &()| -> Vec<ContentPart> { explode() }).handler(|(), _| async {}).unwrap())
        .fails(ExecutionError).started().hiding_its_cause();
}

// Middleware around the handler.
table! {
    panic_in_a_middleware_before: |ran| of(plain(ran).wrap(|_: Request, _: Next| async { panic!("{SECRET}") }))
        .fails(ExecutionError).hiding_its_cause().having_run(0);
    panic_in_a_middleware_after: |ran| of(plain(ran).wrap(|request: Request, next: Next| async move {
            next.run(request).await;
            panic!("{SECRET}")
        }))
        .fails(ExecutionError).started().hiding_its_cause().having_run(1);
    a_middleware_that_never_continues: |ran| of(plain(ran).wrap(|_: Request, _: Next| pending())
            .with_limits(limits().timeout(ms(30))).unwrap())
        .fails(TimedOut).having_run(0);
    a_middleware_that_makes_arguments_invalid: |ran| of(target(ran).wrap(|request: Request, next: Next| {
            next.run(request.with_arguments(&json!({"city": "Paris", "days": 99})))
        })).args(TARGET)
        .fails(InputValidationError).saying(&["days"]).having_run(0);
    a_middleware_that_answers_too_much: |ran| of(plain(ran).set_success(Schema::of::<String>().unwrap())
            .wrap(|request: Request, _: Next| async move { request.answer(&"x".repeat(100)) })
            .with_limits(capped(cap(20))).unwrap())
        .fails(OutputTooLarge).having_run(0);
}

// Timeouts.
table! {
    timeout: |_| of(endless().with_limits(limits().timeout(ms(30))).unwrap())
        .showing(1).fails(TimedOut).started().saying(&["30ms"]);
    timeout_of_the_run_for_each_call: |_| of(endless()).given(|run| run.call_timeout(ms(30)))
        .showing(1).fails(TimedOut).started().saying(&["30ms"]);
    timeout_beyond_the_largest_time: |_| of(talkative(1, ms(1)).with_limits(limits().timeout(Duration::MAX)).unwrap())
        .given(|run| run.timeout(Duration::MAX)).showing(1).gives(1);
    silence: |_| of(endless().with_limits(limits().idle_timeout(ms(30))).unwrap())
        .showing(1).fails(TimedOut).started().saying(&["no progress", "30ms"]);
    progress_is_no_silence: |_| of(talkative(5, ms(29)).with_limits(limits().idle_timeout(ms(30))).unwrap())
        .showing(5).gives(5);
    values_are_no_silence: |_| of(counting(4, ms(29)).with_limits(limits().idle_timeout(ms(30))).unwrap())
        .showing(3).gives(3);
    values_behind_a_middleware_are_no_silence: |_| of(counting(4, ms(29)).wrap(TryTwice)
            .wrap(|request: Request, next: Next| next.run(request.again()))
            .with_limits(limits().idle_timeout(ms(30))).unwrap())
        .showing(3).gives(3);
    silence_after_values: |_| of(counting_for_ever(2, ms(29)).with_limits(limits().idle_timeout(ms(30))).unwrap())
        .showing(1).fails(TimedOut).started().saying(&["no progress", "30ms"]);
    progress_does_not_stop_the_clock: |_| of(talkative(5, ms(29))
            .with_limits(limits().idle_timeout(ms(30)).timeout(ms(100))).unwrap())
        .showing(3).fails(TimedOut).started().saying(&["longer", "100ms"]);
    waiting_for_the_reader_is_no_silence: |_| of(talkative(4, Duration::ZERO)
            .with_limits(limits().idle_timeout(ms(30)).emit_buffer(room(1))).unwrap())
        .read(Reader::Pausing(ms(1000))).showing(4).gives(4);
    deadline_while_it_runs: |_| of(endless()).given(|run| run.timeout(ms(30)))
        .showing(1).fails(TimedOut).started().saying(&["the run's deadline passed"]);
    deadline_as_a_moment: |_| of(endless()).given(|run| run.deadline(Instant::now() + ms(30)))
        .showing(1).fails(TimedOut).started();
    deadline_in_the_past: |ran| of(plain(ran)).given(|run| run.timeout(Duration::ZERO))
        .fails(TimedOut).like_all_others().having_run(0);
    deadline_while_it_waits_for_a_slot: |ran| of(keyed(&endless())).given(|run| run.timeout(ms(30)))
        .showing(1).fails(TimedOut).started()
        .then(keyed(&plain(ran))).fails(TimedOut).having_run(0);
    deadline_while_it_waits_for_approval: |ran| of(gated(ran)).approved_by(nobody).given(|run| run.timeout(ms(30)))
        .fails(TimedOut).having_run(0);
    deadline_while_it_waits_for_a_permit: |ran| of(plain(ran)).given(|run| run.timeout(ms(30))
            .permit(permit(|| Permitting::later(pending::<Result<_, BoxError>>()))))
        .fails(TimedOut).having_run(0);
}

// Cancellation.
table! {
    cancel_before_the_start: |ran| of(plain(ran)).read(Reader::CancellingAfter(Duration::ZERO))
        .fails(Cancelled).like_all_others().saying(&["cancelled"]).having_run(0);
    flag_raised_before_the_start: |ran| of(plain(ran)).read(Reader::RaisingAfter(Duration::ZERO, Cancellation::new()))
        .fails(Cancelled).like_all_others().saying(&["cancelled"]).having_run(0);
    cancel_midway: |_| of(endless()).read(Reader::CancellingAfter(ms(30)))
        .showing(1).fails(Cancelled).started().saying(&["cancelled"]);
    flag_raised_midway: |_| of(endless()).read(Reader::RaisingAfter(ms(30), Cancellation::new()))
        .showing(1).fails(Cancelled).started().saying(&["cancelled"]);
    cancel_while_it_waits_for_a_slot: |ran| of(keyed(&endless())).read(Reader::CancellingAfter(ms(30)))
        .showing(1).fails(Cancelled).started()
        .then(keyed(&plain(ran))).fails(Cancelled).having_run(0);
    cancel_while_it_waits_for_approval: |ran| of(gated(ran)).approved_by(nobody)
        .read(Reader::CancellingAfter(ms(30))).fails(Cancelled).having_run(0);
    cancel_after_the_end: |ran| of(plain(ran)).read(Reader::CancellingAtTheEnd(Cancellation::new())).having_run(1);
}

// Approval.
table! {
    no_approver: |ran| of(gated(ran)).fails(Denied).saying(&["requires approval", "no approver is configured"]).having_run(0);
    approved: |ran| of(gated(ran)).approved_by(deciding(ApprovalDecision::Approved, "")).having_run(1);
    denied: |ran| of(gated(ran)).approved_by(deciding(ApprovalDecision::Denied, "not on a Sunday"))
        .fails(Denied).saying(&["not on a Sunday"]).having_run(0);
    denied_without_a_reason: |ran| of(gated(ran)).approved_by(deciding(ApprovalDecision::Denied, " "))
        .fails(Denied).having_run(0);
    unknown_decision: |ran| of(gated(ran))
        .approved_by(deciding(ApprovalDecision::Other("approve_later".to_owned()), ""))
        .fails(Denied).having_run(0);
    approver_that_fails: |ran| of(gated(ran))
        .approved_by(|_: ApprovalRequest, _: Cx| async { Err::<Verdict, _>(secret_error()) })
        .fails(Denied).saying(&["approval"]).hiding_its_cause().having_run(0);
    approver_that_panics: |ran| of(gated(ran))
        .approved_by(|_: ApprovalRequest, _: Cx| async {
            sleep(ms(1)).await;
            Ok::<Verdict, BoxError>(explode())
        })
        .fails(Denied).hiding_its_cause().having_run(0);
    edited: |ran| of(target(ran).set_needs_approval(ApprovalPolicy::always()).unwrap()).args(TARGET)
        .approved_by(deciding(ApprovalDecision::Edited(json!({"city": "Rome", "days": 1}).into()), "")).having_run(1);
    edited_to_invalid_arguments_each_time: |ran| of(target(ran).set_needs_approval(ApprovalPolicy::always()).unwrap())
        .args(TARGET).approved_by(deciding(ApprovalDecision::Edited(json!({"city": "Rome"}).into()), ""))
        .fails(Denied).having_run(0);
    answer_to_another_request: |ran| of(gated(ran))
        .approved_by(|_: ApprovalRequest, _: Cx| async {
            Ok::<_, BoxError>(Verdict::new("approval_0", ApprovalDecision::Approved))
        })
        .fails(Denied).saying(&["approval"]).having_run(0);
    policy_of_the_run: |ran| of(plain(ran)).given(|run| run.policy(asking_for("plain")))
        .fails(Denied).having_run(0);
    policy_that_fails: |ran| of(plain(ran).set_needs_approval(ApprovalPolicy::when(
            |_: Value, _| async { Err::<bool, _>(secret_error()) })).unwrap())
        .fails(Denied).hiding_its_cause().having_run(0);
    policy_that_panics: |ran| of(plain(ran).set_needs_approval(ApprovalPolicy::when(
            |_: Value, _| async { explode::<bool>() })).unwrap())
        .fails(Denied).hiding_its_cause().having_run(0);
    policy_that_panics_at_once: |ran| of(plain(ran).set_needs_approval(ApprovalPolicy::when(
            |_: Value, _| -> Ready<bool> { explode() })).unwrap())
        .fails(Denied).hiding_its_cause().having_run(0);
    policy_over_no_parameters: |ran| of(plain(ran).set_needs_approval(ApprovalPolicy::when(|(), _| async { false })).unwrap())
        .having_run(1);
    bad_arguments_require_no_approval: |ran| of(target(ran).set_needs_approval(ApprovalPolicy::always()).unwrap())
        .approved_by(|_: ApprovalRequest, _: Cx| async { Ok::<Verdict, BoxError>(explode()) })
        .fails(InputValidationError).saying(&["\"city\"", "\"days\"", "missing"]).having_run(0);
}

// Permission.
table! {
    not_permitted: |ran| of(plain(ran)).given(|run| run.permit(permit(|| Permission::denied("only on Mondays"))))
        .fails(PermissionDenied).saying(&["only on Mondays"]).having_run(0);
    not_permitted_without_a_reason: |ran| of(plain(ran)).given(|run| run.permit(permit(|| Permission::denied(""))))
        .fails(PermissionDenied).having_run(0);
    not_permitted_comes_before_bad_arguments: |ran| of(target(ran)).args("nonsense")
        .given(|run| run.permit(permit(|| Permission::denied("only on Mondays"))))
        .fails(PermissionDenied).having_run(0);
    hidden: |ran| of(plain(ran).with_name("hidden").unwrap()).given(|run| run.permit(Hider))
        .fails(UnknownTool).saying(&["there is no tool called 'hidden'"]).having_run(0);
    permit_that_fails: |ran| of(plain(ran))
        .given(|run| run.permit(permit(|| Err::<Permission, _>(secret_error()))))
        .fails(PermissionDenied).saying(&["permission check failed"]).hiding_its_cause().having_run(0);
    permit_that_panics: |ran| of(plain(ran)).given(|run| run.permit(permit(explode::<Permission>)))
        .fails(PermissionDenied).hiding_its_cause().having_run(0);
    slow_permit: |ran| of(plain(ran)).given(|run| run.permit(permit(|| Permitting::later(async {
            sleep(ms(30)).await;
            Ok::<_, BoxError>(Permission::Allowed)
        })))).having_run(1);
    slow_permit_that_denies: |ran| of(plain(ran)).given(|run| run.permit(permit(|| Permitting::later(async {
            sleep(ms(30)).await;
            Ok::<_, BoxError>(Permission::denied("only on Mondays"))
        })))).fails(PermissionDenied).saying(&["only on Mondays"]).having_run(0);
    slow_permit_that_panics: |ran| of(plain(ran)).given(|run| run.permit(permit(|| Permitting::later(async {
            sleep(ms(30)).await;
            Ok::<Permission, BoxError>(explode())
        })))).fails(PermissionDenied).hiding_its_cause().having_run(0);
}

/// Creates a call with arguments that [`target`] rejects, with issues.
fn bad_arguments(ran: &Ran, arguments: impl Into<String>) -> Case {
    of(target(ran)).args(arguments).fails(InputValidationError).having_run(0)
}

/// Panics in place of any value.
fn explode<T>() -> T {
    panic!("{SECRET}");
}

fn provider_tool() -> Tool {
    Tool::provider("openai.web_search").with_args(()).define().unwrap()
}

fn failing(error: fn() -> BoxError) -> Tool {
    Tool::new("failing").try_handler_opaque(move |(), _| async move { Err::<(), _>(error()) }).unwrap()
}

fn giving(value: i32, success: Value) -> Tool {
    Tool::new("giving").success_json(success).handler(move |(), _| async move { value }).unwrap()
}

fn giving_early(value: i32, success: Value) -> Tool {
    let run = move |(), _| Outputs::<i32, NoFailure>::values(stream::iter([value, 1]));
    Tool::new("giving_early").success_json(success).stream_handler(run).unwrap()
}

fn failing_against(schema: Value) -> Tool {
    let failure = Schema::json(schema).unwrap();
    Tool::new("t").failure_schema(failure).try_handler(|(), _| async { Err::<(), _>("sold out") }).unwrap()
}

/// Creates a tool with preliminary results and no final one.
fn streaming(count: u8) -> Tool {
    let run = move |(), _| Outputs::<u8, NoFailure>::new(stream::iter(0..count).map(HandlerOutput::Preliminary));
    Tool::new("streaming").stream_handler(run).unwrap()
}

fn cap(bytes: usize) -> Option<OutputCap> {
    NonZeroUsize::new(bytes).map(OutputCap::new)
}

fn capped(cap: Option<OutputCap>) -> ExecutionLimits {
    cap.map_or_else(limits, |cap| limits().output_cap(cap))
}

fn giving_text(cap: Option<OutputCap>) -> Tool {
    Tool::new("giving_text").limits(capped(cap)).handler(|(), _| async { "x".repeat(100) }).unwrap()
}

/// Returns the same tool with a concurrency key.
fn keyed(tool: &Tool) -> Tool {
    tool.with_limits(limits().concurrency(Concurrency::Keyed("one at a time".to_owned()))).unwrap()
}

/// Creates a tool that is denied before its parameters, whose drop panics, were used.
fn holding_fragile_parameters() -> Tool {
    #[derive(JsonSchema)]
    struct Holding {}
    struct Held(#[allow(dead_code, reason = "there to be dropped")] Fragile);
    impl<'de> serde::Deserialize<'de> for Held {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            serde::de::IgnoredAny::deserialize(deserializer)?;
            Ok(Self(Fragile))
        }
    }
    let tool = Tool::new("t").params_schema(Schema::of::<Holding>().unwrap()).handler(|_: Held, _| async {}).unwrap();
    tool.set_needs_approval(ApprovalPolicy::always()).unwrap()
}

/// Never answers an approval request.
async fn nobody(_: ApprovalRequest, _: Cx) -> Result<Verdict, BoxError> {
    pending().await
}

/// Returns a policy that requires approval for calls of one tool.
fn asking_for(name: &'static str) -> ApprovalPolicy {
    ApprovalPolicy::when(move |_: Value, cx| async move { cx.tool == name })
}

#[derive(Serialize, JsonSchema)]
struct Busy;

impl Failure for Busy {
    fn message(&self) -> String {
        "busy".to_owned()
    }

    fn retryable(&self) -> bool {
        true
    }
}

/// A failure whose `Display` fails.
#[derive(Serialize, JsonSchema)]
struct Mute;

impl Failure for Mute {
    fn message(&self) -> String {
        panic!("{SECRET}");
    }
}

/// A permit that hides the tool called `hidden`.
struct Hider;

impl Permit for Hider {
    fn permit(&self, tool: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        assert!(self.sees(tool, None), "nobody is asked about what is hidden");
        Permission::Allowed.into()
    }

    fn sees(&self, tool: &Tool, _: Option<&Caller>) -> bool {
        tool.name() != "hidden"
    }
}

#[tokio::test]
async fn a_hidden_tool_is_indistinguishable_from_a_missing_one() {
    let sound = |name: &str| Tool::new(name).handler(|(), _| async {}).unwrap();
    let with: Toolkit = [sound("hidden"), sound("hidded")].into_iter().collect();
    let without: Toolkit = [sound("hidded")].into_iter().collect();
    for name in ["hidden", "hiden", "Hidden", "hidde", "other"] {
        let call = ToolCall::new("c1", name, "nonsense");
        let hidden = with.run_with([&call], RunOptions::new().permit(Hider)).collect_results().await;
        assert_eq!(hidden, without.run([&call]).collect_results().await, "{name}");
    }
}

#[tokio::test]
async fn a_permit_that_panics_on_a_suggestion_suggests_nothing() {
    struct Blind;
    impl Permit for Blind {
        fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            Permission::Allowed.into()
        }
        fn sees(&self, _: &Tool, _: Option<&Caller>) -> bool {
            panic!("{SECRET}")
        }
    }
    let kit: Toolkit = [Tool::new("seen").handler(|(), _| async {}).unwrap()].into_iter().collect();
    let results =
        kit.run_with([ToolCall::new("c1", "sean", "{}")], RunOptions::new().permit(Blind)).collect_results().await;
    assert_eq!(results[0].failure().unwrap().message, "there is no tool called 'sean'; there are no tools");
}

#[tokio::test]
async fn a_complete_text_is_not_marked_as_truncated() {
    let limits = capped(cap(15).map(|cap| cap.on_overflow(OnOverflow::Truncate)));
    let tool = Tool::new("lines").limits(limits).handler(|(), _| async { "\n".repeat(10) }).unwrap();
    let kit: Toolkit = [tool].into_iter().collect();
    let result = kit.run_call(&ToolCall::new("c1", "lines", "{}")).await;
    assert_eq!(result.to_call_output().output.to_string(), "\n".repeat(10));
}
