//! Typed calls find a tool by its type, under any name.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use haft_core::{FailureKind, ToolCall};
use haft_executor::{CallError, Cx, Handle, HandlerError, NoFailure, RunOptions, Tool, ToolType, Toolkit};

struct Search {
    site: &'static str,
}

impl ToolType for Search {
    const NAME: &'static str = "search";
    type Params = String;
    type Success = String;
    type Failure = NoFailure;
    type Services = ();
}

impl Handle for Search {
    async fn handle(&self, query: String, _cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{}: {query}", self.site))
    }
}

fn kit(site: &'static str) -> Toolkit {
    Toolkit::new().tool_from(Search { site })
}

async fn find(kit: &Toolkit) -> Result<String, CallError> {
    kit.call_of::<Search>("rust".to_owned(), RunOptions::new()).await
}

#[tokio::test]
async fn a_tool_is_found_in_a_namespace_and_under_another_name() {
    assert_eq!(find(&kit("a").namespace("github").unwrap()).await.unwrap(), "a: rust");
    let nested = kit("a").namespace("github").unwrap().namespace("work").unwrap();
    assert_eq!(find(&nested).await.unwrap(), "a: rust");
    let renamed = kit("a").get("search").unwrap().with_name("look_up").unwrap();
    assert_eq!(find(&Toolkit::from_iter([renamed])).await.unwrap(), "a: rust");
}

#[tokio::test]
async fn two_copies_are_an_error_with_both_names() {
    let both = Toolkit::compose([kit("a").namespace("a").unwrap(), kit("b").namespace("b").unwrap()]).unwrap();
    let error = find(&both).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`a__search`, `b__search`") && text.contains("`call_named`"), "{text}");
    assert!(matches!(error, CallError::Ambiguous(error) if error.names == ["a__search", "b__search"]));
    // The plain name of one of them chooses nothing: the other may be meant.
    let plain = Toolkit::compose([kit("a"), kit("b").namespace("b").unwrap()]).unwrap();
    assert!(matches!(find(&plain).await, Err(CallError::Ambiguous(error)) if error.names == ["search", "b__search"]));
    let (query, options) = ("x".to_owned(), RunOptions::new());
    assert_eq!(both.call_named::<Search>("b__search", query.clone(), &options).await.unwrap(), "b: x");
    let unknown = both.call_named::<Search>("search", query, &options).await.unwrap_err();
    assert!(matches!(unknown, CallError::Fault(failure) if failure.kind == FailureKind::UnknownTool));
}

/// Options may be given or borrowed, in every method that takes them.
#[tokio::test]
async fn options_are_taken_by_value_or_by_reference() {
    let whoami = Tool::new("whoami").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) }).unwrap();
    let kit = Toolkit::from_iter([whoami]).merge(kit("a"));
    let (call, options) = (ToolCall::new("c1", "whoami", ""), RunOptions::new().caller("ana"));
    let borrowed = kit.run_call_with(&call, &options).await;
    let given = kit.run_call_with(&call, options.clone()).await;
    let run = kit.run_with([call.clone()], &options).collect_results().await.remove(0);
    for result in [borrowed, given, run] {
        assert_eq!(result.to_model_text(), "ana");
    }
    kit.ensure_runnable_with(&options).unwrap();
    kit.ensure_runnable_with(options.clone()).unwrap();
    assert_eq!(kit.call_of::<Search>("x".to_owned(), &options).await.unwrap(), "a: x");
    assert_eq!(kit.call_of::<Search>("x".to_owned(), options).await.unwrap(), "a: x");
    // A policy alone is options, too.
    let gated = kit.run_call_with(&call, haft_executor::ApprovalPolicy::always()).await;
    assert_eq!(gated.failure().unwrap().kind, FailureKind::Denied);
}

#[tokio::test]
async fn a_changed_toolkit_is_searched_again() {
    let one = kit("a").namespace("a").unwrap();
    assert_eq!(find(&one).await.unwrap(), "a: rust");
    let both = one.clone().merge(kit("b"));
    assert!(matches!(find(&both).await, Err(CallError::Ambiguous(_))));
    assert_eq!(find(&both.filter(|tool| tool.name() == "search")).await.unwrap(), "b: rust");
    assert_eq!(find(&one.namespace("c").unwrap()).await.unwrap(), "a: rust");
}

#[tokio::test]
async fn the_name_is_used_if_no_tool_has_the_type() {
    let stand_in = Tool::new("search").handler(|query: String, _| async move { format!("stand-in: {query}") });
    let stand_in: Toolkit = Toolkit::from_iter([stand_in.unwrap()]);
    assert_eq!(find(&stand_in).await.unwrap(), "stand-in: rust");
    // A tool of the type comes first, whatever the others are called.
    let beside = stand_in.merge(kit("a").namespace("a").unwrap());
    assert_eq!(find(&beside).await.unwrap(), "a: rust");
    let none: Toolkit = Toolkit::new();
    assert!(none.find::<Search>().unwrap().is_none());
    assert!(matches!(find(&none).await, Err(CallError::Fault(failure)) if failure.kind == FailureKind::UnknownTool));
}

#[tokio::test]
async fn changed_copies_stay_tools_of_their_type() {
    let kit = kit("a").with_handler("search", |query: String, _| async move { query }).unwrap();
    let tool = kit.get("search").unwrap();
    assert!(tool.is_type::<Search>() && tool.clone().with_name("x").unwrap().is_type::<Search>());
    assert!(!Tool::new("search").define().unwrap().is_type::<Search>());
    // The model's calls go by name only.
    let namespaced = kit.namespace("a").unwrap();
    let result = namespaced.run_call(&ToolCall::new("c1", "search", "\"x\"")).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::UnknownTool);
}
