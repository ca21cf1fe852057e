//! The tools of real MCP servers, listed by the servers themselves.
//!
//! Four servers are installed by `npm` and two by `pip`, beside this part in the folders `npm` and `python`, and
//! started one after the other. Each answers `tools/list`, and its tools become one file, `<server>.json`, which
//! contains the array.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::package::{NpmPins, install_npm, install_python};
use super::session::Session;
use super::{Folders, Part};
use crate::invocation::Invocation;
use crate::workspace::Workspace;

const NPM_PINS: NpmPins = NpmPins {
    package: include_str!("../../parts/npm/package.json"),
    lock: include_str!("../../parts/npm/package-lock.json"),
};
/// The requirements file with the pins for `pip`.
const REQUIREMENTS: &str = "xtask/parts/python.txt";

pub(super) const PART: Part = Part {
    name: "mcp-tools",
    pins: concat!(include_str!("../../parts/npm/package-lock.json"), include_str!("../../parts/python.txt")),
    download,
};

/// A server and its arguments.
struct Server {
    name: &'static str,
    home: Home,
    arguments: &'static [&'static str],
}

/// The package manager of a server, which determines the path of its program.
#[derive(Clone, Copy)]
enum Home {
    Npm,
    Python,
}

const SERVERS: [Server; 6] = [
    Server { name: "everything", home: Home::Npm, arguments: &["stdio"] },
    Server { name: "filesystem", home: Home::Npm, arguments: &["."] },
    Server { name: "memory", home: Home::Npm, arguments: &[] },
    Server { name: "sequential-thinking", home: Home::Npm, arguments: &[] },
    // The machine's own time zone would appear in the descriptions.
    Server { name: "time", home: Home::Python, arguments: &["--local-timezone", "UTC"] },
    Server { name: "git", home: Home::Python, arguments: &[] },
];

fn download(workspace: &Workspace, folders: &Folders<'_>) -> anyhow::Result<()> {
    let parts = workspace.parts();
    install_npm(workspace, &parts.join("npm"), &NPM_PINS)?;
    install_python(workspace, &parts.join("python"), REQUIREMENTS)?;
    // A separate folder contains all files that a server may write.
    let sandbox = folders.work.join("sandbox");
    fs::create_dir_all(&sandbox)?;
    for server in &SERVERS {
        let program = Invocation::new(program(&parts, server)).args(server.arguments).current_dir(&sandbox);
        let tools = Session::open(program)
            .and_then(|mut session| session.tools())
            .with_context(|| format!("MCP server {}", server.name))?;
        ensure!(!tools.is_empty(), "MCP server {} offers no tools", server.name);
        let file = folders.part.join(format!("{}.json", server.name));
        fs::write(&file, format!("{:#}\n", serde_json::Value::from(tools)))?;
    }
    Ok(())
}

fn program(parts: &Path, server: &Server) -> PathBuf {
    let folder = match server.home {
        Home::Npm => "npm/node_modules/.bin",
        Home::Python => "python/bin",
    };
    parts.join(folder).join(format!("mcp-server-{}", server.name))
}
