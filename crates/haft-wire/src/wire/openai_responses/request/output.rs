//! Call outputs, each with its call's matching type.

use std::borrow::Cow;

use haft_core::{CallOutputBody, ToolCallOutput};
use serde_json::{Map, Value, json};

use super::content::{InputPart, input_part};
use super::input::{InputWriter, own};
use super::item::{InputItem, MessageContent, MessageItem, OutputItem, OwnMembers, sent_id};
use crate::catalogue::ItemForm;
use crate::wire::openai::failure_text;

/// A one-pixel transparent image, for a missing screenshot.
const NO_SCREENSHOT: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// A call that was written, and its output's form.
#[derive(Clone, Copy, Debug)]
pub(super) enum WrittenCall<'r> {
    Function {
        caller: Option<&'r Value>,
    },
    Custom {
        caller: Option<&'r Value>,
    },
    Items {
        form: ItemForm,
        caller: Option<&'r Value>,
    },
    /// A call that a provider executed. It contains its output.
    Foreign,
}

impl<'r> InputWriter<'r, '_> {
    pub(super) fn written_output(&mut self, at: usize, output: &'r ToolCallOutput, written: WrittenCall<'r>) {
        let (item_type, caller) = match written {
            WrittenCall::Function { caller } => ("function_call_output", caller),
            WrittenCall::Custom { caller } => ("custom_tool_call_output", caller),
            WrittenCall::Items { form, caller } => return self.item_output(at, output, form, caller),
            WrittenCall::Foreign => {
                return self.drop_item(at, "output", "it belongs to a call that a provider executed");
            }
        };
        let content = self.output_content(at, output);
        self.push_of_other(InputItem::Output(OutputItem {
            item_type,
            call_id: sent_id(output.call_id.as_str()),
            output: content,
            caller,
            data: OwnMembers::of(own(&output.provider_data, self.provider), &["type", "call_id", "output", "caller"]),
        }));
    }

    fn output_content(&mut self, at: usize, output: &'r ToolCallOutput) -> MessageContent<'r> {
        let parts = match &output.output {
            CallOutputBody::Text(text) => {
                return MessageContent::Text(failure_text::marked(Cow::Borrowed(text), output.is_error));
            }
            CallOutputBody::Parts(parts) => parts.as_slice(),
        };
        let mut written = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            match input_part(self.provider, part) {
                Ok(part) => written.push(part),
                Err(unsendable) => self.drop_item(at, unsendable.part, unsendable.reason),
            }
        }
        let says_so = |part: &InputPart<'_>| part.as_text().is_some_and(failure_text::is_failure);
        if output.is_error && !written.first().is_some_and(says_so) {
            written.insert(0, InputPart::text(failure_text::failure("the call failed")));
        }
        MessageContent::of(written).unwrap_or(MessageContent::Text(Cow::Borrowed("")))
    }

    /// Writes an output for a tool with its own type.
    fn item_output(&mut self, at: usize, output: &'r ToolCallOutput, form: ItemForm, caller: Option<&'r Value>) {
        let written = form.output_item(output);
        let failure = written.is_err();
        let mut item = written.unwrap_or_else(|_| without_screenshot(form));
        item.insert(form.output_id.to_owned(), sent_id(output.call_id.as_str()).into());
        for (key, value) in own(&output.provider_data, self.provider).into_iter().flatten() {
            item.entry(key.as_str()).or_insert_with(|| value.clone());
        }
        if let Some(caller) = caller {
            item.entry("caller").or_insert_with(|| caller.clone());
        }
        self.push_of_other(InputItem::Members(item));
        if failure {
            // The type takes an image only, but the model must read why there is none.
            let text = format!("There is no screenshot after the call `{}`: {}", output.call_id, output.output);
            let content = MessageContent::Text(Cow::Owned(text));
            let item = MessageItem { item_type: "message", role: "user", content, phase: None };
            self.push_of_other(InputItem::Message(item));
            self.drop_item(at, "output", "the type of the output takes an image only; the text is sent as a message");
        }
    }
}

fn without_screenshot(form: ItemForm) -> Map<String, Value> {
    let mut item = Map::new();
    item.insert("type".to_owned(), form.output.into());
    item.insert("output".to_owned(), json!({"type": "computer_screenshot", "image_url": NO_SCREENSHOT}));
    item
}

impl<'r> MessageContent<'r> {
    /// Returns parts as content: a single text as such, and `None` if there are no parts.
    pub(super) fn of(mut parts: Vec<InputPart<'r>>) -> Option<Self> {
        match parts.as_mut_slice() {
            [] => None,
            [InputPart::Text(only)] if only.is_plain() => Some(Self::Text(std::mem::take(&mut only.text))),
            _ => Some(Self::Parts(parts)),
        }
    }
}
