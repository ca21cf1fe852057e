//! Faults of a definition, all reported at once.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::num::NonZeroUsize;
use std::time::Duration;

use haft_core::ContentPart;
use haft_executor::{
    ApprovalPolicy, Concurrency, DefinitionFault, EmitBuffer, ExecutionLimits, FailureMode, NameFault, OnOverflow,
    OutputCap, SchemaPart, Tool, ToolBuilder,
};
use haft_schema::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Query {
    query: String,
}

fn faults(result: Result<Tool, haft_executor::DefinitionError>) -> Vec<DefinitionFault> {
    result.unwrap_err().faults
}

#[test]
fn all_faults_of_a_definition_are_reported_at_once() {
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
    let bad = Tool::provider("a.b").args_schema(Schema::of::<Query>().unwrap()).with_args(json!({"query": 1})).define();
    let faults = faults(bad);
    assert!(matches!(&faults[..], [DefinitionFault::ProviderArgs(issues)] if issues.as_slice()[0].pointer == "/query"));
    let free = Tool::provider("a.b").args::<Value>().with_args(json!({"any": "thing"})).define().unwrap();
    assert_eq!(free.provider_definition().unwrap().args(), &json!({"any": "thing"}));
    let mode = Tool::provider("a.b").with_args(()).failure_mode(FailureMode::Error).define();
    assert!(matches!(
        self::faults(mode)[..],
        [DefinitionFault::Unsupported { setting: "a failure mode", kind: "provider-executed" }]
    ));
}

/// Calls every setter of a builder that affects whether and how a call is run.
fn set_all<P, R>(builder: ToolBuilder<P, R>) -> Vec<String> {
    let built = builder
        .needs_approval(ApprovalPolicy::always())
        .failure_mode(FailureMode::Return)
        .limits(ExecutionLimits::new().timeout(Duration::from_secs(1)))
        .depends_on::<Query>()
        .to_model_output(|count: &u8| [ContentPart::text(count.to_string())])
        .define();
    built.err().map_or_else(Vec::new, |error| error.faults.iter().map(ToString::to_string).collect())
}

#[test]
fn settings_that_a_kind_cannot_honour_are_all_faults_at_once() {
    let unrun = ["a failure mode", "execution limits", "a dependency", "`to_model_output`"];
    let refused = |kind: &str, settings: &[&str]| -> Vec<String> {
        settings.iter().map(|setting| format!("{kind} tools do not support {setting}")).collect()
    };
    assert_eq!(set_all(Tool::signal("s")), refused("signal", &unrun));
    assert_eq!(set_all(Tool::interaction("i")), refused("interaction", &unrun));
    let remote = ["an approval policy", unrun[0], unrun[1], unrun[2], unrun[3]];
    assert_eq!(set_all(Tool::provider("v.t").with_args(())), refused("provider-executed", &remote));
    assert_eq!(set_all(Tool::provider("v.t").requires_handler().with_args(())), [""; 0]);
    assert_eq!(set_all(Tool::new("t")), [""; 0]);
    let named = faults(Tool::signal(" ").limits(ExecutionLimits::new().timeout(Duration::ZERO)).define());
    assert_eq!(named.len(), 3, "with all others: {named:?}");
}

#[test]
fn combinators_reject_settings_that_a_kind_cannot_honour() {
    let remote = Tool::provider("v.t").with_args(()).define().unwrap();
    for tool in [Tool::signal("s").define().unwrap(), Tool::interaction("i").define().unwrap(), remote] {
        let is_remote = tool.is_provider_defined();
        assert_eq!(tool.set_needs_approval(ApprovalPolicy::always()).is_err(), is_remote, "{tool:?}");
        assert!(tool.set_needs_approval(ApprovalPolicy::never()).is_ok(), "{tool:?}");
        let limits = ExecutionLimits::new().timeout(Duration::from_secs(1));
        let refused =
            [tool.with_limits(limits), tool.add_dependency::<Query>(), tool.set_failure_mode(FailureMode::Error)];
        for refused in refused {
            assert!(matches!(faults(refused)[..], [DefinitionFault::Unsupported { .. }]), "{tool:?}");
        }
    }
}

#[test]
fn a_handler_where_none_runs_is_a_fault() {
    assert!(matches!(
        faults(Tool::signal("s").handler(|(), _| async {}))[..],
        [DefinitionFault::HandlerNotAllowed("signal")]
    ));
    let interaction = faults(Tool::interaction("i").handler(|(), _| async {}));
    assert!(matches!(interaction[..], [DefinitionFault::HandlerNotAllowed("interaction")]));
}

#[test]
fn limits_keep_their_values() {
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
