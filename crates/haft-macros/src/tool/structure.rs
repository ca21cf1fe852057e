//! A struct that is a tool without a handler.
//!
//! The struct stays as written and gets the serde and schema traits. It implements the same traits as a function's
//! type, so that a toolkit takes both alike.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Attribute, Data, DeriveInput, Field, Ident, Type, parse_quote};

use super::input::{optional, spelled};
use super::kind::{KindOptions, ProviderOptions, ToolForm};
use super::option::ToolOptions;
use super::parameter::is_as_typed;
use super::signature::mentions;
use crate::diagnostic::Diagnostics;
use crate::span::place;
use crate::{documentation, name};

/// The traits that the macro derives.
const DERIVED: [&str; 3] = ["Serialize", "Deserialize", "JsonSchema"];

/// A struct or an enum that is a tool.
pub(crate) struct ToolStruct {
    item: DeriveInput,
    options: ToolOptions,
    tool_name: String,
}

/// Expands to the item and its tool, or to the item and all errors.
pub(crate) fn expand(arguments: TokenStream, item: DeriveInput) -> TokenStream {
    match ToolStruct::read(arguments, item.clone()) {
        Ok(tool) => tool.into_token_stream(),
        Err(error) => {
            let (error, kept) = (error.into_compile_error(), without_derived(item));
            quote!(#error #kept)
        }
    }
}

/// Removes the attributes for the traits that the macro would have derived: without them the compiler rejects each.
fn without_derived(mut item: DeriveInput) -> DeriveInput {
    let fields: Vec<&mut Field> = match &mut item.data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data.variants.iter_mut().flat_map(|variant| &mut variant.fields).collect(),
        Data::Union(_) => Vec::new(),
    };
    let of_fields = fields.into_iter().map(|field| &mut field.attrs);
    for attributes in of_fields.chain([&mut item.attrs]) {
        attributes.retain(|attribute| !["serde", "schemars"].iter().any(|name| attribute.path().is_ident(name)));
    }
    item
}

impl ToolStruct {
    fn read(arguments: TokenStream, mut item: DeriveInput) -> syn::Result<Self> {
        let mut diagnostics = Diagnostics::default();
        let options = ToolOptions::read(arguments, ToolForm::Struct, &mut diagnostics);
        if matches!(options.kind, KindOptions::Local) {
            let message = "a struct is a tool without a handler: write `#[tool(signal)]`, `#[tool(interaction)]` or \
                           `#[tool(provider = \"vendor.tool\")]`; `#[tool]` alone goes on a function with a body";
            diagnostics.reject(&item.ident, message);
        }
        check_item(&item, &options.kind, &mut diagnostics);
        diagnostics.finish()?;
        let tool_name = match &options.name {
            Some(name) => name.value(),
            None => name::words(&syn::ext::IdentExt::unraw(&item.ident).to_string()).replace(' ', "_"),
        };
        if let (KindOptions::Provider(_), Data::Struct(data)) = (&options.kind, &mut item.data) {
            data.fields.iter_mut().for_each(omit_if_unset);
        }
        Ok(Self { item, options, tool_name })
    }

    /// Returns the struct with its kind's traits.
    fn tool_type(&self) -> TokenStream {
        let Self { item, options, .. } = self;
        let krate = &options.krate;
        let [serde, schemars] = ["serde", "schemars"].map(|name| krate.support_text(name));
        let closed = (!decides_on_unknown_fields(item)).then(|| quote!(, deny_unknown_fields));
        quote! {
            #[derive(
                #krate::macro_support::serde::Serialize,
                #krate::macro_support::serde::Deserialize,
                #krate::macro_support::schemars::JsonSchema,
            )]
            #[serde(crate = #serde #closed)]
            #[schemars(crate = #schemars, transform = #krate::macro_support::drop_description)]
            #item
        }
    }

    fn tool_type_impl(&self) -> TokenStream {
        let (krate, ident, tool_name) = (self.options.krate.at(self.place()), &self.item.ident, &self.tool_name);
        let types = &self.options.types;
        let or_unit = |ty: &Option<Type>| ty.as_ref().map_or_else(|| quote!(()), ToTokens::to_token_stream);
        let any = quote!(#krate::macro_support::serde_json::Value);
        let (params, success) = match &self.options.kind {
            KindOptions::Provider(_) => (or_unit(&types.params), or_unit(&types.success)),
            // A person or the loop may answer with any value, unless a type is declared.
            _ => (quote!(Self), types.success.as_ref().map_or(any, ToTokens::to_token_stream)),
        };
        let none = quote!(#krate::macro_support::NoFailure);
        let failure = types.failure.as_ref().map_or(none, ToTokens::to_token_stream);
        let description = match &self.options.description {
            Some(description) => Some(description.to_token_stream()),
            None => documentation::expression(&self.item.attrs),
        };
        let description = description.map(|text| quote!(.describe(#text)));
        let steps = &self.options.steps;
        quote_spanned! {self.place()=>
            impl #krate::macro_support::ToolType for #ident {
                const NAME: &'static str = #tool_name;
                type Params = #params;
                type Success = #success;
                type Failure = #failure;
                type Services = ();

                fn definition(builder: #krate::macro_support::BuilderOf<Self>) -> #krate::macro_support::BuilderOf<Self> {
                    builder #description #(#steps)*
                }
            }
        }
    }

    /// Returns the implementation that creates the tool: from the type alone, or from settings.
    fn constructor_impl(&self) -> TokenStream {
        let (krate, ident) = (self.options.krate.at(self.place()), &self.item.ident);
        let of_type = |builder: TokenStream| {
            quote_spanned! {self.place()=>
                impl #krate::macro_support::StaticTool for #ident {
                    fn tool() -> ::core::result::Result<#krate::macro_support::Tool, #krate::macro_support::DefinitionError> {
                        #builder.define()
                    }
                }
            }
        };
        match &self.options.kind {
            KindOptions::Interaction(_) => of_type(quote!(#krate::macro_support::Tool::interaction_of::<Self>())),
            KindOptions::Signal(_) | KindOptions::Local => {
                of_type(quote!(#krate::macro_support::Tool::signal_of::<Self>()))
            }
            KindOptions::Provider(options) => {
                let factory = options.factory(&krate);
                if is_without_fields(&self.item) {
                    return of_type(quote!(#factory.of_type::<Self>(())));
                }
                quote_spanned! {self.place()=>
                    impl #krate::macro_support::IntoTool for #ident {
                        fn into_tool(self) -> ::core::result::Result<#krate::macro_support::Tool, #krate::macro_support::DefinitionError> {
                            #factory.args::<Self>().of_type::<Self>(self).define()
                        }
                    }
                }
            }
        }
    }

    /// Returns checks that produce one sentence for each type that lacks a trait.
    fn checks(&self) -> TokenStream {
        let check = |function: &str, ty: &Type| {
            let place = place(ty);
            let (krate, function) = (self.options.krate.at(place), Ident::new(function, place));
            quote_spanned!(place=> #krate::macro_support::#function::<#ty>();)
        };
        let fields = fields(&self.item.data).filter(|field| is_as_typed(&field.attrs));
        let fields = fields.map(|field| check("parameter", &field.ty));
        let types = [&self.options.types.params, &self.options.types.success].into_iter().flatten();
        let types = types.map(|ty| check("described", ty));
        quote!(#(#fields)* #(#types)*)
    }

    fn place(&self) -> Span {
        place(&self.item.ident)
    }
}

impl ToTokens for ToolStruct {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let conditions = self.item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let (tool_type, checks) = (self.tool_type(), self.checks());
        let (tool_type_impl, constructor_impl) = (self.tool_type_impl(), self.constructor_impl());
        tokens.extend(quote! {
            #(#conditions)*
            const _: () = {
                #tool_type_impl
                #constructor_impl
                #checks
            };

            #tool_type
        });
    }
}

impl ProviderOptions {
    /// Returns the expression for the provider's factory, without settings.
    pub(super) fn factory(&self, krate: &crate::crate_path::CratePath) -> TokenStream {
        let id = &self.id;
        let name = self.provider_name.as_ref().map(|name| quote!(.provider_name(#name)));
        quote!(#krate::macro_support::Tool::provider(#id) #name)
    }
}

fn check_item(item: &DeriveInput, kind: &KindOptions, diagnostics: &mut Diagnostics) {
    if !item.generics.params.is_empty() {
        diagnostics.reject(&item.generics, "a tool can't be generic, it has one schema: write the concrete types");
    }
    match &item.data {
        Data::Union(data) => diagnostics.reject(data.union_token, "a tool is a struct or an enum: write `struct`"),
        Data::Enum(data) if matches!(kind, KindOptions::Provider(_)) => {
            diagnostics.reject(data.enum_token, "the settings of a tool are fields: write a `struct`");
        }
        Data::Struct(_) | Data::Enum(_) => {}
    }
    for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        for derived in DERIVED.iter().filter(|name| mentions(attribute.to_token_stream(), name)) {
            diagnostics.reject(attribute, format!("`#[tool]` derives `{derived}` itself: remove it here"));
        }
    }
}

/// Returns whether the item's attributes keep the macro from closing it: a struct with flattened fields can't be
/// closed, and serde rejects the attribute twice.
fn decides_on_unknown_fields(item: &DeriveInput) -> bool {
    let words = ["flatten", "deny_unknown_fields"];
    let decides = |attribute: &Attribute| words.iter().any(|word| mentions(attribute.to_token_stream(), word));
    item.attrs.iter().chain(fields(&item.data).flat_map(|field| &field.attrs)).any(decides)
}

/// Returns all fields, including variants'.
fn fields(data: &Data) -> impl Iterator<Item = &Field> {
    let (of_struct, of_enum) = match data {
        Data::Struct(data) => (Some(&data.fields), None),
        Data::Enum(data) => (None, Some(&data.variants)),
        Data::Union(_) => (None, None),
    };
    of_struct.into_iter().chain(of_enum.into_iter().flatten().map(|variant| &variant.fields)).flatten()
}

/// Leaves a `None` setting out of the JSON, unless the field has its own rule.
fn omit_if_unset(field: &mut Field) {
    let has_rule = |attribute: &Attribute| mentions(attribute.to_token_stream(), "skip_serializing_if");
    if optional(&field.ty).is_some() && !field.attrs.iter().any(has_rule) {
        field.attrs.push(parse_quote!(#[serde(skip_serializing_if = "::core::option::Option::is_none")]));
    }
}

fn is_without_fields(item: &DeriveInput) -> bool {
    matches!(&item.data, Data::Struct(data) if data.fields.is_empty())
}

/// Returns the struct that a function without a handler should be, as a user would write it.
pub(crate) fn suggested(name: &Ident, fields: &[super::parameter::Field]) -> String {
    let fields: Vec<_> = fields.iter().map(|field| format!("{}: {}", field.name, spelled(&field.ty))).collect();
    if fields.is_empty() { format!("struct {name};") } else { format!("struct {name} {{ {} }}", fields.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn expanded(arguments: TokenStream, item: TokenStream) -> String {
        let text = expand(arguments, syn::parse2(item).unwrap()).to_string();
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
        text
    }

    fn faults(arguments: TokenStream, item: TokenStream) -> Vec<String> {
        ToolStruct::read(arguments, syn::parse2(item).unwrap()).err().map(|error| messages(&error)).unwrap_or_default()
    }

    #[test]
    fn a_signal_is_named_after_its_struct_and_described_by_its_comment() {
        let item = quote! {
            /// Hand over to a person.
            #[derive(Debug)]
            pub struct HandOver { pub reason: String }
        };
        let text = expanded(quote!(signal), item);
        assert!(text.contains(r#"NAME : & 'static str = "hand_over""#), "{text}");
        assert!(text.contains(r#"describe ("Hand over to a person.")"#), "{text}");
        assert!(text.contains("signal_of :: < Self >") && text.contains("deny_unknown_fields"), "{text}");
        assert!(text.contains("pub struct HandOver { pub reason : String }"), "{text}");
    }

    #[test]
    fn an_interaction_may_declare_its_answer() {
        let text = expanded(
            quote!(interaction, success = Vec<Chosen>, name = "ask"),
            quote!(
                struct Ask;
            ),
        );
        assert!(text.contains("type Success = Vec < Chosen >") && text.contains("interaction_of"), "{text}");
        assert!(text.contains(r#"NAME : & 'static str = "ask""#), "{text}");
    }

    #[test]
    fn the_fields_of_a_provider_tool_are_its_settings() {
        let arguments = quote!(provider = "a.web_search_2025", provider_name = "web_search", params = Query);
        let text = expanded(
            arguments,
            quote!(
                struct WebSearch {
                    max_uses: Option<u32>,
                    #[serde(skip_serializing_if = "x")]
                    y: Option<u8>,
                }
            ),
        );
        assert!(text.contains("IntoTool for WebSearch") && text.contains("type Params = Query"), "{text}");
        assert_eq!(text.matches("Option::is_none").count(), 1, "{text}");
        let bare = expanded(
            quote!(provider = "a.b"),
            quote!(
                struct Bare;
            ),
        );
        assert!(bare.contains("StaticTool for Bare") && bare.contains("type Success = ()"), "{bare}");
    }

    #[test]
    fn a_flattened_struct_stays_open() {
        let text = expanded(
            quote!(signal),
            quote!(
                struct A {
                    #[serde(flatten)]
                    rest: Map,
                }
            ),
        );
        assert!(!text.contains("deny_unknown_fields"), "{text}");
    }

    #[test]
    fn a_mistake_leaves_the_struct_there_without_the_attributes_of_its_traits() {
        let item = quote! {
            #[serde(rename_all = "camelCase")]
            #[derive(Debug)]
            enum A { B { #[schemars(length(min = 1))] #[allow(dead_code)] c: String } }
        };
        let text = expand(quote!(nonsense), syn::parse2(item).unwrap()).to_string();
        assert!(text.contains("compile_error"), "{text}");
        let kept = quote! {
            #[derive(Debug)]
            enum A { B { #[allow(dead_code)] c: String } }
        };
        assert!(text.ends_with(&kept.to_string()), "{text}");
    }

    #[test]
    fn only_attributes_leave_a_struct_open() {
        let item = quote!(
            struct A {
                flatten: bool,
            }
        );
        assert!(expanded(quote!(signal), item).contains("deny_unknown_fields"));
    }

    #[test]
    fn every_mistake_has_its_sentence() {
        let item = quote!(
            struct A {
                b: u8,
            }
        );
        for (arguments, item, expected) in [
            (quote!(), item.clone(), "`#[tool(signal)]`"),
            (quote!(signal, interaction), item.clone(), "one kind"),
            (quote!(signal, timeout = "1s"), item.clone(), "`timeout` concerns a handler, and a signal has none"),
            (quote!(signal, success = u8), item.clone(), "declares no success"),
            (quote!(interaction, params = u8), item.clone(), "write them as fields"),
            (quote!(signal, type = B), item.clone(), "the struct is the tool's type"),
            (quote!(provider = "a.b", approval = "always"), item.clone(), "remove it"),
            (quote!(provider = "a.b", args = 1), item.clone(), "write them as fields"),
            (quote!(provider = "a"), item.clone(), "\"vendor.tool\""),
            (quote!(signal, provider_name = "x"), item.clone(), "has `provider_name`: remove it"),
            (quote!(signal, refine = f), item.clone(), "`refine` concerns a handler"),
            (quote!(signal, emits = u8), item.clone(), "`emits` concerns a handler"),
            (quote!(signal, blocking), item.clone(), "`blocking` concerns a handler"),
            (quote!(interaction, to_model = f), item.clone(), "`to_model` concerns a handler"),
            (quote!(interaction, failure = u8), item.clone(), "declares no failure"),
            (quote!(provider = "a.b", refine = f), item, "`refine` concerns a handler"),
            (
                quote!(signal),
                quote!(
                    struct A<T>(T);
                ),
                "generic",
            ),
            (quote!(signal), quote!(union A { b: u8 }), "write `struct`"),
            (
                quote!(provider = "a.b"),
                quote!(
                    enum A {
                        B,
                    }
                ),
                "write a `struct`",
            ),
            (
                quote!(signal),
                quote!(
                    #[derive(Debug, Serialize)]
                    struct A;
                ),
                "derives `Serialize` itself",
            ),
        ] {
            let faults = faults(arguments.clone(), item);
            assert_eq!(faults.len(), 1, "{arguments}: {faults:?}");
            assert!(faults[0].contains(expected), "{arguments}: {faults:?}");
        }
    }
}
