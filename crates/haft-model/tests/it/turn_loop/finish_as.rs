//! Loops that end with a value of a type.

use haft_core::{ContentPart, FailureClass, Message, Role, ToolChoice, Usage};
use haft_executor::{ApprovalPolicy, RunOptions, Suspend};
use haft_model::{Budget, LoopError, ScriptedTurn, Spent, TypedLoop, TypedOutcome};
use haft_schema::RepairKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::*;

/// The sum of some numbers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
struct Sum {
    #[schemars(range(max = 100))]
    total: i64,
}

const VALID: &str = r#"{"total": 42}"#;
const INVALID: &str = r#"{"total": 420}"#;

fn typed(model: &ScriptedModel) -> TypedLoop<Sum> {
    agent(model).finish_as().unwrap()
}

async fn finish_typed(agent: &TypedLoop<Sum>, state: impl Into<LoopState>) -> TypedOutcome<Sum> {
    agent.start(state).finish().await
}

const SUM: Option<Sum> = Some(Sum { total: 42 });

/// Returns the text of the last message of a request.
fn last_text(request: &TurnRequest) -> String {
    let Some(Item::Message(message)) = request.history.last() else { panic!("{:?}", request.history) };
    assert_eq!(message.role, Role::User);
    message.content.iter().filter_map(ContentPart::as_text).collect()
}

#[tokio::test(start_paused = true)]
async fn the_final_answer_is_the_value() {
    let model = ScriptedModel::default().then([call("c1", "add", "[19,23]")]).then(VALID);
    let outcome = finish_typed(&typed(&model), request()).await;
    assert_eq!((&outcome.end, &outcome.value), (&LoopEnd::Stopped, &SUM));
    assert!(outcome.repairs.is_empty() && outcome.state.is_done());
    for sent in model.requests() {
        let format = sent.output_format.as_ref().unwrap();
        assert_eq!((format.name.as_str(), &format.schema["properties"]["total"]["maximum"]), ("Sum", &100.into()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_answer_is_sent_back_once_and_reported() {
    let model = ScriptedModel::default()
        .then([call("c1", "double", "210")])
        .then(ScriptedTurn::text(INVALID).usage(Usage::new(5, 1)))
        .then(ScriptedTurn::text(VALID).usage(Usage::new(6, 1)));
    let mut run = typed(&model).start(request());
    let mut told = Vec::new();
    while let Some(event) = run.next().await {
        match event {
            LoopEvent::AnswerRejected { issues, re_asks } => told.push(format!("rejected {re_asks}: {issues}")),
            event => told.extend(words(&[event]).into_iter().filter(|word| word != "delta")),
        }
    }
    assert_eq!(
        told[3..],
        [
            "ended 1 with 1",
            "turn 2",
            "complete",
            "ended 2 with 0",
            "rejected 1: /total: must be at most 100, and is 420",
            "turn 3",
            "complete",
            "ended 3 with 0",
            "stopped",
        ]
    );
    let outcome = run.finish().await;
    assert_eq!((outcome.value, outcome.state.turns(), outcome.state.usage()), (SUM, 3, Usage::new(11, 2)));
    let last = last_text(&model.requests()[2]);
    assert!(last.contains("/total: must be at most 100"), "{last}");
    assert_eq!(
        super::told(outcome.state.history()),
        ["user", "call c1", "output c1: 420", "assistant", "user", "assistant"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_stays_invalid_is_an_error() {
    for (re_asks, asked) in [(0, 1), (1, 2), (2, 3)] {
        let model = ScriptedModel::new([INVALID; 5]);
        let agent = typed(&model).re_asks(re_asks);
        let outcome = finish_typed(&agent, request()).await;
        let LoopEnd::Failed(LoopError::AnswerInvalid { issues, text }) = &outcome.end else {
            panic!("{:?}", outcome.end)
        };
        assert_eq!((issues.as_slice()[0].pointer.as_str(), text.as_str()), ("/total", INVALID));
        assert_eq!((outcome.value, model.requests().len()), (None, asked));

        // Started again the state ends in the same way, without a request.
        let again = finish_typed(&agent, stored(&outcome.state)).await;
        assert_eq!((&again.end, model.requests().len()), (&outcome.end, asked));
        // With another message it is a new task.
        let more = ScriptedModel::new([INVALID, VALID]);
        let again = finish_typed(&typed(&more), stored(&outcome.state).follow_up(Item::user("Again."))).await;
        assert_eq!((again.end, again.value), (LoopEnd::Stopped, SUM));
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_that_allows_more_requests_continues_the_state() {
    let outcome = finish_typed(&typed(&ScriptedModel::new([INVALID; 2])), request()).await;
    let model = ScriptedModel::new([VALID]);
    let outcome = finish_typed(&typed(&model).re_asks(2), stored(&outcome.state)).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Stopped, SUM));
}

#[tokio::test(start_paused = true)]
async fn a_state_that_is_done_still_has_its_value() {
    let outcome = finish_typed(&typed(&ScriptedModel::new([VALID])), request()).await;
    let silent = ScriptedModel::default();
    let again = finish_typed(&typed(&silent), stored(&outcome.state)).await;
    assert_eq!((again.end, again.value, silent.requests().len()), (LoopEnd::Stopped, SUM, 0));

    // One that was finished without a type is continued.
    let prose = finish(&agent(&ScriptedModel::new(["It is 42."])), request()).await.state;
    let model = ScriptedModel::new([VALID]);
    let outcome = finish_typed(&typed(&model), stored(&prose)).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Stopped, SUM));
    assert!(last_text(&model.requests()[0]).contains("JSON"));
}

#[tokio::test(start_paused = true)]
async fn the_number_of_requests_is_part_of_the_state() {
    let pay =
        Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|n: u64, _cx| async move { n }).unwrap();
    let kit: Toolkit = Toolkit::from_iter([pay]);
    let typed = |model: &ScriptedModel| {
        let options = RunOptions::new().approvals(Suspend);
        TurnLoop::new(model.clone(), kit.clone()).options(options).finish_as::<Sum>().unwrap()
    };
    // The corrected answer is a call that waits; what follows is answered in another process.
    let first = typed(&ScriptedModel::default().then(INVALID).then([call("c1", "pay", "5")]));
    let outcome = finish_typed(&first, request()).await;
    assert!(outcome.end.is_waiting() && outcome.value.is_none());

    for (answer, end) in [(VALID, "stopped"), (INVALID, "failed: answer_invalid")] {
        let model = ScriptedModel::new([answer]);
        let second = typed(&model);
        let mut state = stored(&outcome.state);
        let pending = state.approvals().remove(0);
        second.turn_loop().verdict(&mut state, pending.approve()).unwrap();
        let outcome = finish_typed(&second, state).await;
        assert_eq!((ended(&outcome.end).as_str(), model.requests().len()), (end, 1));
        assert_eq!(outcome.value.is_some(), answer == VALID);
        assert!(model.requests()[0].output_format.is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn the_limits_of_the_loop_apply() {
    let model = ScriptedModel::new([INVALID, VALID]);
    let outcome = finish_typed(&agent(&model).max_turns(1).finish_as().unwrap(), request()).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::MaxTurns { turns: 1 }, None));
    // The state has the request for a correction, and continues where turns are left.
    let outcome = finish_typed(&typed(&model), stored(&outcome.state)).await;
    assert_eq!(outcome.value, SUM);

    let model = ScriptedModel::new([ScriptedTurn::text(INVALID).usage(Usage::new(50, 50)), ScriptedTurn::text(VALID)]);
    let agent = agent(&model).budget(Budget::new().tokens(100)).finish_as().unwrap();
    let outcome = finish_typed(&agent, request()).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Budget(Spent::Tokens), None));
}

#[tokio::test(start_paused = true)]
async fn a_required_call_is_still_required() {
    let model = ScriptedModel::default().then([call("c1", "double", "1")]).then(VALID);
    let outcome = finish_typed(&typed(&model), request().tool_choice(ToolChoice::Required)).await;
    assert_eq!((ended(&outcome.end).as_str(), outcome.value), ("failed: tool_choice", None));
}

#[tokio::test(start_paused = true)]
async fn a_refused_or_incomplete_answer_is_an_error_and_can_be_continued() {
    let refusal = Message::new(Role::Assistant, vec![ContentPart::refusal("I can't.")]);
    for (turn, kind, message) in [
        (Turn::new(vec![refusal.into()], Finish::Stop), "answer_refused", "I can't."),
        // Text that was cut off may look complete.
        (Turn::new(vec![Item::assistant(VALID)], Finish::Length), "answer_cut_off", "`length`"),
    ] {
        let model = ScriptedModel::default().then(turn).then(VALID);
        let outcome = finish_typed(&typed(&model), request()).await;
        let error = outcome.end.error().unwrap();
        assert_eq!((error.kind(), outcome.value.as_ref(), model.requests().len()), (kind, None, 1));
        assert!(error.to_string().contains(message), "{error}");
        let again = finish_typed(&typed(&model), stored(&outcome.state)).await;
        assert_eq!((again.end, again.value), (LoopEnd::Stopped, SUM));
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_turn_is_continued_before_the_answer_is_read() {
    let paused = Turn::new(vec![Item::assistant("Let me think.")], Finish::Pause);
    let outcome = finish_typed(&typed(&ScriptedModel::default().then(paused).then(VALID)), request()).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Stopped, SUM));
}

#[tokio::test(start_paused = true)]
async fn the_decide_function_decides_whether_an_answer_is_final() {
    // It continues after a valid answer, and an invalid one that is not the last is not checked.
    let model = ScriptedModel::new([INVALID, VALID]);
    let agent_of = agent(&model).decide(|mut after| async move {
        if after.number() == 2 {
            return after.stop();
        }
        after.push(Item::user("Are you sure?"));
        after.next()
    });
    let outcome = finish_typed(&agent_of.finish_as().unwrap(), request()).await;
    assert_eq!((outcome.end, outcome.value, model.requests().len()), (LoopEnd::Stopped, SUM, 2));

    // A loop that it stops elsewhere has no value.
    let model = ScriptedModel::default().then([call("c1", "double", "1")]);
    let agent_of = agent(&model).decide(|after| async move { after.stop() });
    let outcome = finish_typed(&agent_of.finish_as().unwrap(), request()).await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Stopped, None));
}

#[tokio::test(start_paused = true)]
async fn other_ends_have_no_value() {
    let model = ScriptedModel::default().then([call("c1", "nothing", "")]).then(VALID);
    let agent_of = agent(&model).fail_on([FailureClass::Call]).finish_as::<Sum>().unwrap();
    let outcome = finish_typed(&agent_of, request()).await;
    assert!(matches!(outcome.end, LoopEnd::CallsFailed { .. }) && outcome.value.is_none());

    let run = typed(&ScriptedModel::new([ScriptedTurn::pending()])).start(request());
    run.cancellation().cancel();
    let outcome = run.finish().await;
    assert_eq!((outcome.end, outcome.value), (LoopEnd::Cancelled, None));
}

#[tokio::test(start_paused = true)]
async fn a_code_fence_is_a_repair() {
    let model = ScriptedModel::new([format!("```json\n{VALID}\n```")]);
    let outcome = finish_typed(&typed(&model), request()).await;
    assert_eq!((outcome.value, outcome.repairs[0].kind), (SUM, RepairKind::CodeFence));
}

#[test]
fn a_state_without_requests_for_a_correction_is_written_as_before() {
    let written = serde_json::to_value(LoopState::new(request())).unwrap();
    assert!(written.get("re_asks").is_none(), "{written}");
}
