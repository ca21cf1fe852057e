//! Recording a model and replaying it.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use haft_core::{Citation, Delta, Finish, Item, ReasoningForm, ToolCall, Turn, TurnRequest, Usage};
use haft_executor::BoxError;
use haft_model::{
    Cassette, CassetteError, ExchangeFault, LanguageModel, ModelError, ModelInfo, ScriptedModel, ScriptedTurn,
    TurnStream,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The file of one test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cassette-{}-{}.jsonl", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn lines(&self) -> Vec<Value> {
        fs::read_to_string(&self.0).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn write(&self, lines: &[String]) {
        fs::write(&self.0, lines.join("\n")).unwrap();
    }
}

impl AsRef<Path> for Scratch {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn ask(text: &str) -> TurnRequest {
    TurnRequest::new("m", vec![Item::user(text)])
}

async fn say(model: &impl LanguageModel, text: &str) -> Result<String, ModelError> {
    model.stream_turn(&ask(text)).into_turn().await.map(|turn| turn.text())
}

async fn off_script(model: &impl LanguageModel, request: &TurnRequest) -> String {
    match model.stream_turn(request).into_turn().await {
        Err(ModelError::OffScript { message }) => message,
        other => panic!("{other:?}"),
    }
}

/// Records these user messages, each answered with `re: ` before it.
async fn recorded(texts: &[&str]) -> Scratch {
    let file = Scratch::new();
    let model = ScriptedModel::new(texts.iter().map(|text| format!("re: {text}")));
    let cassette = Cassette::record(&file, model).unwrap();
    for text in texts {
        say(&cassette, text).await.unwrap();
    }
    cassette.finish().unwrap();
    file
}

const HEADER: &str = r#"{"v":1,"recording":"model"}"#;

#[tokio::test]
async fn a_recording_is_replayed() {
    let file = Scratch::new();
    let calls =
        || ScriptedTurn::calls([ToolCall::new("c1", "add", r#"{"a":1}"#)]).reasoning("Hm.").usage(Usage::new(1, 2));
    let live = Cassette::record(&file, ScriptedModel::new([calls(), "done".into()])).unwrap();
    let heard: Vec<_> = live.stream_turn(&ask("one")).map(Result::unwrap).collect().await;
    let direct: Vec<_> = ScriptedModel::new([calls()]).stream_turn(&ask("one")).map(Result::unwrap).collect().await;
    assert_eq!(heard, direct);
    assert_eq!(say(&live, "two").await.unwrap(), "done");
    live.finish().unwrap();

    let replay = Cassette::replay(&file).unwrap();
    assert!(replay.is_replaying() && !live.is_replaying());
    let again: Vec<_> = replay.stream_turn(&ask("one")).map(Result::unwrap).collect().await;
    assert_eq!(again, heard);
    assert_eq!(say(&replay.clone(), "two").await.unwrap(), "done");
    replay.finish().unwrap();
}

#[tokio::test]
async fn the_file_has_a_header_and_a_line_per_exchange() {
    let file = Scratch::new();
    let cassette = Cassette::record(&file, ScriptedModel::new(["hi", "ho"])).unwrap();
    let header = r#"{"v":1,"recording":"model","model":{"provider":"scripted"}}"#;
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{header}\n"));
    say(&cassette, "one").await.unwrap();
    let lines = file.lines();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["exchange"], 1);
    assert_eq!(lines[1]["end"], "over");
    assert_eq!(lines[1]["request"], serde_json::to_value(ask("one")).unwrap());
    assert_eq!(lines[1]["deltas"][0], json!({"type": "text_delta", "text": "h"}));
    assert_eq!(lines[1].get("error"), None);
    // Written when the exchange ends, not when the cassette is dropped.
    say(&cassette, "two").await.unwrap();
    assert_eq!(file.lines().len(), 3);
}

#[tokio::test]
async fn auto_records_once_and_replays_from_then_on() {
    let file = Scratch::new();
    let model = ScriptedModel::new(["first"]);
    let first = Cassette::auto(&file, model.clone()).unwrap();
    assert!(!first.is_replaying());
    assert_eq!(say(&first, "one").await.unwrap(), "first");
    let second = Cassette::auto(&file, model.clone()).unwrap();
    assert!(second.is_replaying());
    assert_eq!(say(&second, "one").await.unwrap(), "first");
    assert_eq!(model.requests().len(), 1);
    // `record` overwrites the file.
    Cassette::record(&file, model).unwrap();
    assert_eq!(file.lines().len(), 1);
}

#[tokio::test]
async fn errors_are_replayed_as_the_same_cause() {
    let file = Scratch::new();
    let second = Duration::from_secs(1);
    let errors = || {
        let message = || "said".to_owned();
        vec![
            ModelError::RateLimited { message: message().into(), retry_after: Some(second) },
            ModelError::Unavailable {
                message: message().into(),
                retry_after: None,
                source: Some(BoxError::from("met")),
            },
            ModelError::TimedOut { after: second },
            ModelError::InvalidRequest { message: message().into(), param: Some("tools".to_owned()) },
            ModelError::ContextTooLong { message: message().into() },
            ModelError::ContentFiltered { message: message().into() },
            ModelError::Authentication { message: message().into() },
            ModelError::Unsupported { capability: message() },
            ModelError::IncompleteTurn,
            ModelError::Unreadable { message: message().into(), source: None },
            ModelError::Cancelled,
        ]
    };
    let failing = errors().into_iter().map(|error| ScriptedTurn::text("Hel").then_failed(error));
    let live = Cassette::record(&file, ScriptedModel::new(failing)).unwrap();
    for error in errors() {
        let heard: Vec<_> = live.stream_turn(&ask("?")).collect().await;
        assert_eq!(heard.len(), 3);
        assert_eq!(format!("{:?}", heard[2].as_ref().unwrap_err()), format!("{error:?}"));
    }
    live.finish().unwrap();
    let replay = Cassette::replay(&file).unwrap();
    for error in errors() {
        let heard: Vec<_> = replay.stream_turn(&ask("?")).collect().await;
        assert_eq!(heard.len(), 3);
        assert_eq!(format!("{:?}", heard[2].as_ref().unwrap_err()), format!("{error:?}"));
    }
    replay.finish().unwrap();
}

#[tokio::test]
async fn a_stream_that_ends_without_a_turn_is_replayed_as_such() {
    let file = Scratch::new();
    let live = Cassette::record(&file, ScriptedModel::new([ScriptedTurn::text("Hel").incomplete()])).unwrap();
    assert!(matches!(say(&live, "?").await, Err(ModelError::IncompleteTurn)));
    let replay = Cassette::replay(&file).unwrap();
    assert!(matches!(say(&replay, "?").await, Err(ModelError::IncompleteTurn)));
}

#[tokio::test]
async fn an_exchange_that_was_dropped_midway_is_an_error_when_it_is_read_further() {
    let file = Scratch::new();
    let live = Cassette::record(&file, ScriptedModel::new(["Hello, you.", "next"])).unwrap();
    let mut stream = live.stream_turn(&ask("one"));
    let first = stream.next().await.unwrap().unwrap();
    drop(stream);
    drop(live.stream_turn(&ask("never polled")));
    say(&live, "two").await.unwrap();
    live.finish().unwrap();
    assert_eq!(file.lines()[1]["end"], "dropped");

    let replay = Cassette::replay(&file).unwrap();
    let mut stream = replay.stream_turn(&ask("one"));
    assert_eq!(stream.next().await.unwrap().unwrap(), first);
    let error = stream.next().await.unwrap().unwrap_err();
    assert!(
        matches!(&error, ModelError::OffScript { message } if message.contains("the reader dropped exchange 1 after 1 deltas"))
    );
    assert!(stream.next().await.is_none());
    assert_eq!(say(&replay, "two").await.unwrap(), "next");
}

#[tokio::test]
async fn an_exchange_whose_reader_stopped_at_the_turn_or_the_error_is_complete() {
    let file = Scratch::new();
    let model = ScriptedModel::new([ScriptedTurn::text("a"), ModelError::Cancelled.into()]);
    let live = Cassette::record(&file, model).unwrap();
    let mut stream = live.stream_turn(&ask("one"));
    while !matches!(stream.next().await, Some(Ok(Delta::TurnComplete(_)))) {}
    drop(stream);
    let mut stream = live.stream_turn(&ask("two"));
    while !matches!(stream.next().await, Some(Err(_))) {}
    drop(stream);
    let ends: Vec<_> = file.lines()[1..].iter().map(|line| line["end"].clone()).collect();
    assert_eq!(ends, ["over", "over"]);
}

#[tokio::test]
async fn another_request_is_rejected_with_the_location_of_the_difference() {
    let file = recorded(&["one", "two"]).await;
    let replay = Cassette::replay(&file).unwrap();
    let message = off_script(&replay, &ask("uno")).await;
    let expected =
        r#"exchange 1 was recorded for another request: at /history/0/content/0/text expected "one", found "uno""#;
    assert!(message.starts_with(expected) && message.contains(&file.0.display().to_string()), "{message}");

    let message = off_script(&replay, &ask("two").temperature(0.5)).await;
    assert!(
        message.contains("exchange 2 was recorded for another request: at /temperature expected nothing, found 0.5")
    );

    let message = off_script(&replay, &ask("three")).await;
    assert!(message.contains("there is no exchange 3: the recording has ended"), "{message}");

    let fault = replay.finish().unwrap_err();
    assert_eq!(fault.faults().iter().filter(|fault| matches!(fault, ExchangeFault::OffScript { .. })).count(), 3);
    assert_eq!(fault.faults().len(), 3);
}

#[tokio::test]
async fn long_differences_are_capped() {
    let long = "word ".repeat(2_000);
    let file = recorded(&[&long]).await;
    let message = off_script(&Cassette::replay(&file).unwrap(), &ask(&format!("{long}!"))).await;
    assert!(message.len() < 1_000 && message.contains("word !"), "{message}");
}

#[tokio::test]
async fn numbers_that_json_cannot_represent_are_no_difference() {
    let file = Scratch::new();
    let request = ask("one").temperature(f64::NAN).top_p(0.1 + 0.2);
    let live = Cassette::record(&file, ScriptedModel::new(["a"])).unwrap();
    live.stream_turn(&request).into_turn().await.unwrap();
    Cassette::replay(&file).unwrap().stream_turn(&request).into_turn().await.unwrap();
}

#[tokio::test]
async fn locations_can_be_ignored() {
    let file = Scratch::new();
    let live = Cassette::record(&file, ScriptedModel::new(["a"])).unwrap();
    let request = |id: &str, text: &str| ask(text).metadata("trace", id);
    live.stream_turn(&request("1", "one")).into_turn().await.unwrap();

    let replay = |pointers: &[&str]| Cassette::replay(&file).unwrap().ignore(pointers);
    let message = off_script(&replay(&[]), &request("2", "one")).await;
    assert!(message.contains("at /metadata/trace"), "{message}");
    replay(&["/metadata"]).stream_turn(&request("2", "one")).into_turn().await.unwrap();
    replay(&["/metadata"]).stream_turn(&ask("one")).into_turn().await.unwrap();
    replay(&["metadata/trace", "/history/*/content"]).stream_turn(&request("2", "uno")).into_turn().await.unwrap();
    let message = off_script(&replay(&["/metadata"]), &request("2", "uno")).await;
    assert!(message.contains("at /history/0/content/0/text"), "{message}");
}

#[tokio::test]
async fn exchanges_can_be_replayed_in_any_order() {
    let file = recorded(&["one", "two", "one"]).await;
    let in_order = Cassette::replay(&file).unwrap();
    assert!(off_script(&in_order, &ask("two")).await.contains("exchange 1"));

    let replay = Cassette::replay(&file).unwrap().in_any_order();
    for text in ["two", "one", "one"] {
        assert_eq!(say(&replay, text).await.unwrap(), format!("re: {text}"));
    }
    replay.finish().unwrap();
    let message = off_script(&replay, &ask("one")).await;
    assert!(message.contains("every exchange of the recording is used before request 4"), "{message}");

    let replay = Cassette::replay(&file).unwrap().in_any_order();
    let message = off_script(&replay, &ask("three")).await;
    let expected = r#"it differs from exchange 1 at /history/0/content/0/text expected "one", found "three""#;
    assert!(message.contains(expected), "{message}");
    // No exchange was used.
    assert_eq!(say(&replay, "one").await.unwrap(), "re: one");
}

#[tokio::test]
async fn exchanges_that_were_never_replayed_are_reported() {
    let file = recorded(&["one", "two", "three"]).await;
    let replay = Cassette::replay(&file).unwrap();
    say(&replay, "one").await.unwrap();
    let fault = replay.finish().unwrap_err();
    assert!(matches!(
        fault.faults(),
        [ExchangeFault::Unplayed { exchange: 2 }, ExchangeFault::Unplayed { exchange: 3 }]
    ));
    let text = fault.to_string();
    assert!(text.contains(&file.0.display().to_string()) && text.contains("exchange 3 was never requested"), "{text}");
}

#[tokio::test]
async fn concurrent_exchanges_are_replayed_in_the_order_in_which_they_began() {
    let file = Scratch::new();
    let live = Cassette::record(&file, ScriptedModel::new(["first", "second"])).unwrap();
    let (mut one, mut two) = (live.stream_turn(&ask("one")), live.stream_turn(&ask("two")));
    one.next().await.unwrap().unwrap();
    two.next().await.unwrap().unwrap();
    two.into_turn().await.unwrap();
    let open = live.finish().unwrap_err();
    assert!(matches!(open.faults(), [ExchangeFault::StillOpen { exchange: 1 }]));
    one.into_turn().await.unwrap();
    live.finish().unwrap();
    assert_eq!((&file.lines()[1]["exchange"], &file.lines()[2]["exchange"]), (&json!(2), &json!(1)));

    let replay = Cassette::replay(&file).unwrap();
    assert_eq!(say(&replay, "one").await.unwrap(), "first");
    assert_eq!(say(&replay, "two").await.unwrap(), "second");
}

#[tokio::test]
async fn of_equal_requests_in_any_order_the_earliest_exchange_is_replayed_first() {
    let lines = recorded(&["one", "one"]).await.lines();
    let changed = lines[2].to_string().replace("re: one", "second");
    let file = Scratch::new();
    file.write(&[HEADER.to_owned(), changed, lines[1].to_string()]);
    let replay = Cassette::replay(&file).unwrap().in_any_order();
    assert_eq!(say(&replay, "one").await.unwrap(), "re: one");
    assert_eq!(say(&replay, "one").await.unwrap(), "second");
}

#[tokio::test]
async fn recording_passes_deltas_on_as_they_arrive() {
    let file = Scratch::new();
    let live = Cassette::record(&file, ScriptedModel::new([ScriptedTurn::text("ab").then_pending()])).unwrap();
    let mut stream = live.stream_turn(&ask("?"));
    assert_eq!(stream.next().await.unwrap().unwrap(), Delta::text("a"));
    assert_eq!(stream.next().await.unwrap().unwrap(), Delta::text("b"));
    assert!(stream.next().now_or_never().is_none());
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let inside_nothing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such-folder").join("a.jsonl");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    for (path, opened) in [
        (&inside_nothing, Cassette::record(&inside_nothing, ScriptedModel::default())),
        (&inside_nothing, Cassette::auto(&inside_nothing, ScriptedModel::default())),
        (&folder, Cassette::record(&folder, ScriptedModel::default())),
    ] {
        let error = opened.unwrap_err();
        assert!(matches!(error, CassetteError::Unwritable { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&path.display().to_string()) && text.contains("its folder must exist"), "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let missing = Scratch::new();
    for path in [missing.as_ref(), Path::new(env!("CARGO_TARGET_TMPDIR"))] {
        let error = Cassette::replay(path).unwrap_err();
        assert!(matches!(error, CassetteError::Unreadable { .. }), "{error:?}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}

#[test]
fn a_file_that_is_not_a_recording_is_rejected() {
    let file = Scratch::new();
    let table = [
        ("", "EOF"),
        ("hello", "expected value"),
        ("{}", "missing field `recording`"),
        (r#"{"v":1}"#, "missing field `recording`"),
        (r#"{"v":2,"recording":"model"}"#, "written by a newer version (2); this one reads up to 1"),
        (r#"{"v":1,"recording":"sound"}"#, "unknown variant `sound`"),
    ];
    for (text, expected) in table {
        fs::write(&file, text).unwrap();
        let error = Cassette::replay(&file).unwrap_err();
        assert!(matches!(error, CassetteError::NotARecording { .. }), "{error:?}");
        let error = error.to_string();
        assert!(error.contains(expected) && error.contains(&file.0.display().to_string()), "{text}: {error}");
    }
}

#[tokio::test]
async fn a_recording_without_a_version_has_the_first_version() {
    let (recorded, file) = (recorded(&["one"]).await.lines()[1].to_string(), Scratch::new());
    file.write(&[r#"{"recording":"model"}"#.to_owned(), recorded]);
    Cassette::replay(&file).unwrap();
}

#[tokio::test]
async fn a_corrupted_line_is_named() {
    let good = recorded(&["one"]).await.lines()[1].to_string();
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        good.replace(from, to)
    };
    let table = [
        (good[..good.len() / 2].to_owned(), "EOF"),
        ("\u{0}\u{0}".to_owned(), "expected value"),
        (with(r#""deltas""#, r#""detlas""#), "unknown field `detlas`"),
        (with(r#""text_delta","text""#, r#""text_delta","txet""#), "missing field `text`"),
        (with(r#""end":"over""#, r#""end":"over","error":{"kind":"tired"}"#), "`tired` is not an error kind"),
        (with(r#""v":1"#, r#""v":3"#), "written by a newer version (3)"),
        (good.clone(), "exchange 1 is also on an earlier line"),
    ];
    let file = Scratch::new();
    for (bad, expected) in table {
        file.write(&[HEADER.to_owned(), good.clone(), String::new(), bad.clone()]);
        let error = Cassette::replay(&file).unwrap_err();
        assert!(matches!(error, CassetteError::Corrupted { line: 4, .. }), "{bad}: {error:?}");
        let error = error.to_string();
        assert!(error.starts_with(&format!("line 4 of the recording {}", file.0.display())), "{error}");
        assert!(error.contains(expected) && !error.contains("line 1"), "{error}");
    }
    fs::write(&file, [HEADER.as_bytes(), b"\n\xff\xfe"].concat()).unwrap();
    assert!(matches!(Cassette::replay(&file), Err(CassetteError::Corrupted { line: 2, .. })));
}

#[tokio::test]
async fn a_line_that_is_missing_is_a_gap_and_not_another_exchange() {
    let lines = recorded(&["one", "two", "three"]).await.lines();
    let file = Scratch::new();
    file.write(&[HEADER.to_owned(), lines[1].to_string(), lines[3].to_string()]);
    let replay = Cassette::replay(&file).unwrap();
    say(&replay, "one").await.unwrap();
    let message = off_script(&replay, &ask("two")).await;
    assert!(message.contains("exchange 2 is missing from the recording, whose last exchange is 3"), "{message}");
    assert_eq!(say(&replay, "three").await.unwrap(), "re: three");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_rejected_immediately() {
    // A device that rejects every write.
    assert!(matches!(Cassette::record("/dev/full", ScriptedModel::default()), Err(CassetteError::Unwritable { .. })));
}

/// A model that answers each request with the same deltas.
struct Says(Vec<Delta>);

impl LanguageModel for Says {
    fn info(&self) -> ModelInfo {
        ModelInfo::new("test")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        TurnStream::of(self.0.clone().into_iter().map(Ok).collect::<Vec<_>>())
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![".{0,12}", Just("\n\r\u{2028}\"\\\u{0}".to_owned()), Just("line\nbreak".to_owned())]
}

fn any_item() -> impl Strategy<Value = Item> {
    let data = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any_text().prop_map(Value::from)
    ];
    prop_oneof![
        any_text().prop_map(Item::assistant),
        any_text().prop_map(Item::user),
        (any_text(), any_text(), data).prop_map(|(id, arguments, data)| {
            ToolCall::new(id, "add", arguments).provider_data("some", data).into()
        }),
        any_text().prop_map(|text| Item::Unknown(json!({"type": "of_tomorrow", "text": text}))),
    ]
}

fn any_delta() -> impl Strategy<Value = Delta> {
    let id = || any_text().prop_map(haft_core::CallId::from);
    let finish = any_text().prop_map(|reason| Finish::from(reason.as_str()));
    let usage = || (any::<u64>(), any::<u64>()).prop_map(|(input, output)| Usage::new(input, output).cache_read(input));
    let form = prop_oneof![Just(ReasoningForm::Text), Just(ReasoningForm::Summary)];
    prop_oneof![
        (any_text(), 0..3_usize).prop_map(|(text, part)| Delta::TextDelta { text, part }),
        (any_text(), form, 0..3_usize).prop_map(|(text, form, part)| Delta::ReasoningDelta { text, form, part }),
        (any_text(), 0..3_usize).prop_map(|(text, part)| Delta::RefusalDelta { text, part }),
        (any_text(), any::<usize>())
            .prop_map(|(url, part)| Delta::CitationDelta { citation: Citation::url(url), part }),
        (id(), any_text()).prop_map(|(call_id, name)| Delta::ProviderCallStart { call_id, name }),
        (id(), any_text()).prop_map(|(call_id, arguments)| Delta::ProviderCallArgsDelta { call_id, arguments }),
        (id(), any_text(), any::<bool>()).prop_map(|(call_id, text, is_error)| {
            Delta::ProviderCallOutput { call_id, output: json!({"text": text}).into(), is_error }
        }),
        any_text().prop_map(|text| {
            serde_json::from_value(json!({"type": "of_tomorrow", "text": text, "part": null})).unwrap()
        }),
        (id(), any_text()).prop_map(|(call_id, name)| Delta::ToolCallStart { call_id, name }),
        (id(), any_text()).prop_map(|(call_id, arguments)| Delta::ToolCallArgsDelta { call_id, arguments }),
        id().prop_map(|call_id| Delta::ToolCallEnd { call_id }),
        usage().prop_map(Delta::UsageUpdate),
        (prop::collection::vec(any_item(), 0..4), finish, usage())
            .prop_map(|(items, finish, usage)| Delta::complete(Turn::new(items, finish).usage(usage))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_deltas_are_played_as_they_were_recorded(
        deltas in prop::collection::vec(any_delta(), 0..12),
        history in prop::collection::vec(any_item(), 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let file = Scratch::new();
        let request = TurnRequest::new("m", history);
        let heard = |cassette: &Cassette| {
            runtime.block_on(cassette.stream_turn(&request).map(Result::unwrap).collect::<Vec<_>>())
        };
        let live = Cassette::record(&file, Says(deltas.clone())).unwrap();
        prop_assert_eq!(&heard(&live), &deltas);
        live.finish().unwrap();
        let replay = Cassette::replay(&file).unwrap();
        prop_assert_eq!(&heard(&replay), &deltas);
        replay.finish().unwrap();
    }
}
