//! The JSON Schema dialects that providers accept: one walk, and each provider's rules as data.
//!
//! ```text
//! anthropic.rs, gemini.rs, openai.rs, mcp.rs   the rules of a provider (rules.rs has their types)
//! render.rs, render/                           the walk that follows them
//! envelope.rs                                  schemas that are sent as they are
//! group.rs, object_rule.rs, kind.rs            the schema of one value, with its references and the parts of `allOf`
//! keyword.rs, sentence.rs, form.rs             keywords by treatment, in words, and the rendered form
//! key.rs, limit.rs, pattern.rs                 names, sizes and regular expressions that a provider accepts
//! ```
//!
//! A new provider is a rules file. The walk names no provider.

mod anthropic;
mod envelope;
mod form;
mod gemini;
mod group;
mod key;
mod keyword;
mod kind;
mod limit;
mod mcp;
mod object_rule;
mod openai;
mod pattern;
mod render;
mod rules;
mod sentence;

pub use self::anthropic::AnthropicDialect;
pub use self::gemini::GeminiDialect;
pub use self::mcp::McpDialect;
pub use self::openai::OpenAiDialect;
