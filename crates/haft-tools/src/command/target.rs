//! The command of a tool, for people who want to know what it does.

use std::path::PathBuf;

use haft_core::Annotation;

/// The command that a tool starts, as an annotation of the tool. Descriptors do not contain it.
///
/// A program that asks a person to approve a call can show it: the context of an approver has the
/// [tool](haft_core::Cx::tool).
///
/// ```
/// use haft_core::Tool;
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
