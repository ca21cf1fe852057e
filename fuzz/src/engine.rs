//! The search: pick an input, mutate it, try it, keep it if its outcome is new.
//!
//! A search is determined by the seed and the target alone, so a run that crashed the process is repeated with the
//! same seed and `--trace`, which leaves the last input on disk.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{fmt, fs};

use crate::corpus::Corpus;
use crate::finding::Finding;
use crate::mutation;
use crate::random::Random;
use crate::target::Target;
use crate::trial::{self, Verdict};
use crate::watch::Watch;

/// One search of one target.
#[derive(Debug)]
pub(crate) struct Engine {
    target: &'static Target,
    random: Random,
    time: Duration,
    last: Option<PathBuf>,
    corpus: Corpus,
    tries: u64,
}

/// The result of a search.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) summary: Summary,
    pub(crate) finding: Option<Finding>,
}

/// The extent of a search.
#[derive(Debug)]
pub(crate) struct Summary {
    tries: u64,
    outcomes: usize,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tries, {} different outcomes", self.tries, self.outcomes)
    }
}

impl Engine {
    /// Creates a search of this duration; with `last`, every input is written there before it is tried.
    pub(crate) fn new(target: &'static Target, seed: u64, time: Duration, last: Option<PathBuf>) -> Self {
        Self { target, random: Random::new(seed), time, last, corpus: Corpus::default(), tries: 0 }
    }

    /// Searches until the time is up or a finding is made. The seeds of the target are tried in any case.
    pub(crate) fn run(mut self, watch: &Watch) -> Report {
        let start = Instant::now();
        let mut finding = None;
        for seed in self.target.seeds {
            finding = finding.or_else(|| self.attempt(seed.as_bytes(), watch));
        }
        while finding.is_none() && start.elapsed() < self.time {
            let base = self.corpus.pick(&mut self.random);
            let other = self.corpus.pick(&mut self.random);
            let input = mutation::mutate(base, other, &mut self.random);
            finding = self.attempt(&input, watch);
        }
        watch.stop();
        Report { summary: Summary { tries: self.tries, outcomes: self.corpus.outcomes() }, finding }
    }

    fn attempt(&mut self, input: &[u8], watch: &Watch) -> Option<Finding> {
        self.tries += 1;
        watch.start(input);
        self.leave_trace(input);
        match trial::run(self.target, input) {
            Verdict::Passed(outcome) => {
                self.corpus.offer(input, outcome);
                None
            }
            Verdict::Panicked(panic) => Some(Finding::panic(input, &panic, |smaller| {
                watch.start(smaller);
                matches!(trial::run(self.target, smaller), Verdict::Panicked(other) if other.is_like(&panic))
            })),
        }
    }

    /// Writes the input to the trace. A trace that cannot be written is no reason to stop a search.
    fn leave_trace(&self, input: &[u8]) {
        if let Some(file) = &self.last {
            let _ = file.parent().map(fs::create_dir_all);
            let _ = fs::write(file, input);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Engine, Report};
    use crate::target::{Outcome, Target};
    use crate::trial;
    use crate::watch::Watch;

    /// A target that fails on an object with a key that only the list of tokens contains, two steps away from its
    /// seed.
    static BROKEN: Target = Target {
        name: "broken",
        seeds: &["[1]"],
        run: |input| match serde_json::from_slice::<serde_json::Value>(input) {
            Ok(value) if value.get("__proto__").is_some() => panic!("planted"),
            Ok(value) => Outcome::of(&value.is_object()),
            Err(_) => Outcome::of(&"no JSON"),
        },
    };

    static SOUND: Target = Target { name: "sound", seeds: &["", "x"], run: |input| Outcome::of(&input.is_empty()) };

    fn search(target: &'static Target, time: Duration) -> Report {
        trial::keep_panics_quiet();
        Engine::new(target, 1, time, None).run(&Watch::default())
    }

    #[test]
    fn a_planted_fault_is_found_and_minimised() {
        let finding = search(&BROKEN, Duration::MAX).finding.expect("the fault");
        assert!(finding.message().contains("planted"), "{}", finding.message());
        assert!(finding.input().len() <= br#"{"__proto__":[]}"#.len(), "{}", finding.excerpt());
    }

    #[test]
    fn a_sound_target_has_its_seeds_tried_and_nothing_found() {
        let report = search(&SOUND, Duration::ZERO);
        assert!(report.finding.is_none());
        assert_eq!(report.summary.to_string(), "2 tries, 2 different outcomes");
    }
}
