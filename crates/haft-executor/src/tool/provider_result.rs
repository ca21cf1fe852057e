//! Results of calls that a provider executed, checked by the schemas of their tool.
//!
//! The provider has run the call and the model has read its result, so an invalid one changes nothing in the
//! conversation. It is a failure for the application, which would otherwise act on a value of another form than its
//! tool declares.

use std::collections::HashMap;

use haft_core::{
    CallOutputBody, ContentPart, FailureKind, Item, Outcome, ProviderCall, ToolCall, ToolCallOutput, ToolFailure,
    ToolOutput, ToolResult,
};
use haft_schema::internal::CharBoundary;
use haft_schema::isolation::isolated;
use haft_schema::{Issues, JsonText, REASON_CAP, Schema};

use crate::handler::invalid_output;
use crate::tool::{ProviderDefinition, Tool};
use crate::toolkit::Toolkit;

impl Tool {
    /// Creates the result of a call that the provider executed, from its output in the conversation.
    ///
    /// A success is checked by the success schema, and a failure by the failure schema; one that violates its schema is
    /// an `output_validation_error`, and a failure that the tool does not declare an `execution_error`. Text is read as
    /// JSON if the schema allows that, and else as a string.
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_core::{ToolCall, ToolCallOutput};
    ///
    /// let search = Tool::provider("vendor.search").success::<Vec<String>>().with_args(()).define()?;
    /// let call = ToolCall::new("c1", "search", "{}").executed_by_provider();
    ///
    /// let result = search.provider_result(&call, &ToolCallOutput::new("c1", r#"["one", "two"]"#));
    /// assert_eq!(result.decode::<Vec<String>>()?, ["one", "two"]);
    ///
    /// let invalid = search.provider_result(&call, &ToolCallOutput::new("c1", "[1]"));
    /// assert_eq!(invalid.failure().unwrap().kind.as_str(), "output_validation_error");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn provider_result(&self, call: &ToolCall, output: &ToolCallOutput) -> ToolResult {
        let parts = match &output.output {
            CallOutputBody::Parts(parts) => Some(parts.clone()),
            CallOutputBody::Text(_) => None,
        };
        let reported = ReportedValue::of_text(output.output.to_string());
        self.reported_result(call, reported, output.is_error, parts)
    }

    /// Creates the result of a call that the provider made and executed, from its [output](ProviderCall::output).
    /// Nothing is returned for a call without one.
    ///
    /// ```
    /// use haft_core::ProviderCall;
    /// use haft_executor::Tool;
    /// use serde_json::json;
    ///
    /// let search = Tool::provider("vendor.search").success::<Vec<u8>>().with_args(()).define()?;
    /// let call = ProviderCall::new("vendor", "search", json!([1, 2]));
    /// assert_eq!(search.provider_call_result(&call).unwrap().decode::<Vec<u8>>()?, [1, 2]);
    /// assert!(search.provider_call_result(&call.output_at("/result")).is_none());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn provider_call_result(&self, call: &ProviderCall) -> Option<ToolResult> {
        let reported = ReportedValue::Json(JsonText::from(call.output()?));
        let id = call.call_id.clone().unwrap_or_else(|| "".into());
        Some(self.reported_result(&ToolCall::new(id, self.name(), ""), reported, call.is_error, None))
    }

    fn reported_result(
        &self,
        call: &ToolCall,
        reported: ReportedValue,
        is_error: bool,
        parts: Option<Vec<ContentPart>>,
    ) -> ToolResult {
        // A schema may contain a validator of the application.
        let outcome = isolated(|| {
            if is_error {
                return Outcome::from(self.reported_failure(reported));
            }
            match reported.checked_by(self.success()) {
                Ok(value) => Outcome::Ok(ToolOutput::rendered(value, parts)),
                Err(issues) => invalid_output(issues).started().into(),
            }
        });
        let outcome = outcome.unwrap_or_else(|panicked| ToolFailure::from(panicked).started().into());
        ToolResult::named(self.shared_name().clone(), call, outcome)
    }

    fn reported_failure(&self, reported: ReportedValue) -> ToolFailure {
        let text = reported.text();
        let message = &text[..text.floor_char_boundary_at(REASON_CAP)];
        let failure = match reported.checked_by(self.failure()) {
            Ok(details) => ToolFailure::new(FailureKind::ToolFailed, message).details(details),
            Err(_) if *self.failure() == Schema::never() => ToolFailure::new(FailureKind::ExecutionError, message),
            Err(issues) => invalid_output(issues),
        };
        failure.started()
    }
}

impl<S> Toolkit<S> {
    /// Returns the results of the calls among these items that a provider executed, in order, each checked by its tool:
    /// those of [`ToolCall`]s with their outputs ([`Tool::provider_result`]), and those of [`ProviderCall`]s
    /// ([`Tool::provider_call_result`]). Calls without an output, and calls of tools that are not provider-defined
    /// tools of this toolkit, are left out.
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, ToolCallOutput};
    /// use haft_executor::{Tool, Toolkit};
    ///
    /// let search = Tool::provider("vendor.search").success::<Vec<String>>().with_args(()).define()?;
    /// let kit: Toolkit = Toolkit::from_iter([search]);
    /// let call = ToolCall::new("c1", "search", "{}").executed_by_provider();
    /// let items: [Item; 2] = [call.into(), ToolCallOutput::new("c1", r#"{"hits": 2}"#).into()];
    ///
    /// let results = kit.provider_results(&items);
    /// assert_eq!(results[0].failure().unwrap().kind.as_str(), "output_validation_error");
    /// # Ok::<_, haft_executor::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn provider_results(&self, items: &[Item]) -> Vec<ToolResult> {
        let mut calls: HashMap<&str, (&ToolCall, &Tool)> = HashMap::new();
        let mut hosted: Option<HostedTools<'_>> = None;
        let mut results = Vec::new();
        for item in items {
            match item {
                Item::ToolCall(call) if call.provider_executed => {
                    if let Some(tool) = self.get(&call.name).filter(|tool| tool.is_provider_defined()) {
                        calls.insert(call.call_id.as_str(), (call, tool));
                    }
                }
                Item::ToolOutput(output) => {
                    if let Some((call, tool)) = calls.remove(output.call_id.as_str()) {
                        results.push(tool.provider_result(call, output));
                    }
                }
                Item::ProviderCall(call) => {
                    let hosted = hosted.get_or_insert_with(|| HostedTools::new(self));
                    results.extend(hosted.tool_of(call).and_then(|tool| tool.provider_call_result(call)));
                }
                _ => {}
            }
        }
        results
    }
}

/// The provider-defined tools of a toolkit, and the calls that were found among some items.
struct HostedTools<'t> {
    /// The tools by vendor and name at the provider. Several have the same name if each stands for an MCP server.
    by_name: HashMap<(&'t str, &'t str), Vec<&'t Tool>>,
    /// The tools of calls, by provider and id.
    by_id: HashMap<(&'t str, &'t str), &'t Tool>,
}

impl<'t> HostedTools<'t> {
    fn new<S>(kit: &'t Toolkit<S>) -> Self {
        let mut by_name: HashMap<_, Vec<&Tool>> = HashMap::new();
        for tool in kit {
            if let Some(provider) = tool.provider_definition() {
                by_name.entry((provider.vendor(), provider.provider_name())).or_default().push(tool);
            }
        }
        Self { by_name, by_id: HashMap::new() }
    }

    /// Returns the tool of a call, or of its result in an item of its own. Such a result may not name its tool exactly;
    /// then the call with the same id decides, and otherwise the order of the toolkit.
    fn tool_of(&mut self, call: &'t ProviderCall) -> Option<&'t Tool> {
        let named = self.by_name.get(&(call.provider.as_str(), call.name.as_str()));
        let mut named = named.into_iter().flatten().copied().filter(|tool| has_settings(tool, call));
        let (first, is_ambiguous) = (named.next(), named.next().is_some());
        let id = call.call_id.as_ref().map(|id| (call.provider.as_str(), id.as_str()));
        let tool = match first {
            Some(only) if !is_ambiguous => Some(only),
            _ => id.and_then(|id| self.by_id.get(&id)).copied().or(first),
        };
        if let (Some(id), Some(tool)) = (id, tool) {
            self.by_id.insert(id, tool);
        }
        tool
    }
}

/// Reports whether a tool was defined with the settings that a call states.
fn has_settings(tool: &Tool, call: &ProviderCall) -> bool {
    let args = tool.provider_definition().map(ProviderDefinition::args);
    call.settings.iter().all(|(name, value)| args.and_then(|args| args.get(name)) == Some(value))
}

/// A value as a provider reported it.
enum ReportedValue {
    /// A JSON value.
    Json(JsonText),
    /// Text that is not JSON.
    Text(String),
    /// Text that is JSON, and may be meant as text.
    Either(JsonText, String),
}

impl ReportedValue {
    /// Reads text that a model would read. Blank text is no value.
    fn of_text(text: String) -> Self {
        if text.trim().is_empty() {
            return Self::Either(JsonText::null(), text);
        }
        match JsonText::parse(&text) {
            Ok(json) => Self::Either(json, text),
            Err(_) => Self::Text(text),
        }
    }

    /// Returns the value in the form that the schema accepts.
    fn checked_by(self, schema: &Schema) -> Result<JsonText, Issues> {
        let checked = |value: JsonText| schema.check_output(&value).map(|()| value);
        match self {
            Self::Json(value) => checked(value),
            Self::Text(text) => checked(serde_json::Value::from(text).into()),
            Self::Either(value, text) => {
                checked(value).or_else(|issues| checked(serde_json::Value::from(text).into()).map_err(|_| issues))
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Json(value) => value.decode::<String>().unwrap_or_else(|_| value.as_str().to_owned()),
            Self::Text(text) | Self::Either(_, text) => text.clone(),
        }
    }
}
