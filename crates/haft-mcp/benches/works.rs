//! The cost of calls of an MCP server compared with the SDK alone, and that of listing pinned tools.
//!
//! `cargo xtask bench` runs this and compares the ratios with the bars; name works to run only those.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

#[path = "../../haft-executor/benches/meter.rs"]
mod meter;

use std::cell::RefCell;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::process::Stdio;

use futures_util::future::join_all;
use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_mcp::{Era, McpClient, McpServer};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use self::meter::{Figures, Meter, Work};

/// Set in the process that is the server.
const SERVES: &str = "HAFT_BENCH_SERVES";
/// The number of calls in one run.
const CALLS: usize = 16;
const TOOLS: usize = 1000;
/// The time that listing may take, in nanoseconds.
const ALLOWED_NS: f64 = 10e6;

const WORKS: &[Work] = &[("W8c", 1, one_by_one), ("W8c-16", 1, at_once), ("W8d", 20, listing)];

fn main() {
    if std::env::var_os(SERVES).is_some() {
        return serve().unwrap();
    }
    meter::run(WORKS);
}

/// W8c: calls one after the other, compared with those of rmcp's client. Each has a process of the same server.
fn one_by_one(meter: Meter) -> Figures {
    let both = Both::start();
    let ours = || {
        both.runtime.block_on(async {
            for _ in 0..CALLS {
                both.ours().await;
            }
        });
    };
    let floor = || {
        both.runtime.block_on(async {
            for _ in 0..CALLS {
                both.floor().await;
            }
        });
    };
    meter.compare(ours, floor).per_run_of(CALLS)
}

/// W8c-16: the same calls, all at once.
fn at_once(meter: Meter) -> Figures {
    let both = Both::start();
    let ours = || drop(both.runtime.block_on(join_all((0..CALLS).map(|_| both.ours()))));
    let floor = || drop(both.runtime.block_on(join_all((0..CALLS).map(|_| both.floor()))));
    meter.compare(ours, floor).per_run_of(CALLS)
}

/// W8d: creates a thousand tools from their pins and lists them, compared with the time that it may take; by
/// instructions, with copying the pins.
fn listing(meter: Meter) -> Figures {
    let definitions: Vec<Value> = (0..TOOLS).map(definition).collect();
    let server = McpServer::command("never-started", [""; 0]);
    // Nobody waits for the end of a client.
    let kept = RefCell::new(Vec::new());
    let make = || {
        kept.borrow_mut().clear();
        definitions.clone()
    };
    let ours = |pins: Vec<Value>| {
        let client = server.clone().pinned(pins);
        assert_eq!(client.snapshot().toolkit().names().map(black_box).count(), TOOLS);
        kept.borrow_mut().push(client);
    };
    match meter.compare_with(make, ours, |pins| drop(black_box(pins.clone()))) {
        Figures::Times { ns, .. } => Figures::Times { ns, floor_ns: ALLOWED_NS },
        counted @ Figures::Counted { .. } => counted,
    }
}

/// A client of ours and one of rmcp.
struct Both {
    runtime: Runtime,
    ours: McpClient,
    floor: RunningService<RoleClient, ()>,
    _server: tokio::process::Child,
}

impl Both {
    fn start() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let program = std::env::current_exe().unwrap();
        let (ours, floor, server) = runtime.block_on(async {
            let ours = McpServer::command(&program, [""; 0]).env(SERVES, "1").era(Era::Legacy);
            let mut server = tokio::process::Command::new(&program);
            server.env(SERVES, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
            let mut server = server.spawn().unwrap();
            let pipes = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
            (ours.connect().await.unwrap(), ().serve(pipes).await.unwrap(), server)
        });
        Self { runtime, ours, floor, _server: server }
    }

    async fn ours(&self) {
        let call = ToolCall::new("c1", "tool_0", r#"{"city":"Oslo","days":3}"#);
        let results = self.ours.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
        assert!(black_box(results)[0].failure().is_none());
    }

    async fn floor(&self) {
        let arguments = json!({"city": "Oslo", "days": 3}).as_object().unwrap().clone();
        let params = CallToolRequestParams::new("tool_0").with_arguments(arguments);
        let result = self.floor.call_tool(params).await.unwrap();
        assert!(black_box(result).is_error != Some(true));
    }
}

fn definition(at: usize) -> Value {
    json!({
        "name": format!("tool_{at}"),
        "title": format!("Tool {at}"),
        "description": format!("Returns the forecast {at} of a city for some days, with everything that is known about it."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The name of the city.", "minLength": 1},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "unit": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
            },
            "required": ["city", "days"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": true},
    })
}

/// Answers as quickly as a server can.
fn serve() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}),
            "tools/list" => json!({"tools": [definition(0)]}),
            "tools/call" => json!({"content": [{"type": "text", "text": "It is 7 degrees in Oslo."}]}),
            _ => continue,
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))?;
        output.flush()?;
    }
    Ok(())
}
