//! A workspace follows its files, and a broken one changes nothing.

use std::time::Duration;

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Dispatch, RunOptions, Tool, ToolSource};
use haft_registry::Kinds;
use haft_workspace::{LoadOptions, Trust, WatchStatus, WatchedWorkspace, load};
use tokio::sync::watch;

use super::{Constant, Folder, Gated, Lines, answer};

/// Against hangs only.
const LONG: Duration = Duration::from_secs(60);

fn gated(text: &str) -> String {
    format!("[toolbox.a.tool.b]\nkind = 'gated'\ntext = '{text}'\n")
}

fn constant(text: &str) -> String {
    format!("[toolbox.a.tool.b]\nkind = 'constant'\ntext = '{text}'\n")
}

async fn open(folder: &Folder, gate: watch::Receiver<bool>) -> WatchedWorkspace {
    let kinds = Kinds::empty().with(Gated(gate)).unwrap().with(Constant).unwrap().with(Lines).unwrap();
    let options = LoadOptions::new(kinds).unwrap().trust(Trust::Always);
    WatchedWorkspace::open(folder.file(), options, |loaded| Ok(loaded.executor())).await.unwrap()
}

async fn until(receiver: &mut watch::Receiver<WatchStatus>, is_awaited: impl Fn(&WatchStatus) -> bool) -> WatchStatus {
    tokio::time::timeout(LONG, receiver.wait_for(|status| is_awaited(status))).await.unwrap().unwrap().clone()
}

#[tokio::test]
async fn running_calls_keep_their_definition() {
    let (open_gate, gate) = watch::channel(false);
    let folder = Folder::with(gated("old"));
    let workspace = open(&folder, gate).await;
    let executor = workspace.executor().clone();
    let options = RunOptions::new().started_events();
    let mut run = executor.run_calls(vec![ToolCall::new("c1", "a/b", "").into()], options);
    run.next().await.unwrap();

    folder.write("haft.toml", constant("new"));
    workspace.reload().await.unwrap();
    assert_eq!(answer(&executor, "a/b").await, "new");
    open_gate.send(true).unwrap();
    assert_eq!(run.collect_results().await[0].to_model_text(), "old");
}

#[tokio::test]
async fn a_load_is_one_generation_and_a_broken_file_is_none() {
    let folder = Folder::with(format!("workspace.orgs = ['acme']\n{}", constant("1")));
    folder.write("acme/haft.toml", format!("workspace.org = 'acme'\n{}", constant("1")));
    let workspace = open(&folder, watch::channel(true).1).await;
    let executor = workspace.executor();
    assert_eq!(executor.snapshot().generation(), 0);
    let renamed = |text: &str| text.replace("acme", "zeta").replace(".b]", ".c]");
    folder.write("haft.toml", renamed(&std::fs::read_to_string(folder.file()).unwrap()));
    folder.write("zeta/haft.toml", renamed(&format!("workspace.org = 'acme'\n{}", constant("1"))));
    workspace.reload().await.unwrap();
    assert_eq!(executor.snapshot().generation(), 1);
    let names: Vec<String> =
        executor.snapshot().toolkit().names().filter(|name| name.contains('/')).map(str::to_owned).collect();
    assert_eq!(names, ["a/c", "zeta/a/c"]);

    for broken in ["[", "[toolbox.a]\ntols = 3\n"] {
        folder.write("haft.toml", broken);
        let error = workspace.reload().await.unwrap_err();
        assert_eq!(workspace.status().error.unwrap().to_string(), error.to_string());
        assert_eq!(executor.snapshot().generation(), 1);
        assert_eq!(workspace.status().loaded.orgs.len(), 1);
    }
    std::fs::remove_file(folder.file()).unwrap();
    assert!(workspace.reload().await.unwrap_err().to_string().ends_with("there is no such file"));
    assert_eq!(answer(executor, "a/c").await, "1");

    folder.write("haft.toml", constant("2"));
    workspace.reload().await.unwrap();
    assert!(workspace.status().error.is_none());
    assert_eq!(workspace.status().loads, 6);
    assert_eq!(answer(executor, "a/b").await, "2");
}

#[tokio::test]
async fn standard_tools_that_do_not_exist_change_nothing() {
    let folder = Folder::with("workspace.standard.only = ['calcualte']\n");
    let options = LoadOptions::new(super::kinds()).unwrap();
    let error =
        WatchedWorkspace::open(folder.file(), options.clone(), |loaded| Ok(loaded.executor())).await.unwrap_err();
    assert!(error.to_string().contains("`calcualte`; did you mean `calculate`?"), "{error}");
    folder.write("haft.toml", "workspace.standard.only = ['calculate']\n");
    let workspace = WatchedWorkspace::open(folder.file(), options, |loaded| Ok(loaded.executor())).await.unwrap();
    folder.write("haft.toml", "workspace.standard.only = ['fetch']\n");
    assert!(workspace.reload().await.unwrap_err().to_string().contains("`fetch`"));
    let snapshot = workspace.executor().snapshot();
    assert_eq!((snapshot.generation(), snapshot.toolkit().names().collect::<Vec<_>>()), (0, vec!["calculate"]));
}

#[tokio::test]
async fn rules_are_replaced_together_with_tools() {
    let folder = Folder::with(format!("{}[permissions]\nallow = ['a/*']\n", constant("1")));
    let workspace = open(&folder, watch::channel(true).1).await;
    let run = || workspace.executor().run("a/b", serde_json::json!({}));
    assert_eq!(run().await.unwrap(), "1");
    folder.write("haft.toml", format!("{}[permissions]\nallow = ['c/*']\n", constant("1")));
    workspace.reload().await.unwrap();
    assert_eq!(run().await.unwrap_err().kind(), &FailureKind::PermissionDenied);
    folder.write("haft.toml", format!("{}[[approval]]\nask = '**'\n", constant("1")));
    workspace.reload().await.unwrap();
    assert_eq!(run().await.unwrap_err().kind(), &FailureKind::Denied);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_of_files_are_noticed() {
    let folder = Folder::with(constant("1"));
    let workspace = open(&folder, watch::channel(true).1).await;
    let mut status = workspace.subscribe();
    let watching = workspace.watch().unwrap();

    // Written in place.
    folder.write("haft.toml", constant("2"));
    until(&mut status, |status| status.loads > 1 && status.error.is_none()).await;
    assert_eq!(answer(workspace.executor(), "a/b").await, "2");

    // Replaced by another file, twice: the watch must not stay with the old one.
    for text in ["3", "4"] {
        folder.replace("haft.toml", constant(text));
        let digest = haft_workspace::FileDigest::of(constant(text).as_bytes());
        until(&mut status, |status| status.loaded.files[0].digest == digest).await;
        assert_eq!(answer(workspace.executor(), "a/b").await, text);
    }

    // Broken, removed, and good again, with a file in a folder that is not there yet.
    folder.replace("haft.toml", "[");
    until(&mut status, |status| status.error.is_some()).await;
    folder.write("more/lines.txt", "x\n");
    folder.replace("haft.toml", "[toolbox.a.import.b]\nkind = 'lines'\nfile = 'more/lines.txt'\n");
    until(&mut status, |status| status.error.is_none()).await;
    assert_eq!(answer(workspace.executor(), "a/x").await, "x");
    folder.write("more/lines.txt", "y\n");
    let digest = haft_workspace::FileDigest::of(b"y\n");
    until(&mut status, |status| status.loaded.files.get(1).is_some_and(|file| file.digest == digest)).await;
    assert_eq!(answer(workspace.executor(), "a/y").await, "y");
    drop(watching);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_points_elsewhere_is_noticed() {
    let folder = Folder::new();
    folder.write("one/haft.toml", constant("1"));
    folder.write("two/haft.toml", constant("2"));
    super::symlink(&folder.path("one/haft.toml"), &folder.file());
    let workspace = open(&folder, watch::channel(true).1).await;
    let mut status = workspace.subscribe();
    let _watching = workspace.watch().unwrap();
    super::symlink(&folder.path("two/haft.toml"), &folder.path("next"));
    std::fs::rename(folder.path("next"), folder.file()).unwrap();
    until(&mut status, |status| status.loaded.path == folder.path("two/haft.toml")).await;
    assert_eq!(answer(workspace.executor(), "a/b").await, "2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_before_the_watch_is_noticed() {
    let folder = Folder::with(constant("1"));
    let workspace = open(&folder, watch::channel(true).1).await;
    folder.write("haft.toml", constant("2"));
    let mut status = workspace.subscribe();
    let _watching = workspace.watch().unwrap();
    until(&mut status, |status| status.loads > 1).await;
    assert_eq!(answer(workspace.executor(), "a/b").await, "2");
}

#[tokio::test]
async fn toolboxes_and_options_of_the_application_stay_through_reloads() {
    let folder = Folder::with(format!("{}[limits]\nconcurrency = 3\n", constant("1")));
    let options = LoadOptions::new(super::kinds()).unwrap();
    let workspace = WatchedWorkspace::open(folder.file(), options, |loaded| {
        let hello = Tool::new("hello").handler(|(), _cx| async { "hi" }).unwrap();
        loaded.extend(|workspace| workspace.toolbox("mine").tool(hello).done())?;
        Ok(loaded.executor().options(RunOptions::new().caller("bob")))
    });
    let workspace = workspace.await.unwrap();
    for text in ["1", "2"] {
        folder.write("haft.toml", format!("{}[limits]\nconcurrency = 3\n", constant(text)));
        workspace.reload().await.unwrap();
        let executor = workspace.executor();
        assert_eq!(executor.run("mine/hello", serde_json::json!({})).await.unwrap(), "hi");
        assert_eq!(executor.run("a/b", serde_json::json!({})).await.unwrap(), text);
        let options = format!("{:?}", executor.options());
        assert!(options.contains("concurrency: Some(3)") && options.contains("bob"), "{options}");
    }
    // A toolbox that the file has as well is an error, and changes nothing.
    folder.write("haft.toml", constant("3").replace("toolbox.a", "toolbox.mine"));
    assert!(workspace.reload().await.unwrap_err().to_string().contains("two toolboxes named `mine`"));
    assert_eq!(workspace.executor().run("a/b", serde_json::json!({})).await.unwrap(), "2");
}

#[tokio::test]
async fn hosts_that_are_exempt_for_tools_are_not_for_fetch() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let folder = Folder::with(format!(
        "workspace.standard.fetch = true\n[http]\nallow-hosts = ['{address}']\n[toolbox.a.tool.b]\nkind = 'http'\nurl = \
         'http://{address}/x'\n"
    ));
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
    let loaded = load(folder.file(), &options).await.unwrap();
    let executor = loaded.executor().build(loaded.registry().unwrap().build().unwrap());
    let serving = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.read(&mut [0; 1024]);
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: text/plain\r\n\r\nok").unwrap();
    });
    let url = format!("http://{address}/admin");
    let error = executor.run("fetch", serde_json::json!({"url": url})).await.unwrap_err();
    assert!(format!("{error:?}").contains("forbidden"), "{error:?}");
    assert_eq!(executor.run("a/b", serde_json::json!({})).await.unwrap(), "ok");
    serving.join().unwrap();
}

#[tokio::test]
async fn a_missing_document_of_an_import_is_watched() {
    let folder = Folder::with("[toolbox.a.import.b]\nkind = 'openapi'\nfile = 'api.json'\n");
    let options = LoadOptions::new(haft_tools::kinds()).unwrap();
    let loaded = load(folder.file(), &options).await.unwrap();
    let error = loaded.ensure_complete().unwrap_err();
    assert!(error.to_string().contains("the document `api.json` can't be read"), "{error}");
    assert!(loaded.watched.iter().any(|path| path.ends_with("api.json")), "{:?}", loaded.watched);

    let document = r#"{"openapi": "3.1.0", "servers": [{"url": "https://a.example"}], "paths": {}}"#;
    folder.write("api.json", document);
    assert!(load(folder.file(), &options).await.unwrap().set_aside.is_empty());
}

#[tokio::test]
async fn undefined_secrets_of_an_import_are_remarked() {
    let folder = Folder::with("[toolbox.a.import.b]\nkind = 'openapi'\nfile = 'api.yaml'\nsecurity.k = 'petstore'\n");
    folder.write(
        "api.yaml",
        "openapi: 3.1.0\nservers: [{url: https://a.example}]\nsecurity: [{k: []}]\n\
         components: {securitySchemes: {k: {type: http, scheme: bearer}}}\npaths: {/x: {get: {}}}\n",
    );
    let loaded = load(folder.file(), &LoadOptions::new(haft_tools::kinds()).unwrap()).await.unwrap();
    let remarks: Vec<String> = loaded.remarks.iter().map(ToString::to_string).collect();
    assert!(remarks.iter().any(|remark| remark.contains("petstore")), "{remarks:?}");
}
