//! Results that are written alone.

use haft_wire::{GeminiContent, Wire};
use serde_json::json;

use super::{OLD_MODEL, context, read, response, rich};
use crate::wire::result::{Sample, sampled, shown};

#[test]
fn all_results_are_parts_of_one_content() {
    let turn = read(&rich());
    let written = GeminiContent::new().results(&turn, &sampled(&turn), &context()).unwrap();
    insta::assert_json_snapshot!(shown(&written));
}

#[test]
fn the_model_that_answered_decides_about_media() {
    let mut body = response(json!([{"functionCall": {"name": "acme--weather", "args": {}}}]), "STOP");
    let images = |body: &serde_json::Value| {
        let turn = read(body);
        let results = [Sample::FailedWithParts.result(&turn.tool_calls()[0])];
        let written = GeminiContent::new().results(&turn, &results, &context()).unwrap();
        let is_behind = written.json.contains("Returned by the call");
        (written.json.matches("inlineData").count(), written.dropped.len(), is_behind)
    };
    assert_eq!(images(&body), (1, 0, false));
    body["modelVersion"] = json!(OLD_MODEL);
    assert_eq!(images(&body), (1, 0, true));
}
