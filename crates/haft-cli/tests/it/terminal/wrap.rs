//! Long texts on a narrow terminal: lines end between words.

use crate::pty::PtyCommand;

/// Returns the words of a narrow screen, after a command has ended.
fn words(arguments: &[&str], status: u32) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let command = PtyCommand::new(arguments).size(44, 60).folder(folder.path());
    let mut pty = command.env("HAFT_STATE_DIR", folder.path().join("state")).spawn();
    assert_eq!(pty.wait_exit(), status);
    let screen = pty.screen();
    assert!(screen.lines().count() > 3, "{screen}");
    screen.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn errors_are_broken_between_words() {
    let words = words(&["call", "nosuchtool"], 2);
    for whole in ["`haft.toml`", "standard", "toolbox", "named", "`nosuchtool`", "lists"] {
        assert!(words.iter().any(|word| word.trim_matches([',', ';']) == whole), "{whole}: {words:?}");
    }
}

#[test]
fn pages_of_tools_are_broken_between_words() {
    let words = words(&["show", "calculate"], 0);
    for whole in ["irrational", "multiplication:", "permissions", "description"] {
        assert!(words.iter().any(|word| word.trim_matches(['(', ')', ',']) == whole), "{whole}: {words:?}");
    }
}
