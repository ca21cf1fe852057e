//! The example `chat_service`, as a process that is killed and started again.

use std::fs;
use std::path::Path;

/// Everything in the folder of the example: its Rust and its page.
#[test]
fn it_has_at_most_two_hundred_and_fifty_lines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("chat_service");
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let lines: usize = files.map(|text| text.lines().count()).sum();
    assert!(lines <= 250, "{lines} lines");
}

mod parts {
    mod browser;
    mod deployments;
    mod restart;
    mod service;
    mod tenant;
}
