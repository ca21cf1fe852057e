//! The tools for files: what they return. Attempts to leave the root are in `file/escape.rs`.

#[cfg(unix)]
mod escape;
#[cfg(unix)]
mod spelling;

use std::fs;
use std::path::Path;

use haft_core::{FailureKind, Progress, ToolCall, ToolEvent};
use haft_executor::{Cancellation, RunOptions, Toolkit};
use haft_tools::standard::{StandardToolbox, StandardToolboxError};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{call, toolbox};

/// A root with files, and its tools.
fn files(content: &[(&str, &[u8])]) -> (TempDir, Toolkit) {
    let root = tempfile::tempdir().unwrap();
    for (path, bytes) in content {
        write(root.path(), path, bytes);
    }
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    (root, kit)
}

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn paths(found: &Value, list: &str) -> Vec<String> {
    found[list].as_array().unwrap().iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn directories_are_listed_in_order() {
    let (_root, kit) =
        files(&[("b/c/d.txt", b"12345"), ("b/a.md", b""), ("a.txt", b"1"), (".git/config", b"x"), ("z", b"")]);
    for (arguments, expected) in [
        (json!({}), vec!["a.txt", "b", "z"]),
        (json!({"path": "."}), vec!["a.txt", "b", "z"]),
        (json!({"path": "./b/"}), vec!["b/a.md", "b/c"]),
        (json!({"path": "b/../b"}), vec!["b/a.md", "b/c"]),
        (json!({"depth": 2}), vec!["a.txt", "b", "b/a.md", "b/c", "z"]),
        (json!({"depth": 20}), vec!["a.txt", "b", "b/a.md", "b/c", "b/c/d.txt", "z"]),
        (json!({"depth": 20, "name": "*.txt"}), vec!["a.txt", "b/c/d.txt"]),
        (json!({"hidden": true}), vec![".git", "a.txt", "b", "z"]),
    ] {
        let found = call(&kit, "file_list", arguments.clone()).await.unwrap();
        assert_eq!(paths(&found, "entries"), expected, "{arguments}");
        assert_eq!(found["truncated"], false);
    }
    let found = call(&kit, "file_list", json!({"max_entries": 2})).await.unwrap();
    let entries = json!([{"path": "a.txt", "kind": "file", "size": 1}, {"path": "b", "kind": "directory"}]);
    assert_eq!(found, json!({"entries": entries, "truncated": true}));
}

#[tokio::test]
async fn files_are_read_in_parts() {
    let (_root, kit) = files(&[("a/b.txt", b"one\r\ntwo\nthree"), ("empty", b"")]);
    let found = call(&kit, "file_read", json!({"path": "a/b.txt", "max_lines": 2})).await.unwrap();
    let first = json!({"format": "text", "text": "one\ntwo", "start_line": 1, "lines": 2, "next_line": 3, "size": 14});
    assert_eq!(found, first);
    let found = call(&kit, "file_read", json!({"path": "a/b.txt", "start_line": 3})).await.unwrap();
    assert_eq!(found, json!({"format": "text", "text": "three", "start_line": 3, "lines": 1, "size": 14}));
    let found = call(&kit, "file_read", json!({"path": "a//./b.txt", "start_line": 99})).await.unwrap();
    assert_eq!((&found["lines"], &found["next_line"]), (&json!(0), &Value::Null));
    let found = call(&kit, "file_read", json!({"path": "empty"})).await.unwrap();
    assert_eq!((&found["text"], &found["lines"]), (&json!(""), &json!(0)));

    let bytes = json!({"path": "a/b.txt", "format": "base64", "offset": 1, "max_bytes": 2});
    let found = call(&kit, "file_read", bytes).await.unwrap();
    let part = json!({"format": "base64", "base64": "bmU=", "offset": 1, "bytes": 2, "next_offset": 3, "size": 14});
    assert_eq!(found, part);
    for offset in [14, 1_000, u64::MAX >> 1] {
        let bytes = json!({"path": "a/b.txt", "format": "base64", "offset": offset});
        let found = call(&kit, "file_read", bytes).await.unwrap();
        assert_eq!((&found["bytes"], &found["next_offset"]), (&json!(0), &Value::Null), "{offset}");
    }
}

#[tokio::test]
async fn content_that_is_not_text_is_handled() {
    let (_root, kit) = files(&[("binary", b"\x7fELF\0\0"), ("latin1", b"caf\xe9\n"), ("long", &[b'x'; 5_000])]);
    let failed = call(&kit, "file_read", json!({"path": "binary"})).await.unwrap_err();
    assert_eq!((failed.kind, failed.reason.as_str()), (FailureKind::ToolFailed, "binary_file"));
    let found = call(&kit, "file_read", json!({"path": "binary", "format": "base64"})).await.unwrap();
    assert_eq!(found["base64"], "f0VMRgAA");
    let found = call(&kit, "file_read", json!({"path": "latin1"})).await.unwrap();
    assert_eq!((&found["text"], &found["invalid_utf8"]), (&json!("caf\u{fffd}"), &json!(true)));
    let found = call(&kit, "file_read", json!({"path": "long"})).await.unwrap();
    assert_eq!((found["text"].as_str().unwrap().chars().count(), &found["clipped_lines"]), (2_001, &json!(1)));
}

#[tokio::test]
async fn files_are_searched_by_line() {
    let large = vec![b'n'; 4 * 1024 * 1024 + 1];
    let (_root, kit) = files(&[
        ("src/main.rs", b"fn main() {\n    // TODO one\n}\n"),
        ("src/lib.rs", "// ä TODO two\n// todo three".as_bytes()),
        ("notes.md", b"TODO four"),
        (".hidden/x", b"TODO five"),
        ("binary", b"TODO\0"),
        ("large", &large),
    ]);
    let found = call(&kit, "file_search", json!({"pattern": "TODO"})).await.unwrap();
    assert_eq!(
        found,
        json!({
            "matches": [
                {"path": "notes.md", "line": 1, "column": 1, "text": "TODO four"},
                {"path": "src/lib.rs", "line": 1, "column": 6, "text": "// ä TODO two"},
                {"path": "src/main.rs", "line": 2, "column": 8, "text": "    // TODO one"},
            ],
            "files_searched": 3,
            "files_skipped": 2,
            "truncated": false,
        })
    );
    for (arguments, expected) in [
        (json!({"pattern": "todo", "letter_case": "insensitive", "name": "*.rs"}), 3),
        (json!({"pattern": "TODO", "path": "src"}), 2),
        (json!({"pattern": "TODO", "hidden": true}), 4),
        (json!({"pattern": r"TODO \w{3}$", "syntax": "regex"}), 2),
        (json!({"pattern": "TODO one\n}"}), 0),
    ] {
        let found = call(&kit, "file_search", arguments.clone()).await.unwrap();
        assert_eq!(paths(&found, "matches").len(), expected, "{arguments}");
    }
    let found = call(&kit, "file_search", json!({"pattern": "TODO", "max_matches": 2})).await.unwrap();
    assert_eq!((paths(&found, "matches").len(), &found["truncated"]), (2, &json!(true)));
    let failed = call(&kit, "file_search", json!({"pattern": "(", "syntax": "regex"})).await.unwrap_err();
    assert_eq!(failed.reason, "invalid_pattern");
}

/// Returns the progress of a search, and its result.
async fn search(kit: &Toolkit, arguments: Value) -> (Vec<Progress>, Value) {
    let mut run = kit.run([ToolCall::new("c1", "file_search", arguments.to_string())]);
    let (mut progress, mut found) = (Vec::new(), Value::Null);
    while let Some(event) = run.next().await {
        progress.extend(event.progress());
        if let ToolEvent::Output { result, .. } = event {
            found = result.decode().unwrap();
        }
    }
    (progress, found)
}

#[tokio::test]
async fn a_search_reports_each_directory_that_it_has_searched() {
    let (root, kit) = files(&[
        ("a.txt", b"x"),
        ("docs/b.txt", b"x"),
        ("docs/deep/c.txt", b"x"),
        ("docs/deep/d.txt", b""),
        ("docs/e.bin", b"\0"),
        (".git/f", b"x"),
    ]);
    fs::create_dir(root.path().join("empty")).unwrap();
    let at = |done: f64, directory: &str| Progress::new(done).message(directory);
    let (progress, found) = search(&kit, json!({"pattern": "x"})).await;
    assert_eq!(progress, [at(4.0, "docs/deep"), at(4.0, "docs"), at(4.0, "empty"), at(4.0, ".")]);
    assert_eq!((paths(&found, "matches").len(), &found["files_searched"]), (3, &json!(4)));
    let (progress, _) = search(&kit, json!({"pattern": "x", "path": "./docs/"})).await;
    assert_eq!(progress, [at(3.0, "docs/deep"), at(3.0, "docs")]);
    // A directory that was not searched to its end is not reported.
    let (progress, found) = search(&kit, json!({"pattern": "x", "max_matches": 2})).await;
    assert_eq!((progress, &found["truncated"]), (vec![], &json!(true)));
}

#[tokio::test]
async fn the_progress_of_a_search_is_bounded() {
    let (root, kit) = files(&[]);
    for index in 0..1_100 {
        fs::create_dir(root.path().join(format!("d{index:04}"))).unwrap();
    }
    let (progress, found) = search(&kit, json!({"pattern": "x"})).await;
    assert_eq!((progress.len(), &found["truncated"]), (1_000, &json!(false)));
    assert_eq!(progress[999].message, "d0999");
}

#[tokio::test]
async fn deep_and_wide_trees_are_cut_off() {
    let root = tempfile::tempdir().unwrap();
    let mut deep = root.path().to_path_buf();
    for _ in 0..60 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("f"), "needle").unwrap();
    for index in 0..1_200 {
        fs::write(root.path().join(format!("w{index:04}")), "").unwrap();
    }
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    let found = call(&kit, "file_list", json!({"depth": 20, "max_entries": 1_000})).await.unwrap();
    let listed = paths(&found, "entries");
    assert_eq!((listed.len(), &found["truncated"]), (1_000, &json!(true)));
    assert_eq!((listed[19].as_str(), listed[20].as_str()), ("d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d", "w0000"));
    let found = call(&kit, "file_search", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(paths(&found, "matches").len(), 0);
    let path = format!("{}f", "d/".repeat(60));
    assert_eq!(call(&kit, "file_read", json!({"path": path})).await.unwrap()["text"], "needle");
}

#[tokio::test]
async fn the_root_must_be_a_directory() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "").unwrap();
    for path in ["missing", "file"] {
        let error = StandardToolbox::new().files(root.path().join(path)).unwrap_err();
        assert!(matches!(error, StandardToolboxError::Root { .. }), "{error}");
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[tokio::test]
async fn the_root_stays_the_directory_that_was_opened() {
    let outer = tempfile::tempdir().unwrap();
    let path = outer.path().join("root");
    write(&path, "a", b"old");
    let kit = toolbox().files(&path).unwrap().toolkit().unwrap();
    fs::rename(&path, outer.path().join("moved")).unwrap();
    write(&path, "a", b"new");
    assert_eq!(call(&kit, "file_read", json!({"path": "a"})).await.unwrap()["text"], "old");
}

#[tokio::test]
async fn a_cancelled_search_has_no_result() {
    let (_root, kit) = files(&[("a", b"x")]);
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let options = RunOptions::new().cancellation(cancellation);
    let search = ToolCall::new("c1", "file_search", r#"{"pattern": "x"}"#);
    let result = kit.run_call_with(&search, &options).await;
    assert_eq!(result.failure().unwrap().kind, FailureKind::Cancelled);
}

/// Files that are skipped count, as they were read.
#[tokio::test]
async fn a_search_ends_among_binary_files() {
    let (root, kit) = files(&[]);
    for number in 0..40 {
        let file = fs::File::create(root.path().join(format!("{number:02}.bin"))).unwrap();
        file.set_len(4 * 1024 * 1024).unwrap();
    }
    let found = call(&kit, "file_search", json!({"pattern": "x"})).await.unwrap();
    assert_eq!((&found["files_skipped"], &found["truncated"]), (&json!(32), &json!(true)), "{found}");
}
