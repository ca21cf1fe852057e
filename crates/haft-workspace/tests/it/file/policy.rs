//! Organisations' and the user's rules, which narrow a workspace's.

use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions};
use haft_registry::{Executor, Registry};
use haft_workspace::{FileError, LoadOptions, Loaded, Trust, UserPolicy, WatchedWorkspace, load};

use super::{Folder, options};

/// A tool whose arguments conditions can read.
const TOOLS: &str =
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'b'\n[toolbox.a.tool.c]\nkind = 'constant'\ntext = 'c'\n";

fn with_policy(folder: &Folder) -> LoadOptions {
    options().policy(folder.path("policy.toml"))
}

fn executor(loaded: &Loaded) -> Executor {
    loaded.executor().build(loaded.registry().unwrap().build().unwrap())
}

/// Calls a tool: its text, or the kind of the failure with its causes.
async fn outcome(executor: &Executor, tool: &str, arguments: &str) -> String {
    let call = ToolCall::new("c1", tool, arguments);
    let results = executor.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
    match results[0].failure() {
        None => "ok".to_owned(),
        Some(failure) => format!("{}; {}", failure.kind, failure.cause_chain().unwrap_or_default()),
    }
}

async fn outcomes(loaded: &Loaded, tools: &[&str]) -> Vec<String> {
    let executor = executor(loaded);
    let mut outcomes = Vec::new();
    for tool in tools {
        let arguments = if *tool == "hash" { r#"{"text": "x"}"# } else { "{}" };
        outcomes.push(outcome(&executor, tool, arguments).await);
    }
    outcomes
}

#[tokio::test]
async fn an_organisation_denies_in_the_workspaces_that_use_it_and_allows_nothing() {
    for trust in [Trust::Always, Trust::Never] {
        for (own, org, expected) in [
            // A workspace without permissions is narrowed by the organisation's.
            ("", "deny = ['a/b']", ["denied", "ok", "ok"]),
            ("", "allow = ['a/b']", ["ok", "ok", "ok"]),
            ("", "hide-denied = true\ndeny = ['a/b']", ["unknown", "ok", "ok"]),
            ("", "deny = [{ tools = 'a/*', readonly = false }]", ["denied", "denied", "ok"]),
            // An organisation's rules that allow never allow.
            ("allow = ['a/c']", "allow = ['**']", ["default", "ok", "default"]),
            ("allow = ['**']", "allow = ['a/c']\ndeny = ['hash']", ["ok", "ok", "denied"]),
            ("allow = ['**']\ndeny = ['a/c']", "deny = ['a/b']", ["denied", "own", "ok"]),
            // Its sets count if it uses them itself.
            (
                "allow = ['**']",
                "use = ['s']\nsets = { s = { deny = ['a/b'], allow = ['a/c'] } }",
                ["denied", "ok", "ok"],
            ),
            ("allow = ['**']", "sets = { s = { deny = ['a/b'] } }", ["ok", "ok", "ok"]),
        ] {
            let own = if own.is_empty() { String::new() } else { format!("[permissions]\n{own}\n") };
            let folder = Folder::with(format!("workspace.orgs = ['acme']\n{own}{TOOLS}"));
            folder.write("acme/haft.toml", format!("workspace.org = 'acme'\n[permissions]\n{org}\n"));
            let loaded = folder.load_with(trust.clone()).await.unwrap();
            let found = outcomes(&loaded, &["a/b", "a/c", "hash"]).await;
            for (found, expected) in found.iter().zip(expected) {
                let acme = folder.path("acme/haft.toml").display().to_string();
                let is_expected = match expected {
                    "ok" => found == "ok",
                    "denied" => found.starts_with("permission_denied") && found.contains(&format!("`{acme}: ")),
                    "own" => found.starts_with("permission_denied") && found.contains("`deny a/c`"),
                    "unknown" => found.starts_with("unknown_tool"),
                    _ => found.starts_with("permission_denied") && found.contains("`default`"),
                };
                assert!(is_expected, "{own} {org}: {found} is not {expected}");
            }
        }
    }
}

#[tokio::test]
async fn rules_of_an_organisation_that_do_not_count_are_remarked() {
    let folder = Folder::with(format!("workspace.orgs = ['acme']\n{TOOLS}"));
    folder.write(
        "acme/haft.toml",
        "workspace.org = 'acme'\n[permissions]\nallow = ['a/b']\ndeny = ['github/delete_*', 'acme/crm/fnd']\n\
         [toolbox.crm.tool.find]\nkind = 'constant'\ntext = 'x'\n",
    );
    assert_eq!(
        folder.remarks(&folder.load().await),
        [
            "acme/haft.toml:3:1: permissions.allow: left out: this counts only in the file that is loaded itself, not in \
             that of an organisation",
            "acme/haft.toml:4:28: permissions.deny[1]: matches no tool; did you mean `acme/crm/find`?",
        ],
    );
    // The same file by itself.
    let own = load(folder.path("acme/haft.toml"), &options()).await.unwrap();
    assert_eq!(outcomes(&own, &["acme/crm/find", "hash"]).await.join(" ").matches("`default`").count(), 2);
}

#[tokio::test]
async fn a_broken_rule_of_an_organisation_fails_the_load() {
    let folder = Folder::with("workspace.orgs = ['acme']\n");
    folder
        .write("acme/haft.toml", "workspace.org = 'acme'\n[permissions]\ndeny = [{ tools = 'a/b', when = 'arg.x' }]\n");
    let error = folder.load_with(Trust::Always).await.unwrap_err().to_string();
    assert!(error.contains("haft.toml:3:33: permissions.deny[0].when: ") && error.contains("is it `args`?"), "{error}");
}

#[tokio::test]
async fn approval_rules_are_named_with_the_file_of_an_organisation_or_of_the_user() {
    let folder = Folder::with(format!("workspace.orgs = ['acme']\n[[approval]]\nask = 'a/b'\n{TOOLS}"));
    folder.write("acme/haft.toml", "workspace.org = 'acme'\n[[approval]]\nask = 'a/*'\nname = 'ours'\n");
    folder.write("policy.toml", "[[approval]]\nask = ['a/c', 'hash']\nname = 'mine'\n");
    let loaded = load(folder.file(), &with_policy(&folder)).await.unwrap();
    let executor = executor(&loaded);
    let acme = format!("{}: ours", folder.path("acme/haft.toml").display());
    for (tool, expected) in [
        ("a/b", vec!["ask a/b", acme.as_str()]),
        ("a/c", vec![acme.as_str(), "policy.toml: mine"]),
        ("hash", vec!["policy.toml: mine"]),
        ("calculate", vec![]),
    ] {
        assert_eq!(executor.approval_rules(&executor.find(tool).unwrap()), expected, "{tool}");
    }
    assert_eq!(outcome(&executor, "hash", r#"{"text": "x"}"#).await.split(';').next(), Some("denied"));
}

#[tokio::test]
async fn a_policy_narrows_every_workspace_and_widens_none() {
    for (own, policy, expected) in [
        ("", "", ["ok", "ok", "ok"]),
        ("", "deny = ['a/b']", ["policy.toml: deny a/b", "ok", "ok"]),
        ("allow = ['a/c']", "deny = ['a/b']", ["default", "ok", "default"]),
        ("allow = ['a/c']", "allow = ['**']", ["default", "ok", "default"]),
        ("allow = ['**']", "allow = ['a/*']", ["ok", "ok", "policy.toml: default"]),
        ("", "allow = []", ["policy.toml: default", "policy.toml: default", "policy.toml: default"]),
        (
            "",
            "use = ['s']\nsets = { s = { allow = ['hash'] } }",
            ["policy.toml: default", "policy.toml: default", "ok"],
        ),
        ("", "sets = { s = { allow = ['hash'] } }", ["ok", "ok", "ok"]),
        (
            "allow = ['**']",
            "deny = [{ tools = '**', readonly = false, name = 'only-reading' }]",
            ["policy.toml: only-reading", "policy.toml: only-reading", "ok"],
        ),
        (
            "allow = ['**']",
            "deny = [{ tools = 'hash', when = 'args.text == \"x\"', name = 'x' }]",
            ["ok", "ok", "policy.toml: x"],
        ),
    ] {
        let own = if own.is_empty() { String::new() } else { format!("[permissions]\n{own}\n") };
        let folder = Folder::with(format!("{own}{TOOLS}"));
        folder
            .write("policy.toml", if policy.is_empty() { String::new() } else { format!("[permissions]\n{policy}\n") });
        let loaded = load(folder.file(), &with_policy(&folder)).await.unwrap();
        let found = outcomes(&loaded, &["a/b", "a/c", "hash"]).await;
        for (found, expected) in found.iter().zip(expected) {
            let is_expected = if expected == "ok" {
                found == "ok"
            } else {
                found.starts_with("permission_denied") && found.contains(&format!("`{expected}`"))
            };
            assert!(is_expected, "{own} {policy}: {found} is not {expected}");
        }
        // It has no part in the trust in the files.
        assert_eq!(loaded.files.len(), 1);
        assert!(loaded.watched.contains(&folder.path("policy.toml")));
    }
}

fn faults(folder: &Folder, error: &FileError) -> Vec<String> {
    let shown = |path: &std::path::Path| path.strip_prefix(folder.path("")).unwrap_or(path).display().to_string();
    error.faults.iter().map(|fault| fault.in_file(&shown(&fault.path))).collect()
}

#[tokio::test]
async fn a_broken_policy_fails_the_load() {
    for (policy, expected) in [
        ("deny = ", "policy.toml:1:8: invalid TOML: "),
        (
            "[permission]\ndeny = ['x']\n",
            "policy.toml:1:2: permission: the key \"permission\" is not allowed; did you mean \"permissions\"?",
        ),
        ("[permissions]\nallow = 'x'\n", "policy.toml:2:9: permissions.allow: must be an array"),
        ("[permissions]\ndeny = ['a/b/c/d/e']\n", "policy.toml:2:9: permissions.deny[0].tools: "),
        ("[permissions]\nuse = ['none']\n", "policy.toml:2:8: permissions.use[0]: there is no set `none`"),
        ("[[approval]]\nask = '*'\nwhen = 'args.x >'\n", "policy.toml:3:8: approval[0].when: "),
        ("[toolbox.x.tool.y]\nkind = 'command'\n", "policy.toml:1:2: toolbox: the key \"toolbox\" is not allowed"),
        ("\u{0}", "policy.toml:1:1: invalid TOML"),
    ] {
        let folder = Folder::with(TOOLS);
        folder.write("policy.toml", policy);
        let error = load(folder.file(), &with_policy(&folder)).await.unwrap_err();
        let found = faults(&folder, &error);
        assert!(found[0].starts_with(expected), "{policy:?}: {found:#?}");
        assert!(UserPolicy::read(&folder.path("policy.toml")).is_err());
    }
    // What is there and can't be read is not taken for nothing.
    let folder = Folder::with(TOOLS);
    std::fs::create_dir(folder.path("policy.toml")).unwrap();
    assert!(load(folder.file(), &with_policy(&folder)).await.is_err());
    std::fs::remove_dir(folder.path("policy.toml")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path("gone"), folder.path("policy.toml")).unwrap();
        assert!(load(folder.file(), &with_policy(&folder)).await.is_err());
        std::fs::remove_file(folder.path("policy.toml")).unwrap();
    }
    assert!(load(folder.file(), &with_policy(&folder)).await.is_ok());
}

#[tokio::test]
async fn a_policy_that_breaks_keeps_the_rules_and_tools_of_before() {
    let folder = Folder::with(TOOLS);
    folder.write("policy.toml", "[permissions]\ndeny = ['a/b']\n");
    let workspace = WatchedWorkspace::open(folder.file(), with_policy(&folder), |loaded| Ok(loaded.executor())).await;
    let workspace = workspace.unwrap();
    folder.write("policy.toml", "[permissions\n");
    assert!(workspace.reload().await.is_err());
    assert!(outcome(workspace.executor(), "a/b", "{}").await.starts_with("permission_denied"));
    folder.write("policy.toml", "[permissions]\ndeny = ['a/c']\n");
    workspace.reload().await.unwrap();
    assert_eq!(outcome(workspace.executor(), "a/b", "{}").await, "ok");
    assert!(outcome(workspace.executor(), "a/c", "{}").await.starts_with("permission_denied"));
}

#[tokio::test]
async fn a_policy_applies_to_an_executor_without_a_file() {
    let folder = Folder::new();
    folder.write("policy.toml", "[permissions]\ndeny = ['calculate']\n[[approval]]\nask = 'hash'\n");
    let policy = UserPolicy::read(&folder.path("policy.toml")).unwrap().unwrap();
    let tools = haft_tools::standard::StandardToolbox::new().toolkit().unwrap();
    let registry = Registry::builder().internal(tools).build().unwrap();
    let executor = policy.apply(Executor::builder()).build(registry);
    assert!(outcome(&executor, "calculate", r#"{"expression": "1"}"#).await.starts_with("permission_denied"));
    assert!(outcome(&executor, "hash", r#"{"text": "x"}"#).await.starts_with("denied"));
    assert!(UserPolicy::read(&folder.path("none.toml")).unwrap().is_none());
}
