//! The JSON Schema for editors.

use std::path::Path;

use haft_registry::{Building, Built, Entry, ImplementationKind, Kinds, Reach, Yields};
use haft_workspace::{KindFormatError, LoadOptions, json_schema, load};
use serde_json::{Value, json as value};

use super::{Folder, answer, kinds};

const EXAMPLE: &str = include_str!("../../../src/example.toml");

/// Returns TOML as JSON, by another way than the loader takes.
fn json(toml: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(toml).unwrap()).unwrap()
}

/// `INSTA_UPDATE=always` writes the file.
#[test]
fn the_published_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("haft.schema.json");
    let current = serde_json::to_string_pretty(&json_schema(&haft_tools::kinds())).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &current).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == current, "run this test with INSTA_UPDATE=always, and commit haft.schema.json");
}

#[test]
fn another_validator_agrees() {
    let schema = json_schema(&haft_tools::kinds());
    assert!(jsonschema::meta::is_valid(&schema));
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json(EXAMPLE)).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(validator.is_valid(&json("")));
    for broken in [
        "[workspce]",
        "[limits]\nconcurrency = 0",
        "[toolbox.a.tool.b]",
        "[toolbox.a.tool.b]\nkind = 'none'",
        "[toolbox.a.tool.b]\nkind = 'command'",
        "[toolbox.a.tool.b]\nkind = 'command'\ncommand = ['x']\ncomand = ['y']",
        "[toolbox.a.import.b]\nkind = 'command'\ncommand = ['x']",
        "[secrets]\na = { env = 'A', file = 'b' }",
    ] {
        assert!(!validator.is_valid(&json(broken)), "{broken}");
    }
}

#[test]
fn kinds_of_others_are_part_of_it() {
    let validator = jsonschema::validator_for(&json_schema(&kinds())).unwrap();
    let good = "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nstyle = { case = 'upper' }";
    assert!(validator.is_valid(&json(good)));
    assert!(!validator.is_valid(&json(&good.replace("upper", "title"))));
    assert!(validator.is_valid(&json("[toolbox.a.import.b]\nkind = 'lines'\nfile = 'x'\ntimeout = 3")));
    assert!(!validator.is_valid(&json("[toolbox.a.import.b]\nkind = 'lines'\nfile = 'x'\ntitle = 'y'")));
    let none = jsonschema::validator_for(&json_schema(&Kinds::empty())).unwrap();
    assert!(!none.is_valid(&json(good)));
}

#[test]
fn it_is_written_for_those_who_write_files() {
    let schema = json_schema(&haft_tools::kinds()).to_string();
    assert!(!schema.contains(r#""type":"null""#) && !schema.contains(r#""null"]"#), "{schema}");
    assert!(!schema.contains("```"), "{schema}");
}

/// A kind with these settings, whose tools return them.
struct Echo(Value);

impl ImplementationKind for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        self.0.clone()
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let settings = entry.settings.to_string();
            let builder = entry.builder(value!({"type": "object"}));
            Ok(Built::tool(
                builder.handler(move |_: Value, _cx| std::future::ready(settings.clone()))?,
                Reach::nothing(),
            ))
        })
    }
}

#[test]
fn the_keys_of_all_entries_have_one_meaning() {
    assert!(LoadOptions::new(haft_tools::kinds()).is_ok());
    for key in ["kind", "timeout", "max-output", "description"] {
        let kinds = Kinds::empty().with(Echo(value!({"type": "object", "properties": {key: {}}}))).unwrap();
        let error = LoadOptions::new(kinds).unwrap_err();
        assert!(matches!(&error, KindFormatError::CommonKey { key: shadowed, .. } if shadowed == key), "{error}");
    }
}

#[tokio::test]
async fn settings_that_only_a_branch_declares_reach_the_kind() {
    let branch = value!({"properties": {"a": {"type": "integer"}}, "required": ["a"]});
    let kinds = Kinds::empty().with(Echo(value!({"type": "object", "anyOf": [branch]}))).unwrap();
    let folder = Folder::with("[toolbox.x.tool.y]\nkind = 'echo'\ntitle = 'Y'\na = 1\n");
    let loaded = load(folder.file(), &LoadOptions::new(kinds).unwrap()).await.unwrap();
    let registry = loaded.registry().unwrap().build().unwrap();
    assert_eq!(answer(&registry, "x/y").await, r#"{"a":1}"#);
}
