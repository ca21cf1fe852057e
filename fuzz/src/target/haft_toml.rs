//! Workspace files that nobody trusts: one is rejected with faults at positions within it, or it is loaded without what
//! could do harm and without entries that have faults, and its tools make a registry.

use std::fs;

use haft_workspace::{FileFault, LoadOptions, TrustStatus, load};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::{Outcome, Target};

pub(super) const TARGET: Target = Target {
    name: "haft_toml",
    seeds: &[
        "",
        include_str!("../../../crates/haft-workspace/src/example.toml"),
        include_str!("../../../examples/workspace/haft.toml"),
        "[http]\nallow-hosts = ['a:1']\nallow-nets = ['10.0.0.0/8']\nonly-hosts = ['*.b']\n[limits]\ntimeout = 1.5\n",
        "[toolbox.a.tool.b]\nkind = 'http'\nurl = 'https://a.example/{x}'\nretry = { attempts = 2 }\nexport = true\n",
        "[toolbox.a.import.b]\nkind = 'openapi'\nfile = 'haft.toml'\n[workspace]\norgs = ['.']\n",
        "[permissions]\nallow = ['/*', { tools = 'a/*', readonly = true, when = 'args.x > 1' }]\nuse = ['s']\n",
    ],
    run,
};

/// A folder with one file, and what loads it.
struct Loader {
    folder: TempDir,
    options: LoadOptions,
    runtime: Runtime,
}

thread_local! {
    static LOADER: Loader = Loader::new();
}

impl Loader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder for the file: {error}"));
        let options = LoadOptions::new(haft_tools::kinds()).unwrap_or_else(|error| panic!("our own kinds: {error}"));
        let runtime = Builder::new_current_thread().build().unwrap_or_else(|error| panic!("no runtime: {error}"));
        Self { folder, options, runtime }
    }

    fn load(&self, input: &[u8]) -> Outcome {
        let path = self.folder.path().join("haft.toml");
        fs::write(&path, input).unwrap_or_else(|error| panic!("the file can't be written: {error}"));
        match self.runtime.block_on(load(&path, &self.options)) {
            Ok(loaded) => {
                assert_eq!(loaded.trust, TrustStatus::Unknown);
                assert!(loaded.http.allow_hosts.is_empty() && loaded.http.allow_nets.is_empty());
                assert!(loaded.standard.as_ref().is_none_or(|standard| !standard.fetch));
                let mut toolboxes = std::iter::once(&loaded.workspace)
                    .chain(&loaded.orgs)
                    .flat_map(haft_registry::Workspace::toolboxes);
                assert!(toolboxes.all(|toolbox| toolbox.toolkit().names().next().is_none()), "a tool reaches outside");
                let registry = loaded.registry().map(haft_registry::RegistryBuilder::build);
                assert!(
                    matches!(registry, Ok(Ok(_))),
                    "the tools of a file that is loaded make no registry: {registry:?}"
                );
                let set_aside = loaded.set_aside.iter().flat_map(|entry| entry.faults.clone());
                let found: Vec<FileFault> = set_aside.chain(loaded.remarks.iter().cloned()).collect();
                Outcome::of(&(kinds(&found, input), loaded.workspace.toolboxes().len().min(3)))
            }
            Err(error) => {
                assert!(!error.faults.is_empty(), "a rejection without a fault");
                Outcome::of(&kinds(&error.faults, input))
            }
        }
    }
}

fn run(input: &[u8]) -> Outcome {
    LOADER.with(|loader| loader.load(input))
}

/// Returns the kinds of faults, each once: the beginnings of their messages.
fn kinds(faults: &[FileFault], input: &[u8]) -> Vec<String> {
    let lines = input.split(|byte| *byte == b'\n').count();
    let kind = |fault: &FileFault| {
        if let Some(position) = fault.position {
            assert!((1..=lines).contains(&position.line), "line {} of {lines}: {fault}", position.line);
            assert!((1..=input.len() + 1).contains(&position.column), "column {}: {fault}", position.column);
        }
        assert!(!fault.message.is_empty() && !fault.to_string().is_empty());
        fault.message.split('`').next().unwrap_or_default().chars().take(30).collect()
    };
    let mut kinds: Vec<String> = faults.iter().map(kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
