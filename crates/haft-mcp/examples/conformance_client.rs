//! The client that the official conformance suite judges: an ordinary client of this crate, which lists the tools of the
//! server at the last argument and calls each of them. `cargo xtask conformance client` runs it.
//!
//! Like a careful application it logs in where the server requires that, answers questions with what their schema allows,
//! and makes a call again after another login, a few times. The scenario is in the environment.

#![allow(clippy::print_stdout, reason = "the suite keeps the output for whoever looks into a failure")]

use std::error::Error;
use std::time::Duration;

use haft_core::{ApprovalRequest, FailureKind, Question, Secret, ToolCall, ToolResult};
use haft_executor::{Cx, Dispatch, RunOptions};
use haft_http::{AddressGuard, GuardedClient, HttpClient, HttpRequest};
use haft_mcp::{Era, LOGIN_REQUIRED, McpClient, McpError, McpServer, OAuth};
use serde_json::{Map, Value, json};

/// The document that the suite's authorization servers accept as the id of a client.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";
/// The logins for one step: a server that is never content must not get more of them.
const MAX_LOGINS: usize = 3;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let context: Value = match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };
    let era = match std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").as_deref() {
        Ok("2026-07-28") => Era::Modern,
        _ => Era::Legacy,
    };
    let host = url.split('/').nth(2).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let guard = AddressGuard::new().allow_host(host)?.allow_host("127.0.0.1")?;
    let http = HttpClient::builder().no_proxy().guarded(guard)?;

    let tokens = std::env::temp_dir().join(format!("haft-conformance-{}", std::process::id()));
    let server = McpServer::http(url).era(era).http_client(http.clone()).oauth(settings(&tokens, &context));
    let done = visit(server, &context, &http).await;
    let _ = std::fs::remove_dir_all(tokens);
    done
}

fn settings(tokens: &std::path::Path, context: &Value) -> OAuth {
    let mut settings = OAuth::new(tokens).client_metadata_url(METADATA);
    if let Some(id) = context["client_id"].as_str() {
        settings = settings.client_id(id);
    }
    if let Some(secret) = context["client_secret"].as_str() {
        settings = settings.client_secret(Secret::new(secret));
    }
    settings
}

async fn visit(server: McpServer, context: &Value, http: &GuardedClient) -> Result<(), Box<dyn Error>> {
    let mut connected = server.clone().connect().await;
    for _ in 0..MAX_LOGINS {
        if !matches!(connected, Err(McpError::LoginRequired { .. })) {
            break;
        }
        login(&server, http).await?;
        connected = server.clone().connect().await;
    }
    let client = connected?;
    for (tool, arguments) in calls(&client, context) {
        let mut result = call(&client, &tool, &arguments).await;
        for _ in 0..MAX_LOGINS {
            let Some(failure) = result.failure() else { break };
            if failure.kind != FailureKind::from(LOGIN_REQUIRED) {
                break;
            }
            login(client.server(), http).await?;
            result = call(&client, &tool, &arguments).await;
        }
        println!("{tool}: {}", result.to_model_text());
    }
    client.close().await;
    Ok(())
}

/// Returns the calls to make: those that the scenario names, or else one of every tool.
fn calls(client: &McpClient, context: &Value) -> Vec<(String, Value)> {
    if let Some(named) = context["toolCalls"].as_array() {
        let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
        return named.iter().map(|call| (name(call), call["arguments"].clone())).collect();
    }
    let listing = client.offered();
    let schema = |index: usize| listing.tools.get(index).map(|tool| tool.definition["inputSchema"].clone());
    let calls = listing.tools.iter().map(|tool| {
        let mut arguments = sample(&tool.definition["inputSchema"]);
        // A tool that echoes a schema gets the one of the first tool, as it was listed.
        if tool.tool.name() == "json_schema_echo" {
            arguments = json!({"schema": schema(0)});
        }
        (tool.tool.name().to_owned(), arguments)
    });
    calls.collect()
}

async fn call(client: &McpClient, tool: &str, arguments: &Value) -> ToolResult {
    let call = ToolCall::new("c1", tool, arguments.to_string());
    let options = RunOptions::new().approvals(|request: ApprovalRequest, _: Cx| async move {
        match request.question.as_deref() {
            Some(Question::Input { schema, .. }) => {
                let answer = sample(schema);
                request.answer(answer)
            }
            _ => request.approve(),
        }
    });
    client.run_calls(vec![call.into()], options).collect_results().await.remove(0)
}

/// Returns the least value that a simple schema allows.
fn sample(schema: &Value) -> Value {
    if let Some(default) = schema.get("default").or_else(|| schema["enum"].get(0)) {
        return default.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            required.map(|name| (name.to_owned(), sample(&schema["properties"][name]))).collect::<Map<_, _>>().into()
        }
        Some("number" | "integer") => 5.into(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        _ => "x".into(),
    }
}

/// Logs in as a person who is known to the authorization server: it redirects the browser back at once.
async fn login(server: &McpServer, http: &GuardedClient) -> Result<(), McpError> {
    let http = http.clone();
    let browser = move |page: &str| {
        let request = HttpRequest::get(page).redirects(5);
        tokio::spawn(async move { drop(http.send(request).await) });
    };
    match tokio::time::timeout(Duration::from_secs(10), server.login(browser)).await {
        Ok(logged_in) => logged_in,
        Err(_) => Err(McpError::LoginRequired { server: server.name().to_owned() }),
    }
}
