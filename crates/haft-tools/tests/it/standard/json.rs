//! Queries.

use haft_core::FailureKind;
use serde_json::{Value, json};

use super::{call, kit};

fn document() -> String {
    json!({
        "store": {
            "book": [
                {"title": "A", "price": 8.95, "tags": ["x", "y"]},
                {"title": "B", "price": 12.99},
                {"title": "C", "price": 8.99, "isbn": "1"},
            ],
            "a/b~c": {"deep": null},
        },
        "": 1,
    })
    .to_string()
}

async fn query(path: &str) -> Result<Value, super::Failed> {
    call(&kit(), "json_query", json!({"json": document(), "path": path})).await
}

#[tokio::test]
async fn paths_and_pointers_select_values_with_their_pointers() {
    for (path, expected) in [
        ("$.store.book[?@.price < 10].title", json!([["/store/book/0/title", "A"], ["/store/book/2/title", "C"]])),
        ("$..title", json!([["/store/book/0/title", "A"], ["/store/book/1/title", "B"], ["/store/book/2/title", "C"]])),
        ("$.store.book[-1].isbn", json!([["/store/book/2/isbn", "1"]])),
        ("$.store.book[0:2].price", json!([["/store/book/0/price", 8.95], ["/store/book/1/price", 12.99]])),
        ("$.store.book[0,0].title", json!([["/store/book/0/title", "A"], ["/store/book/0/title", "A"]])),
        ("$.store.book[?@.isbn].title", json!([["/store/book/2/title", "C"]])),
        ("$.store.book[?length(@.tags) == 2].title", json!([["/store/book/0/title", "A"]])),
        ("$.store['a/b~c'].deep", json!([["/store/a~1b~0c/deep", null]])),
        ("$.nothing", json!([])),
        ("/store/book/1/title", json!([["/store/book/1/title", "B"]])),
        ("/store/a~1b~0c/deep", json!([["/store/a~1b~0c/deep", null]])),
        ("/", json!([["/", 1]])),
    ] {
        let found = query(path).await.unwrap_or_else(|failed| panic!("{path}: {failed:?}"));
        let matches = found["matches"].as_array().unwrap().iter();
        let pairs: Vec<Value> = matches.map(|found| json!([found["pointer"], found["value"]])).collect();
        assert_eq!(Value::Array(pairs), expected, "{path}");
        assert_eq!((&found["total"], &found["truncated"]), (&json!(expected.as_array().unwrap().len()), &json!(false)));
    }
    assert_eq!(query("").await.unwrap()["matches"][0]["pointer"], "");
    assert_eq!(query("$").await.unwrap()["total"], 1);
}

#[tokio::test]
async fn results_are_limited() {
    let kit = kit();
    let numbers = serde_json::to_string(&(0..1_000).collect::<Vec<_>>()).unwrap();
    let found = call(&kit, "json_query", json!({"json": numbers, "path": "$[*]", "max_matches": 2})).await.unwrap();
    assert_eq!((found["total"].as_u64(), found["matches"].as_array().unwrap().len()), (Some(1_000), 2));
    assert_eq!(found["truncated"], true);
    let long = json!({"a": "x".repeat(150_000), "b": "y".repeat(150_000)}).to_string();
    let found = call(&kit, "json_query", json!({"json": long, "path": "$[*]"})).await.unwrap();
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["truncated"]), (1, &json!(true)));
    let failed = call(&kit, "json_query", json!({"json": long, "path": "$"})).await.unwrap_err();
    assert_eq!(failed.reason, "result_too_large");
}

#[tokio::test]
async fn invalid_queries_fail_with_their_reason() {
    let kit = kit();
    for (json, path, reason) in [
        ("{", "$", "invalid_json"),
        (r#"{"a": 1, "a": 2}"#, "$", "invalid_json"),
        (r#"{"__proto__": 1}"#, "$", "invalid_json"),
        (&*"[".repeat(5_000), "$", "invalid_json"),
        ("[NaN]", "$", "invalid_json"),
        ("{}", "a", "invalid_path"),
        ("{}", "$.", "invalid_path"),
        ("{}", "$[?@.a ==]", "invalid_path"),
        ("{}", "$[99999999999999999999]", "invalid_path"),
        ("{}", "/a", "not_found"),
        ("{}", "$..a..b", "path_too_complex"),
        ("{}", "$[?match(@, '(a{1000}){1000}')]", "path_too_complex"),
        ("{}", &*format!("$[?{}@{}]", "(".repeat(200), ")".repeat(200)), "path_too_complex"),
        ("{}", &*format!("${}", "[0,0]".repeat(90)), "path_too_complex"),
    ] {
        let failed = call(&kit, "json_query", json!({"json": json, "path": path})).await.unwrap_err();
        assert_eq!(
            (failed.kind, failed.reason.as_str()),
            (FailureKind::ToolFailed, reason),
            "{path}: {}",
            failed.message
        );
    }
}

#[tokio::test]
async fn the_heaviest_paths_on_a_large_deep_document_end_soon() {
    let kit = kit();
    // A hundred levels, and then as many numbers as there is room for.
    let document = format!("{}{}{}", "[".repeat(100), vec!["1"; 100_000].join(","), "]".repeat(100));
    for path in ["$..*", "$..[*,*]", "$..[?@ == 1]", "$..[?count(@.*) > 1]", "$..[0:,0:,0:][0:,0:]"] {
        let found = call(&kit, "json_query", json!({"json": document, "path": path, "max_matches": 1})).await;
        assert!(
            found.is_ok() || found.as_ref().is_err_and(|failed| failed.reason == "result_too_large"),
            "{path}: {found:?}"
        );
    }
}
