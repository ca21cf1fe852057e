//! Typed tools of every kind together: enums of calls, methods, settings, services of the run, and calls by type.

#![allow(clippy::unused_async, clippy::unused_self, reason = "the forms of functions and methods are the point here")]

use std::sync::Arc;

use haft::conversation::ContentPart;
use haft::prelude::*;
use haft::run::{CallError, ToolCalls, Typed};
use haft::schema::Issue;
use haft::tool::{Emits, Handle, IntoTool, NoFailure, StaticTool, ToolDescriptor, ToolType};
use haft::toolkit::{SharedToolkit, ToolSource};
use haft::tools;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Hands over to a person.
#[tool(signal)]
#[derive(Debug, PartialEq)]
struct HandOver {
    reason: String,
}

/// Ends the conversation.
#[tool(signal)]
#[derive(Debug, PartialEq)]
struct Done;

/// Asks the user.
#[tool(interaction, success = bool)]
#[derive(Debug, PartialEq)]
struct Confirm {
    question: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Query {
    query: String,
}

/// Searches the web.
#[tool(provider = "vendor.web_search", params = Query, success = Vec<String>)]
#[derive(Debug)]
struct WebSearch {
    max_uses: Option<u32>,
}

/// Runs code.
#[tool(provider = "vendor.code_execution")]
#[derive(Debug)]
struct CodeExecution;

struct Multiply {
    by: i64,
}

impl ToolType for Multiply {
    const NAME: &'static str = "multiply";
    type Params = i64;
    type Success = i64;
    type Failure = NoFailure;
    type Services = ();
}

impl Handle for Multiply {
    async fn handle(&self, number: i64, _cx: &Cx) -> Result<i64, HandlerError> {
        Ok(number.saturating_mul(self.by))
    }
}

struct Tenant(&'static str);

/// The name of the tenant.
#[tool]
fn tenant_name(#[service(run)] tenant: &Tenant) -> String {
    tenant.0.to_owned()
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Step {
    index: u32,
}

#[derive(Debug, Default)]
struct Desk {
    prefix: String,
}

impl Desk {
    async fn trimmed(open: Open, _cx: Cx) -> Result<Open, Issue> {
        Ok(Open { title: open.title.trim().to_owned() })
    }

    fn large(find: &Match, _cx: haft::approval::ApprovalCx) -> bool {
        find.r#type.len() > 10
    }
}

#[tools]
impl Desk {
    /// Opens a ticket.
    #[tool(refine = Self::trimmed, emits = Step, to_model = |title: &String| vec![ContentPart::text(format!("<{title}>"))])]
    async fn open(&self, title: String, #[service(run)] tenant: &Tenant, cx: &Cx) -> Result<String, HandlerError> {
        cx.emit(Step { index: 1 }).await?;
        Ok(format!("{}{}:{title}", self.prefix, tenant.0))
    }

    /// Finds.
    #[tool(approval = |find: Match, cx| Self::large(&find, cx))]
    fn r#match(&self, r#type: String) -> String {
        r#type
    }

    /// Does nothing.
    #[tool(blocking)]
    fn ping(&self) {}
}

#[derive(Debug, ToolCalls)]
enum AppCall {
    HandOver(Typed<HandOver>),
    Done(Typed<Done>),
    Confirm(Typed<Confirm>),
    #[value]
    WebSearch(Typed<WebSearch>),
    CodeExecution(Typed<CodeExecution>),
    #[value]
    Multiply(Typed<Multiply>),
    TenantName(Typed<TenantName>),
    Open(Typed<Open>),
    Match(Typed<Match>),
    Ping(Typed<Ping>),
}

fn kit() -> Toolkit {
    AppCall::toolkit(WebSearch { max_uses: Some(3) }, Multiply { by: 3 }).provide(Desk { prefix: "#".to_owned() })
}

fn options() -> RunOptions {
    RunOptions::new().service(Tenant("acme"))
}

#[test]
fn an_enum_of_calls_has_tools_of_all_kinds() {
    let kit = kit();
    kit.ensure_runnable_with(options()).unwrap();
    assert!(kit.ensure_runnable_with(RunOptions::new()).is_err(), "the run provides the tenant");
    let names: Vec<_> = AppCall::VARIANTS.iter().map(|variant| variant.name).collect();
    assert_eq!(kit.names().collect::<Vec<_>>(), names);
    let settings = kit.get(WebSearch::NAME).unwrap().provider_definition().unwrap().args().clone();
    assert_eq!(settings, json!({"max_uses": 3}));
    for (name, arguments) in [
        ("hand_over", r#"{"reason": "stuck"}"#),
        ("done", "{}"),
        ("done", ""),
        ("confirm", r#"{"question": "?"}"#),
        ("web_search", r#"{"query": "rust"}"#),
        ("code_execution", "{}"),
        ("multiply", "2"),
        ("tenant_name", ""),
        ("open", r#"{"title": "x"}"#),
        ("match", r#"{"type": "x"}"#),
        ("ping", "{}"),
    ] {
        let call = ToolCall::new("c1", name, arguments);
        assert_eq!(AppCall::decode(&call).unwrap().call(), &call, "{name} {arguments}");
    }
}

#[tokio::test]
async fn methods_use_the_steps_of_their_owner() {
    let kit = kit();
    let call = ToolCall::new("c1", "open", r#"{"title": "  no light "}"#);
    let mut run = kit.run_with([call], options());
    let (mut steps, mut results) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        steps.extend(Open::read_event(&event).transpose().unwrap());
        if let ToolEvent::Output { result, .. } = event {
            results.push(result);
        }
    }
    assert_eq!(steps, [Step { index: 1 }]);
    assert_eq!(Open::read(&results[0]).unwrap(), "#acme:no light");
    assert_eq!(results[0].to_model_text(), "<#acme:no light>");
    assert!(!kit.get("match").unwrap().approval().is_never());
}

/// A value without content is written as the empty object, and only where the tool accepts that.
#[tokio::test]
async fn a_tool_without_parameters_is_called_by_its_type() {
    struct Now;

    impl ToolType for Now {
        const NAME: &'static str = "now";
        type Params = ();
        type Success = u8;
        type Failure = NoFailure;
        type Services = ();
    }

    impl Handle for Now {
        async fn handle(&self, (): (), _cx: &Cx) -> Result<u8, HandlerError> {
            Ok(7)
        }
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Marker;

    #[tool]
    fn mark(#[params] _marker: Marker) -> u8 {
        8
    }

    let kit: Toolkit = toolkit![Now = Now, Mark];
    let options = RunOptions::new();
    assert_eq!(kit.call_of::<Now>((), &options).await.unwrap(), 7);
    assert_eq!(kit.call_named::<Now>("now", (), &options).await.unwrap(), 7);
    assert_eq!(kit.call_of::<Mark>(Marker, &options).await.unwrap(), 8);
    Now::decode(&ToolCall::new("c1", "now", "{}")).unwrap();
    let other = Tool::new("now").handler(|text: String, _cx| async move { text.len() }).unwrap();
    let error = Toolkit::<()>::from_iter([other]).call_of::<Now>((), &options).await.unwrap_err();
    assert!(
        matches!(&error, CallError::Fault(failure) if failure.kind == FailureKind::InputValidationError),
        "{error}"
    );
    let (kit, options) = (super::typed_edges::kit(), super::typed_edges::options());
    kit.call_with(Ping {}, &options).await.unwrap();
    assert_eq!(kit.call_with(TenantName {}, &options).await.unwrap(), "acme");
}

/// Tools without a handler are found by type too, and are not run.
#[tokio::test]
async fn a_call_by_type_of_a_tool_without_a_handler_is_a_fault() {
    let kit = kit();
    let kind = |error: CallError<NoFailure>| match error {
        CallError::Fault(failure) => failure.kind,
        other => panic!("{other:?}"),
    };
    let confirm = kit.call(Confirm { question: "?".to_owned() }).await.unwrap_err();
    assert_eq!(kind(confirm), FailureKind::NonLocalTool);
    assert_eq!(kind(kit.call(HandOver { reason: "?".to_owned() }).await.unwrap_err()), FailureKind::NonLocalTool);
    assert_eq!(kind(kit.call(Done).await.unwrap_err()), FailureKind::NonLocalTool);
    let search = kit.call_of::<WebSearch>(Query { query: "x".to_owned() }, RunOptions::new()).await.unwrap_err();
    assert_eq!(kind(search), FailureKind::NonLocalTool);
    let call = ToolCall::new("c1", "confirm", "{}");
    assert_eq!(Confirm::read(&ToolResult::ok(&call, json!(true))), Ok(true));
    assert!(Confirm::read(&ToolResult::ok(&call, json!("yes"))).is_err());
    assert_eq!(HandOver::read(&ToolResult::ok(&call, json!({"any": 1}))), Ok(json!({"any": 1})));
    assert_eq!(CodeExecution::read(&ToolResult::ok(&call, Value::Null)), Ok(()));
}

struct Upper;

impl Middleware for Upper {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        next.run(request).await
    }
}

#[tool]
fn echo(text: String) -> String {
    text
}

/// However a typed tool was changed, its type finds it.
#[tokio::test]
async fn a_changed_tool_is_found_by_its_type() {
    let params = || Echo { text: "x".to_owned() };
    let tool = || Echo::tool().unwrap();
    let one = |tool: Tool| Toolkit::<()>::from_iter([tool]);
    let kits = [
        one(tool().with_name("say").unwrap()),
        one(tool().with_name("say").unwrap().with_id("other").unwrap()),
        one(tool()).namespace("a").unwrap().namespace("b").unwrap(),
        one(tool()).wrap(Upper).namespace("a").unwrap(),
        one(tool()
            .with_handler(|text: Value, _cx| async move { text["text"].clone() })
            .unwrap()
            .with_name("say")
            .unwrap()),
        one(tool().wrap(Upper).with_name("say").unwrap()),
        one(tool()).filter(|tool| tool.name() == "echo").namespace("a").unwrap(),
    ];
    for (index, kit) in kits.iter().enumerate() {
        assert_eq!(kit.call(params()).await.unwrap(), "x", "{index}");
    }
    let shared = SharedToolkit::new(one(tool()).namespace("a").unwrap());
    assert_eq!(shared.snapshot().toolkit().call(params()).await.unwrap(), "x");
    let shared = Arc::new(shared).namespaced("b").unwrap();
    assert_eq!(shared.snapshot().toolkit().call(params()).await.unwrap(), "x");
}

/// A tool that was rebuilt from its descriptor is not of the type, so its name decides.
#[tokio::test]
async fn a_rebuilt_tool_is_found_by_its_name() {
    let stored = serde_json::to_string(&*Echo::tool().unwrap().descriptor()).unwrap();
    let rebuilt = Tool::from_descriptor(&serde_json::from_str::<ToolDescriptor>(&stored).unwrap()).unwrap();
    let kit: Toolkit = Toolkit::dynamic([rebuilt])
        .handler(|_tool, arguments: Value, _cx| async move { arguments["text"].clone() })
        .unwrap();
    assert_eq!(kit.call(Echo { text: "x".to_owned() }).await.unwrap(), "x");
    let moved = kit.namespace("a").unwrap();
    assert!(moved.call(Echo { text: "x".to_owned() }).await.is_err());
    let options = RunOptions::new();
    assert_eq!(moved.call_named::<Echo>("a__echo", Echo { text: "x".to_owned() }, &options).await.unwrap(), "x");
}

/// A picture.
#[tool]
fn picture() -> ContentPart {
    ContentPart::text("a picture")
}

/// Two.
#[tool]
fn pictures() -> Vec<ContentPart> {
    vec![ContentPart::text("one"), ContentPart::text("two")]
}

#[tool]
fn nothing() {}

#[tokio::test]
async fn content_and_unit_results_are_read_by_type() {
    let kit: Toolkit = toolkit![Picture, Pictures, Nothing];
    assert_eq!(kit.call(Picture {}).await.unwrap(), picture());
    assert_eq!(kit.call(Pictures {}).await.unwrap(), pictures());
    kit.call(Nothing {}).await.unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "pictures", "")).await;
    assert_eq!(Pictures::read(&result).unwrap(), pictures());
    // Stored and read again.
    let result: ToolResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
    assert_eq!(Pictures::read(&result).unwrap(), pictures());
    let result = kit.run_call(&ToolCall::new("c1", "nothing", "")).await;
    assert_eq!(Nothing::read(&result), Ok(()));
}

#[test]
fn a_value_of_settings_is_a_tool() {
    let tool = WebSearch { max_uses: None }.into_tool().unwrap();
    assert_eq!(tool.provider_definition().unwrap().args(), &json!({}));
}

/// A field whose name is a word of serde leaves the struct closed.
#[tool(signal)]
#[derive(Debug)]
#[allow(dead_code, reason = "only its schema is used")]
struct Press {
    flatten: bool,
}

#[test]
fn a_struct_is_closed_whatever_its_fields_are_called() {
    let call = ToolCall::new("c1", "press", r#"{"flatten": true, "extra": 1}"#);
    assert!(Press::decode(&call).is_err());
}

#[allow(dead_code, unused_qualifications, reason = "the types only have to compile beside generated code")]
mod hygiene {
    //! Types of the user that are named like those of the prelude.

    use haft::run::{ToolCall as Called, ToolCalls, Typed};

    pub(super) struct Result;
    pub(super) struct Option;
    pub(super) struct Vec;
    pub(super) struct Box;
    pub(super) struct Tool;
    pub(super) struct Toolkit;
    pub(super) struct Some;
    pub(super) struct Ok;
    pub(super) struct Cx;
    pub(super) struct ToolCall;
    pub(super) struct String;

    #[haft::tool(timeout = "1s", concurrency(key = "disk"), output_cap = 10, meta = {"a": 1}, approval = "always")]
    pub(super) fn plain(count: u8, list: std::vec::Vec<std::string::String>) -> u8 {
        count.saturating_add(u8::try_from(list.len()).unwrap_or(0))
    }

    mod tools {
        //! Tools whose types are named so.

        #[haft::tool(type = Option)]
        pub(super) fn count_up(count: u8) -> std::result::Result<u8, std::string::String> {
            count.checked_add(1).ok_or_else(|| "too many".to_owned())
        }

        #[haft::tool(readonly, refine = |p: Send, _cx| async { std::result::Result::<_, haft::schema::Issue>::Ok(p) })]
        pub(super) async fn send(text: std::string::String) -> std::option::Option<u8> {
            text.bytes().next()
        }

        #[haft::tool(type = Default)]
        pub(super) fn reset() {}

        #[haft::tool]
        pub(super) fn ok(#[params] count: u8) -> u8 {
            count
        }

        #[haft::tool(signal)]
        #[derive(Debug)]
        pub(super) struct String {
            vec: std::option::Option<u8>,
        }

        haft::toolkit! {
            pub(super) struct Vec = [Option, Send, Default, Ok, String];
        }
    }

    #[haft::tool(signal, title = "x")]
    #[derive(Debug)]
    pub(super) struct Stop {
        maybe: std::option::Option<u8>,
    }

    #[haft::tool(provider = "vendor.search", provider_name = "s", success = u8)]
    #[derive(Debug)]
    pub(super) struct Search {
        maybe: std::option::Option<u8>,
    }

    #[derive(Debug)]
    pub(super) struct Shelf;

    #[haft::tools(pub(super))]
    impl Shelf {
        #[tool]
        fn books(&self, shelf: u8) -> u8 {
            shelf
        }
    }

    #[derive(ToolCalls)]
    pub(super) enum Calls {
        Plain(Typed<Plain>),
        Stop(Typed<Stop>),
        #[value]
        Search(Typed<Search>),
        Books(Typed<Books>),
    }

    haft::toolkit! {
        pub(super) struct Kit = [Plain, Stop, Search { maybe: None }];
    }

    #[test]
    fn generated_code_does_not_use_them() {
        let kit: haft::toolkit::Toolkit = haft::compose![Kit, Shelf].provide(Shelf);
        assert_eq!(kit.len(), 4);
        let kit: haft::toolkit::Toolkit = Calls::toolkit(Search { maybe: None }).provide(Shelf);
        assert_eq!(kit.len(), 4);
        assert!(Calls::decode(Called::new("c1", "stop", "{}")).is_ok());
        let kit: haft::toolkit::Toolkit = tools::Vec::toolkit();
        assert_eq!(kit.len(), 5);
    }
}
