//! `cargo xtask conformance client`: the suite's servers judge an ordinary client of `haft-mcp`, the example
//! `conformance_client`.

use anyhow::{Context, bail};

use super::expectation::Expectations;
use super::suite::ScenarioSet;
use crate::artifact;
use crate::workspace::Workspace;

/// The build of the client alone.
pub(super) const ALONE: [&str; 7] = ["build", "--quiet", "-p", "haft-mcp", "--all-features", "--example", CLIENT];
const CLIENT: &str = "conformance_client";
const EXPECTED: &str = include_str!("../../conformance/client.json");

/// The released version judges the revisions that it knows. The next one judges by the frozen requirements of each
/// revision, and checks every message by the schema of the protocol.
const SUITES: [ScenarioSet; 3] = [
    ScenarioSet { name: "core", package: "conformance", arguments: &["--suite", "core"] },
    ScenarioSet { name: "2025-11-25", package: "conformance-next", arguments: &["--requirements", "2025-11-25"] },
    ScenarioSet { name: "2026-07-28", package: "conformance-next", arguments: &["--requirements", "2026-07-28"] },
];

/// Runs all suites. `build` are cargo's arguments, by which the client is built.
pub(crate) fn run(workspace: &Workspace, build: &[&str]) -> anyhow::Result<()> {
    let expectations = Expectations::parse(EXPECTED).context("xtask/conformance/client.json")?;
    let client = artifact::build(workspace, build)?.into_iter().find(|built| built.name == CLIENT);
    // The suite starts it by a shell.
    let command = format!("'{}'", client.context("cargo does not report the path of the client")?.executable);
    let mut surprises = Vec::new();
    for suite in &SUITES {
        let report = suite.run(workspace, &["client", "--command", &command])?;
        let unexpected = expectations.compare(suite.name, &report);
        eprintln!(
            "   {}: {} scenarios, {} checks passed, {} failed, {} surprises",
            suite.name,
            report.scenarios,
            report.passed,
            report.failed.len(),
            unexpected.len()
        );
        surprises.extend(unexpected);
    }
    if surprises.is_empty() {
        return Ok(());
    }
    bail!("the results differ from xtask/conformance/client.json:\n{}", surprises.join("\n"))
}
