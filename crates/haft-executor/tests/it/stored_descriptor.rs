//! Descriptors that leave the process: their stored form, tools that are rebuilt from them, and digests.

use std::process::Command;

use haft_core::{
    CacheControl, ContentPart, DescribedAnnotation, DescriptorKind, Destructive, FailureKind, Icon, IconTheme,
    Idempotent, Meta, OpenWorld, ProviderOptions, Readonly, SchemaJson, Strict, ToolCall, ToolDescriptor, Version,
};
use haft_executor::{DefinitionFault, NameFault, SchemaPart, Tool, Toolkit};
use haft_schema::{EnforcedRules, Schema, Validation, Validator};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct CostCents(u32);
impl DescribedAnnotation for CostCents {
    const KEY: &'static str = "example.com/cost_cents";
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Range {
    from: u32,
    #[serde(default)]
    to: Option<u32>,
}

/// One tool of every kind and with every setting that a descriptor contains.
fn zoo() -> Vec<Tool> {
    let raw = json!({"type": "object", "properties": {"q": {"type": "string", "pattern": "^a"}}, "required": ["q"]});
    let check = || Validator::new(|_| Ok(()));
    let with_mode = |name: &str, mode| {
        let schema = Schema::json_with(json!({"type": "integer", "maximum": 9}), mode).unwrap();
        Tool::dynamic(name).params_schema(schema.clone()).success_schema(schema.clone()).failure_schema(schema)
    };
    [
        Tool::new("bare").define(),
        Tool::new("typed").handler(|range: Range, _| async move { range }),
        Tool::new("failing").try_handler(|_: Range, _| async { Err::<u8, _>("no") }),
        Tool::new("images").handler(|(), _| async { json!({"any": ["thing"]}) }),
        Tool::dynamic("open").define(),
        Tool::dynamic("raw").params_json(raw).success_json(json!({"items": {"$ref": "#"}})).define(),
        Tool::signal("signal").params::<Range>().define(),
        Tool::interaction("interaction").success::<Range>().define(),
        Tool::provider("acme.search_1")
            .provider_name("search")
            .custom_name("Search")
            .args::<Value>()
            .with_args(json!({"n": 1}))
            .define(),
        Tool::provider("acme.bash").requires_handler().params::<Range>().with_args(()).define(),
        with_mode("full", Validation::Full).define(),
        with_mode("checked", Validation::FullThen(check())).define(),
        with_mode("own", Validation::With(check())).define(),
        with_mode("shown", Validation::None).define(),
        Tool::new("full_set")
            .id("zoo/full")
            .version("1.2.3-beta")
            .title("A title")
            .describe("")
            .params::<Range>()
            .example(json!({"from": 1}))
            .icon(Icon::new("https://example.com/i.png").mime_type("image/png").size("48x48").theme(IconTheme::Light))
            .icon(Icon::new("data:image/svg+xml,x"))
            .provider_options(options())
            .annotate(CostCents(7))
            .annotate(Readonly(true))
            .annotate(Destructive(false))
            .annotate(Idempotent(true))
            .annotate(OpenWorld(false))
            .annotate(Strict(false))
            .annotate(Meta(json!({"ui": {"x": 1.5}}).as_object().cloned().unwrap()))
            .to_model_output(|(): &()| [ContentPart::text("x")])
            .handler(|_: Range, _| async {}),
    ]
    .map(Result::unwrap)
    .into()
}

fn options() -> ProviderOptions {
    ProviderOptions::new()
        .cache_control(CacheControl::new().ttl("1h"))
        .loaded()
        .allowed_caller("direct")
        .allowed_caller("code_execution")
        .for_provider("openai", json!({"store": [1, {"x": null}]}))
}

fn stored(tool: &Tool) -> String {
    serde_json::to_string(&*tool.descriptor()).unwrap()
}

fn read(text: &str) -> ToolDescriptor {
    serde_json::from_str(text).unwrap()
}

fn read_fault(json: &Value) -> String {
    serde_json::from_str::<ToolDescriptor>(&json.to_string()).unwrap_err().to_string()
}

fn rebuild_faults(json: &Value) -> Vec<DefinitionFault> {
    Tool::from_descriptor(&read(&json.to_string())).unwrap_err().faults
}

// Stored form.

#[test]
fn the_stored_form_of_a_descriptor_with_everything() {
    let tool = zoo().pop().unwrap();
    let written: Value = serde_json::from_str(&stored(&tool)).unwrap();
    assert_eq!(
        written,
        json!({
            "v": 1,
            "id": "zoo/full",
            "name": "full_set",
            "version": "1.2.3-beta",
            "title": "A title",
            "description": "",
            "kind": {"type": "local"},
            "input_schema": tool.json_schema(),
            "output_schema": {"type": "null"},
            "enforcement": {"input": {"rules": "all_and_widths"}, "output": {"rules": "all_and_widths"}},
            "strict": false,
            "hints": {"readonly": true, "destructive": false, "idempotent": true, "open_world": false},
            "icons": [
                {"src": "https://example.com/i.png", "mime_type": "image/png", "sizes": ["48x48"], "theme": "light"},
                {"src": "data:image/svg+xml,x"},
            ],
            "provider_options": {
                "cache_control": {"ttl": "1h"},
                "defer_loading": false,
                "allowed_callers": ["direct", "code_execution"],
                "by_provider": {"openai": {"store": [1, {"x": null}]}},
            },
            "annotations": {"example.com/cost_cents": 7},
            "meta": {"ui": {"x": 1.5}},
            "examples": [{"from": 1}],
        })
    );
    assert_eq!(read(&stored(&tool)).annotation::<CostCents>().unwrap(), Some(CostCents(7)));
}

#[test]
fn unset_fields_are_not_written() {
    let tool = Tool::dynamic("t").params_json(json!(true)).define().unwrap();
    assert_eq!(
        stored(&tool),
        r#"{"v":1,"id":"t","name":"t","kind":{"type":"dynamic"},"input_schema":true,"hints":{"readonly":false,"destructive":true,"idempotent":false,"open_world":true}}"#
    );
}

#[test]
fn forms_without_the_later_fields_are_read() {
    let old = json!({
        "name": "search", "kind": {"type": "provider", "id": "acme.search", "provider_name": "find"},
        "input_schema": {"type": "integer"},
    });
    let read = read(&old.to_string());
    assert_eq!((read.id.as_str(), read.requires_handler()), ("acme.search", false));
    assert_eq!(read.input_schema.enforcement().rules, EnforcedRules::All);
    assert_eq!((&read.version, &read.failure_schema, read.icons.len()), (&None, &None, 0));
    assert!(read.provider_options.is_empty() && read.annotations.is_empty());
    let local = json!({"name": "a", "kind": {"type": "local"}, "input_schema": {}, "meta": null});
    let local = serde_json::from_value::<ToolDescriptor>(local).unwrap();
    assert_eq!((local.id.as_str(), local.requires_handler(), local.meta), ("a", true, None));
}

#[test]
fn a_descriptor_of_a_newer_version_or_with_invalid_fields_is_rejected() {
    let base = json!({"name": "a", "kind": {"type": "local"}, "input_schema": {}});
    for (field, value, problem) in [
        ("v", json!(2), "written by a newer version (2)"),
        ("kind", json!({"type": "remote"}), "unknown variant `remote`, expected one of `local`, `dynamic`"),
        ("kind", json!("local"), "missing field `type`"),
        ("kind", json!({"type": "provider"}), "missing field `id`"),
        ("name", json!(7), "invalid type"),
        ("id", json!(["x"]), "invalid type"),
        ("icons", json!([{}]), "missing field `src`"),
        ("icons", json!([{"src": "x", "theme": "sepia"}]), "unknown variant `sepia`"),
        ("provider_options", json!({"defer_loading": "yes"}), "invalid type"),
        ("provider_options", json!({"by_provider": []}), "expected an object"),
        ("annotations", json!([1]), "expected an object"),
        ("meta", json!("x"), "expected an object"),
        ("examples", json!({}), "expected an array"),
        ("enforcement", json!({"input": {"rules": "some"}}), "unknown variant `some`"),
        ("hints", json!({"readonly": 1}), "invalid type"),
    ] {
        let mut wrong = base.clone();
        wrong[field] = value;
        let error = read_fault(&wrong);
        assert!(error.contains(problem), "{wrong}: {error}");
    }
}

#[test]
fn ambiguous_and_deep_text_is_rejected() {
    let with_schema = |schema: &str| format!(r#"{{"name":"a","kind":{{"type":"local"}},"input_schema":{schema}}}"#);
    let fault = |text: &str| serde_json::from_str::<ToolDescriptor>(text).unwrap_err().to_string();
    let twice = fault(&with_schema(r#"{"properties":{"a":{"type":"string","type":"integer"}}}"#));
    assert!(twice.contains(r#"the key "type" occurs twice in one object"#), "{twice}");
    let twice = fault(r#"{"name":"a","name":"b","kind":{"type":"local"},"input_schema":{}}"#);
    assert!(twice.contains("duplicate field `name`"), "{twice}");
    let deep = fault(&with_schema(&format!("{}1{}", r#"{"not":"#.repeat(100_000), "}".repeat(100_000))));
    assert!(deep.contains("recursion limit") || deep.contains("nests too deeply"), "{deep}");
}

// Schemas.

#[test]
fn an_invalid_schema_is_read_verbatim_and_reported_when_it_is_used() {
    let text = r#"{"name":"a","kind":{"type":"local"},"input_schema":{"type":"objekt","x":1},"output_schema":7}"#;
    let descriptor = read(text);
    assert_eq!(descriptor.input_schema.as_json(), &json!({"type": "objekt", "x": 1}));
    assert!(descriptor.input_schema.schema().unwrap_err().to_string().contains("/type"));
    let faults = Tool::from_descriptor(&descriptor).unwrap_err().faults;
    let parts: Vec<_> = faults
        .iter()
        .map(|fault| match fault {
            DefinitionFault::Schema { part, .. } => *part,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(parts, [SchemaPart::Parameters, SchemaPart::Success]);
}

#[test]
fn a_schema_is_compiled_once_and_shared_by_clones() {
    let schema = SchemaJson::from(json!({"type": "integer", "maximum": 9}));
    let clone = schema.clone();
    assert!(std::ptr::eq(schema.schema().unwrap(), clone.schema().unwrap()));
    assert!(schema.schema().unwrap().check(&json!(10)).is_err());
}

#[test]
fn a_stored_schema_is_enforced_as_before() {
    for tool in zoo() {
        let read = read(&stored(&tool));
        let rebuilt = Tool::from_descriptor(&read).unwrap();
        for (before, after) in [
            (tool.parameters(), rebuilt.parameters()),
            (tool.success(), rebuilt.success()),
            (tool.failure(), rebuilt.failure()),
        ] {
            assert_eq!(before.enforcement(), after.enforcement(), "{tool:?}");
            for value in [json!(null), json!(10), json!(4_294_967_296_u64), json!({"from": 4_294_967_296_u64})] {
                assert_eq!(before.check(&value), after.check(&value), "{tool:?} {value}");
            }
        }
    }
}

#[test]
fn a_rebuilt_readonly_tool_may_be_repeated_only_if_the_first_might() {
    for (stated, idempotence) in [(None, None), (Some(false), Some(false)), (Some(true), Some(true))] {
        let tool = Tool::new("read").annotate(Readonly(true));
        let tool = match stated {
            Some(stated) => tool.annotate(Idempotent(stated)),
            None => tool,
        };
        let tool = tool.handler(|(), _| async {}).unwrap();
        let rebuilt = Tool::from_descriptor(&read(&stored(&tool))).unwrap();
        assert_eq!(rebuilt.annotations().get::<Idempotent>().map(|hint| hint.0), idempotence, "{stated:?}");
        assert_eq!(rebuilt.descriptor(), tool.descriptor());
    }
    for (hints, idempotence) in [
        (json!({"readonly": true}), None),
        (json!({"readonly": true, "idempotent": false}), Some(false)),
        (json!({"readonly": true, "idempotent": true, "idempotence_unset": true}), Some(true)),
        (json!({"idempotent": false}), None),
    ] {
        let by_hand = json!({"name": "t", "kind": {"type": "dynamic"}, "input_schema": {}, "hints": hints});
        let rebuilt = Tool::from_descriptor(&serde_json::from_value(by_hand).unwrap()).unwrap();
        assert_eq!(rebuilt.annotations().get::<Idempotent>().map(|hint| hint.0), idempotence, "{hints}");
    }
}

// Rebuilt tools. Their kind is part of the descriptor.

#[test]
fn a_rebuilt_tool_has_the_same_descriptor() {
    for tool in zoo() {
        let read = read(&stored(&tool));
        assert_eq!(read, *tool.descriptor());
        let rebuilt = Tool::from_descriptor(&read).unwrap();
        assert_eq!(*rebuilt.descriptor(), *tool.descriptor());
        assert_eq!(stored(&rebuilt), stored(&tool));
        assert_eq!(rebuilt.id(), tool.id());
        assert_eq!((rebuilt.requires_handler(), rebuilt.has_handler()), (tool.requires_handler(), false));
        assert_eq!(read.requires_handler(), tool.requires_handler());
    }
}

#[tokio::test]
async fn a_rebuilt_tool_runs_once_it_has_a_handler() {
    let rebuilt: Vec<Tool> = zoo()
        .iter()
        .filter(|tool| tool.name() == "typed" || tool.name() == "bash")
        .map(|tool| Tool::from_descriptor(&read(&stored(tool))).unwrap())
        .collect();
    let bare: Toolkit = rebuilt.clone().into_iter().collect();
    assert!(bare.ensure_runnable().is_err());
    let kit: Toolkit =
        Toolkit::dynamic(rebuilt).handler(|_: Tool, arguments: Value, _| async move { arguments }).unwrap();
    let run = async |name: &str, arguments: &str| kit.run_call(&ToolCall::new("c", name, arguments)).await;
    for name in ["typed", "bash"] {
        let rejected = run(name, r#"{"from": 4294967296}"#).await;
        assert_eq!(rejected.failure().unwrap().kind, FailureKind::InputValidationError, "{name}");
    }
    assert_eq!(run("typed", r#"{"from":1,"to":2}"#).await.value().unwrap().as_str(), r#"{"from":1,"to":2}"#);
}

#[test]
fn a_rebuilt_tool_that_is_not_executed_here_takes_no_handler() {
    for tool in zoo().iter().filter(|tool| !tool.requires_handler()) {
        let rebuilt = Tool::from_descriptor(&tool.descriptor()).unwrap();
        let faults = rebuilt.with_handler(|_: Value, _| async {}).unwrap_err().faults;
        assert!(matches!(faults[..], [DefinitionFault::HandlerNotAllowed(_)]), "{faults:?}");
    }
}

#[test]
fn all_faults_of_a_stored_descriptor_are_reported_together() {
    let faults = rebuild_faults(&json!({
        "id": "\n", "name": " ", "input_schema": {"minimum": "x"}, "failure_schema": {"$ref": "#/nowhere"},
        "kind": {"type": "provider", "id": "acme", "provider_name": "x"},
    }));
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 6, "{texts:?}");
    for (text, start) in texts.iter().zip([
        "the name is blank",
        "the id is blank",
        "the id contains the control character",
        "the provider id `acme` is not of the form `vendor.tool`",
        "the parameter schema is invalid: /minimum",
        "the failure schema is invalid: /$ref",
    ]) {
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn oversized_parts_of_a_stored_descriptor_are_faults() {
    let with = |name: &str, schema: Value| json!({"name": name, "kind": {"type": "local"}, "input_schema": schema});
    let faults = rebuild_faults(&with(&"n".repeat(513), json!({})));
    assert!(matches!(
        faults[..],
        [DefinitionFault::Name(NameFault::TooLong(513)), DefinitionFault::Id(NameFault::TooLong(513))]
    ));
    let faults = rebuild_faults(&with("n", json!({"type": "string", "pattern": "(((a{1,999}){1,999}){1,999})"})));
    assert!(faults[0].to_string().contains("/pattern"), "{}", faults[0]);
    let mut example = with("n", json!({"type": "string"}));
    example["examples"] = json!(["a", 1]);
    assert!(matches!(rebuild_faults(&example)[..], [DefinitionFault::Example { index: 1, .. }]));
}

/// A server may list many tools of which few are used.
#[test]
fn one_invalid_tool_does_not_make_a_list_unreadable() {
    let entry = |index: usize| {
        let ty = if index == 7 { "objekt" } else { "object" };
        json!({"name": format!("t{index}"), "kind": {"type": "dynamic"}, "input_schema": {"type": ty, "title": index.to_string()}})
    };
    let listed: Value = (0..10_000).map(entry).collect();
    let descriptors: Vec<ToolDescriptor> = serde_json::from_str(&listed.to_string()).unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = descriptors[..20].iter().map(Tool::from_descriptor).partition(Result::is_ok);
    assert_eq!((descriptors.len(), good.len(), bad.len()), (10_000, 19, 1));
}

#[test]
fn an_annotation_that_is_not_json_is_a_fault_of_the_definition() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Keyed(std::collections::HashMap<Option<u8>, u8>);
    impl DescribedAnnotation for Keyed {
        const KEY: &'static str = "keyed";
    }
    let keyed = || Keyed([(None, 1)].into());
    let error = Tool::new("t").annotate(keyed()).define().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the definition of the tool `t` is invalid: the annotation `keyed` can't be encoded as JSON: key must be a string"
    );
    assert!(Tool::new("t").define().unwrap().annotate(keyed()).descriptor().annotations.is_empty());
}

// Digests.

/// The variable that makes this test binary print digests of the descriptors in it.
const CHILD: &str = "HAFT_TEST_DESCRIPTORS";

#[test]
fn a_tool_rebuilt_in_another_process_has_the_same_digest() {
    if let Ok(descriptors) = std::env::var(CHILD) {
        let descriptors: Vec<ToolDescriptor> = serde_json::from_str(&descriptors).unwrap();
        for descriptor in &descriptors {
            let tool = Tool::from_descriptor(descriptor).unwrap();
            assert_eq!(tool.definition_digest(), descriptor.digest());
            println!("\ndigest {}", tool.definition_digest());
        }
        return;
    }
    let tools = zoo();
    let descriptors: Vec<_> = tools.iter().map(Tool::descriptor).collect();
    let written: Vec<Value> =
        descriptors.iter().map(|descriptor| serde_json::to_value(&**descriptor).unwrap()).collect();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["stored_descriptor::a_tool_rebuilt_in_another_process_has_the_same_digest", "--exact", "--nocapture"])
        .env(CHILD, Value::from(written).to_string())
        .output()
        .unwrap();
    let printed = String::from_utf8(child.stdout).unwrap();
    assert!(child.status.success(), "{printed}");
    let digests: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("digest ")).collect();
    let expected: Vec<&str> = tools.iter().map(Tool::definition_digest).collect();
    assert_eq!(digests, expected);
}

/// The digest of a stored definition is compared after upgrades, so it must not change by accident.
#[test]
fn the_digest_of_a_definition_is_stable() {
    let tool = Tool::dynamic("read").describe("Reads.").params_json(json!({"type": "string"})).define().unwrap();
    insta::assert_snapshot!(tool.descriptor().digest());
}

#[test]
fn a_digest_covers_what_is_read_decided_by_and_enforced() {
    type Change = fn(&mut ToolDescriptor);
    let digest = |change: Change| {
        let mut descriptor = (*zoo().pop().unwrap().descriptor()).clone();
        change(&mut descriptor);
        descriptor.digest()
    };
    let unchanged = digest(|_| ());
    let covered: [Change; 11] = [
        |d| d.name = "other".into(),
        |d| d.title = None,
        |d| d.description = Some("Deletes.".into()),
        |d| d.kind = DescriptorKind::Signal,
        |d| d.input_schema = json!({"type": "object"}).into(),
        |d| d.input_schema = d.input_schema.as_json().clone().into(),
        |d| d.output_schema = None,
        |d| d.failure_schema = Some(json!({"type": "string"}).into()),
        |d| d.hints.readonly = false,
        |d| d.hints.destructive = true,
        |d| d.examples.clear(),
    ];
    let mut digests: Vec<String> = covered.into_iter().map(digest).chain([unchanged.clone()]).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 12);
    let volatile: [Change; 8] = [
        |d| d.id = "other".into(),
        |d| d.version = None,
        |d| d.icons.clear(),
        |d| d.provider_options = ProviderOptions::new(),
        |d| d.strict = None,
        |d| d.annotations.clear(),
        |d| d.meta = None,
        |d| d.failure_schema = Some(json!(false).into()),
    ];
    for (index, change) in volatile.into_iter().enumerate() {
        assert_eq!(digest(change), unchanged, "{index}");
    }
}

/// A descriptor that was written by hand may leave out what a tool fills in.
#[test]
fn the_digest_does_not_depend_on_what_is_left_implicit() {
    let sparse = ToolDescriptor::new("t", SchemaJson::from(json!({"description": "Reads.", "type": "string"})));
    let rebuilt = Tool::from_descriptor(&sparse).unwrap();
    assert_eq!(rebuilt.descriptor().description.as_deref(), Some("Reads."));
    assert_eq!(rebuilt.definition_digest(), sparse.digest());
    let explicit = sparse.clone().output_schema(json!({})).failure_schema(json!(false)).describe("Reads.");
    assert_eq!(explicit.digest(), sparse.digest());
}

#[test]
fn an_approval_of_a_tool_holds_for_the_rebuilt_one() {
    for tool in zoo() {
        let rebuilt = Tool::from_descriptor(&read(&stored(&tool))).unwrap();
        let arguments = json!({"from": 1});
        assert_eq!(tool.approval_digest(&arguments), rebuilt.approval_digest(&arguments));
        let other = rebuilt.annotate(Version("9".into())).with_id("other").unwrap();
        assert_eq!(other.definition_digest(), tool.definition_digest());
        assert_ne!(other.approval_digest(&arguments), tool.approval_digest(&arguments), "another id is another tool");
    }
}

// Properties.

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 4.0)),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_descriptor() -> impl Strategy<Value = ToolDescriptor> {
    let kinds = prop_oneof![
        Just(DescriptorKind::Local),
        Just(DescriptorKind::Dynamic),
        Just(DescriptorKind::Signal),
        Just(DescriptorKind::Interaction),
        (any::<bool>(), any_json()).prop_map(|(requires_handler, args)| {
            let text = json!({
                "type": "provider", "id": "a.b", "provider_name": "b", "args": args, "requires_handler": requires_handler
            });
            serde_json::from_value(text).unwrap()
        }),
    ];
    let texts =
        (".{1,8}", ".{1,8}", prop::option::of(".{0,8}"), prop::option::of(".{0,8}"), prop::option::of(".{0,8}"));
    let flags = (any::<[bool; 4]>(), prop::option::of(any::<bool>()));
    let values = (any_json(), any_json(), any_json(), prop::option::of(any_json()));
    (texts, kinds, flags, values).prop_map(
        |((name, id, title, description, version), kind, (hints, strict), values)| {
            let (meta, annotation, option, constant) = values;
            let schema = constant.map_or(json!({}), |constant| json!({"const": constant}));
            let mut descriptor = ToolDescriptor::new(name, SchemaJson::from(schema)).id(id).kind(kind);
            (descriptor.title, descriptor.description, descriptor.version) = (title, description, version);
            descriptor.strict = strict;
            [
                descriptor.hints.readonly,
                descriptor.hints.destructive,
                descriptor.hints.idempotent,
                descriptor.hints.open_world,
            ] = hints;
            descriptor.meta = meta.as_object().cloned();
            descriptor.annotations.insert("a".into(), annotation);
            descriptor.provider_options = ProviderOptions::new().for_provider("p", option);
            descriptor
        },
    )
}

proptest! {
    #[test]
    fn every_descriptor_survives_storing_and_rebuilding(descriptor in any_descriptor()) {
        let text = serde_json::to_string(&descriptor).unwrap();
        prop_assert_eq!(&read(&text), &descriptor);
        match Tool::from_descriptor(&descriptor) {
            Ok(tool) => {
                prop_assert_eq!(&*tool.descriptor(), &descriptor);
                prop_assert_eq!(tool.definition_digest(), descriptor.digest());
            }
            Err(error) => prop_assert!(
                error.faults.iter().all(|fault| matches!(fault, DefinitionFault::Name(_) | DefinitionFault::Id(_))),
                "{}", error
            ),
        }
    }
}
