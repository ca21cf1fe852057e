//! The measurement of a work and of its floor, in one run.
//!
//! With `--instructions` nothing is timed: the floor and then ours run inside [`counted`], a fixed number of times, for
//! `cargo xtask bench --instructions`, which runs this under callgrind and counts each call of that function.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

use std::time::{Duration, Instant};

/// A name, the number of runs when instructions are counted, and the work itself.
///
/// A short work is run more often: every map of JSON has a new seed, and only the average over many of them is stable.
pub(crate) type Work = (&'static str, usize, fn(Meter) -> Figures);

/// Measures the works that the command line names, or all, and prints one line of JSON each.
pub(crate) fn run(works: &[Work]) {
    let (flags, wanted): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let counts = flags.iter().any(|flag| flag == "--instructions");
    for (name, runs, work) in works {
        if !wanted.is_empty() && wanted.iter().all(|wanted| wanted != name) {
            continue;
        }
        match work(if counts { Meter::Instructions { runs: *runs } } else { Meter::Clock }) {
            Figures::Times { ns, floor_ns } => {
                println!(r#"{{"work":"{name}","ns":{ns:.1},"floor_ns":{floor_ns:.1},"ratio":{:.4}}}"#, ns / floor_ns);
            }
            Figures::Counted { operations } => println!(r#"{{"work":"{name}","operations":{operations}}}"#),
        }
    }
}

/// The figures of one work.
pub(crate) enum Figures {
    /// Medians per operation.
    Times { ns: f64, floor_ns: f64 },
    /// The operations that each of the two calls of [`counted`] did.
    Counted { operations: usize },
}

impl Figures {
    /// Returns the figures per operation of runs that do several.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    pub(crate) fn per_run_of(self, operations: usize) -> Self {
        match self {
            Self::Times { ns, floor_ns } => {
                Self::Times { ns: ns / operations as f64, floor_ns: floor_ns / operations as f64 }
            }
            Self::Counted { operations: runs } => Self::Counted { operations: runs * operations },
        }
    }
}

/// The way work is measured.
#[derive(Clone, Copy)]
pub(crate) enum Meter {
    Clock,
    Instructions { runs: usize },
}

impl Meter {
    /// Measures two pieces of work.
    pub(crate) fn compare(self, mut ours: impl FnMut(), mut floor: impl FnMut()) -> Figures {
        self.compare_with(|| (), |()| ours(), |()| floor())
    }

    /// Measures two pieces of work that consume an input made beforehand, outside of the measured part.
    pub(crate) fn compare_with<T>(self, make: impl FnMut() -> T, ours: impl FnMut(T), floor: impl FnMut(T)) -> Figures {
        match self {
            Self::Clock => time_both(make, ours, floor),
            Self::Instructions { runs } => count_both(runs, make, ours, floor),
        }
    }
}

/// Runs both this many times inside [`counted`]: first the floor, then ours.
fn count_both<T>(runs: usize, mut make: impl FnMut() -> T, ours: impl FnMut(T), floor: impl FnMut(T)) -> Figures {
    count(runs, &mut make, floor);
    count(runs, &mut make, ours);
    Figures::Counted { operations: runs }
}

fn count<T>(runs: usize, make: &mut impl FnMut() -> T, mut work: impl FnMut(T)) {
    const WARM_UP: usize = 4;
    (0..WARM_UP).for_each(|_| work(make()));
    let mut inputs = (0..runs).map(|_| make()).collect::<Vec<_>>().into_iter();
    counted(&mut || inputs.by_ref().for_each(&mut work));
}

/// Runs the work. Callgrind counts the instructions between entering and leaving this function, by its name.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

/// Alternates both until the medians are steady.
fn time_both<T>(mut make: impl FnMut() -> T, mut ours: impl FnMut(T), mut floor: impl FnMut(T)) -> Figures {
    const BATCHES: usize = 401;
    let size = batch_size(&mut || floor(make()));
    let (mut our_times, mut floor_times) = (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES));
    for _ in 0..BATCHES {
        floor_times.push(time((0..size).map(|_| make()).collect(), &mut floor));
        our_times.push(time((0..size).map(|_| make()).collect(), &mut ours));
    }
    Figures::Times { ns: median(our_times), floor_ns: median(floor_times) }
}

/// Returns the number of runs that make a batch long enough for the clock.
fn batch_size(work: &mut impl FnMut()) -> usize {
    const BATCH_TIME: Duration = Duration::from_micros(300);
    let mut size = 1;
    loop {
        let start = Instant::now();
        (0..size).for_each(|_| work());
        if start.elapsed() >= BATCH_TIME {
            return size;
        }
        size *= 2;
    }
}

#[expect(clippy::cast_precision_loss, reason = "batches and times are far below 2^52")]
fn time<T>(inputs: Vec<T>, work: impl FnMut(T)) -> f64 {
    let size = inputs.len();
    let start = Instant::now();
    inputs.into_iter().for_each(work);
    start.elapsed().as_nanos() as f64 / size as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
