//! Calls and results for tools whose items have their own types, and for tools that stand for several functions.
//!
//! A conversation holds calls with arguments, and outputs that are text or parts. The functions here convert these to
//! and from item members, so a wire adds only ids and its own echoed data.

use haft_core::{CallOutputBody, ContentPart, MediaData, MediaPart, ToolCallOutput};
use serde_json::{Map, Value, json};

use crate::catalogue::{FunctionSet, ItemForm};

/// A result item's shape when the output is text, as for failures and truncated outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainForm {
    /// `{"output": text}`.
    Output,
    /// `{"status": "completed" or "failed", "output": text}`.
    Patch,
    /// One command's standard output or standard error.
    Commands,
    /// No tools.
    Tools,
    /// There is none: a screenshot is required.
    Screenshot,
}

/// An output that can't be written as the item that the provider requires.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputItemFault {
    /// The item must contain an image.
    #[error(
        "the output of call `{call_id}` contains no image, which `{item}` requires; return a screenshot, also with a \
         failure"
    )]
    NoImage {
        /// The call's id.
        call_id: String,
        /// The item type.
        item: &'static str,
    },
}

impl ItemForm {
    /// Returns the arguments of a call item.
    ///
    /// ```
    /// use haft_wire::catalogue::{CallForm, find};
    /// use serde_json::json;
    ///
    /// let CallForm::Items(form) = find("openai.shell").unwrap().call else { panic!("shell calls are items") };
    /// let item = json!({"type": "shell_call", "id": "sh_1", "call_id": "c1", "action": {"commands": ["ls"]}});
    /// let arguments = form.arguments_of(item.as_object().unwrap());
    /// assert_eq!(json!(arguments), json!({"action": {"commands": ["ls"]}}));
    /// ```
    #[must_use]
    pub fn arguments_of(&self, item: &Map<String, Value>) -> Map<String, Value> {
        let member = |name: &&'static str| Some(((*name).to_owned(), item.get(*name)?.clone()));
        self.arguments.iter().filter_map(member).filter(|(_, value)| !value.is_null()).collect()
    }

    /// Returns the item for a result, without an id of its own.
    ///
    /// Text that is a JSON object provides the item's members. Any other text, such as a failure message, goes where
    /// the item has room for it.
    ///
    /// ```
    /// use haft_core::ToolCallOutput;
    /// use haft_wire::catalogue::{CallForm, find};
    /// use serde_json::json;
    ///
    /// let CallForm::Items(form) = find("openai.apply_patch").unwrap().call else { panic!("patches are items") };
    /// let failed = ToolCallOutput::new("c1", "there is no such file").error();
    /// let item = json!({
    ///     "type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": "there is no such file",
    /// });
    /// assert_eq!(json!(form.output_item(&failed)?), item);
    /// # Ok::<_, haft_wire::catalogue::OutputItemFault>(())
    /// ```
    pub fn output_item(&self, output: &ToolCallOutput) -> Result<Map<String, Value>, OutputItemFault> {
        let mut item = Map::new();
        item.insert("type".to_owned(), self.output.into());
        item.insert(self.output_id.to_owned(), output.call_id.as_str().into());
        let members = match self.screenshot(output)? {
            Some(members) => members,
            None => self.text_members(output),
        };
        for (key, value) in members {
            item.entry(key).or_insert(value);
        }
        Ok(item)
    }

    fn screenshot(&self, output: &ToolCallOutput) -> Result<Option<Map<String, Value>>, OutputItemFault> {
        if self.plain != PlainForm::Screenshot {
            return Ok(None);
        }
        let parts = match &output.output {
            CallOutputBody::Parts(parts) => parts.as_slice(),
            CallOutputBody::Text(_) => &[],
        };
        let image = parts.iter().rev().find_map(|part| match part {
            ContentPart::Image(image) => Some(image),
            _ => None,
        });
        let Some(image) = image else {
            let members = object(&output.output.to_string()).filter(|members| members.contains_key("output"));
            let fault = || OutputItemFault::NoImage { call_id: output.call_id.as_str().to_owned(), item: self.output };
            return members.map(Some).ok_or_else(fault);
        };
        let mut members = Map::from_iter([("output".to_owned(), screenshot_member(image))]);
        if let Some(Value::Object(data)) = image.provider_data.get("openai") {
            members.extend(data.clone());
        }
        Ok(Some(members))
    }

    fn text_members(&self, output: &ToolCallOutput) -> Map<String, Value> {
        let text = output.output.to_string();
        if let Some(members) = object(&text).filter(|members| !output.is_error && self.plain.describes(members)) {
            return members;
        }
        let failed = output.is_error;
        let members = match self.plain {
            PlainForm::Output | PlainForm::Screenshot => json!({"output": text}),
            PlainForm::Patch => json!({"status": if failed { "failed" } else { "completed" }, "output": text}),
            PlainForm::Commands => {
                let (stdout, stderr) = if failed { (String::new(), text) } else { (text, String::new()) };
                let outcome = json!({"type": "exit", "exit_code": i32::from(failed)});
                json!({"output": [{"stdout": stdout, "stderr": stderr, "outcome": outcome}]})
            }
            PlainForm::Tools => json!({"execution": "client", "status": "completed", "tools": []}),
        };
        match members {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}

impl PlainForm {
    /// Reports whether an object has the member that every item with this shape has. Other JSON counts as text.
    fn describes(self, members: &Map<String, Value>) -> bool {
        match self {
            Self::Output | Self::Screenshot => members.contains_key("output"),
            Self::Patch => members.get("status").is_some_and(Value::is_string),
            Self::Commands => members.get("output").is_some_and(Value::is_array),
            Self::Tools => members.get("tools").is_some_and(Value::is_array),
        }
    }
}

impl FunctionSet {
    /// Reports whether a function belongs to this set.
    #[must_use]
    pub fn contains(&self, function: &str) -> bool {
        self.names.contains(&function)
    }

    /// Returns the one tool's arguments for a function call.
    ///
    /// ```
    /// use haft_wire::catalogue::{CallForm, find};
    /// use serde_json::{Map, json};
    ///
    /// let entry = find("anthropic.computer_toolset_20260801").unwrap();
    /// let CallForm::Functions(set) = entry.call else { panic!("a toolset has functions") };
    /// let arguments = set.join("left_click", Map::from_iter([("coordinate".to_owned(), json!([1, 2]))]));
    /// assert_eq!(json!(arguments), json!({"action": "left_click", "coordinate": [1, 2]}));
    /// assert_eq!(set.split(arguments).unwrap().0, "left_click");
    /// ```
    #[must_use]
    pub fn join(&self, function: &str, input: Map<String, Value>) -> Map<String, Value> {
        let mut arguments = Map::with_capacity(input.len() + 1);
        arguments.insert(self.member.to_owned(), function.into());
        for (key, value) in input {
            arguments.entry(key).or_insert(value);
        }
        arguments
    }

    /// Splits the one tool's arguments into the function and its arguments. Returns `None` if they name no function.
    #[must_use]
    pub fn split(&self, mut arguments: Map<String, Value>) -> Option<(String, Map<String, Value>)> {
        let Value::String(function) = arguments.shift_remove(self.member)? else { return None };
        Some((function, arguments))
    }
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

fn screenshot_member(image: &MediaPart) -> Value {
    let (member, value) = match &image.data {
        MediaData::Base64(data) => {
            let media_type = image.media_type.as_deref().unwrap_or("image/png");
            ("image_url", format!("data:{media_type};base64,{data}"))
        }
        MediaData::Url(url) => ("image_url", url.clone()),
        MediaData::FileId(id) => ("file_id", id.clone()),
        _ => ("image_url", String::new()),
    };
    json!({"type": "computer_screenshot", member: value})
}
