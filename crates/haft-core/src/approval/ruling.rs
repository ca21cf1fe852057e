//! The effect of a decision, once everything it brings along was checked.
//!
//! An edit brings arguments and an answer brings a result. Both are checked exactly as the model's arguments and the tool's
//! result are, and before the verdict counts: a verdict with invalid content is rejected with its issues, and the
//! question stays open. A [`Ruling`] exists only for a decision that passed, so whoever acts on one needs no arm for a
//! content that does not fit.

use super::gate::digest_of;
use super::verdict::VerdictFault;
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::executor::{decoded, drop_isolated, isolated};
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::issue::{Issue, Issues};
use crate::item::{ApprovalDecision, ApprovalRequest};
use crate::json_text::JsonText;
use crate::schema::DecodeOptions;
use crate::tool::Tool;

/// A decision that can be acted on.
#[derive(Debug)]
pub(crate) enum Ruling {
    /// The call runs as it is.
    Approved,
    /// The call does not run.
    Denied,
    /// The call runs with other arguments, which the tool accepts.
    Edited {
        /// The arguments, as text.
        arguments: String,
        /// The digest that binds an approval to them.
        digest: String,
    },
    /// The call does not run: this is its result, which the tool's schema accepts.
    Answered(JsonText),
}

impl Ruling {
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
                let digest = check_arguments(tool, decode, request, arguments.as_str()).map_err(invalid)?;
                Ok(Self::Edited { arguments: arguments.as_str().to_owned(), digest })
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

/// Reads the arguments as a call would, for those who decide and into the handler's own type, and returns their digest. Nothing runs.
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
        // It is not the arguments that keep the call from running, and the call will tell.
        Ok(Err(_)) => {}
        Err(panicked) => return Err(panicked.into()),
    }
    Ok(digest_of(tool, &read, arguments))
}

fn invalid(failure: ToolFailure) -> VerdictFault {
    let issues = if failure.issues.is_empty() { unchecked() } else { failure.issues };
    VerdictFault::Invalid { issues }
}

/// The check itself failed, which is no reason to let anything pass.
fn unchecked() -> Issues {
    Issue::new("", "validator", "the value could not be checked").into()
}
