//! The capabilities of models, as far as they decide about a request.
//!
//! Providers reject a request that asks for what a model can't do, often with a text that does not name the cause. The
//! check here comes before sending and says what to change. A model that no row knows can do everything: a table must
//! never keep an application from using a new model.

mod table;

use haft_core::{CallOutputBody, ContentPart, Item, Message, TurnRequest};

pub use self::table::ModelTable;
use crate::wire_error::RequestError;

/// The capabilities of one model. The default is a model that can do everything and whose limits are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "independent capabilities, each a column of the table")]
pub struct Capabilities {
    /// The model calls tools.
    pub tools: bool,
    /// The provider can hold the model to the schemas of tools.
    pub strict_tools: bool,
    /// The model answers in a requested format.
    pub structured_output: bool,
    /// The model makes several calls in one turn, and the request may state whether it should.
    pub parallel_calls: bool,
    /// The cases in which a request may demand a call.
    pub forced_choice: ForcedChoice,
    /// The request may set `temperature` and `top_p`.
    pub sampling: bool,
    /// The model reads images.
    pub images: bool,
    /// The model reads images in the results of tools.
    pub image_results: bool,
    /// The reasoning of the model can be requested in encrypted form, where the wire has that.
    pub encrypted_reasoning: bool,
    /// The size of the context in tokens.
    pub context_tokens: Option<u64>,
    /// The number of tokens that an answer may have.
    pub max_output_tokens: Option<u64>,
}

/// The cases in which a request may demand a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForcedChoice {
    /// Always.
    #[default]
    Always,
    /// Unless the request asks the model to think.
    WithoutThinking,
    /// Never.
    Never,
}

/// The thinking that a request asks for, in the provider's options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// The request asks for it.
    Requested,
    /// The request does not ask for it.
    Unset,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            tools: true,
            strict_tools: true,
            structured_output: true,
            parallel_calls: true,
            forced_choice: ForcedChoice::Always,
            sampling: true,
            images: true,
            image_results: true,
            encrypted_reasoning: true,
            context_tokens: None,
            max_output_tokens: None,
        }
    }
}

impl Capabilities {
    /// Checks whether the model can do what a request asks for.
    pub fn check(&self, request: &TurnRequest, thinking: Thinking) -> Result<(), RequestError> {
        let model = &request.model;
        if !self.tools && !request.tools.is_empty() {
            return Err(unsupported(model, "tools", "send the request without tools, or choose another model"));
        }
        if !self.structured_output && request.output_format.is_some() {
            let advice = "describe the format in the instructions, or choose another model";
            return Err(unsupported(model, "answers in a requested format", advice));
        }
        if !self.parallel_calls && request.parallel_tool_calls == Some(true) {
            return Err(unsupported(model, "parallel calls", "leave `parallel_tool_calls` unset"));
        }
        if !self.sampling && (request.temperature.is_some() || request.top_p.is_some()) {
            let advice = "leave `temperature` and `top_p` unset";
            return Err(unsupported(model, "`temperature` and `top_p`", advice));
        }
        self.check_choice(request, thinking)?;
        self.check_images(request)?;
        match (self.max_output_tokens, request.max_output_tokens) {
            (Some(most), Some(asked)) if asked > most => {
                let advice = format!("set `max_output_tokens` to at most {most}");
                Err(unsupported(model, &format!("answers of {asked} tokens"), &advice))
            }
            _ => Ok(()),
        }
    }

    /// Returns the setting for parallel calls that a request should send. A model without parallel calls rejects the
    /// setting, even where it is what the model does anyway.
    #[must_use]
    pub fn parallel_setting(&self, request: &TurnRequest) -> Option<bool> {
        request.parallel_tool_calls.filter(|_| self.parallel_calls)
    }

    fn check_choice(&self, request: &TurnRequest, thinking: Thinking) -> Result<(), RequestError> {
        if !request.tool_choice.requires_call() {
            return Ok(());
        }
        match (self.forced_choice, thinking) {
            (ForcedChoice::Always, _) | (ForcedChoice::WithoutThinking, Thinking::Unset) => Ok(()),
            (ForcedChoice::WithoutThinking, Thinking::Requested) => {
                let advice = "use `ToolChoice::Auto`, or do not ask for thinking in this request";
                Err(unsupported(&request.model, "a required call together with thinking", advice))
            }
            (ForcedChoice::Never, _) => {
                let advice = "use `ToolChoice::Auto`, and say in the instructions which tool to call";
                Err(unsupported(&request.model, "a required call", advice))
            }
        }
    }

    fn check_images(&self, request: &TurnRequest) -> Result<(), RequestError> {
        for item in &request.history {
            let (allowed, place, parts) = match item {
                Item::Message(Message { content, .. }) => (self.images, "images", content),
                Item::ToolOutput(output) => match &output.output {
                    CallOutputBody::Parts(parts) => (self.image_results, "images in the results of tools", parts),
                    _ => continue,
                },
                _ => continue,
            };
            if !allowed && parts.iter().any(|part| matches!(part, ContentPart::Image(_))) {
                let advice = "remove them from the history, describe them in text, or choose another model";
                return Err(unsupported(&request.model, place, advice));
            }
        }
        Ok(())
    }
}

fn unsupported(model: &str, capability: &str, advice: &str) -> RequestError {
    RequestError::Unsupported { capability: format!("{capability} (`{model}`)"), advice: advice.to_owned() }
}

#[cfg(test)]
mod tests {
    use haft_core::{MediaData, Message, OutputFormat, Role, ToolCallOutput, ToolChoice, ToolDescriptor};
    use serde_json::json;

    use super::*;

    fn request() -> TurnRequest {
        TurnRequest::new("m", vec![Item::user("hi")])
    }

    fn image() -> Vec<ContentPart> {
        vec![ContentPart::image("image/png", MediaData::Base64("AA==".to_owned()))]
    }

    #[test]
    fn a_missing_capability_is_an_error_with_a_remedy() {
        let tool = [ToolDescriptor::new("t", json!({"type": "object"}))];
        let seen = Item::Message(Message::new(Role::User, image()));
        let returned = Item::ToolOutput(ToolCallOutput::new("c", image()));
        let all = Capabilities::default();
        let required = ToolChoice::Required;
        let table = [
            (Capabilities { tools: false, ..all }, request().tools(&tool), "without tools"),
            (
                Capabilities { structured_output: false, ..all },
                request().output_format(OutputFormat::new("o", json!({}))),
                "in the instructions",
            ),
            (Capabilities { parallel_calls: false, ..all }, request().allow_parallel_calls(), "unset"),
            (Capabilities { sampling: false, ..all }, request().temperature(0.5), "unset"),
            (Capabilities { sampling: false, ..all }, request().top_p(0.5), "unset"),
            (
                Capabilities { forced_choice: ForcedChoice::WithoutThinking, ..all },
                request().tool_choice(required.clone()),
                "do not ask for thinking",
            ),
            (Capabilities { forced_choice: ForcedChoice::Never, ..all }, request().tool_choice(required), "Auto"),
            (Capabilities { images: false, ..all }, TurnRequest::new("m", vec![seen]), "describe them"),
            (Capabilities { image_results: false, ..all }, TurnRequest::new("m", vec![returned]), "describe them"),
            (Capabilities { max_output_tokens: Some(9), ..all }, request().max_output_tokens(10), "at most 9"),
        ];
        for (capabilities, request, remedy) in table {
            let error = capabilities.check(&request, Thinking::Requested).unwrap_err().to_string();
            assert!(error.contains(remedy) && error.contains("`m`"), "{error}");
            all.check(&request, Thinking::Requested).unwrap();
        }
    }

    #[test]
    fn a_choice_may_be_forced_without_thinking() {
        let capabilities = Capabilities { forced_choice: ForcedChoice::WithoutThinking, ..Capabilities::default() };
        let request = request().tool_choice(ToolChoice::tool("t"));
        capabilities.check(&request, Thinking::Unset).unwrap();
        capabilities.check(&request, Thinking::Requested).unwrap_err();
    }

    #[test]
    fn a_model_without_parallel_calls_is_not_sent_the_setting() {
        let none = Capabilities { parallel_calls: false, ..Capabilities::default() };
        assert_eq!(none.parallel_setting(&request().forbid_parallel_calls()), None);
        none.check(&request().forbid_parallel_calls(), Thinking::Unset).unwrap();
        assert_eq!(Capabilities::default().parallel_setting(&request().forbid_parallel_calls()), Some(false));
    }
}
