//! A call's result.
//!
//! Results are structured: they can be inspected, redacted and stored before they become what the model reads. Only
//! [`ToolResult::to_call_output`] takes that step. Results for calls that can't be run are created here too, so that
//! every call has a result and no failure is without a message.

mod parts;

use haft_schema::internal::CharBoundary;
use haft_schema::{Issues, JsonText, Repair};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::call::{CallId, ToolCall};
use crate::content::ContentPart;
use crate::failure::ToolFailure;
use crate::failure_kind::FailureKind;
use crate::item::{CallOutputBody, ToolCallOutput};
use crate::nearest_tool::nearest_tools;
use crate::output::{Shown, ToolOutput};
use crate::tagged::{self, ReadVariant, TaggedEnum};
use crate::tool_name::ToolName;
use crate::version::FormatVersion;

pub use self::parts::ResultParts;

/// The longest tool name or call id that a message repeats, in bytes: both come from the model.
const QUOTE_CAP: usize = 80;

/// The largest tool count in a message.
const LISTED: usize = 12;

/// A call's result.
///
/// ```
/// use haft_core::{ToolCall, ToolResult};
/// use serde_json::json;
///
/// let call = ToolCall::new("c1", "greet", r#"{"name":"Ada"}"#);
/// let result = ToolResult::ok(&call, json!("hello Ada"));
/// assert_eq!(result.to_call_output().output.to_string(), "hello Ada");
///
/// let denied = ToolResult::denied(&call, "not today");
/// assert_eq!(denied.to_call_output().output.to_string(), r#"{"error":{"kind":"denied","message":"not today"}}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The call's id.
    pub call_id: CallId,
    /// The tool's name, as the call spelled it.
    pub tool: ToolName,
    /// The outcome.
    pub outcome: Outcome,
    /// The repairs to the arguments, made before the handler ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

/// A call's outcome, tagged by `status`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// The call returned a value.
    Ok(ToolOutput),
    /// The call failed. On the heap, so that successful results stay small.
    Failed(Box<ToolFailure>),
}

impl ToolResult {
    /// Creates a call's result from its outcome.
    #[must_use]
    pub fn new(call: &ToolCall, outcome: Outcome) -> Self {
        Self::named(call.name.as_str().into(), call, outcome)
    }

    /// Creates a call's result where the tool exists, so that its name is shared.
    #[must_use]
    pub fn named(tool: ToolName, call: &ToolCall, outcome: Outcome) -> Self {
        Self { v: FormatVersion::default(), call_id: call.call_id.clone(), tool, outcome, repairs: Vec::new() }
    }

    /// Creates the result for a call that returned a value.
    #[must_use]
    pub fn ok(call: &ToolCall, output: impl Into<ToolOutput>) -> Self {
        Self::new(call, Outcome::Ok(output.into()))
    }

    /// Creates the result for a call that was answered without running it: its failure is not
    /// [`started`](ToolFailure::started). Only [`TimedOut`](FailureKind::TimedOut) and
    /// [`OutcomeUnknown`](FailureKind::OutcomeUnknown) stay started, because nobody knows that such a call did nothing.
    /// Use [`from_failure`](Self::from_failure) for a call whose handler had started. A blank reason is replaced by the kind's default message, here and in the constructors
    /// below.
    ///
    /// ```
    /// use haft_core::{FailureKind, ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("c1", "deploy", "{}");
    /// let kept = ToolResult::failed(&call, "quarantined", "kept back by a rule");
    /// assert!(!kept.failure().unwrap().started);
    /// let lost = ToolResult::failed(&call, FailureKind::OutcomeUnknown, "no reply");
    /// assert!(lost.failure().unwrap().started);
    /// ```
    #[must_use]
    pub fn failed(call: &ToolCall, kind: impl Into<FailureKind>, reason: impl Into<String>) -> Self {
        let failure = ToolFailure::new(kind, reason);
        let may_have_run = matches!(failure.kind, FailureKind::TimedOut | FailureKind::OutcomeUnknown);
        Self::from_failure(call, if may_have_run { failure } else { failure.not_started() })
    }

    /// Creates the result for a call that failed with this failure.
    #[must_use]
    pub fn from_failure(call: &ToolCall, failure: ToolFailure) -> Self {
        Self::new(call, Outcome::Failed(Box::new(failure)))
    }

    /// Creates the result for a call that an approver or a policy denied.
    #[must_use]
    pub fn denied(call: &ToolCall, reason: impl Into<String>) -> Self {
        Self::failed(call, FailureKind::Denied, reason)
    }

    /// Creates the result for a call that was cancelled before its handler began. Add [`ToolFailure::started`] if it
    /// had.
    #[must_use]
    pub fn cancelled(call: &ToolCall, reason: impl Into<String>) -> Self {
        Self::failed(call, FailureKind::Cancelled, reason)
    }

    /// Creates the result for a call whose handler failed.
    #[must_use]
    pub fn execution_error(call: &ToolCall, reason: impl Into<String>) -> Self {
        Self::from_failure(call, ToolFailure::new(FailureKind::ExecutionError, reason))
    }

    /// Creates the result for a call that was not run because its response was cut off.
    #[must_use]
    pub fn interrupted(call: &ToolCall, reason: impl Into<String>) -> Self {
        Self::failed(call, FailureKind::Interrupted, reason)
    }

    /// Creates the result for a call to a tool that the model is offered but that does not run here.
    #[must_use]
    pub fn non_local_tool(call: &ToolCall) -> Self {
        let name = quoted(&call.name);
        Self::failed(
            call,
            FailureKind::NonLocalTool,
            format!("the tool {name} is not run here: its provider or the application handles it"),
        )
    }

    /// Creates the result for a call to a tool that does not exist. `nearest` are names that the caller may see, best
    /// first. If none is near, use [`unknown_tool_among`](Self::unknown_tool_among), which lists the tools.
    ///
    /// ```
    /// use haft_core::{ToolCall, ToolResult};
    ///
    /// let result = ToolResult::unknown_tool(&ToolCall::new("c1", "serch", "{}"), &["search", "fetch"]);
    /// let failure = result.failure().unwrap();
    /// assert_eq!(failure.message, "there is no tool called 'serch'; the nearest are 'search', 'fetch'");
    /// ```
    #[must_use]
    pub fn unknown_tool(call: &ToolCall, nearest: &[&str]) -> Self {
        let mut message = format!("there is no tool called {}", quoted(&call.name));
        for (index, name) in nearest.iter().enumerate() {
            message.push_str(match (index, nearest.len()) {
                (0, 1) => "; the nearest is ",
                (0, _) => "; the nearest are ",
                _ => ", ",
            });
            message.push_str(&quoted(name));
        }
        Self::failed(call, FailureKind::UnknownTool, message)
    }

    /// Creates the result for a call to a tool that does not exist. `tools` are those that the caller may see, in
    /// order: the message lists the names that are near or, if none is, the first twelve, and counts the rest if the
    /// iterator can.
    ///
    /// ```
    /// use haft_core::{ToolCall, ToolResult};
    ///
    /// let message = |name: &str, tools: &[&'static str]| {
    ///     let result = ToolResult::unknown_tool_among(&ToolCall::new("c1", name, "{}"), tools.iter().copied());
    ///     result.failure().unwrap().message.clone()
    /// };
    /// let tools = ["search", "fetch"];
    /// assert_eq!(message("serch", &tools), "there is no tool called 'serch'; the nearest is 'search'");
    /// assert_eq!(message("weather", &tools), "there is no tool called 'weather'; the tools are 'search', 'fetch'");
    /// assert_eq!(message("weather", &[]), "there is no tool called 'weather'; there are no tools");
    /// ```
    #[must_use]
    pub fn unknown_tool_among<'a, I>(call: &ToolCall, tools: I) -> Self
    where
        I: IntoIterator<Item = &'a str, IntoIter: Clone>,
    {
        let tools = tools.into_iter();
        match nearest_tools(&call.name, tools.clone()) {
            none if none.is_empty() => Self::unknown_tool_beside(call, tools),
            near => Self::unknown_tool(call, &near),
        }
    }

    /// Creates the result for a call to a tool that does not exist and whose name is near none. No more names are taken
    /// from the iterator than the message needs.
    #[doc(hidden)]
    #[must_use]
    pub fn unknown_tool_beside<'a>(call: &ToolCall, mut tools: impl Iterator<Item = &'a str>) -> Self {
        let listed: Vec<String> = tools.by_ref().take(LISTED).map(quoted).collect();
        let there_are = match &*listed {
            [] => "there are no tools".to_owned(),
            [one] => format!("the only tool is {one}"),
            several => format!("the tools are {}", several.join(", ")),
        };
        let more = match tools.size_hint() {
            (0, Some(0)) => String::new(),
            (least, Some(most)) if least == most => format!(" and {most} more"),
            _ => tools.next().map_or_else(String::new, |_| " and more".to_owned()),
        };
        let message = format!("there is no tool called {}; {there_are}{more}", quoted(&call.name));
        Self::failed(call, FailureKind::UnknownTool, message)
    }

    /// Creates the result for a call whose id an earlier call in the batch has.
    #[must_use]
    pub fn duplicate_call_id(call: &ToolCall) -> Self {
        let id = quoted(call.call_id.as_str());
        Self::failed(
            call,
            FailureKind::DuplicateCallId,
            format!("an earlier call has the id {id}; this one was not run"),
        )
    }

    /// Creates the result for a call with invalid arguments.
    #[must_use]
    pub fn invalid_input(call: &ToolCall, issues: Issues) -> Self {
        Self::from_failure(call, ToolFailure::with_issues(FailureKind::InputValidationError, issues))
    }

    /// Creates the result for a call whose handler returned an invalid value.
    #[must_use]
    pub fn invalid_output(call: &ToolCall, issues: Issues) -> Self {
        Self::from_failure(call, ToolFailure::with_issues(FailureKind::OutputValidationError, issues))
    }

    /// Sets the repairs to the arguments.
    #[must_use]
    pub fn repairs(mut self, repairs: Vec<Repair>) -> Self {
        self.repairs = repairs;
        self
    }

    /// Returns the failure, of a result that is known to be one.
    #[doc(hidden)]
    #[must_use]
    pub fn into_failure(self) -> ToolFailure {
        match self.outcome {
            Outcome::Failed(failure) => *failure,
            Outcome::Ok(_) => ToolFailure::new(FailureKind::ExecutionError, ""),
        }
    }

    /// Reports whether the call returned a value.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.outcome.is_ok()
    }

    /// Returns the value, if there is one. A failed call has none, and neither has an output with content alone.
    #[must_use]
    pub fn value(&self) -> Option<&JsonText> {
        self.outcome.output().and_then(ToolOutput::value)
    }

    /// Returns the output's or the failure's metadata, if there is any. It is for the application and never sent to
    /// the model.
    ///
    /// ```
    /// use haft_core::{ToolCall, ToolResult};
    /// use serde_json::json;
    ///
    /// let result = ToolResult::ok(&ToolCall::new("c1", "add", "[1,2]"), json!(3)).with_metadata("node", "eu-1");
    /// assert_eq!(result.metadata().unwrap()["node"], "eu-1");
    /// assert_eq!(result.to_model_text(), "3");
    /// ```
    #[must_use]
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        match &self.outcome {
            Outcome::Ok(output) => output.metadata(),
            Outcome::Failed(failure) => failure.metadata(),
        }
    }

    /// Adds metadata to the output or the failure.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.outcome = match self.outcome {
            Outcome::Ok(output) => output.with_metadata(key, value).into(),
            Outcome::Failed(failure) => failure.with_metadata(key, value).into(),
        };
        self
    }

    /// Returns the failure, if there is no value.
    #[must_use]
    pub fn failure(&self) -> Option<&ToolFailure> {
        self.outcome.failure()
    }

    /// Decodes the value. A failed call has none, and its failure is the error; an output with content alone is an
    /// `output_validation_error`.
    ///
    /// ```
    /// use haft_core::{ToolCall, ToolResult};
    /// use serde_json::json;
    ///
    /// let result = ToolResult::ok(&ToolCall::new("c1", "add", "[1,2]"), json!(3));
    /// assert_eq!(result.decode::<u8>()?, 3);
    /// # Ok::<_, haft_core::ToolFailure>(())
    /// ```
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ToolFailure> {
        match &self.outcome {
            Outcome::Ok(output) => decode_output(output),
            Outcome::Failed(failure) => Err(ToolFailure::clone(failure)),
        }
    }

    /// Returns what the model reads, as one text. Parts other than text are left out; [`to_call_output`] has them all.
    ///
    /// [`to_call_output`]: ToolResult::to_call_output
    #[must_use]
    pub fn to_model_text(&self) -> String {
        // The others are not for the model.
        let ResultParts { call_id: _, tool: _, outcome, repairs: _ } = self.parts();
        match outcome {
            Outcome::Ok(output) => model_text(output),
            Outcome::Failed(failure) if failure.content().is_empty() => failure.to_model_text(),
            Outcome::Failed(failure) => CallOutputBody::Parts(failure_parts(failure)).to_string(),
        }
    }

    /// Creates the output that the model reads.
    ///
    /// A string is written raw, without quotes and escapes; the unit value is `null`; every other value is its JSON
    /// text. If the output has content parts for the model, those are used instead. A failure is
    /// [`ToolFailure::to_model_text`] with `is_error` set; if it has content, that text is the first part and the
    /// content follows it, so the model always reads the kind and the message. A failure's cause never appears.
    /// Metadata is kept for the application.
    #[must_use]
    pub fn to_call_output(&self) -> ToolCallOutput {
        // The model does not learn how its arguments were repaired.
        let ResultParts { call_id, tool, outcome, repairs: _ } = self.parts();
        let output = match outcome {
            Outcome::Ok(output) => match output.shown() {
                Shown::Value(value) => CallOutputBody::Text(raw_text(value)),
                Shown::Content(parts) => CallOutputBody::Parts(parts.to_vec()),
            },
            Outcome::Failed(failure) if failure.content().is_empty() => CallOutputBody::Text(failure.to_model_text()),
            Outcome::Failed(failure) => CallOutputBody::Parts(failure_parts(failure)),
        };
        let mut answer = ToolCallOutput::new(call_id.clone(), output).tool(tool.as_str());
        answer.metadata = self.metadata().cloned().map(Box::new);
        if self.is_ok() { answer } else { answer.error() }
    }
}

impl Outcome {
    /// Reports whether there is a value.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        matches!(self, Self::Ok(_))
    }

    /// Returns the output, or the failure as an error: the form that a forwarding handler
    /// returns.
    pub fn into_result(self) -> Result<ToolOutput, ToolFailure> {
        match self {
            Self::Ok(output) => Ok(output),
            Self::Failed(failure) => Err(*failure),
        }
    }

    /// Returns the output, if there is one.
    #[must_use]
    pub fn output(&self) -> Option<&ToolOutput> {
        match self {
            Self::Ok(output) => Some(output),
            Self::Failed(_) => None,
        }
    }

    /// Returns the failure, if there is no output.
    #[must_use]
    pub fn failure(&self) -> Option<&ToolFailure> {
        match self {
            Self::Ok(_) => None,
            Self::Failed(failure) => Some(failure),
        }
    }
}

/// Decodes an output's value.
pub fn decode_output<T: DeserializeOwned>(output: &ToolOutput) -> Result<T, ToolFailure> {
    output.value().ok_or_else(no_value)?.decode().map_err(unreadable)
}

/// Creates the failure for an output that has no value to decode.
#[cold]
fn no_value() -> ToolFailure {
    ToolFailure::new(
        FailureKind::OutputValidationError,
        "the result has no value: the tool returned only content for the model",
    )
}

/// Creates the failure for a value that is valid by its schema but not for the type that it is decoded as.
fn unreadable(error: serde_json::Error) -> ToolFailure {
    ToolFailure::new(FailureKind::OutputValidationError, "the result can't be decoded as the requested type")
        .cause(error)
}

impl From<ToolFailure> for Outcome {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(Box::new(failure))
    }
}

impl From<Result<ToolOutput, ToolFailure>> for Outcome {
    fn from(result: Result<ToolOutput, ToolFailure>) -> Self {
        result.map_or_else(Self::from, Self::Ok)
    }
}

impl From<ToolOutput> for Outcome {
    fn from(output: ToolOutput) -> Self {
        Self::Ok(output)
    }
}

impl TaggedEnum for Outcome {
    const TAG: &'static str = "status";
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("ok", |members| members.take_all().map(Self::Ok)),
        ("failed", |members| members.take_all().map(Self::Failed)),
    ];
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

/// Returns an output as the model reads it, as one text.
#[must_use]
pub fn model_text(output: &ToolOutput) -> String {
    match output.shown() {
        Shown::Content(parts) => CallOutputBody::Parts(parts.to_vec()).to_string(),
        Shown::Value(value) => raw_text(value),
    }
}

/// Returns a failure with content as the model reads it: its text, then the content.
fn failure_parts(failure: &ToolFailure) -> Vec<ContentPart> {
    [ContentPart::text(failure.to_model_text())].into_iter().chain(failure.content().iter().cloned()).collect()
}

fn raw_text(value: &JsonText) -> String {
    let text = value.as_str();
    if text.starts_with('"') { value.decode().unwrap_or_else(|_| text.to_owned()) } else { text.to_owned() }
}

/// Quotes a name that comes from outside, shortened.
#[must_use]
pub fn quoted(name: &str) -> String {
    if name.len() <= QUOTE_CAP {
        format!("'{name}'")
    } else {
        format!("'{}…'", &name[..name.floor_char_boundary_at(QUOTE_CAP)])
    }
}
