//! `cargo xtask weigh`: measures the cost of building our tools, compared with the same tools in `rmcp`.
//!
//! Two packages are generated under `target/weigh`, with the same tools and types; see [`template`]. Each is built in
//! a separate target folder, and the program must answer a call correctly before its figures count. First a user of
//! one tool is built from nothing: that is the cold build. Its dependencies are then reused by the package with all
//! the tools, so that only this package is timed. Times are processor seconds, which other programs affect less than a
//! wall clock; they still do by sharing caches, so a near miss on a busy machine should be measured again.

mod cpu;
mod side;
mod template;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};

use self::side::Side;
use crate::argument::Arguments;
use crate::invocation::Invocation;
use crate::workspace::Workspace;

/// The number of tools in a package.
const TOOLS: usize = 100;

/// The maximum of each figure, as a multiple of the other side's.
const BARS: [(&str, f64); 4] = [("release", 1.5), ("debug", 1.3), ("size", 1.2), ("cold", 1.5)];

/// The profile a package is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Debug,
    Release,
}

/// The cost of one side.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weight {
    /// Processor seconds of the package with all tools.
    release: f64,
    debug: f64,
    /// Bytes of its stripped program.
    size: f64,
    /// Processor seconds of building a user of one tool, from nothing.
    cold: f64,
}

/// One figure of both sides.
#[derive(Clone, Debug, PartialEq)]
struct Comparison {
    name: &'static str,
    ours: f64,
    rmcp: f64,
    bar: f64,
}

/// Measures both sides, or with `--only` one of them, and compares with the bars. `--tools` makes smaller packages for
/// a quick measurement.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> anyhow::Result<()> {
    let only = arguments.value("--only")?.map(|name| side(&name)).transpose()?;
    let tools =
        arguments.value("--tools")?.map_or(Ok(TOOLS), |count| count.parse()).context("--tools needs a number")?;
    arguments.finish()?;
    if let Some(side) = only {
        let Weight { release, debug, size, cold } = weigh(workspace, side, tools)?;
        for (name, figure) in [("release", release), ("debug", debug), ("size", size), ("cold", cold)] {
            println!(r#"{{"name":"{name}","{}":{}}}"#, side.name(), rounded(figure));
        }
        return Ok(());
    }
    let [ours, rmcp] = [weigh(workspace, Side::Ours, tools)?, weigh(workspace, Side::Rmcp, tools)?];
    let mut misses = 0;
    for comparison in compare(ours, rmcp) {
        println!("{}", comparison.line());
        eprintln!("{}", comparison.row());
        misses += usize::from(comparison.is_miss());
    }
    ensure!(misses == 0, "{misses} of the figures missed the bar");
    Ok(())
}

fn side(name: &str) -> anyhow::Result<Side> {
    match Side::BOTH.into_iter().find(|side| side.name() == name) {
        Some(side) => Ok(side),
        None => bail!("--only takes `ours` or `rmcp`, not `{name}`"),
    }
}

fn weigh(workspace: &Workspace, side: Side, tools: usize) -> anyhow::Result<Weight> {
    let target = target(workspace, side);
    if target.exists() {
        fs::remove_dir_all(&target).with_context(|| format!("cannot remove {}", target.display()))?;
    }
    side.write(workspace, 1)?;
    cargo(workspace, side).args(["fetch", "--quiet"]).run()?;
    let cold = cpu::seconds(|| build(workspace, side, Profile::Release))?;
    build(workspace, side, Profile::Debug)?;
    answer(workspace, side, Profile::Release)?;
    side.write(workspace, tools)?;
    let release = cpu::seconds(|| build(workspace, side, Profile::Release))?;
    let debug = cpu::seconds(|| build(workspace, side, Profile::Debug))?;
    answer(workspace, side, Profile::Release)?;
    answer(workspace, side, Profile::Debug)?;
    let program = program(workspace, side, Profile::Release);
    let size = fs::metadata(&program).with_context(|| format!("cannot read the size of {}", program.display()))?.len();
    #[allow(clippy::cast_precision_loss, reason = "programs stay far below 2^53 bytes")]
    let weight = Weight { release, debug, size: size as f64, cold };
    Ok(weight)
}

fn build(workspace: &Workspace, side: Side, profile: Profile) -> anyhow::Result<()> {
    let release: &[&str] = match profile {
        Profile::Debug => &[],
        Profile::Release => &["--release"],
    };
    cargo(workspace, side).args(["build", "--quiet", "--offline"]).args(release).run_quietly()
}

/// Runs the program, which succeeds only if it lists its tools and answers a call correctly.
fn answer(workspace: &Workspace, side: Side, profile: Profile) -> anyhow::Result<()> {
    Invocation::new(program(workspace, side, profile)).run_quietly()
}

/// Creates a cargo invocation in a side's package, with default settings, but without incremental builds.
fn cargo(workspace: &Workspace, side: Side) -> Invocation {
    workspace
        .cargo()
        .current_dir(&side.folder(workspace))
        .env("CARGO_TARGET_DIR", target(workspace, side))
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_PROFILE_DEV_DEBUG", "2")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
        .env("RUSTFLAGS", "")
}

fn target(workspace: &Workspace, side: Side) -> PathBuf {
    side.folder(workspace).join("target")
}

fn program(workspace: &Workspace, side: Side, profile: Profile) -> PathBuf {
    let profile = match profile {
        Profile::Debug => "debug",
        Profile::Release => "release",
    };
    target(workspace, side).join(profile).join(format!("weigh-{}", side.name()))
}

fn compare(ours: Weight, rmcp: Weight) -> Vec<Comparison> {
    let figure = |name: &str, weight: Weight| match name {
        "release" => weight.release,
        "debug" => weight.debug,
        "size" => weight.size,
        _ => weight.cold,
    };
    BARS.map(|(name, bar)| Comparison { name, ours: figure(name, ours), rmcp: figure(name, rmcp), bar }).into()
}

fn rounded(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

fn verdict(is_miss: bool) -> &'static str {
    if is_miss { "FAIL" } else { "pass" }
}

impl Comparison {
    fn ratio(&self) -> f64 {
        self.ours / self.rmcp
    }

    fn is_miss(&self) -> bool {
        self.ratio() > self.bar
    }

    fn line(&self) -> String {
        let Self { name, bar, .. } = self;
        let (ours, rmcp, ratio) = (rounded(self.ours), rounded(self.rmcp), self.ratio());
        format!(r#"{{"name":"{name}","ours":{ours},"rmcp":{rmcp},"ratio":{ratio:.3},"bar":{bar}}}"#)
    }

    /// Returns the same figures for people.
    fn row(&self) -> String {
        let Self { name, ours, rmcp, bar } = self;
        let (ratio, verdict) = (self.ratio(), verdict(self.is_miss()));
        format!("{name:<8} {ours:>12.2} {rmcp:>12.2}  {ratio:.3} <= {bar}  {verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Side, Weight, compare, side};

    fn weight(release: f64) -> Weight {
        Weight { release, debug: 2.0, size: 1000.0, cold: 30.0 }
    }

    #[test]
    fn a_figure_at_its_bar_passes_and_one_above_misses() {
        let of = |ours: f64| Comparison { name: "release", ours, rmcp: 10.0, bar: 1.5 };
        assert!(!of(15.0).is_miss());
        assert!(of(15.1).is_miss());
        assert_eq!(of(15.126).line(), r#"{"name":"release","ours":15.13,"rmcp":10,"ratio":1.513,"bar":1.5}"#);
    }

    #[test]
    fn every_figure_is_compared_with_that_of_the_other_side() {
        let compared = compare(weight(3.0), Weight { debug: 4.0, size: 500.0, cold: 10.0, ..weight(2.0) });
        let ratios: Vec<_> = compared.iter().map(|figure| (figure.name, figure.ratio())).collect();
        assert_eq!(ratios, [("release", 1.5), ("debug", 0.5), ("size", 2.0), ("cold", 3.0)]);
    }

    #[test]
    fn sides_are_named_and_others_are_rejected() {
        assert_eq!(side("rmcp").unwrap(), Side::Rmcp);
        assert!(side("theirs").is_err());
    }
}
