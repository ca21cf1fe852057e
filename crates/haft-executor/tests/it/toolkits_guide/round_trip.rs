//! The complete round trip: a model makes calls, they run, results join the history, the model answers.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::StreamExt;
use haft_core::{Finish, Item, ToolCall, ToolResult, Turn};
use haft_executor::{Cx, HandlerError, Step, Tool, Toolkit};
use tokio::time::sleep;

use crate::executing::{calls, kit, told};

/// A model with scripted answers, which records its requests.
struct Scripted {
    turns: VecDeque<Turn>,
    seen: Vec<Vec<Item>>,
}

impl Scripted {
    fn next(&mut self, history: &[Item]) -> Turn {
        self.seen.push(history.to_vec());
        self.turns.pop_front().unwrap()
    }
}

/// Runs the loop of an application: it owns the history, and decides what runs.
async fn converse(model: &mut Scripted, kit: &Toolkit) -> (Vec<Item>, Vec<String>) {
    let mut history = vec![Item::user("what is the time in Oslo and in Paris?")];
    let mut shown = Vec::new();
    loop {
        let turn = model.next(&history);
        let calls = turn.tool_calls();
        if calls.is_empty() {
            history.extend(turn.items);
            return (history, shown);
        }
        let mut steps = kit.run(calls).continue_with_results(|results| {
            history.extend(turn.items.iter().cloned());
            history.extend(results.iter().map(ToolResult::to_call_output).map(Item::ToolOutput));
        });
        while let Some(step) = steps.next().await {
            if let Step::Event(event) = step {
                shown.push(told(&event));
            }
        }
    }
}

fn slow_clock() -> Toolkit {
    kit([Tool::new("time").try_handler_mixed(|(city, seconds): (String, u64), cx: Cx| async move {
        cx.emit(&city).await?;
        sleep(Duration::from_secs(seconds)).await;
        Ok::<_, HandlerError>(format!("noon in {city}"))
    })])
}

#[tokio::test(start_paused = true)]
async fn results_join_the_history_in_the_order_of_the_calls() {
    let asked = calls([("time", r#"["Oslo",5]"#), ("time", r#"["Paris",1]"#), ("tmie", "{}")]);
    let mut turns = VecDeque::new();
    let mut items = vec![Item::assistant("Let me look.")];
    items.extend(asked.iter().cloned().map(Item::from));
    turns.push_back(Turn::new(items, Finish::ToolCalls));
    turns.push_back(Turn::new(vec![Item::assistant("Noon.")], Finish::Stop));
    let mut model = Scripted { turns, seen: Vec::new() };

    let (history, shown) = converse(&mut model, &slow_clock()).await;
    assert_eq!(
        shown,
        [
            "c1 progress \"Oslo\"",
            "c2 progress \"Paris\"",
            "c3 output unknown_tool",
            "c2 output \"noon in Paris\"",
            "c1 output \"noon in Oslo\""
        ]
    );
    let form: Vec<_> = history
        .iter()
        .map(|item| match item {
            Item::ToolCall(ToolCall { call_id, .. }) => format!("call {call_id}"),
            Item::ToolOutput(output) => format!("answer {}", output.call_id),
            _ => "message".to_owned(),
        })
        .collect();
    assert_eq!(
        form,
        ["message", "message", "call c1", "call c2", "call c3", "answer c1", "answer c2", "answer c3", "message"]
    );
    assert_eq!(model.seen[1], history[..8], "the model is shown its calls and their answers");
}

/// The application may redact or re-route between the run and the history; the model reads the rest.
#[tokio::test(start_paused = true)]
async fn a_continuation_gets_structured_results() {
    let run = slow_clock().run(calls([("time", r#"["Oslo",1]"#), ("ghost", "{}")]));
    let steps: Vec<_> = run
        .continue_with_results(|results| {
            results.into_iter().map(|result| (result.call_id.to_string(), result.is_ok())).collect::<Vec<_>>()
        })
        .collect()
        .await;
    let Some(Step::Next(answers)) = steps.last() else { panic!("{steps:?}") };
    assert_eq!(answers, &[("c1".to_owned(), true), ("c2".to_owned(), false)]);
}
