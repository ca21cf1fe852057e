//! The modules of the facade: complete, without doubles, and with a short root and prelude.

use std::collections::BTreeMap;

const CORE: &str = include_str!("../../../haft-core/src/lib.rs");
const MODEL: &str = include_str!("../../../haft-model/src/lib.rs");
const MIDDLEWARE: &str = include_str!("../../../haft-middleware/src/lib.rs");
const ROOT: &str = include_str!("../../src/lib.rs");
const PRELUDE: &str = include_str!("../../src/prelude.rs");
const MODULES: [&str; 8] = [
    include_str!("../../src/tool.rs"),
    include_str!("../../src/toolkit.rs"),
    include_str!("../../src/run.rs"),
    include_str!("../../src/approval.rs"),
    include_str!("../../src/schema.rs"),
    include_str!("../../src/conversation.rs"),
    include_str!("../../src/middleware.rs"),
    include_str!("../../src/model.rs"),
];

/// Returns the names of all `pub use` items of a source whose path begins like this.
fn exported<'a>(source: &'a str, path: &str) -> Vec<&'a str> {
    let marker = format!("pub use {path}");
    let items = source.split(&marker).skip(1).filter_map(|rest| rest.split(';').next());
    let names = items.flat_map(|item| {
        let list = item.split_once('{').map_or(item, |(_, list)| list);
        list.split(['{', '}', ',', ':', '\n']).map(str::trim)
    });
    names.filter(|name| !name.is_empty() && name.starts_with(|c: char| c.is_alphabetic())).collect()
}

#[test]
fn every_name_of_the_crates_is_in_exactly_one_module() {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for path in ["haft_core::", "haft_model::", "haft_middleware::"] {
        for name in MODULES.iter().flat_map(|module| exported(module, path)) {
            *places.entry(name).or_default() += 1;
        }
    }
    let mut wrong = Vec::new();
    for source in [CORE, MODEL, MIDDLEWARE] {
        for name in exported(source, "self::").into_iter().filter(|name| name.starts_with(char::is_uppercase)) {
            if places.get(name) != Some(&1) {
                wrong.push((name, places.get(name).copied().unwrap_or_default()));
            }
        }
    }
    assert_eq!(wrong, [], "names and the number of modules that have them");
    assert!(places.len() > 200, "too few were found: {}", places.len());
}

#[test]
fn the_prelude_has_at_most_thirty_names() {
    let mut names = exported(PRELUDE, "crate::");
    names.retain(|name| {
        !["approval", "conversation", "middleware", "model", "run"].contains(name)
            && (name.starts_with(char::is_uppercase) || ["tool", "toolkit"].contains(name))
            // a trait without a name: only its functions are in scope
            && !name.ends_with(" as _")
    });
    names.sort_unstable();
    names.dedup();
    assert!((25..=30).contains(&names.len()), "{}: {names:?}", names.len());
}

#[test]
fn the_root_has_modules_and_macros_only() {
    let modules = ROOT.lines().filter(|line| line.starts_with("pub mod ")).count();
    assert_eq!(modules, MODULES.len() + 1, "the modules and the prelude");
    let names = exported(ROOT, "self::macros::");
    assert_eq!(names, ["Failure", "Services", "ToolCalls", "compose", "tool", "toolkit", "tools"]);
    assert_eq!(exported(ROOT, "haft_"), ["core", "macro_support"], "nothing else is re-exported at the root");
}
