//! haft's macros: `#[tool]`, `#[tools]`, `toolkit![]`, `compose![]`, `#[derive(Services)]`, `#[derive(Failure)]` and
//! `#[derive(ToolCalls)]`.
//!
//! Use them through the crate `haft`, which documents each with examples. This file only converts the compiler's tokens
//! into those of `proc_macro2` and back; functions that tests can call do the work. Macros expand only to haft's public
//! API.

#![allow(missing_docs, reason = "`haft` documents the macros; text here would be appended to its pages")]

mod argument;
mod compose;
mod crate_path;
mod diagnostic;
mod documentation;
mod duration;
mod failure;
mod kit;
mod name;
mod nearest;
mod services;
mod span;
mod tool;
mod tool_calls;
mod toolkit;
mod tools;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(arguments.into(), item.into()).into()
}

#[proc_macro]
pub fn toolkit(tools: TokenStream) -> TokenStream {
    toolkit::expand(tools.into()).into()
}

#[proc_macro_attribute]
pub fn tools(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tools::expand(arguments.into(), item.into()).into()
}

#[proc_macro]
pub fn compose(kits: TokenStream) -> TokenStream {
    compose::expand(kits.into()).into()
}

#[proc_macro_derive(Services, attributes(service))]
pub fn derive_services(item: TokenStream) -> TokenStream {
    services::expand(item.into()).into()
}

#[proc_macro_derive(Failure, attributes(failure))]
pub fn derive_failure(item: TokenStream) -> TokenStream {
    failure::expand(item.into()).into()
}

#[proc_macro_derive(ToolCalls, attributes(tool_calls, other, value))]
pub fn derive_tool_calls(item: TokenStream) -> TokenStream {
    tool_calls::expand(item.into()).into()
}
