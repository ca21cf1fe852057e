//! The prompt for approval.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Workspace, assert_restored};
use crate::pty::key::{ENTER, ESCAPE};

const QUESTION: &str = "Approve this call?";

/// Chooses `approve`.
const APPROVE: &str = "ap\r";

#[test]
fn an_approved_call_runs() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/remove", json!({"path": "a\u{1b}[2J.txt"}))]).spawn();
    let modes = pty.modes();
    pty.wait_for("Esc denies");
    let screen = pty.screen();
    assert!(screen.contains("dev/remove (call c1)"), "{screen}");
    assert!(screen.contains("requires approval"), "{screen}");
    assert!(screen.contains(r#""path": "a\u001b[2J.txt""#), "{screen}");
    assert_ne!(pty.modes(), modes, "the prompt reads keys");
    pty.send(APPROVE);
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.screen().contains("done"), "{}", pty.screen());
    assert_restored(&pty, &modes);
}

#[test]
fn a_denied_call_does_not_run_and_the_model_reads_the_reason() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/remove", json!({"path": "a.txt"}))]).spawn();
    let modes = pty.modes();
    pty.wait_for("Esc denies");
    pty.send(ENTER);
    pty.wait_for("Reason");
    // Esc goes back to the question.
    pty.send(ESCAPE);
    pty.wait_until("the question is there again", |pty| pty.screen().matches(QUESTION).count() == 2);
    pty.wait_for("Esc denies");
    pty.send("d");
    pty.send(ENTER);
    pty.wait_for("also without a reason");
    pty.send("not today");
    pty.send(ENTER);
    assert_eq!(pty.wait_exit(), 0);
    let screen = pty.screen();
    let row = screen.lines().find(|line| line.starts_with("c1")).unwrap_or_default();
    assert!(row.contains("denied") && row.contains("not today"), "{screen}");
    assert_restored(&pty, &modes);
}

#[test]
fn escape_denies() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/remove", json!({"path": "a.txt"}))]).spawn();
    pty.wait_for("Esc denies");
    pty.send(ESCAPE);
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.screen().contains("the user denied the call"), "{}", pty.screen());
}

#[test]
fn enter_alone_never_runs_a_call() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/touch", json!({"path": "a.txt"}))]).spawn();
    // As fast as a person can hold the key, at every question.
    pty.wait_for("Esc denies");
    pty.send(ENTER);
    pty.wait_for("also without a reason");
    pty.send(ENTER);
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.screen().contains("the user denied the call"), "{}", pty.screen());
    assert!(!workspace.path().join("a.txt").exists());
}

#[test]
fn a_question_shows_the_description_the_hints_and_the_command_with_its_arguments() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/touch", json!({"path": "a b.txt"}))]).spawn();
    pty.wait_for("Esc denies");
    let screen = pty.screen();
    for shown in [
        "about    Creates a file.",
        "hints    not readonly, destructive, not idempotent, open world",
        r#"runs     touch -- "a b.txt""#,
    ] {
        assert!(screen.contains(shown), "{shown}:\n{screen}");
    }
    pty.send(ESCAPE);
    assert_eq!(pty.wait_exit(), 0);
}

/// Writes an editor that takes the text from the file `edit1`, then from `edit2`, and so on, and keeps what it was
/// given as `seen1` and so on. Returns the value for `EDITOR`.
fn editor(workspace: &Workspace, texts: &[&str]) -> String {
    for (text, number) in texts.iter().zip(1..) {
        workspace.write(&format!("edit{number}"), text);
    }
    workspace.write(
        "editor.sh",
        "echo x >> edits; n=$(wc -l < edits | tr -d ' '); cp \"$1\" \"seen$n\"; printf %s \"$1\" > name\n\
         [ ! -e \"edit$n\" ] || cp \"edit$n\" \"$1\"\n",
    );
    format!("/bin/sh {}", workspace.path().join("editor.sh").display())
}

#[test]
fn an_edit_that_is_not_accepted_reopens_the_editor_with_the_text_and_its_error() {
    let workspace = Workspace::new();
    let editor = editor(&workspace, &["{\"path\": ", r#"{"path": 7}"#, r#"{"path": "b.txt"}"#]);
    let mut pty = workspace.run(&[("dev/touch", json!({"path": "a.txt"}))]).size(80, 60).env("EDITOR", editor).spawn();
    let modes = pty.modes();
    pty.wait_for("Esc denies");
    pty.send("e");
    pty.send(ENTER);
    // The editor is opened three times, and nothing is asked in between.
    pty.wait_until("the edited call is asked about", |pty| pty.screen().matches(QUESTION).count() == 2);
    pty.wait_for("Esc denies");
    let seen = |number: u32| fs::read_to_string(workspace.path().join(format!("seen{number}"))).unwrap();
    assert_eq!(seen(1), "{\n  \"path\": \"a.txt\"\n}\n");
    assert!(seen(2).starts_with("// These arguments were not accepted:\n// not valid JSON:"), "{}", seen(2));
    assert!(seen(2).ends_with("\n{\"path\":\n"), "{}", seen(2));
    assert!(seen(3).contains("// /path: ") && seen(3).ends_with("\n{\"path\": 7}\n"), "{}", seen(3));
    let name = fs::read_to_string(workspace.path().join("name")).unwrap();
    assert_eq!(Path::new(&name).extension(), Some("json".as_ref()));
    // The edited call is shown as it would run, and does not run before it is approved.
    let screen = pty.screen();
    assert!(screen.contains("as you edited it") && screen.contains("runs     touch -- b.txt"), "{screen}");
    assert!(!workspace.path().join("b.txt").exists());
    pty.send(APPROVE);
    assert_eq!(pty.wait_exit(), 0);
    assert!(workspace.path().join("b.txt").exists() && !workspace.path().join("a.txt").exists());
    assert_restored(&pty, &modes);
}

#[test]
fn after_an_invalid_edit_enter_runs_nothing() {
    let workspace = Workspace::new();
    // The second time, the editor leaves the text as it is.
    let editor = editor(&workspace, &["{\"path\": "]);
    let mut pty = workspace.run(&[("dev/touch", json!({"path": "a.txt"}))]).size(80, 60).env("EDITOR", editor).spawn();
    pty.wait_for("Esc denies");
    pty.send("e");
    pty.send(ENTER);
    pty.wait_for("left as it was");
    pty.wait_until("the question is there again", |pty| pty.screen().matches(QUESTION).count() == 2);
    pty.wait_for("Esc denies");
    pty.send(ENTER);
    pty.wait_for("also without a reason");
    pty.send(ENTER);
    assert_eq!(pty.wait_exit(), 0);
    assert!(!workspace.path().join("a.txt").exists());
}

#[test]
fn an_editor_that_is_not_there_is_reported_and_the_question_comes_again() {
    let workspace = Workspace::new();
    let mut pty = workspace.run(&[("dev/remove", json!({"path": "a.txt"}))]).env("EDITOR", "no-such-editor").spawn();
    pty.wait_for("Esc denies");
    pty.send("e");
    pty.send(ENTER);
    pty.wait_for("the editor `no-such-editor` failed");
    pty.wait_until("the question is there again", |pty| pty.screen().matches(QUESTION).count() == 2);
    pty.wait_for("Esc denies");
    pty.send(APPROVE);
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn always_approves_the_other_calls_of_the_tool() {
    let workspace = Workspace::new();
    let calls = ["a.txt", "b.txt", "c.txt"].map(|path| ("dev/remove", json!({"path": path})));
    let mut pty = workspace.run(&calls).size(80, 40).spawn();
    pty.wait_for("Esc denies");
    pty.send("al");
    pty.send(ENTER);
    assert_eq!(pty.wait_exit(), 0);
    let screen = pty.screen();
    assert_eq!(screen.matches(QUESTION).count(), 1, "{screen}");
    assert_eq!(screen.lines().filter(|line| line.starts_with('c') && line.contains("done")).count(), 3, "{screen}");
}

#[test]
fn keys_that_were_pressed_before_a_question_do_not_answer_it() {
    let workspace = Workspace::new();
    let calls = ["a.txt", "b.txt"].map(|path| ("dev/remove", json!({"path": path})));
    let mut pty = workspace.run(&calls).size(80, 40).spawn();
    pty.wait_for("Esc denies");
    pty.send(&APPROVE.repeat(3));
    pty.wait_for("b.txt");
    pty.wait_for("Esc denies");
    pty.send(ESCAPE);
    assert_eq!(pty.wait_exit(), 0);
    let screen = pty.screen();
    let row = |id: &str| screen.lines().find(|line| line.starts_with(id)).unwrap_or_default().to_owned();
    assert!(row("c1").contains("done") && row("c2").contains("denied"), "{screen}");
}

#[test]
fn concurrent_calls_are_asked_about_one_after_another_while_others_run() {
    let workspace = Workspace::new();
    let calls =
        [("dev/remove", json!({"path": "a.txt"})), ("dev/count", json!({})), ("dev/remove", json!({"path": "b.txt"}))];
    let mut pty = workspace.run(&calls).size(80, 40).spawn();
    pty.wait_for("Esc denies");
    assert!(!pty.screen().contains("b.txt"), "{}", pty.screen());
    // The events of the call that runs are taken meanwhile.
    workspace.go();
    pty.send(APPROVE);
    pty.wait_for("b.txt");
    pty.wait_for("Esc denies");
    pty.send(ESCAPE);
    assert_eq!(pty.wait_exit(), 0);
    let screen = pty.screen();
    let outcome = |id: &str| {
        let row = screen.lines().find(|line| line.starts_with(id)).unwrap_or_default();
        row.split_whitespace().nth(2).unwrap_or_default().to_owned()
    };
    assert_eq!([outcome("c1"), outcome("c2"), outcome("c3")], ["done", "done", "denied"], "{screen}");
}

#[test]
fn long_arguments_are_cut_and_shown_whole_on_request() {
    let workspace = Workspace::new();
    let path: Vec<String> = (0..3000).map(|number| format!("part{number}")).collect();
    let mut pty = workspace.run(&[("dev/remove", json!({"path": path.join("/")}))]).size(80, 24).spawn();
    pty.wait_for("choose `show everything`");
    pty.wait_for("Esc denies");
    assert!(!pty.history().contains("part2999"), "{}", pty.history());
    pty.send("s");
    pty.send(ENTER);
    pty.wait_for("part2999");
    pty.wait_for("Esc denies");
    pty.send(ESCAPE);
    assert_eq!(pty.wait_exit(), 0);
}
