//! The events in which a response is streamed.

use serde_json::{Value, json};

/// Returns the events that carry a response, with texts cut into pieces of so many characters.
pub(super) fn events(response: &Value, size: usize) -> Vec<Value> {
    let mut begun = response.clone();
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    begun["usage"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": begun}),
        json!({"type": "response.in_progress", "response": begun}),
    ];
    for (index, item) in response["output"].as_array().unwrap().iter().enumerate() {
        events.extend(events_of(index, item, size));
    }
    let last = match response["status"].as_str() {
        Some(status) => format!("response.{status}"),
        None => "response.completed".to_owned(),
    };
    events.push(json!({"type": last, "response": response}));
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(at);
    }
    events
}

/// Returns the events that carry one item.
pub(super) fn events_of(index: usize, item: &Value, size: usize) -> Vec<Value> {
    let mut begun = item.clone();
    let served = Served { index, item, size };
    let changes = match item["type"].as_str().unwrap() {
        "message" => {
            begun["content"] = json!([]);
            served.message()
        }
        "reasoning" => {
            begun["summary"] = json!([]);
            served.reasoning()
        }
        "function_call" => {
            begun["arguments"] = json!("");
            served.text("function_call_arguments", "arguments")
        }
        "mcp_call" => {
            begun["arguments"] = json!("");
            [served.text("mcp_call_arguments", "arguments"), vec![served.change("mcp_call.completed", &json!({}))]]
                .concat()
        }
        "custom_tool_call" => {
            begun["input"] = json!("");
            served.text("custom_tool_call_input", "input")
        }
        "code_interpreter_call" => served.text("code_interpreter_call_code", "code"),
        "web_search_call" => vec![served.change("web_search_call.searching", &json!({}))],
        _ => Vec::new(),
    };
    begun["status"] = json!("in_progress");
    let added = event("output_item.added", index, &json!({"item": begun}));
    let done = event("output_item.done", index, &json!({"item": item}));
    [vec![added], changes, vec![done]].concat()
}

/// Creates an event about the item at a position.
pub(super) fn event(kind: &str, index: usize, members: &Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}"), "output_index": index});
    event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    event
}

/// An item that is streamed.
struct Served<'i> {
    index: usize,
    item: &'i Value,
    size: usize,
}

impl Served<'_> {
    fn change(&self, kind: &str, members: &Value) -> Value {
        let mut event = event(kind, self.index, members);
        event["item_id"] = self.item["id"].clone();
        event
    }

    fn deltas(&self, kind: &str, text: &str) -> Vec<Value> {
        let characters: Vec<char> = text.chars().collect();
        let pieces = characters.chunks(self.size).map(|piece| piece.iter().collect::<String>());
        pieces.map(|piece| self.change(&format!("{kind}.delta"), &json!({"delta": piece}))).collect()
    }

    /// Returns the pieces of a member, and the event that closes it.
    fn text(&self, kind: &str, member: &str) -> Vec<Value> {
        let mut events = self.deltas(kind, self.item[member].as_str().unwrap());
        events.push(self.change(&format!("{kind}.done"), &json!({member: self.item[member]})));
        events
    }

    fn message(&self) -> Vec<Value> {
        let mut events = Vec::new();
        for (index, part) in self.item["content"].as_array().unwrap().iter().enumerate() {
            let mut of_part = vec![self.change("content_part.added", &json!({"part": {"type": part["type"]}}))];
            if let Some(text) = part["text"].as_str() {
                of_part.extend(self.deltas("output_text", text));
                of_part.push(self.change("output_text.done", &json!({"text": text})));
            }
            if let Some(refusal) = part["refusal"].as_str() {
                of_part.extend(self.deltas("refusal", refusal));
                of_part.push(self.change("refusal.done", &json!({"refusal": refusal})));
            }
            for annotation in part["annotations"].as_array().into_iter().flatten() {
                of_part.push(self.change("output_text.annotation.added", &json!({"annotation": annotation})));
            }
            of_part.push(self.change("content_part.done", &json!({"part": part})));
            events.extend(numbered(of_part, "content_index", index));
        }
        events
    }

    fn reasoning(&self) -> Vec<Value> {
        let mut events = Vec::new();
        for (index, part) in self.item["summary"].as_array().unwrap().iter().enumerate() {
            let text = part["text"].as_str().unwrap();
            let mut of_part = vec![self.change("reasoning_summary_part.added", &json!({"part": part}))];
            of_part.extend(self.deltas("reasoning_summary_text", text));
            of_part.push(self.change("reasoning_summary_text.done", &json!({"text": text})));
            of_part.push(self.change("reasoning_summary_part.done", &json!({"part": part})));
            events.extend(numbered(of_part, "summary_index", index));
        }
        for (index, part) in self.item["content"].as_array().into_iter().flatten().enumerate() {
            let of_part = self.deltas("reasoning_text", part["text"].as_str().unwrap());
            events.extend(numbered(of_part, "content_index", index));
        }
        events
    }
}

fn numbered(mut events: Vec<Value>, member: &str, index: usize) -> Vec<Value> {
    for event in &mut events {
        event[member] = json!(index);
    }
    events
}
