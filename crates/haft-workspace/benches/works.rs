//! The cost of loading many tools from a file, compared with parsing its text.
//!
//! `cargo xtask bench` runs this and compares the ratio with the bar.

#![allow(clippy::unwrap_used, reason = "a benchmark that can't be set up should stop")]

#[path = "../../haft-executor/benches/meter.rs"]
mod meter;

use std::hint::black_box;

use futures_util::FutureExt;
use haft_workspace::{LoadOptions, Trust, load};

use self::meter::{Figures, Meter, Work};

const FILE_TOOLS: usize = 1000;
const TOOLS_PER_BOX: usize = 50;

const WORKS: &[Work] = &[("W7b", 2, loading)];

fn main() {
    meter::run(WORKS);
}

/// W7b: loads a workspace file with a thousand HTTP tools that have their own parameters, compared with parsing its
/// TOML.
fn loading(meter: Meter) -> Figures {
    let text: String = (0..FILE_TOOLS).map(entry).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.toml");
    std::fs::write(&path, &text).unwrap();
    let options = LoadOptions::new(haft_tools::kinds()).unwrap().trust(Trust::Always);
    let ours = || {
        // Nothing waits, so that no runtime is needed.
        let loaded = load(black_box(&path), &options).now_or_never().unwrap().unwrap();
        assert_eq!(loaded.workspace.toolboxes().len(), FILE_TOOLS / TOOLS_PER_BOX);
    };
    let floor = || drop(black_box(toml::from_str::<toml::Value>(black_box(&text)).unwrap()));
    meter.compare(ours, floor).per_run_of(1)
}

/// Returns a tool as files of real workspaces have them.
fn entry(at: usize) -> String {
    let toolbox = at / TOOLS_PER_BOX;
    format!(
        r#"
[toolbox.box-{toolbox}.tool.search-{at}]
kind = "http"
description = "Searches the issues of project {at}, and returns those that match the query best."
url = "https://api.example.com/projects/{at}/issues"
readonly = true
timeout = 30

[toolbox.box-{toolbox}.tool.search-{at}.parameters]
type = "object"
required = ["query-{at}"]
additionalProperties = false

[toolbox.box-{toolbox}.tool.search-{at}.parameters.properties]
query-{at} = {{ type = "string", description = "The words to search for.", minLength = 1 }}
state = {{ type = "string", enum = ["open", "closed", "all"] }}
limit = {{ type = "integer", minimum = 1, maximum = 100 }}
"#
    )
}
