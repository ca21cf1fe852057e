//! The kind `openapi`.

use std::fs;

use haft_registry::{Built, Entry, EntryError, ImplementationKind, Yields};
use haft_schema::Schema;
use haft_tools::openapi::OpenApiKind;
use serde_json::{Value, json};

const DOCUMENT: &str = "
openapi: 3.0.3
servers: [{url: https://api.example}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
paths:
  /pets:
    get: {operationId: listPets, tags: [pets], security: [{key: []}], responses: {200: {description: ok}}}
    post: {operationId: addPet, tags: [pets], requestBody: {content: {image/png: {}}}}
  /shops:
    get: {operationId: listShops, parameters: [{name: code, in: query, schema: {pattern: '('}}]}
";

async fn built(folder: &std::path::Path, settings: Value) -> Result<Built, EntryError> {
    assert!(Schema::json(OpenApiKind::new().settings_schema()).unwrap().check(&settings).is_ok(), "{settings}");
    OpenApiKind::new().build(Entry::new("pets", settings).folder(folder)).await
}

fn names(built: &Built) -> Vec<&str> {
    built.tools.iter().map(haft_executor::Tool::name).collect()
}

#[tokio::test]
async fn an_entry_yields_the_operations_that_its_settings_select() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.yaml"), DOCUMENT).unwrap();
    let all = built(folder.path(), json!({"file": "pets.yaml"})).await.unwrap();
    assert_eq!(names(&all), ["listPets", "listShops"]);
    let remarks: Vec<String> = all.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(remarks.len(), 3);
    assert!(remarks[0].contains("POST /pets was not imported (unsupported_body)"), "{}", remarks[0]);
    assert!(remarks[1].contains("GET /shops: `pattern` is not enforced"), "{}", remarks[1]);
    assert!(remarks[2].starts_with("/security: ") && remarks[2].contains("key"), "{}", remarks[2]);

    for (settings, expected) in [
        (json!({"tags": ["pets"]}), vec!["listPets"]),
        (json!({"exclude-tags": ["pets"]}), vec!["listShops"]),
        (json!({"paths": ["/s*"]}), vec!["listShops"]),
        (json!({"exclude-paths": ["/s*"]}), vec!["listPets"]),
        (json!({"operations": ["*Shops"]}), vec!["listShops"]),
        (json!({"exclude-operations": ["*Shops"]}), vec!["listPets"]),
        (json!({"methods": ["delete"]}), vec![]),
        (json!({"exclude-methods": ["GET"]}), vec![]),
        (
            json!({"base-url": "https://b.example", "headers": {"x-a": "1"}, "check-output": true}),
            vec!["listPets", "listShops"],
        ),
        (json!({"max-schema-bytes": 1}), vec![]),
    ] {
        let mut settings = settings;
        settings["file"] = "pets.yaml".into();
        assert_eq!(names(&built(folder.path(), settings.clone()).await.unwrap()), expected, "{settings}");
    }
}

#[tokio::test]
async fn errors_and_headers_of_responses_are_set_for_a_whole_import() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.yaml"), DOCUMENT).unwrap();
    for settings in [
        json!({"file": "pets.yaml", "errors": "/error/message", "response-headers": ["link", "ETag"]}),
        json!({"file": "pets.yaml", "errors": "body"}),
        json!({"file": "pets.yaml", "errors": "status"}),
    ] {
        assert_eq!(names(&built(folder.path(), settings).await.unwrap()), ["listPets", "listShops"]);
    }
    for (settings, expected) in [
        (
            json!({"response-headers": ["etag", "set-cookie"]}),
            "/response-headers/1: the header `set-cookie` contains a",
        ),
        (json!({"response-headers": ["a b"]}), "/response-headers/0: `a b` is no valid name of a header"),
        (json!({"errors": "/a~2"}), "/errors: is `status`, `body` or a JSON Pointer"),
    ] {
        let mut settings = settings;
        settings["file"] = "pets.yaml".into();
        let error = built(folder.path(), settings).await.unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[tokio::test]
async fn credentials_are_secrets_by_name_and_their_schemes_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.yaml"), DOCUMENT).unwrap();
    for credential in [json!("petstore"), json!({"secret": "petstore"})] {
        let settings = json!({"file": "pets.yaml", "security": {"key": credential}});
        let built = built(folder.path(), settings).await.unwrap();
        assert!(built.remarks.iter().all(|remark| remark.pointer != "/security"));
        assert_eq!(built.reach.secret_names().into_iter().collect::<Vec<_>>(), ["petstore"]);
    }
    let error = built(folder.path(), json!({"file": "pets.yaml", "security": {"a/b": "x"}})).await.unwrap_err();
    assert_eq!(error.to_string(), "/security/a~1b: the document has no security scheme `a/b`; it has key");
}

#[tokio::test]
async fn a_document_is_a_file_below_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("pets.yaml"), DOCUMENT).unwrap();
    let folder = outside.path().join("inner");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("swagger.json"), r#"{"swagger": "2.0", "paths": {}}"#).unwrap();
    let absolute = outside.path().join("pets.yaml").to_string_lossy().into_owned();
    let mut cases = vec![
        ("../pets.yaml", "must be below the folder"),
        (absolute.as_str(), "must be below the folder"),
        ("missing.yaml", "can't be read"),
        ("swagger.json", "Swagger version"),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../pets.yaml", folder.join("link.yaml")).unwrap();
        cases.push(("link.yaml", "must be below the folder"));
    }
    for (file, expected) in cases {
        let error = built(&folder, json!({"file": file})).await.unwrap_err().to_string();
        assert!(error.starts_with("/file: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn an_entry_is_built_without_a_runtime_as_well() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pets.yaml"), DOCUMENT).unwrap();
    let built = futures_util::FutureExt::now_or_never(built(folder.path(), json!({"file": "pets.yaml"})));
    assert_eq!(names(&built.unwrap().unwrap()).len(), 2);
}

#[test]
fn the_kind_describes_its_settings() {
    assert_eq!((OpenApiKind::new().name(), OpenApiKind::new().yields()), ("openapi", Yields::ManyTools));
    let schema = Schema::json(OpenApiKind::new().settings_schema()).unwrap();
    for invalid in
        [json!({}), json!({"file": 1}), json!({"file": "a", "unknown": 1}), json!({"file": "a", "tags": "x"})]
    {
        assert!(schema.check(&invalid).is_err(), "{invalid}");
    }
}
