//! Calls, their results and their ends.

use std::sync::Arc;
use std::time::Duration;

use haft_core::{ContentPart, ToolOutput};
use haft_executor::{Cx, HandlerError, RunOptions, Tool, Toolkit};
use haft_mcp::serve::{CallerAccess, LogLevel, ServeLimits, ServedClient, serve};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::line_client::{LineClient, NEW, OLD};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Total {
    total: i64,
}

fn kit(tools: impl IntoIterator<Item = Tool>) -> Toolkit {
    Toolkit::from_iter(tools)
}

fn add() -> Tool {
    Tool::new("add").handler(|sum: Sum, _cx| async move { Total { total: sum.a + sum.b } }).unwrap()
}

/// A tool that waits until it is cancelled, and reports both.
fn wait(started: &Arc<Notify>, ended: &Arc<Notify>) -> Tool {
    let (started, ended) = (Arc::clone(started), Arc::clone(ended));
    let handler = move |(), _cx: Cx| {
        let (started, ended) = (Arc::clone(&started), Ends(Arc::clone(&ended)));
        async move {
            let _ended = ended;
            started.notify_one();
            std::future::pending::<()>().await;
        }
    };
    Tool::new("wait").handler(handler).unwrap()
}

struct Ends(Arc<Notify>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[tokio::test]
async fn a_result_has_its_structure_and_its_text_twin() {
    for era in [OLD, NEW] {
        let mut client = LineClient::connect(serve(kit([add()])), era).await;
        let result = client.call("add", json!({"a": 1, "b": 2})).await;
        assert_eq!(result["structuredContent"], json!({"total": 3}));
        assert_eq!(result["content"], json!([{"type": "text", "text": r#"{"total":3}"#}]));
        assert_eq!(result["isError"], false);
        assert_eq!(result.get("resultType").is_some(), era == NEW);
    }
}

#[tokio::test]
async fn invalid_arguments_are_a_result_that_lists_the_issues() {
    let plain = Tool::new("plain").handler(|_: Sum, _cx| async { "done" }).unwrap();
    let mut client = LineClient::connect(serve(kit([add(), plain])), NEW).await;
    let result = client.call("plain", json!({"a": "x", "b": 1})).await;
    assert_eq!(result["isError"], true);
    let error = &result["structuredContent"]["error"];
    assert_eq!((&error["kind"], &error["started"]), (&json!("input_validation_error"), &json!(false)));
    assert_eq!(error["issues"][0]["pointer"], "/a", "{error}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("/a") && text.contains("input_validation_error"), "{text}");
    // A client checks structured content by the tool's schema, so the failure is beside it.
    let result = client.call("add", json!({"a": "x", "b": 1})).await;
    assert_eq!((&result["isError"], &result["structuredContent"]), (&json!(true), &Value::Null));
    assert_eq!(result["_meta"]["haft/failure"]["issues"][0]["pointer"], "/a");
}

#[tokio::test]
async fn arguments_that_are_no_object_are_wrapped_and_unwrapped() {
    let double = Tool::new("double").handler(|n: i64, _cx| async move { 2 * n }).unwrap();
    let mut client = LineClient::connect(serve(kit([double])), NEW).await;
    let listed = client.request("tools/list", json!({})).await;
    let schema = &listed["result"]["tools"][0]["inputSchema"];
    let name = schema["properties"].as_object().unwrap().keys().next().unwrap().clone();
    let result = client.call("double", json!({name: 21})).await;
    assert_eq!(result["content"][0]["text"], "42", "{schema}");
    assert_eq!(result["structuredContent"], 42);
}

#[tokio::test]
async fn content_and_metadata_pass() {
    let parts = || vec![ContentPart::text("hi"), ContentPart::Unknown(json!({"type": "hologram", "depth": 3}))];
    let output = move || ToolOutput::content_only(parts()).with_metadata("mcp", json!({"a/b": 1}));
    let show = Tool::new("show").handler(move |(), _cx| async move { output() }).unwrap();
    let mut client = LineClient::connect(serve(kit([show])), NEW).await;
    let result = client.call("show", json!({})).await;
    assert_eq!(result["content"][0], json!({"type": "text", "text": "hi"}), "{result}");
    assert_eq!(result["content"][1]["type"], "text");
    assert!(result["content"][1]["text"].as_str().unwrap().contains("hologram"));
    assert_eq!(result["_meta"]["a/b"], 1);
}

#[tokio::test]
async fn neither_causes_nor_panics_reach_the_client() {
    let secret = "sk-planted-secret";
    let caused =
        move |(), _cx: Cx| async move { Err::<(), _>(HandlerError::<String>::opaque(std::io::Error::other(secret))) };
    let caused = Tool::new("caused").try_handler_mixed(caused).unwrap();
    let panics =
        Tool::new("panics").handler(move |(), _cx| async move { assert!(secret.is_empty(), "{secret}") }).unwrap();
    for era in [OLD, NEW] {
        let mut client = LineClient::connect(serve(kit([caused.clone(), panics.clone()])), era).await;
        for tool in ["caused", "panics"] {
            let result = client.call(tool, json!({})).await;
            assert_eq!(result["isError"], true, "{result}");
            assert!(!result.to_string().contains(secret), "{result}");
        }
    }
}

#[tokio::test]
async fn progress_and_log_messages_arrive_in_order_before_the_result() {
    let count = Tool::new("count").handler(|to: Sum, cx: Cx| async move {
        let client = cx.service::<ServedClient>().unwrap().clone();
        let (from, end) = (i32::try_from(to.a).unwrap(), i32::try_from(to.b).unwrap());
        for n in from..end {
            cx.progress(n.into(), f64::from(end), format!("step {n}")).await.unwrap();
            cx.progress(0.0, None, "backwards").await.unwrap();
        }
        client.log(LogLevel::Debug, "quiet").await;
        client.log(LogLevel::Error, json!({"n": to.b})).await;
        client.name().unwrap().to_owned()
    });
    let kit = kit([count.unwrap()]);
    for era in [OLD, NEW] {
        let mut client = LineClient::connect(serve(kit.clone()), era).await;
        let meta = json!({"progressToken": "t1", "io.modelcontextprotocol/logLevel": "warning"});
        let params = json!({"name": "count", "arguments": {"a": 1, "b": 4}, "_meta": meta});
        let result = client.call_with(params).await;
        assert_eq!(result["content"][0]["text"], "line");
        let methods: Vec<_> = client.notices.iter().map(|notice| notice["method"].as_str().unwrap()).collect();
        assert_eq!(methods, [&["notifications/progress"; 3][..], &["notifications/message"]].concat());
        let progress: Vec<_> = client.notices[..3].iter().map(|notice| notice["params"]["progress"].as_f64()).collect();
        assert_eq!(progress, [Some(1.0), Some(2.0), Some(3.0)]);
        assert_eq!(client.notices[0]["params"]["progressToken"], "t1");
        assert_eq!(client.notices[3]["params"]["data"], json!({"n": 4}));
        client.notices.clear();
        client.call("count", json!({"a": 1, "b": 4})).await;
        assert!(client.notices.iter().all(|notice| notice["method"] != "notifications/progress"));
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_and_is_not_answered() {
    for era in [OLD, NEW] {
        let (started, ended) = (Arc::default(), Arc::default());
        let mut client = LineClient::connect(serve(kit([wait(&started, &ended), add()])), era).await;
        let id = client.begin("tools/call", json!({"name": "wait", "arguments": {}})).await;
        started.notified().await;
        let params = json!({"requestId": id, "reason": "enough"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        ended.notified().await;
        assert_eq!(client.call("add", json!({"a": 1, "b": 2})).await["structuredContent"]["total"], 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_takes_its_calls_along() {
    let (started, ended) = (Arc::default(), Arc::default());
    let mut client = LineClient::connect(serve(kit([wait(&started, &ended)])), NEW).await;
    client.begin("tools/call", json!({"name": "wait", "arguments": {}})).await;
    started.notified().await;
    client.close().await.unwrap();
    ended.notified().await;
}

#[tokio::test]
async fn a_shutdown_answers_what_runs_and_takes_nothing_new() {
    let go = Arc::new(Notify::new());
    let (going, started) = (Arc::clone(&go), Arc::new(Notify::new()));
    let begun = Arc::clone(&started);
    let slow = Tool::new("slow").handler(move |(), _cx| {
        let (go, begun) = (Arc::clone(&going), Arc::clone(&begun));
        async move {
            begun.notify_one();
            go.notified().await;
            "finished"
        }
    });
    let server = serve(kit([slow.unwrap()]));
    let shutdown = server.shutdown();
    let mut client = LineClient::connect(server, NEW).await;
    let id = client.begin("tools/call", json!({"name": "slow", "arguments": {}})).await;
    started.notified().await;
    let ending = tokio::spawn(async move { shutdown.graceful(Duration::from_secs(3600)).await });
    tokio::task::yield_now().await;
    let late = client.request("tools/call", json!({"name": "slow", "arguments": {}})).await;
    assert_eq!(late["result"]["structuredContent"]["error"]["kind"], "shutting_down");
    go.notify_one();
    assert_eq!(client.answer(id).await["result"]["content"][0]["text"], "finished");
    ending.await.unwrap();
    client.close().await.unwrap();
}

#[tokio::test]
async fn the_limits_of_a_caller_are_failures_that_the_model_reads() {
    let (started, ended) = (Arc::default(), Arc::default());
    let server =
        serve(kit([wait(&started, &ended), add()])).caller(CallerAccess::new("ana").in_flight(1).per_minute(3));
    let mut client = LineClient::connect(server, NEW).await;
    let id = client.begin("tools/call", json!({"name": "wait", "arguments": {}})).await;
    started.notified().await;
    let refused = client.call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(
        (&refused["isError"], &refused["_meta"]["haft/failure"]["kind"]),
        (&json!(true), &json!("rate_limited"))
    );
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancelled).await;
    ended.notified().await;
    let mut outcomes = Vec::new();
    for _ in 0..4 {
        let result = client.call("add", json!({"a": 1, "b": 2})).await;
        outcomes.push(result["isError"].as_bool().unwrap());
    }
    assert!(outcomes.ends_with(&[true]) && outcomes.iter().filter(|failed| !**failed).count() == 2, "{outcomes:?}");
}

#[tokio::test]
async fn options_of_the_server_apply_to_every_call() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let who = Tool::new("who").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) }).unwrap();
    let options = RunOptions::new().observe(move |event| {
        if let haft_core::ToolEvent::Output { result, .. } = event {
            log.lock().unwrap().push(result.tool.to_string());
        }
    });
    let server = serve(kit([who])).options(options).caller("ana").limits(ServeLimits::default());
    let mut client = LineClient::connect(server, OLD).await;
    assert_eq!(client.call("who", json!({})).await["content"][0]["text"], "ana");
    assert_eq!(*seen.lock().unwrap(), ["who"]);
}

#[tokio::test]
async fn a_client_that_begins_otherwise_is_told_nothing_of_itself() {
    let (ours, theirs) = tokio::io::duplex(1024);
    let (reader, writer) = tokio::io::split(theirs);
    let served = tokio::spawn(serve(kit([add()])).over(reader, writer));
    let message = json!({"jsonrpc": "2.0", "method": "notifications/sk-planted-secret"});
    let mut ours = ours;
    tokio::io::AsyncWriteExt::write_all(&mut ours, format!("{message}\n").as_bytes()).await.unwrap();
    let error = served.await.unwrap().unwrap_err();
    assert!(!format!("{error:?}").contains("sk-planted"), "{error:?}");
}
