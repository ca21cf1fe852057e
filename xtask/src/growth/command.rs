//! The works of the program `haft`: commands over the operations of an OpenAPI document.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Map, Value, json};

use super::{FACTOR, Work};
use crate::valgrind::{Valgrind, build_program};
use crate::workspace::Workspace;

/// A work: its name, the larger of its sizes, and the arguments of the program.
type CommandWork = (&'static str, u64, &'static [&'static str]);

/// `check` has only wires that take any number of tools, as it fails if one does not. `load` is what every command does.
const WORKS: [CommandWork; 2] = [
    ("check", 1_000, &["check", "--offline", "--for", "anthropic", "--for", "mcp"]),
    ("load", 1_000, &["tools", "--json"]),
];

const SETTINGS: &str = "[toolbox.t.import.api]\nkind = \"openapi\"\nfile = \"document.json\"\n";

/// The program, built for counting, once it is needed.
#[derive(Debug, Default)]
pub(super) struct Commands {
    program: Option<PathBuf>,
}

/// Returns the works.
pub(super) fn works() -> impl Iterator<Item = Work> {
    WORKS.iter().map(|(name, size, _)| Work { name: (*name).to_owned(), size: *size })
}

impl Commands {
    /// Returns the instructions of a work at the smaller size and at the larger, without those of a document of no
    /// operation; `None` if it is not a work of the program.
    pub(super) fn count(
        &mut self,
        workspace: &Workspace,
        valgrind: &Valgrind,
        work: &Work,
    ) -> anyhow::Result<Option<(u64, u64)>> {
        let Some((_, size, arguments)) = WORKS.iter().find(|(name, ..)| *name == work.name) else { return Ok(None) };
        let program = match &self.program {
            Some(program) => program.clone(),
            None => self.program.insert(build_program(workspace, "haft-cli", "haft")?).clone(),
        };
        let folder = workspace.root().join("target/growth").join(std::process::id().to_string());
        let count = |operations| {
            let counted = count(workspace, valgrind, &program, &folder, operations, arguments);
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            counted
        };
        let none = count(0)?;
        Ok(Some((count(size / FACTOR)?.saturating_sub(none), count(*size)?.saturating_sub(none))))
    }
}

/// Counts a command in a trusted workspace of this many operations.
fn count(
    workspace: &Workspace,
    valgrind: &Valgrind,
    program: &Path,
    folder: &Path,
    operations: u64,
    arguments: &[&str],
) -> anyhow::Result<u64> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(folder.join("document.json"), document(operations).to_string())?;
    let file = folder.join("haft.toml");
    fs::write(&file, SETTINGS)?;
    let home = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"].map(|name| (name, folder));
    let trust = workspace.invoke(&program.to_string_lossy()).current_dir(folder).args(["trust", "--yes"]);
    home.iter().fold(trust, |trust, (name, value)| trust.env(name, value)).run_quietly()?;
    let file = file.to_string_lossy();
    let arguments: Vec<&str> = ["--workspace", &*file].into_iter().chain(arguments.iter().copied()).collect();
    valgrind.count_whole(workspace, program, &arguments, &home)
}

fn document(operations: u64) -> Value {
    let item = |at| {
        let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
        let operation = json!({"operationId": format!("read{at}"), "summary": "Reads it.", "parameters": [id]});
        (format!("/things{at}/{{id}}"), json!({"get": operation}))
    };
    let paths: Map<String, Value> = (0..operations).map(item).collect();
    json!({"openapi": "3.0.3", "servers": [{"url": "https://things.example"}], "paths": paths})
}

#[cfg(test)]
mod tests {
    use super::{document, works};

    #[test]
    fn a_document_has_as_many_operations_as_are_asked_for() {
        for operations in [0, 1, 20] {
            let size = document(operations)["paths"].as_object().map(serde_json::Map::len);
            assert_eq!(size, usize::try_from(operations).ok());
        }
        assert_eq!(works().map(|work| work.name).collect::<Vec<_>>(), ["check", "load"]);
    }
}
