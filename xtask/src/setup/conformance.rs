//! The official conformance suite of MCP: the released version, and the next one, which knows newer revisions of the
//! protocol. It needs a newer Node than some machines have, so one is installed beside it.

use super::package::{NpmPins, install_npm};
use super::{Folders, Part};
use crate::workspace::Workspace;

const PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/conformance/package.json"),
    lock: include_str!("../../parts/conformance/package-lock.json"),
};

pub(super) const CONFORMANCE: Part = Part { name: "conformance", pins: PINS.lock, download };

fn download(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.part, &PINS)
}
