//! Tools that send HTTP requests, against servers on the loopback interface.

mod auth;
mod broken;
mod cancellation;
mod detail;
mod fault;
mod kind;
mod mapping;
mod notation;
mod oauth;
mod parts;
mod path;
mod redirect;
mod response;
mod retry;
mod secrecy;
mod server;

use std::time::Duration;

use haft_core::{FailureKind, Outcome, ToolCall, ToolFailure};
use haft_executor::{RunOptions, Tool, Toolkit};
use haft_http::{AddressGuard, GuardedClient, HttpClient, Method};
use haft_registry::{Entry, EntryError, ImplementationKind, Secrets, ToolSettings};
use haft_tools::http::{HttpKind, HttpTool};
use serde_json::{Value, json};

/// A timeout that no passing test waits for.
const LONG: Duration = Duration::from_secs(600);

thread_local! {
    /// A client that may connect to the loopback interface. Every test has its own thread and runtime.
    static CLIENT: GuardedClient = {
        let guard = AddressGuard::new().allow_host("127.0.0.1").unwrap();
        HttpClient::builder().no_proxy().guarded(guard).unwrap()
    };
}

fn client() -> GuardedClient {
    CLIENT.with(GuardedClient::clone)
}

/// The text of every secret in these tests.
const SECRET: &str = "s3cr3t/token+1";

fn secrets() -> Secrets {
    Secrets::new().value("key", SECRET).value("other", "0th3r-secret").value("pair", format!("ada:{SECRET}"))
}

fn options() -> RunOptions {
    RunOptions::new().service(client()).service(secrets())
}

fn http_tool(method: Method, url: impl AsRef<str>) -> HttpTool {
    HttpTool::new(method, url.as_ref().parse().unwrap()).timeout(LONG)
}

/// An entry whose arguments are these properties, all optional but the listed ones, and any other.
fn entry(properties: &Value, required: &[&str]) -> Entry {
    let mut settings = ToolSettings::default();
    settings.parameters = Some(json!({"type": "object", "properties": properties, "required": required}));
    Entry::new("t", Value::Null).tool(settings)
}

/// An entry that accepts any arguments, none of which is known when the tool is built.
fn open_entry() -> Entry {
    let mut settings = ToolSettings::default();
    settings.parameters = Some(json!({"type": "object", "allOf": [{}]}));
    Entry::new("t", Value::Null).tool(settings)
}

/// Builds a tool of the kind `http`.
async fn of_kind(settings: Value) -> Result<Tool, EntryError> {
    of_entry(Entry::new("t", settings)).await
}

async fn of_entry(entry: Entry) -> Result<Tool, EntryError> {
    HttpKind::new().build(entry).await.map(|mut built| built.tools.remove(0))
}

async fn call(tool: &Tool, arguments: Value) -> Result<Value, ToolFailure> {
    call_with(tool, arguments, options()).await
}

async fn call_with(tool: &Tool, arguments: Value, options: RunOptions) -> Result<Value, ToolFailure> {
    let kit = Toolkit::new().with(tool.clone()).unwrap();
    let call = ToolCall::new("c1", tool.name(), arguments.to_string());
    let mut results = kit.run_with([call], options).collect_results().await;
    match results.remove(0).outcome {
        Outcome::Ok(output) => Ok(output.value().unwrap().to_value()),
        Outcome::Failed(failure) => Err(*failure),
    }
}

/// Calls a tool that must reject its arguments, and returns the issues' pointers.
async fn rejected(tool: &Tool, arguments: Value) -> Vec<String> {
    let failure = call(tool, arguments).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::InputValidationError, "{failure}");
    failure.issues.iter().map(|issue| issue.pointer.clone()).collect()
}
