//! The limits in `#[tool(…)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, LitStr};

use crate::argument::{Argument, ArgumentValue, Arguments, KnownArguments, string_literal};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::duration;

const CONCURRENCY: KnownArguments = KnownArguments { attribute: "concurrency(…)", names: &["key"], repeatable: &[] };

/// Returns the builder call that sets the limits, if there are any.
pub(crate) fn read(arguments: &mut Arguments, krate: &CratePath, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    let mut limits = TokenStream::new();
    for name in ["timeout", "idle_timeout"] {
        let Some(argument) = arguments.take(name) else { continue };
        if let Some(duration) = diagnostics.keep(duration::of_argument(&argument)) {
            let (setter, duration) = (&argument.name, duration::expression(duration));
            limits.extend(quote!(.#setter(#duration)));
        }
    }
    if let Some(argument) = arguments.take("concurrency") {
        let concurrency = concurrency(&argument, diagnostics);
        limits.extend(
            concurrency.map(|concurrency| quote!(.concurrency(#krate::macro_support::Concurrency::#concurrency))),
        );
    }
    if let Some(argument) = arguments.take("emit_buffer") {
        let buffer = diagnostics.keep(emit_buffer(&argument));
        limits.extend(buffer.map(|buffer| quote!(.emit_buffer(#krate::macro_support::EmitBuffer::#buffer))));
    }
    let (cap, overflow) = (arguments.take("output_cap"), arguments.take("overflow"));
    limits.extend(output_cap(cap, overflow, krate, diagnostics));
    (!limits.is_empty()).then(|| quote!(.limits(#krate::macro_support::ExecutionLimits::new() #limits)))
}

fn concurrency(argument: &Argument, diagnostics: &mut Diagnostics) -> Option<TokenStream> {
    const FORM: &str =
        "`concurrency = 4`, `concurrency = \"exclusive\"`, `concurrency = \"shared\"` or `concurrency(key = \"…\")`";
    if let ArgumentValue::List(tokens) = &argument.value {
        let mut inner = Arguments::read(tokens.clone(), CONCURRENCY, diagnostics);
        if tokens.is_empty() {
            diagnostics.add(argument.form(FORM));
        }
        let key = diagnostics.keep(inner.take("key")?.text_value())?;
        return Some(quote!(Keyed(::std::string::String::from(#key))));
    }
    let concurrency = argument.assigned::<Expr>(FORM).and_then(|value| match text_of(&value).as_deref() {
        Some("exclusive") => Ok(quote!(Exclusive)),
        Some("shared") => Ok(quote!(Shared)),
        Some(_) => Err(argument.form(FORM)),
        None => non_zero(&value).map(|most| quote!(Max(#most))),
    });
    diagnostics.keep(concurrency)
}

fn emit_buffer(argument: &Argument) -> syn::Result<TokenStream> {
    const FORM: &str = "`emit_buffer = 16` or `emit_buffer = \"unbounded\"`";
    let value: Expr = argument.assigned(FORM)?;
    match text_of(&value).as_deref() {
        Some("unbounded") => Ok(quote!(Unbounded)),
        Some(_) => Err(argument.form(FORM)),
        None => non_zero(&value).map(|size| quote!(Bounded(#size))),
    }
}

fn output_cap(
    cap: Option<Argument>,
    overflow: Option<Argument>,
    krate: &CratePath,
    diagnostics: &mut Diagnostics,
) -> Option<TokenStream> {
    const FORM: &str = "`output_cap = 65536`, in bytes, or `output_cap = \"unlimited\"`";
    let rule = overflow.as_ref().map(|overflow| overflow.choice(&[("fail", "Fail"), ("truncate", "Truncate")]));
    let rule = rule.and_then(|rule| diagnostics.keep(rule));
    let Some(cap) = cap else {
        if let Some(overflow) = overflow {
            let message = "`overflow` applies to results beyond a cap: add `output_cap = …`, or leave it out";
            diagnostics.reject(&overflow.name, message);
        }
        return None;
    };
    let value = diagnostics.keep(cap.assigned::<Expr>(FORM))?;
    match (text_of(&value).as_deref(), &overflow) {
        (Some("unlimited"), None) => return Some(quote!(.output_cap(#krate::macro_support::OutputCap::unlimited()))),
        (Some("unlimited"), Some(overflow)) => {
            diagnostics.reject(&overflow.name, "no result exceeds an unlimited cap: leave out `overflow`");
            return None;
        }
        (Some(_), _) => {
            diagnostics.add(cap.form(FORM));
            return None;
        }
        (None, _) => {}
    }
    let bytes = diagnostics.keep(non_zero(&value))?;
    let rule = rule.map(|rule| {
        let rule = syn::Ident::new(rule, cap.span());
        quote!(.on_overflow(#krate::macro_support::OnOverflow::#rule))
    });
    Some(quote!(.output_cap(#krate::macro_support::OutputCap::new(#bytes) #rule)))
}

/// Returns an expression for a number above zero. A literal is checked here, every other constant expression when it is
/// compiled.
fn non_zero(value: &Expr) -> syn::Result<TokenStream> {
    if let Expr::Lit(ExprLit { lit, .. }) = value {
        let number = match lit {
            Lit::Int(literal) => literal.base10_parse::<u64>()?,
            _ => return Err(syn::Error::new_spanned(value, "write a whole number")),
        };
        if number == 0 {
            return Err(syn::Error::new_spanned(value, "a limit of zero lets no call finish: write a larger one"));
        }
    }
    let value = value.to_token_stream();
    Ok(quote! {{
        const LIMIT: ::core::num::NonZeroUsize = match ::core::num::NonZeroUsize::new(#value) {
            ::core::option::Option::Some(limit) => limit,
            ::core::option::Option::None => ::core::panic!("a limit of zero lets no call finish: write a larger one"),
        };
        LIMIT
    }})
}

fn text_of(value: &Expr) -> Option<String> {
    string_literal(value).map(LitStr::value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    const KNOWN: KnownArguments = KnownArguments {
        attribute: "#[tool]",
        names: &["timeout", "idle_timeout", "concurrency", "emit_buffer", "output_cap", "overflow"],
        repeatable: &[],
    };

    fn limits(tokens: TokenStream) -> Result<String, Vec<String>> {
        let mut diagnostics = Diagnostics::default();
        let mut arguments = Arguments::read(tokens, KNOWN, &mut diagnostics);
        let limits = read(&mut arguments, &CratePath::default(), &mut diagnostics);
        diagnostics.finish().map_err(|error| messages(&error))?;
        Ok(limits.map(|limits| limits.to_string()).unwrap_or_default())
    }

    fn fault(tokens: TokenStream) -> String {
        let mut faults = limits(tokens).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn without_limits_nothing_is_set() {
        assert_eq!(limits(quote!()).unwrap(), "");
    }

    #[test]
    fn limits_become_one_step() {
        let text = limits(quote!(timeout = "1s", concurrency = "exclusive", emit_buffer = "unbounded")).unwrap();
        let expected = quote! {
            .limits(::haft::macro_support::ExecutionLimits::new()
                .timeout(::core::time::Duration::new(1u64, 0u32))
                .concurrency(::haft::macro_support::Concurrency::Exclusive)
                .emit_buffer(::haft::macro_support::EmitBuffer::Unbounded))
        };
        assert_eq!(text, expected.to_string());
    }

    #[test]
    fn concurrency_has_four_forms() {
        assert!(limits(quote!(concurrency = 2)).unwrap().contains("Max"));
        assert!(limits(quote!(concurrency(key = "disk"))).unwrap().contains("Keyed"));
        assert!(fault(quote!(concurrency = "alone")).contains("\"exclusive\""));
        assert!(fault(quote!(concurrency())).contains("key = "));
        assert!(fault(quote!(concurrency(kye = "disk"))).contains("key"));
    }

    #[test]
    fn numbers_are_whole_and_above_zero() {
        assert!(fault(quote!(concurrency = 0)).contains("zero"));
        assert!(fault(quote!(emit_buffer = 1.5)).contains("whole number"));
        assert!(limits(quote!(output_cap = 64 * 1024, overflow = "truncate")).unwrap().contains("Truncate"));
    }

    #[test]
    fn a_duration_shows_its_form() {
        assert!(fault(quote!(timeout = 5)).contains("write `timeout = \"5s\"`"));
        assert!(fault(quote!(idle_timeout)).contains("\"500ms\", \"5s\" or \"2m\""));
    }

    #[test]
    fn a_cap_may_be_unlimited() {
        let text = limits(quote!(output_cap = "unlimited")).unwrap();
        assert!(text.contains("OutputCap :: unlimited ()"), "{text}");
        assert!(fault(quote!(output_cap = "none")).contains("output_cap = \"unlimited\""));
        assert!(fault(quote!(output_cap = "unlimited", overflow = "fail")).contains("leave out `overflow`"));
    }

    #[test]
    fn overflow_needs_a_cap() {
        assert!(fault(quote!(overflow = "fail")).contains("add `output_cap"));
        assert!(fault(quote!(output_cap = 8, overflow = "wrap")).contains("\"truncate\""));
    }
}
