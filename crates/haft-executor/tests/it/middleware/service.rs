//! Middlewares provide services to the handler.

use std::sync::Arc;

use haft_core::{FailureKind, Outcome, ToolCall, ToolResult};
use haft_executor::{Cx, Dependency, Middleware, Needs, Next, Request, Services, Tool, Toolkit};

use super::WAYS;

#[derive(Debug, PartialEq)]
struct Session(&'static str);

trait Clock: Send + Sync {
    fn now(&self) -> u64;
}

struct Fixed(u64);

impl Clock for Fixed {
    fn now(&self) -> u64 {
        self.0
    }
}

/// Provides a session, as it declares; or declares it and provides none.
struct Sessions {
    name: &'static str,
    is_honest: bool,
}

impl Sessions {
    fn named(name: &'static str) -> Self {
        Self { name, is_honest: true }
    }
}

impl Middleware for Sessions {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let request = if self.is_honest { request.with_service(Session(self.name)) } else { request };
        next.run(request).await
    }

    fn provides(&self) -> Vec<Dependency> {
        <(Needs<Session>,) as haft_executor::ServiceList>::dependencies()
    }
}

/// Needs a session, and renames it for everything inside.
struct Renames;

impl Middleware for Renames {
    type Services = (Needs<Session>,);

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let renamed = match request.cx().service::<Session>() {
            Ok(Session("outer")) => "renamed",
            _ => "unexpected",
        };
        next.run(request.with_service(Session(renamed))).await
    }
}

fn tool() -> Tool {
    let name = |(), cx: Cx| async move { cx.service::<Session>().map_or("none", |session| session.0) };
    Tool::new("t").handler(name).unwrap().add_dependency::<Session>().unwrap()
}

async fn every_way(tool: &Tool) -> Vec<ToolResult> {
    let kit: Toolkit = Toolkit::from_iter([tool.clone()]);
    let mut results = Vec::new();
    for way in WAYS {
        results.push(way.run(&kit, &ToolCall::new("c1", "t", "")).await);
    }
    results
}

async fn texts(tool: &Tool) -> Vec<String> {
    every_way(tool).await.iter().map(ToolResult::to_model_text).collect()
}

#[tokio::test]
async fn a_service_of_a_middleware_satisfies_a_tool_that_needs_it() {
    let kit: Toolkit = Toolkit::from_iter([tool()]);
    assert_eq!(kit.ensure_runnable().unwrap_err().missing_services.len(), 1);
    let wrapped = tool().wrap(Sessions::named("middleware"));
    assert!(wrapped.dependencies().is_empty());
    let kit: Toolkit = Toolkit::from_iter([wrapped.clone()]);
    kit.ensure_runnable().unwrap();
    assert_eq!(texts(&wrapped).await, ["middleware"; 3]);
    // A toolkit that is wrapped as a whole is the same.
    let kit: Toolkit = Toolkit::from_iter([tool()]).wrap(Sessions::named("kit"));
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.run_call(&ToolCall::new("c1", "t", "")).await.to_model_text(), "kit");
}

#[tokio::test]
async fn a_service_of_a_middleware_is_in_front_of_all_others() {
    let wrapped = tool().wrap(Sessions::named("inner")).wrap(Sessions::named("outer"));
    let kit: Toolkit = Toolkit::from_iter([wrapped]).with_services(Services::new().with(Session("toolkit")));
    let options = haft_executor::RunOptions::new().services(Services::new().with(Session("run")));
    let call = ToolCall::new("c1", "t", "");
    assert_eq!(kit.run_call_with(&call, &options).await.to_model_text(), "inner");
    assert_eq!(kit.run_with([call], options).collect_results().await[0].to_model_text(), "inner");
}

#[tokio::test]
async fn a_middleware_is_provided_for_by_those_around_it_alone() {
    let satisfied = tool().wrap(Renames).wrap(Sessions::named("outer"));
    assert!(satisfied.dependencies().is_empty());
    assert_eq!(texts(&satisfied).await, ["renamed"; 3]);
    let unsatisfied = tool().wrap(Sessions::named("inner")).wrap(Renames);
    assert_eq!(unsatisfied.dependencies(), [Dependency::of::<Session>()]);
    for result in every_way(&unsatisfied).await {
        assert_eq!(result.failure().unwrap().kind, FailureKind::ExecutionError);
    }
}

#[tokio::test]
async fn a_dependency_that_is_added_later_is_satisfied_too() {
    let plain = Tool::new("t").handler(|(), cx: Cx| async move { cx.service::<Session>().unwrap().0 }).unwrap();
    let wrapped = plain.wrap(Sessions::named("middleware")).add_dependency::<Session>().unwrap();
    assert!(wrapped.dependencies().is_empty());
    assert_eq!(texts(&wrapped).await, ["middleware"; 3]);
}

#[tokio::test]
async fn a_service_that_is_declared_and_not_provided_fails_the_call_before_its_handler_begins() {
    let wrapped = tool().wrap(Sessions { name: "", is_honest: false });
    for result in every_way(&wrapped).await {
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, false));
        let cause = failure.cause_chain().unwrap();
        assert!(cause.contains("Sessions") && cause.contains("Session`"), "{cause}");
        assert!(!failure.to_model_text().contains("Session"));
    }
}

#[tokio::test]
async fn a_service_may_be_a_trait_object_and_need_not_be_declared() {
    let time =
        Tool::new("t").handler(|(), cx: Cx| async move { cx.service::<dyn Clock>().map_or(0, Clock::now) }).unwrap();
    let clock: Arc<dyn Clock> = Arc::new(Fixed(7));
    let wrapped = time.wrap(move |request: Request, next: Next| {
        next.run(request.with_shared_service::<dyn Clock>(Arc::clone(&clock)))
    });
    assert_eq!(texts(&wrapped).await, ["7"; 3]);
}
