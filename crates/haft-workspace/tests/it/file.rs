//! Workspaces as files.

mod broken;
mod caller;
mod confine;
mod good;
mod hostile;
mod implementation;
mod live;
mod lock;
mod org;
mod policy;
mod proxy;
mod reach;
mod reference;
mod reload;
mod resource;
mod rule;
mod schema;
mod set_aside;
mod trust;

use std::path::{Path, PathBuf};

use haft_core::ToolCall;
use haft_executor::{Dispatch, RunOptions};
use haft_registry::{
    Building, Built, Entry, EntryError, EntryFault, ImplementationKind, Kinds, Reach, Recipient, StartedCommand, Yields,
};
use haft_workspace::{FileError, LoadOptions, Loaded, Trust, TrustStore, load};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// Returns the same text for every call.
struct Constant;

impl ImplementationKind for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "style": {"$ref": "#/$defs/style"},
            },
            "required": ["text"],
            "$defs": {"style": {"type": "object", "properties": {"case": {"enum": ["upper", "lower"]}}, "additionalProperties": false}},
        })
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let text = entry.settings["text"].as_str().unwrap().to_owned();
            if text.is_empty() {
                return Err(EntryError::at("/text", "must not be empty; write a text"));
            }
            let builder = entry.builder(json!({"type": "object", "additionalProperties": false}));
            Ok(Built::tool(builder.handler(move |_: Value, _cx| std::future::ready(text.clone()))?, Reach::nothing()))
        })
    }
}

/// Starts a program, or would.
struct Program;

impl ImplementationKind for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        json!({"type": "object", "properties": {"run": {"type": "array", "items": {"type": "string"}}}, "required": ["run"]})
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let folder = entry.folder.display().to_string();
            let builder = entry.builder(json!({"type": "object"}));
            let run = entry.settings["run"].as_array().unwrap().iter().filter_map(Value::as_str);
            let reach = Reach::nothing().with(Recipient::Command(StartedCommand::new(run, &entry.folder)), []);
            Ok(Built::tool(builder.handler(move |_: Value, _cx| std::future::ready(folder.clone()))?, reach))
        })
    }
}

/// Yields a tool for every line of a file.
struct Lines;

impl ImplementationKind for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn yields(&self) -> Yields {
        Yields::ManyTools
    }

    fn settings_schema(&self) -> Value {
        json!({"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]})
    }

    fn build(&self, entry: Entry) -> Building {
        Box::pin(async move {
            let file = entry.settings["file"].as_str().unwrap();
            let content = entry.read_file(file, 1024).map_err(|error| EntryError::at("/file", error.to_string()))?;
            let content = String::from_utf8(content).unwrap();
            let (skipped, lines): (Vec<&str>, Vec<&str>) = content.lines().partition(|line| line.starts_with('#'));
            let tool = |line: &&str| {
                let line = (*line).to_owned();
                let one = Entry::new(line.clone(), Value::Null);
                one.builder(json!({"type": "object"})).handler(move |_: Value, _cx| std::future::ready(line.clone()))
            };
            let tools = lines.iter().map(tool).collect::<Result<Vec<_>, _>>()?;
            let remark = |line: &&str| EntryFault::at("/file", format!("the line `{line}` is left out"));
            Ok(Built::tools(tools, Reach::nothing()).with_remarks(skipped.iter().map(remark)))
        })
    }
}

/// Returns its text when a gate opens.
struct Gated(watch::Receiver<bool>);

impl ImplementationKind for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
    }

    fn build(&self, entry: Entry) -> Building {
        let gate = self.0.clone();
        Box::pin(async move {
            let text = entry.settings["text"].as_str().unwrap().to_owned();
            let builder = entry.builder(json!({"type": "object"}));
            let tool = builder.handler(move |_: Value, _cx| {
                let (mut gate, text) = (gate.clone(), text.clone());
                async move {
                    gate.wait_for(|open| *open).await.unwrap();
                    text
                }
            })?;
            Ok(Built::tool(tool, Reach::nothing()))
        })
    }
}

fn kinds() -> Kinds {
    Kinds::empty().with(Constant).unwrap().with(Program).unwrap().with(Lines).unwrap()
}

fn options() -> LoadOptions {
    LoadOptions::new(kinds()).unwrap()
}

/// A folder with files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Creates a folder with one `haft.toml`.
    fn with(text: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write("haft.toml", text);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path("haft.toml")
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes a file as editors do: a new file replaces the old one.
    fn replace(&self, name: &str, content: impl AsRef<[u8]>) {
        self.write("written.tmp", content);
        std::fs::rename(self.path("written.tmp"), self.path(name)).unwrap();
    }

    fn store(&self) -> TrustStore {
        TrustStore::new(self.path("trust"))
    }

    async fn load(&self) -> Loaded {
        self.load_with(Trust::Always).await.unwrap()
    }

    async fn load_with(&self, trust: Trust) -> Result<Loaded, FileError> {
        load(self.file(), &options().trust(trust)).await
    }

    /// Returns the faults, including those of entries, without the folder's path.
    async fn faults(&self) -> String {
        let complete = self.load_with(Trust::Always).await.and_then(|loaded| loaded.ensure_complete());
        self.shown(&complete.unwrap_err())
    }

    fn shown(&self, text: &impl ToString) -> String {
        let folder = self.path("");
        text.to_string().replace(&*folder.to_string_lossy(), "")
    }

    fn remarks(&self, loaded: &Loaded) -> Vec<String> {
        loaded.remarks.iter().map(|remark| self.shown(remark)).collect()
    }
}

async fn answer(source: &impl Dispatch, name: &str) -> String {
    let calls = vec![ToolCall::new("c1", name, "").into()];
    source.run_calls(calls, RunOptions::new()).collect_results().await[0].to_model_text().clone()
}

fn tool_names(loaded: &Loaded) -> Vec<String> {
    let workspaces = std::iter::once(&loaded.workspace).chain(&loaded.orgs);
    let names = workspaces.flat_map(|workspace| {
        workspace.toolboxes().iter().flat_map(|toolbox| {
            let namespace = toolbox.namespace().unwrap();
            toolbox.toolkit().names().map(move |name| format!("{namespace}/{name}"))
        })
    });
    names.collect()
}

fn symlink(original: &Path, link: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(original, link).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_file(original, link).unwrap();
}
