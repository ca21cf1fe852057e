//! The members by which Anthropic's Messages API is recognised.

use crate::wire::anthropic_messages::AnthropicMessages;
use crate::wire::response::recognition::Recognition;

/// The events that no other API has.
const EVENTS: [&str; 6] = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
];

impl AnthropicMessages {
    pub(crate) const RECOGNITION: Recognition = Recognition {
        is_response: |body| {
            let has_end = body.has_text("stop_reason") || body.has_object("usage");
            body.text("object").is_empty() && body.text("type") == "message" && (body.has_text("model") || has_end)
        },
        is_event: |event| EVENTS.contains(&event.text("type")),
        is_error: |body| body.has_error() && body.text("type") == "error",
        streams_lists: false,
    };
}
