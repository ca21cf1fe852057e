//! Decides about calls that require approval: a person at the terminal, everybody, nobody, or a verdict file.

pub(crate) mod prompt;
pub(crate) mod verdict_file;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use haft::approval::{ApprovalAnswer, ApprovalRequest, Approve};
use haft::run::RunOptions;
use haft::tool::{BoxError, Cx};

use self::prompt::{ApprovalPrompt, remembering};
use self::verdict_file::{Others, VerdictFile};
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
    /// A file's verdicts, by call id.
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
    /// Returns the default mode: it asks a person where there is one.
    pub(crate) fn default_for(cx: &Context) -> Self {
        if cx.terminal.is_interactive() { Self::Ask } else { Self::None }
    }

    /// Adds the source of verdicts to a run's options.
    pub(crate) async fn apply(
        &self,
        options: RunOptions,
        cx: &Context,
        screen: &Screen,
    ) -> Result<RunOptions, CommandError> {
        Ok(self.approver(Others::Denied, cx, screen).await?.attach(options))
    }

    /// Reads a file of verdicts for calls that are suspended without one.
    pub(crate) async fn read_file(path: &Path, cx: &Context) -> Result<VerdictFile, CommandError> {
        VerdictFile::read(path, Others::Suspended, cx).await.map_err(|error| not_a_mode(error, path))
    }

    /// Creates the approver. `others` are the calls that it has no verdict for.
    pub(crate) async fn approver(
        &self,
        others: Others,
        cx: &Context,
        screen: &Screen,
    ) -> Result<Approver, CommandError> {
        Ok(match self {
            Self::None => Approver::Nobody(others),
            Self::All => Approver::Everybody,
            Self::Ask if !cx.terminal.is_interactive() => {
                let fault = Fault::new("nobody can be asked: standard input or standard error is no terminal");
                return Err(fault.advice("use `--approve all`, `--approve none` or a file of verdicts").into());
            }
            Self::Ask => Approver::Person(ApprovalPrompt::new(screen.clone(), cx.interrupt.clone())),
            Self::File(path) => {
                let read = VerdictFile::read(path, others, cx).await;
                Approver::File(read.map_err(|error| not_a_mode(error, path))?)
            }
        })
    }
}

/// Adds what else `--approve` takes, for a misspelled mode.
fn not_a_mode(mut error: CommandError, path: &Path) -> CommandError {
    if let CommandError::Invalid(fault) = &mut error
        && !path.exists()
    {
        fault.advice.push("`--approve` takes `ask`, `all`, `none`, or a file of verdicts".to_owned());
    }
    error
}

/// The reason of a question that is declined.
const NOT_ASKED: &str =
    "questions of tools are not asked here; run the command with `--suspend`, and answer them later";

/// A ready source of verdicts.
#[derive(Clone, Debug)]
pub(crate) enum Approver {
    Person(ApprovalPrompt),
    Everybody,
    Nobody(Others),
    File(VerdictFile),
}

/// A file's verdicts for calls that had not begun, and another approver for the others. It never answers a request anew
/// that waited in a suspended run: verdicts for those are bound to what they were given for.
struct FileFirst {
    file: VerdictFile,
    otherwise: Approver,
}

impl Approver {
    /// Adds the approver to a run's options.
    pub(crate) fn attach(self, options: RunOptions) -> RunOptions {
        match self {
            // Without an approver the calls are denied without a request.
            Self::Nobody(Others::Denied) => options,
            approver => approver.remember(options).approvals(approver),
        }
    }

    /// Adds a file's verdicts to a run's options, and the approver for the other calls.
    pub(crate) fn attach_after(self, file: VerdictFile, options: RunOptions) -> RunOptions {
        self.remember(options).approvals(FileFirst { file, otherwise: self })
    }

    /// If a person approves all calls to a tool, that holds for later ones too.
    fn remember(&self, options: RunOptions) -> RunOptions {
        match self {
            Self::Person(_) => remembering(options),
            Self::Everybody | Self::Nobody(_) | Self::File(_) => options,
        }
    }
}

impl Approve for FileFirst {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        if self.file.decides(&request.call_id) {
            return self.file.approve(request, cx).await;
        }
        self.otherwise.approve(request, cx).await
    }
}

impl Approve for Approver {
    async fn approve(&self, request: ApprovalRequest, cx: Cx) -> Result<ApprovalAnswer, BoxError> {
        match self {
            // Nobody may approve what they are not shown.
            Self::Person(_) | Self::Everybody if request.question.is_some() => Ok(request.deny(NOT_ASKED).into()),
            Self::Person(prompt) => prompt.approve(request, cx).await,
            Self::Everybody => Ok(request.approve().into()),
            Self::Nobody(Others::Denied) => Ok(request.deny("nobody approves calls here").into()),
            Self::Nobody(Others::Suspended) => Ok(ApprovalAnswer::Later),
            Self::File(file) => file.approve(request, cx).await,
        }
    }
}
