//! Which tools a model may or must call in a turn.
//!
//! A choice is sent to the provider and, because providers and models break it, checked again on what comes back.

use serde::{Deserialize, Serialize};

/// Which tools the model may or must call.
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
    /// No tool, though tools are offered.
    None,
    /// At least one of the tools offered.
    Required,
    /// This tool.
    Tool(String),
    /// Some of the tools offered, which keeps a cached list of tools valid while narrowing it.
    OneOf {
        /// The names that may be called.
        names: Vec<String>,
        /// Whether one of them must be.
        #[serde(default)]
        demand: ToolDemand,
    },
}

/// Whether a call must be made.
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
    /// This tool must be called.
    #[must_use]
    pub fn tool(name: impl Into<String>) -> Self {
        Self::Tool(name.into())
    }

    /// Only these tools may be called.
    #[must_use]
    pub fn may_call<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::OneOf { names: names.into_iter().map(Into::into).collect(), demand: ToolDemand::Optional }
    }

    /// Only these tools may be called, and at least one must be.
    #[must_use]
    pub fn must_call_one_of<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::OneOf { names: names.into_iter().map(Into::into).collect(), demand: ToolDemand::Required }
    }

    /// Whether a call of this tool is allowed. Whether the tool was offered at all is another question.
    #[must_use]
    pub fn permits(&self, name: &str) -> bool {
        match self {
            Self::Auto | Self::Required => true,
            Self::None => false,
            Self::Tool(only) => only == name,
            Self::OneOf { names, .. } => names.iter().any(|allowed| allowed == name),
        }
    }

    /// Whether a turn without any call breaks the choice.
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
    fn permits_and_requires_what_it_says() {
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
    fn is_written_as_a_word_or_an_object() {
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
