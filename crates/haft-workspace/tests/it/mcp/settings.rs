//! The settings of the kind `mcp`: each fault of each key, with its exact message.

use haft_tools::mcp::McpKind;
use haft_workspace::{LoadOptions, Trust, load};

/// Loads an entry with these settings, and returns its faults.
async fn faults(settings: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.toml");
    std::fs::write(&path, format!("[toolbox.a.import.s]\nkind = 'mcp'\n{settings}\n")).unwrap();
    let kinds = haft_tools::kinds().replace(McpKind::new().state_folder(folder.path().join("state")));
    let options = LoadOptions::new(kinds).unwrap().trust(Trust::Always);
    let faults = match load(&path, &options).await {
        Ok(loaded) => loaded.set_aside.iter().flat_map(|entry| entry.faults.clone()).collect(),
        Err(error) => error.faults,
    };
    let faults: Vec<String> = faults.iter().map(|fault| format!("  {}", fault.in_file("haft.toml"))).collect();
    let faults = if faults.is_empty() { "  none".to_owned() } else { faults.join("\n") };
    format!("{}\n{faults}", settings.replace('\n', "; "))
}

async fn all(texts: &[&str]) -> String {
    let mut all = Vec::new();
    for text in texts {
        all.push(faults(text).await);
    }
    all.join("\n")
}

#[tokio::test]
async fn ways_to_a_server() {
    insta::assert_snapshot!(
        all(&[
            "",
            "command = ['a']\nurl = 'https://a.example/mcp'",
            "command = []",
            "command = ['']",
            "command = ['a', \"b\\u0000\"]",
            "command = 'npx -y server'",
            "command = ['a', 3]",
            "url = 7",
            "url = 'mcp.example.com'",
            "url = 'ftp://mcp.example.com'",
            "url = 'https://user:pass@mcp.example.com/mcp'",
            "url = 'https://{host}/mcp'",
            "url = ''",
            "comand = ['a']",
        ])
        .await
    );
}

#[tokio::test]
async fn variables_and_folders() {
    insta::assert_snapshot!(
        all(&[
            "command = ['a']\nenv = { 'A=B' = 'c' }",
            "command = ['a']\nenv = { '' = 'c' }",
            "command = ['a']\nenv = { A = \"b\\u0000\" }",
            "command = ['a']\nenv = { A = 3 }",
            "command = ['a']\nenv = ['A=b']",
            "command = ['a']\nenv = { A = 'b' }\nsecret-env = { A = 'key' }",
            "command = ['a']\nsecret-env = { A = '' }",
            "command = ['a']\nfolder = 3",
            "url = 'https://a.example/mcp'\nenv = { A = 'b' }\nsecret-env = { B = 'key' }\nfolder = 'x'",
        ])
        .await
    );
}

#[tokio::test]
async fn authentication() {
    let url = "url = 'https://a.example/mcp'\n";
    let texts = [
        "auth = 'oauth2'",
        "auth = 3",
        "auth = { bearer = '' }",
        "auth = { bearer = 'a', basic = 'b' }",
        "auth = { basic = { user = 'a:b', password = 'c' } }",
        "auth = { header = { name = 'x y', secret = 'c' } }",
        "auth = { header = [{ name = 'x-a', secret = 'c' }, { name = 'X-A', secret = 'd' }] }",
        "auth = { bearer = 'a', header = { name = 'authorization', secret = 'c' } }",
        "auth = { query = { name = 'key', secret = 'c' } }",
        "auth = { oauth = {}, bearer = 'a' }",
        "auth = { oauth = { scopes = ['a b'], client-secret = 's', client-metadata-url = 'http://a' } }",
        "auth = { oauth = { client-id = '', client-secret = '' } }",
        "auth = { oauth = { scope = 'a' } }",
        "headers = { a = 3 }",
        "headers = { 'a b' = 'c' }",
        "headers = { authorization = 'Bearer x', Cookie = 'a=b', content-type = 'text/plain', x = 'ü' }",
        "headers = { x-a = 'b' }\nauth = { header = { name = 'X-A', secret = 'c' } }",
        "auth = 'oauth'",
        "auth = { oauth = { scopes = ['a'], client-id = 'b', client-secret = 'c' } }",
        "auth = { bearer = 'a', header = [{ name = 'x-a', secret = 'c' }, { name = 'x-b', secret = 'd', prefix = 'Key ' }] }",
    ];
    let texts: Vec<String> = texts.iter().map(|text| format!("{url}{text}")).collect();
    let mut texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    texts.push("command = ['a']\nauth = 'oauth'\nheaders = { a = 'b' }");
    insta::assert_snapshot!(all(&texts).await);
}

#[tokio::test]
async fn protocol_and_limits() {
    let texts = [
        "era = 'old'",
        "era = true",
        "result = 'json'",
        "start-timeout = 0",
        "start-timeout = -1",
        "start-timeout = 3601",
        "start-timeout = '10s'",
        "answer-timeout = 0",
        "answer-timeout = 1e9",
        "restarts = -1",
        "restarts = 10001",
        "restarts = 1.5",
        "timeout = 0",
        "max-output = 0",
        "concurrency = 0",
        "restarts = 0\nera = 'legacy'\nresult = 'both'\nstart-timeout = 0.5\nanswer-timeout = 1",
    ];
    let texts: Vec<String> = texts.iter().map(|text| format!("command = ['a']\n{text}")).collect();
    insta::assert_snapshot!(all(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await);
}

#[tokio::test]
async fn choices_of_tools() {
    let texts = [
        "tools = 'a_*'",
        "tools = [3]",
        "exclude-tools = {}",
        "rename = { a = 3 }",
        "rename = ['a']",
        "hints = { a = true }",
        "hints = { a = { readonly = 'yes' } }",
        "hints = { a = { safe = true } }",
        "resources = { path = 'file' }",
        "approval = 'sometimes'",
        "export = 'yes'",
    ];
    let texts: Vec<String> = texts.iter().map(|text| format!("command = ['a']\n{text}")).collect();
    insta::assert_snapshot!(all(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await);
}

#[tokio::test]
async fn logins_require_a_folder_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.toml");
    std::fs::write(&path, "[toolbox.a.import.s]\nkind = 'mcp'\nurl = 'https://a.example/mcp'\nauth = 'oauth'\n")
        .unwrap();
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
    let loaded = load(&path, &options).await.unwrap();
    let message = &loaded.set_aside[0].faults[0].message;
    assert_eq!(message, "this program has no folder for logins; use a secret instead");
}
