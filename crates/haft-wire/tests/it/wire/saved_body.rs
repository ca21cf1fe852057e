//! Saved responses: whole, as a list of chunks, as events, cut off, and errors.

use haft_core::{Turn, TurnRequest};
use haft_wire::{KnownWire, ReadContext, ReadError, RenderTools, WireEvent, read_body};
use serde_json::{Value, json};

/// Reads a body as a program with an event decoder does. The tests' events have one data line.
pub(crate) fn read_as(wire: KnownWire, body: &str) -> Result<Turn, ReadError> {
    let wire = wire.wire();
    let context = ReadContext::new(TurnRequest::new("", Vec::new()).render_tools(wire.profile()));
    read_body(&*wire, body, &context, |text, reader| {
        let (complete, rest) = text.rsplit_once("\n\n").unwrap_or(("", text));
        let data = |text: &'_ str| {
            text.lines().filter_map(|line| line.strip_prefix("data: ")).map(str::to_owned).collect::<Vec<_>>()
        };
        for data in data(complete) {
            reader.event(WireEvent::new(None, &data))?;
        }
        data(rest).iter().try_for_each(|data| reader.unfinished(WireEvent::new(None, data)))
    })
}

fn read(body: &str) -> Result<Turn, ReadError> {
    read_as(KnownWire::recognise(body).unwrap(), body)
}

fn events(events: &[Value]) -> String {
    let events: Vec<_> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    events.concat()
}

/// The same answer as a body and as events, for every wire.
fn answers() -> [(Value, String); 4] {
    let response = json!({"id": "r", "object": "response", "status": "completed", "output": [
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "t", "arguments": "{\"a\":1}", "status": "completed"},
    ]});
    let call = json!({"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}});
    let mut piece = call.clone();
    piece["index"] = json!(0);
    let chunk = |delta: Value, end: Value| json!({"id": "r", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let message = |content: Value, end: Value| json!({"id": "r", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": end, "usage": {"input_tokens": 1, "output_tokens": 1}});
    let block = |input: Value| json!({"type": "tool_use", "id": "c1", "name": "t", "input": input});
    let part = json!({"functionCall": {"id": "c1", "name": "t", "args": {"a": 1}}});
    let gemini =
        json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}]});
    [
        (
            response.clone(),
            events(&[
                json!({"type": "response.created", "response": {}}),
                json!({"type": "response.completed", "response": response}),
            ]),
        ),
        (
            json!({"id": "r", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
            events(&[chunk(json!({"tool_calls": [piece]}), Value::Null), chunk(json!({}), json!("tool_calls"))])
                + "data: [DONE]",
        ),
        (
            message(json!([block(json!({"a": 1}))]), json!("tool_use")),
            events(&[
                json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
                json!({"type": "content_block_start", "index": 0, "content_block": block(json!({}))}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"a\":1}"}}),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
                json!({"type": "message_stop"}),
            ]),
        ),
        (gemini.clone(), events(&[gemini])),
    ]
}

#[test]
fn whole_and_streamed_responses_have_the_same_calls() {
    for (wire, (body, events)) in KnownWire::ALL.into_iter().zip(answers()) {
        let whole = read(&format!("\u{feff}{body}\n")).unwrap();
        assert_eq!((whole.tool_calls().len(), whole.tool_calls()[0].name.as_str()), (1, "t"), "{wire}");
        assert_eq!(KnownWire::recognise(&events), Some(wire));
        // The empty line at the end is lost in many files.
        for events in [events.as_str(), events.trim_end()] {
            let streamed = read(events).unwrap_or_else(|error| panic!("{wire}: {error}\n{events}"));
            assert_eq!(streamed.tool_calls(), whole.tool_calls(), "{wire}");
        }
    }
}

#[test]
fn the_list_that_gemini_streams_is_read() {
    let [.., (chunk, _)] = answers();
    let begin = json!({"candidates": [{"content": {"parts": [{"text": "Let me look."}]}}]});
    let list = format!("[{begin:#}\n,\n{chunk:#}\n]\n");
    let turn = read(&list).unwrap();
    assert_eq!((turn.text().as_str(), turn.tool_calls().len()), ("Let me look.", 1));
    for end in [list.len() - 2, list.len() / 2, list.find(",\n{").unwrap()] {
        assert!(matches!(read(&list[..end]), Err(ReadError::Incomplete)), "{}", &list[..end]);
    }
    assert!(matches!(read(&format!("[{begin}]")), Err(ReadError::Incomplete)));
}

#[test]
fn streams_that_were_cut_off_are_incomplete() {
    for (wire, (_, events)) in KnownWire::ALL.into_iter().zip(answers()) {
        let last = events.trim_end().trim_end_matches("data: [DONE]").trim_end().rfind("data: ").unwrap();
        // Within the last event that ends the response, for Anthropic the one before it.
        let end = if wire == KnownWire::Anthropic { events[..last].rfind("data: ").unwrap() } else { last };
        for cut in [&events[..end + 12], &events[..end]] {
            if !cut.trim().is_empty() {
                let read = read_as(wire, cut);
                assert!(matches!(read, Err(ReadError::Incomplete)), "{wire}: {read:?}\n{cut}");
            }
        }
    }
}

#[test]
fn errors_have_the_message_of_the_provider() {
    let plain = json!({"error": {"message": "Incorrect API key", "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}});
    let google = json!({"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}});
    let anthropic = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for (body, message) in [
        (plain.to_string(), "Incorrect API key"),
        (google.to_string(), "Resource exhausted"),
        (format!("[{google:#}\n]"), "Resource exhausted"),
        (events(&[google]), "Resource exhausted"),
        (anthropic.to_string(), "Overloaded"),
        (format!("event: error\ndata: {anthropic}\n\n"), "Overloaded"),
        (json!({"error": "model not loaded"}).to_string(), "model not loaded"),
    ] {
        match read(&body) {
            Err(ReadError::Provider(report)) => assert_eq!(report.message, message),
            other => panic!("{body}: {other:?}"),
        }
    }
    // The error of one provider on the wire of another, as a server in front of it may send.
    for wire in KnownWire::ALL {
        match read_as(wire, &plain.to_string()) {
            Err(ReadError::Provider(report)) => assert!(report.message.contains("Incorrect API key"), "{wire}"),
            other => panic!("{wire}: {other:?}"),
        }
    }
}

#[test]
fn other_documents_are_errors() {
    for wire in KnownWire::ALL {
        for body in ["", " \u{feff}", "\u{feff}", "hello", "{}", "[1]", "[", "[{}]", "data: x\n\n", "data: {}\n\n"] {
            let error = read_as(wire, body).unwrap_err().to_string();
            assert!(!error.is_empty(), "{wire}: {body}");
        }
        let empty = read_as(wire, " \n").unwrap_err().to_string();
        assert_eq!(empty, "the response is empty; save the body that the provider sent");
    }
}
