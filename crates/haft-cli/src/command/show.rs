//! `haft show`: everything about one tool.

mod access;
mod parameter_tree;
mod section;

use serde_json::Value;

use self::section::ToolPage;
use crate::command::tools::{EntryIndex, ToolListing};
use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::terminal::wrapped;
use crate::workspace::{OpenWorkspace, Remarks};

/// Shows one tool: parameters, source, losses per wire, who may call it and who must approve
///
/// Without a terminal, or with `--json`, everything is one JSON object.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft show calculate
  haft show github/issues --schema
  haft show calculate --json | jq .input_schema")]
pub(crate) struct ShowArguments {
    /// The full or a shorter name of the tool
    name: String,
    /// Adds the JSON Schemas
    #[arg(long)]
    schema: bool,
    /// Prints JSON also on a terminal
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub(crate) async fn run(arguments: &ShowArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    let workspace = OpenWorkspace::open(cx, Remarks::Shown).await?;
    let tool = workspace.tool(&arguments.name)?;
    let page = ToolPage::new(ToolListing::new(&tool, &EntryIndex::new(&workspace)), &workspace);
    if arguments.json || !cx.terminal.stdout {
        cx.terminal.print_json(page.json())?;
        return Ok(ExitStatus::Done);
    }
    let mut text = wrapped(&page.text(), cx.terminal.width(), 2);
    if arguments.schema {
        for (title, schema) in page.schemas() {
            text.push_str(&format!("\n\n{title}\n{}", indented(&format!("{schema:#}"))));
        }
    }
    cx.terminal.print(text)?;
    Ok(ExitStatus::Done)
}

/// Returns a text whose lines are indented.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns a JSON text short enough for a line, shortened if needed.
fn short_json(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= MOST {
        return text;
    }
    let shown: String = text.chars().take(MOST - 1).collect();
    format!("{shown}…")
}
