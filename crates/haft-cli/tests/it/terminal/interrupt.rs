//! Ctrl-C and signals, at the prompt and while commands run.

use std::fs;
use std::process::Command;
use std::time::Instant;

use serde_json::json;

use super::{Workspace, assert_restored};
use crate::pty::key::CTRL_C;
use crate::pty::{PATIENCE, Pty, PtyCommand};

/// Starts the processes that never end.
fn hang(workspace: &Workspace) -> Pty {
    let mut pty = workspace.run(&[("dev/hang", json!({})), ("dev/count", json!({}))]).spawn();
    pty.wait_for("hanging now");
    pty
}

/// Asserts that `hang`'s processes are gone. They never end by themselves, so a forgotten one stays; a killed one needs
/// a moment.
fn assert_gone(workspace: &Workspace) {
    let pids = fs::read_to_string(workspace.path().join("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    let deadline = Instant::now() + PATIENCE;
    for pid in pids.lines() {
        while is_running(pid) {
            assert!(Instant::now() < deadline, "{pid} still runs");
        }
    }
}

fn is_running(pid: &str) -> bool {
    let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&state.stdout).trim().to_owned();
    // Nobody may have reaped it yet.
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
fn ctrl_c_at_the_prompt_interrupts_the_command() {
    let workspace = Workspace::new();
    let calls = ["a.txt", "b.txt"].map(|path| ("dev/remove", json!({"path": path})));
    let mut pty = workspace.run(&calls).size(80, 40).spawn();
    let modes = pty.modes();
    pty.wait_for("Esc denies");
    pty.send(CTRL_C);
    assert_eq!(pty.wait_exit(), 130);
    assert_restored(&pty, &modes);
    let screen = pty.screen();
    assert_eq!(screen.matches("Approve this call?").count(), 1, "the second question is not asked:\n{screen}");
    assert_eq!(screen.matches("dev/remove  cancelled").count(), 2, "{screen}");
}

#[test]
fn signals_at_the_prompt_end_the_command_and_restore_the_terminal() {
    for signal in ["INT", "TERM", "HUP"] {
        let workspace = Workspace::new();
        let mut pty = workspace.run(&[("dev/remove", json!({"path": "a.txt"}))]).spawn();
        let modes = pty.modes();
        pty.wait_for("Esc denies");
        assert_ne!(pty.modes(), modes);
        pty.signal(signal);
        assert_eq!(pty.wait_exit(), 130, "{signal}");
        assert_restored(&pty, &modes);
    }
}

#[test]
fn ctrl_c_ends_commands_and_what_they_started() {
    let workspace = Workspace::new();
    let mut pty = hang(&workspace);
    let modes = pty.modes();
    pty.send(CTRL_C);
    assert_eq!(pty.wait_exit(), 130);
    assert_gone(&workspace);
    assert_restored(&pty, &modes);
}

#[test]
fn a_second_ctrl_c_ends_the_command_at_once() {
    let workspace = Workspace::new();
    let mut pty = hang(&workspace);
    pty.send(CTRL_C);
    pty.send(CTRL_C);
    assert_eq!(pty.wait_exit(), 130);
    assert_gone(&workspace);
}

#[test]
fn signals_end_commands_too() {
    for signal in ["TERM", "HUP"] {
        let workspace = Workspace::new();
        let mut pty = hang(&workspace);
        pty.signal(signal);
        assert_eq!(pty.wait_exit(), 130, "{signal}");
        assert_gone(&workspace);
    }
}

#[test]
fn ctrl_c_ends_the_editor() {
    let workspace = Workspace::new();
    workspace.write(
        "editor.sh",
        "trap '' TERM INT; echo $$ > editor; stty -echo; echo editing; while :; do sleep 0.05; done\n",
    );
    let editor = format!("/bin/sh {}", workspace.path().join("editor.sh").display());
    let mut pty = workspace.run(&[("dev/remove", json!({"path": "a.txt"}))]).env("EDITOR", editor).spawn();
    let modes = pty.modes();
    pty.wait_for("Esc denies");
    pty.send("e");
    pty.send("\r");
    pty.wait_for("editing");
    pty.signal("TERM");
    assert_eq!(pty.wait_exit(), 130);
    assert_restored(&pty, &modes);
}

#[test]
fn a_call_is_interrupted_as_a_run_is() {
    let workspace = Workspace::new();
    let command = PtyCommand::new(["call", "dev/hang"]).folder(workspace.path());
    let mut pty = command.env("HAFT_STATE_DIR", workspace.state.path()).spawn();
    pty.wait_for("hanging now");
    pty.send(CTRL_C);
    assert_eq!(pty.wait_exit(), 130);
    assert_gone(&workspace);
}

#[test]
fn ctrl_c_ends_the_wait_for_standard_input() {
    let workspace = Workspace::new();
    for arguments in
        [["run", "-"].as_slice(), &["call", "calculate", "-"], &["chat", "-m", "scripted:none.json", "-p", "-"]]
    {
        let mut pty = PtyCommand::new(arguments.iter().copied()).folder(workspace.path()).spawn();
        pty.wait_for("reading standard input");
        pty.send(CTRL_C);
        assert_eq!(pty.wait_exit(), 130, "{arguments:?}");
    }
}
