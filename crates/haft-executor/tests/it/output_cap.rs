//! Results beyond the output cap: each kind of result, both rules, every way to run.

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use haft_core::{
    ApprovalRequest, CallOutputBody, ContentPart, FailureKind, MediaData, Outcome, ToolCall, ToolFailure, ToolResult,
};
use haft_executor::{
    ApprovalPolicy, Cx, ExecutionLimits, Failure, Next, OnOverflow, OutputCap, Request, RunOptions, Tool, Toolkit,
};
use haft_schema::{Issue, Issues};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::executing::kit;

/// The cap of the table.
const CAP: usize = 250;

/// One result, and what remains of it under either rule, as [`shown`] formats it.
struct Row {
    tool: Tool,
    fails: String,
    truncates: String,
}

fn row(tool: Tool, fails: impl Into<String>, truncates: impl Into<String>) -> Row {
    Row { tool, fails: fails.into(), truncates: truncates.into() }
}

fn too_large(size: usize) -> String {
    format!(
        "output_too_large: the output of {size} bytes exceeds the limit of 250 bytes; \
         request less, for example with a filter or a smaller page"
    )
}

fn failed_too_large(size: usize) -> String {
    format!(
        "output_too_large: the call failed with 'tool_failed', and the {size} bytes of its error message \
         and details exceed the limit of 250 bytes"
    )
}

/// Returns a picture, and its size as JSON.
fn picture(bytes: usize) -> (ContentPart, usize) {
    let part = ContentPart::image("image/png", MediaData::Base64("A".repeat(bytes)));
    let size = serde_json::to_string(&part).unwrap().len();
    (part, size)
}

fn text(letter: &str, bytes: usize) -> ContentPart {
    ContentPart::text(letter.repeat(bytes))
}

fn giving<T: Serialize + JsonSchema + Clone + Send + Sync + 'static>(value: T) -> Tool {
    Tool::new("giving").handler(move |(), _| std::future::ready(value.clone())).unwrap()
}

fn giving_parts(parts: Vec<ContentPart>) -> Tool {
    Tool::new("giving_parts").to_model_output(move |(): &()| parts.clone()).handler(|(), _| async {}).unwrap()
}

/// A failure with a reason and a log of any size.
#[derive(Clone, Serialize, JsonSchema)]
struct Broken {
    why: String,
    log: String,
}

impl Failure for Broken {
    fn message(&self) -> String {
        self.why.clone()
    }
}

fn declaring(why: usize, log: usize) -> Tool {
    let broken = Broken { why: "w".repeat(why), log: "l".repeat(log) };
    Tool::new("declaring").try_handler(move |(), _| std::future::ready(Err::<(), _>(broken.clone()))).unwrap()
}

fn failing(failure: ToolFailure) -> Tool {
    Tool::new("failing").try_handler_opaque(move |(), _| std::future::ready(Err::<(), _>(failure.clone()))).unwrap()
}

fn issues(count: usize) -> Issues {
    (0..count).map(|n| Issue::new(format!("/{n}"), "type", "x".repeat(40))).collect()
}

fn rows() -> Vec<Row> {
    let (large, large_size) = picture(1000);
    let (small, small_size) = picture(10);
    let cut = |size: usize| format!("[truncated: the first 250 of {size} bytes are shown]");
    let long = "z".repeat(100_000);
    vec![
        row(giving("x".repeat(250)), "x*250", "x*250"),
        row(giving("x".repeat(400)), too_large(400), format!("x*250 | {}", cut(400))),
        row(giving("é".repeat(200)), too_large(400), format!("é*125 | {}", cut(400))),
        row(giving(vec!["x".repeat(400)]), too_large(404), format!("[\"x*248 | {}", cut(404))),
        row(giving_parts(vec![text("x", 200), text("y", 200)]), too_large(400), format!("x*200 | y*50 | {}", cut(400))),
        row(giving_parts(vec![text("x", 200), text("y", 50)]), "x*200 | y*50", "x*200 | y*50"),
        row(giving_parts(vec![small.clone()]), "image", "image"),
        row(
            giving_parts(vec![large.clone()]),
            too_large(large_size),
            format!("[truncated: 0 of {large_size} bytes are shown; 1 of 1 parts are omitted]"),
        ),
        row(
            giving_parts(vec![text("c", 7), large.clone(), text("y", 300), small.clone()]),
            too_large(307 + large_size + small_size),
            format!(
                "c*7 | y*243 | [truncated: 250 of {} bytes are shown; 2 of 4 parts are omitted]",
                307 + large_size + small_size
            ),
        ),
        row(
            giving_parts(vec![large, small, text("y", 20)]),
            too_large(large_size + small_size + 20),
            format!(
                "image | y*20 | [truncated: {} of {} bytes are shown; 1 of 3 parts are omitted]",
                small_size + 20,
                large_size + small_size + 20
            ),
        ),
        row(
            Tool::new("t").try_handler(move |(), _| std::future::ready(Err::<(), _>(long.clone()))).unwrap(),
            failed_too_large(100_000),
            "tool_failed: z*250 [truncated: the first 250 of 100000 bytes are shown]",
        ),
        row(
            declaring(10, 1000),
            failed_too_large(10 + 19 + 10 + 1000),
            "tool_failed: w*10 [truncated: the details are omitted]",
        ),
        row(
            declaring(1000, 10),
            failed_too_large(1000 + 19 + 1000 + 10),
            "tool_failed: w*250 [truncated: the first 250 of 1000 bytes are shown; the details are omitted]",
        ),
        row(declaring(10, 10), "tool_failed: w*10", "tool_failed: w*10"),
        row(
            failing(ToolFailure::new(FailureKind::ToolFailed, "look at these").issues(issues(9))),
            failed_too_large(13 + 9 * 86),
            "tool_failed: look at these [truncated: 7 of 9 issues are omitted]",
        ),
        row(
            Tool::new("t").try_handler_opaque(|(), _| async { Err::<(), _>("s".repeat(1000)) }).unwrap(),
            "execution_error: the tool failed with an internal error; only its operator can see the cause",
            "execution_error: the tool failed with an internal error; only its operator can see the cause",
        ),
    ]
}

/// Returns the text that the model reads, with repeated letters counted.
fn shown(result: &ToolResult) -> String {
    if let Some(failure) = result.failure() {
        return counted(&failure.to_string());
    }
    match result.to_call_output().output {
        CallOutputBody::Text(text) => counted(&text),
        CallOutputBody::Parts(parts) => {
            let parts = parts.iter().map(|part| part.as_text().map_or_else(|| "image".to_owned(), counted));
            parts.collect::<Vec<_>>().join(" | ")
        }
    }
}

fn counted(text: &str) -> String {
    let mut rest = text.chars().peekable();
    let mut told = String::new();
    while let Some(letter) = rest.next() {
        let mut times = 1;
        while rest.next_if_eq(&letter).is_some() {
            times += 1;
        }
        match times {
            1..=6 => told.extend(std::iter::repeat_n(letter, times)),
            _ => told.push_str(&format!("{letter}*{times}")),
        }
    }
    told
}

fn cap(bytes: usize, rule: OnOverflow) -> OutputCap {
    OutputCap::new(NonZeroUsize::new(bytes).unwrap()).on_overflow(rule)
}

/// Returns the results of one call under a cap: of the tool and of the run, in a run and alone, in the task and
/// spawned.
async fn every_way(tool: &Tool, arguments: &str, cap: OutputCap) -> Vec<ToolResult> {
    let call = ToolCall::new("c1", tool.name(), arguments);
    let capped = kit([tool.with_limits(ExecutionLimits::new().output_cap(cap))]);
    let bare = kit([Ok(tool.clone())]);
    let of_run = RunOptions::new().output_cap(cap);
    let mut results = vec![capped.run_call(&call).await, bare.run_call_with(&call, &of_run).await];
    results.extend(capped.run([&call]).collect_results().await);
    results.extend(bare.run_with([&call], of_run.clone()).collect_results().await);
    results.extend(bare.run_with([&call], of_run.spawned()).collect_results().await);
    results
}

#[tokio::test]
async fn every_result_is_capped_in_every_way_to_run() {
    for Row { tool, fails, truncates } in rows() {
        let whole = kit([Ok(tool.clone())]).run_call(&ToolCall::new("c1", tool.name(), "{}")).await;
        for (rule, expected) in [(OnOverflow::Fail, fails), (OnOverflow::Truncate, truncates)] {
            for result in every_way(&tool, "{}", cap(CAP, rule)).await {
                assert_eq!(shown(&result), expected, "{rule:?}");
                assert!(result.failure().is_none_or(|failure| failure.started), "{rule:?}: {expected}");
                if result.is_ok() {
                    assert_eq!(result.value(), whole.value(), "the application gets all of it");
                }
            }
        }
    }
}

/// Other fields of a failure stay with it.
#[tokio::test]
async fn a_truncated_failure_keeps_its_cause_and_its_delay() {
    let busy = ToolFailure::new("busy", "b".repeat(1000)).retry_after(Duration::from_secs(3)).cause("the host is down");
    for rule in [OnOverflow::Fail, OnOverflow::Truncate] {
        for result in every_way(&failing(busy.clone()), "{}", cap(CAP, rule)).await {
            let failure = result.failure().unwrap();
            assert_eq!(failure.source().map(ToString::to_string).as_deref(), Some("the host is down"));
            assert_eq!((failure.retryable, failure.retry_after), (true, Some(Duration::from_secs(3))));
            assert!(failure.to_model_text().len() < 500, "{failure}");
            match rule {
                OnOverflow::Fail => assert!(failure.message.contains("'busy'"), "{failure}"),
                _ => assert_eq!(failure.kind.as_str(), "busy"),
            }
        }
    }
}

/// Issues that fit are kept; those that the message contains are not repeated.
#[tokio::test]
async fn issues_are_truncated_from_the_end() {
    let listed = ToolFailure::new(FailureKind::ToolFailed, "look at these").issues(issues(9));
    for result in every_way(&failing(listed), "{}", cap(CAP, OnOverflow::Truncate)).await {
        assert_eq!(result.failure().unwrap().issues, issues(2));
    }
    let spelled_out = ToolFailure::with_issues(FailureKind::OutputValidationError, issues(9));
    for result in every_way(&failing(spelled_out), "{}", cap(CAP, OnOverflow::Truncate)).await {
        let text = result.to_model_text();
        assert!(!text.contains("issues"), "{text}");
        assert!(text.len() < 400, "{text}");
    }
}

/// A failure of a middleware before the handler reports that nothing started, however long it is.
#[tokio::test]
async fn a_truncated_failure_still_reports_whether_the_handler_began() {
    let tool = giving(1_u8).wrap(|_: Request, _: Next| async {
        Outcome::from(ToolFailure::new(FailureKind::ToolFailed, "m".repeat(1000)))
    });
    for (rule, kind) in [(OnOverflow::Fail, "output_too_large"), (OnOverflow::Truncate, "tool_failed")] {
        for result in every_way(&tool, "{}", cap(CAP, rule)).await {
            let failure = result.failure().unwrap();
            assert_eq!((failure.kind.as_str(), failure.started), (kind, false));
        }
    }
}

/// The sentence that would replace a short reason is no shorter.
#[tokio::test]
async fn a_short_reason_is_never_truncated() {
    for rule in [OnOverflow::Fail, OnOverflow::Truncate] {
        for length in [200, 201] {
            let failing = failing(ToolFailure::new(FailureKind::ToolFailed, "w".repeat(length)));
            for result in every_way(&failing, "{}", cap(1, rule)).await {
                let is_whole = shown(&result) == format!("tool_failed: w*{length}");
                assert_eq!(is_whole, length == 200, "{rule:?}: {}", shown(&result));
            }
        }
    }
}

/// The issues of arguments are not the output of a tool.
#[tokio::test]
async fn a_rejection_of_arguments_is_not_truncated() {
    let tool = Tool::new("strict")
        .params_json(json!({"type": "object", "required": (0..30).map(|n| format!("key_{n}")).collect::<Vec<_>>()}))
        .handler(|_: serde_json::Value, _| async {})
        .unwrap();
    for rule in [OnOverflow::Fail, OnOverflow::Truncate] {
        for result in every_way(&tool, "{}", cap(1, rule)).await {
            let failure = result.failure().unwrap();
            assert_eq!(failure.kind, FailureKind::InputValidationError);
            assert!(failure.message.contains("key_29"), "{failure}");
            assert_eq!(failure.issues.len(), 30);
        }
    }
}

/// Nor is the reason of a denial.
#[tokio::test]
async fn a_denial_is_not_truncated() {
    let reason = "because ".repeat(100);
    let gated = giving(1_u8).set_needs_approval(ApprovalPolicy::always()).unwrap();
    for rule in [OnOverflow::Fail, OnOverflow::Truncate] {
        let said = reason.clone();
        let deny = move |request: ApprovalRequest, _: Cx| std::future::ready(request.deny(said.clone()));
        let options = RunOptions::new().output_cap(cap(1, rule)).approvals(deny);
        let result = kit([Ok(gated.clone())]).run_call_with(&ToolCall::new("c1", "giving", "{}"), &options).await;
        let failure = result.failure().unwrap();
        assert_eq!((&failure.kind, &failure.message), (&FailureKind::Denied, &reason));
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_reported_under_any_cap() {
    let limits = ExecutionLimits::new().timeout(Duration::from_secs(1)).output_cap(cap(1, OnOverflow::Fail));
    let endless = Tool::new("endless").limits(limits).handler(|(), _| std::future::pending::<()>());
    let kit: Toolkit = kit([endless]);
    let results = kit.run([ToolCall::new("c1", "endless", "{}")]).collect_results().await;
    assert_eq!(results[0].failure().unwrap().kind, FailureKind::TimedOut);
}

/// The size of the default cap.
const DEFAULT: usize = 256 * 1024;

/// Runs one call without options, on the fast path, in a run and as a spawned task.
async fn uncapped_ways(tool: &Tool, options: &RunOptions) -> Vec<ToolResult> {
    let (call, kit) = (ToolCall::new("c1", tool.name(), "{}"), kit([Ok(tool.clone())]));
    let mut results = vec![kit.run_call_with(&call, options).await];
    results.extend(kit.run_with([&call], options.clone()).collect_results().await);
    results.extend(kit.run_with([&call], options.clone().spawned()).collect_results().await);
    results
}

#[tokio::test]
async fn text_beyond_256_kib_is_truncated_by_default_and_the_application_gets_all_of_it() {
    for (size, expected) in [
        (DEFAULT, format!("x*{DEFAULT}")),
        (DEFAULT + 1, format!("x*{DEFAULT} | [truncated: the first 262144 of 262145 bytes are shown]")),
    ] {
        for result in uncapped_ways(&giving("x".repeat(size)), &RunOptions::new()).await {
            assert_eq!(shown(&result), expected);
            assert_eq!(result.decode::<String>().unwrap().len(), size);
        }
    }
}

#[tokio::test]
async fn a_failure_beyond_256_kib_is_truncated_by_default() {
    let failing = failing(ToolFailure::new(FailureKind::ToolFailed, "w".repeat(DEFAULT + 1)).details(json!([1])));
    for result in uncapped_ways(&failing, &RunOptions::new()).await {
        let expected =
            "tool_failed: w*262144 [truncated: the first 262144 of 262145 bytes are shown; the details are omitted]";
        assert_eq!(shown(&result), expected);
    }
}

/// Images, audio, files and binary resources are no text: the default keeps them whole, beside text that is cut.
#[tokio::test]
async fn media_do_not_count_towards_the_default_cap() {
    let data = || MediaData::Base64("A".repeat(2 * DEFAULT));
    let blob =
        serde_json::from_value(json!({"type": "resource", "uri": "a:b", "contents": {"blob": "A".repeat(DEFAULT)}}));
    let parts = vec![
        ContentPart::image("image/png", data()),
        ContentPart::audio("audio/wav", data()),
        ContentPart::file("application/pdf", data()),
        blob.unwrap(),
        text("x", DEFAULT),
    ];
    let all = format!("image | image | image | image | x*{DEFAULT}");
    for result in uncapped_ways(&giving_parts(parts.clone()), &RunOptions::new()).await {
        assert_eq!(shown(&result), all);
    }
    let longer = giving_parts(parts.into_iter().chain([text("y", 7)]).collect());
    for result in uncapped_ways(&longer, &RunOptions::new()).await {
        let note = "[truncated: 262144 of 262151 bytes are shown; 1 of 6 parts are omitted]";
        assert_eq!(shown(&result), format!("{all} | {note}"));
    }
    let resource: ContentPart =
        serde_json::from_value(json!({"type": "resource", "uri": "a:b", "contents": {"text": "t".repeat(DEFAULT)}}))
            .unwrap();
    for result in uncapped_ways(&giving_parts(vec![resource]), &RunOptions::new()).await {
        assert!(shown(&result).contains("1 of 1 parts are omitted"), "the text of a resource counts");
    }
}

/// A tool or a run that sets a cap replaces the default, with a larger one and with none.
#[tokio::test]
async fn a_set_cap_replaces_the_default() {
    let size = DEFAULT + 100;
    let large = || cap(DEFAULT + 50, OnOverflow::Truncate);
    let giving = giving("x".repeat(size));
    let whole = format!("x*{size}");
    let cut = format!("x*{} | [truncated: the first {} of {size} bytes are shown]", DEFAULT + 50, DEFAULT + 50);
    for (of_tool, of_run, expected) in [
        (None, Some(OutputCap::unlimited()), &whole),
        (Some(OutputCap::unlimited()), None, &whole),
        (Some(OutputCap::unlimited()), Some(OutputCap::unlimited()), &whole),
        (None, Some(large()), &cut),
        (Some(large()), None, &cut),
        (Some(large()), Some(OutputCap::unlimited()), &cut),
        (Some(OutputCap::unlimited()), Some(large()), &cut),
    ] {
        let limits = of_tool.into_iter().fold(ExecutionLimits::new(), ExecutionLimits::output_cap);
        let options = of_run.into_iter().fold(RunOptions::new(), RunOptions::output_cap);
        for result in uncapped_ways(&giving.with_limits(limits).unwrap(), &options).await {
            assert_eq!(&shown(&result), expected, "{of_tool:?} {of_run:?}");
        }
    }
}

/// An answer of a person in the tool's place is an output as well.
#[tokio::test]
async fn an_answer_of_a_person_is_capped_by_default() {
    let gated = giving("x".to_owned()).set_needs_approval(ApprovalPolicy::always()).unwrap();
    let answer = |request: ApprovalRequest, _: Cx| std::future::ready(request.answer(json!("p".repeat(DEFAULT + 1))));
    for result in uncapped_ways(&gated, &RunOptions::new().approvals(answer)).await {
        assert_eq!(shown(&result), format!("p*{DEFAULT} | [truncated: the first 262144 of 262145 bytes are shown]"));
    }
}
