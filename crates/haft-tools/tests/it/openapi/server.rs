//! Servers.

use haft_tools::openapi::{ImportOptions, OpenApi};
use serde_json::{Value, json};

use super::codes;

fn url(root: Value, item: Value, operation: Value, options: &ImportOptions) -> Result<String, &'static str> {
    let mut value = json!({"openapi": "3.0.0", "paths": {"/x": item}});
    value["paths"]["/x"]["get"] = operation;
    if !root.is_null() {
        value["servers"] = root;
    }
    let imported = OpenApi::from_value(value).unwrap().import(options);
    match codes(&imported)[..] {
        [] => Ok(imported.operations[0].request.url().to_string()),
        [(_, code)] => Err(code),
        _ => panic!("{:?}", imported.skipped),
    }
}

#[test]
fn urls_are_absolute_or_resolved_by_the_location() {
    let located = ImportOptions::new().location("https://docs.example/api/openapi.json?x#y");
    let nowhere = ImportOptions::new();
    for (server, without, with) in [
        ("https://a.example", Ok("https://a.example/x"), Ok("https://a.example/x")),
        ("https://a.example/v1/", Ok("https://a.example/v1/x"), Ok("https://a.example/v1/x")),
        ("HTTPS://a.example", Ok("https://a.example/x"), Ok("https://a.example/x")),
        ("http://a.example:81", Ok("http://a.example:81/x"), Ok("http://a.example:81/x")),
        ("//a.example/v1", Ok("https://a.example/v1/x"), Ok("https://a.example/v1/x")),
        ("/", Err("no_server"), Ok("https://docs.example/x")),
        ("/v2", Err("no_server"), Ok("https://docs.example/v2/x")),
        ("v2", Err("no_server"), Ok("https://docs.example/api/v2/x")),
        ("./v2", Err("no_server"), Ok("https://docs.example/api/v2/x")),
        ("", Err("no_server"), Ok("https://docs.example/api/x")),
        ("../v2", Err("no_server"), Err("no_server")),
        ("file:///etc", Err("no_server"), Err("no_server")),
        ("ftp://a.example", Err("no_server"), Err("no_server")),
        ("javascript:alert(1)", Err("no_server"), Err("no_server")),
        ("https://a.example?key=1", Err("no_server"), Err("no_server")),
        ("https://{host}", Err("no_server"), Err("no_server")),
        ("https://a.example/{", Err("no_server"), Err("no_server")),
        ("https://user:pass@a.example", Err("invalid_tool"), Err("invalid_tool")),
        ("https://", Err("invalid_tool"), Err("invalid_tool")),
    ] {
        let servers = json!([{"url": server}]);
        assert_eq!(url(servers.clone(), json!({}), json!({}), &nowhere).as_deref(), without.as_deref(), "{server}");
        assert_eq!(url(servers, json!({}), json!({}), &located).as_deref(), with.as_deref(), "{server}");
    }
    assert_eq!(url(Value::Null, json!({}), json!({}), &nowhere), Err("no_server"));
    assert_eq!(url(json!([]), json!({}), json!({}), &located).unwrap(), "https://docs.example/x");
}

#[test]
fn the_nearest_servers_win_and_a_base_url_replaces_all() {
    let server = |host: &str| json!([{"url": format!("https://{host}")}]);
    let (root, item) = (server("root"), json!({"servers": server("item")}));
    let operation = json!({"servers": server("operation")});
    let options = ImportOptions::new();
    assert_eq!(url(root.clone(), item.clone(), operation.clone(), &options).unwrap(), "https://operation/x");
    assert_eq!(url(root.clone(), item.clone(), json!({}), &options).unwrap(), "https://item/x");
    assert_eq!(url(root.clone(), json!({}), json!({}), &options).unwrap(), "https://root/x");
    let options = options.base_url("https://mine/base/");
    assert_eq!(url(root.clone(), item.clone(), operation.clone(), &options).unwrap(), "https://mine/base/x");
    // Paths can't be appended to them.
    for base in ["https://mine?key=1", "https://mine/#a", "https://{host}"] {
        let options = ImportOptions::new().base_url(base);
        assert_eq!(url(root.clone(), item.clone(), operation.clone(), &options), Err("no_server"), "{base}");
    }
}

#[test]
fn encrypted_servers_come_first_and_unusable_ones_last() {
    let servers = json!([{"url": "/relative"}, {"url": "http://plain"}, {}, {"url": "https://secure"}]);
    assert_eq!(url(servers, json!({}), json!({}), &ImportOptions::new()).unwrap(), "https://secure/x");
    let servers = json!([{"url": "file:///x"}, {"url": "http://plain"}]);
    assert_eq!(url(servers, json!({}), json!({}), &ImportOptions::new()).unwrap(), "http://plain/x");
}

#[test]
fn variables_have_values_from_the_options_or_the_document() {
    let servers = json!([{"url": "https://{region}.example:{port}/{base}", "variables": {
        "region": {"default": "eu"}, "port": {"default": 8443}, "base": {"default": ""},
    }}]);
    let options = ImportOptions::new();
    assert_eq!(url(servers.clone(), json!({}), json!({}), &options).unwrap(), "https://eu.example:8443/x");
    let options = options.server_variable("region", "us").server_variable("base", "v2");
    assert_eq!(url(servers, json!({}), json!({}), &options).unwrap(), "https://us.example:8443/v2/x");
    let unset = json!([{"url": "https://{a}.example", "variables": {"a": {"default": "{a}"}}}]);
    assert_eq!(url(unset.clone(), json!({}), json!({}), &ImportOptions::new()), Err("no_server"));
    let options = ImportOptions::new().server_variable("a", "b");
    assert_eq!(url(unset, json!({}), json!({}), &options).unwrap(), "https://b.example/x");
}
