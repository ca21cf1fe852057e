//! Decoding and checking the arguments of a call, before its handler runs.

use haft_core::{FailureKind, ToolCall, ToolFailure, ToolResult};
use haft_schema::{DecodeOptions, Issues};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cx::Cx;
use crate::handler::{Prepared, invalid_input};
use crate::tool::arguments::Arguments;
use crate::tool::{Execution, Tool};

/// The message to the model about a call that requires approval where no approver is configured.
pub(crate) const NO_APPROVAL: &str = "this call requires approval and no approver is configured";

/// The error of a tool that should run here and has no handler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` has no handler")]
#[non_exhaustive]
pub struct MissingHandler {
    /// The name of the tool.
    pub tool: String,
}

impl Tool {
    /// Checks the arguments of a call of this tool and decodes them as a `P`, with the [canonical
    /// spelling](Tool::canonical_argument) of what they name. This works on every kind of tool: a loop reads signals and
    /// interactions with it.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_core::ToolCall;
    ///
    /// let wait = Tool::signal("wait").params::<u32>().define()?;
    /// let minutes: u32 = wait.decode_args(&ToolCall::new("c1", "wait", "5"))?;
    /// assert_eq!(minutes, 5);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_args<P: DeserializeOwned>(&self, call: &ToolCall) -> Result<P, ToolFailure> {
        self.check_name(call)?;
        let decoded = self.decode_canonical(&call.arguments, &DecodeOptions::default());
        decoded.map_err(|issues| explained(invalid_input(issues), call))
    }

    /// Decodes arguments with the canonical spelling of what they name.
    pub(crate) fn decode_canonical<P: DeserializeOwned>(
        &self,
        arguments: &str,
        options: &DecodeOptions,
    ) -> Result<P, Issues> {
        let canonical = self.canonical_arguments(arguments, options)?;
        let arguments = canonical.as_ref().map_or(arguments, |canonical| canonical.text.as_str());
        self.parameters().decode::<P>(arguments, options).map(|decoded| decoded.value)
    }

    /// Reads arguments into a tree with the canonical spelling of what they name.
    pub(crate) fn canonical_tree(&self, arguments: &str, options: &DecodeOptions) -> Result<Value, Issues> {
        let canonical = self.canonical_arguments(arguments, options)?;
        let arguments = canonical.as_ref().map_or(arguments, |canonical| canonical.text.as_str());
        Arguments::tree(self, arguments, options)
    }

    /// Checks the arguments of a call of this tool and returns them as a tree that represents them exactly. An integer
    /// beyond 64 bits, which a tree would round, is rejected; [`decode_args`](Tool::decode_args) decodes it into an
    /// integer of 128 bits.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_core::ToolCall;
    ///
    /// let mint = Tool::signal("mint").params::<u128>().define()?;
    /// let call = |amount: &str| ToolCall::new("c1", "mint", amount);
    /// assert_eq!(mint.argument_tree(&call("5"))?, 5);
    /// assert!(mint.argument_tree(&call("18446744073709551617")).is_err());
    /// assert_eq!(mint.decode_args::<u128>(&call("18446744073709551617"))?, (1 << 64) + 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn argument_tree(&self, call: &ToolCall) -> Result<Value, ToolFailure> {
        self.check_name(call)?;
        let tree = self.canonical_tree(&call.arguments, &DecodeOptions::default());
        tree.map_err(|issues| explained(invalid_input(issues), call))
    }

    /// Decodes and checks the arguments of a call of this tool. Nothing of the handler has run when this returns.
    pub(crate) fn prepare_found(&self, call: &ToolCall, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
        self.prepare_text(call, cx).map_err(|failure| match &call.argument_issue {
            Some(_) => Box::new(explained(*failure, call)),
            None => failure,
        })
    }

    fn prepare_text(&self, call: &ToolCall, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
        let handler = match self.handler() {
            Some(handler) if !call.provider_executed => handler,
            _ => return Err(self.not_run_here(call, &cx)),
        };
        if cx.is_cancelled() {
            return Err(Box::new(ToolFailure::new(FailureKind::Cancelled, "").not_started()));
        }
        if self.layers().is_empty() {
            return handler.prepare(self, &call.arguments, cx);
        }
        let read = handler.defer(self, &call.arguments, &cx)?;
        Ok(self.layers().prepare(self, &call.arguments, cx, read))
    }

    /// Returns the failure of a call that no handler runs. A call that surfaces must have valid arguments.
    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "the failure stays in its box up to the executor")]
    fn not_run_here(&self, call: &ToolCall, cx: &Cx) -> Box<ToolFailure> {
        let read = match self.execution(call) {
            Execution::Surfaced => {
                Arguments::read(self, &call.arguments, cx.decode_options()).map(drop).map_err(invalid_input)
            }
            Execution::Handler | Execution::Provider => Ok(()),
        };
        Box::new(read.err().unwrap_or_else(|| ToolResult::non_local_tool(call).into_failure()))
    }

    fn check_name(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        if call.name == self.name() {
            return Ok(());
        }
        Err(ToolResult::unknown_tool_among(call, [self.name()]).into_failure())
    }
}

/// Replaces issues about a shape that the model was not asked for by the reason why its arguments could not be converted
/// to that shape.
#[cold]
pub(crate) fn explained(failure: ToolFailure, call: &ToolCall) -> ToolFailure {
    match &call.argument_issue {
        Some(issue) if failure.kind == FailureKind::InputValidationError => invalid_input((**issue).clone().into()),
        _ => failure,
    }
}
