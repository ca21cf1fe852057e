//! A tool's kind, and the `#[tool(…)]` arguments that belong to it.
//!
//! A function is its tool's handler. Tools without a handler are structs: a signal's or an interaction's fields are its
//! parameters, and the fields of a tool that is built into a provider are its settings.

use quote::ToTokens;
use syn::{Expr, LitStr, Type};

use crate::argument::{Argument, Arguments};
use crate::diagnostic::Diagnostics;

/// The item that `#[tool]` is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolForm {
    Function,
    Struct,
}

/// A tool's kind, as written.
#[derive(Debug)]
pub(crate) enum KindOptions {
    /// Nothing is written: the function runs the calls.
    Local,
    /// `signal`.
    Signal(Argument),
    /// `interaction`.
    Interaction(Argument),
    /// `provider = "vendor.tool"`.
    Provider(Box<ProviderOptions>),
}

/// The arguments for a tool that is built into a provider.
#[derive(Debug)]
pub(crate) struct ProviderOptions {
    pub(crate) id: Option<LitStr>,
    pub(crate) provider_name: Option<LitStr>,
    /// The settings for a tool that is a function.
    pub(crate) args: Option<Expr>,
}

/// The types for a tool that no function declares.
#[derive(Debug, Default)]
pub(crate) struct DeclaredTypes {
    pub(crate) params: Option<Type>,
    pub(crate) success: Option<Type>,
    pub(crate) failure: Option<Type>,
}

/// The arguments that concern a handler.
const HANDLER: [&str; 11] = [
    "blocking",
    "refine",
    "to_model",
    "failure_mode",
    "timeout",
    "idle_timeout",
    "concurrency",
    "emit_buffer",
    "output_cap",
    "overflow",
    "emits",
];

/// The arguments that declare a type.
const TYPES: [&str; 3] = ["params", "success", "failure"];

impl KindOptions {
    /// Takes the kind's arguments, and reports those that the kind can't have.
    pub(crate) fn take(arguments: &mut Arguments, form: ToolForm, diagnostics: &mut Diagnostics) -> Self {
        let kind = Self::take_kind(arguments, diagnostics);
        match (form, &kind) {
            (ToolForm::Function, Self::Local | Self::Provider(_)) => {
                for argument in TYPES.iter().filter_map(|name| arguments.take(name)) {
                    diagnostics.reject(&argument.name, "the signature of the function declares the types: remove it");
                }
            }
            (ToolForm::Struct, Self::Signal(_) | Self::Interaction(_) | Self::Provider(_)) => {
                kind.reject_unsupported(arguments, diagnostics);
            }
            // The form itself is wrong, and reported as such.
            (ToolForm::Function, _) | (ToolForm::Struct, Self::Local) => {}
        }
        kind
    }

    /// Returns the kind with its article, for messages.
    pub(crate) fn spelled(&self) -> &'static str {
        match self {
            Self::Local => "a local tool",
            Self::Signal(_) => "a signal",
            Self::Interaction(_) => "an interaction",
            Self::Provider(_) => "a tool that its provider runs",
        }
    }

    fn take_kind(arguments: &mut Arguments, diagnostics: &mut Diagnostics) -> Self {
        let [signal, interaction, provider] =
            ["signal", "interaction", "provider"].map(|name| arguments.take(name).filter(|a| is_set(a, diagnostics)));
        let [provider_name, args] = ["provider_name", "args"].map(|name| arguments.take(name));
        let given: Vec<&Argument> = [&signal, &interaction, &provider].into_iter().flatten().collect();
        if let [first, second, ..] = given[..] {
            let message = format!("a tool has one kind, and this is `{}` already: keep one", first.name);
            diagnostics.reject(&second.name, message);
        }
        if provider.is_none() {
            for argument in [&provider_name, &args].into_iter().flatten() {
                let remedy = if given.is_empty() { "add `provider = \"vendor.tool\"`" } else { "remove it" };
                let message = format!("only a tool that is built into a provider has `{}`: {remedy}", argument.name);
                diagnostics.reject(&argument.name, message);
            }
        }
        match (signal, interaction, provider) {
            (Some(signal), ..) => Self::Signal(signal),
            (None, Some(interaction), _) => Self::Interaction(interaction),
            (None, None, Some(provider)) => Self::Provider(Box::new(ProviderOptions {
                id: diagnostics.keep(provider_id(&provider)),
                provider_name: provider_name.and_then(|argument| diagnostics.keep(argument.text_value())),
                args: args.and_then(|argument| diagnostics.keep(argument.assigned("`args = expression`"))),
            })),
            (None, None, None) => Self::Local,
        }
    }

    /// Reports everything that a tool without a handler can't have.
    fn reject_unsupported(&self, arguments: &mut Arguments, diagnostics: &mut Diagnostics) {
        for argument in HANDLER.iter().filter_map(|name| arguments.take(name)) {
            let message = format!("`{}` concerns a handler, and {} has none: remove it", argument.name, self.spelled());
            diagnostics.reject(&argument.name, message);
        }
        if let Some(argument) = arguments.take("type") {
            diagnostics.reject(&argument.name, "the struct is the tool's type: remove it, and name the struct so");
        }
        if let Self::Provider(options) = self {
            if let Some(args) = &options.args {
                diagnostics.reject(args, "the fields of the struct are the settings: write them as fields");
            }
            if let Some(argument) = arguments.take("approval") {
                let message = "the provider has run a call before anybody could be asked: remove it";
                diagnostics.reject(&argument.name, message);
            }
            return;
        }
        let unused: &[&str] = if matches!(self, Self::Signal(_)) { &TYPES } else { &["params", "failure"] };
        for argument in unused.iter().filter_map(|name| arguments.take(name)) {
            let message = match argument.name.to_string().as_str() {
                "params" => "the fields of the struct are the parameters: write them as fields".to_owned(),
                name => format!("{} declares no {name}: remove it", self.spelled()),
            };
            diagnostics.reject(&argument.name, message);
        }
    }
}

impl DeclaredTypes {
    /// Takes the types that are declared by arguments.
    pub(crate) fn take(arguments: &mut Arguments, diagnostics: &mut Diagnostics) -> Self {
        let mut declared = |name: &str| {
            let argument = arguments.take(name)?;
            diagnostics.keep(argument.assigned(&format!("`{name} = Type`")))
        };
        Self { params: declared("params"), success: declared("success"), failure: declared("failure") }
    }
}

/// Returns whether the argument is given and not switched off. An argument with its own value is given.
fn is_set(argument: &Argument, diagnostics: &mut Diagnostics) -> bool {
    argument.name == "provider" || diagnostics.keep(argument.flag()).unwrap_or(true)
}

fn provider_id(argument: &Argument) -> syn::Result<LitStr> {
    const FORM: &str = "`provider = \"vendor.tool\"`";
    let id: LitStr = argument.assigned(FORM)?;
    let text = id.value();
    let is_clean = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    match text.split_once('.') {
        Some((vendor, tool)) if is_clean && !vendor.is_empty() && !tool.is_empty() => Ok(id),
        _ => Err(syn::Error::new_spanned(id.to_token_stream(), format!("write {FORM}, the id with its vendor"))),
    }
}
