//! The time from `haft call`'s start to its result, compared with the program `true`, measured in one run.
//!
//! `cargo xtask bench` runs this and compares it with the bar. The ratio compares the additional time to
//! [`ALLOWED_MS`], so that its bar is one: how long any process takes to start depends on the machine.

#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

const HAFT: &str = env!("CARGO_BIN_EXE_haft");

/// The time that a call may take beyond that of `true`, in milliseconds.
const ALLOWED_MS: f64 = 50.0;
const RUNS: usize = 41;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if !wanted.is_empty() && wanted.iter().all(|wanted| wanted != "W10") {
        return;
    }
    // No workspace is found above this folder, so the standard toolbox is loaded.
    let folder = tempfile::tempdir().unwrap();
    let call = || {
        let mut command = Command::new(HAFT);
        command.args(["call", "calculate", r#"{"expression": "1 + 2"}"#]);
        command.current_dir(folder.path()).env("HAFT_STATE_DIR", folder.path());
        let output = command.output().unwrap();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains('3'));
    };
    let floor = || assert!(Command::new("true").stdin(Stdio::null()).status().unwrap().success());
    let (mut ours, mut floors) = (Vec::with_capacity(RUNS), Vec::with_capacity(RUNS));
    call();
    floor();
    for _ in 0..RUNS {
        floors.push(time(floor));
        ours.push(time(call));
    }
    let (ms, floor_ms) = (median(ours), median(floors));
    let bytes = fs::metadata(HAFT).unwrap().len();
    let ratio = (ms - floor_ms) / ALLOWED_MS;
    println!(r#"{{"work":"W10","ms":{ms:.2},"floor_ms":{floor_ms:.2},"ratio":{ratio:.4},"bytes":{bytes}}}"#);
}

fn time(work: impl Fn()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
