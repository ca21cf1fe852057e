//! `cargo xtask bench --instructions`: the works, measured in instructions instead of time.
//!
//! Ours over the floor, per operation. Ratios of counts are the same on an idle and on a busy machine, so they are
//! part of the test run: the last published ones are in a file, and none may grow by more than a few percent unless
//! the file changes with it. Another compiler changes them too; the file names the one it was made with.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};

use crate::valgrind::{self, Valgrind};
use crate::workspace::Workspace;

/// The crates whose works are counted.
const CRATES: [&str; 3] = ["haft-executor", "haft-wire", "haft-registry"];
/// The works that are counted, in order, each with its crate.
const WORKS: [(&str, &str); 16] = [
    ("haft-executor", "W0"),
    ("haft-executor", "W1"),
    ("haft-executor", "W1-10000"),
    ("haft-executor", "W2"),
    ("haft-executor", "W3"),
    ("haft-executor", "W4"),
    ("haft-executor", "W6"),
    ("haft-wire", "W5"),
    ("haft-wire", "W5-chat"),
    ("haft-wire", "W5-anthropic"),
    ("haft-wire", "W5-gemini"),
    ("haft-wire", "W11"),
    ("haft-wire", "W11-chat"),
    ("haft-wire", "W11-anthropic"),
    ("haft-wire", "W11-gemini"),
    ("haft-registry", "W7"),
];
/// The published ratios.
const FILE: &str = "crates/haft-executor/benches/instructions.json";
/// The function whose calls are counted.
const COUNTED: &str = "works::meter::counted";
/// The fraction by which a ratio may exceed the published one.
const TOLERANCE: f64 = 0.03;
const SAVE: &str = "cargo xtask bench --instructions --save";

/// The instructions of one work, per operation.
#[derive(Clone, Debug, PartialEq)]
struct Count {
    work: String,
    ours: f64,
    floor: f64,
}

/// The published ratios and the compiler they were measured with.
#[derive(Debug, PartialEq)]
struct Published {
    compiler: String,
    ratios: Map<String, Value>,
}

/// Counts the named works, or all, and compares them with the published ratios.
pub(crate) fn check(workspace: &Workspace, requested: &[String]) -> anyhow::Result<()> {
    let published = Published::read(workspace)?;
    let counts = count(workspace, requested)?;
    let (table, misses) = published.verdict(&counts);
    eprint!("{table}");
    if misses == 0 {
        return Ok(());
    }
    let compiler = compiler(workspace)?;
    let other = if compiler == published.compiler {
        String::new()
    } else {
        format!("\n{FILE} was made with {}, this is {compiler}", published.compiler)
    };
    bail!("{misses} of the works cost more instructions than {FILE} allows; if that is meant: {SAVE}{other}")
}

/// Counts all works and publishes their ratios.
pub(crate) fn save(workspace: &Workspace) -> anyhow::Result<()> {
    let counts = count(workspace, &[])?;
    let ratios = counts.iter().map(|count| (count.work.clone(), json!(count.rounded_ratio()))).collect();
    Published { compiler: compiler(workspace)?, ratios }.write(workspace)?;
    eprintln!("wrote {FILE}");
    Ok(())
}

/// Counts the named works, or all, and prints one JSON line each.
///
/// Each work has a separate process, and all programs are built even if one is run: so a count does not depend on which
/// other works were requested.
fn count(workspace: &Workspace, requested: &[String]) -> anyhow::Result<Vec<Count>> {
    let known = WORKS.map(|(_, work)| work);
    if let Some(unknown) = requested.iter().find(|requested| !known.contains(&requested.as_str())) {
        bail!("unknown work `{unknown}`; the works are {}", known.join(", "));
    }
    let valgrind = Valgrind::find().context("valgrind is missing; `cargo xtask setup` as root installs it")?;
    let is_wanted = |work: &str| requested.is_empty() || requested.iter().any(|requested| requested == work);
    let programs = valgrind::build(workspace, &CRATES, "works", &[])?;
    let mut counts = Vec::new();
    for (package, program) in CRATES.into_iter().zip(programs) {
        for (_, work) in WORKS.into_iter().filter(|(of, work)| *of == package && is_wanted(work)) {
            let counted = valgrind.count(workspace, &program, &["--instructions", work], COUNTED)?;
            let count = Count::new(work, &counted)?;
            println!("{}", count.line());
            counts.push(count);
        }
    }
    Ok(counts)
}

/// Returns the compiler's version and its host.
fn compiler(workspace: &Workspace) -> anyhow::Result<String> {
    let text = workspace.invoke("rustc").arg("-vV").capture()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let (release, host) = (field("release:"), field("host:"));
    Ok(format!("rustc {} for {}", release.unwrap_or("unknown"), host.unwrap_or("unknown")))
}

impl Count {
    fn new(work: &str, counted: &valgrind::Counted) -> anyhow::Result<Self> {
        let line: Value = serde_json::from_str(counted.output.trim()).context("the benchmark printed no JSON line")?;
        let operations = line["operations"].as_f64().context("the benchmark printed no number of operations")?;
        let &[floor, ours] = counted.calls.as_slice() else {
            bail!("{COUNTED} was called {} times for {work}, not twice", counted.calls.len());
        };
        ensure!(floor > 0, "the floor of {work} executed nothing");
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
        Ok(Self { work: work.to_owned(), ours: ours as f64 / operations, floor: floor as f64 / operations })
    }

    fn ratio(&self) -> f64 {
        self.ours / self.floor
    }

    fn rounded_ratio(&self) -> f64 {
        (self.ratio() * 10_000.0).round() / 10_000.0
    }

    fn line(&self) -> String {
        let Self { work, ours, floor } = self;
        let ratio = self.rounded_ratio();
        format!(r#"{{"work":"{work}","instructions":{ours:.0},"floor_instructions":{floor:.0},"ratio":{ratio:.3}}}"#)
    }
}

impl Published {
    fn path(workspace: &Workspace) -> PathBuf {
        workspace.root().join(FILE)
    }

    fn read(workspace: &Workspace) -> anyhow::Result<Self> {
        let text = fs::read_to_string(Self::path(workspace)).with_context(|| format!("cannot read {FILE}"))?;
        let value: Value = serde_json::from_str(&text).with_context(|| format!("{FILE} is not JSON"))?;
        let compiler = value["compiler"].as_str().with_context(|| format!("{FILE} names no compiler"))?.to_owned();
        let ratios = value["ratios"].as_object().with_context(|| format!("{FILE} holds no ratios"))?.clone();
        Ok(Self { compiler, ratios })
    }

    fn write(&self, workspace: &Workspace) -> anyhow::Result<()> {
        let Self { compiler, ratios } = self;
        let text = serde_json::to_string_pretty(&json!({"compiler": compiler, "ratios": ratios}))?;
        fs::write(Self::path(workspace), text + "\n").with_context(|| format!("cannot write {FILE}"))
    }

    /// Returns a table for people, and how many works cost too much or have no published ratio.
    fn verdict(&self, counts: &[Count]) -> (String, usize) {
        let mut table = "work            ratio  published\n".to_owned();
        let mut misses = 0;
        for count in counts {
            let (work, ratio) = (&count.work, count.ratio());
            let row = match self.ratios.get(work).and_then(Value::as_f64) {
                None => {
                    misses += 1;
                    format!("{work:<14} {ratio:>6.3}          -  FAIL: not published; run {SAVE}")
                }
                Some(published) if ratio > published * (1.0 + TOLERANCE) => {
                    misses += 1;
                    format!("{work:<14} {ratio:>6.3}     {published:>6.3}  FAIL: {:+.1} %", grown(ratio, published))
                }
                Some(published) if ratio < published * (1.0 - TOLERANCE) => {
                    let grown = grown(ratio, published);
                    format!("{work:<14} {ratio:>6.3}     {published:>6.3}  pass: {grown:+.1} %; to keep it: {SAVE}")
                }
                Some(published) => format!("{work:<14} {ratio:>6.3}     {published:>6.3}  pass"),
            };
            table.push_str(&row);
            table.push('\n');
        }
        (table, misses)
    }
}

/// Returns the growth of a ratio in percent.
fn grown(ratio: f64, published: f64) -> f64 {
    (ratio / published - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Count, Published};
    use crate::valgrind::Counted;

    fn counted(output: &str, calls: &[u64]) -> Counted {
        Counted { output: output.to_owned(), calls: calls.to_vec() }
    }

    fn count(ratio: f64) -> Count {
        Count { work: "W1".to_owned(), ours: 1000.0 * ratio, floor: 1000.0 }
    }

    fn published(ratios: serde_json::Value) -> Published {
        Published { compiler: "rustc".to_owned(), ratios: serde_json::from_value(ratios).unwrap() }
    }

    #[test]
    fn counts_are_per_operation_and_the_floor_comes_first() {
        let count = Count::new("W1", &counted("{\"work\":\"W1\",\"operations\":40}\n", &[4000, 6000])).unwrap();
        assert_eq!(count.line(), r#"{"work":"W1","instructions":150,"floor_instructions":100,"ratio":1.500}"#);
    }

    #[test]
    fn a_work_that_was_not_counted_twice_is_an_error() {
        for calls in [&[][..], &[1], &[1, 2, 3], &[0, 1]] {
            assert!(Count::new("W1", &counted("{\"operations\":1}", calls)).is_err(), "{calls:?}");
        }
        assert!(Count::new("W1", &counted("", &[1, 2])).is_err());
    }

    #[test]
    fn a_ratio_may_grow_by_three_percent_and_no_more() {
        let published = published(json!({"W1": 1.5}));
        assert_eq!(published.verdict(&[count(1.5 * 1.029)]).1, 0);
        let (table, misses) = published.verdict(&[count(1.5 * 1.031)]);
        assert_eq!(misses, 1);
        assert!(table.contains("FAIL: +3.1 %"), "{table}");
    }

    #[test]
    fn a_lower_ratio_passes_and_the_table_contains_the_command_to_save_it() {
        let (table, misses) = published(json!({"W1": 1.5})).verdict(&[count(1.0)]);
        assert_eq!(misses, 0);
        assert!(table.contains("--save"), "{table}");
    }

    #[test]
    fn a_work_without_a_published_ratio_misses() {
        assert_eq!(published(json!({"W2": 1.5})).verdict(&[count(1.0)]).1, 1);
    }
}
