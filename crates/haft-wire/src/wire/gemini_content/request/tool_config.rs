//! The tools that a model may or must call.

use std::borrow::Cow;

use haft_core::{ToolChoice, ToolDemand};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::capability::Capabilities;
use crate::profile::rendered_tools::{RenderedTool, RenderedTools, ToolMode};
use crate::wire::gemini_content::model::Generation;
use crate::wire::gemini_content::tool::is_function_set;
use crate::wire_error::RequestError;

/// The setting that reports built-in tool calls.
pub(super) const SERVER_CALLS: &str = "includeServerSideToolInvocations";

/// A request's tools and their configuration.
pub(super) struct ChosenTools<'t> {
    /// The tool list, unless it is empty.
    pub(super) list: Option<Cow<'t, RawValue>>,
    pub(super) config: Map<String, Value>,
}

/// The modes in which a model calls functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallMode {
    /// The model calls a function or answers. Left to the provider.
    Auto,
    /// The model must call one.
    Any,
    /// The model calls none.
    None,
    /// The model calls a function or answers, and is held to the schemas and permitted names.
    Validated,
}

pub(super) fn write<'t>(
    choice: &ToolChoice,
    tools: &'t RenderedTools,
    generation: Generation,
    capabilities: &Capabilities,
) -> Result<ChosenTools<'t>, RequestError> {
    let is_function = |name: &str| tools.get(name).is_some_and(|tool| tool.mode != ToolMode::BuiltIn);
    let names: &[String] = match choice {
        ToolChoice::Tool(name) => std::slice::from_ref(name),
        ToolChoice::OneOf { names, .. } => names,
        _ => &[],
    };
    check(choice, names, tools, is_function)?;
    let mode = match choice {
        ToolChoice::None => CallMode::None,
        ToolChoice::OneOf { names, .. } if !names.iter().any(|name| is_function(name)) => CallMode::None,
        ToolChoice::Required | ToolChoice::Tool(_) | ToolChoice::OneOf { demand: ToolDemand::Required, .. } => {
            CallMode::Any
        }
        ToolChoice::OneOf { .. } if capabilities.strict_tools => CallMode::Validated,
        ToolChoice::OneOf { .. } => CallMode::Auto,
        _ if tools.iter().any(|tool| tool.mode == ToolMode::Strict) => CallMode::Validated,
        _ => CallMode::Auto,
    };
    let narrowed = narrowed(choice, mode, tools);
    let sent = || tools.iter().filter(|tool| narrowed.as_ref().is_none_or(|choice| choice.permits(&tool.name)));
    let has_functions = sent().any(|tool| tool.mode != ToolMode::BuiltIn);
    let has_built_in = sent().any(|tool| tool.mode == ToolMode::BuiltIn);
    let has_server_tools = sent().any(|tool| tool.mode == ToolMode::BuiltIn && !is_function_set(tool));
    if has_functions && has_server_tools && generation == Generation::Before3 {
        return Err(RequestError::Unsupported {
            capability: "functions together with built-in tools".to_owned(),
            advice: "offer one of both, or use a model from Gemini 3 on".to_owned(),
        });
    }

    let mut config = Map::new();
    if has_functions && mode != CallMode::Auto {
        let mut calling = json!({"mode": mode.name()});
        if matches!(mode, CallMode::Any | CallMode::Validated) && !names.is_empty() {
            let allowed = names.iter().filter(|name| is_function(name));
            calling["allowedFunctionNames"] = allowed.map(|name| Value::from(tools.wire_name(name))).collect();
        }
        config.insert("functionCallingConfig".to_owned(), calling);
    }
    if has_functions && has_server_tools && generation == Generation::From3 {
        config.insert(SERVER_CALLS.to_owned(), true.into());
    }
    let list = match &narrowed {
        Some(choice) => tools.raw_permitted(choice),
        None => Cow::Borrowed(tools.raw_list()),
    };
    Ok(ChosenTools { list: Some(list).filter(|_| has_functions || has_built_in), config })
}

/// Returns the tools to send if they are not all. If function names alone can express the choice, the list stays the
/// same and in the provider's cache.
fn narrowed<'c>(choice: &'c ToolChoice, mode: CallMode, tools: &RenderedTools) -> Option<Cow<'c, ToolChoice>> {
    let is_built_in = |tool: &&RenderedTool| tool.mode == ToolMode::BuiltIn;
    let mut excluded = tools.iter().filter(is_built_in).filter(|tool| !choice.permits(&tool.name));
    match choice {
        ToolChoice::OneOf { .. } if mode == CallMode::Auto || excluded.next().is_some() => Some(Cow::Borrowed(choice)),
        // No mode keeps a model from tools that the provider executes.
        ToolChoice::None if excluded.next().is_some() => {
            let functions = tools.iter().filter(|tool| !is_built_in(tool)).map(|tool| tool.name.as_str());
            Some(Cow::Owned(ToolChoice::may_call(functions)))
        }
        _ => None,
    }
}

/// Rejects a choice that can't be met.
fn check(
    choice: &ToolChoice,
    names: &[String],
    tools: &RenderedTools,
    is_function: impl Fn(&str) -> bool,
) -> Result<(), RequestError> {
    let invalid = |message: String| Err(RequestError::Invalid { param: "tool_choice".to_owned(), message });
    if let Some(name) = names.iter().find(|name| tools.get(name).is_none()) {
        return invalid(match tools.findings().iter().find(|finding| finding.tool == *name) {
            Some(finding) => format!("the tool `{name}` can't be sent: {}; {}", finding.message, finding.advice),
            None => format!("the tool `{name}` is not offered; add it to the tools of the request"),
        });
    }
    let can_be_forced = match choice {
        ToolChoice::Required => tools.iter().any(|tool| tool.mode != ToolMode::BuiltIn),
        _ => names.iter().any(|name| is_function(name)),
    };
    if can_be_forced || !choice.requires_call() {
        return Ok(());
    }
    invalid("a call is required, and only functions can be; offer one of them, or use `ToolChoice::Auto`".to_owned())
}

impl CallMode {
    fn name(self) -> &'static str {
        match self {
            Self::Auto => "AUTO",
            Self::Any => "ANY",
            Self::None => "NONE",
            Self::Validated => "VALIDATED",
        }
    }
}
