//! One call of one tool, from its text to its result.
//!
//! Look at the name, read and check the arguments, ask whether approval is needed, run, encode: in this order, so that
//! nothing runs that was not checked. There is one result for every call that returns. Panics and time are not handled
//! here: whoever runs many calls isolates them from each other.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::{Arguments, Decisive};
use crate::call::ToolCall;
use crate::cx::Cx;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::handler::{Prepared, broken, invalid_input, with_tool};
use crate::result::{Outcome, ToolResult};
use crate::schema::DecodeOptions;
use crate::service::MissingService;
use crate::tool::{ApprovalCx, ApprovalNeed, Execution, Tool};

/// What the model is told about a call that needs approval where nobody can give it.
pub(crate) const NO_APPROVAL: &str = "this call needs approval and none is configured";

/// A tool that should be run here and has no handler.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool `{tool}` has no handler")]
#[non_exhaustive]
pub struct MissingHandler {
    /// The tool.
    pub tool: String,
}

/// A tool whose services are not all there.
#[derive(Debug, thiserror::Error)]
#[error("the tool `{tool}` lacks services: {}", .missing.iter().map(|m| m.service).collect::<Vec<_>>().join(", "))]
struct MissingServices {
    tool: String,
    missing: Vec<MissingService>,
}

impl Tool {
    /// The arguments of a call of this tool, checked and read as a `P`. Works on every kind of tool: this is how a loop
    /// reads signals and interactions.
    ///
    /// ```
    /// use haft_core::{Tool, ToolCall};
    ///
    /// let wait = Tool::signal("wait").params::<u32>().define()?;
    /// let minutes: u32 = wait.decode_args(&ToolCall::new("c1", "wait", "5"))?;
    /// assert_eq!(minutes, 5);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_args<P: DeserializeOwned>(&self, call: &ToolCall) -> Result<P, ToolFailure> {
        self.check_name(call)?;
        let decoded = self.parameters().decode::<P>(&call.arguments, &DecodeOptions::default());
        decoded.map(|decoded| decoded.value).map_err(invalid_input)
    }

    /// The arguments of a call of this tool, checked, as a tree that holds them exactly. An integer beyond 64 bits, which a
    /// tree would round, is rejected; [`decode_args`](Tool::decode_args) reads it into an integer of 128 bits.
    ///
    /// ```
    /// use haft_core::{Tool, ToolCall};
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
        Arguments::tree(self, &call.arguments, &DecodeOptions::default()).map_err(invalid_input)
    }

    /// Runs one call of this tool and gives its one result.
    ///
    /// This is one call as it is. A call that needs approval is denied, as there is nobody here to ask: who asks by
    /// other means runs a copy with another [policy](Tool::set_needs_approval). The tool's
    /// [limits](crate::ExecutionLimits) and the context's deadline are not enforced, and a panic of the handler goes
    /// through to the caller.
    ///
    /// ```
    /// use haft_core::{Cx, Tool, ToolCall};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), haft_core::DefinitionError> {
    /// let double = Tool::new("double").run(|n: i64, _cx| async move { n * 2 })?;
    /// let call = ToolCall::new("c1", "double", "21");
    /// let result = double.run_call(&call, &Cx::for_call(&call)).await;
    /// assert_eq!(result.value().unwrap().as_str(), "42");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run_call(&self, call: &ToolCall, cx: &Cx) -> ToolResult {
        let prepared = match self.prepare(call, cx.clone()) {
            Ok(prepared) => prepared,
            Err(failure) => return ToolResult::new(call, Outcome::Failed(failure)),
        };
        let (running, meta) = prepared.map_or((None, None), |Prepared { running, meta }| (Some(running), meta));
        let repairs = meta.map(|meta| meta.repairs).unwrap_or_default();
        if !self.approval().is_never()
            && let Err(failure) = self.gate(call, cx).await
        {
            return ToolResult::from_failure(call, failure).repairs(repairs);
        }
        let mut result = match running {
            Some(running) => ToolResult::new(call, with_tool(running, self.clone()).await),
            None => ToolResult::non_local_tool(call),
        };
        result.repairs = repairs;
        result
    }

    /// Reads and checks the arguments. Nothing has run when this returns; a call that surfaces has nothing to run.
    fn prepare(&self, call: &ToolCall, cx: Cx) -> Result<Option<Prepared>, Box<ToolFailure>> {
        self.check_name(call)?;
        if self.requires_handler() && !self.has_handler() {
            return Err(Box::new(broken(MissingHandler { tool: self.name().to_owned() })));
        }
        if self.execution(call) == Execution::Surfaced {
            Arguments::read(self, &call.arguments, cx.decode_options()).map_err(invalid_input)?;
            return Ok(None);
        }
        let missing = cx.services().missing(self.dependencies());
        if !missing.is_empty() {
            return Err(Box::new(broken(MissingServices { tool: self.name().to_owned(), missing })));
        }
        self.prepare_found(call, cx.bound_to(self)).map(Some)
    }

    /// The same for a call of this very tool, which lacks nothing and is bound to its context.
    pub(crate) fn prepare_found(&self, call: &ToolCall, cx: Cx) -> Result<Prepared, Box<ToolFailure>> {
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

    /// Returns the failure of a call that no handler runs. One that surfaces must have valid arguments.
    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "the failure is handed on in its box")]
    fn not_run_here(&self, call: &ToolCall, cx: &Cx) -> Box<ToolFailure> {
        let read = match self.execution(call) {
            Execution::Surfaced => {
                Arguments::read(self, &call.arguments, cx.decode_options()).map(drop).map_err(invalid_input)
            }
            Execution::Handler | Execution::Provider => Ok(()),
        };
        Box::new(read.err().unwrap_or_else(|| ToolResult::non_local_tool(call).into_failure()))
    }

    /// Whether the call may run without being approved.
    async fn gate(&self, call: &ToolCall, cx: &Cx) -> Result<(), ToolFailure> {
        let need = self.approval_need(call, cx).await?;
        let denied = || ToolFailure::new(FailureKind::Denied, NO_APPROVAL).not_started();
        match need {
            ApprovalNeed::NotNeeded => Ok(()),
            ApprovalNeed::Needed => Err(denied()),
            ApprovalNeed::Undecided(error) => Err(denied().cause(error)),
        }
    }

    /// Whether the call needs approval. Its arguments are parsed a second time only when a policy wants to see them.
    async fn approval_need(&self, call: &ToolCall, cx: &Cx) -> Result<ApprovalNeed, ToolFailure> {
        let policy = self.approval();
        if policy.is_always() {
            return Ok(ApprovalNeed::Needed);
        }
        let (text, options) = (&call.arguments, cx.decode_options());
        let arguments = Arguments::read(self, text, options).map_err(invalid_input)?;
        let deciding = policy.decide(&Decisive::of(&arguments, self, text, options), ApprovalCx::of(call, Some(cx)));
        Ok(deciding.await)
    }

    fn check_name(&self, call: &ToolCall) -> Result<(), ToolFailure> {
        if call.name == self.name() {
            return Ok(());
        }
        Err(ToolResult::unknown_tool_among(call, [self.name()]).into_failure())
    }
}
