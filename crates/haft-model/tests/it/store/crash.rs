//! Processes that use a store of files and are killed, or whose disk is full.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use proptest::prelude::*;

use super::*;
use crate::seeded::for_all;

/// The folder that the child process uses.
const FOLDER: &str = "HAFT_STORE_FOLDER";
/// The mark before each version that the child has saved. The test harness prints other lines.
const SAVED: &str = "saved ";

/// Returns a command that runs the test `saving_child` in another process.
fn child(folder: &Path, before: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before}exec \"$0\" \"$@\"")).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "store::crash::saving_child", "--nocapture"]).env(FOLDER, folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Saves one state after the other until it is killed or a save fails. Does nothing in a run of the tests.
#[tokio::test]
async fn saving_child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let store = FileStore::open(folder).unwrap();
    let claim = store.claim("chat", LEASE * 1_000).await.unwrap();
    let mut version = store.load("chat").await.unwrap().map_or(0, |stored| stored.version);
    loop {
        let text = format!("{} {}", version + 1, "x".repeat(50_000));
        match store.save(&claim, version, &state(&text)).await {
            Ok(saved) => version = saved,
            Err(error) => panic!("not saved: {error}"),
        }
        println!("{SAVED}{version}");
    }
}

/// Reads the versions that a child saves until there are this many.
fn read_saved(child: &mut Child, count: usize) -> (BufReader<std::process::ChildStdout>, u64) {
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let (mut last, mut seen, mut line) = (0, 0, String::new());
    while seen < count {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the child ended");
        if let Some(version) = line.trim().rsplit(SAVED).next().and_then(|version| version.parse().ok()) {
            (last, seen) = (version, seen + 1);
        }
    }
    (lines, last)
}

/// Loads what is there, whoever has claimed it.
fn load(folder: &Path) -> StoredConversation {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = FileStore::open(folder).unwrap();
    runtime.block_on(store.load("chat")).unwrap().unwrap()
}

#[test]
fn a_process_that_is_killed_loses_nothing_that_it_has_saved() {
    for_all(12, 0_usize..12, |saves| {
        let folder = tempfile::tempdir().unwrap();
        let mut child = child(folder.path(), "").spawn().unwrap();
        let (mut rest, mut last) = read_saved(&mut child, saves + 1);
        // It is about to save the next one, or in the middle of it.
        child.kill().unwrap();
        child.wait().unwrap();
        let mut tail = String::new();
        rest.read_to_string(&mut tail).unwrap();
        let saved = tail.lines().filter_map(|line| line.trim().strip_prefix(SAVED)?.parse().ok());
        last = saved.fold(last, u64::max);

        let stored = load(folder.path());
        // A save may be done without having been reported.
        prop_assert!((last..=last + 1).contains(&stored.version), "{} after {last}", stored.version);
        let text = format!("{} {}", stored.version, "x".repeat(50_000));
        prop_assert_eq!(stored.state, state(&text));
        Ok(())
    });
}

/// A file may not grow beyond the limit of the shell, which is what a full disk looks like to the store.
#[test]
fn a_full_disk_is_an_error_and_leaves_the_last_state() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = child(folder.path(), "").spawn().unwrap();
    let _ = read_saved(&mut first, 2);
    first.kill().unwrap();
    first.wait().unwrap();
    let before = load(folder.path());

    // The claim of the first child lasts: its file is removed, as an administrator would.
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "claim") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let output = child(folder.path(), "trap '' XFSZ; ulimit -f 20; ").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("not saved: the store failed: can't write"), "{errors}");
    assert_eq!(load(folder.path()), before);
    let left = std::fs::read_dir(folder.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "new"));
    assert_eq!(left.count(), 0, "what was written in part is removed");
}
