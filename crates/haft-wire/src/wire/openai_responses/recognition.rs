//! The members by which OpenAI's Responses API is recognised.

use crate::wire::openai_responses::OpenAiResponses;
use crate::wire::response::recognition::Recognition;

impl OpenAiResponses {
    pub(crate) const RECOGNITION: Recognition = Recognition {
        is_response: |body| match body.text("object") {
            "response" => true,
            object => object.is_empty() && body.has_list("output") && body.has_text("status"),
        },
        is_event: |event| match event.text("type") {
            "error" => event.has_number("sequence_number") || !event.has_error(),
            kind => kind.starts_with("response."),
        },
        // Both of OpenAI's APIs and compatible servers have it.
        is_error: |body| body.has_error() && !body.has_google_error() && body.text("type") != "error",
        streams_lists: false,
    };
}
