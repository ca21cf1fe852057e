//! Tracing spans and metrics of requests to models, and of loops.

use std::time::Duration;

use futures_util::FutureExt;
use haft_core::{Delta, Finish, Item, OutputFormat, ToolCall, Turn, TurnRequest, Usage};
use haft_executor::{Tool, Toolkit};
use haft_model::{
    LanguageModel, LanguageModelExt, ModelError, ModelInfo, ModelTrace, ProviderMessage, ScriptedModel, ScriptedTurn,
    TurnLoop, TurnStream,
};
use haft_schema::isolation::isolated;
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::recorder::{EventRecord, Recorder, Seen, SpanRecord};

const SECRET: &str = "hunter2-hunter2";

fn request() -> TurnRequest {
    TurnRequest::new("m1", vec![Item::user(SECRET)]).instructions(SECRET)
}

fn span<'a>(seen: &'a Seen, name: &str) -> &'a SpanRecord {
    let mut named = seen.spans.iter().filter(|span| span.name == name);
    let found = named.next().unwrap_or_else(|| panic!("no span {name}"));
    assert!(named.next().is_none(), "several spans {name}");
    found
}

fn assert_closed(seen: &Seen) {
    for span in &seen.spans {
        assert!(span.is_closed && span.entered == span.left, "{span:?}");
    }
}

fn assert_fields(span: &SpanRecord, fields: &[(&str, &str)]) {
    for (field, value) in fields {
        assert_eq!(span.get(field), Some(*value), "{field}");
    }
}

/// Requests one turn in a span, and records everything meanwhile.
async fn watched(model: impl LanguageModel, request: TurnRequest) -> Seen {
    Recorder::watch(async move {
        let _ = ModelTrace::new().stream_turn(&model, &request).into_turn().await;
    })
    .await
}

/// A model whose stream a function creates.
struct Custom<F>(F);

impl<F: Fn() -> TurnStream + Send + Sync> LanguageModel for Custom<F> {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test").model("custom")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        (self.0)()
    }
}

#[tokio::test]
async fn a_request_is_a_span_by_the_conventions() {
    let usage = Usage::new(10, 5).cache_read(4).cache_write(3).reasoning(2);
    let turn = Turn::new(vec![Item::assistant("hi")], Finish::Stop).usage(usage).response_id("r1").model("m1-2026");
    let request = request()
        .temperature(0.5)
        .top_p(0.25)
        .max_output_tokens(100)
        .stop("END")
        .stop("\"")
        .output_format(OutputFormat::new("answer", json!({})));
    let seen = watched(ScriptedModel::new([turn]).named(ModelInfo::new("openai")), request).await;
    let span = span(&seen, "chat");
    assert_eq!((span.target, span.level), ("haft", tracing::Level::INFO));
    for (field, value) in [
        ("otel.name", "chat m1"),
        ("otel.kind", "client"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "m1"),
        ("gen_ai.request.stream", "true"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.request.top_p", "0.25"),
        ("gen_ai.request.max_tokens", "100"),
        ("gen_ai.request.stop_sequences", r#"["END","\""]"#),
        ("gen_ai.output.type", "json"),
    ] {
        assert_eq!(span.at_start(field), Some(value), "{field}");
    }
    assert_fields(
        span,
        &[
            ("gen_ai.response.id", "r1"),
            ("gen_ai.response.model", "m1-2026"),
            ("gen_ai.response.finish_reasons", r#"["stop"]"#),
            ("gen_ai.usage.input_tokens", "10"),
            ("gen_ai.usage.output_tokens", "5"),
            ("gen_ai.usage.cache_read.input_tokens", "4"),
            ("gen_ai.usage.cache_creation.input_tokens", "3"),
            ("gen_ai.usage.reasoning.output_tokens", "2"),
        ],
    );
    for absent in ["error.type", "otel.status_code", "http.response.status_code"] {
        assert_eq!(span.get(absent), None, "{absent}");
    }
    assert_closed(&seen);
}

#[tokio::test]
async fn what_is_unset_or_unknown_is_not_recorded() {
    let plain = TurnRequest::new("", vec![Item::user("go")]);
    let seen = watched(Custom(|| TurnStream::of([Ok(Delta::complete(turn("hi")))])), plain.clone()).await;
    let custom = span(&seen, "chat");
    assert_fields(custom, &[("otel.name", "chat custom"), ("gen_ai.request.model", "custom")]);
    let absent = ["request.temperature", "request.stop_sequences", "output.type", "response.id", "usage.input_tokens"];
    for absent in absent {
        assert_eq!(custom.get(&format!("gen_ai.{absent}")), None, "{absent}");
    }
    let seen = watched(ScriptedModel::new(["hi"]), plain).await;
    assert_fields(span(&seen, "chat"), &[("otel.name", "chat")]);
    assert_eq!(span(&seen, "chat").get("gen_ai.request.model"), None);
}

fn turn(text: &str) -> Turn {
    Turn::new(vec![Item::assistant(text)], Finish::Stop)
}

#[tokio::test]
async fn an_error_is_recorded_by_its_kind() {
    let message = ProviderMessage::new("slow down").provider("openai").status(429).request_id("req_1");
    let limited = ModelError::RateLimited { message, retry_after: None };
    let seen = watched(ScriptedModel::new([ScriptedTurn::failed(limited)]), request()).await;
    let failed = span(&seen, "chat");
    assert_fields(
        failed,
        &[
            ("error.type", "rate_limited"),
            ("otel.status_code", "ERROR"),
            ("http.response.status_code", "429"),
            ("haft.request_id", "req_1"),
        ],
    );
    let [event] = &seen.events[..] else { panic!("{:?}", seen.events) };
    assert_eq!((event.get("kind"), event.inside), (Some("rate_limited"), Some(failed.id)));
    assert!(event.get("cause").unwrap().contains("slow down"));

    let incomplete = ScriptedModel::new([ScriptedTurn::text("hel").incomplete()]);
    let seen = watched(incomplete, request()).await;
    assert_fields(span(&seen, "chat"), &[("error.type", "incomplete_turn"), ("otel.status_code", "ERROR")]);
    assert_closed(&seen);
}

#[tokio::test]
async fn a_stream_that_is_dropped_is_cancelled() {
    let usage = Delta::UsageUpdate(Usage::new(3, 1));
    for polls in 0..2 {
        let model = Custom(|| {
            let usage = usage.clone();
            TurnStream::spawn(|out| async move {
                out.send(usage).await?;
                std::future::pending::<Result<(), _>>().await
            })
        });
        let seen = Recorder::watch(async {
            let mut stream = ModelTrace::new().stream_turn(&model, &request());
            for _ in 0..polls {
                assert!(stream.next().await.is_some());
                assert!(stream.next().now_or_never().is_none());
            }
        })
        .await;
        let span = span(&seen, "chat");
        assert_fields(span, &[("error.type", "cancelled"), ("otel.status_code", "ERROR")]);
        assert_eq!(span.get("gen_ai.usage.input_tokens"), (polls == 1).then_some("3"));
        assert_closed(&seen);
    }
}

#[tokio::test]
async fn a_panic_of_the_model_is_recorded_and_leaves_the_span() {
    let opening = Custom(|| panic!("no stream"));
    let polling = Custom(|| TurnStream::spawn(|_out| async { panic!("no delta") as Result<(), _> }));
    let models: [&dyn LanguageModel; 2] = [&opening, &polling];
    for model in models {
        let seen = Recorder::watch(async {
            let asked = isolated(|| {
                let mut stream = ModelTrace::new().stream_turn(model, &request());
                drop(stream.next().now_or_never());
            });
            assert!(asked.is_err());
        })
        .await;
        assert_fields(span(&seen, "chat"), &[("error.type", "panicked"), ("otel.status_code", "ERROR")]);
        assert_closed(&seen);
    }
}

/// A model that traces each of its steps, and waits a second before each.
fn chatty() -> Custom<impl Fn() -> TurnStream + Send + Sync> {
    Custom(|| {
        TurnStream::spawn(|out| async move {
            for step in 0..3_u8 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                tracing::info!(target: "app", step);
                out.send(Delta::text("a")).await?;
            }
            Ok(turn("aaa").usage(Usage::new(10, 5)).model("custom-1"))
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_inside_of_its_span_whichever_task_polls_it() {
    let seen = Recorder::watch(async {
        let mut stream = ModelTrace::new().stream_turn(&chatty(), &request());
        let first = tokio::spawn(async move {
            assert!(stream.next().await.is_some());
            stream
        });
        let mut stream = first.await.unwrap();
        // Between two polls nothing is inside of the span.
        tracing::info!(target: "app", "between");
        let second = tokio::spawn(async move { while stream.next().await.is_some() {} });
        second.await.unwrap();
    })
    .await;
    let chat = span(&seen, "chat");
    let inside: Vec<_> = seen.events.iter().map(|event| event.inside.is_some()).collect();
    assert_eq!(inside, [true, false, true, true]);
    assert!(chat.entered > 3 && seen.events.iter().filter_map(|event| event.inside).all(|id| id == chat.id));
    assert_closed(&seen);
}

fn metric<'a>(seen: &'a Seen, name: &str) -> Vec<&'a EventRecord> {
    seen.metrics.iter().filter(|event| event.get(name).is_some()).collect()
}

#[tokio::test(start_paused = true)]
async fn durations_and_tokens_are_metrics() {
    let seen = watched(chatty(), request()).await;
    let [duration] = metric(&seen, "histogram.gen_ai.client.operation.duration")[..] else { panic!("{seen:?}") };
    for (field, value) in [
        ("histogram.gen_ai.client.operation.duration", "3.0"),
        ("histogram.gen_ai.client.operation.time_to_first_chunk", "1.0"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "test"),
        ("gen_ai.request.model", "custom"),
        ("gen_ai.response.model", "custom-1"),
    ] {
        assert_eq!(duration.get(field), Some(value), "{field}");
    }
    assert_eq!(duration.get("error.type"), None);
    assert_fields(span(&seen, "chat"), &[("gen_ai.response.time_to_first_chunk", "1.0")]);
    let tokens: Vec<_> = metric(&seen, "histogram.gen_ai.client.token.usage")
        .iter()
        .map(|event| (event.get("gen_ai.token.type"), event.get("histogram.gen_ai.client.token.usage")))
        .collect();
    assert_eq!(tokens, [(Some("input"), Some("10")), (Some("output"), Some("5"))]);

    let seen = watched(ScriptedModel::new([ScriptedTurn::failed(ModelError::Cancelled)]), request()).await;
    let [failed] = &seen.metrics[..] else { panic!("{:?}", seen.metrics) };
    assert_eq!(failed.get("error.type"), Some("cancelled"));
    assert_eq!(failed.get("histogram.gen_ai.client.operation.time_to_first_chunk"), None);
}

/// Returns every recorded value.
fn recorded(seen: &Seen) -> String {
    let spans = seen.spans.iter().flat_map(|span| span.fields.values());
    let events = seen.events.iter().chain(&seen.metrics).flat_map(|event| event.fields.values());
    spans.chain(events).cloned().collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn messages_are_recorded_on_request_only() {
    let tools: Toolkit = Toolkit::from_iter([Tool::new("look").handler(|text: String, _cx| async { text }).unwrap()]);
    let script = || {
        let call = ToolCall::new("c1", "look", format!("{SECRET:?}"));
        ScriptedModel::default().then([call]).then(SECRET)
    };
    let agent = TurnLoop::new(script(), tools.clone());
    let seen = Recorder::watch(agent.start(request()).finish()).await;
    assert_eq!(seen.spans.len(), 4);
    assert!(!recorded(&seen).contains(SECRET));

    let agent = TurnLoop::new(script(), tools).trace(ModelTrace::new().with_content());
    let seen = Recorder::watch(agent.start(request()).finish()).await;
    let chats: Vec<_> = seen.spans.iter().filter(|span| span.name == "chat").collect();
    let part = json!({"type": "text", "content": SECRET});
    let user = json!({"role": "user", "parts": [part]});
    assert_fields(
        chats[0],
        &[
            ("gen_ai.system_instructions", &json!([part]).to_string()),
            ("gen_ai.input.messages", &json!([user]).to_string()),
            ("gen_ai.tool.definitions", r#"[{"type":"function","name":"look"}]"#),
        ],
    );
    let answer = json!([{"role": "assistant", "parts": [part], "finish_reason": "stop"}]);
    assert_fields(chats[1], &[("gen_ai.output.messages", &answer.to_string())]);
    // What a tool may mark as secret is not recorded here.
    assert!(!chats[1].get("gen_ai.input.messages").unwrap().contains("arguments"));
}

fn kit() -> Toolkit {
    Toolkit::from_iter([Tool::new("double").handler(|n: i64, _cx| async move { n * 2 }).unwrap()])
}

fn calling() -> ScriptedModel {
    ScriptedModel::default()
        .then(ScriptedTurn::calls([ToolCall::new("c1", "double", "4")]).usage(Usage::new(10, 1)))
        .then(ScriptedTurn::text("8").usage(Usage::new(20, 2).cache_read(5)))
}

#[tokio::test]
async fn requests_and_calls_of_a_loop_are_inside_of_its_span() {
    let agent = TurnLoop::new(calling(), kit()).name("doubler");
    let seen = Recorder::watch(async {
        let mut run = agent.start(request());
        while run.next().await.is_some() {
            // The reader is not inside.
            tracing::info!(target: "app", "read");
        }
    })
    .await;
    let agent = span(&seen, "invoke_agent");
    for (field, value) in [
        ("otel.name", "invoke_agent doubler"),
        ("otel.kind", "internal"),
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "doubler"),
        ("gen_ai.provider.name", "scripted"),
        ("gen_ai.request.model", "m1"),
    ] {
        assert_eq!(agent.at_start(field), Some(value), "{field}");
    }
    assert_fields(
        agent,
        &[
            ("gen_ai.usage.input_tokens", "30"),
            ("gen_ai.usage.output_tokens", "3"),
            ("gen_ai.usage.cache_read.input_tokens", "5"),
            ("haft.turns", "2"),
            ("haft.calls", "1"),
            ("haft.end", "stopped"),
        ],
    );
    assert_eq!((agent.parent, agent.get("error.type")), (None, None));
    let children: Vec<_> = seen.spans.iter().skip(1).map(|span| (span.name, span.parent)).collect();
    assert_eq!(children, ["chat", "execute_tool", "chat"].map(|name| (name, Some(agent.id))));
    assert!(!seen.events.is_empty() && seen.events.iter().all(|event| event.inside.is_none()));
    let durations = metric(&seen, "histogram.gen_ai.invoke_agent.duration");
    assert_eq!(durations[0].get("gen_ai.agent.name"), Some("doubler"));
    assert_closed(&seen);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_a_span() {
    let busy = ModelError::RateLimited { message: "busy".into(), retry_after: None };
    let agent = TurnLoop::new(ScriptedModel::default().then(busy).then("hi"), kit());
    let seen = Recorder::watch(agent.start(request()).finish()).await;
    let errors: Vec<_> = seen.spans.iter().map(|span| (span.name, span.get("error.type"))).collect();
    assert_eq!(errors, [("invoke_agent", None), ("chat", Some("rate_limited")), ("chat", None)]);
}

#[tokio::test]
async fn the_end_of_a_loop_is_recorded() {
    let run = |model: ScriptedModel| TurnLoop::new(model, kit()).max_turns(1).start(request());
    let failing = ModelError::Authentication { message: "no".into() };
    for (model, end, error) in [
        (ScriptedModel::new(["hi"]), "stopped", None),
        (calling(), "max_turns", None),
        (ScriptedModel::default().then(failing), "failed", Some("authentication")),
        (ScriptedModel::new([Turn::new(Vec::new(), Finish::Stop)]), "failed", Some("empty_turn")),
    ] {
        let seen = Recorder::watch(run(model).finish()).await;
        let agent = span(&seen, "invoke_agent");
        assert_eq!((agent.get("haft.end"), agent.get("error.type")), (Some(end), error));
        assert_eq!(agent.get("otel.status_code"), error.map(|_| "ERROR"));
        assert_eq!(agent.get("otel.name"), Some("invoke_agent"));
        assert_closed(&seen);
    }
    let pending = run(ScriptedModel::new([ScriptedTurn::pending()]));
    pending.cancel();
    let seen = Recorder::watch(pending.finish()).await;
    assert_fields(span(&seen, "invoke_agent"), &[("haft.end", "cancelled"), ("error.type", "cancelled")]);
}

#[tokio::test]
async fn a_loop_that_is_dropped_closes_all_of_its_spans() {
    let endless = Tool::new("endless").handler(|(), _cx| std::future::pending::<()>()).unwrap();
    let model = ScriptedModel::default().then([ToolCall::new("c1", "endless", "")]);
    let agent = TurnLoop::new(model, Toolkit::from_iter([endless]));
    let seen = Recorder::watch(async {
        let mut run = agent.start(request());
        // Until the call waits.
        while run.next().now_or_never().is_some() {}
    })
    .await;
    let errors: Vec<_> = seen.spans.iter().map(|span| (span.name, span.get("error.type"))).collect();
    assert_eq!(errors, [("invoke_agent", Some("cancelled")), ("chat", None), ("execute_tool", Some("cancelled"))]);
    assert_closed(&seen);
    // A run that was never polled did nothing.
    let seen = Recorder::watch(async { drop(agent.start(request())) }).await;
    assert!(seen.spans.is_empty());
}

#[tokio::test]
async fn a_state_that_is_continued_counts_what_is_new() {
    let done = TurnLoop::new(calling(), kit()).start(request()).finish().await.state;
    let model = ScriptedModel::new([ScriptedTurn::text("9").usage(Usage::new(7, 1))]);
    let mut state = done;
    state.request_mut().history.push(Item::user("And nine?"));
    let seen = Recorder::watch(TurnLoop::new(model, kit()).start(state).finish()).await;
    let agent = span(&seen, "invoke_agent");
    assert_fields(agent, &[("haft.turns", "1"), ("haft.calls", "0"), ("gen_ai.usage.input_tokens", "7")]);
}

#[tokio::test]
async fn requests_for_a_value_are_traced() {
    let model = ScriptedModel::new(["many", "3"]);
    let seen = Recorder::watch(async { model.object::<u8>(request()).await.unwrap() }).await;
    assert_eq!(seen.spans.iter().map(|span| span.name).collect::<Vec<_>>(), ["chat", "chat"]);
    assert!(!recorded(&seen).contains(SECRET));
    assert_fields(&seen.spans[0], &[("gen_ai.output.type", "json")]);
}

#[tokio::test]
async fn a_subscriber_that_is_not_interested_receives_nothing() {
    let agent = TurnLoop::new(calling(), kit());
    let seen = Recorder::deaf_to("haft").watching(agent.start(request()).finish()).await;
    assert!(seen.spans.is_empty() && seen.events.is_empty() && seen.metrics.is_empty());
}

/// A subscriber that panics in each of its methods.
struct Broken;

impl Subscriber for Broken {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        panic!("record")
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        panic!("event")
    }

    fn enter(&self, _: &Id) {
        panic!("enter")
    }

    fn exit(&self, _: &Id) {
        panic!("exit")
    }

    fn try_close(&self, _: Id) -> bool {
        panic!("close")
    }
}

#[tokio::test]
async fn a_subscriber_that_panics_costs_nothing() {
    let guard = tracing::subscriber::set_default(Broken);
    let outcome = TurnLoop::new(calling(), kit()).start(request()).finish().await;
    let asked = ScriptedModel::new(["3"]).object::<u8>(request()).await.unwrap();
    drop(ModelTrace::new().stream_turn(&ScriptedModel::new(["hi"]), &request()));
    drop(guard);
    assert!(outcome.end.is_stopped());
    assert_eq!((outcome.state.text().as_str(), asked.value), ("8", 3));
}
