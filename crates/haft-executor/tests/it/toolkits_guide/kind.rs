//! The kinds of tools by their executor, and the outcome of calls that are not executed here.

use haft_core::{DescriptorKind, FailureKind, Finish, Item, ToolCall, Turn};
use haft_executor::Tool;
use serde_json::json;

use super::{echo, non_local};
use crate::executing::{calls, came, kit, tell};

#[tokio::test]
async fn non_local_and_unknown_calls_fail_while_local_ones_run() {
    let [provider, signal, interaction] = non_local();
    let kit = kit([provider, signal, interaction, echo("local")]);
    kit.ensure_runnable().unwrap();
    let run = kit.run(calls([
        ("web_search", "{}"),
        ("escalate", r#""too hard""#),
        ("choose_account", r#"["a","b"]"#),
        ("ghost", "{}"),
        ("local", r#""hi""#),
    ]));
    let results = run.collect_results().await;
    let all: Vec<_> = results.iter().map(came).collect();
    assert_eq!(all, ["non_local_tool", "non_local_tool", "non_local_tool", "unknown_tool", "\"hi\""]);
    for result in &results[..4] {
        let failure = result.failure().unwrap();
        assert!(failure.message.contains(result.tool.as_str()), "{}", failure.message);
        assert!(!failure.started);
    }
}

#[test]
fn every_kind_is_described_to_the_model() {
    let [provider, signal, interaction] = non_local();
    let kit = kit([provider, signal, interaction, echo("local")]);
    let shown = kit.descriptors();
    assert_eq!(shown.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), kit.names().collect::<Vec<_>>());
    assert!(matches!(shown[0].kind, DescriptorKind::Provider { .. }), "{:?}", shown[0].kind);
    assert!(matches!(shown[1].kind, DescriptorKind::Signal));
    assert!(matches!(shown[2].kind, DescriptorKind::Interaction));
}

#[test]
fn a_provider_tool_carries_its_provider_and_its_settings() {
    let tool = Tool::provider("vendor.web_search")
        .args::<serde_json::Value>()
        .with_args(json!({"max_uses": 3}))
        .define()
        .unwrap();
    let definition = tool.provider_definition().unwrap();
    assert_eq!((definition.vendor(), definition.provider_name()), ("vendor", "web_search"));
    assert_eq!(definition.args(), &json!({"max_uses": 3}));
}

/// A loop takes the signal out of the turn, acts on it, and runs the rest.
#[tokio::test]
async fn a_loop_reads_the_signal_and_runs_the_rest() {
    let escalate = Tool::signal("escalate").params::<String>().define().unwrap();
    let kit = kit([Ok(escalate.clone()), echo("local")]);
    let turn = Turn::new(
        vec![
            ToolCall::new("c1", "local", r#""a""#).into(),
            ToolCall::new("c2", "escalate", r#""too hard""#).into(),
            Item::assistant("done"),
        ],
        Finish::ToolCalls,
    );
    let (signals, rest): (Vec<_>, Vec<_>) =
        turn.tool_calls().into_iter().partition(|call| kit.get(&call.name).is_some_and(Tool::is_signal));
    let reasons: Vec<String> = signals.iter().map(|call| escalate.decode_args(call).unwrap()).collect();
    assert_eq!(reasons, ["too hard"]);
    assert_eq!(tell(kit.run(rest)).await, ["c1 output \"a\""]);
}

#[test]
fn invalid_arguments_of_signals_and_interactions_are_rejected() {
    let [_, signal, interaction] = non_local().map(Result::unwrap);
    for (tool, good, bad) in [(signal, r#""x""#, "7"), (interaction, r#"["a"]"#, r#"["a",1]"#)] {
        let read = |arguments: &str| {
            tool.decode_args::<serde_json::Value>(&ToolCall::new("c1", tool.name(), arguments)).map_err(|f| f.kind)
        };
        assert!(read(good).is_ok());
        assert_eq!(read(bad), Err(FailureKind::InputValidationError));
        assert_eq!(read("{"), Err(FailureKind::InputValidationError));
    }
}

/// The result of a provider-executed call is at the provider: it is not among the calls to run, and is not run when
/// given.
#[tokio::test]
async fn calls_that_the_provider_ran_are_not_run_again() {
    let kit = kit([echo("local")]);
    let call = ToolCall::new("c1", "local", r#""a""#).executed_by_provider();
    let turn = Turn::new(vec![call.clone().into()], Finish::Stop);
    assert!(turn.tool_calls().is_empty());
    assert_eq!(tell(kit.run([call])).await, ["c1 output non_local_tool"]);
}
