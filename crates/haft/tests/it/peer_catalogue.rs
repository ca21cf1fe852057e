//! The tests of two other tool libraries, case by case: our counterpart, or the reason that there is none.
//!
//! `effect` lists the numbered cases of one library, `uai` those of the other by file. The tests below are ports of
//! cases that had no counterpart.

mod effect;
mod uai;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft::JsonSchema;
use haft::approval::{ApprovalCx, ApprovalPolicy, ApprovalRequest, Suspend};
use haft::conversation::{
    CallOutputBody, ContentPart, Delta, Finish, Item, MediaData, ResourceContents, ResourceLinkPart, ToolCallOutput,
    Turn, TurnRequest,
};
use haft::model::{LanguageModel, LoopEnd, LoopEvent, ScriptedModel, TurnLoop};
use haft::run::{RunOptions, ToolCall, ToolEvent, ToolResult};
use haft::tool::{Cx, EmitBuffer, ExecutionLimits, HandlerError, Tool};
use haft::toolkit::Toolkit;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::running::{failure, value};
use crate::source::{Evidence, TestIndex};

/// The reasons that a case may have no counterpart.
const MCP: &str = "MCP: there is no server and no client of that protocol";
const INCREMENTAL: &str = "every request has the whole history; an option of the provider names an earlier response";
const NOT_IN_RUST: &str = "not in Rust: the compiler excludes the case";
const REASONS: [&str; 3] = [MCP, INCREMENTAL, NOT_IN_RUST];

/// Returns the reason that a case is not accounted for, if it is not.
fn fault(evidence: Evidence, index: &mut TestIndex) -> Option<String> {
    match evidence {
        Evidence::NotTested(reason) if !REASONS.contains(&reason) => Some(format!("\"{reason}\" is no known reason")),
        evidence => evidence.fault(index, "none"),
    }
}

// What a provider executed.

/// Creates a kit with a tool that its provider executes.
fn hosted() -> Toolkit {
    let search = Tool::provider("vendor.web_search").custom_name("VendorSearch").params::<String>();
    Toolkit::from_iter([search.success::<Vec<String>>().failure::<String>().with_args(()).define().unwrap()])
}

/// A success and a failure of the provider are part of its turn; they pass through the loop unchanged and are not run.
#[tokio::test]
async fn results_of_the_provider_pass_through_a_loop() {
    let call = |id: &str| ToolCall::new(id, "VendorSearch", "\"rust\"").executed_by_provider();
    let items: Vec<Item> = vec![
        call("good").into(),
        ToolCallOutput::new("good", r#"["a","b"]"#).tool("VendorSearch").into(),
        call("bad").into(),
        ToolCallOutput::new("bad", "\"quota\"").tool("VendorSearch").error().into(),
        Item::assistant("found"),
    ];
    let model = ScriptedModel::default().then(Turn::new(items.clone(), Finish::Stop));
    let request = TurnRequest::new("any", vec![Item::user("search")]);
    let outcome = TurnLoop::new(model, hosted()).start(request).finish().await;
    assert_eq!((outcome.end, outcome.state.calls()), (LoopEnd::Stopped, 0));
    assert_eq!(outcome.state.history()[1..], items);
    assert!(outcome.state.history()[1..5].iter().all(|item| match item {
        Item::ToolCall(call) => call.provider_executed,
        Item::ToolOutput(output) => output.is_error == (output.call_id == "bad"),
        _ => false,
    }));

    // Both are checked by the schemas of the tool, and read like any other result.
    let results = hosted().provider_results(outcome.state.history());
    assert_eq!(results.iter().map(|result| result.call_id.as_str()).collect::<Vec<_>>(), ["good", "bad"]);
    assert_eq!(value(&results[0]), json!(["a", "b"]));
    assert_eq!(failure(&results[1]).0, "tool_failed");
    assert_eq!(results[1].failure().unwrap().details.as_ref().unwrap().to_value(), json!("quota"));
}

// Calls that the application reads before it runs them.

/// A number that a model writes as text.
#[derive(Debug, JsonSchema)]
struct Written(#[schemars(with = "String")] u32);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(serde::de::Error::custom)
    }
}

fn double() -> Tool {
    Tool::new("double").handler(|number: Written, _cx| async move { number.0 * 2 }).unwrap()
}

/// Without a loop the calls of a turn are data: they are validated on request, stay encoded, and a run takes them as
/// they are.
#[tokio::test]
async fn calls_are_read_without_being_run_and_stay_encoded() {
    let kit = Toolkit::from_iter([double()]);
    let calls = [ToolCall::new("c1", "double", "\"21\""), ToolCall::new("c2", "double", "21")];
    let model = ScriptedModel::default().then(calls.clone()).then(calls);
    let request = TurnRequest::new("any", vec![Item::user("double it")]).tools(&kit);
    // The whole turn at once, and the same from its stream.
    let whole = model.stream_turn(&request).into_turn().await.unwrap();
    let mut stream = model.stream_turn(&request);
    let mut streamed = None;
    while let Some(delta) = stream.next().await {
        if let Delta::TurnComplete(turn) = delta.unwrap() {
            streamed = Some(*turn);
        }
    }
    for turn in [whole, streamed.unwrap()] {
        let calls = turn.tool_calls();
        assert_eq!(calls[0].arguments, "\"21\"", "as the model wrote it");
        let tool = kit.get("double").unwrap();
        assert_eq!(tool.decode_args::<Written>(&calls[0]).unwrap().0, 21);
        assert_eq!(tool.decode_args::<Written>(&calls[1]).unwrap_err().kind.as_str(), "input_validation_error");
        let results = kit.run(&calls).collect_results().await;
        assert_eq!(value(&results[0]), json!(42));
        assert_eq!(failure(&results[1]).0, "input_validation_error");
    }
}

/// Unknown names and unreadable arguments stay in the turn until somebody decides about them.
#[tokio::test]
async fn unknown_names_and_unreadable_arguments_are_kept() {
    let calls = [ToolCall::new("c1", "nothing_like_it", "{\"a\":"), ToolCall::new("c2", "double", "not json")];
    let model = ScriptedModel::default().then(calls.clone());
    let turn = model.stream_turn(&TurnRequest::new("any", vec![Item::user("go")])).into_turn().await.unwrap();
    assert_eq!(turn.tool_calls(), calls);
    let results = Toolkit::from_iter([double()]).run(turn.tool_calls()).collect_results().await;
    assert_eq!((failure(&results[0]).0, failure(&results[1]).0), ("unknown_tool", "input_validation_error"));
}

// Concurrency.

/// Equal calls that run at the same time each know their own id.
#[tokio::test]
async fn equal_calls_have_their_own_ids() {
    let both = Arc::new(tokio::sync::Barrier::new(2));
    let tool = Tool::new("id").handler(move |_: u8, cx: Cx| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            cx.call_id().to_string()
        }
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let results = kit.run([ToolCall::new("c1", "id", "1"), ToolCall::new("c2", "id", "1")]).collect_results().await;
    assert_eq!(results.iter().map(value).collect::<Vec<_>>(), [json!("c1"), json!("c2")]);
}

/// Counts how many run at the same time, and the most that ever did.
#[derive(Clone, Default)]
struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    async fn second(&self) {
        let (now, most) = &*self.0;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        sleep(Duration::from_secs(1)).await;
        now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// The other library evaluates approvals inside the concurrency limit. Here a policy holds no slot: what may wait for a
/// person must not keep calls from running that need no approval. Handlers stay within the limit.
#[tokio::test(start_paused = true)]
async fn policies_are_evaluated_at_once_and_handlers_within_the_limit() {
    let (policies, handlers) = (Gauge::default(), Gauge::default());
    let (deciding, working) = (policies.clone(), handlers.clone());
    let policy = ApprovalPolicy::when(move |_: u8, _: ApprovalCx| {
        let deciding = deciding.clone();
        async move {
            deciding.second().await;
            false
        }
    });
    let tool = Tool::new("work").needs_approval(policy).handler(move |n: u8, _cx| {
        let working = working.clone();
        async move {
            working.second().await;
            n
        }
    });
    let kit: Toolkit = Toolkit::from_iter([tool.unwrap()]);
    let calls = (0..6).map(|n| ToolCall::new(format!("c{n}"), "work", n.to_string()));
    let results = kit.run_with(calls, RunOptions::new().concurrency(2)).collect_results().await;
    assert_eq!(results.iter().map(value).collect::<Vec<_>>(), (0..6).map(|n| json!(n)).collect::<Vec<_>>());
    assert_eq!((policies.most(), handlers.most()), (6, 2));
}

// Preliminary results.

fn counting(buffer: Option<EmitBuffer>, sent: Arc<AtomicUsize>) -> Toolkit {
    let mut builder = Tool::new("count");
    if let Some(buffer) = buffer {
        builder = builder.limits(ExecutionLimits::new().emit_buffer(buffer));
    }
    let tool = builder.try_handler_mixed(move |to: usize, cx: Cx| {
        let sent = Arc::clone(&sent);
        async move {
            for n in 1..to {
                cx.preliminary(n).await?;
                sent.fetch_add(1, Ordering::SeqCst);
            }
            Ok::<_, HandlerError>(to)
        }
    });
    Toolkit::from_iter([tool.unwrap()])
}

/// Of all results only the final one enters the history, and the next request.
#[tokio::test]
async fn only_the_final_result_is_kept() {
    let model = ScriptedModel::default().then([ToolCall::new("c1", "count", "4")]).then("counted");
    let agent = TurnLoop::new(model.clone(), counting(None, Arc::default()));
    let mut run = agent.start(TurnRequest::new("any", vec![Item::user("count")]));
    let mut early = Vec::new();
    while let Some(event) = run.next().await {
        if let LoopEvent::Tool(ToolEvent::Preliminary { value, .. }) = event {
            early.push(value.to_value());
        }
    }
    assert_eq!(early, [json!(1), json!(2), json!(3)]);
    let outputs: Vec<_> = model.requests()[1]
        .history
        .iter()
        .filter_map(|item| match item {
            Item::ToolOutput(output) => Some(output.output.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(outputs, ["4"]);
}

/// The queue of preliminary results is bounded by the tool's buffer, or not at all on request.
#[tokio::test]
async fn preliminary_results_wait_for_their_reader() {
    let bounded = |size| Some(EmitBuffer::Bounded(NonZeroUsize::new(size).unwrap()));
    for (buffer, ahead) in [(bounded(1), 1), (bounded(5), 5), (None, 64), (Some(EmitBuffer::Unbounded), 99)] {
        let sent = Arc::new(AtomicUsize::new(0));
        let kit = counting(buffer, Arc::clone(&sent));
        let mut run = kit.run([ToolCall::new("c1", "count", "100")]);
        let first = tokio::task::unconstrained(run.next()).await.unwrap();
        assert!(matches!(first, ToolEvent::Preliminary { .. }));
        assert_eq!(sent.load(Ordering::SeqCst), ahead, "{buffer:?}");
        let results = run.collect_results().await;
        assert_eq!(value(&results[0]), json!(100));
    }
}

// Approvals.

fn gated(ran: &Arc<Mutex<Vec<u8>>>) -> Toolkit {
    let ran = Arc::clone(ran);
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u8, _cx| {
        ran.lock().unwrap().push(cents);
        async move { cents }
    });
    Toolkit::from_iter([pay.unwrap()])
}

/// Suspends one call of `pay` in a loop and returns its state.
async fn waiting(kit: &Toolkit) -> (haft::model::LoopState, ApprovalRequest) {
    let model = ScriptedModel::default().then([ToolCall::new("c1", "pay", "5")]);
    let agent = TurnLoop::new(model, kit.clone()).options(RunOptions::new().approvals(Suspend));
    let outcome = agent.start(TurnRequest::new("any", vec![Item::user("pay")])).finish().await;
    let LoopEnd::Waiting { approvals, .. } = &outcome.end else { panic!("{:?}", outcome.end) };
    let request = approvals[0].clone();
    (outcome.state, request)
}

/// The result of a call that was approved meanwhile is an event, before the model is asked.
#[tokio::test]
async fn the_result_of_an_approved_call_is_an_event_before_the_next_turn() {
    let ran = Arc::default();
    let kit = gated(&ran);
    let (mut state, request) = waiting(&kit).await;
    let model = ScriptedModel::default().then("thanks");
    let agent = TurnLoop::new(model.clone(), kit);
    agent.verdict(&mut state, request.approve()).unwrap();
    let mut run = agent.start(state);
    let mut told = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            LoopEvent::Tool(event) => told.extend(event.result().map(|result| value(result).to_string())),
            LoopEvent::TurnStarted { .. } => told.push("asked".to_owned()),
            _ => {}
        }
    }
    assert_eq!(told, ["5", "asked"]);
    assert_eq!(*ran.lock().unwrap(), [5]);
    let sent = &model.requests()[0].history;
    assert!(sent.iter().all(|item| !matches!(item, Item::ApprovalRequest(_) | Item::Verdict(_))), "{sent:?}");
}

/// A denial needs no reason, and the model still reads a complete sentence.
#[tokio::test]
async fn a_denial_without_a_reason_is_a_result() {
    let ran = Arc::default();
    let kit = gated(&ran);
    let calls = [ToolCall::new("c1", "pay", "5")];
    let asked = kit.plan_from_map(RunOptions::new(), [], &calls).await.requests;
    let mut silent = asked[0].deny("");
    silent.reason = None;
    for verdict in [asked[0].deny(""), silent] {
        let plan = kit.plan_from_map(RunOptions::new(), [verdict], &calls).await;
        let results = kit.run(plan).collect_results().await;
        let (kind, message) = failure(&results[0]);
        assert_eq!(kind, "denied");
        assert!(message.split_whitespace().count() > 2, "{message:?}");
    }
    assert!(ran.lock().unwrap().is_empty());
}

// Failures.

/// A value that serde cannot write.
#[derive(JsonSchema)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("no form"))
    }
}

/// Each failure about a tool: may the model try again, what does it read, and is it read back as it was?
#[tokio::test]
async fn failures_about_tools_have_their_flags_and_messages() {
    let kit: Toolkit = Toolkit::from_iter([
        double(),
        Tool::new("lies").success_json(json!({"type": "integer"})).handler(|(), _cx| async { "text" }).unwrap(),
        Tool::new("unwritable").handler(|(), _cx| async { Unwritable }).unwrap(),
    ]);
    for (name, arguments, kind, retryable, started, message) in [
        ("ghost", "{}", "unknown_tool", true, false, "the tools are 'double', 'lies', 'unwritable'"),
        ("double", "7", "input_validation_error", true, false, "must be a string"),
        ("lies", "{}", "output_validation_error", false, true, "must be an integer"),
        ("unwritable", "{}", "output_validation_error", false, true, "could not be written as JSON"),
    ] {
        let result = kit.run_call(&ToolCall::new("c1", name, arguments)).await;
        let failure = result.failure().unwrap();
        assert_eq!((failure.kind.as_str(), failure.retryable, failure.started), (kind, retryable, started), "{name}");
        assert!(failure.message.contains(message), "{name}: {}", failure.message);
        let read: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
        assert_eq!(read, result);
    }
    let none = Toolkit::<()>::new().run_call(&ToolCall::new("c1", "ghost", "{}")).await;
    assert!(failure(&none).1.contains("there are no tools"));
}

// Results.

/// Text, a picture, a sound, a link, an embedded resource: the model reads the parts in their order.
#[tokio::test]
async fn a_result_has_content_of_every_kind_in_order() {
    let parts = vec![
        ContentPart::text("a table"),
        ContentPart::image("image/png", MediaData::Base64("aQ==".to_owned())),
        ContentPart::audio("audio/wav", MediaData::Base64("aQ==".to_owned())),
        ContentPart::ResourceLink(ResourceLinkPart::new("file:///a.md", "a.md")),
        ContentPart::resource("file:///b.md", ResourceContents::Text("# B".to_owned())),
        ContentPart::text("the end"),
    ];
    let given = parts.clone();
    let tool =
        Tool::new("show").to_model_output(move |_: &u8| given.clone()).handler(|(), _cx| async { 6_u8 }).unwrap();
    let result = Toolkit::from_iter([tool]).run_call(&ToolCall::new("c1", "show", "")).await;
    assert_eq!(value(&result), json!(6), "structured, beside what the model reads");
    assert_eq!(result.to_call_output().output, CallOutputBody::Parts(parts));
}

/// The schema of a type may be written by hand.
#[tokio::test]
async fn a_type_may_bring_its_own_schema() {
    fn even(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "multipleOf": 2, "title": "Even"})
    }
    #[derive(Deserialize, JsonSchema)]
    struct Params {
        #[schemars(schema_with = "even")]
        number: u32,
    }
    let tool = Tool::new("half").handler(|params: Params, _cx| async move { params.number / 2 }).unwrap();
    assert_eq!(tool.json_schema()["properties"]["number"]["title"], "Even");
    let kit: Toolkit = Toolkit::from_iter([tool]);
    assert_eq!(value(&kit.run_call(&ToolCall::new("c1", "half", r#"{"number":4}"#)).await), json!(2));
    let odd = kit.run_call(&ToolCall::new("c1", "half", r#"{"number":5}"#)).await;
    assert_eq!(odd.failure().unwrap().issues.as_slice()[0].keyword, "multipleOf");
}

// Types.

/// A function may be generic over the state that a toolkit lacks.
fn described<S: 'static>(kit: &Toolkit<S>) -> Vec<String> {
    kit.descriptors().iter().map(|tool| tool.name.clone()).collect()
}

/// Adds a tool to any toolkit, whatever it lacks.
fn with_double<S: 'static>(kit: Toolkit<S>) -> Toolkit<S> {
    kit.with(double()).unwrap()
}

#[test]
fn functions_are_generic_over_toolkits() {
    struct App;
    let complete: Toolkit = with_double(Toolkit::new());
    let lacking: Toolkit<App> = with_double(Toolkit::new());
    assert_eq!((described(&complete), described(&lacking)), (vec!["double".to_owned()], vec!["double".to_owned()]));
    assert_eq!(described(&lacking.provide(App)), ["double"]);
}

#[tokio::test]
async fn no_toolkit_is_an_empty_one() {
    let request = TurnRequest::new("any", vec![Item::user("hi")]);
    assert!(request.tools.is_empty());
    let empty: Toolkit = Toolkit::new();
    empty.ensure_runnable().unwrap();
    assert_eq!(request.clone().tools(&empty).tools, request.tools);
    let model = ScriptedModel::default().then("hello");
    let outcome = TurnLoop::new(model.clone(), empty.clone()).start(request).finish().await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "hello"));
    assert_eq!(failure(&empty.run_call(&ToolCall::new("c1", "any", "{}")).await).0, "unknown_tool");
}
