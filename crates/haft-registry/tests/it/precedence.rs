//! The tool that a name means, by precedence.

use haft_registry::{FullName, LookupError};

use crate::registry;

fn found(registry: &haft_registry::Registry, name: &str) -> String {
    match registry.find(name) {
        Ok(tool) => tool.name.to_string(),
        Err(LookupError::NotFound { .. }) => "not found".to_owned(),
        Err(LookupError::Invalid(_)) => "invalid".to_owned(),
        Err(LookupError::Ambiguous { candidates, .. }) => {
            candidates.iter().map(FullName::to_string).collect::<Vec<_>>().join(" | ")
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_name_means_the_tool_with_precedence() {
    let registry = registry(
        &["add", "now", "count", "hash"],
        &["math/add*", "math/log", "text/count", "text/sub"],
        &[
            ("acme", &["math/add", "math/exp", "text/count*", "geo/area*", "math/pow*"]),
            ("zeta", &["math/add", "math/exp", "geo/area*", "io/hash*"]),
        ],
    );
    for (name, expected) in [
        // full names
        ("math/add", "math/add"),
        ("math/log", "math/log"),
        ("acme/math/add", "acme/math/add"),
        ("zeta/math/add", "zeta/math/add"),
        ("acme/math/exp", "acme/math/exp"),
        ("now", "now"),
        // names of two segments: the project, then organisations
        ("text/count", "text/count"),
        ("math/pow", "acme/math/pow"),
        ("io/hash", "zeta/io/hash"),
        ("math/exp", "acme/math/exp | zeta/math/exp"),
        ("geo/area", "acme/geo/area | zeta/geo/area"),
        // single-segment names: project exports, organisation exports, the standard toolbox
        ("add", "math/add"),
        ("count", "acme/text/count"),
        ("hash", "zeta/io/hash"),
        ("pow", "acme/math/pow"),
        ("area", "acme/geo/area | zeta/geo/area"),
        // not exported
        ("log", "not found"),
        ("sub", "not found"),
        ("exp", "not found"),
        // exactly these
        ("/add", "add"),
        ("/count", "count"),
        ("/math/add", "math/add"),
        ("/acme/math/add", "acme/math/add"),
        ("/math/pow", "not found"),
        ("/pow", "not found"),
        // names of nothing
        ("acme/math", "not found"),
        ("acme/add", "not found"),
        ("other/math/add", "not found"),
        ("acme/geo/add", "not found"),
        // spelt otherwise
        ("ADD", "not found"),
        ("Math/Add", "not found"),
        ("ACME/math/add", "not found"),
        // no names
        ("math//add", "invalid"),
        ("acme/../math/add", "invalid"),
        ("math/add/", "invalid"),
        ("//add", "invalid"),
        ("math/*", "invalid"),
        ("*", "invalid"),
        ("", "invalid"),
        ("a/b/c/d", "invalid"),
        ("/acme/math/add/x", "invalid"),
        // names that look like others: Cyrillic, another slash, full width, invisible characters
        ("m\u{430}th/add", "invalid"),
        ("аdd", "invalid"),
        ("math\u{2215}add", "invalid"),
        ("math\u{ff0f}add", "invalid"),
        ("\u{ff41}dd", "invalid"),
        ("math/add\u{200b}", "invalid"),
        ("math/\u{202e}dda", "invalid"),
        ("math/a\u{301}dd", "invalid"),
    ] {
        assert_eq!(found(&registry, name), expected, "{name:?}");
    }
}

#[test]
fn the_listing_says_what_hides_what() {
    let registry = registry(&["add", "now"], &["math/add*"], &[("acme", &["math/add", "math/now*"])]);
    let names = |names: &[FullName]| names.iter().map(FullName::to_string).collect::<Vec<_>>();
    let listed: Vec<_> = registry
        .list()
        .iter()
        .map(|tool| (tool.name.to_string(), names(&tool.hides), names(&tool.hidden_by), tool.is_replaced()))
        .collect();
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        listed,
        [
            ("add".to_owned(), list(&[]), list(&["math/add"]), true),
            ("now".to_owned(), list(&[]), list(&["acme/math/now"]), true),
            ("math/add".to_owned(), list(&["add", "acme/math/add"]), list(&[]), false),
            ("acme/math/add".to_owned(), list(&[]), list(&["math/add"]), false),
            ("acme/math/now".to_owned(), list(&["now"]), list(&[]), false),
        ]
    );
}

#[test]
fn an_ambiguous_name_hides_nothing_of_its_own_rank() {
    let registry = registry(&["area"], &[], &[("acme", &["geo/area*"]), ("zeta", &["geo/area*"])]);
    assert!(registry.list().iter().all(|tool| tool.hides.is_empty() && tool.hidden_by.is_empty()));
    let error = registry.find("area").unwrap_err().to_string();
    assert_eq!(error, "`area` may mean `acme/geo/area` or `zeta/geo/area`; use a full name");
}

#[test]
fn an_unknown_name_is_answered_with_similar_ones() {
    let registry = registry(&["search"], &["math/add", "files/read"], &[("acme", &["files/read"])]);
    for (name, message) in [
        ("serach", "there is no tool named `serach`; did you mean `search`?"),
        ("read", "there is no tool named `read`; did you mean `files/read` or `acme/files/read`?"),
        (
            "zeta/files/read",
            "there is no tool named `zeta/files/read`; did you mean `files/read` or `acme/files/read`?",
        ),
        ("math/ad", "there is no tool named `math/ad`; did you mean `math/add`?"),
        ("entirely/different", "there is no tool named `entirely/different`"),
    ] {
        assert_eq!(registry.find(name).unwrap_err().to_string(), message);
    }
}
