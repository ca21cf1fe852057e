//! Middlewares look at arguments, or decide by them.

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Cx, Middleware, Next, Request, Tool, Toolkit};
use serde_json::json;

use super::WAYS;

/// An integer that no tree holds exactly.
const WIDE: &str = "18446744073709551617";

fn mint() -> Tool {
    Tool::new("mint").handler(|amount: u128, _: Cx| async move { amount.to_string() }).unwrap()
}

/// A middleware that looks at a request before it hands it on.
fn looking(look: impl Fn(&Request) + Send + Sync + 'static) -> impl Middleware {
    move |request: Request, next: Next| {
        look(&request);
        next.run(request)
    }
}

#[tokio::test]
async fn a_peek_never_stops_a_call_and_a_decision_by_an_inexact_tree_does() {
    for way in WAYS {
        let peeks = looking(|request| assert!(request.peek_arguments().is_none()));
        let kit: Toolkit = Toolkit::from_iter([mint().wrap(peeks)]);
        assert_eq!(way.run(&kit, &ToolCall::new("c1", "mint", WIDE)).await.to_model_text(), WIDE);

        let decides = looking(|request| {
            assert!(request.peek_arguments().is_none());
            assert!(request.arguments().is_err());
            assert!(request.peek_arguments().is_none());
        });
        let kit: Toolkit = Toolkit::from_iter([mint().wrap(decides)]);
        let result = way.run(&kit, &ToolCall::new("c1", "mint", WIDE)).await;
        assert_eq!(result.failure().unwrap().kind, FailureKind::InputValidationError, "{way:?}");
    }
}

#[tokio::test]
async fn an_exact_tree_is_the_same_for_both() {
    let looks = looking(|request| {
        assert_eq!(request.peek_arguments(), Some(&json!(7)));
        assert_eq!(request.arguments().unwrap(), &json!(7));
    });
    let kit: Toolkit = Toolkit::from_iter([mint().wrap(looks)]);
    assert_eq!(kit.run_call(&ToolCall::new("c1", "mint", " 7 ")).await.to_model_text(), "7");
}

#[tokio::test]
async fn equal_arguments_have_one_canonical_text() {
    let echo = |value: serde_json::Value, _: Cx| async move { value };
    let answers = |request: Request, _: Next| async move { request.answer(&json!(request.canonical_arguments())) };
    let tool = Tool::dynamic("echo").handler(echo).unwrap().wrap(answers);
    let kit: Toolkit = Toolkit::from_iter([tool]);
    for arguments in [r#"{"a":1,"b":[1e1]}"#, r#" { "b" : [10.0], "a" : 1.0 } "#] {
        let result = kit.run_call(&ToolCall::new("c1", "echo", arguments)).await;
        assert_eq!(result.to_model_text(), r#"{"a":1,"b":[10]}"#);
    }
}
