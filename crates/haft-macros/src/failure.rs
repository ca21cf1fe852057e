//! `#[derive(Failure)]`: a failure that the model reads.
//!
//! A struct is one case, an enum has one per variant. Each case has a message and reports whether the same call may
//! succeed later. A variant's attribute overrides its enum's.
//!
//! The type also becomes an `Error` that displays its message, so that `?` makes a declared failure of it in a handler.
//! A type that has its own `Display` (`display`) or `Error` (`error = false`) keeps it.

mod message;

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, Path, parse_quote};

use self::message::Message;
use crate::argument::{Argument, Arguments, KnownArguments};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::documentation;
use crate::duration;
use crate::name::words;

const ON_TYPE: KnownArguments = KnownArguments {
    attribute: "#[failure]",
    names: &["message", "display", "error", "retryable", "retry_after", "crate"],
    repeatable: &[],
};
const ON_VARIANT: KnownArguments = KnownArguments {
    attribute: "#[failure]",
    names: &["message", "display", "retryable", "retry_after"],
    repeatable: &[],
};

/// Expands to the implementation, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    match syn::parse2(tokens).and_then(|input| read(&input)) {
        Ok(failure) => failure.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// A type that derives `Failure`.
struct FailureType {
    krate: CratePath,
    name: Ident,
    generics: Generics,
    cases: Vec<FailureCase>,
    /// Set if the type has no `Display` and `Error` of its own.
    derives_error: bool,
}

/// A struct's or a variant's failure.
struct FailureCase {
    path: Path,
    message: MessageSource,
    retryable: bool,
    retry_after: Option<Duration>,
}

/// The origin of a case's message.
enum MessageSource {
    Written(Message),
    Display,
    Fixed(String),
}

/// One `#[failure(…)]`'s arguments.
#[derive(Default)]
struct FailureOptions {
    message: Option<syn::LitStr>,
    display: bool,
    retryable: Option<bool>,
    retry_after: Option<Duration>,
}

fn read(input: &DeriveInput) -> syn::Result<FailureType> {
    let mut diagnostics = Diagnostics::default();
    let mut arguments = arguments(&input.attrs, ON_TYPE, &mut diagnostics);
    let krate = arguments.take("crate").and_then(|krate| diagnostics.keep(krate.assigned::<Path>("`crate = path`")));
    let error = arguments.take("error");
    let error = error.as_ref().map(Argument::flag).and_then(|flag| diagnostics.keep(flag));
    let whole = FailureOptions::read(&mut arguments, &mut diagnostics);
    let mut cases = Vec::new();
    match &input.data {
        Data::Struct(data) => {
            let name = (&input.ident, documentation::text(&input.attrs));
            cases.push(FailureCase::new(parse_quote!(Self), name, &data.fields, &whole, &mut diagnostics));
        }
        Data::Enum(data) => {
            if let Some(message) = &whole.message {
                let text = "an enum has a message for each variant: write `#[failure(message = \"…\")]` there";
                diagnostics.reject(message, text);
            }
            for variant in &data.variants {
                let mut arguments = self::arguments(&variant.attrs, ON_VARIANT, &mut diagnostics);
                let options = FailureOptions::read(&mut arguments, &mut diagnostics).over(&whole);
                let ident = &variant.ident;
                let name = (ident, documentation::text(&variant.attrs));
                cases.push(FailureCase::new(
                    parse_quote!(Self::#ident),
                    name,
                    &variant.fields,
                    &options,
                    &mut diagnostics,
                ));
            }
        }
        Data::Union(_) => diagnostics.reject(&input.ident, "a union can't be a failure: write an enum"),
    }
    diagnostics.finish()?;
    let krate = krate.map(CratePath::from).unwrap_or_default();
    // A message by `Display` means that the type has it.
    let displays = |case: &FailureCase| matches!(case.message, MessageSource::Display);
    let derives_error = error.unwrap_or_else(|| !whole.display && !cases.iter().any(displays));
    Ok(FailureType { krate, name: input.ident.clone(), generics: input.generics.clone(), cases, derives_error })
}

impl FailureOptions {
    fn read(arguments: &mut Arguments, diagnostics: &mut Diagnostics) -> Self {
        let message = arguments.take("message");
        let display = arguments.take("display");
        if let (Some(_), Some(display)) = (&message, &display) {
            diagnostics.reject(&display.name, "the message is written already: keep `message` or `display`");
        }
        let retryable = arguments.take("retryable");
        let retry_after = arguments.take("retry_after");
        Self {
            message: message.and_then(|message| diagnostics.keep(message.text_value())),
            display: display.and_then(|display| diagnostics.keep(display.flag())).unwrap_or_default(),
            retryable: retryable.as_ref().map(Argument::flag).and_then(|flag| diagnostics.keep(flag)),
            retry_after: retry_after.and_then(|wait| diagnostics.keep(duration::of_argument(&wait))),
        }
    }

    /// Returns these options, completed by those of the whole type.
    fn over(self, whole: &Self) -> Self {
        let sets_retry = self.retryable.is_some() || self.retry_after.is_some();
        Self {
            display: self.display || (whole.display && self.message.is_none()),
            message: self.message,
            retryable: if sets_retry { self.retryable } else { whole.retryable },
            retry_after: if sets_retry { self.retry_after } else { whole.retry_after },
        }
    }
}

impl FailureCase {
    fn new(
        path: Path,
        (name, comment): (&Ident, Option<String>),
        fields: &Fields,
        options: &FailureOptions,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let message = match &options.message {
            Some(text) => diagnostics.keep(Message::read(text, fields)).map(MessageSource::Written),
            None if options.display => Some(MessageSource::Display),
            None => None,
        };
        Self {
            path,
            message: message
                .unwrap_or_else(|| MessageSource::Fixed(comment.unwrap_or_else(|| words(&name.to_string())))),
            // A delay before the next attempt implies that one is allowed.
            retryable: options.retryable.unwrap_or(options.retry_after.is_some()),
            retry_after: options.retry_after,
        }
    }

    fn message_arm(&self) -> TokenStream {
        let path = &self.path;
        match &self.message {
            MessageSource::Fixed(text) => quote!(#path { .. } => ::std::string::String::from(#text)),
            MessageSource::Display => quote!(#path { .. } => ::std::string::ToString::to_string(self)),
            MessageSource::Written(message) => {
                let bound = message.used().map(|(index, member)| {
                    let local = binding(index);
                    quote!(#member: #local)
                });
                let named = message.used().map(|(index, _)| {
                    let (argument, local) = (Message::argument(index), binding(index));
                    quote!(#argument = #local)
                });
                let text = message.text();
                quote!(#path { #(#bound,)* .. } => ::std::format!(#text #(, #named)*))
            }
        }
    }
}

impl ToTokens for FailureType {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { krate, name, generics, cases, derives_error } = self;
        let generics = bounded(generics, krate);
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        let arms = cases.iter().map(FailureCase::message_arm);
        // An enum without variants has no values, and can only be matched by value.
        let message = if cases.is_empty() { quote!(match *self {}) } else { quote!(match self { #(#arms,)* }) };
        let retryable = cases.iter().filter(|case| case.retryable).map(|case| &case.path);
        let retryable = quote!(false #(|| ::core::matches!(self, #retryable { .. }))*);
        let waits = cases.iter().filter_map(|case| {
            let (path, wait) = (&case.path, duration::expression(case.retry_after?));
            Some(quote!(if ::core::matches!(self, #path { .. }) { return ::core::option::Option::Some(#wait); }))
        });
        if self.generics.params.is_empty() {
            let place = Span::mixed_site().located_at(name.span());
            let krate = krate.at(place);
            tokens.extend(quote_spanned!(place=> const _: () = #krate::macro_support::declared_failure::<#name>();));
        }
        tokens.extend(quote! {
            impl #impl_generics #krate::macro_support::Failure for #name #type_generics #where_clause {
                fn message(&self) -> ::std::string::String { #message }

                fn retryable(&self) -> bool { #retryable }

                fn retry_after(&self) -> ::core::option::Option<::core::time::Duration> {
                    #(#waits)*
                    ::core::option::Option::None
                }
            }
        });
        if *derives_error {
            self.derive_error(tokens);
        }
    }
}

impl FailureType {
    /// Implements `Display` by the message, and `Error`.
    fn derive_error(&self, tokens: &mut TokenStream) {
        let Self { krate, name, generics, .. } = self;
        let displayed = bounded(generics, krate);
        let mut errors = displayed.clone();
        if !generics.params.is_empty() {
            errors.make_where_clause().predicates.push(parse_quote!(Self: ::core::fmt::Debug));
        }
        let (display_generics, type_generics, display_where) = displayed.split_for_impl();
        let (error_generics, _, error_where) = errors.split_for_impl();
        tokens.extend(quote! {
            impl #display_generics ::core::fmt::Display for #name #type_generics #display_where {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.write_str(&#krate::macro_support::Failure::message(self))
                }
            }
        });
        // Where `Debug` is missing, the error points at the type.
        let place = name.span();
        tokens.extend(quote_spanned! {place=>
            impl #error_generics ::core::error::Error for #name #type_generics #error_where {}
        });
    }
}

/// Returns the generics with the bound of a declared failure. It compiles for every type, see `DeclaredFailure`: a missing
/// derive is reported once, by the constant beside the implementations.
fn bounded(generics: &Generics, krate: &CratePath) -> Generics {
    let mut generics = generics.clone();
    generics.make_where_clause().predicates.push(parse_quote! {
        for<'__haft> Self: #krate::macro_support::DeclaredFailure<'__haft>
    });
    generics
}

fn arguments(attributes: &[Attribute], known: KnownArguments, diagnostics: &mut Diagnostics) -> Arguments {
    let mut all = Arguments::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("failure")) {
        match attribute.meta.require_list() {
            Ok(list) => all.extend(list.tokens.clone(), known, diagnostics),
            Err(_) => diagnostics.reject(attribute, "write `#[failure(message = \"…\")]` or another argument"),
        }
    }
    all
}

fn binding(index: usize) -> Ident {
    Ident::new(&format!("field_{index}"), Span::mixed_site())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn expanded(tokens: TokenStream) -> String {
        let text = expand(tokens).to_string();
        assert!(!text.contains("compile_error"), "{text}");
        text
    }

    fn fault(tokens: TokenStream) -> String {
        let error = read(&syn::parse2(tokens).unwrap()).err().unwrap();
        let mut faults = messages(&error);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn a_message_is_written_or_the_comment_or_the_name() {
        let text = expanded(quote! {
            enum E {
                #[failure(message = "no {0} here")] A(u8),
                /// From the comment.
                B,
                UnknownCity { name: String },
                #[failure(display)] C,
            }
        });
        for arm in [
            quote!(Self::A { 0: field_0, .. } => ::std::format!("no {field_0} here", field_0 = field_0)),
            quote!(Self::B { .. } => ::std::string::String::from("From the comment.")),
            quote!(Self::UnknownCity { .. } => ::std::string::String::from("unknown city")),
            quote!(Self::C { .. } => ::std::string::ToString::to_string(self)),
        ] {
            assert!(text.contains(&arm.to_string()), "{arm}\n{text}");
        }
    }

    #[test]
    fn a_variant_wins_over_its_enum() {
        let text = expanded(quote! {
            #[failure(retryable, display)]
            enum E { #[failure(retryable = false, message = "a")] A, #[failure(retry_after = "5s")] B, C }
        });
        assert!(!text.contains(&quote!(matches!(self, Self::A { .. })).to_string()), "{text}");
        assert_eq!(text.matches(&quote!(matches!(self, Self::B { .. })).to_string()).count(), 2, "{text}");
        assert_eq!(text.matches(&quote!(matches!(self, Self::C { .. })).to_string()).count(), 1, "{text}");
        assert_eq!(text.matches("to_string (self)").count(), 2, "{text}");
    }

    #[test]
    fn mistakes_report_what_to_write() {
        assert!(
            fault(quote!(
                #[failure(message = "x")]
                enum E {
                    A,
                }
            ))
            .contains("for each variant")
        );
        assert!(
            fault(quote!(
                #[failure(message = "x", display)]
                struct E;
            ))
            .contains("keep `message` or `display`")
        );
        assert!(
            fault(quote!(
                #[failure]
                struct E;
            ))
            .contains("message = ")
        );
        assert!(
            fault(quote!(
                #[failure(mesage = "x")]
                struct E;
            ))
            .contains("did you mean `message`?")
        );
        assert!(
            fault(quote!(
                #[failure(retry_after = 5)]
                struct E;
            ))
            .contains("retry_after = \"5s\"")
        );
        assert!(fault(quote!(union E { a: u8 })).contains("write an enum"));
    }

    #[test]
    fn an_enum_without_variants_and_generics_work() {
        assert!(
            expanded(quote!(
                enum Never {}
            ))
            .contains("match * self { }")
        );
        let text = expanded(quote!(
            #[failure(crate = haft_executor)]
            struct E<T: Clone>(T);
        ));
        assert!(
            text.contains("impl < T : Clone > haft_executor :: macro_support :: Failure for E < T > where for <"),
            "{text}"
        );
    }
}
