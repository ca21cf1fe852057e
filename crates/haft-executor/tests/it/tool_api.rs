//! The whole surface of a tool definition, name by name.
//!
//! | notion | here |
//! |---|---|
//! | `make`, `dynamic`, `providerDefined` | [`Tool::new`], [`Tool::dynamic`], [`Tool::provider`] |
//! | `Title`, `Readonly`, `Destructive`, `Idempotent`, `OpenWorld`, `Strict`, `Meta` | annotation types of the same names |
//! | `getDescription`, `getJsonSchema`, `getStrictMode` | [`Tool::description`], [`Tool::json_schema`], [`Tool::strict`] |
//! | `getJsonSchema` with a transformer | [`Tool::json_schema_for`] a [`Dialect`] |
//! | `getJsonSchemaFromSchema` | [`Schema::as_json`] |
//! | `isUserDefined`, `isDynamic`, `isProviderDefined` | methods of the same names |
//! | `FailureMode`, `EmptyParams` | types of the same names |
//! | `NeedsApproval`, `NeedsApprovalContext`, `NeedsApprovalFunction` | [`ApprovalPolicy`], `ApprovalCx`, [`ApprovalPolicy::when`] |
//! | `Handler`, `HandlersFor` | the closure given to `run`; a toolkit lists tools that lack one |
//! | `HandlerOutput`, `HandlerError` | types of the same names |
//! | `HandlerResult` | `ToolResult` for a run; the single-call path belongs to the executor |
//! | `setParameters`, `setSuccess`, `setFailure`, `addDependency`, `annotate`, `annotateMerge` | methods of the same names |
//! | `Name`, `Parameters`, `Success`, `Failure`, `HandlerServices` of a tool's type | the associated items of `ToolType` |
//! | `ParametersSchema`, `SuccessSchema` | [`Tool::parameters`], [`Tool::success`] |
//! | `RequiresHandler` | [`Tool::requires_handler`] |
//! | `…Encoded`, `Result`, `FailureResult`, `…DecodingServices`, `…EncodingServices` | no counterpart: encoding is serde's, needs no services, and a result is a `Result` |
//! | `Any`, `AnyDynamic`, `AnyProviderDefined` | [`Tool`], which is erased already |
//! | `TypeId`, `DynamicTypeId`, `ProviderDefinedTypeId` | no counterpart: kinds are [`ToolKind`] |
//! | `unsafeSecureJsonParse` | `secure_json::parse` |

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails should stop")]

use std::collections::HashSet;

use haft_core::{
    Annotation, Annotations, DescriptorKind, Destructive, Dialect, Icon, Icons, Idempotent, Loss, LossKind, Meta,
    OpenWorld, ProviderOptions, Readonly, RenderFault, Rendered, Strict, Title, ToolCall, ToolDescriptor, Version,
};
use haft_executor::{ApprovalPolicy, ExecutionLimits, FailureMode, Tool, ToolKind};
use haft_schema::Schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, run, value};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Query {
    query: String,
}

#[derive(Debug, PartialEq)]
struct Owner(&'static str);
impl Annotation for Owner {}

fn web_search() -> Tool {
    Tool::provider("openai.web_search")
        .custom_name("OpenAiWebSearch")
        .provider_name("web_search")
        .args::<Query>()
        .success::<Vec<String>>()
        .with_args(Query { query: "rust".into() })
        .define()
        .unwrap()
}

fn local() -> Tool {
    Tool::new("local").params::<Query>().example(json!({"query": "x"})).handler(|q, _| async move { q.query }).unwrap()
}

// Annotations.

#[test]
fn every_annotation_is_read_back_and_shown() {
    let source = include_str!("../../../haft-core/src/descriptor/annotation.rs");
    let declared = source.lines().filter_map(|line| line.strip_prefix("impl Annotation for ")?.strip_suffix(" {}"));
    let declared: Vec<&str> = declared.collect();
    assert_eq!(declared, Annotations::BUILT_IN);
    let bare = Tool::new("t").define().unwrap();
    for name in declared {
        let descriptor = |tool: Tool| (*tool.descriptor()).clone();
        match name {
            "Title" => {
                assert_eq!(bare.title(), None);
                let titled = bare.annotate(Title("Tip".into()));
                assert_eq!(titled.title(), Some("Tip"));
                assert_eq!(descriptor(titled).title.as_deref(), Some("Tip"));
                assert_eq!(Tool::new("t").title("Tip").define().unwrap().title(), Some("Tip"));
            }
            "Readonly" => assert!(descriptor(bare.annotate(Readonly(true))).hints.readonly),
            "Destructive" => assert!(!descriptor(bare.annotate(Destructive(false))).hints.destructive),
            "Idempotent" => assert!(descriptor(bare.annotate(Idempotent(true))).hints.idempotent),
            "OpenWorld" => assert!(!descriptor(bare.annotate(OpenWorld(false))).hints.open_world),
            "Strict" => {
                let states = [bare.clone(), bare.annotate(Strict(true)), bare.annotate(Strict(false))];
                assert_eq!(states.each_ref().map(Tool::strict), [None, Some(true), Some(false)]);
                assert_eq!(states.map(|tool| tool.descriptor().strict), [None, Some(true), Some(false)]);
            }
            "Meta" => {
                let meta = json!({"ui": {"resourceUri": "ui://calculator"}}).as_object().cloned().unwrap();
                assert_eq!(descriptor(bare.annotate(Meta(meta.clone()))).meta, Some(meta));
            }
            "Version" => {
                let versioned = Tool::new("t").version("1.2").define().unwrap();
                assert_eq!((bare.version(), versioned.version()), (None, Some("1.2")));
                assert_eq!(descriptor(bare.annotate(Version("1.2".into()))), *versioned.descriptor());
            }
            "Icons" => {
                let icon = || Icon::new("https://example.com/i.svg");
                assert_eq!(descriptor(bare.annotate(Icons(vec![icon()]))).icons, [icon()]);
                assert_eq!(Tool::new("t").icon(icon()).icon(icon()).define().unwrap().descriptor().icons.len(), 2);
            }
            "ProviderOptions" => {
                let options = ProviderOptions::new().for_provider("acme", json!({"cents": 3}));
                let read = descriptor(bare.annotate(options)).provider_options;
                assert_eq!(read.read_provider::<Value>("acme").unwrap(), Some(json!({"cents": 3})));
                assert_eq!(read.read_provider::<Value>("other").unwrap(), None);
                assert!(read.read_provider::<u8>("acme").is_err());
            }
            other => panic!("the annotation {other} has no case here"),
        }
    }
}

#[test]
fn the_four_hints_are_always_shown_with_their_defaults() {
    let shown = serde_json::to_value(&*Tool::new("t").define().unwrap().descriptor()).unwrap();
    assert_eq!(
        shown["hints"],
        json!({"readonly": false, "destructive": true, "idempotent": false, "open_world": true})
    );
    assert!(shown.get("strict").is_none() && shown.get("title").is_none() && shown.get("meta").is_none());
}

#[test]
fn users_annotate_with_their_own_types() {
    let tool = Tool::new("t").annotate(Owner("search team")).define().unwrap();
    assert_eq!(tool.annotations().get::<Owner>(), Some(&Owner("search team")));
    assert_eq!(web_search().annotate(Owner("a")).annotations().get::<Owner>(), Some(&Owner("a")));
}

// Constructors.

#[test]
fn a_local_tool_has_its_defaults() {
    let tool = Tool::new("t").define().unwrap();
    assert_eq!((tool.id().as_str(), tool.name(), tool.description()), ("t", "t", None));
    assert_eq!(tool.kind(), &ToolKind::Local);
    assert_eq!(tool.success().as_json(), &json!({"type": "null"}));
    assert_eq!(tool.failure().as_json(), &json!(false));
    assert_eq!(tool.failure_mode(), FailureMode::Error);
    assert!(tool.annotations().is_empty() && tool.examples().is_empty() && tool.approval().is_never());
    assert_eq!(tool.limits(), &ExecutionLimits::new());
    assert!(tool.requires_handler() && !tool.has_handler());
}

#[tokio::test]
async fn a_success_without_content_is_null() {
    let tool = Tool::new("t").handler(|(), _| async {}).unwrap();
    assert_eq!(value(&tool, "{}").await, Value::Null);
    assert_eq!(run(&tool, "{}").await.to_call_output().output.to_string(), "null");
}

#[test]
fn a_provider_defined_tool_keeps_its_three_names_and_its_arguments() {
    let tool = web_search();
    let provider = tool.provider_definition().unwrap();
    assert_eq!((tool.id().as_str(), tool.name()), ("openai.web_search", "OpenAiWebSearch"));
    assert_eq!((provider.vendor(), provider.provider_name()), ("openai", "web_search"));
    assert_eq!(provider.args(), &json!({"query": "rust"}));
    assert!(!provider.requires_handler() && !tool.requires_handler());
    assert_eq!(
        tool.descriptor().kind,
        serde_json::from_value::<DescriptorKind>(json!({
            "type": "provider", "id": "openai.web_search", "provider_name": "web_search", "args": {"query": "rust"}
        }))
        .unwrap()
    );
}

#[test]
fn a_provider_defined_tool_has_its_defaults() {
    let tool = Tool::provider("acme.lookup").with_args(()).define().unwrap();
    assert_eq!((tool.name(), tool.provider_definition().unwrap().provider_name()), ("lookup", "lookup"));
    assert_eq!(tool.provider_definition().unwrap().args(), &Value::Null);
    assert_eq!(tool.parameters(), &Schema::empty());
    assert_eq!(tool.success().as_json(), &json!({"type": "null"}));
    assert_eq!(tool.failure().as_json(), &json!(false));
    assert!(!tool.requires_handler());
    assert!(tool.annotations().is_empty());
    assert_eq!(tool.strict(), None);
    assert_eq!(tool.annotate(Strict(true)).strict(), Some(true));
}

#[test]
fn one_factory_makes_many_tools() {
    let factory = Tool::provider("openai.file_search").args::<Query>();
    let one = factory.with_args(Query { query: "a".into() }).define().unwrap();
    let two = factory.clone().custom_name("Second").with_args(Query { query: "b".into() }).define().unwrap();
    assert_eq!(one.provider_definition().unwrap().args(), &json!({"query": "a"}));
    assert_eq!(two.provider_definition().unwrap().args(), &json!({"query": "b"}));
    assert_eq!((one.id(), one.name(), two.name()), (two.id(), "file_search", "Second"));
}

#[tokio::test]
async fn a_provider_defined_tool_with_a_handler_runs_here() {
    let bash = Tool::provider("anthropic.bash_20250124").provider_name("bash").params::<Query>().requires_handler();
    let ok =
        bash.with_args(()).failure_mode(FailureMode::Return).handler(|q: Query, _| async move { drop(q) }).unwrap();
    assert!(ok.requires_handler() && ok.has_handler());
    assert_eq!(ok.failure_mode(), FailureMode::Return);
    assert_eq!(value(&ok, r#"{"query":"ls"}"#).await, Value::Null);
    assert_eq!(failure(&ok, "{}").await.kind.as_str(), "input_validation_error");
    let failing = bash.with_args(()).try_handler(|_: Query, _| async { Err::<(), _>("no shell") }).unwrap();
    assert_eq!(failure(&failing, r#"{"query":"ls"}"#).await.message, "no shell");
    let bare = bash.with_args(()).define().unwrap();
    let unhandled = failure(&bare, r#"{"query":"ls"}"#).await;
    assert_eq!((unhandled.kind.as_str(), unhandled.started), ("execution_error", false));
}

// Guards.

#[test]
fn each_kind_matches_only_its_own_guard() {
    let tools = [
        local(),
        Tool::dynamic("d").define().unwrap(),
        web_search(),
        Tool::signal("s").define().unwrap(),
        Tool::interaction("i").define().unwrap(),
    ];
    let guards =
        [Tool::is_user_defined, Tool::is_dynamic, Tool::is_provider_defined, Tool::is_signal, Tool::is_interaction];
    for (row, tool) in tools.iter().enumerate() {
        for (column, guard) in guards.iter().enumerate() {
            assert_eq!(guard(tool), row == column, "{tool:?}, guard {column}");
        }
    }
}

// Getters.

#[test]
fn an_explicit_description_wins_over_the_parameters_own() {
    /// Looks things up.
    #[derive(Deserialize, JsonSchema)]
    struct Documented {
        #[allow(dead_code, reason = "only its schema is read")]
        key: String,
    }
    let builder = || Tool::new("t").params::<Documented>();
    assert_eq!(builder().define().unwrap().description(), Some("Looks things up."));
    assert_eq!(builder().describe("Said.").define().unwrap().description(), Some("Said."));
    assert_eq!(builder().describe("").define().unwrap().description(), Some(""));
    assert_eq!(builder().describe("").define().unwrap().descriptor().description.as_deref(), Some(""));
    assert_eq!(Tool::new("t").params::<Query>().define().unwrap().description(), None);
}

#[test]
fn a_dialect_renders_the_parameters_and_reports_what_it_lost() {
    struct NoPatterns;
    impl Dialect for NoPatterns {
        fn name(&self) -> &'static str {
            "no patterns"
        }
        fn render(&self, schema: &Schema) -> Result<Rendered, RenderFault> {
            let mut json = schema.as_json().clone();
            let object = json.as_object_mut().ok_or_else(|| RenderFault::new("", "not an object", "write `{}`"))?;
            object.remove("pattern");
            Ok(Rendered::exact(json).with_loss("/pattern", LossKind::Keyword, "the pattern"))
        }
    }
    let tool = Tool::new("t").params_json(json!({"type": "string", "pattern": "^a"})).define().unwrap();
    let rendered = tool.json_schema_for(&NoPatterns).unwrap();
    assert_eq!(rendered.json, json!({"type": "string"}));
    assert_eq!(rendered.losses, [Loss::new("/pattern", LossKind::Keyword, "the pattern")]);
    assert!(rendered.codec.is_identity());
    assert_eq!(tool.json_schema()["pattern"], "^a");
}

#[test]
fn schemas_are_of_the_encoded_side() {
    #[derive(Deserialize, JsonSchema)]
    struct Renamed {
        #[serde(rename = "maxResults")]
        #[allow(dead_code, reason = "only its schema is read")]
        max_results: u8,
        #[schemars(with = "String")]
        #[allow(dead_code, reason = "only its schema is read")]
        when: u8,
    }
    let tool = Tool::new("t").params::<Renamed>().define().unwrap();
    assert!(tool.json_schema()["properties"]["maxResults"].is_object());
    assert_eq!(tool.json_schema()["properties"]["when"]["type"], "string");
}

#[test]
fn a_descriptor_is_made_once_and_survives_a_round_trip() {
    let tool = local().annotate(Strict(true)).annotate(Title("T".into()));
    assert!(std::sync::Arc::ptr_eq(&tool.descriptor(), &tool.clone().descriptor()));
    for tool in [tool, web_search(), Tool::dynamic("d").define().unwrap(), Tool::signal("s").define().unwrap()] {
        let text = serde_json::to_string(&*tool.descriptor()).unwrap();
        let read: ToolDescriptor = serde_json::from_str(&text).unwrap();
        assert_eq!(read, *tool.descriptor());
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}

#[test]
fn debug_contains_the_names_of_a_tool() {
    let shown = format!("{:?} {:?}", web_search(), Tool::new("half").describe("x"));
    assert!(shown.contains("openai.web_search") && shown.contains("OpenAiWebSearch") && shown.contains("half"));
}

// Approval.

#[test]
fn approval_is_set_without_changing_the_original() {
    let tool = local();
    assert!(tool.set_needs_approval(ApprovalPolicy::always()).unwrap().approval().is_always());
    assert!(tool.approval().is_never());
    let dynamic = Tool::dynamic("d").define().unwrap();
    let policy = ApprovalPolicy::when(|_: Value, _| async { true });
    let gated = dynamic.set_needs_approval(policy).unwrap();
    assert!(gated.is_dynamic() && !gated.approval().is_never() && !gated.approval().is_always());
}

#[tokio::test]
async fn a_gated_call_is_denied_without_an_approver() {
    let policies = [
        ApprovalPolicy::always(),
        ApprovalPolicy::when(|q: Query, _| async move { q.query == "x" }),
        ApprovalPolicy::when(|_: Query, _| async { Err::<bool, _>("policy server is down") }),
        ApprovalPolicy::when(|_: u8, _| async { false }),
    ];
    for policy in policies {
        let denied = failure(&local().set_needs_approval(policy).unwrap(), r#"{"query":"x"}"#).await;
        assert_eq!((denied.kind.as_str(), denied.started), ("denied", false));
        assert!(denied.message.contains("requires approval and no approver is configured"));
        assert!(!denied.to_model_text().contains("policy server"));
    }
    let free = local().set_needs_approval(ApprovalPolicy::when(|q: Query, _| async move { q.query != "x" })).unwrap();
    assert_eq!(value(&free, r#"{"query":"x"}"#).await, json!("x"));
}

#[tokio::test]
async fn arguments_are_checked_before_approval_is_requested() {
    let tool = local().set_needs_approval(ApprovalPolicy::always()).unwrap();
    assert_eq!(failure(&tool, r#"{"query":1}"#).await.kind.as_str(), "input_validation_error");
}

// Reading calls.

#[test]
fn arguments_are_read_on_every_kind() {
    let call = |name: &str| ToolCall::new("c1", name, r#"{"query":"q"}"#);
    let tools = [
        local(),
        Tool::dynamic("d").params::<Query>().define().unwrap(),
        Tool::provider("v.p").params::<Query>().with_args(()).define().unwrap(),
        Tool::signal("s").params::<Query>().define().unwrap(),
        Tool::interaction("i").params::<Query>().define().unwrap(),
    ];
    let read: HashSet<String> =
        tools.iter().map(|tool| tool.decode_args::<Query>(&call(tool.name())).unwrap().query).collect();
    assert_eq!(read, HashSet::from(["q".to_owned()]));
}

#[test]
fn reading_rejects_bad_arguments_with_all_issues_and_calls_of_other_tools() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Two {
        #[allow(dead_code, reason = "only its schema is read")]
        a: u8,
        #[allow(dead_code, reason = "only its schema is read")]
        b: String,
    }
    let signal = Tool::signal("s").params::<Two>().define().unwrap();
    let refused = signal.decode_args::<Two>(&ToolCall::new("c1", "s", r#"{"a":300,"b":1}"#)).unwrap_err();
    assert_eq!((refused.kind.as_str(), refused.issues.len()), ("input_validation_error", 2));
    let broken = signal.decode_args::<Two>(&ToolCall::new("c1", "s", r#"{"a":"#)).unwrap_err();
    assert_eq!((broken.kind.as_str(), broken.started), ("input_validation_error", false));
    let other = signal.decode_args::<Two>(&ToolCall::new("c1", "t", r#"{"a":1,"b":"x"}"#)).unwrap_err();
    assert_eq!(other.kind.as_str(), "unknown_tool");
}
