//! OpenAI's Responses API.

mod tool;

pub(crate) use self::tool::ResponsesToolForm;
