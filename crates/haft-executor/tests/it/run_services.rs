//! Services that each run provides: declared on the tool, checked before anything starts.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{Caller, FailureKind, Outcome, ToolCall};
use haft_executor::{
    Cx, Dependency, EmptyParams, Handle, HandlerError, Middleware, Needs, Next, NoFailure, PerRun, Provide, Request,
    RunOptions, ServiceList, ServiceSource, Services, Tool, ToolType, Toolkit,
};

use crate::executing::{calls, kit};

struct Tenant(&'static str);

trait Clock: Send + Sync {
    fn hour(&self) -> u8;
}

struct At(u8);

impl Clock for At {
    fn hour(&self) -> u8 {
        self.0
    }
}

/// Returns the tenant's name, and counts its runs.
fn whose(ran: &Arc<AtomicUsize>) -> Tool {
    let ran = Arc::clone(ran);
    Tool::new("whose")
        .depends_on_run::<Tenant>()
        .handler(move |(), cx: Cx| {
            ran.fetch_add(1, Ordering::SeqCst);
            async move { cx.service::<Tenant>().unwrap().0 }
        })
        .unwrap()
}

fn plain() -> Tool {
    Tool::new("plain").handler(|(), _| async { 1 }).unwrap()
}

fn of(tenant: &'static str) -> RunOptions {
    RunOptions::new().service(Tenant(tenant))
}

/// Results of one call, alone and in a run.
async fn texts(kit: &Toolkit, tool: &str, options: &RunOptions) -> [String; 2] {
    let call = ToolCall::new("c1", tool, "");
    let alone = kit.run_call_with(&call, options).await;
    let in_run = kit.run_with([&call], options.clone()).collect_results().await;
    [alone, in_run[0].clone()].map(|result| match result.failure() {
        Some(failure) => failure.kind.to_string(),
        None => result.to_model_text(),
    })
}

#[tokio::test]
async fn a_run_provides_the_service() {
    let ran = Arc::default();
    let kit = kit([Ok(whose(&ran)), Ok(plain())]);
    kit.ensure_runnable().unwrap();
    kit.ensure_runnable_with(of("ana")).unwrap();
    assert_eq!(texts(&kit, "whose", &of("ana")).await, ["ana", "ana"]);
    assert_eq!(texts(&kit, "whose", &of("bob")).await, ["bob", "bob"]);
    assert_eq!(ran.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_run_without_it_starts_nothing() {
    let ran = Arc::default();
    let other = Tool::new("other").depends_on_run::<dyn Clock>().depends_on::<u8>().handler(|(), _| async {});
    let kit = kit([Ok(whose(&ran)), Ok(plain()), other]);
    let missing = |options: &RunOptions| {
        let problems = kit.ensure_runnable_with(options).unwrap_err();
        assert!(problems.missing_handlers.is_empty() && problems.faults.is_empty());
        let services = problems.missing_services.iter();
        services.map(|missing| (missing.tool.clone(), missing.service, missing.provided_by)).collect::<Vec<_>>()
    };
    let tenant = ("whose".to_owned(), std::any::type_name::<Tenant>(), ServiceSource::RunOnly);
    let clock = ("other".to_owned(), std::any::type_name::<dyn Clock>(), ServiceSource::RunOnly);
    let number = ("other".to_owned(), "u8", ServiceSource::ToolkitOrRun);
    assert_eq!(missing(&RunOptions::new()), [tenant, clock.clone(), number.clone()]);
    assert_eq!(missing(&of("ana")), [clock.clone(), number.clone()]);
    assert_eq!(missing(&of("ana").service(7_u8)), [clock]);
    assert_eq!(missing(&of("ana").shared_service::<dyn Clock>(Arc::new(At(7)))), [number]);
    let problems = kit.ensure_runnable().unwrap_err().missing_services;
    assert_eq!(problems.len(), 1, "the toolkit lacks only what it has to provide: {problems:?}");

    for options in [RunOptions::new(), of("ana")] {
        for tool in ["whose", "plain", "other"] {
            assert_eq!(texts(&kit, tool, &options).await, ["execution_error", "execution_error"]);
        }
    }
    let result = kit.run_call(&ToolCall::new("c1", "plain", "")).await;
    let failure = result.failure().unwrap();
    assert!(!failure.started);
    let cause = failure.source().unwrap().to_string();
    assert!(cause.contains("`whose` requires the service") && cause.contains("`RunOptions::service`"), "{cause}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);

    let all = of("ana").service(7_u8).shared_service::<dyn Clock>(Arc::new(At(7)));
    kit.ensure_runnable_with(&all).unwrap();
    assert_eq!(texts(&kit, "plain", &all).await, ["1", "1"]);
}

/// One value for all callers is not one per run.
#[tokio::test]
async fn a_service_of_the_toolkit_does_not_count() {
    let ran = Arc::default();
    let shared = kit([Ok(whose(&ran))]).with_services(Services::new().with(Tenant("everyone")));
    assert!(shared.ensure_runnable_with(RunOptions::new()).is_err());
    assert_eq!(texts(&shared, "whose", &RunOptions::new()).await, ["execution_error", "execution_error"]);
    assert_eq!(texts(&shared, "whose", &of("ana")).await, ["ana", "ana"]);
    let merged = kit([Ok(plain())]).merge(shared.clone());
    assert_eq!(texts(&merged, "plain", &RunOptions::new()).await, ["execution_error", "execution_error"]);
    assert_eq!(texts(&merged, "whose", &of("ana")).await, ["ana", "ana"]);
}

/// Gives each caller its tenant; a caller without one gets none.
struct ByCaller;

impl Middleware for ByCaller {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let tenant = match request.cx().caller().map(Caller::as_str) {
            Some("ana") => Some(Tenant("of ana")),
            Some("bob") => Some(Tenant("of bob")),
            _ => None,
        };
        next.run(match tenant {
            Some(tenant) => request.with_service(tenant),
            None => request,
        })
        .await
    }

    fn provides(&self) -> Vec<Dependency> {
        vec![Dependency::of::<Tenant>()]
    }
}

/// A middleware that declares a service and hands on a call without it fails that call, also where the toolkit has one
/// that all callers share.
#[tokio::test]
async fn a_middleware_provides_it_by_caller() {
    let ran = Arc::default();
    let tools = || kit([Ok(whose(&ran)), Ok(plain())]);
    let shared = Services::new().with(Tenant("everyone"));
    for kit in [tools().wrap(ByCaller), tools().wrap(ByCaller).with_services(shared)] {
        kit.ensure_runnable_with(RunOptions::new()).unwrap();
        ran.store(0, Ordering::SeqCst);
        for (caller, expected) in [("ana", "of ana"), ("bob", "of bob"), ("eve", "execution_error")] {
            assert_eq!(texts(&kit, "whose", &RunOptions::new().caller(caller)).await, [expected, expected]);
        }
        assert_eq!(ran.load(Ordering::SeqCst), 4);
        let call = ToolCall::new("c1", "whose", "");
        let result = kit.run_call(&call).await;
        assert!(!result.failure().unwrap().started);
        // The run may provide it in place of the middleware.
        assert_eq!(texts(&kit, "whose", &of("of the run")).await, ["of the run", "of the run"]);
    }
}

#[tokio::test]
async fn a_dependency_is_added_to_a_tool_and_withdrawn_by_a_middleware() {
    let tool = plain().add_run_dependency::<Tenant>().unwrap().add_run_dependency::<Tenant>().unwrap();
    assert_eq!(tool.dependencies(), [Dependency::per_run::<Tenant>()]);
    assert_eq!(tool.wrap(ByCaller).dependencies(), []);
    let wrapped = plain().wrap(ByCaller).add_run_dependency::<Tenant>().unwrap();
    assert_eq!(wrapped.dependencies(), []);
    let both = tool.add_dependency::<Tenant>().unwrap();
    assert_eq!(both.dependencies().len(), 2, "one of the toolkit and one of the run");
    assert!(Tool::signal("s").depends_on_run::<Tenant>().define().is_err());
}

struct Greet;

impl ToolType for Greet {
    const NAME: &'static str = "greet";
    type Params = EmptyParams;
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<Name>, PerRun<Tenant>, PerRun<dyn Clock>);
}

impl Handle for Greet {
    async fn handle(&self, _: EmptyParams, cx: &Cx) -> Result<String, HandlerError> {
        let (name, tenant, clock) = (cx.service::<Name>()?, cx.service::<Tenant>()?, cx.service::<dyn Clock>()?);
        Ok(format!("{} {} {}", name.0, tenant.0, clock.hour()))
    }
}

struct Name(&'static str);

/// A state with a name, and neither tenant nor clock.
struct App(Name);

impl Provide<Name> for App {
    fn provide(&self) -> &Name {
        &self.0
    }
}

/// The state has to provide only what is marked `Needs`.
#[tokio::test]
async fn a_list_of_types_says_who_provides() {
    let sources: Vec<_> = <Greet as ToolType>::Services::dependencies().iter().map(Dependency::provided_by).collect();
    assert_eq!(sources, [ServiceSource::ToolkitOrRun, ServiceSource::RunOnly, ServiceSource::RunOnly]);
    let kit = Toolkit::<App>::new().tool_from(Greet).provide(App(Name("haft")));
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.ensure_runnable_with(of("ana")).unwrap_err().missing_services.len(), 1);
    let options = of("ana").shared_service::<dyn Clock>(Arc::new(At(7)));
    assert_eq!(texts(&kit, "greet", &options).await, ["haft ana 7", "haft ana 7"]);
    let typed = kit.call_of::<Greet>(EmptyParams::default(), &options).await;
    assert_eq!(typed.unwrap(), "haft ana 7");
    let refused = kit.run(calls([("greet", "")])).collect_results().await;
    assert_eq!(refused[0].failure().unwrap().kind, FailureKind::ExecutionError);
}
