//! The programs that judge wires: the official SDKs of the providers, a fake provider, and a small real model. The
//! package `haft-parts` starts them.
//!
//! A virtual environment is made beside its final folder and renamed. That breaks the scripts in its `bin` folder, and
//! nothing else: everything here starts `bin/python`.

use super::package::{NpmPins, install_npm, install_python};
use super::{Folders, Part};
use crate::workspace::Workspace;

const AIMOCK_PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/aimock/package.json"),
    lock: include_str!("../../parts/aimock/package-lock.json"),
};

/// The official SDKs of OpenAI, Anthropic and Google for Python.
pub(super) const SDK: Part = Part { name: "sdk", pins: include_str!("../../parts/sdk.txt"), download: download_sdk };

/// A fake provider of all wires.
pub(super) const AIMOCK: Part = Part { name: "aimock", pins: AIMOCK_PINS.lock, download: download_aimock };

/// The HTTP server of llama.cpp, and a model of 135 million parameters.
pub(super) const LLAMA: Part =
    Part { name: "llama", pins: include_str!("../../parts/llama.txt"), download: download_llama };

fn download_sdk(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_python(workspace, folders.part, "xtask/parts/sdk.txt")
}

fn download_aimock(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.part, &AIMOCK_PINS)
}

fn download_llama(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_python(workspace, folders.part, "xtask/parts/llama.txt")
}
