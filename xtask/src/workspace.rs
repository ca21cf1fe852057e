//! The paths of this checkout, and its packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use crate::invocation::Invocation;

/// The checkout this command was built from.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Returns the checkout that contains xtask's own manifest.
    pub(crate) fn find() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: manifest.parent().unwrap_or(manifest).to_path_buf() }
    }

    /// Returns the folder of the workspace manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder in which `setup` puts the parts of tests: `HAFT_PARTS`, else `target/parts`.
    pub(crate) fn parts(&self) -> PathBuf {
        let folder = std::env::var_os("HAFT_PARTS").unwrap_or_else(|| "target/parts".into());
        self.root.join(folder)
    }

    /// Returns the folder for tools that the machine lacks.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("target/tools")
    }

    /// Creates an invocation of a program in the root of the checkout.
    pub(crate) fn invoke(&self, program: &str) -> Invocation {
        Invocation::new(program).current_dir(&self.root)
    }

    /// Creates an invocation of the cargo that runs this command.
    pub(crate) fn cargo(&self) -> Invocation {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        self.invoke(&cargo)
    }

    /// Counts the crates of a package's build, itself included.
    pub(crate) fn crate_count(&self, package: &str) -> anyhow::Result<usize> {
        let tree = ["tree", "-p", package, "-e", "normal", "--no-dedupe", "--prefix", "none"];
        Ok(distinct_lines(&self.cargo().args(tree).capture()?))
    }

    /// Returns the packages of the workspace, as in `cargo metadata`.
    pub(crate) fn packages(&self) -> anyhow::Result<Vec<Value>> {
        let text = self.cargo().args(["metadata", "--no-deps", "--format-version", "1"]).capture()?;
        let mut metadata: Value = serde_json::from_str(&text).context("cargo metadata is not JSON")?;
        match metadata.get_mut("packages").map(Value::take) {
            Some(Value::Array(packages)) => Ok(packages),
            _ => anyhow::bail!("cargo metadata lists no packages"),
        }
    }
}

fn distinct_lines(text: &str) -> usize {
    text.lines().filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::distinct_lines;

    #[test]
    fn a_crate_that_several_others_need_counts_once() {
        assert_eq!(distinct_lines("a v1.0.0\nb v1.0.0\na v1.0.0\n\na v2.0.0\n"), 3);
    }
}
