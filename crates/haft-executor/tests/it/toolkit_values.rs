//! Toolkits as values: their content, their missing services, and their faults.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::sync::Arc;

use haft_core::{Describe, ToolCall, TurnRequest};
use haft_executor::{
    BuilderOf, Cx, DefinitionError, Handle, HandlerError, Needs, NoFailure, Provide, RunOptions, Services, StaticTool,
    Tool, ToolType, Toolkit, ToolkitFault,
};
use serde_json::json;

struct Key(&'static str);

trait Clock: Send + Sync {
    fn now(&self) -> u64;
}

struct Fixed(u64);

impl Clock for Fixed {
    fn now(&self) -> u64 {
        self.0
    }
}

struct App {
    key: Key,
    clock: Box<dyn Clock>,
}

impl Provide<Key> for App {
    fn provide(&self) -> &Key {
        &self.key
    }
}

impl Provide<dyn Clock> for App {
    fn provide(&self) -> &(dyn Clock + 'static) {
        &*self.clock
    }
}

fn app() -> App {
    App { key: Key("k"), clock: Box::new(Fixed(7)) }
}

/// A tool without services.
struct Ping;

impl ToolType for Ping {
    const NAME: &'static str = "ping";
    type Params = ();
    type Success = String;
    type Failure = NoFailure;
    type Services = ();
}

impl StaticTool for Ping {
    fn tool() -> Result<Tool, DefinitionError> {
        Tool::of::<Self>().handler(|(), _| async { "pong".to_owned() })
    }
}

/// A tool with two services, one of them a trait object.
struct Stamp {
    prefix: &'static str,
}

impl ToolType for Stamp {
    const NAME: &'static str = "stamp";
    type Params = ();
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<Key>, Needs<dyn Clock>);
}

impl Handle for Stamp {
    async fn handle(&self, (): (), cx: &Cx) -> Result<String, HandlerError> {
        Ok(format!("{}-{}-{}", self.prefix, cx.service::<Key>()?.0, cx.service::<dyn Clock>()?.now()))
    }
}

/// A faulty tool: its example is invalid.
struct Faulty;

impl ToolType for Faulty {
    const NAME: &'static str = "faulty";
    type Params = u8;
    type Success = ();
    type Failure = NoFailure;
    type Services = ();

    fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
        builder.example("not a number")
    }
}

impl StaticTool for Faulty {
    fn tool() -> Result<Tool, DefinitionError> {
        Tool::of::<Self>().handler(|_, _| async {})
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(|(), _| async {}).unwrap()
}

async fn answer(kit: &Toolkit, name: &str, request: Services) -> String {
    let call = ToolCall::new("c1", name, "");
    let result = kit.run_call_with(&call, RunOptions::new().services(request)).await;
    result.to_call_output().output.to_string()
}

#[test]
fn tools_stay_in_order_and_are_found_by_name() {
    let names: Vec<String> = (0..100).rev().map(|index| format!("tool_{index}")).collect();
    let kit: Toolkit = Toolkit::new().with_all(names.iter().map(|name| tool(name))).unwrap();
    assert_eq!(kit.len(), 100);
    assert!(!kit.is_empty());
    assert_eq!(kit.names().collect::<Vec<_>>(), names);
    assert_eq!(kit.iter().map(Tool::name).collect::<Vec<_>>(), names);
    assert_eq!((&kit).into_iter().count(), 100);
    for name in &names {
        assert_eq!(kit.get(name).unwrap().name(), name);
    }
    for absent in ["", "tool", "constructor", "__proto__", "TOOL_1"] {
        assert!(kit.get(absent).is_none());
    }
    assert!(Toolkit::<()>::new().is_empty());
}

#[test]
fn a_duplicate_name_is_an_error_and_all_are_reported() {
    let kit: Toolkit = Toolkit::new().with(tool("a")).unwrap().with(tool("b")).unwrap();
    let error = kit.clone().with(tool("a")).unwrap_err();
    assert!(matches!(&error.faults[..], [ToolkitFault::DuplicateName { name }] if name == "a"));
    let error = kit.clone().with_all([tool("c"), tool("b"), tool("c"), tool("d")]).unwrap_err();
    let names: Vec<_> = error
        .faults
        .iter()
        .map(|fault| match fault {
            ToolkitFault::DuplicateName { name } => name.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(names, ["b", "c"]);
    assert!(error.to_string().contains("`b`") && error.to_string().contains("`c`"));
    assert_eq!(kit.len(), 2, "the original is unchanged");
}

#[tokio::test]
async fn a_state_is_provided_once_for_all_typed_tools() {
    let kit = Toolkit::new().tool::<Ping>().tool_from(Stamp { prefix: "p" }).provide(app());
    kit.ensure_runnable().unwrap();
    assert_eq!(answer(&kit, "ping", Services::new()).await, "pong");
    assert_eq!(answer(&kit, "stamp", Services::new()).await, "p-k-7");
}

#[tokio::test]
async fn services_of_the_request_win_over_those_of_the_toolkit() {
    let kit = Toolkit::new().tool_from(Stamp { prefix: "p" }).provide(app());
    assert_eq!(answer(&kit, "stamp", Services::new().with(Key("request"))).await, "p-request-7");
    let clock: Arc<dyn Clock> = Arc::new(Fixed(9));
    assert_eq!(answer(&kit, "stamp", Services::new().with_shared(clock)).await, "p-k-9");
    assert_eq!(answer(&kit, "stamp", Services::new()).await, "p-k-7");
}

#[test]
fn a_toolkit_that_needs_nothing_is_complete_without_a_state() {
    let kit = Toolkit::new().tool::<Ping>();
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.names().collect::<Vec<_>>(), ["ping"]);
}

#[test]
fn descriptors_are_shared_and_need_no_state() {
    let kit: Toolkit<App> = Toolkit::new().tool::<Ping>().tool_from(Stamp { prefix: "p" });
    let descriptors = kit.descriptors();
    assert_eq!(descriptors.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["ping", "stamp"]);
    assert!(Arc::ptr_eq(&descriptors[0], &kit.get("ping").unwrap().descriptor()));
    assert!(Arc::ptr_eq(&Describe::descriptors(&kit)[1], &descriptors[1]));
    let request = TurnRequest::new("some-model", Vec::new()).tools(&kit);
    assert!(Arc::ptr_eq(&request.tools[0], &descriptors[0]));
}

#[test]
fn everything_that_prevents_a_toolkit_from_running_is_listed() {
    let kit: Toolkit = Toolkit::new()
        .tool::<Ping>()
        .tool::<Faulty>()
        .tool::<Ping>()
        .with_all([
            Tool::new("no_handler").define().unwrap(),
            Tool::dynamic("no_handler_either").define().unwrap(),
            Tool::provider("v.hosted").with_args(()).define().unwrap(),
            Tool::signal("signal").define().unwrap(),
            tool("needs").add_dependency::<Key>().unwrap().add_dependency::<dyn Clock>().unwrap(),
        ])
        .unwrap();
    let error = kit.ensure_runnable().unwrap_err();
    assert_eq!(error.missing_handlers, ["no_handler", "no_handler_either"]);
    let missing: Vec<_> = error.missing_services.iter().map(|missing| missing.tool.as_str()).collect();
    assert_eq!(missing, ["needs", "needs"]);
    assert!(error.missing_services[0].service.ends_with("Key") && error.missing_services[1].service.ends_with("Clock"));
    assert!(matches!(&error.faults[0], ToolkitFault::Definition(error) if error.tool == "faulty"));
    assert!(matches!(&error.faults[1], ToolkitFault::DuplicateName { name } if name == "ping"));
    assert_eq!(kit.definition_errors().len(), 2);
    let told = error.to_string();
    assert!(["faulty", "ping", "no_handler_either", "Key", "Clock"].iter().all(|part| told.contains(part)), "{told}");
}

#[test]
fn services_by_hand_satisfy_erased_tools() {
    let kit: Toolkit = Toolkit::new().with(tool("needs").add_dependency::<Key>().unwrap()).unwrap();
    assert!(kit.ensure_runnable().is_err());
    kit.with_services(Services::new().with(Key("by hand"))).ensure_runnable().unwrap();
}

#[test]
fn a_faulty_static_tool_is_reported_and_not_offered() {
    let kit: Toolkit = Toolkit::new().tool::<Faulty>().tool::<Ping>();
    assert_eq!(kit.names().collect::<Vec<_>>(), ["ping"]);
    assert_eq!(kit.definition_errors().len(), 1);
    assert!(kit.ensure_runnable().unwrap_err().to_string().contains("example 0"));
    assert!(kit.provide(()).ensure_runnable().is_err(), "providing a state forgives nothing");
}

#[test]
fn debug_contains_the_names() {
    let kit: Toolkit = Toolkit::new().tool::<Ping>();
    assert!(format!("{kit:?}").contains("ping"));
    assert_eq!(json!(kit.names().collect::<Vec<_>>()), json!(["ping"]));
}

#[tokio::test]
async fn a_call_runs_through_its_toolkit_with_its_services() {
    let greet = Tool::new("greet")
        .depends_on::<String>()
        .try_handler_opaque(|(), cx: Cx| async move { cx.service::<String>().cloned() });
    let signal = Tool::signal("pause").define().unwrap();
    let kit = Toolkit::<()>::new().with(greet.unwrap()).unwrap().with(signal).unwrap();
    let kit = kit.with_services(Services::new().with(String::from("kit")));
    let run = async |name: &str, services: Services| {
        let call = ToolCall::new("c", name, "");
        kit.run_call_with(&call, RunOptions::new().services(services)).await.to_call_output().output.to_string()
    };
    assert_eq!(run("greet", Services::new()).await, "kit");
    assert_eq!(run("greet", Services::new().with(String::from("request"))).await, "request");
    assert!(run("gret", Services::new()).await.contains("the nearest is 'greet'"));
    assert!(!run("delete", Services::new()).await.contains("nearest"));
    assert!(run("pause", Services::new()).await.contains("non_local_tool"));
}
