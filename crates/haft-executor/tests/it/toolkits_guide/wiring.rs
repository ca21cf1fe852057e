//! From tools to a toolkit, and from a toolkit to a request.

use haft_core::TurnRequest;
use haft_executor::{Needs, NoFailure, Provide, StaticTool, Tool, ToolType, Toolkit};

use super::{echo, says};
use crate::executing::{calls, kit, tell};

struct Key;

struct NeedsKey;

impl ToolType for NeedsKey {
    const NAME: &'static str = "needs_key";
    type Params = ();
    type Success = ();
    type Failure = NoFailure;
    type Services = (Needs<Key>,);
}

impl StaticTool for NeedsKey {
    fn tool() -> Result<Tool, haft_executor::DefinitionError> {
        Tool::of::<Self>().handler(|(), _cx| async {})
    }
}

struct App(Key);

impl Provide<Key> for App {
    fn provide(&self) -> &Key {
        &self.0
    }
}

/// Descriptors are known before any service is provided.
#[test]
fn a_request_accepts_a_toolkit_that_can_not_run_yet() {
    let lacking: Toolkit<App> = Toolkit::new().tool::<NeedsKey>().with(echo("echo").unwrap()).unwrap();
    let before = TurnRequest::new("m", vec![]).tools(&lacking);
    let after = TurnRequest::new("m", vec![]).tools(&lacking.provide(App(Key)));
    assert_eq!(before.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["needs_key", "echo"]);
    assert_eq!(serde_json::to_string(&before).unwrap(), serde_json::to_string(&after).unwrap());
}

#[tokio::test]
async fn collected_at_run_time_the_last_tool_of_a_name_runs() {
    let kit = kit([says("search", "old"), says("fetch", "fetched"), says("search", "new")]);
    let run = kit.run(calls([("search", ""), ("fetch", "")]));
    assert_eq!(tell(run).await, ["c1 output \"new\"", "c2 output \"fetched\""]);
    assert_eq!(kit.shadowed().len(), 1);
}

/// Names are looked up among the tools and nowhere else, exactly.
#[tokio::test]
async fn names_that_no_tool_has_are_unknown() {
    let kit = kit([echo("search")]);
    for name in ["constructor", "__proto__", "toString", "Search", "search ", "", "search\0", "sеarch"] {
        let told = tell(kit.run(calls([(name, r#""x""#)]))).await;
        assert_eq!(told, ["c1 output unknown_tool"], "{name:?}");
    }
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_the_nearest_ones() {
    let kit = kit([echo("search_files"), echo("send_mail")]);
    let result = kit.run_call(&calls([("serach_files", "{}")])[0]).await;
    let message = &result.failure().unwrap().message;
    assert!(message.contains("'search_files'") && !message.contains("send_mail"), "{message}");
}
