//! Turns of all kinds: complete, cut off, paused, empty.

use haft_core::{Delta, Finish, Item, Message, Reasoning, Role, Turn, Usage, history};
use haft_model::{LoopEnd, LoopError, ScriptedModel, ScriptedTurn};
use serde_json::json;

use super::*;

#[tokio::test(start_paused = true)]
async fn continues_until_the_model_makes_no_more_calls() {
    let model = ScriptedModel::default()
        .then(ScriptedTurn::calls([call("c1", "add", "[1,2]"), call("c2", "double", "4")]).usage(Usage::new(10, 1)))
        .then(ScriptedTurn::calls([call("c3", "double", "3")]).usage(Usage::new(20, 2)))
        .then(ScriptedTurn::text("done").usage(Usage::new(30, 3)));
    let outcome = finish(&agent(&model), request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped);
    let state = outcome.state;
    assert_eq!(
        told(state.history()),
        ["user", "call c1", "call c2", "output c1: 3", "output c2: 8", "call c3", "output c3: 6", "assistant"]
    );
    assert_eq!((state.turns(), state.calls(), state.text().as_str()), (3, 3, "done"));
    assert_eq!(state.usage(), Usage::new(60, 6));
    model.finish().unwrap();
    assert_eq!(model.requests()[1].history, state.history()[..5]);
}

#[tokio::test(start_paused = true)]
async fn each_request_offers_the_tools_and_no_state_keeps_them() {
    let model = ScriptedModel::default().then("hi");
    let state = finish(&agent(&model), request().tools(&kit().filter(|tool| tool.name() == "add"))).await.state;
    let names: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["add", "double", "wait", "note", "ask"]);
    assert!(state.request().tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_cut_off_runs_nothing() {
    for reason in [Finish::Length, Finish::ContentFilter, Finish::Refusal, Finish::from("solar_flare")] {
        let cut = turn_of([call("c1", "add", "[1,2]"), call("c2", "note", "1"), call("c3", "ask", "\"?\"")], reason);
        let model = ScriptedModel::default().then(cut).then("I see");
        let seen = events(agent(&model).start(request())).await;
        let told = words(&seen);
        let outputs: Vec<_> = told.iter().filter(|word| word.starts_with("output")).collect();
        assert_eq!(outputs, ["output 0: interrupted", "output 1: interrupted", "output 2: interrupted"]);
        assert!(!told.iter().any(|word| word.starts_with("signal")));
        let Some(LoopEvent::Ended { end: LoopEnd::Stopped, state }) = seen.last() else { panic!("{told:?}") };
        assert_eq!(state.calls(), 0, "nothing was handed on");
        assert!(history::is_reconciled(state.history()));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_cut_off_ends_the_loop_as_truncated_and_can_be_continued() {
    for reason in [Finish::Length, Finish::Error, Finish::from("model_context_window_exceeded")] {
        let cut = Turn::new(vec![Item::assistant("Once upon a ")], reason.clone());
        let model = ScriptedModel::default().then(cut).then("time.");
        let outcome = finish(&agent(&model), request()).await;
        assert_eq!(outcome.end, LoopEnd::Truncated { finish: reason });
        assert!(!outcome.state.is_done() && outcome.state.text() == "Once upon a ");
        let mut state = stored(&outcome.state);
        state.request_mut().history.push(Item::user("go on"));
        assert_eq!(finish(&agent(&model), state).await.end, LoopEnd::Stopped);
    }
    // There is no more to come of these.
    for reason in [Finish::ContentFilter, Finish::Refusal] {
        let model = ScriptedModel::default().then(Turn::new(vec![Item::assistant("I can't")], reason));
        assert_eq!(finish(&agent(&model), request()).await.end, LoopEnd::Stopped);
    }
}

#[tokio::test(start_paused = true)]
async fn the_decision_about_an_answer_that_was_cut_off_is_the_applications() {
    let cut = || Turn::new(vec![Item::assistant("Once upon a ")], Finish::Length);
    let model = ScriptedModel::default().then(cut());
    let stops = agent(&model).decide(|after| async move { after.stop() });
    assert_eq!(finish(&stops, request()).await.end, LoopEnd::Stopped);
    let model = ScriptedModel::default().then(cut());
    let usual = agent(&model).decide(|after| async move { after.as_usual() });
    assert_eq!(finish(&usual, request()).await.end, LoopEnd::Truncated { finish: Finish::Length });
}

#[tokio::test(start_paused = true)]
async fn a_model_may_have_nothing_to_add_to_the_result_of_a_tool() {
    for silence in [vec![], vec![Item::assistant(" ")]] {
        let silent = Turn::new(silence, Finish::Stop);
        let model = ScriptedModel::default().then([call("c1", "add", "[1,2]")]).then(silent);
        let seen = events(agent(&model).start(request())).await;
        let Some(LoopEvent::Ended { end, state }) = seen.last() else { panic!("{seen:?}") };
        assert_eq!(
            (end, told(state.history())),
            (&LoopEnd::Stopped, vec!["user".into(), "call c1".into(), "output c1: 3".into()])
        );
        assert!(state.is_done() && words(&seen).contains(&"ended 2 with 0".to_owned()));
        assert_eq!(finish(&agent(&model), stored(state)).await.end, LoopEnd::Stopped, "it stays done");
    }
    // Cut off, it is not the end.
    let model = ScriptedModel::default().then([call("c1", "add", "[1,2]")]).then(Turn::new(vec![], Finish::Length));
    let end = finish(&agent(&model), request()).await.end;
    assert!(matches!(end, LoopEnd::Failed(LoopError::EmptyTurn { finish: Finish::Length })), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn the_decide_function_is_asked_about_a_silent_turn() {
    let model =
        ScriptedModel::default().then([call("c1", "add", "[1,2]")]).then(Turn::new(vec![], Finish::Stop)).then("3");
    let agent = agent(&model).decide(|mut after| async move {
        if after.turn().items.is_empty() {
            after.push(Item::user("Please continue."));
            return after.next();
        }
        after.as_usual()
    });
    let outcome = finish(&agent, request()).await;
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "3"));
}

#[tokio::test(start_paused = true)]
async fn a_paused_turn_is_continued() {
    let paused = Turn::new(vec![Item::assistant("let me think")], Finish::Pause);
    let model = ScriptedModel::default().then(paused).then("done");
    let outcome = finish(&agent(&model), request()).await;
    assert_eq!((outcome.end, outcome.state.turns()), (LoopEnd::Stopped, 2));
    assert_eq!(outcome.state.text(), "let me thinkdone");
}

#[tokio::test(start_paused = true)]
async fn an_empty_turn_is_an_error_and_its_usage_counts() {
    let blank = Message::new(Role::Assistant, vec![haft_core::ContentPart::text(" \n")]);
    for items in [vec![], vec![Item::assistant("")], vec![blank.into(), Item::assistant("\t")]] {
        let empty = Turn::new(items, Finish::Stop).usage(Usage::new(5, 0));
        let model = ScriptedModel::default().then(empty);
        let outcome = finish(&agent(&model), request()).await;
        assert!(matches!(outcome.end, LoopEnd::Failed(LoopError::EmptyTurn { finish: Finish::Stop })));
        assert_eq!((outcome.state.history(), outcome.state.turns()), (&request().history[..], 0));
        assert_eq!(outcome.state.usage(), Usage::new(5, 0));
    }
    let thought = Turn::new(vec![Reasoning::text("hm").into()], Finish::Stop);
    let refusal = Message::new(Role::Assistant, vec![haft_core::ContentPart::refusal("")]);
    for turn in [thought, Turn::new(vec![refusal.into()], Finish::Stop)] {
        let outcome = finish(&agent(&ScriptedModel::default().then(turn)), request()).await;
        assert_eq!(outcome.end, LoopEnd::Stopped, "something was said");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_tools_bad_arguments_and_failures_are_results_the_model_reads() {
    let calls = [call("c1", "adds", "[1,2]"), call("c2", "add", "{"), call("c3", "add", "[1,2]")];
    let model = ScriptedModel::default().then(calls).then("sorry");
    let outcome = finish(&agent(&model), request()).await;
    assert_eq!(
        told(outcome.state.history())[4..7],
        ["output c1: unknown_tool", "output c2: input_validation_error", "output c3: 3"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_that_was_used_before_is_replaced_everywhere() {
    let model = ScriptedModel::default()
        .then([call("call_0", "double", "1")])
        .then([call("call_0", "double", "3")])
        .then("done");
    let seen = events(agent(&model).start(request())).await;
    let Some(LoopEvent::Ended { state, .. }) = seen.last() else { panic!() };
    assert!(history::is_reconciled(state.history()));
    let completed = seen.iter().filter_map(|event| match event {
        LoopEvent::Delta(Delta::TurnComplete(turn)) => Some(turn.tool_calls()),
        _ => None,
    });
    let announced: Vec<_> = completed.flatten().map(|call| call.call_id).collect();
    let ran = seen.iter().filter_map(|event| match event {
        LoopEvent::Tool(event) => event.result().map(|result| result.call_id.clone()),
        _ => None,
    });
    let answered: Vec<_> = state
        .history()
        .iter()
        .filter_map(|item| match item {
            Item::ToolOutput(output) => Some(output.call_id.clone()),
            _ => None,
        })
        .collect();
    assert_eq!((&announced, &ran.collect::<Vec<_>>()), (&answered, &answered), "one id for one call, to the end");
    assert_ne!(answered[0], answered[1]);
}

#[tokio::test(start_paused = true)]
async fn of_two_calls_with_one_id_the_first_counts() {
    for (first, answer) in [("double", "2"), ("forbidden", "tool_choice_violation")] {
        let twins = [call("c1", first, "1"), call("c1", "ask", "\"?\""), call("c1", "note", "1")];
        let model = ScriptedModel::default().then(twins).then("done");
        let allowed = haft_core::ToolChoice::may_call(["double", "ask", "note"]);
        let outcome = finish(&agent(&model), request().tool_choice(allowed)).await;
        assert_eq!(outcome.end, LoopEnd::Stopped, "nothing waits for a twin");
        assert!(history::is_reconciled(outcome.state.history()));
        let outputs: Vec<_> = told(&outcome.state.history()[4..7])
            .into_iter()
            .map(|item| item.split_once(": ").unwrap().1.to_owned())
            .collect();
        assert_eq!(outputs, [answer, "duplicate_call_id", "duplicate_call_id"]);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_of_the_provider_are_not_run() {
    let turn = turn_of([call("c1", "web_search", "{}").executed_by_provider()], Finish::Stop);
    let outcome = finish(&agent(&ScriptedModel::default().then(turn)), request()).await;
    assert_eq!((outcome.end, outcome.state.calls()), (LoopEnd::Stopped, 0));
}

#[tokio::test(start_paused = true)]
async fn handlers_read_the_conversation_up_to_their_call() {
    let tool = Tool::new("count").handler(|(), cx: haft_executor::Cx| async move { cx.messages().len() }).unwrap();
    let model = ScriptedModel::default().then([call("c1", "count", "{}")]).then([call("c2", "count", "")]).then("done");
    let outcome = finish(&TurnLoop::new(model, Toolkit::from_iter([tool])), request()).await;
    assert_eq!(told(outcome.state.history())[1..5], ["call c1", "output c1: 2", "call c2", "output c2: 4"]);
}

#[tokio::test(start_paused = true)]
async fn tools_that_the_caller_may_not_see_are_neither_offered_nor_run() {
    use haft_core::Caller;
    use haft_executor::{Cx, Permission, Permit, Permitting, RunOptions};
    struct Strict;
    impl Permit for Strict {
        fn permit(&self, tool: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
            if tool.name() == "ask" {
                Permission::denied("no user is present").into()
            } else {
                Permission::Allowed.into()
            }
        }
        fn sees(&self, tool: &Tool, caller: Option<&Caller>) -> bool {
            caller.is_some() && tool.name() != "note" && tool.name() != "add"
        }
    }
    let calls =
        [call("c1", "add", "[1,2]"), call("c2", "note", "1"), call("c3", "ask", "\"?\""), call("c4", "double", "1")];
    let model = ScriptedModel::default().then(calls).then("done");
    let agent = agent(&model).options(RunOptions::new().permit(Strict).caller("ana"));
    let outcome = finish(&agent, request()).await;
    assert_eq!(outcome.end, LoopEnd::Stopped, "what is not permitted neither signals nor waits");
    let names: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(names, ["double", "wait", "ask"]);
    let kinds = ["unknown_tool", "unknown_tool", "permission_denied", "2"];
    for (item, (id, kind)) in told(outcome.state.history())[5..9].iter().zip(["c1", "c2", "c3", "c4"].iter().zip(kinds))
    {
        assert_eq!(item, &format!("output {id}: {kind}"));
    }
}

/// Deltas are for display: whatever they contain, only the complete turn is run, recorded and counted.
#[tokio::test(start_paused = true)]
async fn deltas_that_contradict_the_turn_are_passed_on_and_change_nothing() {
    let unknown: Delta = serde_json::from_value(json!({"type": "mood_delta", "mood": "good"})).unwrap();
    let deltas = vec![
        Delta::text("something else"),
        Delta::ToolCallStart { call_id: "c9".into(), name: "double".to_owned() },
        Delta::ToolCallEnd { call_id: "c9".into() },
        Delta::ProviderCallOutput { call_id: "c1".into(), output: json!(99).into(), is_error: true },
        Delta::CitationDelta { citation: haft_core::Citation::url("https://a.example"), part: 7 },
        unknown,
        Delta::UsageUpdate(Usage::new(1_000, 1_000)),
    ];
    let turn = ScriptedTurn::calls([call("c1", "double", "4")]).usage(Usage::new(1, 2)).deltas(deltas.clone());
    let model = ScriptedModel::default().then(turn).then("done");
    let seen = events(agent(&model).start(request())).await;
    let passed = seen.iter().filter_map(|event| match event {
        LoopEvent::Delta(delta) if !matches!(delta, Delta::TurnComplete(_)) => Some(delta.clone()),
        _ => None,
    });
    assert_eq!(passed.take(deltas.len()).collect::<Vec<_>>(), deltas);
    for event in &seen {
        let written = serde_json::to_string(event).unwrap();
        assert_eq!(serde_json::from_str::<LoopEvent>(&written).unwrap(), *event);
    }
    let Some(LoopEvent::Ended { end: LoopEnd::Stopped, state }) = seen.last() else { panic!("{:?}", seen.last()) };
    assert_eq!(told(state.history())[1..], ["call c1", "output c1: 8", "assistant"]);
    assert_eq!((state.usage(), state.calls()), (Usage::new(1, 2), 1));
}
