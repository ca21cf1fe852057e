//! Rules about files and URLs, attacked by spelling through the built command.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const WORKSPACE: &str = r#"
[workspace]
standard = { files = ".", fetch = true }

[files]
deny = ["*.env"]

[permissions]
allow = ["*"]
deny = [
    { tools = "file_read", when = "args.path == 'secret.txt'", name = "no-secret" },
    { tools = "fetch", when = "args.url.startsWith('https://internal')", name = "no-internal" },
]
"#;

fn site() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("pub")).unwrap();
    write("haft.toml", WORKSPACE);
    write("local.env", "TOKEN=hunter2");
    write("secret.txt", "hunter2");
    write("pub/open.txt", "open");
    #[cfg(unix)]
    for (target, link) in [("../secret.txt", "pub/link"), ("local.env", "plain")] {
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }
    haft(folder.path(), &["trust", "--yes"]);
    folder
}

fn haft(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_haft"));
    command.args(arguments).current_dir(folder).env("HAFT_STATE_DIR", folder.join(".state")).env("NO_COLOR", "1");
    command.output().unwrap()
}

/// Returns all that a call writes, with its exit code.
fn called(folder: &Path, tool: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut all = vec!["call", tool];
    all.extend(arguments.iter().flat_map(|argument| ["--arg", argument]));
    let output = haft(folder, &all);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text.into_owned())
}

#[test]
fn no_spelling_dodges_a_rule_about_a_path() {
    let folder = site();
    for path in [
        "secret.txt",
        "secret.txt/",
        "secret.txt/.",
        "./secret.txt",
        "pub/../secret.txt",
        "pub//..//secret.txt",
        #[cfg(unix)]
        "pub/link",
    ] {
        let (code, text) = called(folder.path(), "file_read", &[&format!("path={path}")]);
        assert_eq!(code, Some(3), "{path}: {text}");
        assert!(text.contains("no-secret") && !text.contains("hunter2"), "{path}: {text}");
    }
    let (code, text) = called(folder.path(), "file_read", &["path=pub/../pub/open.txt"]);
    assert!(code == Some(0) && text.contains("open"), "{text}");
}

#[test]
fn denied_files_are_neither_read_nor_listed_nor_searched() {
    let folder = site();
    for (tool, arguments) in [
        ("file_read", &["path=local.env"][..]),
        ("file_read", &["path=local.env/"]),
        ("file_read", &["path=local.env/."]),
        ("file_read", &["path=LOCAL.env"]),
        #[cfg(unix)]
        ("file_read", &["path=plain"]),
        ("file_search", &["pattern=TOKEN", "name=*.env"]),
        ("file_search", &["pattern=TOKEN", "path=local.env"]),
        ("file_search", &["pattern=hunter2", "name=*.env", "hidden=true"]),
        ("file_list", &["name=*.env"]),
    ] {
        let (_, text) = called(folder.path(), tool, arguments);
        assert!(!text.contains("hunter2") && !text.contains("\"local.env\""), "{tool} {arguments:?}: {text}");
    }
}

#[test]
fn no_spelling_dodges_a_rule_about_a_url() {
    let folder = site();
    for url in [
        "https://internal/",
        "HTTPS://INTERNAL:443/",
        "https://internal./x",
        "https://%69nternal",
        "https:\\\\internal",
    ] {
        let (code, text) = called(folder.path(), "fetch", &[&format!("url={url}")]);
        assert!(code == Some(3) && text.contains("no-internal"), "{url}: {text}");
    }
}
