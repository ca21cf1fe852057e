//! The modules of the facade: complete, without doubles, and with a short root and prelude.

use std::collections::BTreeMap;

const SCHEMA: &str = include_str!("../../../haft-schema/src/lib.rs");
const CORE: &str = include_str!("../../../haft-core/src/lib.rs");
const EXECUTOR: &str = include_str!("../../../haft-executor/src/lib.rs");
const MODEL: &str = include_str!("../../../haft-model/src/lib.rs");
const MIDDLEWARE: &str = include_str!("../../../haft-middleware/src/lib.rs");
const WIRE: &str = include_str!("../../../haft-wire/src/lib.rs");
const REGISTRY: &str = include_str!("../../../haft-registry/src/lib.rs");
const MCP: &str = include_str!("../../../haft-mcp/src/lib.rs");
const TOOLS: &str = include_str!("../../../haft-tools/src/lib.rs");
const WORKSPACE: &str = include_str!("../../../haft-workspace/src/lib.rs");
const HTTP: &str = include_str!("../../../haft-http/src/lib.rs");
const ROOT: &str = include_str!("../../src/lib.rs");
const PRELUDE: &str = include_str!("../../src/prelude.rs");
const MODULES: [&str; 14] = [
    include_str!("../../src/tool.rs"),
    include_str!("../../src/toolkit.rs"),
    include_str!("../../src/run.rs"),
    include_str!("../../src/approval.rs"),
    include_str!("../../src/schema.rs"),
    include_str!("../../src/conversation.rs"),
    include_str!("../../src/middleware.rs"),
    include_str!("../../src/model.rs"),
    include_str!("../../src/wire.rs"),
    include_str!("../../src/http.rs"),
    include_str!("../../src/mcp.rs"),
    include_str!("../../src/registry.rs"),
    include_str!("../../src/tools.rs"),
    include_str!("../../src/workspace.rs"),
];
/// The crates by the paths that they are re-exported from. Names differ within each crate, not between them: the budget
/// of a loop and that of a wire are both a `Budget`.
const CRATES: [(&str, &str); 11] = [
    ("haft_schema::", SCHEMA),
    ("haft_core::", CORE),
    ("haft_executor::", EXECUTOR),
    ("haft_model::", MODEL),
    ("haft_middleware::", MIDDLEWARE),
    ("haft_wire::", WIRE),
    ("haft_http::", HTTP),
    ("haft_mcp::", MCP),
    ("haft_registry::", REGISTRY),
    ("haft_tools::", TOOLS),
    ("haft_workspace::", WORKSPACE),
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
    let (mut wrong, mut found) = (Vec::new(), 0);
    for (path, source) in CRATES {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for name in MODULES.iter().flat_map(|module| exported(module, path)) {
            *places.entry(name).or_default() += 1;
        }
        found += places.len();
        for name in ["self::", "bytes::", "http::"].iter().flat_map(|origin| exported(source, origin)) {
            let count = places.get(name).copied().unwrap_or_default();
            // What begins with a small letter is a module or a function: only some of those are public API.
            if count != 1 && (name.starts_with(char::is_uppercase) || count > 1) {
                wrong.push((name, count));
            }
        }
    }
    assert_eq!(wrong, [], "names and the number of modules that have them");
    assert!(found > 270, "too few were found: {found}");
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
    assert_eq!(exported(ROOT, "haft_"), ["executor", "macro_support"], "nothing else is re-exported at the root");
}
