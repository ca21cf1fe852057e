//! Programs that cargo has built, found by cargo's messages and not by guessing at folders.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use crate::invocation::Invocation;
use crate::workspace::Workspace;

/// One built program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Artifact {
    /// The folder of the package, which is named like the package.
    pub(crate) package: String,
    /// The name of the target.
    pub(crate) name: String,
    /// The path of the program.
    pub(crate) executable: String,
    /// True if it runs the tests of the target.
    pub(crate) is_test: bool,
}

/// Runs a cargo build and returns the programs it built, by name.
pub(crate) fn build(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<Vec<Artifact>> {
    built_by(workspace.cargo().args(arguments))
}

/// Runs this cargo, which builds, and returns the programs it built, by name.
pub(crate) fn built_by(cargo: Invocation) -> anyhow::Result<Vec<Artifact>> {
    artifacts(&cargo.arg("--message-format=json-render-diagnostics").capture()?)
}

fn artifacts(messages: &str) -> anyhow::Result<Vec<Artifact>> {
    let mut found = Vec::new();
    for line in messages.lines() {
        let message: Value = serde_json::from_str(line).context("cargo printed something that is not JSON")?;
        let (name, executable) = (message["target"]["name"].as_str(), message["executable"].as_str());
        if let (Some(name), Some(executable)) = (name, executable) {
            let manifest = Path::new(message["manifest_path"].as_str().unwrap_or_default());
            let package = manifest.parent().and_then(Path::file_name).unwrap_or_default();
            found.push(Artifact {
                package: package.to_string_lossy().into_owned(),
                name: name.to_owned(),
                executable: executable.to_owned(),
                is_test: message["profile"]["test"] == true,
            });
        }
    }
    found.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::artifacts;

    #[test]
    fn only_programs_are_taken_in_order_of_name() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/a/b/Cargo.toml","target":{"name":"two"},"profile":{"test":true},"executable":"/t/two"}
{"reason":"compiler-artifact","manifest_path":"/a/c/Cargo.toml","target":{"name":"one"},"profile":{"test":false},"executable":"/t/one"}
{"reason":"build-finished","success":true}"#;
        let found = artifacts(messages).unwrap();
        let found: Vec<_> =
            found.iter().map(|found| (found.package.as_str(), found.name.as_str(), found.is_test)).collect();
        assert_eq!(found, [("c", "one", false), ("b", "two", true)]);
    }
}
