//! `cargo xtask tidy`: the house rules that no lint checks.
//!
//! Every rule is a small function from text to breaches, so each is tested on a few lines; this file only walks the
//! tree and passes each file to its rules. All breaches are reported, not only the first.

mod breach;
mod dependency;
mod doc_comment;
mod fence;
mod import;
mod manifest;
mod module_graph;
mod name;
mod size;
mod source;
mod test_module;
mod type_name;
mod waiting;

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use self::breach::Breach;
use self::fence::CompiledPages;
use self::module_graph::ModuleGraphs;
use self::source::Source;
use self::type_name::TypeNames;
use crate::argument::Arguments;
use crate::workspace::Workspace;

/// The pages that the repository must have.
const PAGES: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// A rule about one Rust file.
type SourceRule = fn(&Source<'_>) -> Vec<Breach>;

/// The rules about Rust files, each checked separately.
const SOURCE_RULES: [SourceRule; 4] = [size::check, waiting::check, name::check_modules, doc_comment::check];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: Arguments) -> anyhow::Result<()> {
    arguments.finish()?;
    check(workspace)
}

/// Checks the whole tree and prints every breach.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let files = files(workspace)?;
    let mut breaches = missing_pages(&files);
    let (mut type_names, mut module_graphs) = (TypeNames::default(), ModuleGraphs::default());
    let guide_tests = workspace.root().join(fence::GUIDE_TESTS);
    let compiled = fs::read_to_string(guide_tests).map(|text| CompiledPages::of(&text)).unwrap_or_default();
    for path in &files {
        breaches.extend(name::check(path));
        // A binary file has no lines to check.
        let Ok(text) = fs::read_to_string(workspace.root().join(path)) else { continue };
        breaches.extend(check_text(path, &text, &compiled));
        if has_extension(path, "rs") {
            let source = Source::new(path, &text);
            type_names.add(&source);
            module_graphs.add(&source);
        }
    }
    breaches.extend(type_names.check());
    breaches.extend(module_graphs.check());
    breaches.extend(dependency::check(workspace)?);
    breaches.sort();
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => {
            eprintln!("   {} files are tidy", files.len());
            Ok(())
        }
        count => bail!("{count} breaches of the house rules"),
    }
}

fn check_text(path: &str, text: &str, compiled: &CompiledPages) -> Vec<Breach> {
    let mut breaches = Vec::new();
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            let source = Source::new(path, text);
            breaches.extend(SOURCE_RULES.iter().flat_map(|rule| rule(&source)));
            breaches.extend(fence::check(path, text, fence::Language::Rust, compiled));
        }
        Some("md") => breaches.extend(fence::check(path, text, fence::Language::Markdown, compiled)),
        Some("toml") if path.ends_with("Cargo.toml") => breaches.extend(manifest::check(path, text)),
        _ => {}
    }
    breaches
}

fn has_extension(path: &str, wanted: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == wanted)
}

/// Returns the files that git tracks, or would track, and that are in the tree.
fn files(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let git = workspace.invoke("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = git.capture().context("cannot list the files with git")?;
    let present = |path: &&str| !path.is_empty() && workspace.root().join(path).is_file();
    let mut files: Vec<String> = listed.split('\0').filter(present).map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn missing_pages(files: &[String]) -> Vec<Breach> {
    let missing = PAGES.iter().filter(|page| files.iter().all(|file| file != *page));
    missing.map(|page| Breach::new(page, 1, "this page must exist")).collect()
}

#[cfg(test)]
mod tests {
    use super::{CompiledPages, check_text, missing_pages};

    #[test]
    fn a_missing_page_is_a_breach_and_a_present_one_is_not() {
        let files = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "crates/a/README.md"].map(str::to_owned);
        let breaches = missing_pages(&files);
        assert_eq!(breaches.len(), 1);
        assert!(breaches[0].to_string().starts_with("README.md:1:"));
    }

    #[test]
    fn each_kind_of_file_has_its_own_rules() {
        let check = |path, text| check_text(path, text, &CompiledPages::default());
        assert_eq!(check("a.md", "```sh,ignore\n```\n").len(), 1);
        assert_eq!(check("a.txt", "```rust,ignore\n```\n").len(), 0);
        assert_eq!(check("src/a.rs", "mod util;\n").len(), 1);
        assert_eq!(check("src/a.rs", "//! What it is.\n").len(), 1);
        assert_eq!(check("crates/a/Cargo.toml", "[package]\nname = \"a\"\n").len(), 1);
    }
}
