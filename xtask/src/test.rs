//! `cargo xtask test`: everything CI checks, in one command.
//!
//! The steps run in order and the first failing one ends the run, so the last lines of the output are about the
//! failure. Name steps to run only those. All steps share one target directory and, where possible, one set of features: a second set would build
//! the dependencies twice.

use std::ffi::OsString;
use std::time::Instant;

use anyhow::{Context, bail, ensure};

use crate::argument::Arguments;
use crate::bench::instruction;
use crate::invocation::Invocation;
use crate::setup::Chromium;
use crate::valgrind::Valgrind;
use crate::workspace::Workspace;
use crate::{artifact, conformance, fuzz, setup, tidy};

/// The maximum number of distinct crates of a package with its default features, itself included.
const CRATE_BARS: [(&str, usize); 3] = [("haft-schema", 26), ("haft-core", 37), ("haft", 55)];
/// The version of nextest that is installed if it is missing.
const NEXTEST: &str = "cargo-nextest@0.9.143";
/// A filter without the tests that need a part of `setup`, which are in modules of this name.
const WITHOUT_PARTS: &str = "not test(/(^|::)parts::/)";
/// A filter without the tests that need a browser, which are in modules of this name.
const WITHOUT_BROWSER: &str = "not test(/(^|::)parts::(.*::)?browser::/)";

/// The permission to use the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Allowed,
    Offline,
}

const SETUP: &str = "setup";
const TESTS: &str = "tests";
const CONFORMANCE: &str = "conformance";
const INSTRUCTIONS: &str = "instructions";

/// A named piece of the run.
type Step = (&'static str, fn(&Workspace, Network) -> anyhow::Result<()>);

const STEPS: [Step; 13] = [
    (SETUP, |workspace, _| setup::all(workspace)),
    ("format", |workspace, _| workspace.cargo().args(["fmt", "--all", "--check"]).run()),
    ("clippy", |workspace, _| clippy(workspace, &["--workspace", "--all-targets", "--all-features"])),
    (TESTS, nextest),
    ("exact-numbers", exact_numbers),
    ("doc-tests", |workspace, _| {
        workspace.cargo().args(["test", "--doc", "--workspace", "--all-features", "--quiet"]).run()
    }),
    ("documentation", documentation),
    ("examples", examples),
    (CONFORMANCE, |workspace, _| {
        conformance::client(workspace, &EXAMPLES)?;
        conformance::server(workspace, &EXAMPLES)
    }),
    ("crate-count", crate_count),
    (INSTRUCTIONS, |workspace, _| instruction::check(workspace, &[])),
    ("fuzz", |workspace, _| fuzz::short(workspace)),
    ("tidy", |workspace, _| tidy::check(workspace)),
];

/// Runs the named steps, or all of them; with `--offline` only steps that need no download.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> anyhow::Result<()> {
    let network = if arguments.flag("--offline") { Network::Offline } else { Network::Allowed };
    let steps = chosen(&arguments.rest()?)?;
    let start = Instant::now();
    let mut skipped = Vec::new();
    for (name, step) in steps {
        if name == TESTS && network == Network::Allowed && Chromium::find().is_none() {
            skipped.push("the tests in a browser: chromium is missing and the set-up could not install it");
        }
        if let Some(reason) = reason_to_skip(name, network) {
            skipped.push(reason);
            continue;
        }
        eprintln!("\n== {name}");
        let start = Instant::now();
        step(workspace, network)
            .with_context(|| format!("step `{name}` failed after {:.1} s", start.elapsed().as_secs_f64()))?;
        eprintln!("== {name}: ok in {:.1} s", start.elapsed().as_secs_f64());
    }
    eprintln!("\nall steps passed in {:.1} s", start.elapsed().as_secs_f64());
    for reason in skipped {
        eprintln!("skipped: {reason}");
    }
    Ok(())
}

/// Returns the steps with these names in the order of the run, or all steps if there are no names.
fn chosen(names: &[String]) -> anyhow::Result<Vec<Step>> {
    if let Some(unknown) = names.iter().find(|name| STEPS.iter().all(|(step, _)| step != name)) {
        let known: Vec<_> = STEPS.iter().map(|(step, _)| *step).collect();
        bail!("unknown step `{unknown}`; the steps are {}", known.join(", "));
    }
    let is_chosen = |step: &&Step| names.is_empty() || names.iter().any(|name| name == step.0);
    Ok(STEPS.iter().filter(is_chosen).copied().collect())
}

/// Returns the reason why this step can't run here, if it can't. Called after the earlier steps, because one of them
/// may install what it needs.
fn reason_to_skip(step: &str, network: Network) -> Option<&'static str> {
    match step {
        SETUP if network == Network::Offline => {
            Some("the set-up, and what needs it: the tests in modules named `parts`, and two examples (--offline)")
        }
        CONFORMANCE if network == Network::Offline => Some("the conformance suite of MCP (--offline)"),
        INSTRUCTIONS if Valgrind::find().is_none() => {
            Some("the instruction counts: valgrind is missing and the set-up could not install it")
        }
        _ => None,
    }
}

fn clippy(workspace: &Workspace, what: &[&str]) -> anyhow::Result<()> {
    workspace.cargo().args(["clippy", "--quiet"]).args(what).args(["--", "-D", "warnings"]).run()
}

fn nextest(workspace: &Workspace, network: Network) -> anyhow::Result<()> {
    let path = nextest_path(workspace, network)?;
    let cargo = workspace.cargo().env("PATH", path).env("HAFT_PARTS", workspace.parts());
    let nextest = cargo.args(["nextest", "run", "--workspace", "--all-features", "--status-level", "slow"]);
    match network {
        Network::Allowed if Chromium::find().is_some() => nextest.run(),
        Network::Allowed => nextest.args(["-E", WITHOUT_BROWSER]).run(),
        Network::Offline => nextest.args(["-E", WITHOUT_PARTS]).run(),
    }
}

/// Runs the schema tests again, with a feature of `serde_json` that would apply to all crates in a common build.
fn exact_numbers(workspace: &Workspace, network: Network) -> anyhow::Result<()> {
    let cargo = workspace.cargo().env("PATH", nextest_path(workspace, network)?);
    let nextest = cargo.args(["nextest", "run", "--manifest-path", "checks/arbitrary-precision/Cargo.toml"]);
    nextest.args(["--target-dir", "target/arbitrary-precision", "--status-level", "slow"]).run()
}

/// Returns a `PATH` on which cargo finds nextest, installed under `target/tools` if the machine has none.
fn nextest_path(workspace: &Workspace, network: Network) -> anyhow::Result<OsString> {
    let tools = workspace.tools();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&inherited).chain([tools.join("bin")]);
    let path = std::env::join_paths(folders).context("cannot extend PATH")?;
    let has_nextest = || workspace.cargo().env("PATH", &path).args(["nextest", "--version"]).succeeds();
    if has_nextest() {
        return Ok(path);
    }
    if network == Network::Offline {
        bail!("cargo-nextest is missing and --offline forbids installing it; run without --offline once");
    }
    eprintln!("installing {NEXTEST} into target/tools, once");
    workspace.cargo().args(["install", NEXTEST, "--locked", "--root"]).arg(&tools).run()?;
    ensure!(has_nextest(), "cargo-nextest was installed into target/tools and still does not run");
    Ok(path)
}

fn documentation(workspace: &Workspace, _: Network) -> anyhow::Result<()> {
    let cargo = workspace.cargo().env("RUSTDOCFLAGS", "-D warnings");
    cargo.args(["doc", "--workspace", "--no-deps", "--all-features", "--quiet"]).run()
}

/// The build of all examples, with the features that the tests were built with, so that nothing is built again.
const EXAMPLES: [&str; 5] = ["build", "--quiet", "--workspace", "--all-features", "--examples"];

/// The examples that are not run: two need a provider, and tests run them; two need the conformance suite, which runs
/// them; and one only has to be without warnings.
const NOT_RUN: [&str; 5] = ["agent", "chat_service", "conformance_client", "conformance_server", "strict_lints"];

/// The examples that need a part of `setup`: they count what is in it.
const WITH_PARTS: [&str; 2] = ["openapi", "wires"];

/// Runs every example.
fn examples(workspace: &Workspace, network: Network) -> anyhow::Result<()> {
    let mut examples = artifact::build(workspace, &EXAMPLES)?;
    examples.retain(|example| is_run(&example.name, network));
    for example in &examples {
        eprintln!("   {}", example.name);
        let run = Invocation::new(&example.executable).current_dir(workspace.root());
        let run = run.env("HAFT_PARTS", workspace.parts());
        run.run_quietly().with_context(|| format!("the example `{}`", example.name))?;
    }
    eprintln!("   {} examples ran", examples.len());
    Ok(())
}

/// Reports whether an example is run. Offline, the parts may be missing.
fn is_run(example: &str, network: Network) -> bool {
    match network {
        Network::Allowed => !NOT_RUN.contains(&example),
        Network::Offline => !NOT_RUN.contains(&example) && !WITH_PARTS.contains(&example),
    }
}

fn crate_count(workspace: &Workspace, _: Network) -> anyhow::Result<()> {
    for (package, bar) in CRATE_BARS {
        let crates = workspace.crate_count(package)?;
        ensure!(crates <= bar, "{package} needs {crates} crates, the bar is {bar}");
        eprintln!("   {package}: {crates} crates, the bar is {bar}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Network, STEPS, chosen, is_run};

    #[test]
    fn steps_run_alone_by_name_and_in_order() {
        let names = |words: &[&str]| -> Vec<&str> {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            chosen(&words).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(&["tidy", "clippy"]), ["clippy", "tidy"]);
        assert_eq!(names(&[]).len(), STEPS.len());
        assert!(chosen(&["tydy".to_owned()]).unwrap_err().to_string().contains("`tydy`; the steps are setup, format"));
    }

    #[test]
    fn offline_no_example_runs_that_needs_a_part() {
        for (example, allowed, offline) in [
            ("quickstart", true, true),
            ("workspace", true, true),
            ("openapi", true, false),
            ("wires", true, false),
            ("agent", false, false),
            ("chat_service", false, false),
            ("conformance_client", false, false),
            ("conformance_server", false, false),
            ("strict_lints", false, false),
        ] {
            let runs = [Network::Allowed, Network::Offline].map(|network| is_run(example, network));
            assert_eq!(runs, [allowed, offline], "{example}");
        }
    }
}
