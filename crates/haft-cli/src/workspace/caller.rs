//! The caller that a command's calls run for.

use haft::workspace::{Callers, LoadedCaller};

use super::FILE_NAME;
use crate::error::Fault;

/// The option `--caller`.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct CallerArgument {
    /// Runs the calls for this caller of the workspace file: with its permissions and its groups
    #[arg(long, value_name = "NAME")]
    pub(crate) caller: Option<String>,
}

impl CallerArgument {
    /// Returns the chosen caller.
    pub(crate) fn find<'c>(&self, callers: &'c Callers) -> Result<Option<&'c LoadedCaller>, Fault> {
        let Some(name) = &self.caller else { return Ok(None) };
        let found = callers.get(name).map_err(|error| {
            let known: Vec<&str> = callers.iter().map(|caller| caller.name.as_str()).collect();
            let advice = match known.as_slice() {
                [] => format!("define it in the `{FILE_NAME}`, as `[callers.{name}]`"),
                known => format!("the callers are {}", known.join(", ")),
            };
            Fault::new(error.to_string()).advice(advice)
        })?;
        Ok(Some(found))
    }

    /// Rejects a caller where no file defines any.
    pub(crate) fn ensure_unset(&self) -> Result<(), Fault> {
        match &self.caller {
            None => Ok(()),
            Some(name) => Err(Fault::new(format!("there is no `{FILE_NAME}` that defines the caller `{name}`"))
                .advice("run the command in the folder of your workspace, or name it with `--workspace`")),
        }
    }
}
