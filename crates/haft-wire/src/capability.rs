//! Model capabilities, as far as they decide about a request.
//!
//! Providers reject a request that asks for something the model can't do, and often don't name the cause. haft checks
//! before sending and tells you what to change.
//!
//! A model that no row knows can do everything: neither a missing row nor a wrong one may keep you from using a new
//! model. A request fails here only if the provider documents that it rejects it and nothing can be left off. A setting
//! that the model rejects is left off and reported. Everything else is sent with a warning.

mod table;

use haft_core::{CallOutputBody, ContentPart, Item, Message, TurnRequest};

pub use self::table::ModelTable;
use crate::wire::Dropped;
use crate::wire::request::warning::RequestWarning;
use crate::wire_error::RequestError;

/// One model's capabilities. By default a model can do everything and its limits are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "independent capabilities, each a column of the table")]
pub struct Capabilities {
    /// The model calls tools.
    pub tools: bool,
    /// The provider can hold the model to tool schemas.
    pub strict_tools: bool,
    /// The model answers in a requested format.
    pub structured_output: bool,
    /// The model can make several calls in one turn, and the request may say whether it should.
    pub parallel_calls: bool,
    /// The cases in which a request may require a call.
    pub forced_choice: ForcedChoice,
    /// The request may set `temperature` and `top_p`.
    pub sampling: bool,
    /// The request may set `temperature` and `top_p` at once.
    pub joint_sampling: bool,
    /// The request may set sequences that end the answer.
    pub stop: bool,
    /// The conversation may end with a message of the model, which the answer continues. Otherwise Anthropic's wire lets
    /// the user ask the model to continue.
    pub prefill: bool,
    /// The model reads images.
    pub images: bool,
    /// The model reads images in tool results. Otherwise Gemini's wire sends them after the result.
    pub image_results: bool,
    /// Encrypted reasoning, where the wire supports it.
    pub encrypted_reasoning: EncryptedReasoning,
    /// The provider accepts reasoning back only after an unchanged conversation. If the conversation was shortened or
    /// its tools changed, Anthropic's wire tells the provider to leave reasoning out, because it would reject the
    /// request.
    pub bound_reasoning: bool,
    /// The context size in tokens.
    pub context_tokens: Option<u64>,
    /// The most tokens that an answer may have.
    pub max_output_tokens: Option<u64>,
}

/// A model's support for encrypted reasoning, and for reasoning at all.
///
/// OpenAI rejects a request for reasoning from a model without it, and a request that contains another model's
/// reasoning. So reasoning is requested only if the table knows that the model has it: a deployment's name says nothing
/// about the model behind it. No wire sends reasoning to a model without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EncryptedReasoning {
    /// The model reasons, and its reasoning can be requested.
    Available,
    /// The table does not know. The request decides: a model counts as reasoning if the provider options contain
    /// `reasoning`, or `reasoning.encrypted_content` in `include`.
    #[default]
    Unknown,
    /// The model does not reason.
    Unavailable,
}

/// The cases in which a request may require a call.
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

/// The thinking that the provider options ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thinking {
    /// The request asks for it.
    Requested,
    /// The request does not ask for it.
    Unset,
}

/// The request settings that a model accepts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AcceptedSettings {
    /// The temperature.
    pub temperature: Option<f64>,
    /// The probability mass to sample from.
    pub top_p: Option<f64>,
    /// The sequences that end the answer.
    pub stop: Vec<String>,
    /// The setting for several calls in one turn.
    pub parallel_tool_calls: Option<bool>,
    /// The settings that are left off.
    pub dropped: Vec<Dropped>,
    /// Request parts that the model is not known to support, but that are sent.
    pub warnings: Vec<RequestWarning>,
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
            joint_sampling: true,
            stop: true,
            prefill: true,
            images: true,
            image_results: true,
            encrypted_reasoning: EncryptedReasoning::Unknown,
            bound_reasoning: false,
            context_tokens: None,
            max_output_tokens: None,
        }
    }
}

impl Capabilities {
    /// Reports whether the model may read reasoning. Only a model known to have none may not.
    pub(crate) fn may_reason(&self) -> bool {
        self.encrypted_reasoning != EncryptedReasoning::Unavailable
    }

    /// Returns the request settings that the model accepts.
    ///
    /// A setting that the model is documented to reject is left off. If the request would mean something else without
    /// it, that is an error.
    pub fn accept(&self, request: &TurnRequest, thinking: Thinking) -> Result<AcceptedSettings, RequestError> {
        let model = &request.model;
        if !self.tools && !request.tools.is_empty() {
            return Err(unsupported(model, "tools", "send the request without tools, or choose another model"));
        }
        if !self.structured_output && request.output_format.is_some() {
            let advice = "describe the format in the instructions, or choose another model";
            return Err(unsupported(model, "answers in a requested format", advice));
        }
        self.check_choice(request, thinking)?;

        let mut accepted = AcceptedSettings {
            temperature: request.temperature,
            top_p: request.top_p,
            stop: request.stop.clone(),
            parallel_tool_calls: request.parallel_tool_calls,
            dropped: Vec::new(),
            warnings: Vec::new(),
        };
        if !self.sampling {
            for (name, setting) in [("temperature", &mut accepted.temperature), ("top_p", &mut accepted.top_p)] {
                if setting.take().is_some() {
                    let reason =
                        format!("`{model}` rejects it; to send it anyway, set it in the options of the provider");
                    accepted.dropped.push(Dropped::setting(name, reason));
                }
            }
        }
        if !self.joint_sampling && accepted.temperature.is_some() && accepted.top_p.is_some() {
            // A model that thinks takes no temperature but its own.
            let (name, setting) = match thinking {
                Thinking::Requested => ("temperature", &mut accepted.temperature),
                Thinking::Unset => ("top_p", &mut accepted.top_p),
            };
            *setting = None;
            let reason = format!("`{model}` takes `temperature` or `top_p`, and not both");
            accepted.dropped.push(Dropped::setting(name, reason));
        }
        if !self.stop && !accepted.stop.is_empty() {
            accepted.stop.clear();
            accepted.dropped.push(Dropped::setting("stop", format!("`{model}` rejects it")));
        }
        // A model without parallel calls rejects the setting, even though it asks for its only behaviour.
        if !self.parallel_calls && accepted.parallel_tool_calls.take() == Some(true) {
            let reason = format!("`{model}` makes one call at a time, and rejects the setting");
            accepted.dropped.push(Dropped::setting("parallel_tool_calls", reason));
        }
        accepted.warnings.extend(self.image_warning(request));
        if let (Some(most), Some(asked)) = (self.max_output_tokens, request.max_output_tokens)
            && asked > most
        {
            let message = format!("{asked} tokens are asked for, and `{model}` is known to write at most {most}");
            accepted.warnings.push(RequestWarning::new("max_output_tokens", message));
        }
        Ok(accepted)
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

    fn image_warning(&self, request: &TurnRequest) -> Option<RequestWarning> {
        if self.images && self.image_results {
            return None;
        }
        let has_image = |parts: &[ContentPart]| parts.iter().any(|part| matches!(part, ContentPart::Image(_)));
        let is_unread = |item: &Item| match item {
            Item::Message(Message { content, .. }) => !self.images && has_image(content),
            Item::ToolOutput(output) => match &output.output {
                CallOutputBody::Parts(parts) => !self.image_results && has_image(parts),
                CallOutputBody::Text(_) => false,
            },
            _ => false,
        };
        let at = request.history.iter().position(is_unread)?;
        let place = if self.images { "images in the results of tools" } else { "images" };
        let message =
            format!("item {at} of the history has some, and `{}` is not known to read {place}", request.model);
        Some(RequestWarning::new("images", message))
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
    fn what_a_model_is_documented_to_reject_and_cannot_be_left_off_is_an_error_with_a_remedy() {
        let tool = [ToolDescriptor::new("t", json!({"type": "object"}))];
        let all = Capabilities::default();
        let required = ToolChoice::Required;
        let table = [
            (Capabilities { tools: false, ..all }, request().tools(&tool), "without tools"),
            (
                Capabilities { structured_output: false, ..all },
                request().output_format(OutputFormat::new("o", json!({}))),
                "in the instructions",
            ),
            (
                Capabilities { forced_choice: ForcedChoice::WithoutThinking, ..all },
                request().tool_choice(required.clone()),
                "do not ask for thinking",
            ),
            (Capabilities { forced_choice: ForcedChoice::Never, ..all }, request().tool_choice(required), "Auto"),
        ];
        for (capabilities, request, remedy) in table {
            let error = capabilities.accept(&request, Thinking::Requested).unwrap_err().to_string();
            assert!(error.contains(remedy) && error.contains("`m`"), "{error}");
            all.accept(&request, Thinking::Requested).unwrap();
        }
    }

    #[test]
    fn a_setting_that_a_model_rejects_is_left_off_and_reported() {
        let asked = request().temperature(0.5).top_p(0.25).stop("END").allow_parallel_calls();
        let all = Capabilities::default();
        let accepted = all.accept(&asked, Thinking::Unset).unwrap();
        assert_eq!(
            (accepted.temperature, accepted.top_p, accepted.parallel_tool_calls),
            (Some(0.5), Some(0.25), Some(true))
        );
        assert_eq!((accepted.stop.len(), accepted.dropped.len(), accepted.warnings.len()), (1, 0, 0));

        let few = Capabilities { sampling: false, stop: false, parallel_calls: false, ..all };
        let accepted = few.accept(&asked, Thinking::Unset).unwrap();
        assert_eq!((accepted.temperature, accepted.top_p, accepted.parallel_tool_calls), (None, None, None));
        assert_eq!(accepted.stop, [""; 0]);
        let parts: Vec<_> = accepted.dropped.iter().map(|dropped| &*dropped.part).collect();
        assert_eq!(parts, ["temperature", "top_p", "stop", "parallel_tool_calls"]);
        assert!(accepted.dropped[0].reason.contains("`m` rejects it"), "{}", accepted.dropped[0]);

        let accepted = few.accept(&request().forbid_parallel_calls(), Thinking::Unset).unwrap();
        assert_eq!((accepted.parallel_tool_calls, accepted.dropped.len()), (None, 0), "it is what the model does");
    }

    #[test]
    fn one_of_two_settings_of_sampling_is_left_off_where_they_exclude_each_other() {
        let one = Capabilities { joint_sampling: false, ..Capabilities::default() };
        let asked = request().temperature(0.5).top_p(0.25);
        for (thinking, kept, lost) in
            [(Thinking::Unset, (Some(0.5), None), "top_p"), (Thinking::Requested, (None, Some(0.25)), "temperature")]
        {
            let accepted = one.accept(&asked, thinking).unwrap();
            assert_eq!(((accepted.temperature, accepted.top_p), &*accepted.dropped[0].part), (kept, lost));
        }
        for alone in [request().temperature(0.5), request().top_p(0.25)] {
            assert_eq!(one.accept(&alone, Thinking::Unset).unwrap().dropped, []);
        }
    }

    #[test]
    fn what_a_row_doubts_is_sent_with_a_warning() {
        let all = Capabilities::default();
        let seen = || TurnRequest::new("m", vec![Item::Message(Message::new(Role::User, image()))]);
        let returned = || TurnRequest::new("m", vec![Item::ToolOutput(ToolCallOutput::new("c", image()))]);
        for (capabilities, request, part, message) in [
            (Capabilities { images: false, ..all }, seen(), "images", "not known to read images"),
            (Capabilities { image_results: false, ..all }, returned(), "images", "in the results of tools"),
            (
                Capabilities { max_output_tokens: Some(9), ..all },
                request().max_output_tokens(10),
                "max_output_tokens",
                "at most 9",
            ),
        ] {
            let warnings = capabilities.accept(&request, Thinking::Unset).unwrap().warnings;
            assert_eq!((warnings.len(), &*warnings[0].part), (1, part));
            assert!(warnings[0].to_string().contains(message), "{}", warnings[0]);
            assert_eq!(all.accept(&request, Thinking::Unset).unwrap().warnings, []);
        }
        let elsewhere = Capabilities { image_results: false, ..all }.accept(&seen(), Thinking::Unset).unwrap();
        assert_eq!(elsewhere.warnings, []);
    }

    #[test]
    fn a_choice_may_be_forced_without_thinking() {
        let capabilities = Capabilities { forced_choice: ForcedChoice::WithoutThinking, ..Capabilities::default() };
        let request = request().tool_choice(ToolChoice::tool("t"));
        capabilities.accept(&request, Thinking::Unset).unwrap();
        capabilities.accept(&request, Thinking::Requested).unwrap_err();
    }
}
