//! A secret that a server says in every way that it has is nowhere.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Folder, texts, tool};

const PLANTED: &str = "planted-secret-0123456789";
const BASE64: &str = "cGxhbnRlZC1zZWNyZXQtMDEyMzQ1Njc4O";

/// Returns the forms of the secret that a text contains.
fn found(text: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(text);
    [PLANTED, BASE64].into_iter().filter(|form| text.contains(form)).collect()
}

fn assert_files_are_clean(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_files_are_clean(&path);
        } else {
            assert!(found(&fs::read(&path).unwrap()).is_empty(), "{}", path.display());
        }
    }
}

#[test]
fn no_output_and_no_file_has_a_secret_that_a_server_repeats() {
    let folder = Folder::new("");
    let mut spill = tool("spill");
    spill["description"] = format!("Uses {PLANTED}.").into();
    folder.set_tools(&[tool("leak"), tool("ask"), tool("echo"), tool("exit"), spill, json!({"name": PLANTED})]);
    let argv = folder.argv();
    let mut arguments = vec!["add", "mcp", "shop", "--secret-env", "TOKEN", "--"];
    arguments.extend(argv.iter().map(String::as_str));
    let mut seen = String::new();
    let mut run = |arguments: &[&str], log: &str| {
        let output = folder.command(arguments).env("TOKEN", PLANTED).env("HAFT_LOG", log).output().unwrap();
        for (name, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let found = found(text);
            assert!(found.is_empty(), "{name} of {arguments:?}: {}", String::from_utf8_lossy(text));
        }
        let (printed, messages) = texts(&output);
        seen.push_str(&printed);
        seen.push_str(&messages);
        format!("{printed}{messages}")
    };
    let added = run(&arguments, "");
    assert!(added.contains("spill: its definition contains a secret that the server gets"), "{added}");
    for log in ["", "trace,rmcp=trace"] {
        if !log.is_empty() {
            // rmcp writes whole definitions, if somebody asks for that.
            folder.set_tools(&["leak", "ask", "echo", "exit"].map(tool));
        }
        let called = run(&["-vvv", "call", "shop/leak", "{}"], log);
        assert!(called.contains(r#"{"value":"[removed]","[removed]":1}"#), "{called}");
        assert!(called.contains("the log has [removed]"), "{called}");
        let calls = r#"[{"call_id": "c1", "name": "shop/leak", "arguments": {}}]"#;
        fs::write(folder.workspace.path().join("calls.json"), calls).unwrap();
        let ran = run(&["-vvv", "run", "calls.json"], log);
        assert!(ran.contains("progress has [removed]"), "{ran}");
        run(&["-vvv", "run", "calls.json", "--results", "openai"], log);
        run(&["-vvv", "call", "shop/exit", "{}"], log);
        for command in [
            vec!["-vvv", "tools"],
            vec!["-vvv", "show", "shop/leak"],
            vec!["-vvv", "check", "--locked"],
            vec!["-vvv", "mcp", "list"],
            vec!["-vvv", "mcp", "diff"],
            vec!["-vvv", "mcp", "accept", "--yes"],
            vec!["-vvv", "mcp", "update"],
        ] {
            run(&command, log);
        }
    }
    let logs = run(&["mcp", "logs", "shop"], "");
    assert!(logs.contains("standard error has [removed]") && logs.contains("[error] the log has [removed]"), "{logs}");
    assert!(folder.received("tools/call").len() >= 6);
    assert_files_are_clean(folder.workspace.path());
    assert_files_are_clean(folder.state.path());
}
