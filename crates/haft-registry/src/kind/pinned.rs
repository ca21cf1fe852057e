//! An import's origin and definitions, as they were accepted once or are offered now.
//!
//! A kind states what an import offers, and gets what a person has accepted of it. Whoever stores and compares the two
//! is not its business.

use std::collections::BTreeMap;

use haft_core::internal::sha256;
use haft_schema::canonical_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An import's origin and the definitions of its tools, under the names that the origin gave them.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedImport {
    kind: String,
    origin: PinOrigin,
    server: Option<ReportedServer>,
    tools: BTreeMap<String, PinnedTool>,
}

/// The origin of an import's tools. It contains no credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PinOrigin {
    /// A command that is started, as a digest.
    Command(String),
    /// A server's URL, without its user, query and fragment.
    Url(String),
    /// A document's path, as the workspace file names it.
    File(String),
}

/// A server's own name and version. Nothing depends on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ReportedServer {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
}

/// A tool's definition as its server gave it, with its digest.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedTool {
    digest: String,
    definition: Value,
}

impl PinnedImport {
    /// Creates pins without tools, for an import of this kind.
    #[must_use]
    pub fn new(kind: impl Into<String>, origin: PinOrigin) -> Self {
        Self { kind: kind.into(), origin, server: None, tools: BTreeMap::new() }
    }

    /// Sets what the server reports about itself.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.server = Some(ReportedServer { name: name.into(), version: version.into() });
        self
    }

    /// Adds a tool with its definition, or replaces the one with this name.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, definition: Value) -> Self {
        self.set(name, Some(PinnedTool::new(definition)));
        self
    }

    /// Adds, replaces or removes a tool.
    pub fn set(&mut self, name: impl Into<String>, tool: Option<PinnedTool>) {
        match tool {
            Some(tool) => drop(self.tools.insert(name.into(), tool)),
            None => drop(self.tools.remove(&name.into())),
        }
    }

    /// Returns the kind of the import's entry, such as `mcp`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Returns the origin of the tools.
    #[must_use]
    pub fn origin(&self) -> &PinOrigin {
        &self.origin
    }

    /// Returns what the server reported about itself.
    #[must_use]
    pub fn reported(&self) -> Option<&ReportedServer> {
        self.server.as_ref()
    }

    /// Returns the tool with this name.
    #[must_use]
    pub fn get(&self, tool: &str) -> Option<&PinnedTool> {
        self.tools.get(tool)
    }

    /// Returns all tools, in the order of their names.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &PinnedTool)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool))
    }
}

impl PinOrigin {
    /// Creates the origin for a command: a digest of its program, arguments and folder.
    #[must_use]
    pub fn command(argv: &[String], folder: Option<&str>) -> Self {
        Self::Command(sha256(&canonical_text(&serde_json::json!({"argv": argv, "folder": folder}))))
    }

    /// Creates the origin for a URL, without its user, query and fragment, which may hold credentials.
    #[must_use]
    pub fn url(url: &str) -> Self {
        let end = url.find(['?', '#']).unwrap_or(url.len());
        let (scheme, rest) = url[..end].split_once("://").unwrap_or(("", &url[..end]));
        let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let separator = if scheme.is_empty() { "" } else { "://" };
        Self::Url(format!("{scheme}{separator}{host}{path}"))
    }

    /// Creates the origin for a document, named as in the workspace file.
    #[must_use]
    pub fn file(path: impl Into<String>) -> Self {
        Self::File(path.into())
    }
}

impl PinnedTool {
    /// Creates the pin for a definition.
    #[must_use]
    pub fn new(definition: Value) -> Self {
        Self { digest: sha256(&canonical_text(&definition)), definition }
    }

    /// Returns the digest of the definition. It is independent of the order of keys.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the definition as the server gave it.
    #[must_use]
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    /// Reports whether a definition is the accepted one.
    #[must_use]
    pub fn is_of(&self, definition: &Value) -> bool {
        self.digest == Self::new(definition.clone()).digest
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{PinOrigin, PinnedTool};

    #[test]
    fn a_url_is_kept_without_credentials() {
        for (url, kept) in [
            ("https://mcp.example", "https://mcp.example"),
            ("https://user:pass@mcp.example:8443/v1?api_key=k#f", "https://mcp.example:8443/v1"),
            ("https://us@er:p@mcp.example/a@b", "https://mcp.example/a@b"),
            ("http://[::1]:80/x?y=a/b@c", "http://[::1]:80/x"),
            ("https://mcp.example?key=a/b", "https://mcp.example"),
            ("https://mcp.example#/k@y", "https://mcp.example"),
            ("not a url", "not a url"),
        ] {
            assert_eq!(PinOrigin::url(url), PinOrigin::Url(kept.to_owned()), "{url}");
        }
    }

    #[test]
    fn a_command_is_known_by_its_arguments_and_folder() {
        let argv = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let of = |text: &str, folder| PinOrigin::command(&argv(text), folder);
        assert_eq!(of("npx -y x", None), of("npx -y x", None));
        assert_ne!(of("npx -y x", None), of("npx -y x", Some("sub")));
        assert_ne!(of("npx -y x", None), PinOrigin::command(&argv("npx -y x")[..2], None));
        assert_ne!(PinOrigin::command(&["a b".to_owned()], None), of("a b", None));
    }

    #[test]
    fn a_digest_covers_all_of_a_definition_but_the_order_of_keys() {
        let tool = PinnedTool::new(json!({"name": "x", "_meta": {"a": 1, "b": 2.0}}));
        assert!(tool.is_of(&json!({"_meta": {"b": 2, "a": 1}, "name": "x"})));
        assert!(!tool.is_of(&json!({"name": "x", "_meta": {"a": 1, "b": 3}})));
        assert!(!tool.is_of(&json!({"name": "x"})));
    }
}
