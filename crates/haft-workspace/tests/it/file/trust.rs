//! Files that are not trusted are loaded without what could do harm.

use haft_executor::{Cx, RunOptions};
use haft_registry::{Building, Built, Entry, ImplementationKind, Kinds, Reach, Recipient, Secrets, Yields};
use haft_workspace::{LoadOptions, Loaded, LoadedEntry, Privilege, Trust, TrustStatus, load};
use serde_json::{Value, json};

use super::{Folder, answer, options, symlink, tool_names};

const TEXT: &str = "
[workspace]
standard = { files = '..' }
[secrets]
token = { env = 'CARGO_PKG_NAME' }
[http]
allow-hosts = ['localhost']
[toolbox.sh.tool.ls]
kind = 'program'
run = ['ls']
[toolbox.sh.tool.hello]
kind = 'constant'
text = 'hello'
";

fn recorded(folder: &Folder) -> LoadOptions {
    options().trust(Trust::Recorded(folder.store()))
}

async fn loaded(folder: &Folder) -> Loaded {
    load(folder.file(), &recorded(folder)).await.unwrap()
}

fn assert_harmless(loaded: &Loaded) {
    assert_eq!(tool_names(loaded), ["sh/hello"]);
    assert!(loaded.secrets.get("token").unwrap_err().to_string().contains("is not trusted; review the file"));
    assert!(loaded.http.allow_hosts.is_empty());
    assert_eq!(loaded.standard.as_ref().unwrap().files, None);
}

fn assert_whole(loaded: &Loaded) {
    assert_eq!(tool_names(loaded), ["sh/ls", "sh/hello"]);
    assert_eq!(loaded.secrets.get("token").unwrap().expose(), env!("CARGO_PKG_NAME"));
    assert_eq!(loaded.http.allow_hosts, ["localhost"]);
    assert!(loaded.standard.as_ref().unwrap().files.is_some());
}

#[tokio::test]
async fn unknown_trusted_changed_revoked() {
    let folder = Folder::with(TEXT);
    folder.write("token", "t");
    let store = folder.store();
    let unknown = loaded(&folder).await;
    assert_eq!((unknown.trust, store.status(folder.file()).unwrap()), (TrustStatus::Unknown, TrustStatus::Unknown));
    assert_harmless(&unknown);
    assert_eq!(
        folder.remarks(&unknown),
        [
            "haft.toml:3:14: workspace.standard.files: left out: files outside of this folder require that this file is \
             trusted",
            "haft.toml:4:2: secrets: withheld: secrets require that this file is trusted",
            "haft.toml:6:2: http: left out: hosts that are not public require that this file is trusted",
            "haft.toml:8:18: toolbox.sh.tool.ls: left out: starting commands requires that this file is trusted",
        ],
    );

    store.trust(&unknown).unwrap();
    assert_eq!(store.status(folder.file()).unwrap(), TrustStatus::Trusted);
    let trusted = loaded(&folder).await;
    assert_eq!(trusted.trust, TrustStatus::Trusted);
    assert_whole(&trusted);
    assert!(trusted.remarks.is_empty());

    folder.write("haft.toml", TEXT.replace("'ls']", "'rm']"));
    assert_eq!(store.status(folder.file()).unwrap(), TrustStatus::Changed);
    let changed = loaded(&folder).await;
    assert_eq!(changed.trust, TrustStatus::Changed);
    assert_harmless(&changed);

    folder.write("haft.toml", TEXT);
    assert_whole(&loaded(&folder).await);
    assert!(store.revoke(folder.file()).unwrap());
    assert!(!store.revoke(folder.file()).unwrap());
    assert_harmless(&loaded(&folder).await);
}

#[tokio::test]
async fn what_was_loaded_is_trusted_and_not_what_the_file_is_by_then() {
    let folder = Folder::with(TEXT);
    let reviewed = loaded(&folder).await;
    folder.write("haft.toml", TEXT.replace("'ls']", "'rm']"));
    folder.store().trust(&reviewed).unwrap();
    assert_eq!(folder.store().status(folder.file()).unwrap(), TrustStatus::Changed);
    assert_harmless(&loaded(&folder).await);
}

#[tokio::test]
async fn a_file_that_an_import_reads_counts() {
    let folder = Folder::with(format!("{TEXT}\n[toolbox.api.import.x]\nkind = 'lines'\nfile = 'api.txt'\n"));
    folder.write("api.txt", "get\n");
    folder.write("token", "t");
    folder.store().trust(&loaded(&folder).await).unwrap();
    let trusted = loaded(&folder).await;
    assert_eq!((trusted.trust, tool_names(&trusted).len()), (TrustStatus::Trusted, 3));

    folder.write("api.txt", "get\nevil\n");
    assert_eq!(folder.store().status(folder.file()).unwrap(), TrustStatus::Changed);
    let changed = loaded(&folder).await;
    assert_eq!(changed.trust, TrustStatus::Changed);
    assert_eq!(tool_names(&changed), ["sh/hello", "api/get", "api/evil"]);
    assert!(changed.secrets.get("token").is_err());
}

#[tokio::test]
async fn moved_and_copied_files_are_unknown() {
    let folder = Folder::with(TEXT);
    folder.store().trust(&loaded(&folder).await).unwrap();
    folder.write("copy/haft.toml", TEXT);
    let copy = load(folder.path("copy/haft.toml"), &recorded(&folder)).await.unwrap();
    assert_eq!(copy.trust, TrustStatus::Unknown);
    std::fs::rename(folder.file(), folder.path("moved.toml")).unwrap();
    let moved = load(folder.path("moved.toml"), &recorded(&folder)).await.unwrap();
    assert_eq!(moved.trust, TrustStatus::Unknown);
    assert!(folder.store().revoke(folder.file()).unwrap(), "the trust in a file that is gone can be revoked");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_does_not_choose_the_folder_of_a_trusted_file() {
    let folder = Folder::with(TEXT);
    folder.store().trust(&loaded(&folder).await).unwrap();
    let hostile = Folder::new();
    symlink(&folder.file(), &hostile.file());
    let linked = load(hostile.file(), &recorded(&folder)).await.unwrap();
    assert_eq!(linked.trust, TrustStatus::Trusted);
    let registry = linked.registry().unwrap().build().unwrap();
    let started_in = answer(&registry, "sh/ls").await;
    assert_eq!(started_in, folder.path("").display().to_string().trim_end_matches('/'));
    assert!(linked.watched.contains(&hostile.file()) && linked.watched.contains(&folder.file()));

    // A link that is trusted and then points elsewhere is another file.
    std::fs::remove_file(hostile.file()).unwrap();
    hostile.write("other.toml", TEXT);
    symlink(&hostile.path("other.toml"), &hostile.file());
    assert_eq!(load(hostile.file(), &recorded(&folder)).await.unwrap().trust, TrustStatus::Unknown);
}

#[cfg(unix)]
#[tokio::test]
async fn records_are_private_and_broken_ones_grant_nothing() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::with(TEXT);
    folder.store().trust(&loaded(&folder).await).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path("trust")), 0o700);
    let records: Vec<_> = std::fs::read_dir(folder.path("trust")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(records.len(), 1, "no temporary file is left: {records:?}");
    assert_eq!(mode(&records[0]), 0o600);

    let good = std::fs::read_to_string(&records[0]).unwrap();
    for broken in [
        String::new(),
        "{}".to_owned(),
        good.replace("\"version\":3", "\"version\":1"),
        good.replace("\"version\":3", "\"version\":4"),
        good[..good.len() - 2].to_owned(),
        good.replace("/haft.toml", "/other.toml"),
    ] {
        std::fs::write(&records[0], &broken).unwrap();
        assert_eq!(folder.store().status(folder.file()).unwrap(), TrustStatus::Unknown, "{broken}");
        assert_harmless(&loaded(&folder).await);
    }
}

#[tokio::test]
async fn nothing_is_trusted_by_default_and_missing_files_are_errors() {
    let folder = Folder::with(TEXT);
    assert_harmless(&load(folder.file(), &options()).await.unwrap());
    let missing = folder.path("missing.toml");
    assert!(folder.store().status(&missing).unwrap_err().to_string().contains("can't be found"));
    assert!(!folder.store().revoke(&missing).unwrap());
}

#[tokio::test]
async fn tools_without_their_folder_are_left_out_of_a_choice() {
    let folder = Folder::with("workspace.standard = { files = '..', only = ['file_read', 'hash'] }");
    let untrusted = loaded(&folder).await;
    let registry = untrusted.registry().unwrap().build().unwrap();
    assert!(registry.find("hash").is_ok() && registry.find("file_read").is_err());
    folder.store().trust(&untrusted).unwrap();
    assert!(loaded(&folder).await.registry().unwrap().build().unwrap().find("file_read").is_ok());
}

#[tokio::test]
async fn an_untrusted_export_takes_over_no_standard_tool() {
    let tool = |name: &str| format!("[toolbox.a.tool.{name}]\nkind = 'constant'\ntext = 'x'\nexport = true\n");
    let tools: String = ["calculate", "Fetch", "file_read", "own"].into_iter().map(tool).collect();
    for standard in ["", "workspace.standard = false\n"] {
        let folder = Folder::with(format!("{standard}{tools}"));
        let untrusted = loaded(&folder).await;
        let toolbox = untrusted.workspace.toolbox("a").unwrap();
        assert_eq!(
            ["calculate", "Fetch", "file_read", "own"].map(|name| toolbox.exports(name)),
            [false, false, false, true]
        );
        let remarks = folder.remarks(&untrusted);
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert!(remarks[0].contains("toolbox.a.tool.calculate.export: `calculate` is not exported"), "{remarks:?}");
        folder.store().trust(&untrusted).unwrap();
        assert!(loaded(&folder).await.workspace.toolbox("a").unwrap().exports("calculate"));
    }
}

#[tokio::test]
async fn fetching_requires_trust() {
    let folder = Folder::with("workspace.standard = { fetch = true, only = ['fetch', 'hash'] }");
    let untrusted = loaded(&folder).await;
    let registry = untrusted.registry().unwrap().build().unwrap();
    assert!(registry.find("hash").is_ok() && registry.find("fetch").is_err());
    let remarks = folder.remarks(&untrusted);
    assert!(remarks[0].contains("workspace.standard.fetch: left out"), "{remarks:?}");
    folder.store().trust(&untrusted).unwrap();
    assert!(loaded(&folder).await.registry().unwrap().build().unwrap().find("fetch").is_ok());
}

#[tokio::test]
async fn files_of_secrets_are_not_readable_by_tools() {
    let text = |files: &str, secret: &str| {
        format!("workspace.standard = {{ files = '{files}' }}\n[secrets]\napi = {{ file = '{secret}' }}\n")
    };
    let folder = Folder::new();
    folder.write("secrets/token", "hunter2");
    folder.write("data/x", "");
    symlink(&folder.path("data/x"), &folder.path("link"));
    for (files, secret, is_readable) in [
        (".", "secrets/token", true),
        ("secrets", "secrets/token", true),
        (".", "missing", true),
        (".", "missing/missing", true),
        ("data", "link", true),
        ("data", "../missing", false),
        ("data", "secrets/token", false),
        ("data", "data/../secrets/token", false),
        ("data", "data-2/missing", false),
    ] {
        folder.write("haft.toml", text(files, secret));
        for trust in [Trust::Always, Trust::Never] {
            let outcome = folder.load_with(trust).await;
            assert_eq!(outcome.is_err(), is_readable, "{files} {secret}");
            if let Err(error) = outcome {
                let shown = folder.shown(&error);
                assert!(
                    shown.starts_with("haft.toml:3:7: secrets.api: the file of the secret `api` is below"),
                    "{shown}"
                );
                assert!(!shown.contains("hunter2"));
            }
        }
    }
}

#[tokio::test]
async fn files_inside_of_the_folder_need_no_trust() {
    let folder = Folder::with("workspace.standard = { files = 'data' }");
    folder.write("data/x", "");
    let loaded = loaded(&folder).await;
    assert_eq!(loaded.standard.unwrap().files, Some(folder.path("data")));
}

/// A tool that reads a secret, which stays in the program.
struct Reader;

impl ImplementationKind for Reader {
    fn name(&self) -> &'static str {
        "reader"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        json!({"type": "object", "properties": {"secret": {"type": "string"}}, "required": ["secret"]})
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let name = entry.settings["secret"].as_str().unwrap().to_owned();
            let builder = entry.builder(json!({"type": "object"})).depends_on::<Secrets>();
            let tool = builder.handler(move |_: Value, cx: Cx| {
                let secret = cx.service::<Secrets>().unwrap().get(&name);
                std::future::ready(secret.map_or_else(|error| error.to_string(), |secret| secret.expose().to_owned()))
            })?;
            let secret = entry.settings["secret"].as_str().unwrap().to_owned();
            Ok(Built::tool(tool, Reach::nothing().with(Recipient::Program, [secret])))
        })
    }
}

#[tokio::test]
async fn secrets_of_the_program_are_withheld_too() {
    let folder = Folder::with("[toolbox.x.tool.read]\nkind = 'reader'\nsecret = 'github'\n");
    let options = || LoadOptions::new(Kinds::empty().with(Reader).unwrap()).unwrap();
    let secrets = || Secrets::new().value("github", "ghp-1");
    for trust in [Trust::Always, Trust::Never] {
        let is_trusted = matches!(trust, Trust::Always);
        let loaded = load(folder.file(), &options().trust(trust)).await.unwrap();
        let registry = || loaded.registry().unwrap().build().unwrap();
        let of_executor = loaded.executor().secrets(secrets()).build(registry());
        let of_run = loaded.executor().options(RunOptions::new().service(secrets())).build(registry());
        for executor in [of_executor, of_run] {
            let read = executor.run_as::<String>("x/read", json!({})).await;
            assert_eq!(read.ok(), is_trusted.then(|| "ghp-1".to_owned()));
        }
    }
}

/// Loads a file with entries of the built-in kinds.
async fn built_in(folder: &Folder, trust: Trust) -> Loaded {
    load(folder.file(), &LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)).await.unwrap()
}

#[tokio::test]
async fn privileges_are_the_same_with_and_without_trust() {
    let folder = Folder::with(
        "[workspace]\nstandard = { fetch = true, files = '..' }\n\n[secrets]\nkey = { env = 'KEY' }\n\n\
         [http]\nallow-hosts = ['localhost:1']\nallow-nets = ['10.0.0.0/8']\n\n\
         [toolbox.a.tool.hash]\nkind = 'command'\ncommand = ['true']\nexport = true\n\n\
         [toolbox.a.tool.encode]\nkind = 'http'\nurl = 'https://a.example'\nexport = true\n",
    );
    let shown = |loaded: &Loaded| -> Vec<String> {
        let text = |privilege: &Privilege| {
            let line = privilege.position.unwrap().line;
            let kind = format!("{:?}", privilege.kind);
            let kind = kind.split([' ', '{']).next().unwrap_or_default().trim_end_matches(')');
            let folder = format!("{:?}", folder.path("").parent().unwrap());
            format!("{line} {} {}", privilege.key, kind.replace(&folder, "\"..\""))
        };
        loaded.privileges.iter().map(text).collect()
    };
    let untrusted = shown(&built_in(&folder, Trust::Never).await);
    assert_eq!(untrusted, shown(&built_in(&folder, Trust::Always).await));
    let expected = [
        "2 workspace.standard.fetch Fetch",
        "2 workspace.standard.files Reach(Files(\"..\"",
        "5 secrets.key Secret",
        "8 http.allow-hosts[0] PrivateHost(\"localhost:1\"",
        "9 http.allow-nets[0] PrivateNetwork(\"10.0.0.0/8\"",
        "11 toolbox.a.tool.hash Reach(Command(StartedCommand",
        "14 toolbox.a.tool.hash.export Replacement",
        "16 toolbox.a.tool.encode Reach(Host(\"https://a.example\"",
        "19 toolbox.a.tool.encode.export Replacement",
    ];
    assert_eq!(untrusted, expected);
}

#[tokio::test]
async fn entries_are_listed_with_their_places_and_tools() {
    let folder = Folder::with(
        "[secrets]\nkey = { env = 'KEY' }\n\n[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['true']\n\n\
         [toolbox.a.tool.get]\nkind = 'http'\nurl = 'https://a.example'\nauth = { bearer = 'key' }\n",
    );
    let shown = |loaded: &Loaded| -> Vec<String> {
        let text = |entry: &LoadedEntry| {
            let tools: Vec<String> = entry.tools.iter().map(ToString::to_string).collect();
            let (line, left_out) = (entry.position.unwrap().line, entry.is_left_out);
            format!("{line} {} {} {tools:?} {:?} {left_out}", entry.key, entry.kind, entry.reach.secret_names())
        };
        loaded.entries.iter().map(text).collect()
    };
    let run = r#"4 toolbox.a.tool.run command ["a/run"] {} "#;
    let get = r#"8 toolbox.a.tool.get http ["a/get"] {"key"} "#;
    assert_eq!(shown(&built_in(&folder, Trust::Never).await), [format!("{run}true"), format!("{get}true")]);
    assert_eq!(shown(&built_in(&folder, Trust::Always).await), [format!("{run}false"), format!("{get}false")]);
}
