//! Toolkits made of others: collected, merged, composed, namespaced, filtered, with replaced handlers.

mod compose;
mod dynamic;
mod namespace;
mod provision;
mod replacement;
mod shadow;

use haft_core::ToolCall;
use haft_executor::{
    BuilderOf, Cx, DefinitionError, Handle, HandlerError, Needs, NoFailure, Provide, Services, StaticTool, Tool,
    ToolType, Toolkit,
};
use serde_json::Value;

/// A service that tools here need and return.
#[derive(Clone, Copy)]
struct Key(&'static str);

/// A second service, that one toolkit has and another lacks.
#[derive(Clone, Copy)]
struct Place(&'static str);

struct App {
    key: Key,
    place: Place,
}

impl Provide<Key> for App {
    fn provide(&self) -> &Key {
        &self.key
    }
}

impl Provide<Place> for App {
    fn provide(&self) -> &Place {
        &self.place
    }
}

/// A tool that returns its key.
struct TellKey;

impl ToolType for TellKey {
    const NAME: &'static str = "tell_key";
    type Params = ();
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<Key>,);
}

impl StaticTool for TellKey {
    fn tool() -> Result<Tool, DefinitionError> {
        Tool::of::<Self>()
            .try_handler_opaque(|(), cx: Cx| async move { cx.service::<Key>().map(|key| key.0.to_owned()) })
    }
}

/// A tool that returns its place.
struct TellPlace;

impl ToolType for TellPlace {
    const NAME: &'static str = "tell_place";
    type Params = ();
    type Success = String;
    type Failure = NoFailure;
    type Services = (Needs<Place>,);
}

impl Handle for TellPlace {
    async fn handle(&self, (): (), cx: &Cx) -> Result<String, HandlerError> {
        Ok(cx.service::<Place>()?.0.to_owned())
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
    says(name, "")
}

/// Creates a tool that returns this text.
fn says(name: &str, text: &'static str) -> Tool {
    Tool::new(name).handler(move |(), _| async move { text }).unwrap()
}

/// Creates a tool that returns its key and its place.
fn tells(name: &str) -> Tool {
    let tell = |(), cx: Cx| async move {
        let key = cx.service::<Key>().map_or("-", |key| key.0);
        let place = cx.service::<Place>().map_or("-", |place| place.0);
        format!("{key} {place}")
    };
    Tool::new(name).handler(tell).unwrap()
}

fn kit(names: &[&str]) -> Toolkit {
    names.iter().map(|name| tool(name)).collect()
}

fn keyed(names: &[&str], key: &'static str) -> Toolkit {
    let kit: Toolkit = names.iter().map(|name| tells(name)).collect();
    kit.with_services(Services::new().with(Key(key)))
}

/// Returns one tool of each kind.
fn all_kinds() -> Vec<Tool> {
    vec![
        tool("local"),
        Tool::dynamic("dynamic").handler(|value: Value, _| async move { value }).unwrap(),
        Tool::provider("vendor.search").custom_name("hosted").with_args(()).define().unwrap(),
        Tool::provider("vendor.shell").requires_handler().with_args(()).define().unwrap(),
        Tool::signal("signal").define().unwrap(),
        Tool::interaction("interaction").define().unwrap(),
    ]
}

fn names<S>(kit: &Toolkit<S>) -> Vec<&str> {
    kit.names().collect()
}

fn shadowed<S>(kit: &Toolkit<S>) -> Vec<(&str, usize)> {
    kit.shadowed().iter().map(|shadowed| (shadowed.name.as_str(), shadowed.times)).collect()
}

/// Calls a tool with the services of its toolkit.
async fn call(kit: &Toolkit, name: &str, arguments: &str) -> String {
    let call = ToolCall::new("c1", name, arguments);
    kit.run_call(&call).await.to_call_output().output.to_string()
}

/// Asserts that every name is found, at its position.
fn assert_indexed<S>(kit: &Toolkit<S>) {
    for tool in kit {
        assert_eq!(kit.get(tool.name()).unwrap().name(), tool.name());
        assert!(kit.services_of(tool.name()).is_some());
    }
    assert_eq!(kit.names().collect::<std::collections::BTreeSet<_>>().len(), kit.len());
}

#[test]
fn states_are_inferred_through_every_step() -> Result<(), Box<dyn std::error::Error>> {
    let app = || App { key: Key("k"), place: Place("p") };
    let typed = || Toolkit::new().tool::<TellKey>();
    let composed = Toolkit::<App>::compose([typed(), Toolkit::empty()])?;
    let merged = Toolkit::from_iter([tool("a")]).merge(composed).label("all").namespace("ns")?.filter(|_| true);
    let more = Toolkit::dynamic([Tool::dynamic("d").define()?]).handler(|_, _, _| async {})?;
    let other = Toolkit::make_namespaced("o", [tool("a")])?.with_handler("o__a", |(), _| async {})?;
    let all = Toolkit::compose(vec![merged, more, other])?.provide(app());
    all.ensure_runnable()?;
    assert_eq!(names(&all), ["ns__a", "ns__tell_key", "d", "o__a"]);

    Toolkit::compose([Toolkit::from_iter([tool("a")]), Toolkit::empty()])?.ensure_runnable()?;
    let later = Toolkit::compose([typed(), Toolkit::new().tool_from(TellPlace)])?.provide(app());
    let stateless = Toolkit::compose([later, Toolkit::from_iter([tool("b")])])?;
    stateless.ensure_runnable()?;
    Ok(())
}
