//! The effect of a decision whose content was checked.
//!
//! An edit contains arguments and an answer contains a result. Both are checked exactly like the arguments of the model
//! and the result of the tool, before the verdict is accepted: a verdict with invalid content is rejected with its
//! issues, and the approval request stays pending. A [`Ruling`] exists only for a decision that passed, so code that
//! acts on one never handles invalid content.

use haft_core::{ApprovalDecision, ApprovalRequest, FailureKind, ToolCall, ToolFailure};
use haft_schema::isolation::{drop_isolated, isolated};
use haft_schema::{DecodeOptions, Issue, Issues, JsonText};

use super::gate::digest_of;
use super::question::check_reply;
use super::verdict::VerdictFault;
use crate::cx::Cx;
use crate::executor::decoded;
use crate::handler::invalid_input;
use crate::tool::Tool;

/// A decision that can be acted on.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// The call runs unchanged.
    Approved,
    /// The call does not run.
    Denied,
    /// The call runs with other arguments, which passed the checks of the tool.
    Edited {
        /// The arguments in canonical form, as text.
        arguments: String,
        /// The digest that binds the approval to these arguments.
        digest: String,
    },
    /// The call does not run and has this result, which passed the tool's schema.
    Answered(JsonText),
}

impl Ruling {
    /// Checks a decision on a request: on a question, whether it answers that.
    pub(crate) fn check(
        tool: &Tool,
        decode: &DecodeOptions,
        request: &ApprovalRequest,
        decision: &ApprovalDecision,
    ) -> Result<(), VerdictFault> {
        match request.question.as_deref() {
            Some(question) => check_reply(question, decision),
            None => Self::of(tool, decode, request, decision).map(drop),
        }
    }

    /// Checks the content of a decision about a call of `tool`.
    pub(crate) fn of(
        tool: &Tool,
        decode: &DecodeOptions,
        request: &ApprovalRequest,
        decision: &ApprovalDecision,
    ) -> Result<Self, VerdictFault> {
        match decision {
            ApprovalDecision::Approved => Ok(Self::Approved),
            ApprovalDecision::Denied => Ok(Self::Denied),
            ApprovalDecision::Edited(arguments) => {
                let arguments = arguments.as_str();
                let canonical = isolated(|| tool.canonical_arguments(arguments, decode));
                let canonical = canonical.unwrap_or_else(|_| Err(unchecked()));
                let canonical = canonical.map_err(|issues| invalid(invalid_input(issues)))?.map(|found| found.text);
                let arguments = canonical.as_ref().map_or(arguments, JsonText::as_str);
                let digest = check_arguments(tool, decode, request, arguments).map_err(invalid)?;
                Ok(Self::Edited { arguments: arguments.to_owned(), digest })
            }
            ApprovalDecision::Answered(value) => {
                let checked = isolated(|| tool.check_answer(value));
                let checked = checked.unwrap_or_else(|_| Err(unchecked()));
                checked.map_err(|issues| VerdictFault::Invalid { issues })?;
                Ok(Self::Answered(value.clone()))
            }
            ApprovalDecision::Other(word) => Err(VerdictFault::UnusableDecision { word: word.clone() }),
        }
    }
}

/// Decodes the arguments as a call would, both as a tree and into the type of the handler, and returns their digest.
/// The handler does not run.
fn check_arguments(
    tool: &Tool,
    decode: &DecodeOptions,
    request: &ApprovalRequest,
    arguments: &str,
) -> Result<String, ToolFailure> {
    let read = decoded(tool, arguments, decode)?;
    let call = ToolCall::new(&request.call_id, request.tool.as_str(), arguments);
    let cx = Cx::for_tool(tool, &call).with_decode_options(*decode);
    match isolated(|| tool.prepare_found(&call, cx)) {
        Ok(Ok(prepared)) => drop_isolated(Some(prepared)),
        Ok(Err(failure)) if failure.kind == FailureKind::InputValidationError => return Err(*failure),
        // The arguments are valid. Whatever else prevents the call is reported by the call itself.
        Ok(Err(_)) => {}
        Err(panicked) => return Err(panicked.into()),
    }
    Ok(digest_of(tool, &read, arguments))
}

fn invalid(failure: ToolFailure) -> VerdictFault {
    let issues = if failure.issues.is_empty() { unchecked() } else { failure.issues };
    VerdictFault::Invalid { issues }
}

/// Returns the issue for a check that failed to run. The content is rejected.
fn unchecked() -> Issues {
    Issue::new("", "validator", "the value could not be checked").into()
}
