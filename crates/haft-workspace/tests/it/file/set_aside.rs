//! One bad entry is set aside, and its neighbours load. Its name stays its own.

use haft_core::{FailureKind, ToolCall};
use haft_executor::{Dispatch, RunOptions, ToolSource};
use haft_registry::{Executor, Kinds, LookupError, PermissionSettings, RuleSettings};
use haft_workspace::{LoadOptions, Loaded, Trust, TrustStatus, WatchedWorkspace, load};

use super::{Folder, answer, kinds, options, tool_names};

/// A good tool, and the same with a fault.
fn good(key: &str) -> String {
    format!("[toolbox.{key}]\nkind = 'constant'\ntext = '{key}'\n")
}

fn bad(key: &str) -> String {
    format!("[toolbox.{key}]\nkind = 'constant'\ntext = 3\n")
}

fn executor(loaded: &Loaded) -> Executor {
    loaded.executor().build(loaded.registry().unwrap().build().unwrap())
}

/// Returns a lookup's failure, without the folder's path.
fn not_found(folder: &Folder, executor: &Executor, name: &str) -> String {
    folder.shown(&executor.find(name).map(|tool| tool.name.to_string()).unwrap_err())
}

fn has_aside(executor: &Executor, name: &str, full: &str) {
    match executor.find(name).map(|tool| tool.name.to_string()) {
        Err(LookupError::SetAside { name: found, .. }) => assert_eq!(found, full, "{name}"),
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test]
async fn neighbours_and_standard_tools_load() {
    for entry in [
        bad("dev.tool.publish"),
        "[toolbox.dev.tool.publish]\nkind = 'none'\n".into(),
        "[toolbox.dev.tool.publish]\n".into(),
        "[toolbox.dev.tool]\npublish = 3\n".into(),
        "[toolbox.dev.tool.publish]\nkind = 'constant'\ntext = ''\n".into(),
        "[toolbox.dev.tool.publish]\nkind = 'constant'\ntext = 'x'\nversoin = '1'\n".into(),
        "[toolbox.dev.tool.'pub lish']\nkind = 'constant'\ntext = 'x'\n".into(),
        "[toolbox.dev.import.publish]\nkind = 'lines'\nfile = 'missing'\n".into(),
    ] {
        let folder = Folder::with(format!("{}{}{entry}", good("web.tool.read"), good("dev.tool.build")));
        for trust in [Trust::Always, Trust::Never] {
            let loaded = folder.load_with(trust).await.unwrap();
            assert_eq!(loaded.set_aside.len(), 1, "{entry}");
            assert_eq!(tool_names(&loaded), ["web/read", "dev/build"], "{entry}");
            let executor = executor(&loaded);
            assert_eq!(answer(&executor, "web/read").await, "web.tool.read");
            assert_eq!(executor.run("dev/build", serde_json::json!({})).await.unwrap(), "dev.tool.build");
            executor.run("calculate", serde_json::json!({"expression": "1 + 1"})).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_call_says_why_and_where() {
    let folder = Folder::with(format!("{}{}", good("dev.tool.build"), bad("dev.tool.publish")));
    let loaded = folder.load().await;
    let entry = &loaded.set_aside[0];
    assert_eq!((entry.key.as_str(), entry.faults.len()), ("toolbox.dev.tool.publish", 1));
    assert_eq!(entry.tool.as_ref().unwrap().to_string(), "dev/publish");
    let executor = executor(&loaded);
    let expected = "`dev/publish` is set aside: fault in haft.toml:6: must be a string, not a number";
    for name in ["dev/publish", "/dev/publish"] {
        assert_eq!(not_found(&folder, &executor, name), expected);
    }
    let error = executor.run("dev/publish", serde_json::json!({})).await.unwrap_err();
    assert!(folder.shown(&error).contains(expected), "{error}");
    // To a model it is one more call that fails.
    let calls = vec![ToolCall::new("c1", "dev/publish", "{}").into()];
    let results = executor.run_calls(calls, RunOptions::new()).collect_results().await;
    assert_eq!(results[0].failure().unwrap().kind, FailureKind::UnknownTool);
    assert!(!results[0].to_model_text().contains("haft.toml"));
}

#[tokio::test]
async fn the_name_means_no_other_tool() {
    let acme = format!(
        "workspace.org = 'acme'\n{}{}{}",
        good("dev.tool.publish"),
        good("dev.tool.other"),
        good("dev.tool.hash") + "export = true\n"
    );
    for (entry, names) in [
        (bad("dev.tool.publish"), &[("dev/publish", "dev/publish")][..]),
        (bad("dev.tool.hash") + "export = true\n", &[("hash", "dev/hash"), ("dev/hash", "dev/hash")]),
        (bad("dev.tool.hash") + "export = 'yes'\n", &[("hash", "dev/hash")]),
        (bad("dev.tool.hash") + "exprot = true\n", &[("hash", "dev/hash")]),
        // Its tools' names are unknown, so it may be any tool in the toolbox.
        (
            "[toolbox.dev.import.all]\nkind = 'lines'\nfile = 'missing'\n".into(),
            &[("dev/publish", "dev/publish"), ("dev/other", "dev/other"), ("dev/none", "dev/none")],
        ),
    ] {
        let folder = Folder::with(format!("workspace.orgs = ['acme']\n{}{entry}", good("dev.tool.build")));
        folder.write("acme/haft.toml", &acme);
        let executor = executor(&folder.load().await);
        for (name, full) in names {
            has_aside(&executor, name, full);
            assert!(executor.snapshot().toolkit().get(name).is_none(), "{name}");
        }
        // Those that others have in full are theirs.
        assert_eq!(executor.find("acme/dev/publish").unwrap().name.to_string(), "acme/dev/publish");
        assert_eq!(executor.find("/hash").unwrap().name.to_string(), "hash");
        assert_eq!(executor.find("dev/build").unwrap().name.to_string(), "dev/build");
    }
}

#[tokio::test]
async fn a_name_that_is_shared_with_a_good_tool_means_neither() {
    // By their exports: nobody can tell which one was meant, and it is not the standard one.
    let exported = |entry: String| entry + "export = true\n";
    let folder = Folder::with(exported(good("a.tool.hash")) + &exported(bad("b.tool.hash")));
    let executor = executor(&folder.load().await);
    assert_eq!(not_found(&folder, &executor, "hash"), "`hash` may mean `a/hash` or `b/hash`; use a full name");
    assert!(executor.snapshot().toolkit().get("hash").is_none());
    // In one toolbox, it is a fault of the file as ever.
    folder.write("names", "Publish");
    folder.write(
        "haft.toml",
        format!("{}[toolbox.dev.import.all]\nkind = 'lines'\nfile = 'names'\n", bad("dev.tool.publish")),
    );
    let error = folder.load_with(Trust::Always).await.unwrap_err();
    assert!(error.to_string().contains("has two tools named `publish`"), "{error}");
    assert!(error.to_string().contains("must be a string"), "{error}");
}

#[tokio::test]
async fn an_organisations_bad_entry_does_not_reach_another_ones() {
    let folder = Folder::with("workspace.orgs = ['acme', 'zeta']\n");
    folder.write("acme/haft.toml", "workspace.org = 'acme'\n[toolbox.x.import.all]\nkind = 'lines'\nfile = 'none'\n");
    folder.write("zeta/haft.toml", format!("workspace.org = 'zeta'\n{}", good("x.tool.y")));
    let executor = executor(&folder.load().await);
    has_aside(&executor, "x/y", "acme/x/y");
    assert_eq!(executor.find("zeta/x/y").unwrap().name.to_string(), "zeta/x/y");
}

#[tokio::test]
async fn faults_elsewhere_fail_the_file() {
    for rest in [
        "[permissions]\nallow = ['../x']\n",
        "[permissions]\nalow = ['**']\n",
        "[[approval]]\nask = 'a/*'\nwhen = 'args.amount >'\n",
        "[limits]\nconcurrency = 0\n",
        "[secrets]\ngithub = 'x'\n",
        "[http]\nallow-nets = ['x']\n",
        "[files]\ndney = ['*.env']\n",
        "[workspace]\nstandard = 'yes'\n",
        "[toolbox.a]\ntools = 3\n",
        "[toolbox.a.tool]\nb = [\n",
        // It may replace any tool.
        "[toolbox.a.import.b]\nkind = 'lines'\nfile = 'missing'\nexport = true\n",
        "[toolbox.a.import.b]\nkind = 'lines'\nfile = 'missing'\nexprt = true\n",
        // A rule of the file that stands in an entry.
        "[toolbox.a.tool.b]\nkind = 'program'\nrun = ['ls']\npermissions = { deny = ['**'] }\n",
        "[toolbox.a.tool.b]\nkind = 'program'\nrun = ['ls']\napproval = [{ ask = '**' }]\n",
        "[toolbox.a.import.b]\nkind = 'lines'\nfiles = { deny = ['*.env'] }\n",
    ] {
        let folder = Folder::with(format!("{}{rest}", bad("dev.tool.publish")));
        assert!(folder.load_with(Trust::Always).await.is_err(), "{rest}");
    }
    let folder = Folder::with(bad("dev.tool.publish") + "[limits]\nconcurrency = 0\n");
    let error = folder.load_with(Trust::Always).await.unwrap_err();
    assert_eq!(error.faults.len(), 2, "{error}");
}

#[tokio::test]
async fn a_caller_from_whom_the_tool_is_hidden_learns_nothing() {
    let folder = Folder::with(bad("dev.tool.publish"));
    let loaded = folder.load().await;
    let rules = PermissionSettings::new().allow(RuleSettings::tools("web/*")).hide_denied();
    let executor = loaded.executor().permissions(rules.build().unwrap());
    let executor = executor.build(loaded.registry().unwrap().build().unwrap());
    assert!(matches!(executor.find("dev/publish").unwrap_err(), LookupError::NotFound { .. }));
}

#[tokio::test]
async fn trust_covers_the_neighbours_of_a_bad_entry() {
    let program = |key: &str| format!("[toolbox.{key}]\nkind = 'program'\nrun = ['ls']\n");
    let folder = Folder::with(format!("{}{}", program("dev.tool.build"), bad("dev.tool.publish")));
    let trust = || Trust::Recorded(folder.store());
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, tool_names(&loaded).len()), (TrustStatus::Unknown, 0));
    folder.store().trust(&loaded).unwrap();
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, loaded.set_aside.len()), (TrustStatus::Trusted, 1));
    assert_eq!(tool_names(&loaded), ["dev/build"]);
    has_aside(&executor(&loaded), "dev/publish", "dev/publish");
}

#[tokio::test]
async fn an_entry_that_was_faulty_when_its_file_was_trusted_is_not_trusted_once_it_works() {
    // By a file that it reads, which appears later.
    let folder = Folder::with("[toolbox.a.import.b]\nkind = 'lines'\nfile = 'names'\n");
    let trust = || Trust::Recorded(folder.store());
    folder.store().trust(&folder.load_with(trust()).await.unwrap()).unwrap();
    assert_eq!(folder.load_with(trust()).await.unwrap().trust, TrustStatus::Trusted);
    folder.write("names", "c");
    assert_eq!(folder.load_with(trust()).await.unwrap().trust, TrustStatus::Changed);
    folder.store().trust(&folder.load_with(trust()).await.unwrap()).unwrap();
    assert_eq!(folder.load_with(trust()).await.unwrap().trust, TrustStatus::Trusted);
    std::fs::remove_file(folder.path("names")).unwrap();
    let loaded = folder.load_with(trust()).await.unwrap();
    assert_eq!((loaded.trust, loaded.set_aside.len()), (TrustStatus::Changed, 1));

    // By a program that knows its kind, although no file has changed.
    let entries =
        "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'b'\n[toolbox.a.tool.c]\nkind = 'program'\nrun = ['ls']\n";
    let folder = Folder::with(entries);
    let older = LoadOptions::new(Kinds::empty().with(super::Constant).unwrap()).unwrap();
    let loaded = load(folder.file(), &older.clone().trust(Trust::Recorded(folder.store()))).await.unwrap();
    assert_eq!(loaded.set_aside.len(), 1);
    folder.store().trust(&loaded).unwrap();
    let older = load(folder.file(), &older.trust(Trust::Recorded(folder.store()))).await.unwrap();
    assert_eq!(older.trust, TrustStatus::Trusted);
    let newer = folder.load_with(Trust::Recorded(folder.store())).await.unwrap();
    assert_eq!((newer.trust, tool_names(&newer)), (TrustStatus::Changed, vec!["a/b".to_owned()]));
}

#[tokio::test]
async fn a_reload_applies_rules_and_good_entries() {
    let folder = Folder::with(good("a.tool.b") + &good("a.tool.c"));
    let trusted = LoadOptions::new(kinds()).unwrap().trust(Trust::Always);
    let workspace = WatchedWorkspace::open(folder.file(), trusted, |loaded| Ok(loaded.executor())).await.unwrap();
    let executor = workspace.executor();
    let rules = "[permissions]\nallow = ['a/d', 'a/b']\n";
    folder.write("haft.toml", format!("{}{}{}{rules}", bad("a.tool.b"), good("a.tool.c"), good("a.tool.d")));
    assert_eq!(workspace.reload().await.unwrap().set_aside.len(), 1);
    assert!(workspace.status().error.is_none());
    has_aside(executor, "a/b", "a/b");
    assert_eq!(answer(executor, "a/d").await, "a.tool.d");
    assert!(executor.run("a/c", serde_json::json!({})).await.is_err());
    // A file that fails as a whole changes nothing.
    folder.write("haft.toml", good("a.tool.b") + "[permissions]\nalow = ['**']\n");
    workspace.reload().await.unwrap_err();
    has_aside(executor, "a/b", "a/b");
    folder.write("haft.toml", good("a.tool.b"));
    assert!(workspace.reload().await.unwrap().set_aside.is_empty());
    assert_eq!(answer(executor, "a/b").await, "a.tool.b");
}

#[tokio::test]
async fn thousands_of_bad_entries_are_set_aside() {
    let entry = |at| format!("[toolbox.a.tool.t{at}]\nkind = 'constant'\ntext = ''\n");
    let entries: String = (0..5_000).map(entry).collect();
    let folder = Folder::with(entries + &good("a.tool.last"));
    let loaded = load(folder.file(), &options()).await.unwrap();
    assert_eq!((loaded.set_aside.len(), tool_names(&loaded)), (5_000, vec!["a/last".to_owned()]));
}
