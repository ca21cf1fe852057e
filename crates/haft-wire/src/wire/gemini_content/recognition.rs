//! The members by which Gemini's `generateContent` API is recognised.

use crate::wire::gemini_content::GeminiContent;
use crate::wire::response::recognition::Recognition;

impl GeminiContent {
    pub(crate) const RECOGNITION: Recognition = Recognition {
        is_response: |body| {
            let has_metadata = body.has_object("usageMetadata") || body.has_object("promptFeedback");
            body.text("object").is_empty() && (body.has_list("candidates") || has_metadata)
        },
        is_event: |_| false,
        is_error: |body| body.has_google_error() && body.text("type") != "error",
        streams_lists: true,
    };
}
