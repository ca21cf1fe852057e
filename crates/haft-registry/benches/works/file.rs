//! The cost of loading many tools from a file.

use std::hint::black_box;

use futures_util::FutureExt;
use haft_registry::Kinds;
use haft_registry::file::{LoadOptions, Trust, load};

use crate::meter::{Figures, Meter};

const FILE_TOOLS: usize = 1000;
const TOOLS_PER_BOX: usize = 50;

/// W7b: loads a workspace file of a thousand HTTP tools with parameters of their own, compared with parsing its TOML.
pub(super) fn loading(meter: Meter) -> Figures {
    let text: String = (0..FILE_TOOLS).map(entry).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("haft.toml");
    std::fs::write(&path, &text).unwrap();
    let options = LoadOptions::new(Kinds::builtin()).unwrap().trust(Trust::Always);
    let ours = || {
        // Nothing waits, so that no runtime is needed.
        let loaded = load(black_box(&path), &options).now_or_never().unwrap().unwrap();
        assert_eq!(loaded.workspace.toolboxes().len(), FILE_TOOLS / TOOLS_PER_BOX);
    };
    meter.compare(ours, || drop(black_box(toml::from_str::<toml::Value>(black_box(&text)).unwrap())))
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
