//! Servers that we did not write, for tests of tools that send requests. The package `haft-parts` starts them.

use super::package::{NpmPins, install_npm, install_python};
use super::{Folders, Part};
use crate::workspace::Workspace;

const OAUTH2_PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/oauth2/package.json"),
    lock: include_str!("../../parts/oauth2/package-lock.json"),
};

/// A server that answers with the requests it receives.
pub(super) const HTTPBIN: Part =
    Part { name: "httpbin", pins: include_str!("../../parts/httpbin.txt"), download: download_httpbin };

/// A server of OAuth 2 tokens.
pub(super) const OAUTH2: Part = Part { name: "oauth2", pins: OAUTH2_PINS.lock, download: download_oauth2 };

fn download_httpbin(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_python(workspace, folders.part, "xtask/parts/httpbin.txt")
}

fn download_oauth2(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.part, &OAUTH2_PINS)
}
