//! A tool's command, for people who want to know what it does.

use std::path::PathBuf;

use haft_core::Annotation;

/// The command that a tool starts, as a tool annotation. Descriptors do not contain it.
///
/// If your program asks a person to approve a call, it can show the command: an approver's context has the
/// [tool](haft_executor::Cx::tool).
///
/// ```
/// use haft_executor::Tool;
/// use haft_tools::command::{CommandTarget, CommandTool};
///
/// let list = CommandTool::new(["ls", "-l", "{folder}"]).folder("/srv");
/// let tool = Tool::dynamic("list").params_json(list.default_parameters());
/// let tool = list.build(tool)?;
/// let target = tool.annotations().get::<CommandTarget>().unwrap();
/// assert_eq!(target.argv, ["ls", "-l", "{folder}"]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandTarget {
    /// The program and its arguments, with their variables.
    pub argv: Vec<String>,
    /// The working directory.
    pub folder: PathBuf,
}

impl Annotation for CommandTarget {}
