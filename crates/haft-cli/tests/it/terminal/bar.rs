//! Bars and the summary.

use serde_json::json;

use super::{Workspace, assert_restored, has_colour};

#[test]
fn a_bar_shows_progress_and_the_summary_replaces_it() {
    let workspace = Workspace::new();
    let calls =
        [("dev/count", json!({})), ("calculate", json!({"expression": "6 * 7"})), ("calculate", json!({"x": 1}))];
    let mut pty = workspace.run(&calls).size(100, 24).spawn();
    let modes = pty.modes();
    pty.wait_for("one of four");
    pty.wait_for("25%");
    pty.wait_for("rejected");
    assert!(!pty.screen().contains("OUTCOME"), "{}", pty.screen());
    workspace.go();
    assert_eq!(pty.wait_exit(), 0, "{}", pty.screen());
    let screen = pty.screen();
    assert!(!screen.contains("25%"), "the bar is still there:\n{screen}");
    let row = |start: &str| screen.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    assert!(row("CALL").contains("OUTCOME"), "{screen}");
    assert!(row("c1").contains("done") && row("c1").contains("counted"), "{screen}");
    assert!(row("c2").contains("done") && row("c2").contains("42"), "{screen}");
    assert!(row("c3").contains("rejected"), "{screen}");
    assert!(screen.contains("c3 calculate:"), "the issues are in full:\n{screen}");
    assert!(has_colour(&pty));
    assert_restored(&pty, &modes);
}

#[test]
fn no_color_means_no_colours() {
    let workspace = Workspace::new();
    let calls = [("dev/count", json!({})), ("calculate", json!({"expression": "6 * 7"}))];
    let mut pty = workspace.run(&calls).env("NO_COLOR", "1").spawn();
    pty.wait_for("25%");
    assert!(!has_colour(&pty), "{}", pty.output());
    workspace.go();
    assert_eq!(pty.wait_exit(), 0);
    assert!(pty.screen().contains("42") && !has_colour(&pty), "{}", pty.output());
}

#[test]
fn forty_columns_are_enough() {
    let workspace = Workspace::new();
    let calls = [("dev/count", json!({})), ("calculate", json!({"x": 1, "y\u{1b}[31m": 2}))];
    let mut pty = workspace.run(&calls).size(40, 24).spawn();
    pty.wait_for("25%");
    let rows: Vec<String> = pty.terminal().rows(0, 40).collect();
    // The first row names the workspace.
    assert!(rows[1].contains("dev/count") && rows[2].starts_with("calculate"), "a bar has one row:\n{rows:#?}");
    workspace.go();
    assert_eq!(pty.wait_exit(), 0);
    let screen = pty.screen();
    assert!(screen.contains("OUTCOME") && screen.contains("counted") && screen.contains("rejected"), "{screen}");
    assert!(!screen.contains("25%"), "{screen}");
}

#[test]
fn many_calls_do_not_overflow_the_screen() {
    let workspace = Workspace::new();
    let calls = vec![("dev/count", json!({})); 60];
    let mut pty = workspace.run(&calls).size(80, 12).spawn();
    pty.wait_for("0 of 60 calls finished");
    pty.wait_for("more running");
    let bars = pty.history();
    assert!(bars.lines().count() <= 12, "nothing has left the screen:\n{bars}");
    workspace.go();
    assert_eq!(pty.wait_exit(), 0);
    let text = pty.history();
    let order: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("counted"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected: Vec<String> = (1..=60).map(|number| format!("c{number}")).collect();
    assert_eq!(order, expected, "{text}");
}

#[test]
fn a_call_shows_a_spinner_and_then_its_result_alone() {
    let workspace = Workspace::new();
    let arguments = ["call", "dev/count"];
    let pty = crate::pty::PtyCommand::new(arguments).folder(workspace.path());
    let mut pty = pty.env("HAFT_STATE_DIR", workspace.state.path()).spawn();
    pty.wait_for("one of four");
    workspace.go();
    assert_eq!(pty.wait_exit(), 0);
    assert_eq!(pty.screen().trim(), "note: using the workspace `haft.toml`\ncounted");
}
