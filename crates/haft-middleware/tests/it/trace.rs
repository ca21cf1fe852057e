//! Content that [`Trace`] records on the span of a call.

#[allow(dead_code, reason = "the tests of haft-core use the rest")]
#[path = "../../../haft-executor/tests/it/run_spans/recorder.rs"]
mod recorder;

use haft_core::ToolCall;
use haft_executor::{RunOptions, Tool, Toolkit};
use haft_middleware::Trace;

use self::recorder::{Recorder, SpanRecord};

/// Runs one call of a toolkit in every way, each once.
async fn every_way(kit: &Toolkit, call: &ToolCall) {
    kit.run_call(call).await;
    kit.run_call_with(call, RunOptions::new().concurrency(1)).await;
    let _ = kit.try_run_call(call, RunOptions::new()).await;
    kit.run([call]).collect_results().await;
    kit.run_with([call], RunOptions::new().spawned()).collect_results().await;
}

const WAYS: usize = 5;

fn double() -> Toolkit {
    Toolkit::from_iter([Tool::new("double").handler(|n: i64, _cx| async move { n.wrapping_mul(2) }).unwrap()])
}

/// Calls that run beside each other have their own content each.
#[tokio::test]
async fn content_that_is_asked_for_is_on_the_span_of_its_call() {
    let kit = double().wrap(Trace::new().with_content());
    let seen = Recorder::watch(every_way(&kit, &ToolCall::new("c1", "double", "21"))).await;
    assert_eq!(seen.spans.len(), WAYS);
    for span in &seen.spans {
        assert_eq!(content(span), [Some("21"), Some("42")]);
        assert_eq!(span.at_start("gen_ai.tool.call.arguments"), None, "before anything was checked");
    }
    for options in [RunOptions::new(), RunOptions::new().spawned()] {
        let calls = ["1", "300", "-4"].map(|number| ToolCall::new(format!("c{number}"), "double", number));
        let run = kit.run_with(calls, options);
        let seen = Recorder::watch(run.collect_results()).await;
        let contents: Vec<_> = seen.spans.iter().map(content).collect();
        assert_eq!(contents, [[Some("1"), Some("2")], [Some("300"), Some("600")], [Some("-4"), Some("-8")]]);
    }
}

#[tokio::test]
async fn content_on_the_span_of_a_call_is_without_secrets() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Login {
        user: String,
        #[schemars(extend("writeOnly" = true))]
        password: String,
    }
    let login = Tool::new("login").try_handler(|Login { user, password }: Login, _cx| async move {
        if password == "open sesame" { Ok(user) } else { Err(format!("{user} is not known")) }
    });
    let kit: Toolkit = Toolkit::from_iter([login.unwrap()]).wrap(Trace::new().with_content());
    for (password, result) in [
        ("open sesame", r#""ada""#),
        // A message may repeat any part of the arguments.
        ("hunter2", r#"{"error":{"kind":"tool_failed","message":"[redacted]"}}"#),
    ] {
        let arguments = serde_json::json!({"user": "ada", "password": password}).to_string();
        let seen = Recorder::watch(every_way(&kit, &ToolCall::new("c1", "login", arguments))).await;
        assert_eq!(seen.spans.len(), WAYS);
        for span in &seen.spans {
            assert_eq!(content(span), [Some(r#"{"user":"ada","password":"[redacted]"}"#), Some(result)]);
        }
    }
}

fn content(span: &SpanRecord) -> [Option<&str>; 2] {
    ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"].map(|field| span.get(field))
}
