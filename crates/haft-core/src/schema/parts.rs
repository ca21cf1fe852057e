//! Tests on real material that the test set-up brings: the official JSON Schema tests, and what real MCP servers say
//! of their tools.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::draft::Dialect;
use super::resolver::Resolver;
use super::{Compiled, DecodeOptions, Schema, equal};

/// Where the set-up puts things.
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

/// The suite's remote documents, under the address the tests know them by.
fn remotes() -> Resolver {
    let folder = parts("json-schema-test-suite").join("remotes");
    let documents: HashMap<String, Value> = files(&folder)
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            (format!("http://localhost:1234/{relative}"), read_json(&path))
        })
        .collect();
    assert!(documents.len() > 20, "the suite's remotes are not whole: {} documents", documents.len());
    Resolver::in_memory(documents)
}

/// Cases that are expected to disagree, with the reason: `draft/file.json: group: test`.
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

/// Runs the required tests of one draft; gives how many ran and which disagreed.
fn run(draft: &str, dialect: Dialect) -> (usize, Vec<String>) {
    let resolver = remotes();
    let folder = parts("json-schema-test-suite").join("tests").join(draft);
    let mut ran = 0;
    let mut disagreed = Vec::new();
    let required = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    for path in required {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        for group in read_json(&path).as_array().unwrap() {
            let compiled = Compiled::enforced(group["schema"].clone(), Some(dialect), &resolver);
            for test in group["tests"].as_array().unwrap() {
                ran += 1;
                let case = format!("{draft}/{file}: {}: {}", text(&group["description"]), text(&test["description"]));
                let agrees = compiled.as_ref().is_ok_and(|compiled| {
                    let schema = Schema { compiled: compiled.clone(), custom: None };
                    let expected = test["valid"].as_bool().unwrap();
                    // Reading text must agree too, unless the text itself is such as haft never takes.
                    let taken = schema.decode::<Value>(&test["data"].to_string(), &DecodeOptions::default());
                    let taken_agrees = match &taken {
                        Ok(decoded) => expected && equal::same(&decoded.value, &test["data"]),
                        Err(issues) => !expected || issues.iter().any(|issue| issue.keyword == "forbiddenKey"),
                    };
                    schema.check(&test["data"]).is_ok() == expected && taken_agrees
                });
                if !agrees {
                    disagreed.push(case);
                }
            }
        }
    }
    (ran, disagreed)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn assert_agrees(draft: &str, dialect: Dialect, at_least: usize) {
    let (ran, disagreed) = run(draft, dialect);
    assert!(ran >= at_least, "only {ran} tests of {draft} were there");
    let expected = expected_failures();
    let surprises: Vec<&String> = disagreed.iter().filter(|case| !expected.contains_key(*case)).collect();
    assert!(surprises.is_empty(), "{} of {ran} disagree:\n{surprises:#?}", surprises.len());
    let mended: Vec<&String> =
        expected.keys().filter(|case| case.starts_with(&format!("{draft}/")) && !disagreed.contains(case)).collect();
    assert!(mended.is_empty(), "no longer fail, take them off the list: {mended:#?}");
}

#[test]
fn agrees_with_the_official_tests_of_draft_2020_12() {
    assert_agrees("draft2020-12", Dialect::Draft202012, 1_200);
}

#[test]
fn agrees_with_the_official_tests_of_draft_7() {
    assert_agrees("draft7", Dialect::Draft7, 900);
}

#[test]
fn builds_from_every_schema_of_real_servers() {
    let mut tools = 0;
    for path in files(&parts("mcp-tools")) {
        for tool in read_json(&path).as_array().unwrap() {
            for part in ["inputSchema", "outputSchema"] {
                let Some(raw) = tool.get(part) else { continue };
                let schema = Schema::json(raw.clone())
                    .unwrap_or_else(|error| panic!("{} {} {part}: {error}", path.display(), tool["name"]));
                assert_eq!(schema.as_json().to_string(), raw.to_string(), "kept to the byte");
            }
            tools += 1;
        }
    }
    assert!(tools >= 40, "only {tools} tools were there");
}
