//! The parts of a tool.

use haft_core::Strict;
use haft_executor::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::executing::{calls, kit, tell};

#[derive(Deserialize, JsonSchema)]
struct GetCurrentTime {
    timezone: String,
}

#[derive(Serialize, JsonSchema)]
struct Time {
    timezone: String,
    iso: &'static str,
}

#[tokio::test]
async fn a_plain_tool_is_shown_run_and_never_streams() {
    let kit = kit([Tool::new("get_current_time")
        .describe("Look up the current local time for an IANA timezone.")
        .annotate(Strict(true))
        .handler(|input: GetCurrentTime, _cx| async move { Time { timezone: input.timezone, iso: "2026-01-01" } })]);

    let shown = &kit.descriptors()[0];
    assert_eq!(shown.name, "get_current_time");
    assert_eq!(shown.description.as_deref(), Some("Look up the current local time for an IANA timezone."));
    assert_eq!(shown.input_schema.as_json()["required"], json!(["timezone"]));
    assert_eq!(shown.strict, Some(true));

    let run = kit.run(calls([("get_current_time", r#"{"timezone":"Asia/Tokyo"}"#)]));
    assert_eq!(tell(run).await, [r#"c1 output {"timezone":"Asia/Tokyo","iso":"2026-01-01"}"#]);
}

/// Strict is a request to the provider. The schema is checked here in any case.
#[tokio::test]
async fn strict_changes_nothing_about_what_is_accepted() {
    for strict in [None, Some(true), Some(false)] {
        let builder = Tool::new("t");
        let builder = match strict {
            Some(strict) => builder.annotate(Strict(strict)),
            None => builder,
        };
        let kit = kit([builder.handler(|input: GetCurrentTime, _cx| async move { input.timezone })]);
        assert_eq!(kit.descriptors()[0].strict, strict);
        let run = kit.run(calls([("t", r#"{"timezone":"UTC","more":1}"#), ("t", "{}")]));
        assert_eq!(tell(run).await, ["c1 output \"UTC\"", "c2 output input_validation_error"], "{strict:?}");
    }
}
