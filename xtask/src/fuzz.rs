//! `cargo xtask fuzz`: builds the fuzz targets and runs them.
//!
//! The engine and the targets are the package `haft-fuzz`; this only builds it with the right profile and passes the
//! arguments on, adding the folder of findings.

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;

use crate::argument::Arguments;
use crate::artifact;
use crate::workspace::Workspace;

/// The duration of the fuzz run inside `cargo xtask test`, over all targets.
const SHORT_SECONDS: &str = "20";
/// The seed of that run. A test run must not depend on luck: it uses the same inputs every time.
const SHORT_SEED: &str = "1";

/// Runs the fuzzer for people: optimised, with a new seed unless one is given.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> anyhow::Result<()> {
    let seconds = arguments.value("--seconds")?;
    let seed = arguments.value("--seed")?;
    let replay = arguments.value("--replay")?;
    let trace = arguments.flag("--trace");
    let targets = arguments.rest()?;

    let cargo = workspace.cargo().args(["run", "--quiet", "--profile", "fuzz", "-p", "haft-fuzz", "--"]);
    let cargo = cargo.arg("--out").arg(workspace.root().join("target/fuzz"));
    let cargo = if let Some(file) = replay {
        cargo.arg("--replay").arg(file)
    } else {
        let cargo = cargo.arg("--seconds").arg(seconds.as_deref().unwrap_or("60"));
        let cargo = cargo.arg("--seed").arg(seed.unwrap_or_else(new_seed));
        if trace { cargo.arg("--trace") } else { cargo }
    };
    cargo.args(targets).run()
}

/// Runs the short search of `cargo xtask test`, with the build that the tests use.
pub(crate) fn short(workspace: &Workspace) -> anyhow::Result<()> {
    // The tests are requested too, because without them the features of their dependencies are off, and everything would be
    // built again.
    let build = ["build", "--workspace", "--all-features", "--tests", "--bin", "haft-fuzz"];
    let built = artifact::build(workspace, &build)?;
    let program = built.iter().find(|program| program.name == "haft-fuzz" && !program.is_test);
    let program = program.context("cargo does not report the path of the fuzzer")?;
    let run = workspace.invoke(&program.executable).args(["--seconds", SHORT_SECONDS, "--seed", SHORT_SEED]);
    run.arg("--out").arg(workspace.root().join("target/fuzz")).run()
}

fn new_seed() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_micros().to_string()
}
