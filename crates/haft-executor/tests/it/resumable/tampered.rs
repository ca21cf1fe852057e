//! Stored calls whose state or questions were changed.

use haft_core::FailureKind;
use haft_executor::SigningKeys;

use super::*;

fn keys() -> RunOptions {
    RunOptions::new().approval_keys(SigningKeys::new("k", b"a secret of thirty-two bytes....").unwrap())
}

fn is_scalar(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

/// Returns the paths of all scalars of a value.
fn scalars(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| scalars(member, &format!("{path}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| scalars(item, &format!("{path}/{n}"), found));
        }
        _ => found.push(path.to_owned()),
    }
}

fn changed(value: &Value) -> Value {
    match value {
        Value::String(text) if text == "7" => "8".into(),
        Value::String(text) => format!("{text}x").into(),
        Value::Number(number) => (number.as_u64().unwrap_or(1) + 1).into(),
        Value::Bool(is) => (!is).into(),
        other => json!([other]),
    }
}

/// A tool whose state is a number that is never 7 again.
fn guarded(log: &Log) -> Toolkit {
    let log = log.clone();
    let tool = Tool::new("sum").resumable(move |_: u32, resumed: Option<Resumed>, _cx| {
        let log = log.clone();
        async move {
            let Some(resumed) = resumed else {
                let questions = [Question::input::<u8>("a"), Question::visit("b", "https://example.com")];
                return Resumable::wait(questions, 7);
            };
            log.note(format!("{} {}", resumed.state_json(), resumed.round()));
            Resumable::Done(resumed.answers()[0].value().map(ToString::to_string))
        }
    });
    kit([tool])
}

/// Each member of a stored run is changed in turn: what reaches the handler is what was stored, or nothing.
#[tokio::test]
async fn a_changed_state_or_question_never_reaches_the_handler() {
    for (options, is_signed) in [(RunOptions::new(), false), (keys(), true)] {
        let log = Log::default();
        let kit = guarded(&log);
        let suspended = suspend(&kit, &options, &[call(1)]).await;
        let whole = serde_json::to_value(&suspended).unwrap();
        let mut paths = Vec::new();
        scalars(&whole, "", &mut paths);
        assert!(paths.len() > 20, "{paths:?}");
        let (mut rejected, mut reached) = (0, Vec::new());
        for path in &paths {
            let mut forged = whole.clone();
            let at = forged.pointer_mut(path).unwrap();
            assert!(is_scalar(at));
            *at = changed(at);
            let Ok(read) = serde_json::from_value::<Suspended>(forged) else {
                rejected += 1;
                continue;
            };
            // The person answers what they are shown, whatever it is.
            let answers: Vec<Verdict> = read
                .pending()
                .map(|request| match request.question.as_deref() {
                    Some(Question::Visit { .. }) => request.approve(),
                    _ => request.answer(json!(5)),
                })
                .collect();
            let options = options.clone().approvals(Suspend);
            match kit.resume_with(read, answers, options).collect_or_suspend().await {
                Ok(results) if results[0].is_ok() => reached.push(path.as_str()),
                Ok(results) => {
                    let failure = results[0].failure().unwrap();
                    assert!(
                        matches!(
                            failure.kind,
                            FailureKind::Denied
                                | FailureKind::Cancelled
                                | FailureKind::UnknownTool
                                | FailureKind::InputValidationError
                        ),
                        "{path}: {failure}"
                    );
                    rejected += 1;
                }
                Err(_) => rejected += 1,
            }
        }
        assert!(log.lines().iter().all(|line| line == "7 1"), "{:?}", log.lines());
        // The id of the run is bound by the signature alone.
        let harmless: &[&str] = if is_signed { &[] } else { &["/run_id"] };
        assert_eq!(reached, harmless, "{rejected} were rejected");
    }
}

#[tokio::test]
async fn a_question_without_its_state_and_a_state_without_its_question_are_rejected() {
    let kit = guarded(&Log::default());
    let suspended = suspend(&kit, &RunOptions::new(), &[call(1)]).await;
    let whole = serde_json::to_value(&suspended).unwrap();
    let forge = |change: fn(&mut Value)| {
        let mut forged = whole.clone();
        change(&mut forged);
        serde_json::from_value::<Suspended>(forged).unwrap_err().to_string()
    };
    let message = forge(|it| drop(it.as_object_mut().unwrap().remove("waiting")));
    assert!(message.contains("whose state is missing"), "{message}");
    for change in [
        (|it: &mut Value| drop(it["pending"].as_array_mut().unwrap().pop())) as fn(&mut Value),
        |it| it["waiting"][0]["wait"]["questions"] = json!([]),
        |it| drop(it["pending"][0].as_object_mut().unwrap()["request"].as_object_mut().unwrap().remove("question")),
        |it| {
            let again = it["pending"][0].clone();
            it["pending"].as_array_mut().unwrap().push(again);
        },
        |it| {
            let again = it["waiting"][0].clone();
            it["waiting"].as_array_mut().unwrap().push(again);
        },
    ] {
        let message = forge(change);
        assert!(
            ["not the questions that it asked", "more than one", "share one"].iter().any(|part| message.contains(part))
                || message.contains("two calls have"),
            "{message}"
        );
    }
    let message = forge(|it| it["waiting"][0]["index"] = json!(7));
    assert!(message.contains("there are only 1 calls"), "{message}");
}

/// Answers that are stored with a call are compared like others.
#[tokio::test]
async fn an_answer_that_was_stored_must_answer_its_question() {
    let log = Log::default();
    let kit = guarded(&log);
    let suspended = suspend(&kit, &keys(), &[call(1)]).await;
    let first = suspended.pending().next().unwrap().answer(json!(5));
    let left = kit.resume_with(suspended, [first], keys()).collect_or_suspend().await.unwrap_err();
    let whole = serde_json::to_value(&left).unwrap();
    assert_eq!(whole["waiting"][0]["wait"]["answers"].as_array().unwrap().len(), 1);
    for (path, value) in [
        ("/waiting/0/wait/answers/0/verdict/answer", json!(1_000)),
        ("/waiting/0/wait/answers/0/verdict/decision", json!("approved")),
        ("/waiting/0/wait/answers/0/verdict/signature/mac", json!("00")),
        ("/waiting/0/wait/answers/0/verdict/digest", json!("sha256:00")),
        ("/waiting/0/wait/answers/0/request/question/message", json!("z")),
        ("/waiting/0/wait/answers/0/request/signature/mac", json!("00")),
    ] {
        let mut forged = whole.clone();
        *forged.pointer_mut(path).unwrap() = value;
        let read: Suspended = serde_json::from_value(forged).unwrap();
        let second = read.pending().next().unwrap().approve();
        let results = kit.resume_with(read, [second], keys()).collect_or_suspend().await.unwrap();
        assert_eq!(results[0].failure().unwrap().kind, FailureKind::Denied, "{path}");
    }
    assert!(log.lines().is_empty());
}

/// The answer to one question is not the answer to another, nor to one of another round.
#[tokio::test]
async fn an_answer_counts_for_one_question() {
    let kit = sum_kit(&Log::default());
    let suspended = suspend(&kit, &keys(), &[call(2), ToolCall::new("c2", "sum", "2")]).await;
    let requests: Vec<_> = suspended.pending().cloned().collect();
    let mut crossed = requests[0].answer(json!(5));
    crossed.request_id = requests[1].request_id.clone();
    let run = kit.resume_with(stored(&suspended), [crossed], keys().approvals(Suspend));
    assert_eq!(run.rejected_verdicts().len(), 1);

    let first = requests[0].answer(json!(5));
    let run = kit.resume_with(suspended, [first.clone()], keys().approvals(Suspend));
    let next = stored(&run.collect_or_suspend().await.unwrap_err());
    let mut late = first;
    late.request_id = next.pending().next().unwrap().request_id.clone();
    let run = kit.resume_with(next, [late], keys().approvals(Suspend));
    assert_eq!(run.rejected_verdicts().len(), 1);
}

#[tokio::test]
async fn a_call_of_a_changed_tool_does_not_go_on() {
    let log = Log::default();
    let suspended = suspend(&sum_kit(&log), &RunOptions::new(), &[call(1)]).await;
    let answers = answer_all(&suspended, &json!(5));
    let changed = kit([Ok(sum_of(Tool::new("sum").describe("Adds what you say."), &log))]);
    let results = changed.resume(suspended, answers).collect_or_suspend().await.unwrap();
    let failure = results[0].failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::Denied, true));
    assert!(failure.message.contains("changed while it waited"), "{}", failure.message);
    assert_eq!(log.lines().len(), 1);
}
