//! OpenAPI documents of strangers: each operation is imported under a name of its own, or skipped with a reason.

use std::collections::BTreeSet;

use haft_registry::SimpleName;
use haft_tools::openapi::{ImportOptions, Imported, OpenApi, OpenApiError};

use super::{Outcome, Target};

pub(super) const TARGET: Target = Target {
    name: "openapi",
    seeds: &[
        r#"{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"paths":{"/x":{"get":{"operationId":"x"}}}}"#,
        r##"{"openapi":"3.0.3","paths":{"/a/{id}":{"parameters":[{"$ref":"#/components/parameters/id"}],"delete":{"tags":["t"]},"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/N"}}}}}}},"components":{"parameters":{"id":{"name":"id","in":"path","required":true,"schema":{"type":"string","nullable":true}}},"schemas":{"N":{"type":"object","properties":{"n":{"$ref":"#/components/schemas/N"}}}}}}"##,
        r#"{"openapi":"3.1.0","paths":{"/f":{"put":{"operationId":"a b","parameters":[{"name":"q","in":"query","style":"deepObject","explode":true,"schema":{"type":"object"}}],"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"file":{"type":"string","format":"binary"}}}}}},"security":[{"k":[]}]}}},"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"x-k"}}}}"#,
        "openapi: 3.1.0\nservers: [{url: 'https://{h}.example', variables: {h: {default: a}}}]\npaths:\n  /x: {get: {}}\n",
        "swagger: '2.0'\npaths: {}\n",
    ],
    run,
};

fn run(input: &[u8]) -> Outcome {
    let Ok(text) = std::str::from_utf8(input) else { return Outcome::of(&"no text") };
    Outcome::of(&[read(OpenApi::from_json(text)), read(OpenApi::from_yaml(text))])
}

/// Imports a document and returns the kind of what comes of it.
fn read(document: Result<OpenApi, OpenApiError>) -> (BTreeSet<&'static str>, usize, usize) {
    match document {
        Ok(document) => {
            let imported = document.import(&ImportOptions::new().base_url("https://a.example"));
            check(&imported);
            let codes = imported.skipped.iter().map(|skipped| skipped.reason.code()).collect();
            (codes, imported.operations.len().min(3), imported.loosened.len().min(3))
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            (BTreeSet::from([error.code()]), 0, 0)
        }
    }
}

fn check(imported: &Imported) {
    let mut names = BTreeSet::new();
    for tool in imported.tools() {
        assert!(SimpleName::new(tool.name()).is_ok(), "{:?} is no name", tool.name());
        assert!(names.insert(tool.name()), "two tools are named {}", tool.name());
        assert!(tool.has_handler() && tool.json_schema().is_object());
    }
    for skipped in &imported.skipped {
        assert!(!skipped.to_string().is_empty());
    }
}
