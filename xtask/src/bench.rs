//! `cargo xtask bench`: measures the works and holds them against their bars.
//!
//! Every ratio is taken against a floor measured in the same process, so a bar holds on any machine. It is still
//! timing: it belongs to no test run, and a miss on a busy machine deserves a second look.

use anyhow::{Context, bail};
use serde_json::Value;

use crate::argument::Arguments;
use crate::workspace::Workspace;

/// How many times its floor each work may cost.
const BARS: [(&str, f64); 7] =
    [("W0", 1.5), ("W1", 1.5), ("W1-10000", 1.5), ("W2", 2.0), ("W3", 1.2), ("W4", 4.0), ("W6", 3.0)];

/// One measured work.
#[derive(Debug, PartialEq)]
struct Measure {
    work: String,
    ratio: f64,
}

/// Runs the named works, or all of them.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    let asked = arguments.rest()?;
    let bench = workspace.cargo().args(["bench", "-p", "haft-core", "--bench", "works", "--"]).args(&asked);
    let text = bench.capture()?;
    print!("{text}");
    let measures = measures(&text)?;
    let (table, misses) = verdict(&asked, &measures);
    eprint!("{table}");
    if misses == 0 { Ok(()) } else { bail!("{misses} of the works missed the bar") }
}

fn measures(text: &str) -> anyhow::Result<Vec<Measure>> {
    text.lines().filter(|line| line.starts_with('{')).map(measure).collect()
}

fn measure(line: &str) -> anyhow::Result<Measure> {
    let value: Value = serde_json::from_str(line).with_context(|| format!("not a JSON line: {line}"))?;
    let work = value["work"].as_str().with_context(|| format!("no `work` in {line}"))?.to_owned();
    let ratio = value["ratio"].as_f64().with_context(|| format!("no `ratio` in {line}"))?;
    Ok(Measure { work, ratio })
}

/// The table for people, and how many works missed. A work that was wanted and not measured is a miss.
fn verdict(asked: &[String], measures: &[Measure]) -> (String, usize) {
    let mut rows = vec!["work   ratio     bar".to_owned()];
    let mut misses = 0;
    for Measure { work, ratio } in measures {
        let row = match bar(work) {
            Some(bar) if *ratio <= bar => format!("{work:<5} {ratio:>6.2}x {bar:>6.2}x  pass"),
            Some(bar) => {
                misses += 1;
                format!("{work:<5} {ratio:>6.2}x {bar:>6.2}x  FAIL")
            }
            None => format!("{work:<5} {ratio:>6.2}x       -"),
        };
        rows.push(row);
    }
    let all: Vec<String> = BARS.iter().map(|(work, _)| (*work).to_owned()).collect();
    let wanted = if asked.is_empty() { &all } else { asked };
    for work in wanted.iter().filter(|work| measures.iter().all(|measure| measure.work != **work)) {
        misses += 1;
        rows.push(format!("{work:<5}  not measured  FAIL"));
    }
    rows.push(String::new());
    (rows.join("\n"), misses)
}

fn bar(work: &str) -> Option<f64> {
    BARS.iter().find(|(name, _)| *name == work).map(|(_, bar)| *bar)
}

#[cfg(test)]
mod tests {
    use super::{BARS, Measure, measures, verdict};

    fn measured(work: &str, ratio: f64) -> Measure {
        Measure { work: work.to_owned(), ratio }
    }

    #[test]
    fn lines_that_are_no_json_are_passed_over_and_bad_json_is_not() {
        let text = "warming up\n{\"work\":\"W1\",\"ns\":600,\"floor_ns\":500,\"ratio\":1.2}\n";
        assert_eq!(measures(text).unwrap(), [measured("W1", 1.2)]);
        assert!(measures("{\"work\":\"W1\"}").is_err());
        assert!(measures("{oops").is_err());
    }

    #[test]
    fn a_ratio_at_the_bar_passes_and_one_above_it_misses() {
        let asked = ["W0".to_owned()];
        assert_eq!(verdict(&asked, &[measured("W0", 1.5)]).1, 0);
        let (table, misses) = verdict(&asked, &[measured("W0", 1.51)]);
        assert_eq!(misses, 1);
        assert!(table.contains("FAIL"));
    }

    #[test]
    fn a_work_that_was_asked_for_and_not_measured_misses() {
        assert_eq!(verdict(&["W2".to_owned()], &[measured("W0", 1.0)]).1, 1);
        assert_eq!(verdict(&[], &[]).1, BARS.len());
    }

    #[test]
    fn a_work_without_a_bar_is_shown_and_cannot_miss() {
        let (table, misses) = verdict(&["W9".to_owned()], &[measured("W9", 99.0)]);
        assert_eq!(misses, 0);
        assert!(table.contains("W9"));
    }
}
