//! `toolkit![…]`: a toolkit whose tool names are compared at compile time.
//!
//! The comparison is done in separate constants, one for each tool with that tool's span: a constant inside an
//! expression would not be evaluated before code is generated, so `cargo check` would not report it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Expr, Path, Token, Type};

use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::name::pascal_case;

/// Expands to the expression of the toolkit, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let listed = syn::parse2::<ToolkitInput>(tokens).and_then(|listed| listed.check().map(|()| listed));
    match listed {
        Ok(listed) => listed.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// The content of the brackets.
struct ToolkitInput {
    krate: CratePath,
    entries: Vec<ToolEntry>,
    /// Tools that are created at run time.
    more: Option<Expr>,
}

/// One tool: a type, and a value if it has state.
struct ToolEntry {
    ty: Type,
    value: Option<Expr>,
}

impl ToolkitInput {
    fn check(&self) -> syn::Result<()> {
        let mut diagnostics = Diagnostics::default();
        for entry in &self.entries {
            let Type::Path(path) = &entry.ty else {
                diagnostics.reject(&entry.ty, "a tool is named by its type: write its path, such as `GetWeather`");
                continue;
            };
            let last = path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
            if last.chars().next().is_some_and(char::is_lowercase) {
                let message = format!("`{last}` is a function, the tool is its type: write `{}`", pascal_case(&last));
                diagnostics.reject(&entry.ty, message);
            }
        }
        diagnostics.finish()
    }

    /// Returns one check for each tool but the first, which rejects a name that an earlier tool has.
    fn name_checks(&self) -> TokenStream {
        let krate = &self.krate;
        let count = self.entries.len();
        let names = self.entries.iter().map(|ToolEntry { ty, .. }| {
            let text = ty.to_token_stream().to_string().replace(' ', "");
            let krate = krate.at(place(ty));
            quote_spanned!(place(ty)=> (#text, <#ty as #krate::macro_support::ToolType>::NAME))
        });
        let checks = self.entries.iter().enumerate().skip(1).map(|(index, ToolEntry { ty, .. })| {
            let krate = krate.at(place(ty));
            quote_spanned!(place(ty)=> const _: () = #krate::macro_support::check_name(&__HAFT_NAMES, #index);)
        });
        quote! {
            const __HAFT_NAMES: [(&str, &str); #count] = [#(#names),*];
            #(#checks)*
        }
    }
}

impl Parse for ToolkitInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate = if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            let path: Path = input.call(Path::parse_mod_style)?;
            input.parse::<Token![;]>()?;
            path.into()
        } else {
            CratePath::default()
        };
        let mut entries = Vec::new();
        while !input.is_empty() && !input.peek(Token![;]) {
            entries.push(input.parse()?);
            if !input.is_empty() && !input.peek(Token![;]) {
                input.parse::<Token![,]>()?;
            }
        }
        let more = if input.is_empty() {
            None
        } else {
            let semicolon: Token![;] = input.parse()?;
            if input.is_empty() {
                let message =
                    "after the semicolon come tools made at run time: write an expression of them, or remove it";
                return Err(syn::Error::new(semicolon.span(), message));
            }
            Some(input.parse()?)
        };
        if input.is_empty() {
            Ok(Self { krate, entries, more })
        } else {
            Err(input.error("write nothing after the tools"))
        }
    }
}

impl Parse for ToolEntry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { ty, value })
    }
}

impl ToTokens for ToolkitInput {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let krate = &self.krate;
        let name_checks = (!self.entries.is_empty()).then(|| self.name_checks());
        let steps = self.entries.iter().map(|ToolEntry { ty, value }| match value {
            Some(value) => quote_spanned!(place(ty)=> .tool_from::<#ty>(#value)),
            None => quote_spanned!(place(ty)=> .tool::<#ty>()),
        });
        let more = self.more.as_ref().map(|more| quote_spanned!(place(more)=> .with_all(#more)));
        tokens.extend(quote! {{
            #name_checks
            #krate::macro_support::Toolkit::new() #(#steps)* #more
        }});
    }
}

/// Returns the span of user code, for generated code.
fn place(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_toolkit_has_nothing_to_check() {
        assert_eq!(expand(quote!()).to_string(), quote!({ ::haft::macro_support::Toolkit::new() }).to_string());
    }

    #[test]
    fn every_tool_but_the_first_is_checked_against_those_before_it() {
        let text = expand(quote!(A, tools::B, C = C { by: 3 }; more()?)).to_string();
        assert_eq!(text.matches("check_name").count(), 2, "{text}");
        assert!(text.contains(r#""tools::B""#), "{text}");
        let chain = quote!(.tool::<A>().tool::<tools::B>().tool_from::<C>(C { by: 3 }).with_all(more()?)).to_string();
        assert!(text.contains(&chain), "{text}");
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        let text = expand(quote!(crate = haft_core; A)).to_string();
        assert!(
            text.contains("haft_core :: macro_support :: Toolkit :: new ()") && !text.contains(":: haft ::"),
            "{text}"
        );
    }

    #[test]
    fn mistakes_report_what_to_write() {
        let text = expand(quote!(get_weather, tools::now)).to_string();
        assert!(text.contains("write `GetWeather`") && text.contains("write `Now`"), "{text}");
        assert!(expand(quote!(A;)).to_string().contains("write an expression"));
        assert!(expand(quote!(A; b; c)).to_string().contains("write nothing after"));
        assert!(expand(quote!((A, B))).to_string().contains("write its path"));
    }
}
