//! Processor time of the programs that this one has run.
//!
//! A wall clock also measures other programs. Processor time does not, and adds up what cargo does in parallel.

use std::fs;

use anyhow::Context;

/// The file in which the kernel reports it, on Linux only.
const FILE: &str = "/proc/self/stat";
/// The unit of the file: every Linux reports in hundredths of a second, whatever it counts by.
const TICKS_PER_SECOND: f64 = 100.0;
/// The positions of the user and system time of ended children, counted from the field after the program's name.
const CHILDREN: [usize; 2] = [13, 14];

/// Returns the processor seconds of the programs that a closure runs, with everything they run themselves.
pub(super) fn seconds(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let before = spent()?;
    work()?;
    Ok(spent()? - before)
}

fn spent() -> anyhow::Result<f64> {
    let text = fs::read_to_string(FILE).with_context(|| format!("processor time is read from {FILE}"))?;
    parse(&text).with_context(|| format!("{FILE} has another form than expected: {text}"))
}

fn parse(text: &str) -> Option<f64> {
    // The name is in parentheses and may contain any character, including parentheses and spaces.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let mut ticks = 0.0;
    for position in CHILDREN {
        ticks += fields.get(position)?.parse::<f64>().ok()?;
    }
    Some(ticks / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn the_times_of_children_are_added() {
        let line = "7 (a ) b) S 1 7 7 0 -1 4194304 100 200 0 0 11 12 150 25 20 0 1 0 5 6 7";
        assert_eq!(parse(line), Some(1.75));
    }

    #[test]
    fn a_truncated_line_is_no_time() {
        assert_eq!(parse("7 (xtask) S 1 7"), None);
        assert_eq!(parse(""), None);
    }
}
