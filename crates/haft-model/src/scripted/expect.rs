//! The request that a scripted turn expects, as data.
//!
//! Only members that are set are compared: an expectation covers a part of the request, so that a script does not
//! break when requests gain a field. All differences are reported together.

use haft_core::{ToolChoice, TurnRequest};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::difference::{Extent, MOST_SHOWN, difference, excerpt};

/// The request that a scripted turn expects.
///
/// ```
/// use haft_core::{ToolCall, ToolChoice};
/// use haft_model::{Expect, ScriptedTurn};
/// use serde_json::json;
///
/// let turn = ScriptedTurn::text("It is noon.").expect(
///     Expect::new()
///         .model("some-model")
///         .instructions("Be brief")
///         .tools(["get_time"])
///         .tool_choice(ToolChoice::Auto)
///         .items(3)
///         .last(json!({"type": "tool_call", "name": "get_time"}))
///         .last(json!({"type": "tool_output", "output": "12:00"})),
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use = "an expectation does nothing until a turn holds it"]
pub struct Expect {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    instructions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    tools: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    without_tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    last: Vec<Value>,
}

impl Expect {
    /// Creates an expectation that accepts any request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Expects that the request names this model.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Expects that the instructions contain this text.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions.push(text.into());
        self
    }

    /// Expects that these tools are offered. Others may be offered too.
    pub fn tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Expects that none of these tools is offered.
    pub fn without_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.without_tools.extend(names.into_iter().map(Into::into));
        self
    }

    /// Expects this tool choice.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Expects that the history has this many items.
    pub fn items(mut self, count: usize) -> Self {
        self.items = Some(count);
        self
    }

    /// Expects that the history ends with this item, as a part of its JSON: objects may have further members, lists
    /// must have the same length. Called several times, it expects the last items in this order.
    pub fn last(mut self, item: impl Into<Value>) -> Self {
        self.last.push(item.into());
        self
    }

    /// Returns every difference from the expectation.
    pub(super) fn faults(&self, request: &TurnRequest) -> Vec<String> {
        let mut faults = Vec::new();
        if let Some(model) = self.model.as_ref().filter(|model| **model != request.model) {
            faults.push(format!("expected the model `{model}`, found `{}`", request.model));
        }
        let instructions = request.instructions.as_deref().unwrap_or_default();
        for text in self.instructions.iter().filter(|text| !instructions.contains(*text)) {
            let found = excerpt(instructions, 0, MOST_SHOWN);
            faults.push(format!("expected instructions that contain {text:?}, found {found:?}"));
        }
        self.check_tools(request, &mut faults);
        if let Some(choice) = self.tool_choice.as_ref().filter(|choice| **choice != request.tool_choice) {
            faults.push(format!("expected the tool choice {}, found {}", json(choice), json(&request.tool_choice)));
        }
        if let Some(count) = self.items.filter(|count| *count != request.history.len()) {
            faults.push(format!("expected {count} items in the history, found {}", request.history.len()));
        }
        self.check_last(request, &mut faults);
        faults
    }

    fn check_tools(&self, request: &TurnRequest, faults: &mut Vec<String>) {
        let offered: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        let all = || if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
        for name in self.tools.iter().filter(|name| !offered.contains(&name.as_str())) {
            faults.push(format!("expected the tool `{name}` to be offered, found {}", all()));
        }
        for name in self.without_tools.iter().filter(|name| offered.contains(&name.as_str())) {
            faults.push(format!("expected the tool `{name}` not to be offered, found {}", all()));
        }
    }

    fn check_last(&self, request: &TurnRequest, faults: &mut Vec<String>) {
        let Some(first) = request.history.len().checked_sub(self.last.len()) else {
            let (expected, found) = (self.last.len(), request.history.len());
            return faults.push(format!("expected at least {expected} items in the history, found {found}"));
        };
        for (index, expected) in self.last.iter().enumerate() {
            let found = serde_json::to_value(&request.history[first + index]).unwrap_or_default();
            let difference = difference(expected, &found, Extent::Part, &[]);
            faults.extend(difference.map(|it| it.inside(&format!("/history/{}", first + index)).to_string()));
        }
    }
}

fn json(choice: &ToolChoice) -> String {
    serde_json::to_string(choice).unwrap_or_else(|_| format!("{choice:?}"))
}

/// Reads a list, or a single value as a list of one.
fn one_or_many<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let many = if value.is_array() { value } else { Value::Array(vec![value]) };
    Vec::deserialize(many).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use haft_core::{Item, ToolDescriptor};
    use haft_schema::Schema;
    use serde_json::json;

    use super::*;

    fn request() -> TurnRequest {
        let tools = [ToolDescriptor::new("add", Schema::empty()), ToolDescriptor::new("sub", Schema::empty())];
        TurnRequest::new("m", vec![Item::user("one"), Item::assistant("two"), Item::user("three")])
            .instructions("Be very brief.")
            .tools(&tools)
            .tool_choice(ToolChoice::Required)
    }

    #[test]
    fn an_expected_request_has_no_faults() {
        let expect = Expect::new()
            .model("m")
            .instructions("very")
            .instructions("brief")
            .tools(["sub"])
            .without_tools(["mul"])
            .tool_choice(ToolChoice::Required)
            .items(3)
            .last(json!({"role": "assistant"}))
            .last(json!({"type": "message", "content": [{"text": "three"}]}));
        assert_eq!(expect.faults(&request()), Vec::<String>::new());
    }

    #[test]
    fn every_fault_is_reported_with_both_sides() {
        let expect = Expect::new()
            .model("n")
            .instructions("long")
            .tools(["mul", "add"])
            .without_tools(["sub"])
            .tool_choice(ToolChoice::tool("add"))
            .items(2)
            .last(json!({"role": "user"}))
            .last(json!({"content": [{"text": "four"}]}));
        let expected = [
            "expected the model `n`, found `m`",
            r#"expected instructions that contain "long", found "Be very brief.""#,
            "expected the tool `mul` to be offered, found add, sub",
            "expected the tool `sub` not to be offered, found add, sub",
            r#"expected the tool choice {"tool":"add"}, found "required""#,
            "expected 2 items in the history, found 3",
            r#"at /history/1/role expected "user", found "assistant""#,
            r#"at /history/2/content/0/text expected "four", found "three""#,
        ];
        assert_eq!(expect.faults(&request()), expected);
    }

    #[test]
    fn a_history_that_is_too_short_is_a_fault() {
        let expect = Expect::new().last(json!({})).last(json!({}));
        let faults = expect.faults(&TurnRequest::new("m", vec![Item::user("one")]));
        assert_eq!(faults, ["expected at least 2 items in the history, found 1"]);
    }

    #[test]
    fn an_expectation_is_read_as_it_is_written() {
        let expect = Expect::new().tools(["add"]).last(json!({"role": "user"})).items(2);
        let written = json!({"tools": ["add"], "last": [{"role": "user"}], "items": 2});
        assert_eq!(serde_json::to_value(&expect).unwrap(), written);
        assert_eq!(serde_json::from_value::<Expect>(written).unwrap(), expect);
        let short = json!({"tools": "add", "last": {"role": "user"}, "items": 2});
        assert_eq!(serde_json::from_value::<Expect>(short).unwrap(), expect);
    }
}
