//! The allowed dependencies between our crates: they point one way.
//!
//! The table below is the structure of the workspace. A crate that is not in it is a breach, so that a new crate is
//! added to the table before it is used.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use super::breach::Breach;
use crate::workspace::Workspace;

/// The crates of this workspace that each crate may depend on.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("haft-schema", &[]),
    ("haft-core", &["haft-schema"]),
    ("haft-executor", &["haft-schema", "haft-core"]),
    ("haft-macros", &[]),
    ("haft-middleware", &["haft-schema", "haft-core", "haft-executor"]),
    // The executor is for the typed tools of the catalogue alone.
    ("haft-wire", &["haft-schema", "haft-core", "haft-executor"]),
    ("haft-http", &["haft-core"]),
    ("haft-model", &["haft-schema", "haft-core", "haft-executor", "haft-wire", "haft-http"]),
    // The wires are for the definitions that clients read.
    ("haft-mcp", &["haft-schema", "haft-core", "haft-executor", "haft-wire", "haft-http"]),
    ("haft-registry", &["haft-schema", "haft-core", "haft-executor"]),
    ("haft-tools", &["haft-schema", "haft-core", "haft-executor", "haft-http", "haft-mcp", "haft-registry"]),
    (
        "haft-workspace",
        &["haft-schema", "haft-core", "haft-executor", "haft-http", "haft-mcp", "haft-registry", "haft-tools"],
    ),
    (
        "haft",
        &[
            "haft-schema",
            "haft-core",
            "haft-executor",
            "haft-macros",
            "haft-middleware",
            "haft-wire",
            "haft-http",
            "haft-model",
            "haft-mcp",
            "haft-registry",
            "haft-tools",
            "haft-workspace",
        ],
    ),
    ("haft-cli", &["haft"]),
];

/// Packages that are never published, which may depend on any crate.
const FREE: [&str; 4] = ["xtask", "haft-fuzz", "haft-examples", "haft-parts"];

/// One crate of the workspace.
#[derive(Debug)]
struct Package {
    name: String,
    manifest: String,
    manifest_text: String,
    /// The crates of ours that it depends on.
    needs: BTreeSet<String>,
    /// The crates of ours that only its tests depend on.
    tests_need: BTreeSet<String>,
}

/// Checks the workspace by cargo's metadata.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Breach>> {
    let metadata = workspace.packages()?;
    let packages: anyhow::Result<Vec<_>> = metadata.iter().map(|package| read(workspace.root(), package)).collect();
    Ok(check_packages(&packages?))
}

fn read(root: &Path, package: &Value) -> anyhow::Result<Package> {
    let name = package["name"].as_str().context("a package without a name")?;
    let path = package["manifest_path"].as_str().with_context(|| format!("{name} has no manifest"))?;
    let (mut needs, mut tests_need) = (BTreeSet::new(), BTreeSet::new());
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        // Only dependencies on crates of this workspace have a path.
        if dependency["path"].is_null() {
            continue;
        }
        let set = if dependency["kind"] == "dev" { &mut tests_need } else { &mut needs };
        set.extend(dependency["name"].as_str().map(str::to_owned));
    }
    Ok(Package {
        name: name.to_owned(),
        manifest: Path::new(path).strip_prefix(root).unwrap_or(Path::new(path)).display().to_string(),
        manifest_text: fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?,
        needs,
        tests_need,
    })
}

fn check_packages(packages: &[Package]) -> Vec<Breach> {
    let needs: BTreeMap<&str, &BTreeSet<String>> =
        packages.iter().map(|package| (package.name.as_str(), &package.needs)).collect();
    packages.iter().flat_map(|package| check_package(package, &needs)).collect()
}

fn check_package(package: &Package, needs: &BTreeMap<&str, &BTreeSet<String>>) -> Vec<Breach> {
    if FREE.contains(&package.name.as_str()) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
        let message =
            format!("{} is missing from the table of dependencies in xtask/src/tidy/dependency.rs", package.name);
        return vec![Breach::new(&package.manifest, 1, message)];
    };
    let mut breaches = Vec::new();
    for needed in package.needs.iter().filter(|needed| !allowed.contains(&needed.as_str())) {
        let message = format!("{} must not depend on {needed}", package.name);
        breaches.push(Breach::new(&package.manifest, line_of(&package.manifest_text, needed), message));
    }
    for needed in package.tests_need.iter().filter(|needed| reaches(needs, needed, &package.name)) {
        let message =
            format!("the tests of {} depend on {needed}, which depends on {}: a cycle", package.name, package.name);
        breaches.push(Breach::new(&package.manifest, line_of(&package.manifest_text, needed), message));
    }
    breaches
}

/// Returns whether `from` depends on `to`, directly or through others.
fn reaches(needs: &BTreeMap<&str, &BTreeSet<String>>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if name == to {
            return true;
        }
        if seen.insert(name) {
            open.extend(needs.get(name).into_iter().flat_map(|needed| needed.iter().map(String::as_str)));
        }
    }
    false
}

fn line_of(manifest: &str, dependency: &str) -> usize {
    let names_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(dependency);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=']))
    };
    manifest.lines().position(names_it).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Package, check_packages};

    fn package(name: &str, needs: &[&str], tests_need: &[&str]) -> Package {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        Package {
            name: name.to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            manifest_text: format!("[package]\nname = \"{name}\"\n[dependencies]\nhaft-wire.workspace = true\n"),
            needs: set(needs),
            tests_need: set(tests_need),
        }
    }

    fn breaches(packages: &[Package]) -> Vec<String> {
        check_packages(packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn allowed_dependencies_pass() {
        let packages = [
            package("haft-core", &[], &[]),
            package("haft-wire", &["haft-core"], &[]),
            package("haft-mcp", &["haft-core", "haft-http"], &["haft-macros"]),
            package("xtask", &["haft-wire", "haft"], &[]),
        ];
        assert_eq!(breaches(&packages), [""; 0]);
    }

    #[test]
    fn a_forbidden_dependency_is_found_at_its_line() {
        let found = breaches(&[package("haft-core", &["haft-wire"], &[])]);
        assert_eq!(found, ["crates/haft-core/Cargo.toml:4: haft-core must not depend on haft-wire"]);
        assert_eq!(breaches(&[package("haft-cli", &["haft", "haft-core"], &[])]).len(), 1);
    }

    #[test]
    fn tests_may_depend_on_any_crate_without_a_cycle() {
        let cycle = [
            package("haft-core", &[], &["haft-model"]),
            package("haft-wire", &["haft-core"], &[]),
            package("haft-model", &["haft-wire"], &[]),
        ];
        assert_eq!(breaches(&cycle).len(), 1);
        assert!(breaches(&cycle)[0].contains("a cycle"));
    }

    #[test]
    fn a_crate_that_is_not_in_the_table_is_a_breach() {
        assert!(breaches(&[package("haft-new", &[], &[])])[0].contains("missing from the table"));
    }
}
