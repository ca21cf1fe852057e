//! Gemini's `generateContent` API.

mod tool;

pub(crate) use self::tool::{GeminiToolForm, SchemaCarrier};
