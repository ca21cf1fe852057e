//! Emitted values of a declared type: described, checked, and no different from others where nothing is declared.

use std::error::Error;

use haft_core::{FailureKind, Outcome, ToolCall, ToolDescriptor, ToolEvent};
use haft_executor::{
    BuilderOf, Cx, DefinitionFault, EmitError, Emits, Emitted, Handle, HandlerError, Next, NoFailure, Request,
    RunOptions, SchemaPart, Tool, ToolBuilder, ToolType, Toolkit,
};
use haft_schema::JsonText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Step {
    #[schemars(range(max = 100.0))]
    percent: f64,
}

fn step(percent: f64) -> Step {
    Step { percent }
}

/// Builds a toolkit of one tool `work` that emits these values as they are, and returns the errors.
fn kit(builder: ToolBuilder, values: Vec<Value>) -> Toolkit {
    let tool = builder.handler(move |(), cx: Cx| {
        let values = values.clone();
        async move {
            let mut errors = Vec::new();
            for value in values {
                errors.extend(cx.emit(value).await.err().map(|error| error.to_string()));
            }
            errors
        }
    });
    Toolkit::from_iter([tool.unwrap()])
}

fn call() -> ToolCall {
    ToolCall::new("c1", "work", "")
}

async fn events(kit: &Toolkit) -> Vec<ToolEvent> {
    let (mut run, mut events) = (kit.run([call()]), Vec::new());
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

fn emitted(events: &[ToolEvent]) -> Vec<Value> {
    let data = events.iter().filter_map(|event| match event {
        ToolEvent::Progress { data, .. } => Some(data.to_value()),
        _ => None,
    });
    data.collect()
}

fn errors(events: &[ToolEvent]) -> Vec<String> {
    events.last().unwrap().result().unwrap().decode().unwrap()
}

#[tokio::test]
async fn a_value_of_another_type_is_an_error_and_does_not_reach_the_reader() {
    let values = vec![json!({"percent": 10}), json!("half"), json!({"percent": 101}), json!({"percent": 20.5})];
    let events = events(&kit(Tool::new("work").emits::<Step>(), values)).await;
    assert_eq!(emitted(&events), [json!({"percent": 10}), json!({"percent": 20.5})]);
    let errors = errors(&events);
    assert_eq!(errors.len(), 2, "{errors:?}");
    let declared = "the emitted value is invalid for the type that the tool declares with `emits`: ";
    assert!(errors.iter().all(|error| error.starts_with(declared)), "{errors:?}");
    assert!(errors[1].contains("/percent") && !errors[1].contains("101"), "{errors:?}");
}

#[tokio::test]
async fn without_a_declaration_anything_is_emitted() {
    let values = vec![json!(null), json!("half"), json!({"percent": 101})];
    let kit = kit(Tool::new("work"), values.clone());
    let events = events(&kit).await;
    assert_eq!(emitted(&events), values);
    assert_eq!(errors(&events), Vec::<String>::new());
    assert!(kit.get("work").unwrap().emits().is_none());
    assert!(kit.descriptors()[0].emits.is_none());
}

/// A mistake of a tool must not depend on somebody listening.
#[tokio::test]
async fn values_are_checked_without_a_reader() {
    let kit = kit(Tool::new("work").emits::<Step>(), vec![json!("half"), json!({"percent": 1})]);
    for result in [kit.run_call(&call()).await, kit.run_call_with(&call(), RunOptions::new().caller("ana")).await] {
        assert_eq!(result.decode::<Vec<String>>().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_renamed_tool_keeps_the_declaration() {
    let kit = kit(Tool::new("work").emits::<Step>(), vec![json!("half")]).namespace("a").unwrap();
    let result = kit.run_call(&ToolCall::new("c1", "a__work", "")).await;
    assert_eq!(result.decode::<Vec<String>>().unwrap().len(), 1);
}

#[tokio::test]
async fn an_error_that_the_handler_returns_is_for_the_operator() {
    let tool = Tool::new("work").emits::<Step>().try_handler_mixed(|(), cx: Cx| async move {
        cx.emit(step(f64::NAN)).await?;
        Ok::<_, HandlerError>(())
    });
    let result = Toolkit::<()>::from_iter([tool.unwrap()]).run_call(&call()).await;
    let failure = result.failure().unwrap();
    assert_eq!((&failure.kind, failure.started), (&FailureKind::ExecutionError, true));
    assert!(!failure.message.contains("percent"), "{failure}");
    let cause = failure.source().unwrap().downcast_ref::<EmitError>().unwrap();
    assert!(matches!(cause, EmitError::Invalid(issues) if issues.as_slice()[0].pointer == "/percent"), "{cause}");
}

#[tokio::test]
async fn progress_and_blocking_values_are_checked_too() {
    #[derive(Serialize, JsonSchema)]
    struct Report {
        done: f64,
    }
    let tool = Tool::new("work").emits::<Report>().blocking_handler(|(), cx: Cx| {
        let fits = cx.progress_blocking(1.0, None, "").is_ok() && cx.emit_blocking(Report { done: 2.0 }).is_ok();
        (fits, cx.emit_blocking("half").is_ok())
    });
    let events = events(&Toolkit::from_iter([tool.unwrap()])).await;
    assert_eq!(emitted(&events), [json!({"done": 1.0}), json!({"done": 2.0})]);
    assert_eq!(events.last().unwrap().result().unwrap().decode::<(bool, bool)>().unwrap(), (true, false));

    let strict =
        Tool::new("work").emits::<Step>().handler(|(), cx: Cx| async move { cx.progress(1.0, 2.0, "").await.is_ok() });
    let result = Toolkit::<()>::from_iter([strict.unwrap()]).run_call(&call()).await;
    assert!(!result.decode::<bool>().unwrap());
}

#[tokio::test]
async fn preliminary_results_have_the_success_schema() {
    let tool = Tool::new("work")
        .emits::<Step>()
        .handler(|(), cx: Cx| async move { cx.preliminary("early").await.is_ok().to_string() });
    let events = events(&Toolkit::from_iter([tool.unwrap()])).await;
    assert!(matches!(&events[0], ToolEvent::Preliminary { value, .. } if value.to_value() == "early"), "{events:?}");
    assert_eq!(events[1].result().unwrap().to_model_text(), "true");
}

/// A middleware can replace values, and not by values that the tool could not emit.
#[tokio::test]
async fn a_replaced_value_is_checked_again() {
    let half = |request: Request, next: Next| async move {
        let request = request.map_emissions(|emitted| match emitted {
            Emitted::Progress(value) => {
                let percent = value.to_value()["percent"].as_f64().unwrap_or_default();
                let value = if percent > 50.0 { json!("more than half") } else { json!({"percent": percent / 2.0}) };
                Some(Emitted::Progress(JsonText::from(value)))
            }
            other => Some(other),
        });
        let outcome: Outcome = next.run(request).await;
        outcome
    };
    let values = vec![json!({"percent": 10}), json!({"percent": 90}), json!({"percent": 20})];
    let declared = kit(Tool::new("work").emits::<Step>(), values.clone()).wrap(half);
    assert_eq!(emitted(&events(&declared).await), [json!({"percent": 5.0}), json!({"percent": 10.0})]);
    let free = kit(Tool::new("work"), values).wrap(half);
    assert_eq!(emitted(&events(&free).await).len(), 3);
}

#[test]
fn the_descriptor_contains_the_schema() {
    let tool = |builder: ToolBuilder| builder.handler(|(), _cx| async {}).unwrap();
    let (free, declared) = (tool(Tool::new("work")), tool(Tool::new("work").emits::<Step>()));
    let descriptor = declared.descriptor();
    let stored = serde_json::to_value(&*descriptor).unwrap();
    assert_eq!(stored["emits"]["properties"]["percent"]["maximum"], 100.0);
    let read: ToolDescriptor = serde_json::from_value(stored).unwrap();
    assert_eq!(read, *descriptor);
    assert_eq!(Tool::from_descriptor(&read).unwrap().emits().unwrap().as_json(), declared.emits().unwrap().as_json());
    assert!(serde_json::to_value(&*free.descriptor()).unwrap().get("emits").is_none());
    // What a call emits affects no decision about it, so approvals stay valid.
    assert_eq!(free.definition_digest(), declared.definition_digest());
}

#[test]
fn a_tool_that_is_not_executed_here_emits_nothing() {
    for tool in [Tool::signal("work"), Tool::interaction("work")] {
        let error = tool.emits::<Step>().define().unwrap_err();
        assert!(
            matches!(error.faults.as_slice(), [DefinitionFault::Unsupported { setting: "`emits`", .. }]),
            "{error}"
        );
    }
}

#[test]
fn an_invalid_schema_is_a_fault() {
    struct Broken;
    impl JsonSchema for Broken {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Broken".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({"type": 7})
        }
    }
    impl Serialize for Broken {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit()
        }
    }
    let error = Tool::new("work").emits::<Broken>().define().unwrap_err();
    assert!(matches!(error.faults.as_slice(), [DefinitionFault::Schema { part: SchemaPart::Emits, .. }]), "{error}");
    assert!(error.to_string().contains("the `emits` schema is invalid"), "{error}");
}

struct Work;

impl ToolType for Work {
    const NAME: &'static str = "work";
    type Params = ();
    type Success = ();
    type Failure = NoFailure;
    type Services = ();

    fn definition(builder: BuilderOf<Self>) -> BuilderOf<Self> {
        builder.emits::<<Self as Emits>::Event>()
    }
}

impl Emits for Work {
    type Event = Step;
}

impl Handle for Work {
    async fn handle(&self, (): (), cx: &Cx) -> Result<(), HandlerError> {
        cx.emit(step(40.0)).await?;
        cx.preliminary(()).await?;
        Ok(cx.emit(step(80.0)).await?)
    }
}

#[tokio::test]
async fn events_are_read_by_the_type_of_their_tool() {
    let noise = Tool::new("noise").handler(|(), cx: Cx| async move { cx.emit("noise").await.is_ok() }).unwrap();
    let kit: Toolkit = Toolkit::from_iter([Tool::from_handler(Work).unwrap(), noise]);
    let (mut run, mut steps) = (kit.run([call(), ToolCall::new("c2", "noise", "")]), Vec::new());
    while let Some(event) = run.next().await {
        steps.extend(Work::read_event(&event).transpose().unwrap());
    }
    assert_eq!(steps, [step(40.0), step(80.0)]);
}

/// An event that was stored by another version of the tool.
#[test]
fn an_event_of_another_type_is_an_error() {
    let event = |tool: &str, data: Value| ToolEvent::Progress {
        index: 0,
        call_id: "c1".into(),
        tool: tool.into(),
        seq: 0,
        data: data.into(),
    };
    assert!(Work::read_event(&event("work", json!("half"))).unwrap().is_err());
    assert_eq!(Work::read_event(&event("work", json!({"percent": 7}))).unwrap().unwrap(), step(7.0));
    assert!(Work::read_event(&event("a__work", json!({"percent": 7}))).is_none());
}
