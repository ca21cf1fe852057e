//! Spans and log messages, on standard error, by `-v`.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::context::Context;

/// The variable that selects messages, replacing `-v`.
const FILTER: &str = "HAFT_LOG";

/// The part of every filter that does not name `rmcp`: it writes whole messages of MCP servers. What matters of them, the
/// client reports itself.
const QUIET: &str = "rmcp=off";

/// Writes spans and messages to standard error as the options request. Without them nothing is written.
pub(crate) fn subscribe(cx: &Context) {
    let filter = match (std::env::var(FILTER), cx.global.verbose) {
        (Ok(filter), _) if filter.contains("rmcp") => EnvFilter::new(filter),
        (Ok(filter), _) if !filter.is_empty() => EnvFilter::new(format!("{filter},{QUIET}")),
        (_, 0) => return,
        (_, 1) => EnvFilter::new(format!("warn,haft=info,haft_core=info,haft_model=info,haft_registry=info,{QUIET}")),
        (_, 2) => EnvFilter::new(format!(
            "info,haft=debug,haft_core=debug,haft_model=debug,haft_registry=debug,haft_http=debug,{QUIET}"
        )),
        _ => EnvFilter::new(format!("trace,{QUIET}")),
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
