//! Paths, URLs and hosts in declared tools, and denied files: every rule sees one spelling.

use haft_core::FailureKind;
use haft_workspace::{LoadOptions, Trust, load};
use serde_json::{Value, json};

use super::Folder;

/// Returns the value of a call, or its failure.
async fn called(folder: &Folder, trust: Trust, tool: &str, arguments: Value) -> Result<Value, (FailureKind, String)> {
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust);
    let loaded = load(folder.file(), &options).await.unwrap();
    let executor = loaded.executor().build(loaded.registry().unwrap().build().unwrap());
    executor.run(tool, arguments).await.map_err(|error| (error.kind().clone(), error.to_string()))
}

const TOOLS: &str = r#"
[permissions]
allow = ["*", "**"]
deny = [
    { tools = "dev/show", when = "args.file == 'secret.txt'" },
    { tools = "dev/get", when = "args.urls.exists(url, url.startsWith('https://internal/'))" },
    { tools = "dev/ping", when = "args.host == 'internal'" },
]

[toolbox.dev.tool.show]
kind = "command"
command = ["cat", "--", "{file}"]
folder = "work"
resources = { file = "path" }

[toolbox.dev.tool.get]
kind = "command"
command = ["echo", "{urls:json}"]
parameters = { properties.urls = { type = "array", items = { type = "string" } }, required = ["urls"] }
resources = { "/urls" = "url" }

[toolbox.dev.tool.ping]
kind = "command"
command = ["echo", "{host}"]
resources = { host = "host" }
"#;

#[cfg(unix)]
#[tokio::test]
async fn declared_resources_have_one_spelling() {
    let folder = Folder::with(TOOLS);
    folder.write("work/secret.txt", "secret");
    folder.write("work/pub/open.txt", "open");
    folder.write("outside.txt", "outside");
    super::symlink("../secret.txt".as_ref(), &folder.path("work/pub/link"));
    let denied = |name: &str, key: &str, value: Value| {
        let (folder, arguments) = (&folder, json!({ key: value }));
        let name = name.to_owned();
        async move { called(folder, Trust::Always, &name, arguments).await.map_err(|(kind, _)| kind) }
    };
    for file in ["secret.txt", "./secret.txt", "secret.txt/", "pub/../secret.txt", "pub//link", "missing/../secret.txt"]
    {
        assert_eq!(denied("dev/show", "file", json!(file)).await, Err(FailureKind::PermissionDenied), "{file}");
    }
    for file in ["../outside.txt", "/etc/passwd", "pub/../../outside.txt"] {
        assert_eq!(denied("dev/show", "file", json!(file)).await, Err(FailureKind::InputValidationError), "{file}");
    }
    assert_eq!(denied("dev/show", "file", json!("./pub/open.txt")).await, Ok(json!("open")));
    for url in ["https://internal/", "HTTPS://INTERNAL", "https://internal.:443/x", "https:/\\internal/y"] {
        let urls = json!(["https://example.com/", url]);
        assert_eq!(denied("dev/get", "urls", urls).await, Err(FailureKind::PermissionDenied), "{url}");
    }
    let echoed = denied("dev/get", "urls", json!(["https://a.example:443/%7Eb"])).await.unwrap();
    assert_eq!(echoed, json!(r#"["https://a.example/~b"]"#));
    for host in ["internal", "INTERNAL", "internal.", "\u{ff49}nternal"] {
        assert_eq!(denied("dev/ping", "host", json!(host)).await, Err(FailureKind::PermissionDenied), "{host}");
    }
    for host in ["a b", "a/b", "u@a", "a:80", ""] {
        assert_eq!(denied("dev/ping", "host", json!(host)).await, Err(FailureKind::InputValidationError), "{host}");
    }
}

/// Denied files hold for trusted and untrusted files, and an organisation can deny more.
#[tokio::test]
async fn files_of_all_workspaces_are_denied() {
    let folder = Folder::with("[workspace]\norgs = ['acme']\nstandard = { files = '.' }\n[files]\ndeny = ['*.env']\n");
    folder.write("acme/haft.toml", "[workspace]\norg = 'acme'\n[files]\ndeny = ['acme']\n");
    folder.write("local.env", "TOKEN=1");
    folder.write("notes.txt", "TOKEN is elsewhere");
    for trust in [Trust::Always, Trust::Never] {
        for path in ["local.env", "local.env/.", "acme/haft.toml", "./acme//"] {
            let (_, message) = called(&folder, trust.clone(), "file_read", json!({"path": path})).await.unwrap_err();
            assert!(message.contains("denied"), "{path}: {message}");
        }
        let found =
            called(&folder, trust.clone(), "file_search", json!({"pattern": "TOKEN", "name": "*"})).await.unwrap();
        let found: Vec<&Value> = found["matches"].as_array().unwrap().iter().map(|found| &found["path"]).collect();
        assert_eq!(found, [&json!("notes.txt")]);
        let found = called(&folder, trust.clone(), "file_list", json!({"depth": 9})).await.unwrap();
        let found: Vec<&Value> = found["entries"].as_array().unwrap().iter().map(|found| &found["path"]).collect();
        assert_eq!(found, [&json!("haft.toml"), &json!("notes.txt")]);
    }
}
