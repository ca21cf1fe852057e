use haft::conversation::{ContentPart, Delta, Finish, Item, TurnRequest, Usage};
use haft::serde::de::DeserializeOwned;
use haft::serde_json::{from_str, json};
use haft::wire::{
    Delivery, Dropped, ErrorCause, ErrorReport, FunctionTool, McpDialect, Profile, ReadContext, ReadError, RenderTools,
    RequestError, StreamReader, TurnBuilder, Wire, WireEvent, WireRequest,
};

/// The API of Acme: `POST /turns`, answered with events.
#[derive(Debug)]
pub struct Acme(Profile);

impl Acme {
    pub fn new() -> Self {
        let form = |tool: &FunctionTool<'_>| json!({"name": tool.name, "purpose": tool.descriptor.description, "input": tool.schema});
        Self(Profile::new("acme", McpDialect, form))
    }
}

impl Wire for Acme {
    fn profile(&self) -> &Profile {
        &self.0
    }

    fn request(&self, request: &TurnRequest, _: Delivery) -> Result<WireRequest, RequestError> {
        let tools = request.render_tools(&self.0);
        let (mut history, mut dropped) = (Vec::new(), Vec::new());
        for (at, item) in request.history.iter().enumerate() {
            match item {
                Item::Message(message) if message.content.iter().all(|part| part.as_text().is_some()) => {
                    let text: String = message.content.iter().filter_map(ContentPart::as_text).collect();
                    history.push(json!({"by": message.role, "text": text}));
                }
                Item::ToolCall(call) => {
                    let (id, tool, input) = (&call.call_id, tools.wire_name(&call.name), tools.encode(call));
                    history.push(json!({"call": id, "tool": tool, "input": input}));
                }
                Item::ToolOutput(output) => {
                    let (id, text, failed) = (&output.call_id, output.output.to_string(), output.is_error);
                    history.push(json!({"result": id, "text": text, "failed": failed}));
                }
                _ => dropped.push(Dropped::item(at, "item", "Acme takes text, calls and results only")),
            }
        }
        let (must_call, limit) = (request.tool_choice.requires_call(), request.max_output_tokens);
        let body = json!({"model": request.model, "system": request.instructions, "history": history,
            "tools": tools.raw_list(), "must_call": must_call, "limit": limit});
        Ok(WireRequest::new("/turns", body.to_string(), ReadContext::new(tools)).dropped(dropped))
    }

    fn stream(&self, context: &ReadContext) -> Box<dyn StreamReader> {
        Box::new(AcmeStream(TurnBuilder::new(context)))
    }
}

struct AcmeStream(TurnBuilder);

impl StreamReader for AcmeStream {
    fn event(&mut self, event: WireEvent<'_>, deltas: &mut Vec<Delta>) -> Result<(), ReadError> {
        let Self(turn) = self;
        deltas.push(match event.name {
            Some("text") => turn.text(data::<String>(event)?),
            Some("thought") => turn.reasoning(data::<String>(event)?),
            Some("call") => data(event).map(|(id, name): (String, String)| turn.call_start(id, &name))?,
            Some("input") => data(event).map(|(id, json): (String, String)| turn.call_arguments(id, json))?,
            Some("usage") => data(event).map(|(read, written)| turn.usage(Usage::new(read, written)))?,
            Some("done") => Delta::complete(std::mem::take(turn).finish(Finish::from(&*data::<String>(event)?))),
            Some("error") => return Err(ReadError::Provider(ErrorReport::new(ErrorCause::Unavailable, event.data))),
            _ => return Ok(()),
        });
        Ok(())
    }
}

fn data<T: DeserializeOwned>(event: WireEvent<'_>) -> Result<T, ReadError> {
    from_str(event.data).map_err(|error| ReadError::json("an event", error))
}
