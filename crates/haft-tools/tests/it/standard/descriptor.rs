//! The tools as models see them. A change to the snapshot is a change to the interface.

use haft_executor::Tool;
use haft_wire::{FindingKind, Profile};
use serde_json::json;

use super::toolbox;

#[test]
fn the_descriptors_are_as_recorded() {
    let root = tempfile::tempdir().unwrap();
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    let described: Vec<_> = kit
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name(),
                "description": tool.description(),
                "parameters": tool.json_schema(),
                "success": tool.success().as_json(),
                "failure": tool.failure().as_json(),
                "examples": tool.descriptor().examples,
            })
        })
        .collect();
    insta::assert_json_snapshot!("standard_toolbox", described);
}

#[test]
fn every_tool_is_marked_as_safe_and_offline() {
    let root = tempfile::tempdir().unwrap();
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    let is_safe = |tool: &Tool| {
        let hints = tool.annotations();
        hints.readonly() && hints.idempotent() && !hints.destructive() && !hints.open_world()
    };
    for tool in &kit {
        assert!(is_safe(tool), "{}", tool.name());
        assert!(tool.annotations().title().is_some(), "{}", tool.name());
        assert!(!tool.descriptor().examples.is_empty(), "{}", tool.name());
    }
    assert_eq!(kit.len(), 18);
}

/// Lengths and defaults become part of descriptions where a provider has no keyword for them. Nothing else is lost, and
/// only a provider's budgets, which are about all tools together, prevent strict modes.
#[test]
fn every_profile_renders_every_tool() {
    let root = tempfile::tempdir().unwrap();
    let kit = toolbox().files(root.path()).unwrap().toolkit().unwrap();
    for profile in Profile::all() {
        let all = profile.render(&kit.descriptors());
        assert_eq!(all.iter().count(), kit.len(), "{}", profile.name());
        for descriptor in kit.descriptors() {
            for finding in profile.render(&[descriptor]).findings() {
                assert!(matches!(finding.kind, FindingKind::Loss(_)), "{}: {finding}", profile.name());
            }
        }
    }
}
