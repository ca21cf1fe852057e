//! `cargo xtask bench`: measures the works and compares them with their bars.
//!
//! Every ratio is taken against a floor measured in the same process, so a bar holds on any machine. It is still a
//! timing: it is part of no test run, and a miss on a busy machine should be measured again.
//!
//! The position of a program's pages in memory changes its ratios by several percent, and stays the same from run to
//! run as long as the file does. So the program is copied a few times and each copy is run; the run whose ratio is the
//! median counts.
//!
//! With `--instructions` the works are counted instead, see [`instruction`].

pub(crate) mod instruction;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::argument::Arguments;
use crate::artifact;
use crate::workspace::Workspace;

/// The benchmark `works` of a crate.
struct Suite {
    package: &'static str,
    /// The profile that it is built with.
    profile: &'static str,
    /// Its works, each with its maximum cost as a multiple of its floor.
    bars: &'static [(&'static str, f64)],
}

const SUITES: [Suite; 6] = [
    Suite {
        package: "haft-executor",
        profile: "bench",
        bars: &[("W0", 1.5), ("W1", 1.5), ("W1-10000", 1.5), ("W2", 2.0), ("W3", 1.2), ("W4", 4.0), ("W6", 3.0)],
    },
    Suite {
        package: "haft-wire",
        profile: "bench",
        bars: &[
            ("W5", 0.05),
            ("W5-chat", 0.05),
            ("W5-anthropic", 0.05),
            ("W5-gemini", 0.05),
            ("W11", 2.0),
            ("W11-chat", 2.0),
            ("W11-anthropic", 2.0),
            ("W11-gemini", 2.0),
        ],
    },
    Suite { package: "haft-registry", profile: "bench", bars: &[("W7", 1.3)] },
    Suite { package: "haft-workspace", profile: "bench", bars: &[("W7b", 20.0)] },
    // 0.9 times as many calls per second as the SDK alone, and a thousand pinned tools within 10 ms.
    Suite { package: "haft-mcp", profile: "bench", bars: &[("W8c", 1.11), ("W8c-16", 1.11), ("W8d", 1.0)] },
    // Its work is a process: the command as people build it. The bar is a multiple of 50 ms more than `true` takes.
    Suite { package: "haft-cli", profile: "release", bars: &[("W10", 1.0)] },
];

/// The number of copies of the program that are run.
const COPIES: usize = 5;

/// One measured work.
#[derive(Clone, Debug, PartialEq)]
struct Measure {
    work: String,
    ratio: f64,
    /// The line it was read from.
    line: String,
}

/// Measures the named works, or all of them.
pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> anyhow::Result<()> {
    let (instructions, save) = (arguments.flag("--instructions"), arguments.flag("--save"));
    let requested = arguments.rest()?;
    match (instructions, save) {
        (false, false) => time(workspace, &requested),
        (true, false) => instruction::check(workspace, &requested),
        (true, true) if requested.is_empty() => instruction::save(workspace),
        (true, true) => bail!("--save publishes all works; name none"),
        (false, true) => bail!("--save needs --instructions: times are not published"),
    }
}

fn time(workspace: &Workspace, requested: &[String]) -> anyhow::Result<()> {
    let mut runs = Vec::new();
    for suite in SUITES.iter().filter(|suite| suite.has_any_of(requested)) {
        let program = suite.build(workspace)?;
        for _ in 0..COPIES {
            let text = run_copy(workspace, &program, requested)?;
            runs.extend(measures(&text)?);
        }
    }
    let measures = medians(runs);
    for Measure { line, .. } in &measures {
        println!("{line}");
    }
    let (table, misses) = verdict(requested, &measures);
    eprint!("{table}");
    if misses == 0 { Ok(()) } else { bail!("{misses} of the works missed the bar") }
}

impl Suite {
    /// Reports whether one of these works is in the suite. No work means all of them.
    fn has_any_of(&self, requested: &[String]) -> bool {
        requested.is_empty() || requested.iter().any(|requested| self.bars.iter().any(|(work, _)| work == requested))
    }

    /// Builds the program and returns its path.
    fn build(&self, workspace: &Workspace) -> anyhow::Result<PathBuf> {
        let cargo = workspace.cargo().args(["bench", "-p", self.package, "--all-features", "--bench", "works"]);
        let built = artifact::built_by(cargo.args(["--no-run", "--profile", self.profile]))?;
        let works = built.into_iter().find(|program| program.name == "works");
        works.map(|program| program.executable.into()).context("cargo does not report the path of the benchmark")
    }
}

/// Runs a fresh copy of the program.
fn run_copy(workspace: &Workspace, program: &Path, requested: &[String]) -> anyhow::Result<String> {
    let copy = program.with_extension("copy");
    fs::copy(program, &copy).with_context(|| format!("cannot copy {}", program.display()))?;
    let text = workspace.invoke(&copy.to_string_lossy()).args(requested).capture();
    fs::remove_file(&copy).with_context(|| format!("cannot remove {}", copy.display()))?;
    text
}

/// Returns the median run of each work, in the order of the works.
fn medians(runs: Vec<Measure>) -> Vec<Measure> {
    let mut works: Vec<Vec<Measure>> = Vec::new();
    for run in runs {
        match works.iter_mut().find(|work| work.iter().any(|known| known.work == run.work)) {
            Some(work) => work.push(run),
            None => works.push(vec![run]),
        }
    }
    let middle = |mut work: Vec<Measure>| {
        work.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        work.swap_remove(work.len() / 2)
    };
    works.into_iter().map(middle).collect()
}

fn measures(text: &str) -> anyhow::Result<Vec<Measure>> {
    text.lines().filter(|line| line.starts_with('{')).map(measure).collect()
}

fn measure(line: &str) -> anyhow::Result<Measure> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("not a JSON line: {line}"))?;
    let work = value["work"].as_str().with_context(|| format!("no `work` in {line}"))?.to_owned();
    let ratio = value["ratio"].as_f64().with_context(|| format!("no `ratio` in {line}"))?;
    Ok(Measure { work, ratio, line: line.to_owned() })
}

/// Returns the table for people, and the number of misses. A work that was requested and not measured is a miss.
fn verdict(requested: &[String], measures: &[Measure]) -> (String, usize) {
    let mut rows = vec!["work            ratio     bar".to_owned()];
    let mut misses = 0;
    for Measure { work, ratio, .. } in measures {
        let row = match bar(work) {
            Some(bar) if *ratio <= bar => format!("{work:<14} {ratio:>6.3}x {bar:>6.2}x  pass"),
            Some(bar) => {
                misses += 1;
                format!("{work:<14} {ratio:>6.3}x {bar:>6.2}x  FAIL")
            }
            None => format!("{work:<14} {ratio:>6.3}x       -"),
        };
        rows.push(row);
    }
    let all: Vec<String> = bars().map(|(work, _)| work.to_owned()).collect();
    let wanted = if requested.is_empty() { &all } else { requested };
    for work in wanted.iter().filter(|work| measures.iter().all(|measure| measure.work != **work)) {
        misses += 1;
        rows.push(format!("{work:<14}  not measured  FAIL"));
    }
    rows.push(String::new());
    (rows.join("\n"), misses)
}

fn bar(work: &str) -> Option<f64> {
    bars().find(|(name, _)| *name == work).map(|(_, bar)| bar)
}

fn bars() -> impl Iterator<Item = (&'static str, f64)> {
    SUITES.iter().flat_map(|suite| suite.bars.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::{Measure, SUITES, bars, measures, medians, verdict};

    fn measured(work: &str, ratio: f64) -> Measure {
        Measure { work: work.to_owned(), ratio, line: String::new() }
    }

    #[test]
    fn the_median_of_several_runs_counts() {
        let runs = [("W1", 1.4), ("W2", 2.0), ("W1", 1.2), ("W2", 1.9), ("W1", 9.0), ("W2", 1.8)];
        let runs = runs.map(|(work, ratio)| measured(work, ratio)).to_vec();
        assert_eq!(medians(runs), [measured("W1", 1.4), measured("W2", 1.9)]);
        assert!(medians(Vec::new()).is_empty());
    }

    #[test]
    fn lines_without_json_are_skipped_and_invalid_json_is_an_error() {
        let line = "{\"work\":\"W1\",\"ns\":600,\"floor_ns\":500,\"ratio\":1.2}";
        let read = measures(&format!("warming up\n{line}\n")).unwrap();
        assert_eq!(read, [Measure { line: line.to_owned(), ..measured("W1", 1.2) }]);
        assert!(measures("{\"work\":\"W1\"}").is_err());
        assert!(measures("{oops").is_err());
    }

    #[test]
    fn a_ratio_at_the_bar_passes_and_one_above_it_misses() {
        let requested = ["W0".to_owned()];
        assert_eq!(verdict(&requested, &[measured("W0", 1.5)]).1, 0);
        let (table, misses) = verdict(&requested, &[measured("W0", 1.51)]);
        assert_eq!(misses, 1);
        assert!(table.contains("FAIL"));
    }

    #[test]
    fn a_requested_work_that_was_not_measured_misses() {
        assert_eq!(verdict(&["W2".to_owned()], &[measured("W0", 1.0)]).1, 1);
        assert_eq!(verdict(&[], &[]).1, bars().count());
    }

    #[test]
    fn only_the_programs_of_requested_works_are_built() {
        let packages = |requested: &[&str]| {
            let requested: Vec<String> = requested.iter().map(|work| (*work).to_owned()).collect();
            let suites = SUITES.iter().filter(|suite| suite.has_any_of(&requested));
            suites.map(|suite| suite.package).collect::<Vec<_>>()
        };
        assert_eq!(packages(&["W10"]), ["haft-cli"]);
        assert_eq!(packages(&["W7b", "W0"]), ["haft-executor", "haft-workspace"]);
        assert_eq!(packages(&[]).len(), SUITES.len());
        assert!(packages(&["W99"]).is_empty());
    }

    #[test]
    fn a_work_without_a_bar_is_listed_and_cannot_miss() {
        let (table, misses) = verdict(&["W9".to_owned()], &[measured("W9", 99.0)]);
        assert_eq!(misses, 0);
        assert!(table.contains("W9"));
    }
}
