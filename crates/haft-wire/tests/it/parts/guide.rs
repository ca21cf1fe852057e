//! The models that the guide names, compared with those that the SDKs of the providers name.

use std::fs;

use haft_parts::folder;

const PAGE: &str = include_str!("../../../../../docs/src/providers.md");

/// The providers of the guide's table, and the SDK's list of models.
const LISTS: [(&str, &str); 3] = [
    ("`openai`", "openai/types/shared/chat_model.py"),
    ("`anthropic`", "anthropic/types/model.py"),
    ("`gemini`", "google/genai/_gaos/types/interactions/model.py"),
];

/// Anthropic's SDK warns about models that end.
const DEPRECATED: &str = "anthropic/resources/messages/messages.py";

/// Reads a file of an installed Python package.
fn read(file: &str) -> String {
    let mut versions = fs::read_dir(folder("sdk").join("lib")).unwrap().map(|entry| entry.unwrap().path());
    let path = versions.next().unwrap().join("site-packages").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the names between back quotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_model_of_the_guide_is_current() {
    let deprecated = read(DEPRECATED);
    for (provider, list) in LISTS {
        let mut rows =
            PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_prefix(provider)?.strip_prefix(" | "));
        let cells: Vec<&str> = rows.next().unwrap().split(" | ").collect();
        let (models, known) = ([quoted(cells[0]), quoted(cells[1])].concat(), read(list));
        assert!(models.len() >= 2, "{provider}: {models:?}");
        for model in models {
            assert!(known.contains(&format!("\"{model}\",")), "{provider} has no model `{model}`");
            assert!(!deprecated.contains(&format!("\"{model}\":")), "`{model}` ends");
        }
    }
}
