//! The settings of the parts of a request.

use haft_registry::EntryFault;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::body::{BodyFormat, BodyMapping};
use crate::http::parameter::{ParameterPlace, ParameterStyle, RequestParameter};
use crate::http::tool::HttpTool;

/// The value of a parameter, a header or a cookie.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum SourceSettings {
    /// `"{x}"` is the argument `x`; any other text without braces is sent as it is.
    Text(String),
    /// A number that is sent as it is.
    Number(serde_json::Number),
    /// `true` or `false`, sent as a text.
    Bool(bool),
    /// An argument with a style.
    Argument(ArgumentSettings),
    /// A text that is sent as it is, braces included.
    Constant(ConstantSettings),
}

/// An argument with a style.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ArgumentSettings {
    /// The name of the argument.
    argument: String,
    /// The notation of arrays and objects.
    style: Option<StyleSetting>,
}

/// A constant text.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ConstantSettings {
    /// The text.
    value: String,
}

/// The notation of arrays and objects.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StyleSetting {
    /// `a=1&a=2`; objects are JSON.
    Repeat,
    /// `a=1&a=2`; each member of an object is a parameter of its own.
    Spread,
    /// `1,2` and `key,value`.
    Comma,
    /// `1,2` and `key=value`.
    CommaPairs,
    /// As `comma`, with spaces.
    Space,
    /// As `comma`, with bars.
    Pipe,
    /// `a[key]=value`.
    DeepObject,
    /// JSON.
    Json,
}

/// The body of the request.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct BodySettings {
    /// The argument that is the body. Without it: all arguments that nothing else uses, as an object.
    argument: Option<String>,
    /// The format, `json` by default.
    format: Option<BodyFormat>,
    /// The header `content-type`, in place of that of the format.
    content_type: Option<String>,
}

impl SourceSettings {
    /// Adds the value to a tool.
    pub(super) fn add(
        self,
        tool: HttpTool,
        place: ParameterPlace,
        name: String,
        at: &str,
        faults: &mut Vec<EntryFault>,
    ) -> HttpTool {
        match self {
            Self::Text(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
                Some(argument) if is_argument(argument) => {
                    tool.parameter(RequestParameter::new(argument, place).named(name))
                }
                None if !text.contains(['{', '}']) => tool.constant(place, name, text),
                Some(_) | None => {
                    let message = "write `\"{x}\"` for the argument `x`, or `{ value = \"…\" }` for a text with braces";
                    faults.push(EntryFault::at(at, message));
                    tool
                }
            },
            Self::Number(number) => tool.constant(place, name, number.to_string()),
            Self::Bool(value) => tool.constant(place, name, value.to_string()),
            Self::Constant(constant) => tool.constant(place, name, constant.value),
            Self::Argument(ArgumentSettings { argument, style }) => {
                let parameter = RequestParameter::new(argument, place).named(name);
                tool.parameter(match style {
                    Some(style) => parameter.style(style.style()),
                    None => parameter,
                })
            }
        }
    }
}

fn is_argument(name: &str) -> bool {
    !name.is_empty() && !name.contains(['{', '}', '"', ':'])
}

impl StyleSetting {
    fn style(self) -> ParameterStyle {
        match self {
            Self::Repeat => ParameterStyle::Repeat,
            Self::Spread => ParameterStyle::Spread,
            Self::Comma => ParameterStyle::Comma,
            Self::CommaPairs => ParameterStyle::CommaPairs,
            Self::Space => ParameterStyle::Space,
            Self::Pipe => ParameterStyle::Pipe,
            Self::DeepObject => ParameterStyle::DeepObject,
            Self::Json => ParameterStyle::Json,
        }
    }
}

impl BodySettings {
    pub(super) fn into_mapping(self) -> BodyMapping {
        let format = self.format.unwrap_or(BodyFormat::Json);
        let mut mapping = match self.argument {
            Some(argument) => BodyMapping::argument(argument, format),
            None => BodyMapping::rest(format),
        };
        mapping.content_type = self.content_type;
        mapping
    }
}
