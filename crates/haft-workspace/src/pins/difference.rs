//! The difference between pins and what an import offers now.

use std::collections::BTreeSet;

use haft_registry::{PinOrigin, PinnedImport, PinnedTool, ReportedServer};
use serde_json::Value;

use super::field::{self, FieldDifference};

/// The differences between an import's pins and what it offers now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImportDifference {
    /// The accepted and the current origin, if they differ: another command or server.
    pub origin: Option<(PinOrigin, PinOrigin)>,
    /// The accepted and the current report of the server about itself, if they differ. Alone it is only a note.
    pub reported: Option<ReportedChange>,
    /// The tools that differ, in the order of their names.
    pub tools: Vec<ToolDifference>,
}

/// Another name or version of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedChange {
    /// The accepted report.
    pub old: Option<ReportedServer>,
    /// The current report.
    pub new: Option<ReportedServer>,
}

/// A tool that differs from its pin.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDifference {
    /// The tool's name at its origin.
    pub name: String,
    /// The difference.
    pub change: ToolChange,
}

/// A tool's difference from its pin.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolChange {
    /// The tool, which has this definition, was never accepted.
    New(Value),
    /// The tool is no longer offered. It had this definition.
    Removed(Value),
    /// The definition is another one. The fields have the order of the new definition.
    Changed(Vec<FieldDifference>),
}

impl ImportDifference {
    /// Compares an import as it was accepted with what it offers now.
    #[must_use]
    pub fn between(pinned: &PinnedImport, live: &PinnedImport) -> Self {
        let is_same_origin = pinned.origin() == live.origin() && pinned.kind() == live.kind();
        let (old, new) = (pinned.reported(), live.reported());
        let names: BTreeSet<&str> = pinned.tools().chain(live.tools()).map(|(name, _)| name).collect();
        let differences = names.into_iter().filter_map(|name| {
            let change = change(pinned.get(name), live.get(name))?;
            Some(ToolDifference { name: name.to_owned(), change })
        });
        Self {
            origin: (!is_same_origin).then(|| (pinned.origin().clone(), live.origin().clone())),
            reported: (old != new).then(|| ReportedChange { old: old.cloned(), new: new.cloned() }),
            tools: differences.collect(),
        }
    }

    /// Reports whether everything is as it was accepted, apart from the server's version.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.origin.is_none() && self.tools.is_empty()
    }
}

fn change(pinned: Option<&PinnedTool>, live: Option<&PinnedTool>) -> Option<ToolChange> {
    match (pinned, live) {
        (None, None) => None,
        (None, Some(live)) => Some(ToolChange::New(live.definition().clone())),
        (Some(pinned), None) => Some(ToolChange::Removed(pinned.definition().clone())),
        (Some(pinned), Some(live)) => (pinned.digest() != live.digest())
            .then(|| ToolChange::Changed(field::differences(pinned.definition(), live.definition()))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Pins;
    use super::*;

    fn import() -> PinnedImport {
        PinnedImport::new("mcp", PinOrigin::url("https://a.example")).server("s", "1")
    }

    fn shown(difference: &ImportDifference) -> String {
        let tool = |tool: &ToolDifference| match &tool.change {
            ToolChange::New(_) => format!("+{}", tool.name),
            ToolChange::Removed(_) => format!("-{}", tool.name),
            ToolChange::Changed(fields) => {
                let fields: Vec<&str> = fields.iter().map(|field| &*field.pointer).collect();
                format!("~{} {}", tool.name, fields.join(" "))
            }
        };
        difference.tools.iter().map(tool).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn tools_are_same_changed_new_or_removed() {
        let old =
            import().tool("same", json!({"a": 1})).tool("gone", json!({})).tool("other", json!({"b": 1, "c": [1]}));
        let new =
            import().tool("same", json!({"a": 1.0})).tool("more", json!({})).tool("other", json!({"b": 2, "c": [1]}));
        let difference = ImportDifference::between(&old, &new);
        assert_eq!(shown(&difference), "-gone, +more, ~other /b");
        assert!(difference.origin.is_none() && difference.reported.is_none() && !difference.is_none());
        assert!(ImportDifference::between(&old, &old).is_none());
    }

    #[test]
    fn another_version_alone_is_only_a_note() {
        let difference = ImportDifference::between(&import(), &import().server("s", "2"));
        assert!(difference.is_none());
        assert_eq!(difference.reported.unwrap().new.unwrap().version, "2");
    }

    #[test]
    fn another_origin_or_kind_is_a_difference() {
        let elsewhere = PinnedImport::new("mcp", PinOrigin::url("https://b.example")).server("s", "1");
        let other_kind = PinnedImport::new("openapi", PinOrigin::url("https://a.example")).server("s", "1");
        assert!(ImportDifference::between(&import(), &elsewhere).origin.is_some());
        assert!(ImportDifference::between(&import(), &other_kind).origin.is_some());
    }

    #[test]
    fn only_what_is_picked_is_accepted() {
        let old = import().tool("a", json!(1)).tool("b", json!(1)).tool("c", json!(1));
        let new = PinnedImport::new("mcp", PinOrigin::url("https://b.example")).server("s", "2");
        let new = new.tool("a", json!(2)).tool("c", json!(1)).tool("d", json!(1));
        let mut pins = Pins::new();
        pins.insert("x/y", old);

        assert_eq!(pins.accept("x/y", &new, |tool| tool != "d"), ["a", "b"]);
        let left = pins.compare("x/y", &new);
        assert_eq!(shown(&left), "+d");
        assert!(left.origin.is_some(), "the origin is taken over last");
        assert_eq!(pins.accept("x/y", &new, |_| true), ["d"]);
        assert_eq!(pins.get("x/y"), Some(&new));

        let mut none = Pins::new();
        assert!(none.accept("x/y", &new, |_| false).is_empty() && none.is_empty());
        assert_eq!(none.accept("x/y", &new, |tool| tool == "a"), ["a"]);
        assert_eq!(none.get("x/y").unwrap().tools().count(), 1);
    }

    #[test]
    fn a_version_is_accepted_with_the_rest() {
        let mut pins = Pins::new();
        pins.insert("x/y", import());
        assert!(pins.accept("x/y", &import().server("s", "2"), |_| true).is_empty());
        assert_eq!(pins.get("x/y").unwrap().reported().unwrap().version, "2");
    }
}
