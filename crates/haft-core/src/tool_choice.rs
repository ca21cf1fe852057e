//! The tools that a model may or must call in a turn.
//!
//! A choice is sent to the provider. Because providers and models do not always follow it, the response is checked
//! against it as well.

use serde::{Deserialize, Serialize};

/// The tools that the model may or must call.
///
/// ```
/// use haft_core::ToolChoice;
///
/// let choice = ToolChoice::must_call_one_of(["search", "fetch"]);
/// assert!(choice.permits("search"));
/// assert!(!choice.permits("delete"));
/// assert!(choice.requires_call());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// Any of the tools offered, or none.
    #[default]
    Auto,
    /// No tool, although tools are offered.
    None,
    /// At least one of the tools offered.
    Required,
    /// This tool.
    Tool(String),
    /// Some of the tools offered. The list of tools stays the same, which keeps a prompt cache valid.
    OneOf {
        /// The names that may be called.
        names: Vec<String>,
        /// The demand to call one of them.
        #[serde(default)]
        demand: ToolDemand,
    },
}

/// The demand for a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolDemand {
    /// The model decides.
    #[default]
    Optional,
    /// At least one call must be made.
    Required,
}

impl ToolChoice {
    /// Creates a choice by which this tool must be called.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self::Tool(name.into())
    }

    /// Creates a choice by which only these tools may be called.
    #[must_use]
    pub fn may_call<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::OneOf { names: names.into_iter().map(Into::into).collect(), demand: ToolDemand::Optional }
    }

    /// Creates a choice by which only these tools may be called, and at least one must be.
    #[must_use]
    pub fn must_call_one_of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::OneOf { names: names.into_iter().map(Into::into).collect(), demand: ToolDemand::Required }
    }

    /// Reports whether a call of this tool is allowed. It does not check whether the tool was offered.
    #[must_use]
    pub fn permits(&self, name: &str) -> bool {
        match self {
            Self::Auto | Self::Required => true,
            Self::None => false,
            Self::Tool(only) => only == name,
            Self::OneOf { names, .. } => names.iter().any(|allowed| allowed == name),
        }
    }

    /// Reports whether a turn without any call violates the choice.
    #[must_use]
    pub fn requires_call(&self) -> bool {
        match self {
            Self::Auto | Self::None => false,
            Self::Required | Self::Tool(_) => true,
            Self::OneOf { demand, .. } => *demand == ToolDemand::Required,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn permits_and_requires_the_named_tools() {
        let nobody: [&str; 0] = [];
        let table = [
            (ToolChoice::Auto, true, true, false),
            (ToolChoice::None, false, false, false),
            (ToolChoice::Required, true, true, true),
            (ToolChoice::tool("a"), true, false, true),
            (ToolChoice::may_call(["a"]), true, false, false),
            (ToolChoice::must_call_one_of(["a", "c"]), true, false, true),
            (ToolChoice::may_call(nobody), false, false, false),
        ];
        for (choice, a, b, call) in table {
            assert_eq!((choice.permits("a"), choice.permits("b"), choice.requires_call()), (a, b, call), "{choice:?}");
            assert!(!choice.permits("A") || choice.permits("b"), "names are compared exactly: {choice:?}");
        }
    }

    #[test]
    fn is_serialised_as_a_word_or_an_object() {
        let table = [
            (ToolChoice::Auto, json!("auto")),
            (ToolChoice::None, json!("none")),
            (ToolChoice::Required, json!("required")),
            (ToolChoice::tool("a"), json!({"tool": "a"})),
            (ToolChoice::may_call(["a"]), json!({"one_of": {"names": ["a"], "demand": "optional"}})),
            (ToolChoice::must_call_one_of(["a"]), json!({"one_of": {"names": ["a"], "demand": "required"}})),
        ];
        for (choice, written) in table {
            assert_eq!(serde_json::to_value(&choice).unwrap(), written);
            assert_eq!(serde_json::from_value::<ToolChoice>(written).unwrap(), choice);
        }
        assert!(serde_json::from_value::<ToolChoice>(json!("anything")).is_err());
    }
}
