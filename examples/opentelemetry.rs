//! Spans for an OpenTelemetry collector. haft's spans are named and attributed by OpenTelemetry's conventions, so any exporter
//! of `tracing` sends them as they are. This program is its own collector, and checks what arrives.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use axum::{Json, Router, extract::State, routing::post};
use haft::prelude::*;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Adds two numbers.
#[tool(readonly)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Sends every span to a collector. Keep the provider, and shut it down at the end: it sends what is left.
fn export_to(endpoint: &str) -> anyhow::Result<SdkTracerProvider> {
    // The exporter's HTTP client takes the process's TLS provider, which a program that also uses haft's `clients` sets.
    drop(rustls::crypto::ring::default_provider().install_default());
    let exporter = SpanExporter::builder().with_http().with_protocol(Protocol::HttpJson).with_endpoint(endpoint);
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter.build()?).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("my-agent"));
    tracing_subscriber::registry().with(layer).try_init()?;
    Ok(provider)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let (endpoint, mut received) = collector().await?;
    let provider = export_to(&endpoint)?;

    let kit: Toolkit = toolkit![Add];
    let result = kit.run_call(&ToolCall::new("c1", "add", r#"{"a": 2, "b": 3}"#)).await;
    assert_eq!(result.to_model_text(), "5");
    tokio::task::spawn_blocking(move || provider.shutdown()).await??;

    let sent = received.recv().await.ok_or_else(|| anyhow::anyhow!("nothing was sent"))?;
    let span = &sent["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
    println!("{}", span["name"]);
    assert_eq!(span["name"], "execute_tool add");
    let attributes = span["attributes"].as_array().cloned().unwrap_or_default();
    assert!(attributes.iter().any(|attribute| attribute["key"] == "gen_ai.tool.name"), "{attributes:?}");
    assert!(!sent.to_string().contains(r#"\"b\""#), "arguments are not sent unless you ask for them");
    Ok(())
}

/// Starts a collector of traces on a free port.
async fn collector() -> anyhow::Result<(String, UnboundedReceiver<Value>)> {
    let (sender, receiver) = unbounded_channel();
    let receive = |State(sender): State<UnboundedSender<Value>>, Json(traces): Json<Value>| async move {
        drop(sender.send(traces));
        Json(serde_json::json!({}))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}/v1/traces", listener.local_addr()?);
    let app = Router::new().route("/v1/traces", post(receive)).with_state(sender);
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok((endpoint, receiver))
}
