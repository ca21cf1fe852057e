//! Results that are nested deeper than any reader accepts: an error with that reason, on threads with little stack.

use haft_core::{ApprovalRequest, ContentPart, ToolCall, ToolOutput, ToolResult};
use haft_executor::{
    ApprovalPolicy, Cx, EmitError, Emitted, HandlerOutput, Next, NoFailure, Outputs, Request, RunOptions, Tool, Toolkit,
};
use haft_schema::{JsonText, Schema, Validation};
use schemars::{JsonSchema, Schema as Described, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// Half of the stack of a tokio worker.
const STACK: usize = 1024 * 1024;

/// The deepest nesting of a result.
const MOST: usize = 128;

/// Depths beyond it.
const TOO_DEEP: [usize; 4] = [MOST + 1, 600, 1_500, 100_000];

/// A tree that is never dropped, because dropping it takes stack.
#[derive(Clone, Copy)]
struct Deep(&'static Value);

/// Creates arrays, objects or both in turn, this deep.
fn deep(levels: usize, shape: usize) -> Deep {
    let mut value = json!(null);
    for level in 0..levels {
        value = match (shape, level % 2) {
            (0, _) | (2, 0) => Value::Array(vec![value]),
            _ => Value::Object([("a".to_owned(), value)].into_iter().collect()),
        };
    }
    Deep(Box::leak(Box::new(value)))
}

/// Returns the text of arrays this deep.
fn text(levels: usize) -> JsonText {
    JsonText::parse(&format!("{}{}", "[".repeat(levels), "]".repeat(levels))).unwrap()
}

impl Serialize for Deep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Deep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Deep".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Described {
        schemars::json_schema!({})
    }
}

/// Runs on a thread with little stack.
fn cramped(test: impl FnOnce() + Send + 'static) {
    on_stack(STACK, test);
}

fn on_stack(bytes: usize, test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(bytes).spawn(test).unwrap().join().unwrap();
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn run_with(tool: Tool, options: RunOptions) -> ToolResult {
    let kit: Toolkit = Toolkit::from_iter([tool]);
    block_on(kit.run_with([ToolCall::new("c1", "t", "{}")], options).collect_results()).remove(0)
}

fn run(tool: Tool) -> ToolResult {
    run_with(tool, RunOptions::new())
}

fn assert_too_deep(result: &ToolResult, case: &str) {
    let failure = result.failure().unwrap_or_else(|| panic!("{case}"));
    assert_eq!(failure.kind.as_str(), "output_validation_error", "{case}");
    assert_eq!(failure.issues.as_slice()[0].keyword, "maxDepth", "{case}: {failure}");
    assert!(failure.message.contains("128 levels"), "{case}: {failure}");
}

/// Creates a schema that is as deep as any value.
fn endless() -> Schema {
    let inner = json!({"$ref": "#"});
    let array = json!({"type": "array", "items": inner});
    let object = json!({"type": "object", "additionalProperties": inner});
    Schema::json(json!({"anyOf": [{"type": "null"}, array, object]})).unwrap()
}

fn giving(value: Deep) -> Tool {
    Tool::new("t").handler(move |(), _cx| async move { value }).unwrap()
}

#[test]
fn a_result_that_nests_too_deep_is_an_output_validation_error() {
    cramped(|| {
        for schema in [Schema::unknown(), endless(), Schema::json_with(json!({}), Validation::None).unwrap()] {
            for levels in TOO_DEEP {
                for shape in 0..3 {
                    let result = run(giving(deep(levels, shape)).set_success(schema.clone()));
                    assert_too_deep(&result, &format!("{levels} levels of shape {shape}"));
                }
            }
        }
    });
}

#[test]
fn a_result_of_the_greatest_depth_is_returned_stored_and_read() {
    cramped(|| {
        for schema in [Schema::unknown(), endless()] {
            for shape in 0..3 {
                let value = deep(MOST, shape);
                let result = run(giving(value).set_success(schema.clone()));
                assert_eq!(result.value().map(JsonText::to_value).as_ref(), Some(value.0), "{result:?}");
            }
        }
    });
}

/// `serde_json` writes such text without examining it.
#[test]
fn the_depth_of_json_text_counts_too() {
    cramped(|| {
        for levels in TOO_DEEP {
            let given = text(levels);
            let raw = Tool::new("t").handler(move |(), _cx| {
                let given = given.clone();
                async move { Wrapped(given) }
            });
            assert_too_deep(&run(raw.unwrap()), "raw text");
        }
    });
}

/// Text inside a value.
#[derive(Serialize)]
struct Wrapped(JsonText);

impl JsonSchema for Wrapped {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Wrapped".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Described {
        schemars::json_schema!({})
    }
}

#[test]
fn a_result_made_by_hand_nests_no_deeper() {
    cramped(|| {
        for levels in TOO_DEEP {
            let outputs = [ToolOutput::new(text(levels)), ToolOutput::new(JsonText::from(deep(levels, 2).0))];
            for output in outputs {
                let tool = Tool::new("t").success_json(json!({})).handler(move |(), _cx| {
                    let output = output.clone();
                    async move { output }
                });
                assert_too_deep(&run(tool.unwrap()), "an output by hand");
            }
        }
    });
}

#[test]
fn answers_in_place_of_the_tool_nest_no_deeper() {
    cramped(|| {
        for levels in TOO_DEEP {
            let value = deep(levels, 0);
            let answered = giving(deep(0, 0)).wrap(move |request: Request, _next: Next| {
                let outcome = request.answer(&value);
                async move { outcome }
            });
            assert_too_deep(&run(answered), "a middleware's answer");
            let options = RunOptions::new().policy(ApprovalPolicy::always()).approvals(
                move |request: ApprovalRequest, _: Cx| async move { request.answer(JsonText::from(value.0)) },
            );
            // A verdict with such an answer does not count.
            let denied = run_with(giving(deep(0, 0)), options);
            assert_eq!(denied.failure().unwrap().kind, haft_core::FailureKind::Denied, "a person's answer");
        }
    });
}

#[test]
fn emitted_values_nest_no_deeper() {
    cramped(|| {
        for levels in TOO_DEEP {
            let value = deep(levels, 1);
            let streaming = Tool::new("t").stream_handler(move |(), _cx| {
                let values = [HandlerOutput::Preliminary(value), HandlerOutput::Final(value)];
                Outputs::<_, NoFailure>::new(futures_util::stream::iter(values))
            });
            assert_too_deep(&run(streaming.unwrap()), "a preliminary value");
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<Emitted>();
            let cx = Cx::for_call(&ToolCall::new("c1", "t", "{}")).with_emitter(sender);
            let emitted = block_on(cx.emit(value));
            assert!(matches!(emitted, Err(EmitError::Encode(issues)) if issues.as_slice()[0].keyword == "maxDepth"));
            assert!(receiver.try_recv().is_err());
        }
    });
}

#[test]
fn model_output_nests_no_deeper() {
    cramped(|| {
        let unknown = ContentPart::Unknown(deep_enough());
        let tool =
            Tool::new("t").to_model_output(move |_: &u8| vec![unknown.clone()]).handler(|(), _cx| async { 7_u8 });
        assert_too_deep(&run(tool.unwrap()), "parts for the model");
    });
}

/// Creates a tree that is deeper than a result may be, and not too deep to be dropped.
fn deep_enough() -> Value {
    deep(MOST + 1, 0).0.clone()
}

#[test]
fn arguments_that_a_middleware_puts_in_nest_no_deeper_than_any() {
    cramped(|| {
        for levels in TOO_DEEP {
            let value = deep(levels, 0);
            let tool = Tool::dynamic("t").handler(|_: Value, _cx| async { json!(1) }).unwrap();
            let tool = tool.wrap(move |request: Request, next: Next| next.run(request.with_arguments(value.0)));
            assert_eq!(run(tool).failure().unwrap().kind.as_str(), "input_validation_error");
        }
    });
}

#[test]
fn a_tree_that_nests_too_deep_is_rejected_unwalked() {
    cramped(|| {
        for levels in [257, 1_500, 100_000] {
            let value = deep(levels, 2).0;
            for schema in [Schema::unknown(), endless()] {
                let keyword = |issues: haft_schema::Issues| issues.as_slice()[0].keyword.clone();
                assert_eq!(schema.check(value).map_err(keyword), Err("maxDepth".to_owned()));
                assert_eq!(schema.decode_value::<Value>(value).map_err(keyword), Err("maxDepth".to_owned()));
            }
            let digest = giving(deep(0, 0)).approval_digest(value);
            assert_ne!(digest, giving(deep(0, 0)).approval_digest(&Value::Null));
        }
    });
}

#[test]
fn text_is_equal_only_to_text_of_the_same_value_however_deep() {
    on_stack(2 * STACK, || {
        assert_eq!(text(100_000), text(100_000));
        assert_ne!(text(100_000), text(99_999));
        assert_ne!(text(100_000), JsonText::null());
        let written = JsonText::from(deep(100_000, 0).0);
        assert_eq!(written.as_str().len(), 200_004);
    });
}

#[test]
fn held_json_nests_as_deep_as_a_thread_allows() {
    on_stack(2 * STACK, || {
        assert!(JsonText::encode(&deep(513, 0)).is_err() && JsonText::encode(&deep(512, 0)).is_ok());
        assert_eq!(JsonText::from(deep(512, 2).0).to_value(), *deep(512, 2).0);
        assert_eq!(JsonText::from(deep(513, 2).0).to_value(), Value::Null);
    });
}
