//! Results: invalid ones, those that are too large, and whole texts as the model reads them.

use std::num::NonZeroUsize;

use haft::conversation::{ContentPart, MediaData};
use haft::run::ToolOutput;
use haft::schema::{Issue, Issues, Schema, Validation, Validator};
use haft::tool::{ExecutionLimits, OnOverflow, OutputCap, Outputs};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::*;

/// A tool with a raw success schema that returns a value.
fn returning(schema: Value, value: Value) -> Tool {
    returns(Schema::json(schema).unwrap(), value)
}

fn returns(schema: Schema, value: Value) -> Tool {
    let build = Tool::new("get").success_schema(schema);
    build.handler(move |(), _cx| std::future::ready(value.clone())).unwrap()
}

/// A type that can't be written.
#[derive(haft::JsonSchema)]
pub(super) struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("secret"))
    }
}

pub(super) async fn invalid(messages: &mut Messages) {
    messages.section("Invalid results");
    for (situation, schema, value) in [
        ("type", json!({"type": "string"}), json!(3)),
        ("maximum, inside", json!({"properties": {"days": {"maximum": 14}}}), json!({"days": 99})),
        ("maximum, under a key of the value", json!({"additionalProperties": {"maximum": 14}}), json!({"secret": 99})),
        ("minLength", json!({"minLength": 2}), json!("x")),
        ("pattern", json!({"pattern": "^[a-z]+$"}), json!("No 5")),
        ("required", json!({"required": ["city"]}), json!({})),
        ("additionalProperties", json!({"additionalProperties": false}), json!({"secret": 1})),
        ("anyOf", json!({"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}), json!(3)),
        ("uniqueItems", json!({"uniqueItems": true}), json!([1, 1])),
    ] {
        messages.failure(situation, &failed(returning(schema, value), "").await);
    }
    let checked = Validator::new(|_| Err(Issue::new("", "even", "secret").into()));
    let schema = Schema::json_with(json!({}), Validation::With(checked)).unwrap();
    messages.failure("a validator rejects it", &failed(returns(schema, json!(3)), "").await);
    let nan = Tool::new("get").handler(|(), _cx| async { vec![1.0, f64::NAN] }).unwrap();
    messages.failure("NaN", &failed(nan, "").await);
    let unwritable = Tool::new("get").handler(|(), _cx| async { Unwritable }).unwrap();
    messages.failure("its type can't be written", &failed(unwritable, "").await);
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    messages.failure("nested too deeply", &failed(returning(json!({}), deep), "").await);
    let steps = |(), _cx| Outputs::<Value>::values(futures_util::stream::iter([json!("one"), json!(2)]));
    let preliminary = Tool::new("get").success_json(json!({"type": "integer"})).stream_handler(steps).unwrap();
    messages.failure("an invalid preliminary value", &failed(preliminary, "").await);
    let decoded = ToolResult::ok(&ToolCall::new("c1", "add", ""), json!("three")).decode::<u8>();
    messages.failure("decoded as another type", &decoded.unwrap_err());
    let alone = || ToolOutput::content_only(vec![ContentPart::text("3")]);
    let decoded = ToolResult::ok(&ToolCall::new("c1", "add", ""), alone()).decode::<u8>();
    messages.failure("decoded, without a value", &decoded.unwrap_err());
    let integer = || Tool::new("get").success_json(json!({"type": "integer"}));
    let content = integer().handler(move |(), _cx| std::future::ready(alone())).unwrap();
    messages.failure("content without the declared value", &failed(content, "").await);
    let deep = (0..200).fold(json!(1), |value, _| json!([value]));
    let output = ToolOutput::from(json!(3)).with_metadata("trace", deep);
    let metadata = integer().handler(move |(), _cx| std::future::ready(output.clone())).unwrap();
    messages.failure("metadata that is nested too deeply", &failed(metadata, "").await);
}

/// Limits the output to so many bytes.
fn capped(bytes: usize, rule: OnOverflow) -> ExecutionLimits {
    ExecutionLimits::new().output_cap(OutputCap::new(NonZeroUsize::new(bytes).unwrap()).on_overflow(rule))
}

/// Runs a tool that returns this output under a cap of 20 bytes, and returns what the model reads.
async fn truncated(output: ToolOutput) -> String {
    let build = Tool::new("read").success_schema(Schema::unknown()).limits(capped(20, OnOverflow::Truncate));
    let read = build.handler(move |(), _cx| std::future::ready(output.clone())).unwrap();
    run(&Toolkit::from_iter([read]), [ToolCall::new("c1", "read", "")], RunOptions::new()).await[0].to_model_text()
}

pub(super) async fn too_large(messages: &mut Messages) {
    messages.section("Outputs that are too large");
    let long = "All work and no play makes Jack a dull boy.";
    let read = |rule| Tool::new("read").limits(capped(20, rule)).handler(move |(), _cx| async move { long }).unwrap();
    messages.failure("rejected", &failed(read(OnOverflow::Fail), "").await);
    messages.add("truncated", truncated(json!(long).into()).await);
    let image = ContentPart::image("image/png", MediaData::Url("https://example.org/a.png".into()));
    let parts = vec![ContentPart::text("Two pictures:"), image.clone(), image];
    messages.add("truncated, with parts left out", truncated(ToolOutput::from(json!(1)).for_model(parts)).await);

    let failing = |rule, failure: ToolFailure| {
        let build = Tool::new("read").limits(capped(20, rule));
        build.try_handler_opaque(move |(), _cx| std::future::ready(Err::<(), _>(failure.clone()))).unwrap()
    };
    let long = ToolFailure::new("disk_full", "the disk is full; ".repeat(20));
    messages.failure("a failure, rejected", &failed(failing(OnOverflow::Fail, long.clone()), "").await);
    messages.failure("a failure, truncated", &failed(failing(OnOverflow::Truncate, long), "").await);
    let issues = (1..=3).map(|day| Issue::new(format!("/days/{day}"), "maximum", "must be at most 14, and is 99"));
    let detailed = ToolFailure::new("bad_plan", "the plan has faults").issues(Issues::new(issues.collect()));
    let detailed = detailed.details(json!({"plan": "x".repeat(200)}));
    let detailed = failed(failing(OnOverflow::Truncate, detailed), "").await;
    messages.failure("a failure, with issues and details left out", &detailed);
}

/// The JSON texts that the model reads.
pub(super) fn whole_texts(messages: &mut Messages) {
    messages.section("Whole texts of failures");
    messages.add("kind and message", ToolFailure::new(FailureKind::Denied, "too expensive").to_model_text());
    let again = ToolFailure::new("rate_limited", "the service is busy").retry_after(std::time::Duration::from_secs(2));
    messages.add("with the time to wait", again.to_model_text());
    let issue = |day: u8| Issue::new(format!("/days/{day}"), "maximum", "must be at most 14, and is 99");
    let issues = Issues::new(vec![issue(1).expected("at most 14").found("99")]);
    messages.add(
        "with issues that are the message",
        ToolFailure::with_issues(FailureKind::InputValidationError, issues.clone()).to_model_text(),
    );
    let beside = ToolFailure::new("bad_plan", "the plan has faults").issues(issues).details(json!({"plan": 7}));
    messages.add("with issues and details beside the message", beside.to_model_text());
    let many = ToolFailure::new("bad_plan", "the plan has faults").issues(Issues::new((1..=21).map(issue).collect()));
    let text: Value = serde_json::from_str(&many.to_model_text()).unwrap();
    messages.add("with more issues than are listed", format!("issues_left_out: {}", text["error"]["issues_left_out"]));
}
