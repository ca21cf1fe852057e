//! `haft serve`: the tools of a workspace for MCP clients, over standard input and output or HTTP.
//!
//! ```text
//! haft.toml ─> watched workspace ─> executor ─> haft::mcp::serve ─┬─ stdio: one caller
//!                callers, tokens ──────────────> authenticator ───┴─ HTTP:  the caller of each request's token
//!                state folder ─────────────────> approvers: calls that wait, for `haft pending`
//! ```
//!
//! Standard output belongs to the protocol on stdio, so everything that people read is on standard error.

mod approvers;
mod call_log;
mod caller_access;
mod http;
mod install;
mod served;

use std::sync::Arc;
use std::time::Duration;

use haft::mcp::serve::{Serve, Shutdown, serve};
use haft::workspace::{FileError, Loaded};

use self::approvers::FileApprovers;
use self::call_log::CallLog;
use self::http::HttpAddress;
use self::install::InstallOptions;
use self::served::{Audience, ServedWorkspace};
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;
use crate::workspace::CallerArgument;

/// The time that running calls have to end when the server ends.
const GRACE: Duration = Duration::from_secs(10);

/// Serves the workspace's tools to MCP clients
///
/// Without options, it serves the client that has started it, on standard input and output. `--install` tells a client to do
/// that. With `--http`, it serves many clients at `/mcp`. Each presents a token, which says what it may see and call: see
/// `[callers]` in the guide.
///
/// The server follows its files: what you change in them counts for the next call. It writes one line per call to standard
/// error, as JSON if that is no terminal. Calls that others have to approve wait for `haft pending`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft serve --install claude-code        add it to Claude Code, in the project's .mcp.json
  haft serve --install cursor --print     show what would change
  haft serve                              serve one client, on standard input and output
  haft serve --caller support             with the rights of a caller
  haft serve --http 127.0.0.1:8080        serve all callers at http://127.0.0.1:8080/mcp
  haft serve --http 0.0.0.0:8080 --host tools.example.org

SIGTERM and Ctrl-C end the server: calls that run have 10 seconds to end, and a second signal ends
them at once.

Exit codes: 0 the client or a signal has ended it, 1 the connection failed, 2 invalid usage or
workspace.")]
pub(crate) struct ServeArguments {
    /// Serves HTTP at this address, such as `127.0.0.1:8080` or a port alone
    #[arg(long, value_name = "ADDR", conflicts_with = "caller")]
    http: Option<HttpAddress>,
    /// A host name by which HTTP clients reach the server; may be repeated. Needed beyond this machine
    #[arg(long, value_name = "HOST", requires = "http")]
    host: Vec<String>,
    /// The origin of web pages that may call, such as `https://app.example.org`; may be repeated
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    origin: Vec<String>,
    #[command(flatten)]
    caller: CallerArgument,
    #[command(flatten)]
    install: InstallOptions,
}

/// Carries out the command.
pub(crate) async fn run(arguments: ServeArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let ServeArguments { http, host, origin, caller, install } = arguments;
    if let Some(client) = install.install {
        return install::run(client, &install, &caller, cx).await;
    }
    cx.interrupt.extend_grace(GRACE);
    let audience = if http.is_some() { Audience::Many } else { Audience::One(caller) };
    let workspace = ServedWorkspace::open(cx, audience).await?;
    let log = Arc::new(CallLog::new(cx.terminal));
    let server = serve(workspace.executor().clone())
        .named("haft", env!("CARGO_PKG_VERSION"))
        .approvers(FileApprovers::new(cx, workspace.path())?);
    match http {
        None => stdio(server, &workspace, &log, cx).await,
        Some(address) => http::run(server, &address, (host, origin), &workspace, &log, cx).await,
    }
}

/// Serves the client on standard input and output.
async fn stdio(
    server: Serve,
    workspace: &ServedWorkspace,
    log: &Arc<CallLog>,
    cx: &Context,
) -> Result<ExitStatus, CommandError> {
    let server = server.caller(workspace.stdio_access(log));
    let shutdown = server.shutdown();
    cx.terminal.note(format!(
        "serving {} on standard input and output, to {}",
        workspace.summary(),
        workspace.client()
    ));
    if cx.terminal.stdin {
        cx.terminal.note("this waits for the messages of an MCP client; `haft serve --install CLIENT` sets one up");
    }
    let serving = server.stdio();
    until_ended(serving, &shutdown, workspace, |_| Ok(()), cx)
        .await?
        .map_err(|error| Fault::new("the server failed").cause(&error))?;
    Ok(ExitStatus::Done)
}

/// Serves until the server ends by itself, or until an interrupt has ended it.
async fn until_ended<T>(
    serving: impl Future<Output = T>,
    shutdown: &Shutdown,
    workspace: &ServedWorkspace,
    on_load: impl Fn(&Loaded) -> Result<(), FileError>,
    cx: &Context,
) -> Result<T, CommandError> {
    let mut serving = std::pin::pin!(serving);
    let interrupted = cx.interrupt.cancellation();
    tokio::select! {
        biased;
        ended = &mut serving => return Ok(ended),
        () = interrupted.cancelled() => {}
        fault = workspace.follow(cx, on_load) => return Err(fault.into()),
    }
    cx.terminal.note("ending: no more calls are taken, and those that run are answered");
    let ((), ended) = tokio::join!(shutdown.graceful(GRACE), serving);
    Ok(ended)
}
