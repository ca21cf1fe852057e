//! Prism rejects what a document does not allow, and nothing else.

use std::fs;

use haft_parts::{Prism, get};
use serde_json::json;

#[test]
fn requests_are_judged_by_the_document() {
    let parameters = json!([{"name": "n", "in": "query", "required": true, "schema": {"type": "integer"}}]);
    let document = json!({
        "openapi": "3.0.3",
        "info": {"title": "t", "version": "1"},
        "paths": {"/x": {"get": {"parameters": parameters, "responses": {"200": {"description": "ok"}}}}},
    });
    let path = std::env::temp_dir().join(format!("haft-prism-{}.json", std::process::id()));
    fs::write(&path, document.to_string()).unwrap();
    let mut prism = Prism::start();
    let url = prism.serve(&path);
    fs::remove_file(&path).unwrap();
    let expected = [("/x?n=1", false), ("/x?n=one", true), ("/x", true), ("/y?n=1", true)];
    for (path, _) in expected {
        let _ = get(&url, path);
    }
    let answers = prism.answers(&url);
    let judged: Vec<_> = answers.iter().map(|answer| (answer.request.as_str(), answer.is_rejected())).collect();
    assert_eq!(
        judged,
        expected
            .map(|(path, is_rejected)| (format!("GET {path}"), is_rejected))
            .each_ref()
            .map(|(a, b)| (a.as_str(), *b))
    );
}
