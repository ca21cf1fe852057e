//! Anthropic's Messages API.

mod tool;

pub(crate) use self::tool::AnthropicToolForm;
