//! `haft schema`: the JSON Schema of workspace files, for editors.

use haft::workspace::json_schema;

use crate::context::Context;
use crate::error::CommandError;
use crate::exit::ExitStatus;

/// Prints the JSON Schema of `haft.toml`, by which editors complete and check it
///
/// It is the schema that files are checked by. The guide has a page with all keys, made from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  haft schema > haft.schema.json      then begin haft.toml with the line
                                      #:schema ./haft.schema.json
  haft schema | jq '.[\"$defs\"][\"kind-http\"].properties | keys'")]
pub(crate) struct SchemaArguments {}

/// Prints the schema.
pub(crate) fn run(_: &SchemaArguments, cx: &Context) -> Result<ExitStatus, CommandError> {
    cx.terminal.print_json(format_args!("{:#}", json_schema(&haft::tools::kinds())))?;
    Ok(ExitStatus::Done)
}
