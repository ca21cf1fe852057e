//! The scripted model.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use haft_core::{
    Citation, ContentPart, Delta, Finish, Item, Message, ProviderCall, Reasoning, ReasoningForm, Role, TextPart,
    ToolCall, ToolCallOutput, ToolDescriptor, Turn, TurnRequest, Usage,
};
use haft_model::{Expect, LanguageModel, ModelError, ScriptError, ScriptedModel, ScriptedTurn, TurnFault};
use haft_schema::Schema;
use serde_json::json;
use tokio::time::Instant;

fn ask(text: &str) -> TurnRequest {
    TurnRequest::new("m", vec![Item::user(text)])
}

async fn deltas(model: &ScriptedModel) -> Vec<Delta> {
    model.stream_turn(&ask("?")).map(Result::unwrap).collect().await
}

async fn answer(model: &ScriptedModel, request: &TurnRequest) -> Result<Turn, ModelError> {
    model.stream_turn(request).into_turn().await
}

fn off_script(error: &ModelError) -> &str {
    match error {
        ModelError::OffScript { message } => message,
        other => panic!("{other:?}"),
    }
}

/// The sum of the deltas: text, refusal, reasoning, summary, calls as `name(arguments)`.
fn added_up(deltas: &[Delta]) -> (String, String, String, String, Vec<String>) {
    let (mut said, mut refused, mut thought, mut summed, mut calls) = Default::default();
    for delta in deltas {
        let (grown, text): (&mut String, &str) = match delta {
            Delta::TextDelta { text, .. } => (&mut said, text),
            Delta::RefusalDelta { text, .. } => (&mut refused, text),
            Delta::ReasoningDelta { text, form: ReasoningForm::Text, .. } => (&mut thought, text),
            Delta::ReasoningDelta { text, .. } => (&mut summed, text),
            Delta::ToolCallStart { name, .. } => {
                Vec::push(&mut calls, format!("{name}("));
                continue;
            }
            Delta::ToolCallArgsDelta { arguments, .. } => (calls.last_mut().unwrap(), arguments),
            Delta::ToolCallEnd { .. } => (calls.last_mut().unwrap(), ")"),
            _ => continue,
        };
        grown.push_str(text);
    }
    (said, refused, thought, summed, calls)
}

#[tokio::test]
async fn a_turn_is_streamed_in_pieces_that_add_up_to_it() {
    let words = vec![ContentPart::text("Straße €uro 😀 and more"), ContentPart::refusal("I'd rather not.")];
    let turn = Turn::new(
        vec![
            Reasoning::text("Let me think about it.").into(),
            Reasoning::default().summary("Thought.").summary("Again.").into(),
            Message::new(Role::Assistant, words).into(),
            Item::user("not the model's"),
            ToolCall::new("c1", "add", r#"{"a":1,"b":2}"#).into(),
            ToolCall::new("c2", "now", "").into(),
        ],
        Finish::ToolCalls,
    )
    .usage(Usage::new(10, 3))
    .response_id("r1");
    let deltas = deltas(&ScriptedModel::new([turn.clone()])).await;

    let (said, refused, thought, summed, calls) = added_up(&deltas);
    assert_eq!((&*said, &*refused), ("Straße €uro 😀 and more", "I'd rather not."));
    assert_eq!((&*thought, &*summed), ("Let me think about it.", "Thought.Again."));
    assert_eq!(calls, [r#"add({"a":1,"b":2})"#, "now()"]);
    assert!(deltas.iter().filter(|delta| matches!(delta, Delta::TextDelta { .. })).count() > 1);
    assert!(deltas.iter().filter(|delta| matches!(delta, Delta::ToolCallArgsDelta { .. })).count() > 1);
    assert_eq!(deltas[deltas.len() - 2..], [Delta::UsageUpdate(Usage::new(10, 3)), Delta::complete(turn)]);
}

#[tokio::test]
async fn parts_citations_and_calls_of_the_provider_are_streamed() {
    let cited = TextPart::new("found").cite(Citation::url("https://a.example"));
    let search = ToolCall::new("s1", "search", r#"{"q":"a"}"#).executed_by_provider();
    let turn = Turn::new(
        vec![
            Reasoning::default().summary("a").summary("b").into(),
            search.into(),
            ToolCallOutput::new("s1", "three hits").into(),
            ProviderCall::new("vendor", "code", json!({"out": 1})).call_id("s2").error().into(),
            ProviderCall::new("vendor", "peek", json!(null)).into(),
            Message::new(Role::Assistant, vec![ContentPart::Text(cited), ContentPart::text("x")]).into(),
        ],
        Finish::Stop,
    );
    let model = ScriptedModel::new([turn]);
    let written: Vec<_> = deltas(&model).await.iter().map(|delta| serde_json::to_value(delta).unwrap()).collect();
    assert_eq!(
        written[..written.len() - 1],
        [
            json!({"type": "reasoning_delta", "text": "a", "form": "summary"}),
            json!({"type": "reasoning_delta", "text": "b", "form": "summary", "part": 1}),
            json!({"type": "provider_call_start", "call_id": "s1", "name": "search"}),
            json!({"type": "provider_call_args_delta", "call_id": "s1", "arguments": "{\"q\""}),
            json!({"type": "provider_call_args_delta", "call_id": "s1", "arguments": ":\"a\""}),
            json!({"type": "provider_call_args_delta", "call_id": "s1", "arguments": "}"}),
            json!({"type": "provider_call_output", "call_id": "s1", "output": "three hits"}),
            json!({"type": "provider_call_start", "call_id": "s2", "name": "code"}),
            json!({"type": "provider_call_output", "call_id": "s2", "output": {"out": 1}, "is_error": true}),
            json!({"type": "provider_call_start", "call_id": "provider_call_9", "name": "peek"}),
            json!({"type": "provider_call_output", "call_id": "provider_call_9", "output": null}),
            json!({"type": "text_delta", "text": "fou", "part": 2}),
            json!({"type": "text_delta", "text": "nd", "part": 2}),
            json!({"type": "citation_delta", "citation": {"url": "https://a.example"}, "part": 2}),
            json!({"type": "text_delta", "text": "x", "part": 3}),
        ]
    );
}

#[tokio::test]
async fn scripted_deltas_replace_those_of_the_turn() {
    let unknown: Delta = serde_json::from_value(json!({"type": "mood_delta", "mood": "good"})).unwrap();
    let scripted = [Delta::TextDelta { text: "a".to_owned(), part: 1 }, unknown, Delta::text("b")];
    let model = ScriptedModel::new([ScriptedTurn::text("ba").deltas(scripted.clone())]);
    let deltas = deltas(&model).await;
    assert_eq!(deltas[..3], scripted);
    assert!(matches!(&deltas[3], Delta::TurnComplete(turn) if turn.text() == "ba"));
}

#[tokio::test]
async fn text_calls_and_errors_convert_into_turns() {
    let call = || ToolCall::new("c1", "add", "{}");
    let model = ScriptedModel::default().then("one").then("two".to_owned()).then(call()).then(vec![call(), call()]);
    let model = model.then([call()]).then(Turn::new(Vec::new(), Finish::Pause)).then(ModelError::Cancelled);
    for (text, calls, finish) in [
        ("one", 0, Finish::Stop),
        ("two", 0, Finish::Stop),
        ("", 1, Finish::ToolCalls),
        ("", 2, Finish::ToolCalls),
        ("", 1, Finish::ToolCalls),
        ("", 0, Finish::Pause),
    ] {
        let turn = answer(&model, &ask("?")).await.unwrap();
        assert_eq!((&*turn.text(), turn.tool_calls().len(), turn.finish), (text, calls, finish));
    }
    assert!(matches!(answer(&model, &ask("?")).await, Err(ModelError::Cancelled)));
    model.finish().unwrap();
}

#[tokio::test]
async fn added_content_is_in_the_turn() {
    let turn = ScriptedTurn::text("Let me look.")
        .reasoning("Hm.")
        .call(ToolCall::new("c1", "add", "{}"))
        .usage(Usage::new(1, 2));
    let expected = Turn::new(
        vec![Reasoning::text("Hm.").into(), Item::assistant("Let me look."), ToolCall::new("c1", "add", "{}").into()],
        Finish::ToolCalls,
    );
    let model = ScriptedModel::new([turn, ScriptedTurn::text("Too lo").finish(Finish::Length)]);
    assert_eq!(answer(&model, &ask("?")).await.unwrap(), expected.usage(Usage::new(1, 2)));
    assert_eq!(answer(&model, &ask("?")).await.unwrap().finish, Finish::Length);
}

#[tokio::test]
async fn an_answer_can_end_in_every_other_way() {
    let limited = ModelError::RateLimited { message: "slow".into(), retry_after: Some(Duration::from_millis(5)) };
    let model = ScriptedModel::new([
        ScriptedTurn::text("Hel").then_failed(limited),
        ScriptedTurn::text("Hel").incomplete(),
        ScriptedTurn::text("Hel").then_pending(),
        ScriptedTurn::pending(),
    ]);

    let mut failing = model.stream_turn(&ask("?"));
    assert!(matches!(failing.next().await, Some(Ok(Delta::TextDelta { .. }))));
    let rest: Vec<_> = failing.collect().await;
    let error = rest.last().unwrap().as_ref().unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), ("rate_limited", Some(Duration::from_millis(5))));

    assert!(matches!(answer(&model, &ask("?")).await, Err(ModelError::IncompleteTurn)));

    let mut stuck = model.stream_turn(&ask("?"));
    assert_eq!(added_up(&[stuck.next().await.unwrap().unwrap(), stuck.next().await.unwrap().unwrap()]).0, "Hel");
    assert!(stuck.next().now_or_never().is_none() && stuck.next().now_or_never().is_none());
    assert!(model.stream_turn(&ask("?")).next().now_or_never().is_none());
    model.finish().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_delayed_answer_arrives_after_its_delay() {
    let begin = Instant::now();
    let model = ScriptedModel::new([ScriptedTurn::text("late").delay(Duration::from_secs(90)), "soon".into()]);
    let mut stream = model.stream_turn(&ask("?"));
    assert!(stream.next().now_or_never().is_none());
    assert_eq!(stream.into_turn().await.unwrap().text(), "late");
    assert_eq!(begin.elapsed(), Duration::from_secs(90));
    answer(&model, &ask("?")).await.unwrap();
    assert_eq!(begin.elapsed(), Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn a_pending_answer_runs_into_the_timeout_of_the_caller() {
    let model = ScriptedModel::new([ScriptedTurn::pending()]);
    let waited = tokio::time::timeout(Duration::from_secs(3600), answer(&model, &ask("?"))).await;
    assert!(waited.is_err());
}

#[tokio::test]
async fn an_unmet_expectation_is_reported_to_both_sides() {
    let expect = Expect::new().tools(["add"]).last(json!({"content": [{"text": "two"}]}));
    let model = ScriptedModel::new([
        "first".into(),
        ScriptedTurn::text("second").expect(expect).check(|request: &TurnRequest| match request.temperature {
            Some(_) => Ok(()),
            None => Err("no temperature"),
        }),
        "third".into(),
    ]);
    answer(&model, &ask("one")).await.unwrap();
    let mut stream = model.stream_turn(&ask("not two"));
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(stream.next().await.is_none());
    let expected = concat!(
        "turn 2 of the script received an unexpected request: expected the tool `add` to be offered, found none; ",
        r#"at /history/0/content/0/text expected "two", found "not two"; no temperature"#
    );
    assert_eq!(off_script(&error), expected);

    let fault = model.finish().unwrap_err();
    assert_eq!(fault.unasked(), [3]);
    assert!(matches!(fault.faults(), [TurnFault::Unexpected { turn: 2, faults }] if faults.len() == 3));
    assert_eq!(fault.to_string(), format!("{expected}; 1 of 3 turns were never requested, from turn 3 on"));
    assert_eq!(answer(&model, &ask("three")).await.unwrap().text(), "third");
    assert_eq!(model.finish().unwrap_err().unasked(), [0; 0]);
}

#[tokio::test]
async fn a_met_expectation_is_not_reported() {
    let tools = [ToolDescriptor::new("add", Schema::empty())];
    let expect = Expect::new().model("m").tools(["add"]).items(1).last(json!({"role": "user"}));
    let checked = ScriptedTurn::text("yes").expect(expect).check(|_: &TurnRequest| Ok::<_, std::io::Error>(()));
    let model = ScriptedModel::new([checked]);
    assert_eq!(answer(&model, &ask("?").tools(&tools)).await.unwrap().text(), "yes");
    model.finish().unwrap();
}

#[tokio::test]
async fn a_check_that_panics_is_a_fault_and_still_a_panic() {
    let check = |request: &TurnRequest| {
        assert_eq!(request.model, "other", "the wrong model");
        Ok::<_, std::io::Error>(())
    };
    let turn = ScriptedTurn::text("x").check(|_: &TurnRequest| Err("one fault")).check(check);
    let model = ScriptedModel::default().then(turn);
    let asked = model.clone();
    let panicked = tokio::spawn(async move { answer(&asked, &ask("?")).await.map(|turn| turn.text()) }).await;
    assert!(panicked.unwrap_err().is_panic());
    let fault = model.finish().unwrap_err();
    let [TurnFault::Unexpected { turn: 1, faults }] = fault.faults() else { panic!("{fault}") };
    assert_eq!(faults[0], "one fault");
    assert!(faults[1].starts_with("a check panicked: ") && faults[1].contains("the wrong model"), "{fault}");
    assert_eq!((faults.len(), fault.unasked()), (2, &[][..]));
}

#[tokio::test]
async fn a_check_may_use_its_own_model() {
    let model = ScriptedModel::default();
    let own = model.clone();
    let check = move |_: &TurnRequest| if own.requests().len() == 1 { Ok(()) } else { Err("not the first") };
    let model = model.then(ScriptedTurn::text("fine").check(check));
    assert_eq!(answer(&model, &ask("?")).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_request_after_the_end_is_a_fault() {
    let model = ScriptedModel::new(["only"]);
    answer(&model, &ask("one")).await.unwrap();
    model.finish().unwrap();
    let error = answer(&model, &ask(&"too much".repeat(100))).await.unwrap_err();
    let message = off_script(&error);
    assert!(message.starts_with("request 2 comes after the end of the script (1 turn in total)"), "{message}");
    assert!(message.contains("too much") && message.len() < 500, "{message}");
    assert!(matches!(model.finish().unwrap_err().faults(), [TurnFault::PastEnd { request: 2, turns: 1, .. }]));
    assert!(!error.retryable());
}

#[tokio::test]
async fn requests_are_available_from_every_handle() {
    let model = ScriptedModel::new(["one", "two"]);
    let other: Arc<dyn LanguageModel> = Arc::new(model.clone());
    other.stream_turn(&ask("a")).into_turn().await.unwrap();
    answer(&model, &ask("b")).await.unwrap();
    assert_eq!(model.requests(), [ask("a"), ask("b")]);
}

#[tokio::test]
async fn a_turn_is_taken_when_its_stream_is_first_polled() {
    let model = ScriptedModel::new(["one", "two", "three"]);
    drop(model.stream_turn(&ask("dropped")));
    let (later, mut sooner) = (model.stream_turn(&ask("later")), model.stream_turn(&ask("sooner")));
    assert!(model.requests().is_empty());
    assert!(matches!(sooner.next().now_or_never(), Some(Some(Ok(_)))));
    drop(sooner);
    assert_eq!(later.into_turn().await.unwrap().text(), "two");
    assert_eq!(model.requests(), [ask("sooner"), ask("later")]);
    assert_eq!(model.finish().unwrap_err().unasked(), [3]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_turn_is_used_once_by_concurrent_requests() {
    let model = ScriptedModel::new((0..100).map(|n| n.to_string()));
    let tasks: Vec<_> = (0..100)
        .map(|n: u32| {
            let model = model.clone();
            tokio::spawn(async move { (n, answer(&model, &ask(&n.to_string())).await.unwrap().text()) })
        })
        .collect();
    let mut given = Vec::new();
    for task in tasks {
        let (asked, text) = task.await.unwrap();
        // The n-th request got the n-th turn.
        assert_eq!(model.requests()[text.parse::<usize>().unwrap()], ask(&asked.to_string()));
        given.push(text.parse::<u32>().unwrap());
    }
    given.sort_unstable();
    assert_eq!(given, (0..100).collect::<Vec<_>>());
    model.finish().unwrap();
}

const SCRIPT: &str = r#"{
    "v": 1,
    "turns": [
        {"text": "Hello.", "expect": {"model": "m", "last": {"role": "user"}}, "usage": {"input_tokens": 3}},
        {
            "reasoning": "Hm.", "text": "Let me look.",
            "calls": [
                {"call_id": "c1", "name": "add", "arguments": {"a": 1}},
                {"call_id": "c2", "name": "add", "arguments": "not {json"},
                {"call_id": "c3", "name": "now", "provider_executed": false}
            ]
        },
        {"turn": {"items": [{"type": "message", "role": "assistant", "content": []}], "finish": "pause"}},
        {"error": {"kind": "rate_limited", "message": "slow down", "retry_after_ms": 5}},
        {"text": "Hel", "then": "incomplete"},
        {"text": "Hello", "finish": "length", "delay_ms": 1500},
        {"then": "pending"}
    ]
}"#;

#[tokio::test(start_paused = true)]
async fn a_script_can_be_json() {
    let model = ScriptedModel::from_json(SCRIPT).unwrap();
    let request = ask("?");
    let hello = answer(&model, &request).await.unwrap();
    assert_eq!((&*hello.text(), hello.usage, hello.finish), ("Hello.", Usage::new(3, 0).total(0), Finish::Stop));

    let calls = answer(&model, &request).await.unwrap();
    assert_eq!((&*calls.reasoning(), &*calls.text(), &calls.finish), ("Hm.", "Let me look.", &Finish::ToolCalls));
    let expected = [
        ToolCall::new("c1", "add", r#"{"a":1}"#),
        ToolCall::new("c2", "add", "not {json"),
        ToolCall::new("c3", "now", "{}"),
    ];
    assert_eq!(calls.tool_calls(), expected);

    assert_eq!(answer(&model, &request).await.unwrap().finish, Finish::Pause);
    let error = answer(&model, &request).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), ("rate_limited", Some(Duration::from_millis(5))));
    assert!(matches!(answer(&model, &request).await, Err(ModelError::IncompleteTurn)));
    let begin = Instant::now();
    assert_eq!(answer(&model, &request).await.unwrap().finish, Finish::Length);
    assert_eq!(begin.elapsed(), Duration::from_millis(1500));
    assert!(model.stream_turn(&request).next().now_or_never().is_none());
    model.finish().unwrap();
}

#[test]
fn the_problems_of_a_script_are_reported_with_their_locations() {
    let table = [
        ("{", "not valid JSON"),
        ("[]", "expected struct"),
        (r#"{"v": 2, "turns": []}"#, "written by a newer version (2)"),
        (r#"{"turns": [], "truns": []}"#, "unknown field `truns`"),
        (r#"{"v": 1}"#, "missing field `turns`"),
        (r#"{"turns": [{"text": "a"}, {"txt": "b"}]}"#, "/turns/1: unknown field `txt`, expected one of `text`"),
        (r#"{"turns": [{"text": "a", "text": "b"}]}"#, "/turns/0/text"),
        (r#"{"turns": [{}]}"#, "/turns/0: the turn is empty"),
        (
            r#"{"turns": [{"text": "a", "turn": {"items": [], "finish": "stop"}}]}"#,
            "/turns/0: `turn` is a complete turn",
        ),
        (r#"{"turns": [{"error": {"kind": "cancelled"}, "then": "pending"}]}"#, "/turns/0: `error` and `then`"),
        (r#"{"turns": [{"then": "never"}]}"#, "/turns/0: unknown variant `never`"),
        (
            r#"{"turns": [{"error": {"kind": "tired"}}]}"#,
            "/turns/0/error/kind: `tired` is not an error kind; use one of",
        ),
        (r#"{"turns": [{"error": {"kind": "cancelled", "why": 1}}]}"#, "/turns/0/error: unknown field `why`"),
        (r#"{"turns": [{"text": "", "expect": {"tols": []}}]}"#, "/turns/0/expect: unknown field `tols`"),
        (r#"{"turns": [{"text": "", "usage": {"input": 3}}]}"#, "/turns/0/usage/input: unknown key"),
        (
            r#"{"turns": [{"calls": [{"call_id": "c", "name": "n", "args": {"a": 1}}]}]}"#,
            "/turns/0/calls/0/args: unknown key",
        ),
        (r#"{"turns": [{"calls": [{"name": "n"}]}]}"#, "/turns/0/calls/0: missing field `call_id`"),
        (
            r#"{"turns": [{"turn": {"items": [{"type": "reasoning", "txt": "a"}], "finish": "stop"}}]}"#,
            "/turns/0/turn/items/0/txt: unknown key",
        ),
    ];
    for (text, expected) in table {
        let error = ScriptedModel::from_json(text).unwrap_err().to_string();
        assert!(error.starts_with("not a script: ") && error.contains(expected), "{text}\n{error}");
    }
    let both = ScriptedModel::from_json(r#"{"turns": [{"txt": "b"}, {"text": "a"}, {}]}"#).unwrap_err();
    assert!(matches!(both, ScriptError::Malformed { path: None, issues } if issues.len() == 2));
}

#[tokio::test]
async fn a_script_can_be_a_file() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("script-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"turns": [{"text": "Hello."}]}"#).unwrap();
    let model = ScriptedModel::from_file(&path).unwrap();
    assert_eq!(answer(&model, &ask("?")).await.unwrap().text(), "Hello.");

    std::fs::write(&path, r#"{"turns": [{}]}"#).unwrap();
    let malformed = ScriptedModel::from_file(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    let missing = ScriptedModel::from_file(&path).unwrap_err();
    let name = path.display().to_string();
    assert!(malformed.contains(&name) && malformed.contains("/turns/0"), "{malformed}");
    assert!(missing.to_string().contains(&name), "{missing}");
    assert!(std::error::Error::source(&missing).is_some());
}
