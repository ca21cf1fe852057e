//! Completion in a shell, with the scripts of `haft completions`.

use std::path::Path;
use std::process::Command;

/// Returns what bash completes for words, of which the last is unfinished.
fn completed(words: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let tool = "[toolbox.shop.tool.find]\nkind = 'http'\nurl = 'https://shop.example'\n";
    std::fs::write(folder.path().join("haft.toml"), tool).unwrap();
    let state = folder.path().join("state");
    let haft = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
        command.args(arguments).current_dir(folder.path()).env("HAFT_STATE_DIR", &state);
        assert!(command.output().unwrap().status.success());
    };
    haft(&["trust", "--yes"]);
    let script = format!(
        "source <(haft completions bash); COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n\
         _haft_with_tools haft \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let programs = Path::new(env!("CARGO_BIN_EXE_haft")).parent().unwrap();
    let path = std::env::join_paths(
        [programs.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &script]).current_dir(folder.path());
    let output = bash.env("PATH", path.unwrap()).env("HAFT_STATE_DIR", &state).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn names_of_tools_are_completed() {
    assert_eq!(completed("haft call calc"), ["calculate"]);
    assert_eq!(completed("haft show shop/"), ["shop/find"]);
    assert!(completed("haft ls ''").contains(&"shop/find".to_owned()));
    // All else as before.
    assert_eq!(completed("haft call --tim"), ["--timeout"]);
    assert_eq!(completed("haft compl"), ["completions"]);
}
