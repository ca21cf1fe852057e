//! The members by which the Chat Completions API is recognised.

use crate::wire::openai_chat::OpenAiChat;
use crate::wire::response::recognition::Recognition;

impl OpenAiChat {
    pub(crate) const RECOGNITION: Recognition = Recognition {
        is_response: |body| match body.text("object") {
            "chat.completion" | "chat.completion.chunk" => true,
            object => object.is_empty() && body.has_list("choices"),
        },
        is_event: |_| false,
        // OpenAI's Responses API has the same errors, and counts.
        is_error: |_| false,
        streams_lists: false,
    };
}
