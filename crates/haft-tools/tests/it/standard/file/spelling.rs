//! One file's many spellings: rules and deny patterns decide about the file, whatever is written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use haft_core::{FailureKind, ToolCall};
use haft_executor::{CallArguments, Cx, Permission, Permit, Permitting, RunOptions, Tool, Toolkit};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::{call, toolbox};
use super::{paths, write};

/// A root with public and secret files, and links to both.
fn site() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for path in ["local.env", "secret.txt", "pub/open.txt", "pub/deep/note.txt", "pub/deep/other.env"] {
        write(root.path(), path, format!("content of {path}").as_bytes());
    }
    for (target, link) in [
        ("local.env", "plain"),
        ("pub", "folder"),
        ("pub/../secret.txt", "crooked"),
        ("plain", "link_to_link"),
        ("deep/other.env", "pub/near"),
        ("../secret.txt", "pub/up"),
        ("missing", "dangling"),
    ] {
        symlink(target, root.path().join(link)).unwrap();
    }
    root
}

/// The rule of an operator: two files are denied, by their paths.
struct NoSecrets;

impl Permit for NoSecrets {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        let path = arguments.tree().unwrap()["path"].as_str().unwrap_or(".").to_owned();
        if ["local.env", "pub/deep/other.env", "secret.txt"].contains(&path.as_str()) {
            return Permission::denied("secret").into();
        }
        Permission::Allowed.into()
    }
}

async fn verdict(kit: &Toolkit, tool: &str, path: &str) -> Result<Value, FailureKind> {
    let arguments = match tool {
        "file_search" => json!({"path": path, "pattern": "content"}),
        _ => json!({"path": path}),
    };
    let options = RunOptions::new().permit(NoSecrets);
    let result = kit.run_call_with(&ToolCall::new("c1", tool, arguments.to_string()), &options).await;
    match result.failure() {
        None => Ok(result.decode().unwrap()),
        Some(failure) => Err(failure.kind.clone()),
    }
}

/// The attacks that a trial of the command has found, and their relatives.
#[tokio::test]
async fn no_spelling_of_a_denied_file_is_read() {
    let root = site();
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    for path in [
        "local.env",
        "local.env/",
        "local.env/.",
        "local.env//",
        "./local.env",
        ".//local.env",
        "pub/../local.env",
        "pub/../secret.txt",
        "pub//..//secret.txt/.",
        "missing/../secret.txt",
        "local.env/../secret.txt",
        "plain",
        "plain/",
        "link_to_link",
        "crooked",
        "folder/deep/other.env",
        "folder/deep/../near",
        "folder/up",
        "pub/deep/other.env/",
    ] {
        assert_eq!(verdict(&kit, "file_read", path).await, Err(FailureKind::PermissionDenied), "{path}");
    }
    for path in ["pub/open.txt", "folder/open.txt", "folder/deep/./note.txt"] {
        assert!(verdict(&kit, "file_read", path).await.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn denied_files_are_neither_read_nor_listed_nor_searched() {
    let root = site();
    let kit = toolbox().files(root.path()).unwrap().deny_files(["*.env", "/secret.txt"]).unwrap().toolkit().unwrap();
    for path in ["local.env", "./local.env/", "plain", "crooked", "folder/near", "LOCAL.ENV", "new.env", "x/new.env/y"]
    {
        let failed = call(&kit, "file_read", json!({"path": path})).await.unwrap_err();
        assert_eq!(failed.reason, "denied", "{path}: {}", failed.message);
        for tool in ["file_list", "file_search"] {
            let failed = call(&kit, tool, json!({"path": path, "pattern": "x"})).await;
            let failed = if tool == "file_list" { call(&kit, tool, json!({"path": path})).await } else { failed };
            assert_eq!(failed.unwrap_err().reason, "denied", "{tool} {path}");
        }
    }
    let found = call(&kit, "file_list", json!({"depth": 20, "hidden": true})).await.unwrap();
    let listed = paths(&found, "entries");
    assert_eq!(
        listed,
        [
            "crooked",
            "dangling",
            "folder",
            "link_to_link",
            "plain",
            "pub",
            "pub/deep",
            "pub/deep/note.txt",
            "pub/near",
            "pub/open.txt",
            "pub/up",
        ]
    );
    for arguments in [
        json!({"pattern": "content"}),
        json!({"pattern": "content", "name": "*.env"}),
        json!({"pattern": "content", "path": "pub/deep"}),
        json!({"pattern": "content", "path": "folder"}),
    ] {
        let found = call(&kit, "file_search", arguments.clone()).await.unwrap();
        let files = paths(&found, "matches");
        assert!(files.iter().all(|path| path.starts_with("pub/") && !path.contains(".env")), "{arguments}: {files:?}");
    }
    for arguments in [json!({"path": "pub", "depth": 5, "name": "*.env"}), json!({"name": "*.env"})] {
        assert_eq!(call(&kit, "file_list", arguments).await.unwrap()["entries"], json!([]));
    }
}

/// A denied folder is denied with everything below it, and a link into it leads nowhere.
#[tokio::test]
async fn a_denied_folder_is_closed() {
    let root = site();
    symlink("pub/deep", root.path().join("into")).unwrap();
    let kit = toolbox().files(root.path()).unwrap().deny_files(["pub/deep"]).unwrap().toolkit().unwrap();
    for (tool, arguments) in [
        ("file_read", json!({"path": "into/note.txt"})),
        ("file_list", json!({"path": "into"})),
        ("file_list", json!({"path": "folder/deep/"})),
        ("file_search", json!({"path": "pub/deep", "pattern": "content"})),
    ] {
        assert_eq!(call(&kit, tool, arguments.clone()).await.unwrap_err().reason, "denied", "{tool} {arguments}");
    }
    let found = call(&kit, "file_search", json!({"pattern": "content"})).await.unwrap();
    assert!(paths(&found, "matches").iter().all(|path| !path.starts_with("pub/deep")));
    assert!(toolbox().deny_files(["a/../b"]).is_err());
}

/// A permit that replaces what it has permitted by a link to a secret.
struct Exchanging(PathBuf);

impl Permit for Exchanging {
    fn permit(&self, _: &Tool, _: &ToolCall, _: &Cx) -> Permitting {
        Permission::Allowed.into()
    }

    fn permits_arguments(&self, _: &Tool, _: &ToolCall, arguments: &CallArguments<'_>, _: &Cx) -> Permitting {
        let path = self.0.join(arguments.tree().unwrap()["path"].as_str().unwrap());
        let target = if path.is_dir() { "." } else { "secret.txt" };
        fs::rename(&path, self.0.join(format!("{target}.before"))).unwrap();
        symlink(target, &path).unwrap();
        Permission::Allowed.into()
    }
}

#[tokio::test]
async fn a_file_that_is_exchanged_after_the_verdict_is_not_read() {
    let root = site();
    write(root.path(), "victim", b"harmless");
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    let options = RunOptions::new().permit(Exchanging(root.path().to_owned()));
    for (tool, path) in [("file_read", "victim"), ("file_list", "pub")] {
        let call = ToolCall::new("c1", tool, json!({"path": path}).to_string());
        let result = kit.run_call_with(&call, &options).await;
        let text = result.to_model_text();
        assert!(result.failure().is_some_and(|failure| failure.kind == FailureKind::ToolFailed), "{tool}: {text}");
        assert!(!text.contains("content of") && !text.contains("secret.txt"), "{tool}: {text}");
    }
}

/// Two paths that open one file get one verdict, and so do two paths on which a file system does not distinguish case.
/// The files are compared by device and inode, as the operating system opens them; hard links are not covered.
#[test]
fn no_two_spellings_of_one_file_get_different_verdicts() {
    let root = site();
    let kit = toolbox().files(root.path()).unwrap().deny_files(["other.env"]).unwrap().toolkit().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let names = [
        ".",
        "..",
        "",
        "pub",
        "deep",
        "folder",
        "local.env",
        "LOCAL.env",
        "secret.txt",
        "open.txt",
        "note.txt",
        "other.env",
        "plain",
        "crooked",
        "near",
        "up",
        "link_to_link",
        "missing",
    ];
    let drawn = prop::collection::vec(prop::sample::select(names.to_vec()), 1..6);
    let seen = RefCell::new(BTreeMap::new());
    proptest!(ProptestConfig::with_cases(600), |(parts in drawn)| {
        let path = parts.join("/");
        let Ok(opened) = fs::metadata(root.path().join(&path)) else { return Ok(()) };
        for tool in ["file_read", "file_list", "file_search"] {
            let found = runtime.block_on(verdict(&kit, tool, &path));
            // A path is rejected if it is absolute, or leaves the root and comes back.
            if found == Err(FailureKind::InputValidationError) {
                continue;
            }
            let mut seen = seen.borrow_mut();
            let first = seen.entry((opened.dev(), opened.ino(), tool)).or_insert_with(|| (path.clone(), found.clone()));
            prop_assert_eq!(&first.1, &found, "{}: {} and {}", tool, first.0, path);
        }
    });
    assert!(seen.borrow().len() > 6, "too few of the files were found");
}

/// The canonical spelling is a path of its own, which has no other.
#[test]
fn canonical_paths_stay_as_they_are() {
    let root = site();
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    let tool = kit.get("file_read").unwrap();
    let names = ["a", ".", "..", "", "pub", "folder", "deep", "up", "crooked", "ä", "A b", "dangling", "..."];
    let drawn = prop::collection::vec(prop::sample::select(names.to_vec()), 1..7);
    let canonical = |path: &str| {
        let call = ToolCall::new("c1", "file_read", json!({"path": path}).to_string());
        tool.argument_tree(&call).ok().map(|tree| tree["path"].as_str().unwrap().to_owned())
    };
    proptest!(ProptestConfig::with_cases(500), |(parts in drawn)| {
        if let Some(once) = canonical(&parts.join("/")) {
            prop_assert_eq!(canonical(&once), Some(once.clone()));
            let is_plain = once == "." || once.split('/').all(|name| !["", ".", ".."].contains(&name));
            prop_assert!(is_plain, "{}", once);
        }
    });
}
