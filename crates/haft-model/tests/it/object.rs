//! Requests for a value of a type.

use std::sync::Arc;

use haft_core::{ContentPart, Finish, Item, Message, OutputFormat, Role, ToolCall, Turn, TurnRequest, Usage};
use haft_executor::{Tool, Toolkit};
use haft_model::{LanguageModel, LanguageModelExt, ModelError, ObjectAnswer, ObjectError, ScriptedModel, ScriptedTurn};
use haft_schema::{DecodeOptions, Limits, RepairKind, Repairs};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;

/// A weather forecast.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Forecast {
    city: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
}

const VALID: &str = r#"{"city": "Paris", "days": 3}"#;

fn request() -> TurnRequest {
    TurnRequest::new("any", vec![Item::user("Paris, three days.")])
}

fn paris() -> Forecast {
    Forecast { city: "Paris".to_owned(), days: 3 }
}

async fn ask(model: &ScriptedModel) -> Result<ObjectAnswer<Forecast>, ObjectError> {
    model.object::<Forecast>(request()).await
}

/// Returns the text of the last item of a request.
fn last_text(request: &TurnRequest) -> String {
    let Some(Item::Message(message)) = request.history.last() else { panic!("{:?}", request.history) };
    assert_eq!(message.role, Role::User);
    message.content.iter().filter_map(ContentPart::as_text).collect()
}

#[tokio::test]
async fn a_valid_answer_is_the_value() {
    let model = ScriptedModel::new([ScriptedTurn::text(VALID).usage(Usage::new(10, 5))]);
    let answer = ask(&model).await.unwrap();
    assert_eq!((answer.value, answer.usage, answer.turns.len()), (paris(), Usage::new(10, 5), 1));
    assert!(answer.repairs.is_empty());

    let sent = &model.requests()[0];
    let format = sent.output_format.as_ref().unwrap();
    assert_eq!((format.name.as_str(), format.description.as_deref()), ("Forecast", Some("A weather forecast.")));
    assert_eq!(format.schema["properties"]["days"]["maximum"], 14);
    assert_eq!((format.strict, sent.history.len()), (None, 1));
}

#[tokio::test]
async fn every_kind_of_model_can_be_asked() {
    let model = ScriptedModel::new([VALID; 4]);
    let shared: Arc<dyn LanguageModel> = Arc::new(model.clone());
    let boxed: Box<dyn LanguageModel> = Box::new(model.clone());
    let plain: &dyn LanguageModel = &model;
    assert_eq!(shared.object::<Forecast>(request()).await.unwrap().value, paris());
    assert_eq!(boxed.object::<Forecast>(request()).await.unwrap().value, paris());
    assert_eq!(plain.object::<Forecast>(request()).await.unwrap().value, paris());
    // The future may move to another task, and be dropped before it is polled.
    let task = tokio::spawn(async move { model.object::<Forecast>(request()).await.unwrap().value });
    assert_eq!(task.await.unwrap(), paris());
}

#[tokio::test]
async fn a_format_of_the_request_keeps_what_the_type_does_not_say() {
    let model = ScriptedModel::new([VALID]);
    let format = OutputFormat::new("weather", json!(false)).describe("Be exact.").strict();
    model.object::<Forecast>(request().output_format(format)).await.unwrap();
    let sent = model.requests()[0].output_format.clone().unwrap();
    assert_eq!(
        (sent.name.as_str(), sent.description.as_deref(), sent.strict),
        ("weather", Some("Be exact."), Some(true))
    );
    assert_eq!(sent.schema["type"], "object");
}

#[tokio::test]
async fn an_invalid_answer_is_sent_back_with_all_its_issues() {
    let wrong = r#"{"days": 30}"#;
    let turns =
        [ScriptedTurn::text(wrong).usage(Usage::new(10, 5)), ScriptedTurn::text(VALID).usage(Usage::new(20, 6))];
    let model = ScriptedModel::new(turns);
    let answer = ask(&model).await.unwrap();
    assert_eq!((answer.value, answer.usage), (paris(), Usage::new(30, 11)));
    assert_eq!(answer.turns.iter().map(Turn::text).collect::<Vec<_>>(), [wrong, VALID]);

    let sent = &model.requests()[1];
    assert_eq!(sent.history.len(), 3);
    assert_eq!(sent.history[1], Item::assistant(wrong));
    let correction = last_text(sent);
    assert!(
        correction.contains(r#"the key "city""#) && correction.contains("/days: must be at most 14"),
        "{correction}"
    );
    assert_eq!(sent.output_format, model.requests()[0].output_format);
}

#[tokio::test]
async fn an_answer_that_stays_invalid_is_an_error_with_its_issues_and_the_usage() {
    let wrong = || ScriptedTurn::text(r#"{"city": "Paris", "days": 30}"#).usage(Usage::new(1, 1));
    for (re_asks, asked) in [(0, 1), (1, 2), (3, 4)] {
        let model = ScriptedModel::new([(); 9].map(|()| wrong()));
        let error = model.object::<Forecast>(request()).re_asks(re_asks).await.unwrap_err();
        assert_eq!((error.kind(), error.usage().input_tokens), ("invalid", asked));
        let ObjectError::Invalid { issues, text, .. } = error else { panic!("{error:?}") };
        assert_eq!(issues.as_slice()[0].pointer, "/days");
        assert_eq!(text, r#"{"city": "Paris", "days": 30}"#);
        assert_eq!(u64::try_from(model.requests().len()).unwrap(), asked);
    }
}

#[tokio::test]
async fn every_check_of_arguments_is_made() {
    for (answer, issue) in [
        ("It will rain.", "JSON"),
        (r#"{"city": "Paris", "days": 3"#, "JSON"),
        (r#"{"city": "Paris", "days": 3, "days": 4}"#, "days"),
        (r#"{"city": "Paris", "days": "3"}"#, "/days"),
        (r#"{"city": "Paris", "days": 3} "#.repeat(2).as_str(), "JSON"),
        (r#"["Paris", 3]"#, "object"),
        ("null", "object"),
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        ("```json\n```", "the answer is empty"),
        ("Sure!\n```json\n{}\n```", "JSON"),
    ] {
        let turn = Turn::new(vec![Item::assistant(answer)], Finish::Stop);
        let model = ScriptedModel::default().then(turn);
        let error = model.object::<Forecast>(request()).re_asks(0).await.unwrap_err();
        let ObjectError::Invalid { issues, .. } = error else { panic!("{answer}: {error:?}") };
        assert!(issues.to_string().contains(issue), "{answer}: {issues}");
    }
    let model = ScriptedModel::new([VALID]);
    let options = DecodeOptions::default().limits(Limits::default().max_bytes(10));
    let error = model.object::<Forecast>(request()).options(options).re_asks(0).await.unwrap_err();
    assert_eq!(error.kind(), "invalid");
}

#[tokio::test]
async fn repairs_are_reported() {
    let model = ScriptedModel::new([format!("```json\n{VALID}\n```")]);
    let answer = ask(&model).await.unwrap();
    assert_eq!(answer.value, paris());
    assert_eq!(answer.repairs.iter().map(|repair| repair.kind).collect::<Vec<_>>(), [RepairKind::CodeFence]);

    let model = ScriptedModel::new(["```\n{\"city\": \"Paris\", \"days\": \"3\"}\n```"]);
    let options = DecodeOptions::default().repairs(Repairs::all());
    let answer = model.object::<Forecast>(request()).options(options).await.unwrap();
    let made: Vec<_> = answer.repairs.iter().map(|repair| (repair.pointer.as_str(), repair.kind)).collect();
    assert_eq!(made, [("", RepairKind::CodeFence), ("/days", RepairKind::QuotedScalar)]);
}

#[tokio::test]
async fn a_missing_answer_is_not_sent_back() {
    let empty = Turn::new(vec![Item::assistant("")], Finish::Stop);
    let model = ScriptedModel::default().then(empty).then(VALID);
    assert_eq!(ask(&model).await.unwrap().value, paris());
    let history = &model.requests()[1].history;
    assert_eq!(history.len(), 2, "{history:?}");
    assert!(last_text(&model.requests()[1]).contains("the answer is empty"));
}

#[tokio::test]
async fn the_answer_is_the_last_message() {
    let search = ToolCall::new("s1", "web_search", "{}").executed_by_provider();
    let turn = Turn::new(vec![Item::assistant("I'll look."), search.into(), Item::assistant(VALID)], Finish::Stop);
    assert_eq!(ask(&ScriptedModel::default().then(turn)).await.unwrap().value, paris());
}

#[tokio::test]
async fn a_turn_without_an_answer_is_an_error_by_its_cause() {
    let usage = Usage::new(7, 1);
    let refusal = Message::new(Role::Assistant, vec![ContentPart::refusal("I can't.")]);
    let table = [
        (Turn::new(vec![refusal.into()], Finish::Stop), "refused", "refused to answer: I can't."),
        (Turn::new(vec![Item::assistant("No.")], Finish::Refusal), "refused", "refused to answer: No."),
        (Turn::new(vec![Item::assistant(VALID)], Finish::Length), "cut_off", "`length`"),
        (Turn::new(vec![Item::assistant("{")], Finish::ContentFilter), "cut_off", "`content_filter`"),
        (Turn::new(vec![Item::assistant(VALID)], Finish::Pause), "cut_off", "`pause`"),
        (Turn::new(vec![ToolCall::new("c1", "look", "{}").into()], Finish::ToolCalls), "called_tools", "`look`"),
        (
            Turn::new(vec![Item::assistant(VALID), ToolCall::new("c1", "look", "{}").into()], Finish::ToolCalls),
            "called_tools",
            "`TurnLoop`",
        ),
    ];
    for (turn, kind, message) in table {
        let model = ScriptedModel::default().then(turn.usage(usage)).then(VALID);
        let error = ask(&model).await.unwrap_err();
        assert_eq!((error.kind(), error.usage()), (kind, usage));
        assert!(error.to_string().contains(message), "{error}");
        assert_eq!(model.requests().len(), 1, "asked once");
    }
}

#[tokio::test]
async fn an_error_of_the_model_keeps_the_usage_so_far() {
    let limited = ModelError::RateLimited { message: "slow down".into(), retry_after: None };
    let wrong = ScriptedTurn::text("?").usage(Usage::new(10, 5));
    let model = ScriptedModel::default().then(wrong).then(ScriptedTurn::failed(limited)).then(VALID);
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.usage(), Usage::new(10, 5));
    assert!(matches!(error, ObjectError::Model { source: ModelError::RateLimited { .. }, .. }));
    assert_eq!(model.requests().len(), 2, "not retried");
}

#[tokio::test]
async fn tools_of_the_request_are_offered() {
    let tools: Toolkit = Toolkit::from_iter([Tool::new("look").handler(|(), _cx| async {}).unwrap()]);
    let model = ScriptedModel::new([VALID]);
    model.object::<Forecast>(request().tools(&tools)).await.unwrap();
    assert_eq!(model.requests()[0].tools.len(), 1);
}

/// A type whose own code panics.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
struct Fragile(#[allow(dead_code, reason = "never read")] u8);

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("a secret of the application")
    }
}

#[tokio::test]
async fn a_type_that_panics_is_an_issue_without_its_text() {
    let model = ScriptedModel::new(["1", "1"]);
    let error = model.object::<Fragile>(request()).await.unwrap_err();
    assert_eq!(error.kind(), "invalid");
    assert!(!format!("{error:?}{:?}", model.requests()).contains("secret"));
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Broken {
    #[schemars(regex(pattern = "("))]
    _text: String,
}

#[tokio::test]
async fn a_type_without_a_valid_schema_is_an_error_before_anything_is_sent() {
    let model = ScriptedModel::new([VALID]);
    let error = model.object::<Broken>(request()).await.unwrap_err();
    assert_eq!((error.kind(), error.usage(), model.requests().len()), ("schema", Usage::default(), 0));
}

#[tokio::test]
async fn any_json_type_can_be_the_answer() {
    assert_eq!(ScriptedModel::new(["[1, 2]"]).object::<Vec<u8>>(request()).await.unwrap().value, [1, 2]);
    assert_eq!(ScriptedModel::new(["null"]).object::<Option<u8>>(request()).await.unwrap().value, None);
    assert_eq!(ScriptedModel::new(["\"a\""]).object::<String>(request()).await.unwrap().value, "a");
    let model = ScriptedModel::new(["[1]"]);
    model.object::<Vec<u8>>(request()).await.unwrap();
    assert_eq!(model.requests()[0].output_format.as_ref().unwrap().name, "Array_of_uint8");
}
