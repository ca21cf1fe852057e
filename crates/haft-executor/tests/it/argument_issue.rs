//! Arguments that could not be converted from the shape in which the model was asked for them.

use haft_core::{FailureKind, ToolCall, ToolFailure};
use haft_executor::{RunOptions, Tool, Toolkit};
use haft_schema::Issue;

fn call(name: &str, arguments: &str) -> ToolCall {
    let mut call = ToolCall::new("c1", name, arguments);
    call.argument_issue = Some(Box::new(Issue::new("/0/key", "decode", "the key occurs twice; send it once")));
    call
}

fn kit() -> Toolkit {
    let double = |name: &str| Tool::new(name).handler(|number: u8, _cx| async move { number * 2 }).unwrap();
    let wrapped =
        double("wrapped").wrap(|request: haft_executor::Request, next: haft_executor::Next| next.run(request));
    let asked = Tool::interaction("asked").params::<u8>().define().unwrap();
    Toolkit::from_iter([double("double"), wrapped, asked])
}

async fn failure(name: &str, arguments: &str) -> Option<ToolFailure> {
    let run = kit().run_with([call(name, arguments)], RunOptions::new());
    run.collect_results().await[0].failure().cloned()
}

#[tokio::test]
async fn rejected_arguments_are_explained_by_the_conversion() {
    for name in ["double", "wrapped", "asked"] {
        let failure = failure(name, "[1]").await.unwrap();
        assert_eq!(failure.kind, FailureKind::InputValidationError, "{name}");
        assert_eq!(failure.message, "/0/key: the key occurs twice; send it once", "{name}");
        assert_eq!(failure.issues.iter().count(), 1, "{name}");
        assert!(!failure.started, "{name}");
    }
}

#[tokio::test]
async fn arguments_that_the_tool_accepts_are_used() {
    let run = kit().run_with([call("double", "4")], RunOptions::new());
    assert_eq!(run.collect_results().await[0].to_model_text(), "8");
}

#[tokio::test]
async fn other_failures_stay_what_they_are() {
    let failure = failure("doubel", "[1]").await.unwrap();
    assert_eq!(failure.kind, FailureKind::UnknownTool);
}

#[test]
fn the_reason_is_stored_with_the_call() {
    let call = call("double", "[1]");
    let stored = serde_json::to_string(&call).unwrap();
    assert_eq!(serde_json::from_str::<ToolCall>(&stored).unwrap(), call);
    assert!(!serde_json::to_string(&ToolCall::new("c1", "double", "4")).unwrap().contains("argument_issue"));
}
