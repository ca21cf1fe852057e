//! A fuzzer that feeds mutated inputs to the parts of haft that read untrusted input.
//!
//! It runs on stable Rust with its own engine: seeded, so that a run can be repeated from its seed alone, and steered
//! by the outcomes that the targets report instead of by instrumented code. It is started by `cargo xtask fuzz`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command writes to its standard streams")]

mod corpus;
mod engine;
mod expansion;
mod finding;
mod meter;
mod mutation;
mod option;
mod random;
mod target;
mod token;
mod tree;
mod trial;
mod watch;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context;

use self::engine::{Engine, Report};
use self::finding::Finding;
use self::option::{Mode, Options};
use self::target::Target;
use self::trial::Verdict;
use self::watch::Watch;

/// The stack of a worker thread of the usual runtime: an input must not need more.
const STACK: usize = 2 * 1024 * 1024;

fn main() -> ExitCode {
    trial::keep_panics_quiet();
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("haft-fuzz: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command and returns the number of findings.
fn run(options: &Options) -> anyhow::Result<usize> {
    match &options.mode {
        Mode::Replay { file, target } => replay(file, target),
        Mode::Search { targets, seconds, seed, trace } => {
            let share = Duration::from_secs(*seconds) / u32::try_from(targets.len()).unwrap_or(1).max(1);
            let mut findings = 0;
            for target in targets {
                eprintln!("{}: seed {seed}, {:.1} s", target.name, share.as_secs_f64());
                let last = trace.then(|| options.out.join(target.name).join("last"));
                let engine = Engine::new(target, *seed, share, last);
                if let Some(finding) = search(engine)? {
                    findings += 1;
                    report(&finding, target, *seed, &options.out)?;
                }
            }
            Ok(findings)
        }
    }
}

/// Runs the engine on a separate thread and watches it from here, so that an input that never ends is found too.
fn search(engine: Engine) -> anyhow::Result<Option<Finding>> {
    let watch = Arc::new(Watch::default());
    let (sender, receiver) = channel();
    let watched = Arc::clone(&watch);
    let worker = thread::Builder::new().stack_size(STACK);
    worker.spawn(move || sender.send(engine.run(&watched))).context("cannot start a thread")?;
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(Report { summary, finding }) => {
                eprintln!("   {summary}");
                return Ok(finding);
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some(input) = watch.timed_out() {
                    return Ok(Some(Finding::hang(input)));
                }
            }
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the engine itself panicked"),
        }
    }
}

fn report(finding: &Finding, target: &Target, seed: u64, out: &Path) -> anyhow::Result<()> {
    let file = finding.save(&out.join(target.name))?;
    println!("FOUND in {} (seed {seed}): {}", target.name, finding.message());
    println!("   {} bytes: {}", finding.input().len(), finding.excerpt());
    println!("   replay: cargo xtask fuzz --replay {} {}", file.display(), target.name);
    Ok(())
}

fn replay(file: &Path, target: &'static Target) -> anyhow::Result<usize> {
    let input = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let worker = thread::Builder::new().stack_size(STACK);
    let trial = worker.spawn(move || trial::run(target, &input)).context("cannot start a thread")?;
    match trial.join() {
        Ok(Verdict::Passed(_)) => {
            println!("{}: no panic", target.name);
            Ok(0)
        }
        Ok(Verdict::Panicked(panic)) => {
            println!("{}: {panic}", target.name);
            Ok(1)
        }
        Err(_) => anyhow::bail!("the replay itself panicked"),
    }
}
