//! What a definition may not be, told all at once.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::num::NonZeroUsize;
use std::time::Duration;

use haft_core::{
    Concurrency, DefinitionFault, EmitBuffer, ExecutionLimits, FailureMode, NameFault, OnOverflow, OutputCap,
    SchemaPart, Tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Query {
    query: String,
}

fn faults(result: Result<Tool, haft_core::DefinitionError>) -> Vec<DefinitionFault> {
    result.unwrap_err().faults
}

#[test]
fn all_faults_of_a_definition_are_told_at_once() {
    let error = Tool::new("two\nlines")
        .params::<Query>()
        .example(json!({"query": "fits"}))
        .example(json!({"query": 3}))
        .example(json!({}))
        .success_json(json!({"type": "nonsense"}))
        .limits(ExecutionLimits::new().timeout(Duration::ZERO))
        .define()
        .unwrap_err();
    assert_eq!(error.tool, "two\nlines");
    let [DefinitionFault::Schema { part: SchemaPart::Success, .. }, ..] = &error.faults[1..] else { panic!("{error}") };
    assert!(matches!(error.faults[0], DefinitionFault::Name(NameFault::Control('\n'))));
    assert!(error.faults.iter().any(|fault| matches!(fault, DefinitionFault::ZeroLimit("timeout"))));
    let examples: Vec<usize> = error
        .faults
        .iter()
        .filter_map(|fault| match fault {
            DefinitionFault::Example { index, issues } if !issues.is_empty() => Some(*index),
            _ => None,
        })
        .collect();
    assert_eq!(examples, [1, 2]);
    assert_eq!(error.faults.len(), 5, "{error}");
    assert!(!error.to_string().contains('\n') && std::error::Error::source(&error).is_none());
}

#[test]
fn names_are_checked() {
    let fault = |name: &str| faults(Tool::new(name).define());
    assert!(matches!(fault("")[..], [DefinitionFault::Name(NameFault::Empty)]));
    assert!(matches!(fault("  ")[..], [DefinitionFault::Name(NameFault::Blank)]));
    assert!(matches!(fault(&"n".repeat(513))[..], [DefinitionFault::Name(NameFault::TooLong(513))]));
    assert!(matches!(fault("a\u{0}")[..], [DefinitionFault::Name(NameFault::Control('\0'))]));
    for good in ["a", "org/ns/tool", "wetter_für_köln", &"n".repeat(512)] {
        assert_eq!(Tool::new(good).define().unwrap().name(), good);
    }
}

#[test]
fn provider_ids_and_arguments_are_checked() {
    for id in ["", "web_search", ".web_search", "openai.", "open ai.x"] {
        let faults = faults(Tool::provider(id).custom_name("x").with_args(()).define());
        assert!(matches!(&faults[..], [DefinitionFault::ProviderId(given)] if given == id), "{id:?}: {faults:?}");
    }
    let bad = Tool::provider("a.b").args::<Query>().with_args(json!({"query": 1})).define();
    let faults = faults(bad);
    assert!(matches!(&faults[..], [DefinitionFault::ProviderArgs(issues)] if issues.as_slice()[0].pointer == "/query"));
    let unchecked = Tool::provider("a.b").with_args(json!({"any": "thing"})).define().unwrap();
    assert_eq!(unchecked.provider_definition().unwrap().args(), &json!({"any": "thing"}));
    let mode = Tool::provider("a.b").with_args(()).failure_mode(FailureMode::Error).define();
    assert!(matches!(self::faults(mode)[..], [DefinitionFault::FailureModeWithoutHandler]));
}

#[test]
fn a_handler_where_none_runs_is_a_fault() {
    assert!(matches!(
        faults(Tool::signal("s").run(|(), _| async {}))[..],
        [DefinitionFault::HandlerNotAllowed("signal")]
    ));
    let interaction = faults(Tool::interaction("i").run(|(), _| async {}));
    assert!(matches!(interaction[..], [DefinitionFault::HandlerNotAllowed("interaction")]));
}

#[test]
fn limits_keep_what_they_are_given() {
    let limits = ExecutionLimits::new()
        .idle_timeout(Duration::from_secs(2))
        .emit_buffer(EmitBuffer::Unbounded)
        .concurrency(Concurrency::Keyed("disk".into()))
        .output_cap(OutputCap::new(NonZeroUsize::MIN).on_overflow(OnOverflow::Truncate));
    let tool = Tool::new("t").limits(limits.clone()).define().unwrap();
    assert_eq!(tool.limits(), &limits);
    assert_eq!(ExecutionLimits::new().emit_buffer, EmitBuffer::Bounded(NonZeroUsize::new(64).unwrap()));
    assert_eq!(ExecutionLimits::new().concurrency, Concurrency::Shared);
}
