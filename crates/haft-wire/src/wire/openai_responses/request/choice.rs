//! The tool choice.
//!
//! A subset is sent as `allowed_tools` with the whole tool list, so that a prompt cache stays valid. The provider's own
//! tools are chosen by type.

use std::borrow::Cow;

use haft_core::{ToolChoice, ToolDemand};
use serde::{Deserialize, Serialize};

use crate::profile::rendered_tools::{RenderedTool, RenderedTools, ToolMode};
use crate::wire::Dropped;
use crate::wire::response::text::Text;
use crate::wire_error::RequestError;

/// The tool types that can be chosen alone. Any other choice is a subset with one tool.
const CHOSEN_BY_TYPE: [&str; 10] = [
    "file_search",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "computer",
    "computer_use_preview",
    "image_generation",
    "code_interpreter",
    "apply_patch",
    "shell",
    "programmatic_tool_calling",
];

/// The member `tool_choice`.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WrittenChoice<'t> {
    Word(&'static str),
    Tool(ChosenTool<'t>),
    Subset {
        #[serde(rename = "type")]
        choice_type: &'static str,
        mode: &'static str,
        tools: Vec<ChosenTool<'t>>,
    },
}

/// A chosen tool: by its name, its server, or its type alone.
#[derive(Debug, Serialize)]
pub(super) struct ChosenTool<'t> {
    #[serde(rename = "type")]
    tool_type: Cow<'t, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_label: Option<Cow<'t, str>>,
}

/// The members that name a tool. The schema beside them is skipped.
#[derive(Default, Deserialize)]
struct ToolHead<'t> {
    #[serde(rename = "type", borrow, default)]
    tool_type: Option<Text<'t>>,
    #[serde(borrow, default)]
    server_label: Option<Text<'t>>,
}

/// Writes a choice, or nothing for the default.
pub(super) fn write<'t>(
    choice: &ToolChoice,
    tools: &'t RenderedTools,
    dropped: &mut Vec<Dropped>,
) -> Result<Option<WrittenChoice<'t>>, RequestError> {
    if tools.is_empty() {
        return if choice.requires_call() { Err(nothing_to_call(choice)) } else { Ok(None) };
    }
    Ok(Some(match choice {
        ToolChoice::None => WrittenChoice::Word("none"),
        ToolChoice::Required => WrittenChoice::Word("required"),
        ToolChoice::Tool(name) => one(tools.get(name).ok_or_else(|| nothing_to_call(choice))?),
        ToolChoice::OneOf { names, demand } => return subset(names, *demand, tools, dropped).map(Some),
        _ => return Ok(None),
    }))
}

fn one(tool: &RenderedTool) -> WrittenChoice<'_> {
    let chosen = ChosenTool::of(tool);
    let alone = chosen.name.is_some() || chosen.server_label.is_some() || CHOSEN_BY_TYPE.contains(&&*chosen.tool_type);
    if alone { WrittenChoice::Tool(chosen) } else { WrittenChoice::subset("required", vec![chosen]) }
}

fn subset<'t>(
    names: &[String],
    demand: ToolDemand,
    tools: &'t RenderedTools,
    dropped: &mut Vec<Dropped>,
) -> Result<WrittenChoice<'t>, RequestError> {
    let mut chosen = Vec::with_capacity(names.len());
    for name in names {
        match tools.get(name) {
            Some(tool) => chosen.push(ChosenTool::of(tool)),
            None => dropped.push(Dropped::setting("tool_choice", format!("the tool `{name}` is not sent"))),
        }
    }
    match (chosen.is_empty(), demand) {
        (false, ToolDemand::Required) => Ok(WrittenChoice::subset("required", chosen)),
        (false, _) => Ok(WrittenChoice::subset("auto", chosen)),
        (true, ToolDemand::Required) => Err(RequestError::Invalid {
            param: "tool_choice".to_owned(),
            message: "a call is required, and none of the tools that may be called is sent; offer one of them, or \
                      read the findings about them"
                .to_owned(),
        }),
        (true, _) => Ok(WrittenChoice::Word("none")),
    }
}

fn nothing_to_call(choice: &ToolChoice) -> RequestError {
    let message = match choice {
        ToolChoice::Tool(name) => format!(
            "the tool `{name}` must be called, but is not sent; offer it, or read the findings about it if it was \
             left out"
        ),
        _ => "a call is required, but no tool is sent; offer a tool, or change the choice".to_owned(),
    };
    RequestError::Invalid { param: "tool_choice".to_owned(), message }
}

impl<'t> WrittenChoice<'t> {
    fn subset(mode: &'static str, tools: Vec<ChosenTool<'t>>) -> Self {
        Self::Subset { choice_type: "allowed_tools", mode, tools }
    }
}

impl<'t> ChosenTool<'t> {
    fn of(tool: &'t RenderedTool) -> Self {
        let ToolHead { tool_type, server_label } = serde_json::from_str(&tool.json).unwrap_or_default();
        let tool_type = tool_type.map_or(Cow::Borrowed("function"), |Text(tool_type)| tool_type);
        match tool.mode {
            ToolMode::BuiltIn => Self { tool_type, name: None, server_label: server_label.map(|Text(label)| label) },
            _ => Self { tool_type, name: Some(&tool.wire_name), server_label: None },
        }
    }
}
