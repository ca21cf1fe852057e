//! Tests against external material that the test setup downloads: the official JSON Schema test suite, and the tool
//! schemas of real MCP servers.

mod bfcl;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{DecodeOptions, Schema};
use crate::canonical::canonical_text;

/// Returns the path of a download of the test setup.
fn parts(name: &str) -> PathBuf {
    let folder = std::env::var_os("HAFT_PARTS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/parts"), PathBuf::from);
    let part = folder.join(name);
    assert!(part.is_dir(), "{} is missing: run `cargo xtask setup`", part.display());
    part
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A group of the test suite: a schema, and values for it.
#[derive(Deserialize)]
struct SuiteGroup {
    description: String,
    schema: Value,
    tests: Vec<SuiteCase>,
}

#[derive(Deserialize)]
struct SuiteCase {
    description: String,
    /// The value as text: a tree would round its numbers.
    data: Box<RawValue>,
    valid: bool,
}

/// Returns the suite's remote documents, by the address that the tests use.
fn remotes(draft: &str) -> Map<String, Value> {
    let folder = parts("json-schema-test-suite").join("remotes");
    let documents: Map<String, Value> = files(&folder)
        .into_iter()
        .filter_map(|path| {
            let relative = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            let is_other_draft = relative.starts_with("draft") && !relative.starts_with(&format!("{draft}/"));
            let is_replaced = folder.join(draft).join(&relative).is_file();
            (!is_other_draft && !is_replaced).then(|| (format!("http://localhost:1234/{relative}"), read_json(&path)))
        })
        .collect();
    assert!(documents.len() > 10, "the suite's remotes are not whole: {} documents", documents.len());
    documents
}

/// Embeds the documents that a schema refers to in the schema: nothing is ever fetched, so a schema must contain them.
fn bundled(schema: &Value, draft: &str, remotes: &Map<String, Value>) -> Value {
    let text = schema.to_string();
    let Value::Object(mut root) = schema.clone() else { return schema.clone() };
    let address = match draft {
        "draft2020-12" => "https://json-schema.org/draft/2020-12/schema",
        "draft2019-09" => "https://json-schema.org/draft/2019-09/schema",
        "draft7" => "http://json-schema.org/draft-07/schema#",
        "draft6" => "http://json-schema.org/draft-06/schema#",
        _ => "http://json-schema.org/draft-04/schema#",
    };
    root.entry("$schema").or_insert_with(|| address.into());
    if !text.contains("localhost:1234") {
        return Value::Object(root);
    }
    let id = if draft == "draft4" { "id" } else { "$id" };
    let mut embedded = Map::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for (address, document) in remotes {
            let name = address.rsplit('/').next().unwrap();
            let Value::Object(mut document) = document.clone() else { continue };
            if text.contains(name) && !embedded.contains_key(address) {
                texts.push(document_text(&document));
                document.entry(id).or_insert_with(|| address.as_str().into());
                embedded.insert(address.clone(), Value::Object(document));
            }
        }
    }
    match root.entry("definitions").or_insert_with(|| Value::Object(Map::new())) {
        Value::Object(definitions) => definitions.extend(embedded),
        _ => panic!("definitions are an object"),
    }
    Value::Object(root)
}

fn document_text(document: &Map<String, Value>) -> String {
    Value::Object(document.clone()).to_string()
}

/// Returns the cases that are expected to disagree, with the reason: `draft/file.json: group: test`.
fn expected_failures() -> BTreeMap<String, String> {
    include_str!("expected_failures.txt")
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (case, reason) = line.split_once(" -- ").expect("each line is `case -- reason`");
            (case.to_owned(), reason.to_owned())
        })
        .collect()
}

/// Runs the required tests of one draft through the public API. Returns the number of tests that ran and the names of
/// those that disagreed.
fn run(draft: &str) -> (usize, Vec<String>) {
    let remotes = remotes(draft);
    let folder = parts("json-schema-test-suite").join("tests").join(draft);
    let mut ran = 0;
    let mut disagreed = Vec::new();
    let required = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let optional = ["bignum.json", "ecmascript-regex.json"].map(|file| folder.join("optional").join(file));
    for path in required.chain(optional.into_iter().filter(|path| path.is_file())) {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let groups: Vec<SuiteGroup> = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for group in groups {
            let schema = Schema::json(bundled(&group.schema, draft, &remotes));
            for test in &group.tests {
                ran += 1;
                if !schema.as_ref().is_ok_and(|schema| agrees(schema, test)) {
                    disagreed.push(format!("{draft}/{file}: {}: {}", group.description, test.description));
                }
            }
        }
    }
    (ran, disagreed)
}

/// Reports whether a schema decides as the test expects, about the tree and about the text. Text with a forbidden key
/// is always rejected, and so is an integer that a tree would round.
fn agrees(schema: &Schema, test: &SuiteCase) -> bool {
    let tree: Value = serde_json::from_str(test.data.get()).unwrap();
    let decoded_agrees = match schema.decode::<Value>(test.data.get(), &DecodeOptions::default()) {
        Ok(decoded) => test.valid && canonical_text(&decoded.value) == canonical_text(&tree),
        Err(issues) => {
            !test.valid || issues.iter().any(|issue| ["forbiddenKey", "exact"].contains(&issue.keyword.as_str()))
        }
    };
    schema.check(&tree).is_ok() == test.valid && decoded_agrees
}

fn assert_agrees(draft: &str, at_least: usize) {
    let (ran, disagreed) = run(draft);
    assert!(ran >= at_least, "only {ran} tests of {draft} were there");
    let expected = expected_failures();
    let surprises: Vec<&String> = disagreed.iter().filter(|case| !expected.contains_key(*case)).collect();
    assert!(surprises.is_empty(), "{} of {ran} disagree:\n{surprises:#?}", surprises.len());
    let resolved: Vec<&String> =
        expected.keys().filter(|case| case.starts_with(&format!("{draft}/")) && !disagreed.contains(case)).collect();
    assert!(resolved.is_empty(), "no longer fail, take them off the list: {resolved:#?}");
}

#[test]
fn agrees_with_the_official_tests_of_draft_2020_12() {
    assert_agrees("draft2020-12", 1_200);
}

#[test]
fn agrees_with_the_official_tests_of_draft_2019_09() {
    assert_agrees("draft2019-09", 1_200);
}

#[test]
fn agrees_with_the_official_tests_of_draft_7() {
    assert_agrees("draft7", 900);
}

#[test]
fn agrees_with_the_official_tests_of_draft_6() {
    assert_agrees("draft6", 800);
}

#[test]
fn agrees_with_the_official_tests_of_draft_4() {
    assert_agrees("draft4", 600);
}

/// The tools of servers that the setup does not start.
const OTHER_SERVERS: [(&str, &str); 3] = [
    ("eslint", include_str!("parts/eslint.json")),
    ("fetch", include_str!("parts/fetch.json")),
    ("sqlite", include_str!("parts/sqlite.json")),
];

#[test]
fn every_schema_of_real_servers_builds() {
    let started = files(&parts("mcp-tools")).into_iter().map(|path| (path.display().to_string(), read_json(&path)));
    let others = OTHER_SERVERS.into_iter().map(|(name, answer)| {
        let mut answer: Value = serde_json::from_str(answer).unwrap();
        (name.to_owned(), answer["tools"].take())
    });
    let (mut servers, mut tools) = (0, 0);
    for (server, answer) in started.chain(others) {
        servers += 1;
        for tool in answer.as_array().unwrap() {
            for part in ["inputSchema", "outputSchema"] {
                let Some(raw) = tool.get(part) else { continue };
                let schema = Schema::json(raw.clone())
                    .unwrap_or_else(|error| panic!("{server} {} {part}: {error}", tool["name"]));
                assert_eq!(schema.as_json().to_string(), raw.to_string(), "kept to the byte");
            }
            tools += 1;
        }
    }
    assert!(servers >= 9 && tools >= 60, "only {tools} tools of {servers} servers were there");
}
