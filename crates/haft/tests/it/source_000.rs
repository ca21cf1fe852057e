//! Document 000: tools whose schema is known only at run time.
//!
//! Most statements are shown by `dynamic_tools` in the core; what follows shows the rest through the facade, in the
//! order of the document. `statement` lists all of them.

mod statement;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft::JsonSchema;
use haft::approval::ApprovalPolicy;
use haft::middleware::{Next, Request};
use haft::run::{RunOptions, ToolCall};
use haft::schema::{Issue, Schema, Validation};
use haft::tool::{Cx, DefinitionError, Failure, FailureMode, HandlerError, NoFailure, Tool, ToolType};
use haft::toolkit::{Services, SharedToolkit, ToolSource, Toolkit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run_tool, value};
use crate::source::{Document, Section, informative, normative};

const SECTIONS: &[Section] = &[
    normative("overview"),
    normative("1 current system"),
    normative("1 gap"),
    normative("1 use cases"),
    normative("2.1"),
    normative("2.2"),
    normative("3.1"),
    normative("3.2"),
    normative("3.3"),
    normative("3.4"),
    normative("4.1"),
    normative("4.2"),
    normative("5.1"),
    normative("5.2"),
    normative("5.3"),
    normative("6.1"),
    normative("6.2"),
    normative("6.3"),
    normative("7"),
    normative("8.1"),
    normative("8.2"),
    normative("8.3"),
    normative("9"),
    normative("10"),
    normative("11.1"),
    normative("11.2"),
    normative("11.3"),
    informative("12", "lists files of another repository"),
    informative("13", "lists commands of another repository"),
];

#[test]
fn every_statement_is_shown_or_has_a_reason() {
    Document { number: "000", sections: SECTIONS, statements: statement::STATEMENTS }.check();
}

fn query_schema() -> Value {
    json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})
}

async fn run(tool: &Tool, arguments: Value) -> haft::run::ToolResult {
    run_tool(tool, arguments, Services::new()).await
}

// 1: definitions from a configuration, and from plugins.

/// A tool as a configuration file describes it.
#[derive(Deserialize)]
struct Configured {
    name: String,
    description: Option<String>,
    parameters: Value,
    answer: Value,
}

impl Configured {
    fn tool(self) -> Result<Tool, DefinitionError> {
        let mut builder = Tool::dynamic(self.name).params_json(self.parameters);
        if let Some(description) = self.description {
            builder = builder.describe(description);
        }
        builder.handler(move |_: Value, _cx| {
            let answer = self.answer.clone();
            async move { answer }
        })
    }
}

#[tokio::test]
async fn a_configuration_file_defines_tools() {
    let file = json!([
        {"name": "capital", "description": "Names a capital.", "parameters": query_schema(), "answer": "Oslo"},
        {"name": "population", "parameters": {}, "answer": {"millions": 5.6}}
    ]);
    let configured: Vec<Configured> = serde_json::from_str(&file.to_string()).unwrap();
    let kit: Toolkit = configured.into_iter().map(|tool| tool.tool().unwrap()).collect();
    kit.ensure_runnable().unwrap();
    let capital = kit.get("capital").unwrap();
    assert_eq!(capital.description(), Some("Names a capital."));
    assert_eq!(value(&run(capital, json!({"query": "Norway"})).await), json!("Oslo"));
    assert_eq!(failure(&run(capital, json!({"query": 1})).await).0, "input_validation_error");
    assert_eq!(value(&run(kit.get("population").unwrap(), json!(null)).await)["millions"], 5.6);

    let wrong = json!({"name": "", "parameters": {"type": "strnig"}, "answer": 1});
    let wrong: Configured = serde_json::from_value(wrong).unwrap();
    assert_eq!(wrong.tool().unwrap_err().faults.len(), 2, "the name and the schema, at once");
}

/// A part of a program that contributes tools.
trait Plugin {
    fn tools(&self) -> Vec<Tool>;
}

/// A plugin that contributes tools which answer with its name.
struct Named(&'static str, &'static [&'static str]);

impl Plugin for Named {
    fn tools(&self) -> Vec<Tool> {
        let plugin = self.0;
        let tool = |name: &&str| Tool::dynamic(*name).handler(move |_: Value, _cx| async move { plugin }).unwrap();
        self.1.iter().map(tool).collect()
    }
}

#[tokio::test]
async fn plugins_register_their_tools() {
    let plugins: Vec<Box<dyn Plugin>> = vec![Box::new(Named("a", &["read", "write"])), Box::new(Named("b", &["send"]))];
    let mut kit: Toolkit = Toolkit::new();
    for plugin in &plugins {
        kit = kit.with_all(plugin.tools()).unwrap();
    }
    assert_eq!(kit.names().collect::<Vec<_>>(), ["read", "write", "send"]);
    let sent = kit.run_call(&ToolCall::new("c1", "send", "{}")).await;
    assert_eq!(value(&sent), json!("b"));
    let clash = kit.with_all(Named("c", &["write", "send"]).tools()).unwrap_err();
    assert!(["write", "send"].iter().all(|name| clash.to_string().contains(name)), "{clash}");
}

/// A plugin that is loaded later is seen by whoever takes the next snapshot, and one that is unloaded no longer.
#[tokio::test]
async fn plugins_come_and_go_while_the_program_runs() {
    let names = |live: &SharedToolkit| live.snapshot().toolkit().names().map(str::to_owned).collect::<Vec<_>>();
    let live = SharedToolkit::new(Named("a", &["read"]).tools().into_iter().collect());
    let before = live.snapshot();
    for tool in Named("b", &["send"]).tools() {
        live.add(tool).unwrap();
    }
    assert_eq!(names(&live), ["read", "send"]);
    let call = ToolCall::new("c1", "send", "{}");
    assert_eq!(value(&live.snapshot().toolkit().run_call(&call).await), json!("b"));
    assert_eq!(failure(&before.toolkit().run_call(&call).await).0, "unknown_tool", "a snapshot does not change");
    assert!(live.add(Named("c", &["send"]).tools().remove(0)).is_err());
    live.remove("send").unwrap();
    assert_eq!(names(&live), ["read"]);
}

// 3.1: a dynamic tool is a tool.

#[tokio::test]
async fn a_dynamic_tool_is_used_wherever_a_tool_is() {
    let local = Tool::new("local").handler(|(), _cx| async { "local" }).unwrap();
    let dynamic =
        Tool::dynamic("dynamic").params_json(query_schema()).handler(|v: Value, _cx| async move { v }).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&seen);
    let noting = move |request: Request, next: Next| {
        notes.lock().unwrap().push(request.tool().name().to_owned());
        async move { next.run(request).await }
    };
    let kit: Toolkit = Toolkit::new().with(local).unwrap().with(dynamic).unwrap().wrap(noting).namespace("n").unwrap();
    let call = ToolCall::new("c1", "n__dynamic", r#"{"query":"x"}"#);
    assert_eq!(value(&kit.run_call(&call).await), json!({"query": "x"}));
    assert_eq!(*seen.lock().unwrap(), ["n__dynamic"]);
    let replaced = kit.clone().with_handler("n__dynamic", |_: Value, _cx| async { "mocked" }).unwrap();
    assert_eq!(value(&replaced.run_call(&call).await), json!("mocked"));
    assert_eq!(kit.filter(Tool::is_dynamic).names().collect::<Vec<_>>(), ["n__dynamic"]);
}

#[tokio::test]
async fn a_dynamic_tool_declares_the_services_it_needs() {
    struct Key(&'static str);
    let tool = Tool::dynamic("whoami")
        .depends_on::<Key>()
        .try_handler_mixed(|_: Value, cx: Cx| async move { Ok::<_, HandlerError>(cx.service::<Key>()?.0) })
        .unwrap();
    assert_eq!(tool.dependencies().len(), 1);
    let kit: Toolkit = Toolkit::from_iter([tool]);
    assert_eq!(kit.ensure_runnable().unwrap_err().missing_services[0].tool.as_str(), "whoami");
    let kit = kit.with_services(Services::new().with(Key("ana")));
    assert_eq!(value(&kit.run_call(&ToolCall::new("c1", "whoami", "")).await), json!("ana"));
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<usize>,
}

#[test]
fn the_parameters_report_whether_they_were_given_as_json() {
    let raw = Tool::dynamic("t").params_json(query_schema()).define().unwrap();
    let typed = Tool::dynamic("t").params::<Search>().define().unwrap();
    assert!(raw.parameters().is_raw());
    assert_eq!(raw.parameters().as_json(), &query_schema());
    assert!(!typed.parameters().is_raw());
}

// 3.2: the approval policy of a dynamic tool.

/// Without a type of its own the policy reads the arguments as any value.
#[tokio::test]
async fn a_policy_of_a_dynamic_tool_reads_any_value() {
    let policy = ApprovalPolicy::when(|arguments: Value, _cx| arguments["query"] == "secrets");
    let tool = Tool::dynamic("search")
        .params_json(query_schema())
        .needs_approval(policy)
        .handler(|arguments: Value, _cx| async move { arguments })
        .unwrap();
    assert_eq!(value(&run(&tool, json!({"query": "rust"})).await), json!({"query": "rust"}));
    assert_eq!(failure(&run(&tool, json!({"query": "secrets"})).await).0, "denied");
}

// 4.1: typed mode.

#[tokio::test]
async fn an_optional_parameter_may_be_left_out() {
    let search = Tool::dynamic("SearchTool")
        .success::<Vec<String>>()
        .handler(|search: Search, _cx| async move { vec![search.query; search.limit.unwrap_or(1)] })
        .unwrap();
    assert_eq!(value(&run(&search, json!({"query": "a"})).await), json!(["a"]));
    assert_eq!(value(&run(&search, json!({"query": "a", "limit": 2})).await), json!(["a", "a"]));
    assert_eq!(failure(&run(&search, json!({"limit": 2})).await).0, "input_validation_error");
    assert_eq!(search.success().as_json(), &json!({"type": "array", "items": {"type": "string"}}));
}

// 5.3: failures as results.

#[derive(Debug, Serialize, Deserialize, JsonSchema, Failure)]
#[failure(message = "{message}")]
struct Coded {
    code: String,
    message: String,
}

#[tokio::test]
async fn a_declared_failure_is_a_result_in_mode_return_and_an_error_otherwise() {
    let risky = |mode| {
        Tool::dynamic("RiskyTool")
            .params_json(query_schema())
            .failure_mode(mode)
            .try_handler(|_: Value, _cx| async {
                Err::<Value, _>(Coded { code: "E1".to_owned(), message: "no luck".to_owned() })
            })
            .unwrap()
    };
    let call = ToolCall::new("c1", "RiskyTool", r#"{"query":"x"}"#);
    let kit: Toolkit = Toolkit::from_iter([risky(FailureMode::Return)]);
    let returned = kit.try_run_call(&call, RunOptions::new()).await.unwrap();
    assert!(returned.is_failure);
    assert_eq!(returned.encoded.to_value(), json!({"code": "E1", "message": "no luck"}));
    let kit: Toolkit = Toolkit::from_iter([risky(FailureMode::Error)]);
    let raised = kit.try_run_call(&call, RunOptions::new()).await.unwrap_err();
    assert_eq!((raised.kind.as_str(), raised.message.as_str()), ("tool_failed", "no luck"));
}

// 6.2: execution.

/// Without validation the handler gets the JSON as it was parsed, even where the schema forbids it.
#[tokio::test]
async fn without_validation_the_handler_gets_the_parsed_json() {
    let schema = Schema::json_with(query_schema(), Validation::None).unwrap();
    let echo = Tool::dynamic("echo").params_schema(schema).handler(|v: Value, _cx| async move { v }).unwrap();
    for arguments in [json!({"query": "x", "b": [1, 2.5, null], "a": {}}), json!({"query": 7}), json!([]), json!("x")] {
        assert_eq!(value(&run(&echo, arguments.clone()).await), arguments);
    }
    let broken = ToolCall::new("c1", "echo", "{\"query\":");
    assert_eq!(failure(&Toolkit::from_iter([echo]).run_call(&broken).await).0, "input_validation_error");
}

// 7: a function that validates.

/// The function may wait, rejects what it does not accept, and its result is what the handler gets.
#[tokio::test]
async fn an_asynchronous_function_validates_and_transforms() {
    let search = Tool::dynamic("search")
        .params_json(query_schema())
        .refine(|arguments: Value, _cx: Cx| async move {
            tokio::task::yield_now().await;
            match arguments["query"].as_str() {
                Some("") | None => Err(Issue::new("/query", "refine", "must not be empty")),
                Some(query) => Ok(json!({"query": query.to_lowercase()})),
            }
        })
        .handler(|arguments: Value, _cx| async move { arguments })
        .unwrap();
    assert_eq!(value(&run(&search, json!({"query": "RUST"})).await), json!({"query": "rust"}));
    let rejected = run(&search, json!({"query": ""})).await;
    let (kind, message) = failure(&rejected);
    assert_eq!((kind, message), ("input_validation_error", "/query: must not be empty"));
    assert!(!rejected.failure().unwrap().started);
}

// 8.1: tools of a server.

/// A client of a server that describes its tools and runs them.
struct Client {
    server: &'static str,
}

impl Client {
    fn list_tools(&self) -> Vec<Value> {
        vec![
            json!({"name": "search_files", "description": format!("Searches {}.", self.server), "inputSchema": query_schema()}),
            json!({"name": "read_file", "description": "Reads a file.", "inputSchema": {"type": "object"}}),
        ]
    }

    async fn call_tool(&self, name: &str, arguments: Value) -> Value {
        tokio::task::yield_now().await;
        json!({"server": self.server, "ran": name, "with": arguments})
    }
}

#[tokio::test]
async fn the_tools_of_a_server_become_a_toolkit_that_forwards_to_it() {
    let client = Arc::new(Client { server: "files" });
    let definitions = client.list_tools().into_iter().map(|tool| {
        Tool::dynamic(tool["name"].as_str().unwrap())
            .describe(tool["description"].as_str().unwrap())
            .params_json(tool["inputSchema"].clone())
            .define()
            .unwrap()
    });
    let kit: Toolkit = Toolkit::dynamic(definitions)
        .handler({
            let client = Arc::clone(&client);
            move |tool: Tool, arguments: Value, _cx| {
                let client = Arc::clone(&client);
                async move { client.call_tool(tool.name(), arguments).await }
            }
        })
        .unwrap();
    let shown = kit.descriptors();
    assert_eq!(shown[0].input_schema.as_json(), &query_schema());
    assert_eq!(shown[1].description.as_deref(), Some("Reads a file."));
    let found = kit.run_call(&ToolCall::new("c1", "search_files", r#"{"query":"x"}"#)).await;
    assert_eq!(value(&found), json!({"server": "files", "ran": "search_files", "with": {"query": "x"}}));
}

// 9: local and dynamic tools.

/// Raw JSON Schema is not what makes a tool dynamic: every kind takes it.
#[tokio::test]
async fn a_local_tool_takes_a_raw_schema_too() {
    let local = Tool::new("local").params_json(query_schema()).handler(|v: Value, _cx| async move { v }).unwrap();
    assert!(local.is_user_defined() && !local.is_dynamic());
    assert_eq!(local.json_schema(), &query_schema());
    assert_eq!(value(&run(&local, json!({"query": "x"})).await), json!({"query": "x"}));
    assert_eq!(failure(&run(&local, json!({})).await).0, "input_validation_error");
}

#[test]
fn local_and_dynamic_tools_differ_in_their_default_success() {
    let (local, dynamic) = (Tool::new("t").define().unwrap(), Tool::dynamic("t").define().unwrap());
    assert_eq!(local.success().as_json(), &json!({"type": "null"}));
    assert_eq!(dynamic.success().as_json(), &json!({}));
    assert_eq!(local.failure().as_json(), dynamic.failure().as_json());
}

// 11.3: results and their encoded form.

/// A value whose encoded form is another type: a duration that is sent in milliseconds.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Stamp {
    #[serde(with = "millis")]
    #[schemars(with = "u64")]
    timestamp: Duration,
}

mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u128(duration.as_millis())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

#[tokio::test]
async fn a_result_is_encoded_by_the_schema_of_its_encoded_form() {
    let now = Tool::dynamic("TestTool")
        .params_json(json!({"type": "object", "properties": {}}))
        .success::<Stamp>()
        .handler(|_: Value, _cx| async { Stamp { timestamp: Duration::from_secs(1) } })
        .unwrap();
    assert_eq!(now.success().as_json()["properties"]["timestamp"]["type"], "integer");
    assert_eq!(value(&run(&now, json!({})).await), json!({"timestamp": 1000}));
}

/// The type of the tool in the document, by which its results are read.
struct TestTool;

impl ToolType for TestTool {
    const NAME: &'static str = "TestTool";
    type Params = Value;
    type Success = Stamp;
    type Failure = NoFailure;
    type Services = ();
}

#[tokio::test]
async fn a_result_is_read_as_its_type_beside_the_encoded_form() {
    let stamp = || async { Stamp { timestamp: Duration::from_secs(1) } };
    let dynamic = Tool::dynamic("TestTool").success::<Stamp>().handler(move |_: Value, _cx| stamp()).unwrap();
    let kit: Toolkit = Toolkit::from_iter([dynamic]);
    let handled = kit.try_run_call(ToolCall::new("c1", "TestTool", "{}"), RunOptions::new()).await.unwrap();
    assert_eq!(handled.encoded.to_value(), json!({"timestamp": 1000}));
    assert_eq!(handled.typed::<TestTool>(), Ok(Stamp { timestamp: Duration::from_secs(1) }));
    assert_eq!(TestTool::read(&handled.result), handled.typed::<TestTool>());
}
