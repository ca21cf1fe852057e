//! File and module names that do not describe their content.

use std::path::Path;

use super::breach::Breach;
use super::source::Source;

/// Names that collect unrelated code.
const EMPTY_NAMES: [&str; 8] = ["util", "utils", "common", "helper", "helpers", "manager", "misc", "v2"];

/// Checks the folders and the stem of a Rust file.
pub(super) fn check(path: &str) -> Vec<Breach> {
    let path_of = Path::new(path);
    if path_of.extension().is_none_or(|extension| extension != "rs") {
        return Vec::new();
    }
    let stem = path_of.with_extension("");
    let names = stem.iter().filter_map(|name| name.to_str()).filter(|name| is_empty_name(name));
    names.map(|name| Breach::new(path, 1, message(name))).collect()
}

/// Checks the modules that a file declares.
pub(super) fn check_modules(source: &Source<'_>) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for at in source.words("mod") {
        let rest = source.code()[at + "mod".len()..].trim_start();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if is_empty_name(&name) {
            breaches.push(Breach::new(source.path(), source.line_at(at), message(&name)));
        }
    }
    breaches
}

fn is_empty_name(name: &str) -> bool {
    EMPTY_NAMES.contains(&name) || name.ends_with("_v2")
}

fn message(name: &str) -> String {
    format!("`{name}` does not describe its content; name it after what it contains")
}

#[cfg(test)]
mod tests {
    use super::{check, check_modules};
    use crate::tidy::source::Source;

    #[test]
    fn files_and_folders_are_named_after_their_content() {
        for path in ["src/util.rs", "src/helpers/mod.rs", "tests/common/a.rs", "src/wire_v2.rs", "src/v2/a.rs"] {
            assert_eq!(check(path).len(), 1, "{path}");
        }
        for path in ["src/utility_bill.rs", "src/community.rs", "src/dev2.rs", "common/notes.md"] {
            assert!(check(path).is_empty(), "{path}");
        }
    }

    #[test]
    fn modules_are_named_after_their_content() {
        let source = Source::new("src/a.rs", "mod tool;\npub(crate) mod helper { }\n// mod util;\nlet model = 1;\n");
        let lines: Vec<_> = check_modules(&source).iter().map(super::Breach::line).collect();
        assert_eq!(lines, [2]);
    }
}
