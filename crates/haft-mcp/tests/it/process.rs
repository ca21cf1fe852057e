//! Programs: what they get, and that none of them stays.

use std::path::Path;

use haft_executor::ToolSource;
use haft_mcp::{Era, McpServer};
use serde_json::json;

use crate::hostile::{Hostile, call, program, until};

/// Returns a server behind a shell script, in which `$SERVER` is the program.
fn script(text: &str, folder: &Path) -> McpServer {
    McpServer::command("sh", ["-c", text]).env("SERVER", program()).env("OUT", folder).era(Era::Legacy)
}

pub(crate) fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Kills a process, and waits until it is gone with its pipes: its first thread is gone before the others.
#[cfg(target_os = "linux")]
pub(crate) async fn kill(pid: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = pid.trim();
    kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    until(|| (!is_running(pid) && threads() <= 1).then_some(())).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_closed_server_leaves_no_process_behind() {
    for text in [
        r#"echo $$ > "$OUT/a"; sleep 1000 & echo $! > "$OUT/b"; exec "$SERVER""#,
        // It ignores the end of its input, and SIGTERM.
        r#"trap '' TERM; echo $$ > "$OUT/a"; sleep 1000 & echo $! > "$OUT/b"; "$SERVER"; wait; sleep 1000"#,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let client = script(text, folder.path()).connect().await.unwrap();
        let pids = ["a", "b"].map(|name| std::fs::read_to_string(folder.path().join(name)).unwrap());
        assert!(pids.iter().all(|pid| is_running(pid)));
        client.close().await;
        for pid in &pids {
            until(|| (!is_running(pid)).then_some(())).await;
        }
        let failure = call(&client, "echo", json!({})).await.failure().unwrap().clone();
        assert!(failure.message.ends_with("was closed") && !failure.started, "{failure}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_client_ends_its_server_once_its_tools_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let client = script(r#"echo $$ > "$OUT/a"; exec "$SERVER""#, folder.path()).connect().await.unwrap();
    let pid = std::fs::read_to_string(folder.path().join("a")).unwrap();
    let snapshot = client.snapshot();
    drop(client);
    assert_eq!(call(&snapshot, "echo", json!({})).await.to_model_text(), "{}");
    assert!(is_running(&pid));
    drop(snapshot);
    until(|| (!is_running(&pid)).then_some(())).await;
}

#[tokio::test]
async fn a_program_gets_the_variables_that_were_named_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let secret = haft_core::Secret::new("sk-1");
    let server = script(r#"env > "$OUT/env"; pwd > "$OUT/pwd"; exec "$SERVER""#, folder.path());
    let server = server.secret_env("TOKEN", secret).folder(folder.path()).inherit("CARGO_PKG_NAME");
    assert!(!format!("{server:?}").contains("sk-1"));
    server.connect().await.unwrap().close().await;
    let variables = std::fs::read_to_string(folder.path().join("env")).unwrap();
    let names: Vec<&str> = variables.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(["TOKEN", "OUT", "PATH", "CARGO_PKG_NAME"].iter().all(|name| names.contains(name)), "{names:?}");
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    let pwd = std::fs::read_to_string(folder.path().join("pwd")).unwrap();
    assert_eq!(Path::new(pwd.trim()).canonicalize().unwrap(), folder.path().canonicalize().unwrap());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_running_server_is_recorded_in_the_state_folder() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().join("mcp");
    let hostile = Hostile::new();
    let client = hostile.server().state_folder(&folder).connect().await.unwrap();
    let records = || std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(records(), 1);
    client.close().await;
    until(|| (records() == 0).then_some(())).await;
}
