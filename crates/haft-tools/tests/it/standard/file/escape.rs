//! Attempts to read what is not a file below the root.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use haft_core::FailureKind;
use haft_executor::Toolkit;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;

use super::super::{Failed, call, toolbox};
use super::{paths, write};

const SECRET: &str = "the secret outside";
const TOOLS: [&str; 3] = ["file_read", "file_list", "file_search"];

/// A directory with a root inside of it, and secrets beside the root.
struct Site {
    outer: TempDir,
    root: PathBuf,
    kit: Toolkit,
}

fn site() -> Site {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("root");
    write(&root, "inside/file.txt", b"inside");
    write(outer.path(), "outside/secret.txt", SECRET.as_bytes());
    // A sibling whose path begins with that of the root.
    write(outer.path(), "root-sibling/secret.txt", SECRET.as_bytes());
    let kit = toolbox().files(&root).unwrap().toolkit().unwrap();
    Site { outer, root, kit }
}

fn arguments(tool: &str, path: &str) -> serde_json::Value {
    match tool {
        "file_search" => json!({"path": path, "pattern": "secret"}),
        _ => json!({"path": path}),
    }
}

/// Makes the links and special files of the tables below.
fn add_traps(site: &Site) {
    let link = |target: &Path, name: &str| symlink(target, site.root.join(name)).unwrap();
    let outside = site.outer.path().join("outside");
    link(&outside.join("secret.txt"), "absolute_file_link");
    link(&outside, "absolute_dir_link");
    link(Path::new("../outside/secret.txt"), "relative_file_link");
    link(Path::new("../outside"), "relative_dir_link");
    link(Path::new("inside/../../outside/secret.txt"), "crooked_link");
    link(Path::new("relative_dir_link/secret.txt"), "link_through_link");
    link(Path::new("relative_file_link"), "link_to_link");
    link(Path::new("/"), "slash_link");
    link(Path::new(".."), "parent_link");
    link(Path::new("/proc/self/root/etc/passwd"), "proc_link");
    // Also a link back into the root is absolute, and leaves it first.
    link(&site.root.join("inside/file.txt"), "absolute_link_inside");
    link(Path::new("../root/inside/file.txt"), "link_out_and_in");
    link(Path::new("loop_b"), "loop_a");
    link(Path::new("loop_a"), "loop_b");
    link(Path::new("self_link/x"), "self_link");
    link(Path::new("nowhere"), "dangling_link");
    link(Path::new("inside/file.txt"), "good_link");
    link(Path::new("inside"), "good_dir_link");
    let fifo = Command::new("mkfifo").arg(site.root.join("fifo")).status().unwrap();
    assert!(fifo.success());
    link(Path::new("fifo"), "fifo_link");
}

/// Checks a path's failure. A path without a canonical form below the root is rejected before anything decides about
/// the call; the tool itself declares all others.
fn assert_rejected(failed: &Failed, path: &str, reason: &str) {
    let rejection = match reason {
        "outside_root" => "leads outside",
        "link_loop" => "too many symbolic links",
        "invalid_path" if path.starts_with('/') => "is absolute",
        "invalid_path" if path.contains('\0') => "not a valid path",
        _ => {
            assert_eq!((&failed.kind, failed.reason.as_str()), (&FailureKind::ToolFailed, reason), "{path}");
            return;
        }
    };
    assert_eq!(failed.kind, FailureKind::InputValidationError, "{path}");
    assert!(failed.message.contains(rejection), "{path}: {}", failed.message);
}

#[tokio::test]
async fn no_path_leads_outside() {
    let site = site();
    add_traps(&site);
    let absolute = site.outer.path().join("outside/secret.txt").display().to_string();
    let long_way = format!("{}outside/secret.txt", "inside/../".repeat(50) + "../");
    for (path, reason) in [
        ("../outside/secret.txt", "outside_root"),
        ("..", "outside_root"),
        ("../root/inside/file.txt", "outside_root"),
        ("../root-sibling/secret.txt", "outside_root"),
        ("inside/../../outside/secret.txt", "outside_root"),
        ("./../outside/secret.txt", "outside_root"),
        (&*long_way, "outside_root"),
        (&*"../".repeat(60), "outside_root"),
        (&*absolute, "invalid_path"),
        ("/etc/passwd", "invalid_path"),
        ("//etc/passwd", "invalid_path"),
        ("/", "invalid_path"),
        ("/proc/self/root/etc/passwd", "invalid_path"),
        ("absolute_file_link", "outside_root"),
        ("absolute_dir_link", "outside_root"),
        ("absolute_dir_link/secret.txt", "outside_root"),
        ("relative_file_link", "outside_root"),
        ("relative_dir_link", "outside_root"),
        ("relative_dir_link/secret.txt", "outside_root"),
        ("crooked_link", "outside_root"),
        ("link_through_link", "outside_root"),
        ("link_to_link", "outside_root"),
        ("slash_link", "outside_root"),
        ("slash_link/etc/passwd", "outside_root"),
        ("parent_link", "outside_root"),
        ("parent_link/outside/secret.txt", "outside_root"),
        ("parent_link/root/inside/file.txt", "outside_root"),
        ("proc_link", "outside_root"),
        ("absolute_link_inside", "outside_root"),
        ("link_out_and_in", "outside_root"),
        ("good_dir_link/../../outside/secret.txt", "outside_root"),
        ("loop_a", "link_loop"),
        ("self_link", "link_loop"),
        ("loop_a/x", "link_loop"),
        ("dangling_link", "not_found"),
        ("missing", "not_found"),
        ("missing/../inside/missing", "not_found"),
        ("inside/file.txt/x", "not_a_directory"),
        ("inside\0/file.txt", "invalid_path"),
        (&*"n".repeat(300), "invalid_path"),
        // Notations from other systems and addresses are ordinary names here.
        ("..\\outside\\secret.txt", "not_found"),
        ("C:\\outside\\secret.txt", "not_found"),
        ("%2e%2e/outside/secret.txt", "not_found"),
        ("~/secret.txt", "not_found"),
        ("$HOME", "not_found"),
        ("file:///etc/passwd", "not_found"),
        ("..\u{2215}outside", "not_found"),
        ("... ", "not_found"),
    ] {
        for tool in TOOLS {
            let failed = call(&site.kit, tool, arguments(tool, path)).await;
            let failed = failed.err().unwrap_or_else(|| panic!("{tool} has a result for {path}"));
            assert_rejected(&failed, path, reason);
            assert!(!failed.message.contains(SECRET), "{tool} {path}: {}", failed.message);
            let outer = site.outer.path().display().to_string();
            assert!(path == absolute || !failed.message.contains(&outer), "{tool} {path}: {}", failed.message);
        }
    }
}

#[tokio::test]
async fn links_inside_of_the_root_are_read() {
    let site = site();
    add_traps(&site);
    for path in ["good_link", "good_dir_link/file.txt", "inside/../good_link", "good_dir_link/../good_link"] {
        let found = call(&site.kit, "file_read", json!({"path": path})).await.unwrap();
        assert_eq!(found["text"], "inside", "{path}");
    }
    let found = call(&site.kit, "file_list", json!({"path": "good_dir_link"})).await.unwrap();
    assert_eq!(paths(&found, "entries"), ["inside/file.txt"]);
}

#[tokio::test]
async fn walks_report_links_and_follow_none() {
    let site = site();
    add_traps(&site);
    let found = call(&site.kit, "file_list", json!({"depth": 20, "hidden": true})).await.unwrap();
    let listed = paths(&found, "entries");
    assert!(listed.contains(&"relative_dir_link".to_owned()) && listed.contains(&"inside/file.txt".to_owned()));
    assert!(
        listed.iter().all(|path| !path.starts_with("relative_dir_link/") && !path.contains("secret")),
        "{listed:?}"
    );
    let link = json!({"path": "parent_link", "kind": "link"});
    assert!(found["entries"].as_array().unwrap().contains(&link));
    let found = call(&site.kit, "file_search", json!({"pattern": "secret|inside", "syntax": "regex"})).await.unwrap();
    assert_eq!(paths(&found, "matches"), ["inside/file.txt"]);
}

#[tokio::test]
async fn special_files_are_rejected_and_never_block() {
    let site = site();
    add_traps(&site);
    let _listener = UnixListener::bind(site.root.join("socket")).unwrap();
    // A generous limit: without it, a regression would wait for a writer forever.
    let limit = Duration::from_secs(60);
    for path in ["fifo", "fifo_link", "socket"] {
        for format in ["text", "base64"] {
            let read = call(&site.kit, "file_read", json!({"path": path, "format": format}));
            let failed = tokio::time::timeout(limit, read).await.unwrap().unwrap_err();
            assert_eq!((failed.kind, failed.reason.as_str()), (FailureKind::ToolFailed, "not_a_file"), "{path}");
        }
        let failed = call(&site.kit, "file_list", json!({"path": path})).await.unwrap_err();
        assert_eq!(failed.reason, "not_a_directory", "{path}");
    }
    let search = call(&site.kit, "file_search", json!({"pattern": "inside"}));
    let found = tokio::time::timeout(limit, search).await.unwrap().unwrap();
    assert_eq!(paths(&found, "matches"), ["inside/file.txt"]);
    let found = call(&site.kit, "file_list", json!({"name": "fifo"})).await.unwrap();
    assert_eq!(found["entries"][0]["kind"], "other");
    for (path, reason) in [("inside", "is_directory"), (".", "is_directory"), ("inside/file.txt/", "")] {
        match call(&site.kit, "file_read", json!({"path": path})).await {
            Ok(found) => assert_eq!((reason, &found["text"]), ("", &json!("inside"))),
            Err(failed) => assert_eq!(failed.reason, reason, "{path}"),
        }
    }
}

/// A file system that only takes Unicode names has none to be tested with.
#[tokio::test]
async fn names_that_are_not_unicode_are_listed_as_such() {
    let site = site();
    if fs::write(site.root.join(OsStr::from_bytes(b"caf\xe9")), "needle").is_err() {
        return;
    }
    let found = call(&site.kit, "file_list", json!({"name": "caf*"})).await.unwrap();
    let entry = json!({"path": "caf\u{fffd}", "kind": "file", "size": 6, "invalid_name": true});
    assert_eq!(found["entries"], json!([entry]));
    let found = call(&site.kit, "file_search", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(paths(&found, "matches"), ["caf\u{fffd}"]);
}

#[test]
fn no_combination_of_names_leads_outside() {
    let site = site();
    add_traps(&site);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let names = [
        "..",
        ".",
        "",
        "inside",
        "file.txt",
        "outside",
        "secret.txt",
        "root",
        "root-sibling",
        "relative_dir_link",
        "fifo",
        "absolute_dir_link",
        "parent_link",
        "good_dir_link",
        "good_link",
        "link_to_link",
        "slash_link",
        "loop_a",
    ];
    let paths = prop::collection::vec(prop::sample::select(names.to_vec()), 1..8);
    proptest!(ProptestConfig::with_cases(300), |(parts in paths)| {
        let path = parts.join("/");
        for tool in TOOLS {
            let found = runtime.block_on(call(&site.kit, tool, arguments(tool, &path)));
            let text = found.map_or_else(|failed| failed.message, |found| found.to_string());
            prop_assert!(!text.contains(SECRET), "{} {}", tool, path);
        }
    });
}

/// Runs changes on a thread, again and again, while calls are made.
async fn race(site: &Site, change: impl Fn() + Send + 'static, calls: &[(&str, serde_json::Value)]) -> Vec<String> {
    let stop = Arc::new(AtomicBool::new(false));
    let changing = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut rounds = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                change();
                rounds += 1;
            }
            rounds
        }
    });
    let mut seen = Vec::new();
    for _ in 0..400 {
        for (tool, arguments) in calls {
            seen.push(match call(&site.kit, tool, arguments.clone()).await {
                Ok(found) => found.to_string(),
                Err(failed) => {
                    // Nothing that such a race leads to is an error of the operator.
                    let kinds = [FailureKind::ToolFailed, FailureKind::InputValidationError];
                    assert!(kinds.contains(&failed.kind), "{failed:?}");
                    failed.message
                }
            });
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(changing.join().unwrap() > 0);
    seen
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_to_the_outside_leaks_nothing() {
    let site = site();
    write(&site.root, "real/secret.txt", b"harmless");
    let (root, outside) = (site.root.clone(), site.outer.path().join("outside"));
    let swap = move || {
        // The name is a directory, then missing, then a link to the outside, and then the directory again.
        let _ = fs::rename(root.join("real"), root.join("kept"));
        let _ = symlink(&outside, root.join("real"));
        let _ = fs::remove_file(root.join("real"));
        let _ = fs::rename(root.join("kept"), root.join("real"));
    };
    let calls = [
        ("file_read", json!({"path": "real/secret.txt"})),
        ("file_read", json!({"path": "real/../real/secret.txt", "format": "base64"})),
        ("file_list", json!({"path": "real"})),
        ("file_list", json!({"depth": 3})),
        ("file_search", json!({"pattern": "secret", "path": "real"})),
        ("file_search", json!({"pattern": "secret"})),
    ];
    let seen = race(&site, swap, &calls).await;
    let encoded = encoded_secret();
    assert!(seen.iter().all(|text| !text.contains(SECRET) && !text.contains(&encoded)));
    assert!(seen.iter().any(|text| text.contains("harmless")), "the race must not prevent every read");
}

#[tokio::test]
async fn a_file_that_becomes_a_link_or_a_pipe_neither_leaks_nor_blocks() {
    let site = site();
    write(&site.root, "file", b"harmless");
    fs::write(site.root.join("kept"), "harmless").unwrap();
    symlink(site.outer.path().join("outside/secret.txt"), site.root.join("link")).unwrap();
    assert!(Command::new("mkfifo").arg(site.root.join("pipe")).status().unwrap().success());
    let root = site.root.clone();
    let swap = move || {
        // Each renaming replaces the file atomically; a hard link keeps the source.
        for kind in ["link", "pipe", "kept"] {
            let _ = fs::remove_file(root.join("next"));
            let _ = match kind {
                "link" => fs::read_link(root.join("link")).and_then(|target| symlink(target, root.join("next"))),
                kind => fs::hard_link(root.join(kind), root.join("next")),
            };
            let _ = fs::rename(root.join("next"), root.join("file"));
        }
    };
    let calls = [
        ("file_read", json!({"path": "file"})),
        ("file_read", json!({"path": "file", "format": "base64"})),
        ("file_search", json!({"pattern": "secret|harmless", "syntax": "regex", "name": "file"})),
    ];
    // A generous limit: a read of the pipe would wait forever.
    let seen = tokio::time::timeout(Duration::from_secs(300), race(&site, swap, &calls)).await.unwrap();
    let encoded = encoded_secret();
    assert!(seen.iter().all(|text| !text.contains(SECRET) && !text.contains(&encoded)));
    assert!(seen.iter().any(|text| text.contains("harmless")), "the race must not prevent every read");
}

/// The secret in base64, as a prefix of whatever contains it.
fn encoded_secret() -> String {
    data_encoding::BASE64_NOPAD.encode(SECRET.as_bytes())
}
