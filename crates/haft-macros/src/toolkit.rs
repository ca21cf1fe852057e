//! `toolkit![…]`: a toolkit whose tool names are compared at compile time, or a type that creates one.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Expr, ExprStruct, Ident, Token, Type, TypePath, Visibility};

use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;
use crate::documentation;
use crate::kit::{Kit, NamedTool, name_checks};
use crate::name::pascal_case;
use crate::span::place;

/// Expands to the toolkit expression or the kit's items, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let listed = syn::parse2::<ToolkitInput>(tokens).and_then(|listed| listed.check().map(|()| listed));
    match listed {
        Ok(listed) => listed.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// The macro's content.
struct ToolkitInput {
    krate: CratePath,
    /// The type that is the kit, if one is written.
    kit: Option<KitHead>,
    entries: Vec<ToolEntry>,
    /// Tools that are created at run time.
    more: Option<Expr>,
}

/// `pub struct Name =`, with its attributes.
struct KitHead {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
}

/// One tool: a type, and a value if it has state or settings.
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
        if let (Some(_), Some(more)) = (&self.kit, &self.more) {
            let message = "a kit has tools with constant names: add those made at run time to its toolkit, \
                           `Name::toolkit().with_all(…)`";
            diagnostics.reject(more, message);
        }
        diagnostics.finish()
    }

    fn types(&self) -> Vec<Type> {
        self.entries.iter().map(|entry| entry.ty.clone()).collect()
    }

    /// Returns the calls that add the tools.
    fn steps(&self) -> Vec<TokenStream> {
        let step = |ToolEntry { ty, value }: &ToolEntry| match value {
            Some(value) => quote_spanned!(place(ty)=> .tool_from::<#ty>(#value)),
            None => quote_spanned!(place(ty)=> .tool::<#ty>()),
        };
        self.entries.iter().map(step).collect()
    }

    fn kit_items(&self, head: &KitHead) -> TokenStream {
        let KitHead { attributes, visibility, name } = head;
        let conditions: Vec<Attribute> =
            attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect();
        let kit = Kit {
            krate: &self.krate,
            ty: name.to_token_stream(),
            name: name.to_string(),
            visibility,
            conditions: &conditions,
            tools: self.types(),
            steps: self.steps(),
        };
        let kit = kit.items();
        let comment = (!attributes.iter().any(documentation::is_comment)).then(|| quote!(#[doc = "A kit of tools."]));
        quote! {
            #comment
            #(#attributes)*
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name;

            #kit
        }
    }

    /// Reads the tools up to a semicolon or the end.
    fn parse_entries(input: ParseStream<'_>) -> syn::Result<Vec<ToolEntry>> {
        let mut entries = Vec::new();
        while !input.is_empty() && !input.peek(Token![;]) {
            entries.push(input.parse()?);
            if !input.is_empty() && !input.peek(Token![;]) {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(entries)
    }
}

impl Parse for ToolkitInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let krate = CratePath::parse_prefix(input)?;
        if let Some(kit) = KitHead::parse(input)? {
            let content;
            syn::bracketed!(content in input);
            let entries = Self::parse_entries(&content)?;
            let more = more(&content)?;
            input.parse::<Option<Token![;]>>()?;
            return finish(input, Self { krate, kit: Some(kit), entries, more });
        }
        let entries = Self::parse_entries(input)?;
        let more = more(input)?;
        finish(input, Self { krate, kit: None, entries, more })
    }
}

fn more(input: ParseStream<'_>) -> syn::Result<Option<Expr>> {
    if input.is_empty() {
        return Ok(None);
    }
    let semicolon: Token![;] = input.parse()?;
    if input.is_empty() {
        let message = "after the semicolon come tools made at run time: write an expression of them, or remove it";
        return Err(syn::Error::new(syn::spanned::Spanned::span(&semicolon), message));
    }
    input.parse().map(Some)
}

fn finish(input: ParseStream<'_>, listed: ToolkitInput) -> syn::Result<ToolkitInput> {
    if input.is_empty() { Ok(listed) } else { Err(input.error("write nothing after the tools")) }
}

impl KitHead {
    /// Reads `pub struct Name =`, unless the input is a plain list of tools.
    fn parse(input: ParseStream<'_>) -> syn::Result<Option<Self>> {
        let ahead = input.fork();
        let is_kit = ahead.call(Attribute::parse_outer).is_ok()
            && ahead.parse::<Visibility>().is_ok()
            && ahead.peek(Token![struct]);
        if !is_kit {
            return Ok(None);
        }
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![struct]>()?;
        let name = input.parse()?;
        input
            .parse::<Token![=]>()
            .map_err(|error| syn::Error::new(error.span(), format!("write `struct {name} = [GetWeather, …];`")))?;
        Ok(Some(Self { attributes, visibility, name }))
    }
}

impl Parse for ToolEntry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        if ahead.parse::<ExprStruct>().is_ok() {
            let value: ExprStruct = input.parse()?;
            let ty = Type::Path(TypePath { attrs: Vec::new(), qself: value.qself.clone(), path: value.path.clone() });
            return Ok(Self { ty, value: Some(Expr::Struct(value)) });
        }
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
        if let Some(head) = &self.kit {
            return tokens.extend(self.kit_items(head));
        }
        let named: Vec<_> = self.entries.iter().map(|entry| NamedTool::of_type(&entry.ty)).collect();
        let (krate, name_checks, steps) = (&self.krate, name_checks(&self.krate, &named), self.steps());
        let more = self.more.as_ref().map(|more| quote_spanned!(place(more)=> .with_all(#more)));
        tokens.extend(quote! {{
            #name_checks
            #krate::macro_support::Toolkit::new() #(#steps)* #more
        }});
    }
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
    fn a_struct_literal_is_a_type_and_its_value() {
        let text = expand(quote!(A, tools::WebSearch { max_uses: Some(3) })).to_string();
        let step = quote!(.tool_from::<tools::WebSearch>(tools::WebSearch { max_uses: Some(3) })).to_string();
        assert!(text.contains(&step) && text.contains("check_name"), "{text}");
    }

    #[test]
    fn a_kit_is_a_type() {
        let text = expand(quote!(
            /// Weather.
            pub struct WeatherKit = [A, B { c: 1 }];
        ))
        .to_string();
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        assert!(text.contains("pub struct WeatherKit ;") && text.contains("KitType for WeatherKit"), "{text}");
        assert!(text.contains("pub fn toolkit") && text.contains("check_name") && text.contains("Weather."), "{text}");
        assert!(text.contains(r#"label ("WeatherKit")"#), "{text}");
        let plain = expand(quote!(struct K = []));
        assert!(syn::parse2::<syn::File>(plain.clone()).is_ok() && plain.to_string().contains("A kit of tools."));
        assert!(expand(quote!(struct K = [A; more()];)).to_string().contains("constant names"));
        assert!(expand(quote!(struct K [A])).to_string().contains("write `struct K = ["));
    }

    #[test]
    fn the_crate_can_be_elsewhere() {
        let text = expand(quote!(crate = haft_executor; A)).to_string();
        assert!(
            text.contains("haft_executor :: macro_support :: Toolkit :: new ()") && !text.contains(":: haft ::"),
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
