//! Requests: the settings, and the body as a whole.

mod choice;
mod content;
mod input;
mod item;
mod output;

use std::borrow::Cow;

use haft_core::TurnRequest;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::choice::Choice;
use self::input::InputWriter;
use self::item::InputItem;
use crate::profile::{Profile, RenderTools, RenderedOutput};
use crate::request_body::{BodyMembers, options_of};
use crate::wire::{Delivery, Dropped, ReadContext, WireRequest};
use crate::wire_error::RequestError;

const PATH: &str = "/responses";
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
/// The starts of the names of models that do not reason. They reject the request for encrypted reasoning.
const WITHOUT_REASONING: [&str; 6] = ["gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat", "davinci-", "babbage-"];
/// The limits of the API on metadata: pairs, characters of a key, characters of a value.
const METADATA: (usize, usize, usize) = (16, 64, 512);

/// The state that the provider keeps, by the options of the request.
#[derive(Clone, Copy, Debug)]
struct State {
    /// The provider stores responses, so that items can be named by their ids.
    stored: bool,
    /// The request continues what the provider stored, so that the history may contain only a part.
    continued: bool,
}

/// The body of a request.
struct Body<'r> {
    request: &'r TurnRequest,
    options: Option<&'r Map<String, Value>>,
    state: State,
    delivery: Delivery,
    input: Vec<InputItem<'r>>,
    /// The tools, unless there are none.
    tools: Option<&'r RawValue>,
    choice: Option<Choice<'r>>,
    format: Option<Format<'r>>,
    metadata: Vec<(&'r str, Cow<'r, str>)>,
}

/// The format of the answer.
struct Format<'r> {
    name: Cow<'r, str>,
    description: Option<&'r str>,
    output: &'r RenderedOutput,
}

pub(super) fn write(profile: &Profile, request: &TurnRequest, delivery: Delivery) -> Result<WireRequest, RequestError> {
    let options = options_of(request, profile.provider())?;
    let state = State::of(options);
    let tools = request.render_tools(profile);
    let rendered = request.output_format.as_ref().map(|format| profile.render_output(format)).transpose()?;
    let names = profile.name_rule();
    let format = request.output_format.as_ref().zip(rendered.as_deref()).map(|(format, output)| Format {
        name: if format.name.is_empty() { Cow::Borrowed("output") } else { names.encode(&format.name) },
        description: format.description.as_deref(),
        output,
    });

    let mut dropped = Vec::new();
    let body = Body {
        request,
        options,
        state,
        delivery,
        choice: choice::write(&request.tool_choice, &tools, &mut dropped)?,
        tools: (!tools.is_empty()).then(|| tools.raw_list()),
        input: InputWriter::new(profile.provider(), &tools, state, &mut dropped).write(&request.history)?,
        format,
        metadata: metadata(request, &mut dropped),
    };
    if !request.stop.is_empty() {
        dropped.push(Dropped::setting("stop", "the Responses API has no sequences that end the answer"));
    }
    if options.is_some_and(|options| options.contains_key("stream")) {
        dropped.push(Dropped::setting("provider_options.stream", "the delivery decides whether to stream"));
    }
    let text = serde_json::to_string(&body).map_err(|error| RequestError::Invalid {
        param: "request".to_owned(),
        message: format!("the request can't be written as JSON: {error}"),
    })?;
    let mut context = ReadContext::new(tools.clone());
    if let Some(rendered) = &rendered {
        context = context.output(rendered.codec.clone());
    }
    let mut sent = WireRequest::new(PATH, text, context);
    sent.dropped = dropped;
    Ok(sent)
}

/// Returns the metadata within the limits of the API, which takes texts only.
fn metadata<'r>(request: &'r TurnRequest, dropped: &mut Vec<Dropped>) -> Vec<(&'r str, Cow<'r, str>)> {
    let (pairs, key_chars, value_chars) = METADATA;
    let mut metadata = Vec::new();
    for (key, value) in &request.metadata {
        let text = value.as_str().map_or_else(|| Cow::Owned(value.to_string()), Cow::Borrowed);
        let reason = if metadata.len() == pairs {
            format!("the Responses API takes {pairs} entries")
        } else if key.chars().count() > key_chars || text.chars().count() > value_chars {
            format!("the Responses API takes keys of {key_chars} and values of {value_chars} characters")
        } else {
            metadata.push((key.as_str(), text));
            continue;
        };
        dropped.push(Dropped::setting(format!("metadata.{key}"), reason));
    }
    metadata
}

impl State {
    fn of(options: Option<&Map<String, Value>>) -> Self {
        let option = |name: &str| options.and_then(|options| options.get(name)).filter(|value| !value.is_null());
        let continued = option("previous_response_id").is_some() || option("conversation").is_some();
        // Without the option the member is sent as false; an option that is null leaves it to the API, which stores.
        let is_removed = options.is_some_and(|options| options.get("store").is_some_and(Value::is_null));
        Self { stored: is_removed || option("store") == Some(&Value::Bool(true)), continued }
    }
}

impl Body<'_> {
    /// Returns what the response shall include, ours and that of the options.
    fn include(&self) -> Vec<&str> {
        let mut include = Vec::new();
        if !self.state.stored && may_reason(&self.request.model) {
            include.push(ENCRYPTED_REASONING);
        }
        let option = self.options.and_then(|options| options.get("include"));
        for entry in option.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !include.contains(&entry) {
                include.push(entry);
            }
        }
        include
    }
}

/// Reports whether a model may reason. Names may have the prefix of a gateway or of a tuned model.
fn may_reason(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    !WITHOUT_REASONING.iter().any(|start| name.starts_with(start))
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut body = BodyMembers::new(serializer.serialize_map(None)?, self.options);
        body.put("model", &request.model)?;
        body.put_some("instructions", request.instructions.as_ref())?;
        body.put("input", &self.input)?;
        body.put_some("tools", self.tools)?;
        body.put_some("tool_choice", self.choice.as_ref())?;
        body.put_some("parallel_tool_calls", request.parallel_tool_calls.filter(|_| self.tools.is_some()))?;
        body.put_some("temperature", request.temperature)?;
        body.put_some("top_p", request.top_p)?;
        body.put_some("max_output_tokens", request.max_output_tokens)?;
        body.put_some("text", self.format.as_ref().map(TextSetting))?;
        body.put_some("metadata", (!self.metadata.is_empty()).then(|| Pairs(&self.metadata)))?;
        body.put("store", &false)?;
        let include = self.include();
        match self.options.and_then(|options| options.get("include")) {
            Some(Value::Null) => body.omit("include"),
            _ if include.is_empty() => body.omit("include"),
            _ => body.put_fixed("include", &include)?,
        }
        match self.delivery {
            Delivery::Streamed => body.put_fixed("stream", &true)?,
            Delivery::Whole => body.omit("stream"),
        }
        body.end()
    }
}

/// The member `text` with a format.
struct TextSetting<'a>(&'a Format<'a>);

impl Serialize for TextSetting<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry("format", self.0)?;
        map.end()
    }
}

impl Serialize for Format<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "json_schema")?;
        map.serialize_entry("name", &self.name)?;
        if let Some(description) = self.description {
            map.serialize_entry("description", description)?;
        }
        map.serialize_entry("schema", &self.output.schema)?;
        map.serialize_entry("strict", &self.output.strict)?;
        map.end()
    }
}

struct Pairs<'a>(&'a [(&'a str, Cow<'a, str>)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (*key, value)))
    }
}
