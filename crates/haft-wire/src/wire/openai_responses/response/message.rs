//! Model messages: text with citations, refusals, and parts that are kept as they are.

use std::borrow::Cow;

use haft_core::{Citation, ContentPart, Message, RefusalPart, Role, TextPart};
use serde_json::{Map, Value};

use crate::wire::ReadContext;
use crate::wire::openai::kept_item;

/// Reads a message. Returns `None` if it has no content.
pub(super) fn message(provider: &str, context: &ReadContext, mut item: Map<String, Value>) -> Option<Message> {
    let content = match item.shift_remove("content") {
        Some(Value::Array(parts)) => parts.into_iter().map(|part| content_part(provider, context, part)).collect(),
        Some(Value::String(text)) => vec![ContentPart::Text(decoded(context, text))],
        _ => Vec::new(),
    };
    if content.is_empty() {
        return None;
    }
    let mut message = Message::new(Role::Assistant, content);
    item.shift_remove("type");
    item.shift_remove("role");
    item.retain(|_, value| !value.is_null());
    if !item.is_empty() {
        message.provider_data.insert(provider.to_owned(), Value::Object(item));
    }
    Some(message)
}

/// Reads a citation. The annotation is kept whole, so that it can be sent back.
pub(in crate::wire::openai_responses) fn citation(provider: &str, annotation: Value) -> Citation {
    let text = |member: &str| annotation.get(member).and_then(Value::as_str).map(ToOwned::to_owned);
    let number = |member: &str| annotation.get(member).and_then(Value::as_u64);
    let mut citation = Citation::default();
    citation.url = text("url");
    citation.title = text("title").or_else(|| text("filename"));
    citation.file_id = text("file_id");
    citation.start = number("start_index");
    citation.end = number("end_index");
    citation.provider_data.insert(provider.to_owned(), annotation);
    citation
}

fn content_part(provider: &str, context: &ReadContext, part: Value) -> ContentPart {
    let Value::Object(mut part) = part else {
        return ContentPart::text(part.as_str().map_or_else(|| part.to_string(), ToOwned::to_owned));
    };
    let text_of = match part.get("type").and_then(Value::as_str) {
        Some("output_text" | "text") => "text",
        Some("refusal") => "refusal",
        _ => return ContentPart::Unknown(kept_item::keep(provider, &part)),
    };
    let is_refusal = text_of == "refusal";
    let text = match part.get_mut(text_of) {
        Some(Value::String(text)) => std::mem::take(text),
        None | Some(Value::Null) => String::new(),
        Some(_) => return ContentPart::Unknown(kept_item::keep(provider, &part)),
    };
    if is_refusal {
        let mut refusal = RefusalPart::default();
        refusal.text = text;
        return ContentPart::Refusal(refusal);
    }
    let mut read = decoded(context, text);
    if let Some(Value::Array(annotations)) = part.shift_remove("annotations") {
        read.citations = annotations.into_iter().map(|annotation| citation(provider, annotation)).collect();
    }
    part.retain(|key, value| !matches!(key.as_str(), "type" | "text") && !is_nothing(value));
    if !part.is_empty() {
        read.provider_data.insert(provider.to_owned(), Value::Object(part));
    }
    ContentPart::Text(read)
}

/// Returns text in the shape of the requested schema.
fn decoded(context: &ReadContext, text: String) -> TextPart {
    match context.output.decode(&text) {
        Ok(Cow::Owned(decoded)) => TextPart::new(decoded),
        Ok(Cow::Borrowed(_)) | Err(_) => TextPart::new(text),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
