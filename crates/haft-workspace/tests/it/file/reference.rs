//! The guide's page with all keys of a workspace file, made from the schema.
//!
//! The page has a section for each key at the top and for each kind, with a table of its keys and an example. The
//! examples are the files `docs/src/haft-toml.in/SECTION.toml`: each must be valid and use every key of its section.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use haft_workspace::json_schema;
use serde_json::{Map, Value};

const INTRODUCTION: &str = "\
# All keys of haft.toml

Every key that a workspace file may have, with its type, its default and an example. This page is made from the schema that haft checks
files by. `haft schema` prints that schema: save it, begin your file with `#:schema ./haft.schema.json`, and your editor completes keys and
marks mistakes.

In this page `NAME` stands for a name that you choose, and `[]` for the items of a list. A duration is a number of seconds.
";

/// The keys that lead to a place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    /// Any name in a table.
    Name,
    /// Any item of a list.
    Item,
}

/// One key.
#[derive(Debug)]
struct Row {
    path: Vec<Step>,
    kind: String,
    default: String,
    meaning: String,
}

/// A part of the page: its title, its keys, and the place of its tables in a file.
#[derive(Debug)]
struct Section {
    name: String,
    title: String,
    text: String,
    rows: Vec<Row>,
    place: Vec<Step>,
}

struct Reader<'s> {
    root: &'s Value,
    rows: Vec<Row>,
    /// The definitions whose keys are listed already, by the key that has them.
    listed: BTreeMap<String, String>,
}

/// `INSTA_UPDATE=always` writes the page.
#[test]
fn the_reference_is_current_and_its_examples_are_complete() {
    let schema = json_schema(&haft_tools::kinds());
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (mut page, mut faults) = (INTRODUCTION.to_owned(), Vec::new());
    for section in sections(&schema) {
        let example = std::fs::read_to_string(guide().join(format!("haft-toml.in/{}.toml", section.name)));
        let example = example.unwrap_or_default();
        let file = serde_json::to_value(toml::from_str::<toml::Table>(&example).unwrap()).unwrap();
        faults.extend(validator.iter_errors(&file).map(|error| format!("{}.toml: {error}", section.name)));
        let missing = section.rows.iter().filter(|row| !section.is_used(&file, row));
        faults.extend(missing.map(|row| format!("{}.toml has no `{}`", section.name, shown(&row.path))));
        section.write(&mut page, &example);
    }
    assert!(faults.is_empty(), "in docs/src/haft-toml.in:\n{}", faults.join("\n"));
    let path = guide().join("haft-toml.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &page).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "run this test with INSTA_UPDATE=always, and commit docs/src/haft-toml.md");
}

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

/// Returns the page's sections: the keys at the top, those of all entries, and those of each kind.
fn sections(schema: &Value) -> Vec<Section> {
    let mut sections = Vec::new();
    for (key, value) in properties(schema) {
        let (place, inner) = tables(schema, vec![Step::Key(key.clone())], value);
        let title = match place.as_slice() {
            [_, Step::Item] => format!("`[[{key}]]`"),
            [_, Step::Name] if key == "secrets" => format!("`[{key}]`"),
            place => format!("`[{}]`", shown(place)),
        };
        let (place, inner) = if key == "secrets" { (vec![Step::Key(key.clone())], value) } else { (place, inner) };
        sections.push(Section::new(schema, key, title, text_of(value), inner, place, |_| true));
    }
    let own = |kind: &str| &schema["$defs"][format!("kind-{kind}")];
    let common =
        |key: &str| own("http")["properties"].get(key).is_some() && own("command")["properties"].get(key).is_some();
    let imports: Vec<String> = properties(own("openapi"))
        .map(|(key, _)| key)
        .filter(|key| common(key) && *key != "kind")
        .map(|key| format!("`{key}`"))
        .collect();
    let text = format!(
        "The keys of tools of every kind. Imports have {}, which apply to each of their tools, and `kind`.",
        imports.join(", ")
    );
    let place = |sort: &str| vec![Step::Key("toolbox".to_owned()), Step::Name, Step::Key(sort.to_owned()), Step::Name];
    let title = "`[toolbox.NAME.tool.NAME]`, of every kind".to_owned();
    sections.push(Section::new(schema, "entry", title, text, own("http"), place("tool"), common));
    for kind in ["http", "command", "openapi", "mcp"] {
        let sort = if matches!(kind, "http" | "command") { "tool" } else { "import" };
        let title = format!("`[toolbox.NAME.{sort}.NAME]` with `kind = \"{kind}\"`");
        let text = "These keys, and those of every kind.".to_owned();
        sections.push(Section::new(schema, &format!("kind-{kind}"), title, text, own(kind), place(sort), |key| {
            !common(key)
        }));
    }
    let kinds = haft_tools::kinds();
    assert_eq!(kinds.iter().count(), 4, "a kind has no section");
    sections
}

/// Returns the place of the tables that a key holds, itself or as named ones or items, and their schema.
fn tables<'s>(root: &'s Value, mut place: Vec<Step>, value: &'s Value) -> (Vec<Step>, &'s Value) {
    let value = resolved(root, value);
    if let Some(items) = value.get("items") {
        place.push(Step::Item);
        return (place, resolved(root, items));
    }
    match value.get("additionalProperties").filter(|named| named.is_object()) {
        Some(named) => {
            place.push(Step::Name);
            (place, resolved(root, named))
        }
        None => (place, value),
    }
}

impl Section {
    fn new(
        root: &Value,
        name: &str,
        title: String,
        text: String,
        inner: &Value,
        place: Vec<Step>,
        has: impl Fn(&str) -> bool,
    ) -> Self {
        let mut reader = Reader { root, rows: Vec::new(), listed: BTreeMap::new() };
        if properties(inner).next().is_none() {
            reader.nested(&[], inner);
        }
        for (key, value) in properties(inner).filter(|(key, _)| has(key)) {
            // Entries have sections of their own.
            if name == "toolbox" && key != "description" {
                reader.add(&[Step::Key(key.clone())], value, inner, 9);
                continue;
            }
            reader.add(&[Step::Key(key.clone())], value, inner, 0);
        }
        Self { name: name.to_owned(), title, text, rows: reader.rows, place }
    }

    /// Reports whether a file has a row's key in one of the section's tables.
    fn is_used(&self, file: &Value, row: &Row) -> bool {
        let path: Vec<Step> = self.place.iter().chain(&row.path).cloned().collect();
        has(file, &path)
    }

    fn write(&self, page: &mut String, example: &str) {
        let Self { title, text, rows, .. } = self;
        write!(page, "\n## {title}\n\n{text}\n\n| key | type | default | meaning |\n|---|---|---|---|\n").unwrap();
        for Row { path, kind, default, meaning } in rows {
            let meaning = meaning.replace('|', "\\|");
            writeln!(page, "| `{}` | {kind} | {default} | {meaning} |", shown(path)).unwrap();
        }
        write!(page, "\n```toml\n{example}```\n").unwrap();
    }
}

impl Reader<'_> {
    /// Adds a key, and the keys of the tables that it holds.
    fn add(&mut self, path: &[Step], value: &Value, parent: &Value, depth: usize) {
        const DEEPEST: usize = 4;
        let Some(Step::Key(key)) = path.last() else { return };
        let required = parent["required"].as_array().is_some_and(|keys| keys.iter().any(|known| known == key));
        let mut meaning = text_of(value);
        if meaning.is_empty() {
            meaning = text_of(parent);
        }
        meaning.push_str(&self.choices(value, &meaning));
        let default = if required { "required".to_owned() } else { default_of(value, &meaning) };
        let kind = self.kind(value);
        let at = self.rows.len();
        self.rows.push(Row { path: path.to_vec(), kind, default, meaning });
        if depth < DEEPEST
            && let Some(other) = self.nested(path, value)
        {
            write!(self.rows[at].meaning, " The keys are those of `{other}`.").unwrap();
        }
    }

    /// Adds the keys of the tables in a value. Returns the key that has the same ones, if they are listed already.
    fn nested(&mut self, path: &[Step], value: &Value) -> Option<String> {
        if let Some(reference) = value["$ref"].as_str() {
            if !self.has_keys(value, 0) {
                return None;
            }
            if let Some(other) = self.listed.get(reference) {
                return Some(other.clone());
            }
            self.listed.insert(reference.to_owned(), shown(path));
            return self.nested(path, resolved(self.root, value));
        }
        for branch in branches(value) {
            self.nested(path, branch);
        }
        let below = |step: Step| path.iter().cloned().chain([step]).collect::<Vec<_>>();
        if let Some(items) = value.get("items") {
            return self.nested(&below(Step::Item), items);
        }
        if let Some(named) = value.get("additionalProperties").filter(|named| named.is_object()) {
            return self.nested(&below(Step::Name), named);
        }
        for (key, inner) in properties(value) {
            self.add(&below(Step::Key(key.clone())), inner, value, path.len());
        }
        None
    }

    /// Reports whether tables of known keys are in a value.
    fn has_keys(&self, value: &Value, depth: usize) -> bool {
        let value = resolved(self.root, value);
        let inner = branches(value).chain(value.get("items")).chain(value.get("additionalProperties"));
        depth < 9
            && (properties(value).next().is_some() || inner.into_iter().any(|value| self.has_keys(value, depth + 1)))
    }

    /// Returns a value's type.
    fn kind(&self, value: &Value) -> String {
        let value = resolved(self.root, value);
        let quoted = |value: &Value| format!("`{value}`");
        if let Some(constant) = value.get("const") {
            return quoted(constant);
        }
        if let Some(values) = value["enum"].as_array() {
            return values.iter().map(quoted).collect::<Vec<_>>().join(", ");
        }
        let mut kinds: Vec<String> = Vec::new();
        for kind in branches(value).map(|branch| self.kind(branch)) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if !kinds.is_empty() {
            return kinds.join(if kinds.iter().all(|kind| kind.starts_with('`')) { ", " } else { " or " });
        }
        match value["type"].as_str() {
            Some("string") => "text".to_owned(),
            Some("integer") => format!("whole number{}", range(value)),
            Some("number") => format!("number{}", range(value)),
            Some("boolean") => "`true`, `false`".to_owned(),
            Some("array") => format!("list: {}", value.get("items").map_or("any".to_owned(), |items| self.kind(items))),
            Some("object") => match value.get("additionalProperties").filter(|named| named.is_object()) {
                Some(named) => format!("table of names: {}", self.kind(named)),
                None => "table".to_owned(),
            },
            _ => "any".to_owned(),
        }
    }

    /// Returns the meanings of a key's values that its own meaning does not mention.
    fn choices(&self, value: &Value, meaning: &str) -> String {
        let mut text = String::new();
        for branch in branches(resolved(self.root, value)) {
            if let (Some(constant), Some(means)) = (branch["const"].as_str(), branch["description"].as_str())
                && !meaning.contains(&format!("`{constant}`"))
                && !meaning.contains(&format!("`\"{constant}\"`"))
            {
                write!(text, " `\"{constant}\"`: {}", lowercase(means)).unwrap();
            }
        }
        text
    }
}

/// Returns a sentence as a clause.
fn lowercase(text: &str) -> String {
    let mut letters = text.chars();
    let is_word = text.chars().nth(1).is_some_and(char::is_lowercase);
    match letters.next().filter(|_| is_word) {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => text.to_owned(),
    }
}

fn range(value: &Value) -> String {
    // Bounds that only keep numbers sensible are no help.
    const SENSIBLE: f64 = 1_000_000.0;
    let bound = |key: &str| value[key].as_f64().filter(|bound| *bound < SENSIBLE).map(|_| value[key].to_string());
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) if least != "0" => format!(" from {least}"),
        (None, Some(most)) => format!(" to {most}"),
        _ => String::new(),
    }
}

/// Returns a key's default: of the schema, or as the meaning states it.
fn default_of(value: &Value, meaning: &str) -> String {
    match value.get("default") {
        Some(default) if default.as_array().is_some_and(Vec::is_empty) => return "`[]`".to_owned(),
        Some(default) => return format!("`{default}`"),
        None => {}
    }
    let end = |text: &str| text.find([',', ';']).or(text.find(". ")).unwrap_or(text.trim_end_matches('.').len());
    if let Some((_, rest)) = meaning.split_once("The default is ") {
        return rest[..end(rest)].trim_end_matches('.').to_owned();
    }
    for sign in [" by default", ", which is the default", ", the default"] {
        if let Some((before, _)) = meaning.split_once(sign) {
            return before.rsplit(' ').next().unwrap_or_default().to_owned();
        }
    }
    "unset".to_owned()
}

fn text_of(value: &Value) -> String {
    value["description"].as_str().unwrap_or_default().to_owned()
}

fn branches(value: &Value) -> impl Iterator<Item = &Value> {
    ["anyOf", "oneOf"].into_iter().filter_map(|keyword| value[keyword].as_array()).flatten()
}

fn properties(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value["properties"].as_object().into_iter().flat_map(Map::iter)
}

fn resolved<'s>(root: &'s Value, value: &'s Value) -> &'s Value {
    let reference = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    reference.and_then(|pointer| root.pointer(pointer)).unwrap_or(value)
}

/// Returns a place as people write it.
fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Item => text.push_str("[]"),
            Step::Key(_) | Step::Name => {
                let name = if let Step::Key(key) = step { key } else { "NAME" };
                text.push_str(if text.is_empty() { "" } else { "." });
                text.push_str(name);
            }
        }
    }
    text
}

/// Reports whether a file has something at a place.
fn has(value: &Value, path: &[Step]) -> bool {
    let Some((step, rest)) = path.split_first() else { return true };
    match step {
        Step::Key(key) => value.get(key).is_some_and(|inner| has(inner, rest)),
        Step::Name => value.as_object().is_some_and(|table| table.values().any(|inner| has(inner, rest))),
        Step::Item => value.as_array().is_some_and(|items| items.iter().any(|inner| has(inner, rest))),
    }
}
