//! The standard toolbox: tools that work offline.
//!
//! | tools | |
//! |---|---|
//! | `calculate` | exact arithmetic, and the usual functions |
//! | `date_now`, `date_parse`, `date_format`, `date_add`, `date_diff`, `date_zones` | dates, times and time zones |
//! | `json_query` | JSONPath and JSON Pointer |
//! | `text_search`, `text_split`, `text_count`, `text_diff` | text |
//! | `hash`, `encode`, `decode` | digests, base64, base32 and hexadecimal |
//! | `file_list`, `file_read`, `file_search` | files under a root, if you [set](StandardToolbox::files) one |
//!
//! None of them writes, reaches the network, or evaluates code. The tool `fetch`, which reads public web pages through
//! a guarded client, is only there if you ask for it. Models write the inputs, so every input is treated as hostile:
//! sizes, depths and work are limited, and a call without a result ends in a declared failure that names its cause and
//! what to do. The tools work alike on every machine: they never read the process's time zone, language or environment.

mod annotate;
mod calculate;
mod date;
mod encoding;
mod failure;
mod fetch;
mod file;
mod json;
mod pattern;
mod text;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use haft_core::nearest_tools;
use haft_executor::{DefinitionError, Tool, Toolkit, ToolkitError};

use self::date::WallClock;
pub use self::fetch::{FetchFailure, fetch};
use self::file::{DenyList, FileRoot};
pub use self::file::{DenyPatternError, resolve_path};

/// A builder for the standard toolbox.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_registry::Registry;
/// use haft_tools::standard::StandardToolbox;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit = StandardToolbox::new().toolkit()?;
/// let call = ToolCall::new("c1", "calculate", r#"{"expression": "0.1 + 0.2"}"#);
/// assert_eq!(kit.run_call(&call).await.to_model_text(), r#"{"result":"0.3","exact":true}"#);
///
/// let registry = Registry::builder().internal(kit).build()?;
/// assert!(registry.find("date_now").is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct StandardToolbox {
    clock: WallClock,
    root: Option<FileRoot>,
    denied: DenyList,
    /// The tools to add on request, such as `fetch`.
    further: Vec<fn() -> Result<Tool, DefinitionError>>,
    /// The names of the only tools to include.
    only: Option<Vec<String>>,
}

/// An error from building the standard toolbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StandardToolboxError {
    /// The file root can't be opened.
    #[error("cannot open `{}` as the root of files; it must be a directory that can be read", path.display())]
    Root {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// No standard tool has this name, or it was not added.
    #[error("there is no standard tool named `{name}`{}; the tools for files and `fetch` are added separately", suggested(.nearest))]
    UnknownTool {
        /// The name.
        name: String,
        /// Similar names.
        nearest: Vec<String>,
    },
    /// A deny pattern matches no path.
    #[error(transparent)]
    DenyPattern(#[from] DenyPatternError),
    /// A tool's definition is invalid.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The tools can't be put together.
    #[error(transparent)]
    Tools(#[from] ToolkitError),
}

impl StandardToolbox {
    /// Creates a toolbox with all tools that need only their arguments and the time.
    pub fn new() -> Self {
        Self {
            clock: Arc::new(SystemTime::now),
            root: None,
            denied: DenyList::default(),
            further: Vec::new(),
            only: None,
        }
    }

    /// Adds the file tools for everything below a directory. It is opened now, and stays the root even if another
    /// directory gets its name.
    ///
    /// ```
    /// use haft_core::ToolCall;
    /// use haft_tools::standard::StandardToolbox;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = tempfile::tempdir()?;
    /// std::fs::write(root.path().join("notes.txt"), "buy milk")?;
    /// let kit = StandardToolbox::new().files(root.path())?.toolkit()?;
    ///
    /// let result = kit.run_call(&ToolCall::new("c1", "file_read", r#"{"path": "notes.txt"}"#)).await;
    /// assert!(result.to_model_text().contains("buy milk"));
    /// let result = kit.run_call(&ToolCall::new("c2", "file_read", r#"{"path": "../secret.txt"}"#)).await;
    /// assert!(result.to_model_text().contains("leads outside of the root"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn files(mut self, root: impl AsRef<Path>) -> Result<Self, StandardToolboxError> {
        let path = root.as_ref();
        let opened = FileRoot::open(path);
        self.root = Some(opened.map_err(|source| StandardToolboxError::Root { path: path.to_owned(), source })?);
        Ok(self)
    }

    /// Denies files and directories below the root, with everything below them. The tools can't read, list or search
    /// them, by whatever spelling or symbolic link. Each call adds patterns.
    ///
    /// In a pattern, `*` stands for any text within a name, `?` for one character, and `**` for any number of names. A
    /// pattern without `/` matches a name at any depth; any other matches a path from the root. Case does not matter. A
    /// hard link is another file, which a pattern denies only by its own path.
    ///
    /// ```
    /// use haft_core::ToolCall;
    /// use haft_tools::standard::StandardToolbox;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let root = tempfile::tempdir()?;
    /// std::fs::write(root.path().join("local.env"), "TOKEN=1")?;
    /// let kit = StandardToolbox::new().files(root.path())?.deny_files(["*.env", "private/**"])?.toolkit()?;
    ///
    /// let result = kit.run_call(&ToolCall::new("c1", "file_read", r#"{"path": "./local.env/"}"#)).await;
    /// assert!(result.to_model_text().contains("denied"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn deny_files<P: AsRef<str>>(
        mut self,
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Self, StandardToolboxError> {
        for pattern in patterns {
            self.denied.add(pattern.as_ref())?;
        }
        Ok(self)
    }

    /// Adds the tool that fetches web pages. It requires a [`GuardedClient`](haft_http::GuardedClient) as a service.
    pub fn fetch(mut self) -> Self {
        self.further.push(fetch);
        self
    }

    /// Keeps only the tools with these names.
    pub fn only<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the clock, for tests and replays. The default is the system clock.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Builds the tools.
    pub fn toolkit(&self) -> Result<Toolkit, StandardToolboxError> {
        let mut tools = vec![calculate::tool()];
        tools.extend(date::tools(&self.clock));
        tools.push(json::tool());
        tools.extend(text::tools());
        tools.extend(encoding::tools());
        if let Some(root) = &self.root {
            tools.extend(file::tools(&root.denying(&self.denied)));
        }
        tools.extend(self.further.iter().map(|tool| tool()));
        let tools: Vec<Tool> = tools.into_iter().collect::<Result<_, _>>()?;
        let kit = Toolkit::new().with_all(tools)?;
        let Some(only) = &self.only else { return Ok(kit) };
        if let Some(unknown) = only.iter().find(|name| kit.get(name).is_none()) {
            let nearest = nearest_tools(unknown, kit.names()).into_iter().map(str::to_owned).collect();
            return Err(StandardToolboxError::UnknownTool { name: unknown.clone(), nearest });
        }
        Ok(kit.filter(|tool| only.iter().any(|name| name == tool.name())))
    }
}

fn suggested(nearest: &[String]) -> String {
    nearest.first().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

impl Default for StandardToolbox {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StandardToolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandardToolbox").field("root", &self.root).finish_non_exhaustive()
    }
}
