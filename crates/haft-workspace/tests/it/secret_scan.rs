//! No secret leaves a run, whatever a server or a command does with it.
//!
//! A workspace is loaded from files, its tools run one by one and as a batch that is suspended and resumed, and
//! everything that leaves is scanned: events, results, errors with their sources, audit records, stored state,
//! descriptors, `Debug` output and traces.

mod scanner;
mod server;
mod workspace;

use std::io;
use std::sync::{Arc, Mutex};

use haft_core::{ApprovalRequest, Outcome, ToolCall, ToolEvent, ToolResult};
use haft_executor::{Cx, Dispatch, Run, RunOptions, Suspend, Suspended, ToolSource};
use haft_http::{HttpClient, Resolver, Resolving};
use haft_registry::Executor;
use haft_workspace::{LoadOptions, Loaded, Trust, load};
use serde_json::json;

use self::scanner::Outputs;
use self::server::{EchoServer, TOKEN};
use self::workspace::{ODD, PLAIN, Planted};
use crate::recorder::TextRecorder;

const SECRETS: [&str; 3] = [PLAIN, ODD, TOKEN];

/// No name has an address, so that nothing leaves the machine.
struct NoNames;

impl Resolver for NoNames {
    fn resolve(&self, _: &str) -> Resolving {
        Box::pin(std::future::ready(Err(io::ErrorKind::NotFound.into())))
    }
}

fn load_options(trust: Trust) -> LoadOptions {
    LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)
}

/// Builds an executor whose client ignores the environment.
fn executor(loaded: &Loaded, options: RunOptions) -> Executor {
    let client = HttpClient::builder().no_proxy().resolver(NoNames).guarded(loaded.guard.clone()).unwrap();
    let builder = loaded.executor().service(client).options(options);
    builder.build(loaded.registry().unwrap().build().unwrap())
}

/// Options that keep what observers and auditors receive.
fn watched(options: RunOptions, outputs: &Arc<Mutex<Outputs>>) -> RunOptions {
    let (observed, audited) = (Arc::clone(outputs), Arc::clone(outputs));
    options
        .observe(move |event| add_event(&mut observed.lock().unwrap(), "observer", event))
        .audit(move |record| {
            let mut outputs = audited.lock().unwrap();
            outputs.add("audit", serde_json::to_string(record).unwrap());
            outputs.add_debug("audit", record);
        })
        .started_events()
}

fn add_event(outputs: &mut Outputs, place: &str, event: &ToolEvent) {
    outputs.add(format!("{place} {}", event.tool()), serde_json::to_string(event).unwrap());
    outputs.add_debug(&format!("{place} {}", event.tool()), event);
    if let Some(result) = event.result() {
        add_result(outputs, place, result);
    }
}

fn add_result(outputs: &mut Outputs, place: &str, result: &ToolResult) {
    let place = format!("{place} {}", result.tool);
    outputs.add(&place, serde_json::to_string(result).unwrap());
    outputs.add(&place, result.to_model_text());
    outputs.add_debug(&place, result);
    match &result.outcome {
        Outcome::Ok(_) => {}
        Outcome::Failed(failure) => {
            outputs.add(&place, failure.to_model_text());
            outputs.add_error(&place, &**failure);
        }
    }
}

/// Runs every tool by its name. Returns the successful ones.
async fn run_each(executor: &Executor, outputs: &mut Outputs) -> Vec<String> {
    let mut successful = Vec::new();
    for tool in executor.list(&executor.options()) {
        let place = format!("run {}", tool.name);
        match executor.run(&tool.name, json!({})).await {
            Ok(value) => {
                outputs.add(&place, value.to_string());
                successful.push(tool.name.clone());
            }
            Err(error) => {
                outputs.add_error(&place, &error);
                outputs.add(&place, serde_json::to_string(error.failure().unwrap()).unwrap());
            }
        }
    }
    successful
}

async fn read(mut run: Run, place: &str, outputs: &Arc<Mutex<Outputs>>) -> Option<Suspended> {
    while let Some(event) = run.next().await {
        add_event(&mut outputs.lock().unwrap(), place, &event);
    }
    let suspended = run.suspended();
    outputs.lock().unwrap().add_debug(place, &run);
    suspended
}

/// Runs every tool in one batch, which is suspended for approval, stored and resumed.
async fn run_batch(executor: &Executor, outputs: &Arc<Mutex<Outputs>>) {
    let options = || watched(executor.options().approvals(Suspend), outputs);
    let names = executor.list(&options()).into_iter().map(|tool| tool.name.clone());
    let calls = names.enumerate().map(|(at, name)| ToolCall::new(format!("c{at}"), name, "{}").into()).collect();
    let suspended = read(executor.run_calls(calls, options()), "batch", outputs).await.unwrap();
    let stored = serde_json::to_string(&suspended).unwrap();
    {
        let mut outputs = outputs.lock().unwrap();
        outputs.add("suspended", &stored);
        outputs.add_debug("suspended", &suspended);
        for request in suspended.pending() {
            outputs.add("suspended", serde_json::to_string(request).unwrap());
            outputs.add_debug("suspended", request);
        }
    }
    let suspended: Suspended = serde_json::from_str(&stored).unwrap();
    let verdicts = suspended.pending().map(ApprovalRequest::approve).collect();
    assert!(read(executor.resume_calls(suspended, verdicts, options()), "resumed", outputs).await.is_none());
}

/// Adds everything that can be shown without running anything.
fn add_descriptions(loaded: &Loaded, executor: &Executor, outputs: &mut Outputs) {
    outputs.add_debug("loaded", loaded);
    outputs.add_debug("secrets", &loaded.secrets);
    outputs.add_debug("executor", executor);
    outputs.add_debug("settings", &loaded.executor());
    outputs.add_debug("registry", executor.registry());
    outputs.add_debug("toolkit", executor.snapshot().toolkit());
    for remark in &loaded.remarks {
        outputs.add("remark", remark.to_string());
    }
    for tool in executor.snapshot().toolkit() {
        outputs.add_debug(&format!("tool {}", tool.name()), tool);
        outputs.add("descriptor", serde_json::to_string(&tool.descriptor()).unwrap());
        outputs.add_debug("descriptor", &tool.descriptor());
    }
    for toolbox in loaded.workspace.toolboxes() {
        outputs.add_debug("toolbox", toolbox);
    }
}

#[tokio::test]
async fn no_secret_leaves_a_run() {
    let server = EchoServer::start().await;
    let planted = Planted::new(&server.origin);
    let recorder = TextRecorder::default();
    let outputs = Arc::new(Mutex::new(Outputs::default()));
    let guard = tracing::subscriber::set_default(recorder.clone());

    let loaded = load(planted.path("haft.toml"), &load_options(Trust::Always)).await.unwrap();
    let approve = |request: ApprovalRequest, _cx: Cx| async move { request.approve() };
    let executor = executor(&loaded, watched(RunOptions::new().approvals(approve), &outputs));
    let mut shown = Outputs::default();
    add_descriptions(&loaded, &executor, &mut shown);
    let successful = run_each(&executor, &mut shown).await;
    run_batch(&executor, &outputs).await;
    // Once more, as tools hold tokens by now.
    add_descriptions(&loaded, &executor, &mut shown);
    drop(guard);
    for line in recorder.lines() {
        // The transport traces host names, even a redirect's that a server made from the secret.
        if !line.contains(" hyper_util::client::legacy::") || !line.contains(".example") {
            shown.add("traced", line);
        }
    }

    // Every secret was used, and every way of failing was taken.
    for form in &planted.forms {
        for (name, secret) in [("odd", ODD), ("plain", PLAIN)] {
            let sent = if form.starts_with("oauth") { TOKEN } else { secret };
            assert!(server.has_received(&format!("/{form}/{name}/status"), sent), "{form} {name}");
            assert!(successful.contains(&format!("web/{form}_{name}_ok")), "{form} {name}: {successful:?}");
            for behaviour in ["status", "page", "problem", "image", "headers", "ok"] {
                let place = format!("run web/{form}_{name}_{behaviour}");
                assert!(shown.contains(&place, "[removed]"), "{form} {name} {behaviour}");
            }
        }
    }
    for (name, secret) in [("odd", ODD), ("plain", PLAIN)] {
        assert!(server.has_received(&format!("/{name}/token"), secret), "{name}");
        assert!(server.has_received(&format!("/{name}/denied"), secret), "{name}");
    }
    assert!(server.has_received("/import/status", ODD) && server.has_received("/import/problem", TOKEN));
    for name in ["model", "operator"] {
        assert!(shown.contains(&format!("run shell/{name}"), "HAFT_CALL_ID"), "{name}");
    }
    for name in ["echo", "progress"] {
        assert!(shown.contains(&format!("run shell/{name}"), "[removed]"), "{name}");
    }
    assert!(shown.contains("traced", "execute_tool") && shown.contains("traced", "HAFT_CALL_ID"));
    let outputs = outputs.lock().unwrap();
    assert!(outputs.contains("resumed shell/progress", r#""type":"progress""#));
    for place in ["audit", "observer", "batch", "resumed", "suspended"] {
        assert!(outputs.contains(place, ""), "{place}");
    }

    let leaks = [shown.leaks(&SECRETS), outputs.leaks(&SECRETS)].concat();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[tokio::test]
async fn no_secret_is_part_of_what_a_loader_reports() {
    let server = EchoServer::start().await;
    let planted = Planted::new(&server.origin);
    let mut outputs = Outputs::default();
    let loaded = load(planted.path("haft.toml"), &load_options(Trust::Never)).await.unwrap();
    let untrusted = executor(&loaded, RunOptions::new());
    add_descriptions(&loaded, &untrusted, &mut outputs);
    assert_eq!(run_each(&untrusted, &mut outputs).await, Vec::<String>::new());

    // A text in the place of the table that says where it is.
    for text in [
        format!("[secrets]\nkey = '{PLAIN}'\n"),
        format!("[secrets]\nkey = {PLAIN}\n"),
        format!("[secrets]\nkey = {{ value = '{PLAIN}' }}\n"),
        format!("[secrets]\nkey = {{ env = ['{PLAIN}'] }}\n"),
        format!("[secrets]\nkey = '{PLAIN}\n"),
        format!("[secrets]\nkey = ['{PLAIN}']\n"),
    ] {
        planted.write("haft.toml", &text);
        let error = load(planted.path("haft.toml"), &load_options(Trust::Always)).await.unwrap_err();
        outputs.add_error(&text.escape_debug().to_string().replace(PLAIN, "…"), &error);
    }
    let leaks = outputs.leaks(&SECRETS);
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}
