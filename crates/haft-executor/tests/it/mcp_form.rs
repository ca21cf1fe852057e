//! Tools from their MCP form.

use haft_core::{DescribedAnnotation, Icon, IconTheme, McpMembers, ToolCall};
use haft_executor::{DefinitionFault, Tool, Toolkit};
use serde_json::{Value, json};

fn complete() -> Value {
    json!({
        "name": "search",
        "title": "Search",
        "description": "Searches the archive.",
        "inputSchema": {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {"query": {"type": "string", "minLength": 2}},
            "required": ["query"],
            "x-vendor": 1,
        },
        "outputSchema": {"type": "object", "properties": {"hits": {"type": "integer"}}, "required": ["hits"]},
        "annotations": {
            "title": "Archive search",
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": false,
            "openWorldHint": false,
            "x-cost": 3,
        },
        "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}],
        "_meta": {"example.com/team": "archive"},
        "execution": {"taskSupport": "optional"},
        "x-later": [1, {"a": null}],
    })
}

#[test]
fn every_member_is_kept() {
    let tool = Tool::from_mcp(&complete()).unwrap();
    assert!(tool.is_dynamic() && !tool.has_handler());
    assert_eq!(
        (tool.name(), tool.title(), tool.description()),
        ("search", Some("Search"), Some("Searches the archive."))
    );
    assert_eq!(tool.parameters().as_json(), &complete()["inputSchema"]);
    assert_eq!(tool.success().as_json(), &complete()["outputSchema"]);
    let hints = tool.descriptor().hints;
    assert_eq!((hints.readonly, hints.destructive, hints.idempotent, hints.open_world), (true, false, false, false));
    assert!(!hints.idempotence_unset, "it is stated to be false");
    let icon = Icon::new("https://example.com/i.png").mime_type("image/png").size("48x48").size("any");
    assert_eq!(tool.annotations().icons(), [icon.theme(IconTheme::Dark)]);
    assert_eq!(tool.annotations().meta(), complete()["_meta"].as_object());
    let others = json!({
        "annotations": {"title": "Archive search", "x-cost": 3},
        "execution": {"taskSupport": "optional"},
        "x-later": [1, {"a": null}],
    });
    assert_eq!(Some(&tool.annotations().read::<McpMembers>().unwrap().unwrap().0), others.as_object());
    assert_eq!(tool.descriptor().annotations[McpMembers::KEY], others, "other processes read it as well");
    assert_eq!(Tool::from_descriptor(&tool.descriptor()).unwrap().descriptor(), tool.descriptor());
}

#[test]
fn what_is_absent_or_null_is_unset() {
    let least = Tool::from_mcp(&json!({"name": "now", "inputSchema": {"type": "object"}})).unwrap();
    let nulls = json!({
        "name": "now", "title": null, "description": null, "inputSchema": {"type": "object"}, "outputSchema": null,
        "annotations": null, "icons": null, "_meta": null, "execution": null,
    });
    assert_eq!((least.title(), least.description(), least.annotations().len()), (None, None, 0));
    assert!(least.success().check(&json!(["anything"])).is_ok());
    let nulls = Tool::from_mcp(&nulls).unwrap();
    assert_eq!(
        nulls.annotations().read::<McpMembers>().unwrap().unwrap().0.len(),
        1,
        "no setting of ours: kept as it is"
    );
    assert_eq!(nulls.annotations().len(), 1);
}

#[test]
fn the_title_for_people_may_be_an_annotation() {
    let form = json!({"name": "a", "inputSchema": {}, "annotations": {"title": "From a hint"}});
    assert_eq!(Tool::from_mcp(&form).unwrap().title(), Some("From a hint"));
}

#[test]
fn icons_in_other_forms_are_kept_as_they_are() {
    let icons = json!([{"src": "a.svg", "sizes": "any 48x48", "theme": "sepia", "x": 1}]);
    let tool = Tool::from_mcp(&json!({"name": "a", "inputSchema": {}, "icons": icons})).unwrap();
    assert_eq!(tool.annotations().icons(), [Icon::new("a.svg").size("any").size("48x48")]);
    assert_eq!(tool.annotations().read::<McpMembers>().unwrap().unwrap().0["icons"], icons);
}

#[tokio::test]
async fn arguments_and_results_are_checked_by_its_schemas() {
    let tool = Tool::from_mcp(&complete()).unwrap();
    let tool = tool.with_handler(|input: Value, _| async move { json!({"hits": input["query"]}) }).unwrap();
    let kit: Toolkit = Toolkit::new().with(tool).unwrap();
    let short = kit.run_call(&ToolCall::new("c1", "search", r#"{"query": "a"}"#)).await;
    assert_eq!(short.failure().unwrap().issues.as_slice()[0].keyword, "minLength");
    let wrong = kit.run_call(&ToolCall::new("c2", "search", r#"{"query": "abc"}"#)).await;
    assert_eq!(wrong.failure().unwrap().kind, haft_core::FailureKind::OutputValidationError);
}

/// Returns the message about a tool in this form.
fn rejection(form: &Value) -> String {
    Tool::from_mcp(form).unwrap_err().to_string()
}

#[test]
fn all_faults_are_reported_with_their_places() {
    let form = json!({
        "name": "bad\nname",
        "title": 3,
        "description": ["x"],
        "inputSchema": {"type": "object", "properties": {"a": {"type": "text"}, "b": {"minimum": "1"}}},
        "outputSchema": {"$ref": "https://example.com/schema.json"},
        "annotations": {"readOnlyHint": "yes", "openWorldHint": {}},
        "icons": ["i.png", {"mimeType": "image/png"}, {"src": 1}, {"src": "a", "sizes": [1]}],
        "_meta": [],
    });
    insta::assert_snapshot!(rejection(&form).replace("; ", ";\n"));
    let faults = Tool::from_mcp(&form).unwrap_err().faults;
    assert_eq!(faults.iter().filter(|fault| matches!(fault, DefinitionFault::Schema { .. })).count(), 2);
}

#[test]
fn a_form_that_is_no_tool_says_what_one_is() {
    let messages = [
        json!([]),
        json!("search"),
        json!({}),
        json!({"tools": []}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}),
        json!({"name": 7, "inputSchema": true}),
        json!({"name": "", "inputSchema": {}}),
        json!({"name": "a", "inputSchema": null}),
        json!({"name": "a", "inputSchema": {"type": ["array", "null"]}}),
        json!({"name": "a", "annotations": []}),
        json!({"name": "a", "inputSchema": {"type": "x".repeat(1_000)}}),
    ];
    insta::assert_snapshot!(messages.iter().map(rejection).collect::<Vec<_>>().join("\n"));
}
