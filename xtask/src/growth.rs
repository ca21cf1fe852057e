//! `cargo xtask growth`: measures how the cost of works grows with their size.
//!
//! Each work is done at a size and at a hundred times that size, and the instructions are counted. If they grow by a
//! factor of `100^e`, the exponent is `e`: 1 for linear cost, 2 for quadratic cost. An instruction count is the same
//! on a fast and on a slow machine, busy or not; a clock is not.

mod command;

use std::path::Path;

use anyhow::{Context, bail, ensure};

use self::command::Commands;

use crate::argument::Arguments;
use crate::valgrind::{self, Valgrind};
use crate::workspace::Workspace;

/// The largest exponent of a work. `n log n` between the measured sizes stays below it.
const BAR: f64 = 1.2;
/// The larger size of a work over the smaller.
const FACTOR: u64 = 100;
/// The function of the program that is counted.
const COUNTED: &str = "growth::counted";

/// A work and the larger of its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Work {
    name: String,
    size: u64,
}

/// The growth of one work.
#[derive(Clone, Debug, PartialEq)]
struct Growth {
    work: Work,
    /// The instructions at the smaller size and at the larger.
    counts: (u64, u64),
}

/// Measures the named works, or all of them. A work above the bar is an error; a machine without valgrind is not.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    let requested = arguments.rest()?;
    let valgrind = match Valgrind::install() {
        Ok(valgrind) => valgrind,
        Err(error) => {
            eprintln!("growth was not measured: {error:#}");
            return Ok(());
        }
    };
    let programs = valgrind::build(workspace, &["haft-model"], "growth", &["haft-model/clients"])?;
    let program = programs.first().context("there is no program")?;
    let works = works(&workspace.invoke(&program.to_string_lossy()).capture()?, command::works(), &requested)?;
    let mut commands = Commands::default();
    let mut misses = 0;
    for work in works {
        let counts = match commands.count(workspace, &valgrind, &work)? {
            Some(counts) => counts,
            None => {
                (count(workspace, &valgrind, program, &work, FACTOR)?, count(workspace, &valgrind, program, &work, 1)?)
            }
        };
        let growth = Growth { work, counts };
        println!("{}", growth.line());
        eprintln!("{}", growth.row());
        misses += usize::from(growth.is_miss());
    }
    ensure!(misses == 0, "{misses} of the works grow faster than the bar");
    Ok(())
}

fn count(
    workspace: &Workspace,
    valgrind: &Valgrind,
    program: &Path,
    Work { name, size }: &Work,
    part: u64,
) -> anyhow::Result<u64> {
    let counted = valgrind.count(workspace, program, &[name, &(size / part).to_string()], COUNTED)?;
    match counted.calls[..] {
        [count] if count > 0 => Ok(count),
        ref counts => bail!("the work `{name}` was counted {} times: {}", counts.len(), counted.output),
    }
}

/// Reads the list of works that the program prints, and adds others: the named ones, or all.
fn works(list: &str, others: impl Iterator<Item = Work>, requested: &[String]) -> anyhow::Result<Vec<Work>> {
    let mut works = Vec::new();
    for line in list.lines() {
        let (name, size) = line.split_once(' ').with_context(|| format!("not a work and its size: {line}"))?;
        let size = size.parse().with_context(|| format!("not a size: {line}"))?;
        works.push(Work { name: name.to_owned(), size });
    }
    works.extend(others);
    if let Some(unknown) = requested.iter().find(|name| works.iter().all(|work| work.name != **name)) {
        bail!("unknown work `{unknown}`");
    }
    works.retain(|work| requested.is_empty() || requested.contains(&work.name));
    Ok(works)
}

impl Growth {
    #[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    fn exponent(&self) -> f64 {
        let (small, large) = self.counts;
        (large as f64 / small as f64).ln() / (FACTOR as f64).ln()
    }

    fn is_miss(&self) -> bool {
        self.exponent() > BAR
    }

    fn line(&self) -> String {
        let Work { name, size } = &self.work;
        format!(r#"{{"work":"{name}","n":{},"exponent":{:.3}}}"#, size / FACTOR, self.exponent())
    }

    /// Returns the same figures for people.
    fn row(&self) -> String {
        let (Work { name, size }, (small, large)) = (&self.work, self.counts);
        let (from, exponent) = (size / FACTOR, self.exponent());
        let verdict = if self.is_miss() { "FAIL" } else { "pass" };
        format!("{name:<14} {from:>6} {small:>12}  {size:>7} {large:>12}  {exponent:.3} <= {BAR}  {verdict}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Growth, Work, works};

    fn growth(small: u64, large: u64) -> Growth {
        Growth { work: Work { name: "w".to_owned(), size: 500 }, counts: (small, large) }
    }

    #[test]
    fn a_hundred_times_the_cost_at_a_hundred_times_the_size_is_linear() {
        assert_eq!(growth(1_000, 100_000).line(), r#"{"work":"w","n":5,"exponent":1.000}"#);
        assert_eq!(growth(1_000, 10_000_000).line(), r#"{"work":"w","n":5,"exponent":2.000}"#);
        assert!(!growth(1_000, 251_000).is_miss());
        assert!(growth(1_000, 252_000).is_miss());
    }

    #[test]
    fn an_unknown_work_is_an_error_and_none_means_all() {
        let two = || Work { name: "two".to_owned(), size: 200 };
        let all = works("one 100\n", [two()].into_iter(), &[]).unwrap();
        assert_eq!(all.iter().map(|work| (&*work.name, work.size)).collect::<Vec<_>>(), [("one", 100), ("two", 200)]);
        assert_eq!(works("one 100\n", [two()].into_iter(), &["two".to_owned()]).unwrap(), all[1..]);
        assert!(works("one 100\n", std::iter::empty(), &["three".to_owned()]).is_err());
        assert!(works("one\n", std::iter::empty(), &[]).is_err());
    }
}
