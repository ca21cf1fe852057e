//! The person's browser.

use std::process::{Command, Stdio};

/// The variable that names a browser.
const BROWSER: &str = "BROWSER";

/// The treatment of a page that a person is to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Browser {
    /// It is opened.
    Opened,
    /// Its address is printed, and that is all.
    Closed,
}

impl Browser {
    /// Opens a page, as well as that can be done: whoever reads the address can open it as well. A server chose the
    /// address, so no shell reads it, and it is opened for the web alone.
    pub(crate) fn open(self, page: &str) {
        if self == Self::Closed || !["https://", "http://"].iter().any(|scheme| page.starts_with(scheme)) {
            return;
        }
        let mut command = match std::env::var_os(BROWSER).filter(|browser| !browser.is_empty()) {
            Some(browser) => Command::new(browser),
            None if cfg!(windows) => {
                let mut command = Command::new("rundll32");
                command.arg("url.dll,FileProtocolHandler");
                command
            }
            None => Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" }),
        };
        let command = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Err(error) = command.spawn() {
            tracing::debug!(%error, "no browser can be started");
        }
    }
}
