//! Tools whose schema is known only at run time.
//!
//! In the order a user meets them: creating one, its defaults, distinguishing it from other kinds, its JSON Schema,
//! its handler, its results and failures, the extent of validation, and its uses. Two notions of dynamically typed
//! languages have no counterpart: a guard over arbitrary values (a [`Tool`] is always a tool), and choosing by
//! inspection between a schema object and a plain JSON object (here they are different methods).

use std::collections::BTreeMap;

use haft_core::Strict;
use haft_executor::{ApprovalPolicy, DefinitionFault, FailureMode, SchemaPart, Tool, ToolKind, Toolkit};
use haft_schema::{Issue, Schema, Validation, Validator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{failure, value};

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
struct Hit {
    title: String,
    url: String,
}

fn query_schema() -> Value {
    json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]})
}

// Creating one.

#[test]
fn parameters_are_a_type_a_schema_or_raw_json() {
    let by_type = Tool::dynamic("t").params::<Search>().define().unwrap();
    let by_schema = Tool::dynamic("t").params_schema(Schema::of_params::<Search>().unwrap()).define().unwrap();
    let by_json = Tool::dynamic("t").params_json(query_schema()).define().unwrap();
    assert_eq!(by_type.json_schema(), by_schema.json_schema());
    assert_eq!(by_json.json_schema(), &query_schema());
    assert!([&by_type, &by_schema, &by_json].iter().all(|tool| matches!(tool.kind(), ToolKind::Dynamic)));
}

#[tokio::test]
async fn without_settings_any_value_is_accepted_and_returned() {
    let echo = Tool::dynamic("echo").handler(|value: Value, _| async move { value }).unwrap();
    assert_eq!(echo.json_schema(), &json!({}));
    assert_eq!(echo.success().as_json(), &json!({}));
    assert_eq!(echo.failure().as_json(), &json!(false));
    assert_eq!(echo.failure_mode(), FailureMode::Error);
    assert_eq!(echo.description(), None);
    assert!(echo.annotations().is_empty());
    assert!(echo.approval().is_never());
    assert!(echo.dependencies().is_empty());
    assert!(echo.requires_handler());
    assert_eq!(echo.descriptor().output_schema, None);
    for arguments in [r#"{"a":[1,null]}"#, "[]", "3", r#""text""#, "null", "true"] {
        let sent: Value = serde_json::from_str(arguments).unwrap();
        assert_eq!(value(&echo, arguments).await, sent);
    }
    assert_eq!(value(&echo, "").await, json!({}));
    let defined = Tool::dynamic("echo").define().unwrap();
    assert_eq!(defined.descriptor(), echo.descriptor());
}

#[test]
fn every_option_is_kept() {
    let tool = Tool::dynamic("risky")
        .describe("Risky.")
        .params_json(query_schema())
        .success::<Vec<String>>()
        .failure_schema(Schema::of_output::<BTreeMap<String, String>>().unwrap())
        .failure_mode(FailureMode::Return)
        .needs_approval(ApprovalPolicy::always())
        .define()
        .unwrap();
    assert_eq!(tool.description(), Some("Risky."));
    assert_eq!(tool.parameters().as_json(), &query_schema());
    assert_eq!(tool.success().as_json(), &json!({"type": "array", "items": {"type": "string"}}));
    assert_eq!(tool.failure().as_json(), &json!({"type": "object", "additionalProperties": {"type": "string"}}));
    assert_eq!(tool.failure_mode(), FailureMode::Return);
    assert!(tool.approval().is_always());
    assert_eq!((tool.id().as_str(), tool.name()), ("risky", "risky"));
}

// Distinguishing it from other kinds.

#[test]
fn a_dynamic_tool_is_dynamic_however_its_parameters_were_given() {
    assert!(Tool::dynamic("t").params::<Search>().define().unwrap().is_dynamic());
    assert!(Tool::dynamic("t").params_json(json!({"type": "object", "properties": {}})).define().unwrap().is_dynamic());
    assert!(!Tool::dynamic("t").define().unwrap().is_user_defined());
}

#[test]
fn other_kinds_are_not_dynamic() {
    let provider = Tool::provider("test.provider_tool").custom_name("ProviderTool").with_args(()).define().unwrap();
    assert!(!Tool::new("t").params::<Search>().define().unwrap().is_dynamic());
    assert!(!provider.is_dynamic());
    assert!(!Tool::signal("t").define().unwrap().is_dynamic());
    assert!(!Tool::interaction("t").define().unwrap().is_dynamic());
}

// Its JSON Schema.

#[test]
fn a_type_gives_a_derived_schema() {
    let tool = Tool::dynamic("t").params::<Search>().define().unwrap();
    let schema = tool.json_schema();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["required"], json!(["query"]));
    assert!(schema["properties"]["query"].is_object() && schema["properties"]["limit"].is_object());
}

#[test]
fn raw_json_is_kept_unchanged() {
    let plain = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Search query"},
            "limit": {"type": "number", "minimum": 1, "maximum": 100}
        },
        "required": ["query"],
        "additionalProperties": false
    });
    let complex = json!({
        "type": "object",
        "properties": {
            "value": {"oneOf": [{"type": "string"}, {"type": "number"}]},
            "item": {"$ref": "#/$defs/Item"}
        },
        "$defs": {"Item": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "x-vendor": {"kept": true}
    });
    for schema in [plain, complex] {
        let tool = Tool::dynamic("t").params_json(schema.clone()).define().unwrap();
        assert_eq!(tool.json_schema(), &schema);
        let sent = serde_json::to_string(&tool.descriptor().input_schema).unwrap();
        assert_eq!(sent, schema.to_string(), "the order of keys is kept too");
    }
}

#[test]
fn the_description_of_a_raw_schema_is_the_tools_own() {
    let schema = json!({"type": "object", "description": "From the schema."});
    let silent = Tool::dynamic("t").params_json(schema.clone()).define().unwrap();
    assert_eq!(silent.description(), Some("From the schema."));
    let said = Tool::dynamic("t").describe("Said.").params_json(schema.clone()).define().unwrap();
    assert_eq!(said.description(), Some("Said."));
    let emptied = Tool::dynamic("t").describe("").params_json(schema).define().unwrap();
    assert_eq!(emptied.description(), Some(""));
}

#[test]
fn an_invalid_raw_schema_is_rejected_when_the_tool_is_created() {
    let error = Tool::dynamic("t")
        .params_json(json!({"type": "object", "properties": {"a": {"type": "nonsense"}, "b": {"minimum": "x"}}}))
        .define()
        .unwrap_err();
    let [DefinitionFault::Schema { part: SchemaPart::Parameters, issues }] = error.faults.as_slice() else {
        panic!("{error}")
    };
    let pointers: Vec<&str> = issues.into_iter().map(|issue| issue.pointer.as_str()).collect();
    assert!(pointers.iter().any(|p| p.starts_with("/properties/a")), "{pointers:?}");
    assert!(pointers.iter().any(|p| p.starts_with("/properties/b")), "{pointers:?}");
}

#[test]
fn strict_mode_applies_to_dynamic_tools_too() {
    let tool = Tool::dynamic("t").params_json(query_schema()).annotate(Strict(false)).define().unwrap();
    assert_eq!(tool.strict(), Some(false));
    assert_eq!(tool.descriptor().strict, Some(false));
}

// Its handler.

#[tokio::test]
async fn a_typed_handler_gets_decoded_parameters() {
    let search = Tool::dynamic("search")
        .success::<Vec<String>>()
        .handler(|search: Search, _| async move {
            (0..search.limit.unwrap_or(1)).map(|index| format!("{}-{index}", search.query)).collect()
        })
        .unwrap();
    assert_eq!(value(&search, r#"{"query":"test","limit":3}"#).await, json!(["test-0", "test-1", "test-2"]));
    assert_eq!(failure(&search, r#"{"limit":3}"#).await.kind.as_str(), "input_validation_error");
}

#[tokio::test]
async fn a_raw_schema_passes_the_json_to_the_handler() {
    let search = Tool::dynamic("search")
        .params_json(json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "number"}}
        }))
        .success::<Vec<String>>()
        .handler(|params: Value, _| async move {
            let limit = params["limit"].as_u64().unwrap();
            (0..limit).map(|index| format!("{}-{index}", params["query"].as_str().unwrap())).collect()
        })
        .unwrap();
    assert_eq!(value(&search, r#"{"query":"test","limit":3}"#).await, json!(["test-0", "test-1", "test-2"]));
}

#[tokio::test]
async fn a_raw_schema_can_be_read_as_a_user_type() {
    #[derive(Deserialize)]
    struct NoSchema {
        query: String,
    }
    let tool = Tool::dynamic("t").params_json(query_schema()).handler(|p: NoSchema, _| async move { p.query }).unwrap();
    assert_eq!(value(&tool, r#"{"query":"x","more":1}"#).await, json!("x"));
}

// Results and failures.

#[tokio::test]
async fn a_success_is_encoded_by_its_schema() {
    #[derive(JsonSchema)]
    struct Seconds(#[allow(dead_code, reason = "only its schema is read")] u64);
    struct Stamp(std::time::Duration);
    impl Serialize for Stamp {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([("timestamp", self.0.as_millis())])
        }
    }
    let schema = json!({"type": "object", "properties": {"timestamp": {"type": "integer"}}, "required": ["timestamp"]});
    let tool = Tool::dynamic("now")
        .params_json(json!({"type": "object", "properties": {}}))
        .success_json(schema)
        .handler(|_: Value, _| async { Stamp(std::time::Duration::from_secs(1)) })
        .unwrap();
    assert_eq!(value(&tool, "{}").await, json!({"timestamp": 1000}));
    let other = tool.set_success(Schema::of_output::<Seconds>().unwrap());
    assert_eq!(failure(&other, "{}").await.kind.as_str(), "output_validation_error");
}

#[tokio::test]
async fn an_invalid_output_is_a_failure_with_a_pointer() {
    let tool = Tool::dynamic("t")
        .success_json(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}))
        .handler(|n: Value, _| async move { json!({"n": n}) })
        .unwrap();
    assert_eq!(value(&tool, "1").await, json!({"n": 1}));
    let failure = failure(&tool, r#""one""#).await;
    assert_eq!(failure.kind.as_str(), "output_validation_error");
    assert_eq!(failure.issues.as_slice()[0].pointer, "/n");
    assert!(failure.started);
}

#[tokio::test]
async fn declared_failures_have_their_schema() {
    #[derive(Debug, Serialize, JsonSchema)]
    struct Coded {
        code: String,
        message: String,
    }
    impl haft_executor::Failure for Coded {
        fn message(&self) -> String {
            self.message.clone()
        }
    }
    let tool = Tool::dynamic("risky")
        .params_json(query_schema())
        .failure_mode(FailureMode::Return)
        .try_handler(|_: Value, _| async { Err::<Value, _>(Coded { code: "E1".into(), message: "no luck".into() }) })
        .unwrap();
    assert_eq!(tool.failure().as_json()["required"], json!(["code", "message"]));
    let failure = failure(&tool, r#"{"query":"x"}"#).await;
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), ("tool_failed", "no luck"));
    assert_eq!(failure.details.unwrap().to_value(), json!({"code": "E1", "message": "no luck"}));
}

// The extent of validation.

#[tokio::test]
async fn raw_schemas_are_enforced_in_full_by_default() {
    let tool = Tool::dynamic("t").params_json(query_schema()).handler(|v: Value, _| async move { v }).unwrap();
    let refused = failure(&tool, r#"{"query":7}"#).await;
    assert_eq!(refused.kind.as_str(), "input_validation_error");
    assert_eq!(refused.issues.as_slice()[0].pointer, "/query");
    assert_eq!(failure(&tool, "{}").await.issues.as_slice()[0].keyword, "required");
}

#[tokio::test]
async fn a_raw_schema_can_be_sent_without_being_enforced() {
    let schema = Schema::json_with(query_schema(), Validation::None).unwrap();
    let tool = Tool::dynamic("t").params_schema(schema).handler(|v: Value, _| async move { v }).unwrap();
    assert_eq!(value(&tool, r#"{"query":7}"#).await, json!({"query": 7}));
    assert_eq!(tool.json_schema(), &query_schema());
}

#[tokio::test]
async fn a_function_can_validate_in_place_of_the_schema_or_after_it() {
    let even = Validator::new(|value: &Value| match value["query"].as_str() {
        Some(query) if query.len() % 2 == 1 => Err(Issue::new("/query", "even", "must have an even length").into()),
        _ => Ok(()),
    });
    let instead = Schema::json_with(query_schema(), Validation::With(even.clone())).unwrap();
    let tool = Tool::dynamic("t").params_schema(instead).handler(|v: Value, _| async move { v }).unwrap();
    assert_eq!(value(&tool, r#"{"query":7}"#).await, json!({"query": 7}));
    assert_eq!(failure(&tool, r#"{"query":"odd"}"#).await.issues.as_slice()[0].keyword, "even");
    let after = Schema::json_with(query_schema(), Validation::FullThen(even)).unwrap();
    let tool = tool.set_parameters(after);
    assert_eq!(failure(&tool, r#"{"query":7}"#).await.issues.as_slice()[0].keyword, "type");
    assert_eq!(failure(&tool, r#"{"query":"odd"}"#).await.issues.as_slice()[0].keyword, "even");
}

// Uses.

#[tokio::test]
async fn tools_discovered_at_run_time_make_a_toolkit() {
    let discovered = [
        json!({"name": "search_files", "description": "Searches files.", "inputSchema": query_schema()}),
        json!({"name": "read_file", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}),
    ];
    let tools = discovered.iter().map(|remote| {
        let name = remote["name"].as_str().unwrap().to_owned();
        let mut builder = Tool::dynamic(&name).params_json(remote["inputSchema"].clone());
        if let Some(description) = remote["description"].as_str() {
            builder = builder.describe(description);
        }
        builder
            .handler(move |params: Value, _| {
                let name = name.clone();
                async move { json!({"called": name, "with": params}) }
            })
            .unwrap()
    });
    let kit: Toolkit = Toolkit::new().with_all(tools).unwrap();
    assert_eq!(kit.names().collect::<Vec<_>>(), ["search_files", "read_file"]);
    let search = kit.get("search_files").unwrap();
    assert_eq!(value(search, r#"{"query":"x"}"#).await, json!({"called": "search_files", "with": {"query": "x"}}));
    kit.ensure_runnable().unwrap();
}

#[tokio::test]
async fn an_unknown_input_can_have_a_typed_output() {
    let search = Tool::dynamic("web_search")
        .params_json(query_schema())
        .success::<Vec<Hit>>()
        .handler(|params: Value, _| async move {
            vec![Hit { title: params["query"].to_string(), url: "https://example.org".into() }]
        })
        .unwrap();
    assert_eq!(search.descriptor().output_schema.as_ref().unwrap().as_json()["type"], "array");
    assert_eq!(value(&search, r#"{"query":"x"}"#).await[0]["url"], "https://example.org");
}

#[tokio::test]
async fn a_typed_dynamic_tool_is_as_safe_as_a_local_one() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Operation {
        Add,
        Divide,
    }
    #[derive(Deserialize, JsonSchema)]
    struct Calculation {
        operation: Operation,
        a: f64,
        b: f64,
    }
    let calculate = |c: Calculation| match c.operation {
        Operation::Add => c.a + c.b,
        Operation::Divide => c.a / c.b,
    };
    let dynamic = Tool::dynamic("calc").success::<f64>().handler(move |c, _| async move { calculate(c) }).unwrap();
    let local = Tool::new("calc").handler(move |c: Calculation, _| async move { calculate(c) }).unwrap();
    assert_eq!(dynamic.json_schema(), local.json_schema());
    assert_eq!(dynamic.success().as_json(), local.success().as_json());
    for tool in [&dynamic, &local] {
        assert_eq!(value(tool, r#"{"operation":"add","a":1,"b":2.5}"#).await, json!(3.5));
        assert_eq!(failure(tool, r#"{"operation":"power","a":1,"b":2}"#).await.kind.as_str(), "input_validation_error");
        let infinite = failure(tool, r#"{"operation":"divide","a":1,"b":0}"#).await;
        assert_eq!(infinite.kind.as_str(), "output_validation_error");
    }
}

#[test]
fn providers_see_dynamic_and_local_tools_alike() {
    let local = Tool::new("t").describe("d").params::<Search>().success::<String>().define().unwrap().descriptor();
    let dynamic =
        Tool::dynamic("t").describe("d").params::<Search>().success::<String>().define().unwrap().descriptor();
    let mut as_local = (*dynamic).clone();
    as_local.kind = local.kind.clone();
    assert_ne!(local, dynamic);
    assert_eq!(*local, as_local);
}
