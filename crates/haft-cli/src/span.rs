//! Spans and log messages, on standard error, by `-v`.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::context::Context;

/// The variable that selects messages, replacing `-v`.
const FILTER: &str = "HAFT_LOG";

/// Writes spans and messages to standard error as the options request. Without them nothing is written.
pub(crate) fn subscribe(cx: &Context) {
    let filter = match (std::env::var(FILTER), cx.global.verbose) {
        (Ok(filter), _) if !filter.is_empty() => EnvFilter::new(filter),
        (_, 0) => return,
        (_, 1) => EnvFilter::new("warn,haft=info,haft_core=info,haft_model=info,haft_registry=info"),
        (_, 2) => {
            EnvFilter::new("info,haft=debug,haft_core=debug,haft_model=debug,haft_registry=debug,haft_http=debug")
        }
        _ => EnvFilter::new("trace"),
    };
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(cx.terminal.stderr && std::env::var_os("NO_COLOR").is_none())
        .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
        .finish();
    // Another subscriber can't be there: only this place sets one.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
