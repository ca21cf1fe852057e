//! Who approves calls: a person at the terminal, everybody, nobody, or a file of verdicts.

pub(crate) mod prompt;

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

use haft::approval::ApprovalRequest;
use haft::run::RunOptions;
use haft::tool::Cx;

use self::prompt::ApprovalPrompt;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::screen::Screen;

/// The source of verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApproveMode {
    /// A person at the terminal.
    Ask,
    /// Every call is approved.
    All,
    /// No call is approved.
    None,
    /// The verdicts of a file, by the ids of the calls.
    File(PathBuf),
}

impl FromStr for ApproveMode {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "ask" => Self::Ask,
            "all" => Self::All,
            "none" => Self::None,
            path => Self::File(path.into()),
        })
    }
}

impl ApproveMode {
    /// Returns the mode where none is chosen: a person is asked where there is one.
    pub(crate) fn default_for(cx: &Context) -> Self {
        if cx.terminal.is_interactive() { Self::Ask } else { Self::None }
    }

    /// Adds the source of verdicts to the options of a run.
    pub(crate) fn apply(&self, options: RunOptions, cx: &Context, screen: &Screen) -> Result<RunOptions, CommandError> {
        Ok(match self {
            Self::None => options,
            Self::All => options.approvals(|request: ApprovalRequest, _: Cx| async move { request.approve() }),
            Self::Ask if !cx.terminal.is_interactive() => {
                let fault = Fault::new("nobody can be asked: standard input or standard error is no terminal");
                return Err(fault.advice("use `--approve all`, `--approve none` or a file of verdicts").into());
            }
            Self::Ask => options.approvals(ApprovalPrompt::new(screen.clone(), cx.interrupt.clone())),
            Self::File(path) => {
                let _ = path;
                return Err(Fault::new("not implemented").into());
            }
        })
    }
}
