//! Names and filters.

use haft_executor::Tool;
use haft_registry::{MAX_SEGMENT_LEN, SimpleName};
use haft_tools::openapi::{ImportOptions, OpenApi};
use serde_json::{Value, json};

use super::{document, imported};

fn names(paths: Value) -> Vec<String> {
    imported("3.0.0", paths, json!({})).tools().map(|tool| tool.name().to_owned()).collect()
}

#[test]
fn names_come_from_the_id_or_from_method_and_path() {
    for (path, method, id, expected) in [
        ("/pets", "get", Some("listPets"), "listPets"),
        ("/pets", "get", None, "get_pets"),
        ("/pets/{id}/toys", "delete", None, "delete_pets_id_toys"),
        ("/", "get", None, "get"),
        ("/pets", "get", Some("pets/list all!"), "pets_list_all"),
        ("/pets", "get", Some("__pets.list-1"), "pets.list-1"),
        ("/pets", "get", Some("日本"), "get_pets"),
        ("/pets", "get", Some(""), "get_pets"),
        ("/v1/{name}:cancel", "post", None, "post_v1_name_cancel"),
    ] {
        let mut operation = json!({});
        if let Some(id) = id {
            operation["operationId"] = id.into();
        }
        assert_eq!(names(json!({path: {method: operation}})), [expected]);
    }
}

#[test]
fn long_names_are_shortened_and_stay_apart() {
    let long = "x".repeat(80);
    let found = names(json!({
        "/a": {"get": {"operationId": format!("{long}a")}},
        "/b": {"get": {"operationId": format!("{long}b")}},
    }));
    assert_eq!(found.len(), 2);
    assert_ne!(found[0], found[1]);
    for name in &found {
        assert_eq!(name.len(), MAX_SEGMENT_LEN);
        assert!(SimpleName::new(name).is_ok());
    }
}

#[test]
fn operations_with_one_name_get_suffixes_that_depend_on_nothing_else() {
    let (a, b) = (json!({"get": {"operationId": "list"}}), json!({"get": {"operationId": "list!"}}));
    let found = names(json!({"/a": a, "/b": b, "/c": {"get": {"operationId": "other"}}}));
    assert_eq!(found, ["list_bf2c633e", "list_bf2c6327", "other"]);
    let reordered = names(json!({"/c": {"get": {"operationId": "other"}}, "/b": b, "/a": a}));
    assert_eq!(reordered, ["other", "list_bf2c6327", "list_bf2c633e"]);
}

#[test]
fn filters_select_operations_and_change_no_name() {
    let paths = json!({
        "/pets": {
            "get": {"operationId": "list", "tags": ["pets"]},
            "post": {"operationId": "list", "tags": ["pets", "write"]},
        },
        "/pets/{id}": {"get": {"operationId": "getPet", "tags": ["pets"]}},
        "/shops": {"get": {"operationId": "listShops"}},
    });
    let document = document("3.0.0", paths, json!({}));
    let select = |options: ImportOptions| {
        let imported = document.import(&options);
        assert!(imported.skipped.is_empty());
        imported.operations.iter().map(|one| one.operation.clone()).collect::<Vec<_>>()
    };
    let options = ImportOptions::new;
    let all = ["GET /pets", "POST /pets", "GET /pets/{id}", "GET /shops"];
    assert_eq!(select(options()), all);
    assert_eq!(select(options().include_tag("pets")), all[..3]);
    assert_eq!(select(options().include_tag("pets").exclude_tag("write")), ["GET /pets", "GET /pets/{id}"]);
    assert_eq!(select(options().exclude_tag("pets")), ["GET /shops"]);
    assert_eq!(select(options().include_path("/pets")), all[..2]);
    assert_eq!(select(options().include_path("/pets/*").include_path("/shops")), all[2..]);
    assert_eq!(select(options().exclude_path("*{id}*")), ["GET /pets", "POST /pets", "GET /shops"]);
    assert_eq!(select(options().include_operation("list")), all[..2]);
    assert_eq!(select(options().include_operation("list*").exclude_operation("listShops")), all[..2]);
    assert_eq!(select(options().include_method("post")), ["POST /pets"]);
    assert_eq!(select(options().exclude_method("Get")), ["POST /pets"]);

    let name = |options| document.import(&options).tools().next().unwrap().name().to_owned();
    assert_eq!(name(options().include_method("post")), document.import(&options()).operations[1].tool.name());
}

#[test]
fn an_import_is_the_same_to_the_byte_each_time() {
    let paths: Value = (0..50)
        .map(|at| {
            let schema = json!({"properties": {"a": {"$ref": format!("#/components/schemas/S{}", at % 7)}}});
            let body = json!({"content": {"application/json": {"schema": schema}}});
            (format!("/p{at}/{{id}}"), json!({"put": {"requestBody": body}, "get": {"operationId": "same"}}))
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let schemas: serde_json::Map<_, _> = (0..7)
        .map(|at| {
            (
                format!("S{at}"),
                json!({"properties": {"next": {"$ref": format!("#/components/schemas/S{}", (at + 3) % 7)}}}),
            )
        })
        .collect();
    let text = |document: &OpenApi| {
        let imported = document.import(&ImportOptions::new());
        assert_eq!(imported.operations.len(), 100);
        let line = |tool: &Tool| format!("{} {}", tool.name(), tool.json_schema());
        imported.tools().map(line).collect::<Vec<_>>().join("\n")
    };
    let one = text(&document("3.0.0", paths.clone(), json!({"schemas": schemas})));
    let other = text(&document("3.0.0", paths, json!({"schemas": schemas})));
    assert_eq!(one, other);
}

#[test]
fn summaries_and_descriptions_are_for_models_and_people() {
    for (fields, title, description) in [
        (json!({}), None, None),
        (json!({"summary": "List pets."}), Some("List pets"), Some("List pets.")),
        (json!({"description": " All pets. "}), None, Some("All pets.")),
        (json!({"summary": "List", "description": "All pets."}), Some("List"), Some("List\n\nAll pets.")),
        (json!({"summary": "List", "description": "Lists pets."}), Some("List"), Some("Lists pets.")),
        (json!({"summary": " ", "description": ""}), None, None),
    ] {
        let imported = imported("3.0.0", json!({"/x": {"get": fields}}), json!({}));
        let tool = imported.tools().next().unwrap();
        assert_eq!((tool.title(), tool.description()), (title, description), "{fields}");
    }
}

#[test]
fn hints_follow_from_the_method() {
    let operation = json!({});
    let item = json!({"get": operation, "put": operation, "post": operation, "delete": operation, "head": operation, "patch": operation});
    let imported = imported("3.0.0", json!({"/x": item}), json!({}));
    let hints: Vec<_> = imported
        .tools()
        .map(|tool| {
            (
                tool.name(),
                tool.annotations().readonly(),
                tool.annotations().destructive(),
                tool.annotations().idempotent(),
            )
        })
        .collect();
    let of = |name: &str| *hints.iter().find(|hint| hint.0 == name).unwrap();
    assert!(of("get_x").1 && of("head_x").1);
    assert!(!of("put_x").1 && !of("post_x").1 && !of("delete_x").1 && !of("patch_x").1);
    assert!(of("delete_x").2 && of("delete_x").3 && of("put_x").3);
    assert!(!of("post_x").3 && !of("patch_x").3);
    assert!(imported.tools().all(|tool| tool.annotations().open_world()));
}
