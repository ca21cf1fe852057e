//! Toolkits as types, and states that are shared.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::sync::Arc;

use haft_core::ToolCall;
use haft_executor::{
    Cx, Handle, HandlerError, KitType, Needs, NoFailure, Provide, StaticKit, Tool, ToolType, Toolkit, ToolkitFault,
};

struct Named<const N: usize>;

struct App {
    key: String,
}

impl Provide<String> for App {
    fn provide(&self) -> &String {
        &self.key
    }
}

impl<const N: usize> ToolType for Named<N> {
    const NAME: &'static str = ["one", "two", "three"][N];
    type Params = ();
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<String>,);
}

impl<const N: usize> Handle for Named<N> {
    async fn handle(&self, _params: (), cx: &Cx) -> Result<String, HandlerError> {
        Ok(cx.service::<String>()?.clone())
    }
}

struct First;
struct Second;

impl KitType for First {
    const TOOLS: &'static [&'static str] = &["one", "two"];
}

impl<S: Provide<String> + Send + Sync + 'static> StaticKit<S> for First {
    fn toolkit() -> Toolkit<S> {
        Toolkit::new().tool_from(Named::<0>).tool_from(Named::<1>)
    }
}

impl KitType for Second {
    const TOOLS: &'static [&'static str] = &["three"];
}

impl<S: Provide<String> + Send + Sync + 'static> StaticKit<S> for Second {
    fn toolkit() -> Toolkit<S> {
        Toolkit::new().tool_from(Named::<2>)
    }
}

#[tokio::test]
async fn kits_are_added_in_order_and_served_by_one_state() {
    let kit = Toolkit::new().kit::<First>().kit::<Second>().provide(App { key: "k".into() });
    assert_eq!(kit.names().collect::<Vec<_>>(), ["one", "two", "three"]);
    for name in ["one", "three"] {
        let result = kit.run_call(&ToolCall::new("c1", name, "{}")).await;
        assert_eq!(result.decode::<String>().unwrap(), "k");
    }
}

#[test]
fn a_name_that_is_used_twice_is_a_fault_of_the_toolkit() {
    let kit = Toolkit::new().kit::<First>().kit::<Second>().kit::<First>().provide(App { key: "k".into() });
    assert_eq!(kit.names().collect::<Vec<_>>(), ["one", "two", "three"]);
    let faults = kit.ensure_runnable().unwrap_err().faults;
    let names: Vec<_> = faults
        .iter()
        .map(|fault| matches!(fault, ToolkitFault::DuplicateName { name } if name == "one" || name == "two"))
        .collect();
    assert_eq!(names, [true, true], "{faults:?}");
    assert!(kit.shadowed().is_empty());
}

#[tokio::test]
async fn a_shared_state_serves_as_the_state_does() {
    let app = Arc::new(App { key: "shared".into() });
    let kit = First::toolkit().provide(Arc::clone(&app));
    let result = kit.run_call(&ToolCall::new("c1", "two", "{}")).await;
    assert_eq!(result.decode::<String>().unwrap(), app.key);
}

#[test]
fn kits_and_single_tools_combine() {
    let extra = Tool::signal("done").define().unwrap();
    let kit = Toolkit::new().kit::<Second>().with(extra).unwrap().provide(App { key: "k".into() });
    kit.ensure_runnable().unwrap();
    assert_eq!(kit.len(), 2);
}
