//! The server over HTTP, at `/mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::Router;
use haft::mcp::serve::Serve;
use haft::workspace::{ANONYMOUS, Loaded, WatchedWorkspace};
use tokio::net::TcpListener;

use super::call_log::CallLog;
use super::caller_access::CallerDirectory;
use super::served::ServedWorkspace;
use super::until_ended;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::exit::ExitStatus;

/// The path of the server.
const PATH: &str = "/mcp";

/// An address to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HttpAddress(SocketAddr);

impl FromStr for HttpAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let local = |port: &str| port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
        let address = match text.strip_prefix("localhost:") {
            Some(port) => local(port),
            None => text.parse().ok().or_else(|| local(text)),
        };
        address.map(Self).ok_or_else(|| "write an address and a port, such as `127.0.0.1:8080`, or a port".to_owned())
    }
}

/// Serves HTTP until the process is interrupted.
pub(super) async fn run(
    server: Serve,
    address: &HttpAddress,
    (hosts, origins): (Vec<String>, Vec<String>),
    workspace: &ServedWorkspace,
    log: &Arc<CallLog>,
    cx: &Context,
) -> Result<ExitStatus, CommandError> {
    let HttpAddress(address) = *address;
    let callers = callers(workspace, address, log)?;
    let hosts = allowed_hosts(address, hosts)?;
    let server = server.authenticate(callers.clone()).hosts(hosts);
    let server = if origins.is_empty() { server } else { server.origins(origins) };
    let shutdown = server.shutdown();
    let service = server.http().map_err(|error| Fault::new("the server can't be set up").cause(&error))?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Fault::new(format!("can't listen at `{address}`")).cause(&error).advice("choose another address or port")
    })?;
    let bound = listener.local_addr().unwrap_or(address);
    announce(workspace, bound, cx);
    let router = Router::new().route_service(PATH, service);
    let closing = shutdown.clone();
    let ended = cx.interrupt.cancellation();
    let serving = async move {
        let until = async move {
            ended.cancelled().await;
            closing.graceful(super::GRACE).await;
        };
        axum::serve(listener, router).with_graceful_shutdown(until).await
    };
    let on_load = |loaded: &Loaded| callers.replace(loaded);
    let served = until_ended(serving, &shutdown, workspace, on_load, cx).await?;
    served.map_err(|error| Fault::new("the server failed").cause(&error))?;
    Ok(ExitStatus::Done)
}

/// Returns the callers, who must be some. Beyond this machine at least one must have a token.
fn callers(
    workspace: &ServedWorkspace,
    address: SocketAddr,
    log: &Arc<CallLog>,
) -> Result<CallerDirectory, CommandError> {
    let nobody = || {
        Fault::new("nobody may call over HTTP: the workspace defines no caller with a token").advice(
            "define one, as `[callers.NAME]` with a `token`; or `[callers.anonymous]` for everybody on this machine",
        )
    };
    let Some(watched) = workspace.watched() else { return Err(nobody().into()) };
    let loaded = watched.status().loaded;
    let has_tokens = loaded.callers.iter().any(|caller| caller.token.is_some());
    if !has_tokens && loaded.callers.anonymous().is_none() {
        return Err(nobody().into());
    }
    if !has_tokens && !address.ip().is_loopback() {
        let fault = Fault::new(format!("`{address}` can be reached from other machines, and no caller has a token"));
        return Err(fault.advice("give callers tokens, or listen at `127.0.0.1`").into());
    }
    Ok(CallerDirectory::of(watched, log)?)
}

/// Returns the hosts that requests may name; none for this machine's.
fn allowed_hosts(address: SocketAddr, hosts: Vec<String>) -> Result<Vec<String>, Fault> {
    match address.ip() {
        _ if !hosts.is_empty() => Ok(hosts),
        ip if ip.is_loopback() => Ok(Vec::new()),
        ip if ip.is_unspecified() => {
            let fault = Fault::new(format!("`{address}` is every address of this machine"));
            Err(fault
                .advice("name the host by which clients reach it with `--host`, such as `--host tools.example.org`"))
        }
        IpAddr::V4(ip) => Ok(vec![ip.to_string()]),
        IpAddr::V6(ip) => Ok(vec![format!("[{ip}]")]),
    }
}

/// Tells what is served, to whom, and how to try it.
fn announce(workspace: &ServedWorkspace, address: SocketAddr, cx: &Context) {
    let url = format!("http://{address}{PATH}");
    let status = workspace.watched().map(WatchedWorkspace::status);
    let callers = status.iter().flat_map(|status| status.loaded.callers.iter());
    let (mut names, mut token) = (Vec::new(), "");
    for caller in callers {
        match &caller.token {
            Some(_) => {
                names.push(format!("`{}`", caller.name));
                token = " --header 'Authorization: Bearer TOKEN'";
            }
            None if caller.name == ANONYMOUS => names.push("everybody without a token".to_owned()),
            None => {
                let name = &caller.name;
                cx.terminal.note(format!("the caller `{name}` has no token, so it can't be served over HTTP"));
            }
        }
    }
    cx.terminal.note(format!("serving {} at {url}, to {}", workspace.summary(), names.join(", ")));
    cx.terminal.note(format!(
        "try it: npx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list{token}"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_a_port_alone() {
        for (text, expected) in [
            ("8080", "127.0.0.1:8080"),
            ("localhost:0", "127.0.0.1:0"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(text.parse(), Ok(HttpAddress(expected.parse().unwrap())), "{text}");
        }
        for wrong in ["", "host:80", "127.0.0.1", "99999", "http://127.0.0.1:80"] {
            assert!(HttpAddress::from_str(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_address_of_a_machine_needs_the_name_of_a_host() {
        let hosts = |address: &str, hosts: &[&str]| {
            allowed_hosts(address.parse().unwrap(), hosts.iter().map(|&host| host.to_owned()).collect())
        };
        assert_eq!(hosts("127.0.0.1:80", &[]).unwrap(), [] as [&str; 0]);
        assert_eq!(hosts("192.0.2.1:80", &[]).unwrap(), ["192.0.2.1"]);
        assert_eq!(hosts("0.0.0.0:80", &["a.example"]).unwrap(), ["a.example"]);
        assert!(hosts("0.0.0.0:80", &[]).is_err() && hosts("[::]:80", &[]).is_err());
    }
}
