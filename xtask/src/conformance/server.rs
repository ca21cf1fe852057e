//! `cargo xtask conformance server`: the suite's clients judge an ordinary server of `haft-mcp`, the example
//! `conformance_server`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use super::expectation::Expectations;
use super::suite::ScenarioSet;
use crate::artifact;
use crate::workspace::Workspace;

/// The build of the server alone.
pub(super) const ALONE: [&str; 7] = ["build", "--quiet", "-p", "haft-mcp", "--all-features", "--example", SERVER];
const SERVER: &str = "conformance_server";
const EXPECTED: &str = include_str!("../../conformance/server.json");

/// The released version judges the revisions that it knows. The next one judges by the frozen requirements of each
/// revision.
const SUITES: [ScenarioSet; 3] = [
    ScenarioSet { name: "all", package: "conformance", arguments: &["--suite", "all"] },
    ScenarioSet { name: "2025-11-25", package: "conformance-next", arguments: &["--requirements", "2025-11-25"] },
    ScenarioSet { name: "2026-07-28", package: "conformance-next", arguments: &["--requirements", "2026-07-28"] },
];

/// A server that ends with this value.
struct RunningServer {
    child: Child,
    url: String,
}

/// Runs all suites. `build` are cargo's arguments, by which the server is built.
pub(crate) fn run(workspace: &Workspace, build: &[&str]) -> anyhow::Result<()> {
    let expectations = Expectations::parse(EXPECTED).context("xtask/conformance/server.json")?;
    let server = artifact::build(workspace, build)?.into_iter().find(|built| built.name == SERVER);
    let server = server.context("cargo does not report the path of the server")?;
    let mut surprises = Vec::new();
    for suite in &SUITES {
        // Each suite finds the server as it is at first.
        let running = RunningServer::start(&server.executable)?;
        let report = suite.run(workspace, &["server", "--url", &running.url])?;
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
    bail!("the results differ from xtask/conformance/server.json:\n{}", surprises.join("\n"))
}

impl RunningServer {
    fn start(executable: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(executable).stdout(Stdio::piped()).spawn().context("cannot start the server")?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut running = Self { child, url: String::new() };
        BufReader::new(output).read_line(&mut running.url).context("the server does not state its address")?;
        running.url.truncate(running.url.trim_end().len());
        Ok(running)
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
