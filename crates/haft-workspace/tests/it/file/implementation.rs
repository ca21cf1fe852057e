//! The definition of a tool from a file, which approvals are bound to.

use haft_workspace::{LoadOptions, Loaded, Trust, load};

const DOCUMENT: &str = "openapi: 3.1.0\ninfo: { title: Shop, version: '1' }\nservers: [{ url: 'https://shop.example' }]\n\
    paths:\n  /orders:\n    get: { operationId: orders, responses: { '200': { description: ok } } }\n";

async fn loaded(text: &str, document: &str) -> Loaded {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("shop.yaml"), document).unwrap();
    load(&path, &LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always)).await.unwrap()
}

/// Returns the digest for a call to the only tool, which an approval request is bound to.
async fn digest(text: &str, document: &str) -> String {
    let registry = loaded(&format!("workspace.standard = false\n{text}"), document).await.registry().unwrap();
    let registry = registry.build().unwrap();
    let tools = registry.list();
    let [tool] = tools.as_slice() else { panic!("{tools:?}") };
    tool.tool.approval_digest(&serde_json::json!({}))
}

#[tokio::test]
async fn a_tool_that_does_something_else_has_another_definition() {
    let command =
        |argument: &str| format!("[toolbox.x.tool.deploy]\nkind = 'command'\ncommand = ['echo', '{argument}']\n");
    let http = |path: &str| format!("[toolbox.x.tool.order]\nkind = 'http'\nurl = 'https://shop.example/{path}'\n");
    let import = "[toolbox.x.import.shop]\nkind = 'openapi'\nfile = 'shop.yaml'\n";
    let cases = [
        ((command("staging"), DOCUMENT.to_owned()), (command("production"), DOCUMENT.to_owned())),
        ((http("orders"), DOCUMENT.to_owned()), (http("wire-transfer"), DOCUMENT.to_owned())),
        (
            (import.to_owned(), DOCUMENT.to_owned()),
            (import.to_owned(), DOCUMENT.replace("shop.example", "evil.example")),
        ),
    ];
    for ((before, old), (after, new)) in cases {
        let first = digest(&before, &old).await;
        assert_eq!(first, digest(&format!("# a remark\n{before}"), &old).await, "{before}");
        assert_ne!(first, digest(&after, &new).await, "{after}");
    }
}
