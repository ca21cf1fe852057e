//! The AI SDK, which reads the streams of `haft::model::ui` as a browser does. It needs a newer Node than some machines
//! have, so one is installed beside it. A real browser is a system package, as valgrind is.

use anyhow::{Context, ensure};

use super::package::{NpmPins, install_npm};
use super::{Folders, Part};
use crate::invocation::Invocation;
use crate::workspace::Workspace;

const PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/use-chat/package.json"),
    lock: include_str!("../../parts/use-chat/package-lock.json"),
};

/// The AI SDK, and a Node that runs it.
pub(super) const USE_CHAT: Part = Part { name: "use-chat", pins: PINS.lock, download };

fn download(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    install_npm(workspace, folders.part, &PINS)
}

/// A browser without a window.
#[derive(Debug)]
pub(crate) struct Chromium;

impl Chromium {
    /// Returns the machine's Chromium, if there is one.
    pub(crate) fn find() -> Option<Self> {
        Invocation::new("chromium").arg("--version").succeeds().then_some(Self)
    }

    /// Returns the machine's Chromium, installing it with `apt-get` where it is missing and this process is root.
    pub(crate) fn install() -> anyhow::Result<Self> {
        if let Some(chromium) = Self::find() {
            return Ok(chromium);
        }
        let user = Invocation::new("id").arg("-u").capture()?;
        ensure!(user.trim() == "0", "chromium is missing, and only root can install it");
        crate::valgrind::apt_get_install("chromium")?;
        Self::find().context("chromium was installed and still does not run")
    }
}
