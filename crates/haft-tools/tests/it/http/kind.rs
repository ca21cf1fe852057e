//! The kind `http`: its settings, defaults and hints.

use haft_core::Annotations;
use haft_registry::{Entry, ImplementationKind, Kinds, Yields};
use haft_tools::http::HttpKind;
use serde_json::json;

use super::server::Server;
use super::{call, entry, of_entry, of_kind};

#[test]
fn the_schema_of_the_settings_is_documented() {
    let kind = HttpKind::new();
    assert_eq!((kind.name(), kind.yields()), ("http", Yields::OneTool));
    assert!(Kinds::empty().with(kind.clone()).unwrap().get("http").is_some());
    insta::assert_json_snapshot!("http_settings", kind.settings_schema());
}

#[tokio::test]
async fn the_arguments_follow_from_the_mapping() {
    let tool = of_kind(json!({
        "url": "https://a.example/{owner}/x?ref={branch}", "query": {"q": "{text}"}, "headers": {"accept": "x"},
        "body": {"argument": "doc"},
    }))
    .await
    .unwrap();
    let text = json!({"type": "string"});
    assert_eq!(
        *tool.parameters().as_json(),
        json!({
            "type": "object",
            "properties": {"owner": text, "branch": text, "text": text, "doc": {}},
            "required": ["owner", "branch"],
            "additionalProperties": false,
        })
    );
}

#[tokio::test]
async fn hints_follow_from_the_method_unless_they_are_set() {
    let hints = |annotations: &Annotations| {
        (annotations.readonly(), annotations.idempotent(), annotations.may_destroy(), annotations.open_world())
    };
    for (method, expected) in [
        ("GET", (true, true, false, true)),
        ("HEAD", (true, true, false, true)),
        ("OPTIONS", (true, true, false, true)),
        ("PUT", (false, true, true, true)),
        ("DELETE", (false, true, true, true)),
        ("POST", (false, false, true, true)),
        ("PATCH", (false, false, true, true)),
    ] {
        let settings = json!({"url": "https://a.example/", "method": method});
        let tool = of_kind(settings.clone()).await.unwrap();
        assert_eq!(hints(tool.annotations()), expected, "{method}");

        let mut set = Entry::new("t", settings);
        set.tool.readonly = Some(!expected.0);
        set.tool.idempotent = Some(!expected.1);
        set.tool.destructive = Some(false);
        set.tool.open_world = Some(false);
        let tool = of_entry(set).await.unwrap();
        assert_eq!(hints(tool.annotations()), (!expected.0, !expected.1, false, false), "{method}");
    }
}

#[tokio::test]
async fn an_example_entry_works_as_written() {
    let server = Server::start(|_, _| super::server::json_answer(200, &json!({"items": [{"id": 1}]}))).await;
    let settings = json!({
        "url": server.url("/repos/{owner}/issues"),
        "query": {"q": "{text}", "per_page": 50, "all": true, "raw": {"value": "{x}"},
                  "labels": {"argument": "labels", "style": "comma"}},
        "headers": {"accept": "application/json"},
        "auth": {"bearer": "key"},
        "result": {"pointer": "/items"},
    });
    let properties = json!({"owner": {}, "text": {}, "labels": {"type": "array"}, "page": {"type": "integer"}});
    let mut entry = entry(&properties, &["owner"]);
    entry.settings = settings;
    let tool = of_entry(entry).await.unwrap();
    let arguments = json!({"owner": "rust-lang", "text": "a b", "labels": ["x", "y"], "page": 2});
    assert_eq!(call(&tool, arguments).await.unwrap(), json!([{"id": 1}]));
    let received = server.one();
    assert_eq!((received.method.as_str(), received.path.as_str()), ("GET", "/repos/rust-lang/issues"));
    assert_eq!(received.query, "all=true&per_page=50&raw=%7Bx%7D&labels=x,y&q=a%20b&page=2");
    assert_eq!(received.header("accept"), "application/json");
}

#[tokio::test]
async fn a_body_makes_the_method_post() {
    let server = Server::echo().await;
    let tool = of_kind(json!({"url": server.url("/"), "body": {"format": "form"}})).await.unwrap();
    call(&tool, json!({})).await.unwrap();
    let received = server.one();
    assert_eq!((received.method.as_str(), received.body.as_str()), ("POST", ""));
    assert_eq!(received.header("content-type"), "application/x-www-form-urlencoded");
}

#[tokio::test]
async fn the_result_is_checked_by_the_schema_of_the_entry() {
    let server = Server::start(|_, _| super::server::json_answer(200, &json!("text"))).await;
    let mut entry = Entry::new("t", json!({"url": server.url("/")}));
    entry.tool.output = Some(json!({"type": "integer"}));
    let failure = call(&of_entry(entry).await.unwrap(), json!({})).await.unwrap_err();
    assert_eq!(failure.kind, haft_core::FailureKind::OutputValidationError);
}
