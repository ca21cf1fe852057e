//! The code that is generated for a tool.
//!
//! Generated code names everything by its full path and uses only names that user code can't contain. Where a type may
//! be rejected, it takes the user code's span, so that the compiler points at what to change.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, ReturnType, Type, Visibility, parse_quote};

use super::function::ToolFunction;
use super::input::{ArgumentSource, Inputs, spelled};
use super::kind::KindOptions;
use super::option::ToolOptions;
use crate::documentation;
use crate::span::{local, place};

/// The items that are generated beside the function.
#[derive(Debug)]
pub(crate) struct Expansion {
    function: Ident,
    /// The function's path.
    callee: TokenStream,
    is_async: bool,
    visibility: Visibility,
    /// The `cfg` attributes, which apply to all generated items.
    shared: Vec<Attribute>,
    comments: Vec<Attribute>,
    returned: Type,
    type_name: Ident,
    tool_name: String,
    options: ToolOptions,
    inputs: Inputs,
}

impl Expansion {
    /// Reads a valid function's remaining parts, and allows the lints that the macro itself triggers in it.
    pub(crate) fn new(
        function: &mut ToolFunction<'_>,
        type_name: Ident,
        options: ToolOptions,
        mut inputs: Inputs,
    ) -> Self {
        let attributes = |is_wanted: fn(&Attribute) -> bool| -> Vec<Attribute> {
            function.attrs.iter().filter(|attribute| is_wanted(attribute)).cloned().collect()
        };
        let mut shared = attributes(|attribute| attribute.path().is_ident("cfg"));
        shared.extend(function.owner.iter().flat_map(|owner| owner.conditions).cloned());
        let comments = attributes(documentation::is_comment);
        for field in &mut inputs.fields {
            field.visibility = function.vis.clone();
        }
        let returned = match &function.sig.output {
            ReturnType::Default => parse_quote!(()),
            ReturnType::Type(_, ty) => function.owner.map_or_else(|| (**ty).clone(), |owner| owner.resolve(ty)),
        };
        let name = &function.sig.ident;
        let callee = match function.owner {
            Some(owner) => {
                let owner = owner.ty;
                quote!(<#owner>::#name)
            }
            None => name.to_token_stream(),
        };
        let tool_name = match &options.name {
            Some(name) => name.value(),
            None => syn::ext::IdentExt::unraw(&function.sig.ident).to_string(),
        };
        let expansion = Self {
            function: function.sig.ident.clone(),
            callee,
            is_async: function.sig.asyncness.is_some(),
            visibility: function.vis.clone(),
            shared,
            comments,
            returned,
            type_name,
            tool_name,
            options,
            inputs,
        };
        function.attrs.push(parse_quote! {
            #[allow(
                clippy::missing_errors_doc,
                clippy::needless_pass_by_value,
                clippy::trivially_copy_pass_by_ref,
                reason = "a tool is documented for the model, takes parameters by value and services by reference"
            )]
        });
        expansion
    }

    fn description(&self) -> Option<TokenStream> {
        match &self.options.description {
            Some(description) => Some(description.to_token_stream()),
            None => documentation::expression(&self.comments),
        }
    }

    /// Returns the type that is the tool. Its fields are the parameters, unless the user has a type for those.
    fn tool_type(&self) -> TokenStream {
        let Self { visibility, shared, comments, type_name, .. } = self;
        let documentation = if comments.is_empty() {
            let text = format!("The tool `{}`.", self.tool_name);
            quote!(#[doc = #text])
        } else {
            quote!(#(#comments)*)
        };
        if self.inputs.own_type.is_some() {
            return quote! {
                #documentation
                #(#shared)*
                #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
                #visibility struct #type_name;
            };
        }
        let (krate, fields) = (&self.options.krate, &self.inputs.fields);
        let bounds = self.bound_attributes();
        let [serde, schemars] = ["serde", "schemars"].map(|name| krate.support_text(name));
        quote! {
            #documentation
            #(#shared)*
            #[derive(
                #krate::macro_support::serde::Serialize,
                #krate::macro_support::serde::Deserialize,
                #krate::macro_support::schemars::JsonSchema,
            )]
            #[serde(crate = #serde, deny_unknown_fields)]
            #[schemars(crate = #schemars, transform = #krate::macro_support::drop_description)]
            #bounds
            #[allow(
                non_snake_case,
                clippy::pub_underscore_fields,
                clippy::struct_excessive_bools,
                clippy::struct_field_names,
                reason = "the names and types are the function's, and judged there"
            )]
            #visibility struct #type_name { #(#fields),* }
        }
    }

    /// Returns a `Debug` implementation that omits the values: their types need no `Debug`, and a model's arguments
    /// don't belong in every log.
    fn debug_impl(&self) -> Option<TokenStream> {
        let (type_name, formatter) = (&self.type_name, local("formatter"));
        let name = type_name.to_string();
        self.inputs.own_type.is_none().then(|| {
            quote! {
                impl ::core::fmt::Debug for #type_name {
                    fn fmt(&self, #formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                        #formatter.debug_struct(#name).finish_non_exhaustive()
                    }
                }
            }
        })
    }

    fn tool_type_impl(&self) -> TokenStream {
        let (krate, type_name, tool_name) = (self.options.krate.at(self.place()), &self.type_name, &self.tool_name);
        let params = self.params();
        let services = self.inputs.services().map(|(marker, service)| {
            let marker = Ident::new(marker, self.place());
            quote_spanned!(self.place()=> #krate::macro_support::#marker<#service>)
        });
        let description = self.description().map(|text| quote!(.describe(#text)));
        let steps = &self.options.steps;
        let [success, failure] = ["Success", "Failure"].map(|outcome| {
            let outcome = Ident::new(outcome, self.place());
            quote_spanned! {self.place()=>
                type #outcome = <__HaftReturned as #krate::macro_support::Returned<__HAFT_KIND>>::#outcome;
            }
        });
        let bounds = self.bounds();
        quote_spanned! {self.place()=>
            impl #krate::macro_support::ToolType for #type_name #bounds {
                const NAME: &'static str = #tool_name;
                type Params = #params;
                #success
                #failure
                type Services = (#(#services,)*);

                fn definition(builder: #krate::macro_support::BuilderOf<Self>) -> #krate::macro_support::BuilderOf<Self> {
                    builder #description #(#steps)*
                }
            }
        }
    }

    /// Returns the implementation of `Emits`, if the type of emitted values is declared.
    fn emits_impl(&self) -> Option<TokenStream> {
        let (ty, type_name) = (self.options.emits.as_ref()?, &self.type_name);
        let krate = self.options.krate.at(place(ty));
        let bounds = self.bounds();
        Some(quote_spanned! {place(ty)=>
            impl #krate::macro_support::Emits for #type_name #bounds {
                type Event = #ty;
            }
        })
    }

    fn static_tool_impl(&self) -> TokenStream {
        let (krate, type_name) = (self.options.krate.at(self.place()), &self.type_name);
        let params_type = self.params();
        let (params, cx) = (local("params"), local("cx"));
        let arguments = self.inputs.sources.iter().map(|source| match source {
            ArgumentSource::Field(index) => {
                let name = &self.inputs.fields[*index].name;
                quote!(#params.#name)
            }
            ArgumentSource::Params => quote!(#params),
            ArgumentSource::Context => quote!(&#cx),
            ArgumentSource::Service(service) | ArgumentSource::RunService(service) => {
                quote!(#cx.service::<#service>()?)
            }
        });
        let function = &self.callee;
        let wait = self.is_async.then(|| quote!(.await));
        let call = quote!(#function(#(#arguments),*) #wait);
        let handler = if self.options.blocking {
            quote_spanned! {self.place()=>
                try_blocking_handler_mixed(|#params: #params_type, #cx: #krate::macro_support::Cx| {
                    let _ = (&#params, &#cx);
                    <__HaftReturned as #krate::macro_support::ReturnedNow<__HAFT_KIND>>::now(#call)
                })
            }
        } else {
            quote_spanned! {self.place()=>
                try_handler_mixed(|#params: #params_type, #cx: #krate::macro_support::Cx| async move {
                    let _ = &#params;
                    let returned: __HaftReturned = #call;
                    <__HaftReturned as #krate::macro_support::Returned<__HAFT_KIND>>::resolve(returned, &#cx).await
                })
            }
        };
        let (builder, bounds) = (self.builder(), self.bounds());
        quote_spanned! {self.place()=>
            impl #krate::macro_support::StaticTool for #type_name #bounds {
                fn tool() -> ::core::result::Result<#krate::macro_support::Tool, #krate::macro_support::DefinitionError> {
                    #builder.#handler
                }
            }
        }
    }

    /// Returns the builder expression that the handler is attached to.
    fn builder(&self) -> TokenStream {
        let krate = self.options.krate.at(self.place());
        let KindOptions::Provider(provider) = &self.options.kind else {
            return quote_spanned!(self.place()=> #krate::macro_support::Tool::of::<Self>());
        };
        let factory = provider.factory(&krate);
        let args = provider.args.as_ref().map_or_else(|| quote!(()), ToTokens::to_token_stream);
        quote_spanned! {self.place()=>
            #krate::macro_support::with_settings::<Self, _>(#factory.requires_handler(), #args)
        }
    }

    /// Returns the tool's type.
    pub(crate) fn type_name(&self) -> &Ident {
        &self.type_name
    }

    /// Returns checks that produce one sentence for each type that lacks a trait, before the derives' longer errors.
    fn checks(&self) -> TokenStream {
        let fields = self.inputs.fields.iter().filter(|field| field.is_as_typed());
        let fields = fields.map(|field| self.check("parameter", &field.ty, place(&field.ty)));
        let own_type = self.inputs.own_type.iter().map(|ty| self.check("described", ty, place(ty)));
        let emitted = self.options.emits.iter().map(|ty| self.check("emitted", ty, place(ty)));
        let written = self.written().into_iter().map(|ty| self.check("written_parameter", ty, place(ty)));
        let (krate, type_name) = (self.options.krate.at(self.place()), &self.type_name);
        let success = quote_spanned!(self.place()=> <#type_name as #krate::macro_support::ToolType>::Success);
        let mut success = self.check("described", success, self.place());
        if let Some(bounds) = self.bounds() {
            success =
                quote!(#[allow(dead_code, reason = "checked and not called")] fn __haft_success() #bounds { #success });
        }
        quote!(#(#fields)* #(#own_type)* #(#written)* #(#emitted)* #success)
    }

    /// Returns the parameter types whose traits are bounds of the generated code, so that a missing one is reported by
    /// the check alone. Those of the standard library have all of them.
    fn bound_types(&self) -> Vec<&Type> {
        let mut types: Vec<&Type> = Vec::new();
        for field in self.inputs.fields.iter().filter(|field| field.is_as_typed() && !is_known(&field.ty)) {
            if !types.contains(&&field.ty) {
                types.push(&field.ty);
            }
        }
        types
    }

    /// Returns the parameter types that the tool itself writes: arguments are refined by value.
    fn written(&self) -> Vec<&Type> {
        if self.options.refine.is_some() { self.bound_types() } else { Vec::new() }
    }

    /// Returns the bounds of the implementations.
    fn bounds(&self) -> Option<TokenStream> {
        let (types, written) = (self.bound_types(), self.written());
        let krate = &self.options.krate;
        (!types.is_empty()).then(|| {
            quote! {
                where
                    #(for<'__haft> #types: #krate::macro_support::Parameter<'__haft>,)*
                    #(for<'__haft> #written: #krate::macro_support::WrittenParameter<'__haft>,)*
            }
        })
    }

    /// Returns the bounds of serde's derived implementations. `Serialize` has its own: only a typed call requires it.
    /// The derive of `JsonSchema` takes no bounds here, so a missing schema is reported by it as well.
    fn bound_attributes(&self) -> Option<TokenStream> {
        let types = self.bound_types();
        let bounds = |name: &str| {
            let bound = self.options.krate.support_text(name);
            let each = types.iter().map(|ty| format!("for<'__haft> {}: {bound}<'__haft>", spelled(ty)));
            each.collect::<Vec<_>>().join(", ")
        };
        let (read, written) = (bounds("Parameter"), bounds("WrittenParameter"));
        (!types.is_empty()).then(|| {
            quote! {
                #[serde(bound(serialize = #written, deserialize = #read))]
            }
        })
    }

    /// Returns a call that compiles only if the type satisfies the bounds of a function in `macro_support`.
    fn check(&self, function: &str, ty: impl ToTokens, place: Span) -> TokenStream {
        let (krate, function) = (self.options.krate.at(place), Ident::new(function, place));
        quote_spanned!(place=> #krate::macro_support::#function::<#ty>();)
    }

    fn params(&self) -> TokenStream {
        self.inputs.own_type.as_ref().map_or_else(|| quote!(Self), ToTokens::to_token_stream)
    }

    /// Returns the span at which the compiler reports an invalid result type: the function's result, or its name.
    fn place(&self) -> Span {
        let place = match &self.returned {
            Type::Tuple(tuple) if tuple.elems.is_empty() => self.function.span(),
            returned => returned.span(),
        };
        Span::mixed_site().located_at(place)
    }
}

/// Returns whether a type has all traits of a parameter by its name, or can't be written as text.
fn is_known(ty: &Type) -> bool {
    const KNOWN: [&str; 28] = [
        "bool",
        "char",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "f32",
        "f64",
        "String",
        "Option",
        "Vec",
        "Box",
        "HashMap",
        "BTreeMap",
        "HashSet",
        "BTreeSet",
        "std",
        "string",
        "vec",
        "collections",
    ];
    let text = spelled(ty);
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    text.contains('$') || words.all(|word| KNOWN.contains(&word))
}

impl ToTokens for Expansion {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { shared, returned, options, .. } = self;
        let krate = &options.krate;
        let (tool_type, debug_impl, checks) = (self.tool_type(), self.debug_impl(), self.checks());
        let (tool_type_impl, static_tool_impl) = (self.tool_type_impl(), self.static_tool_impl());
        let emits_impl = self.emits_impl();
        // The compiler reports errors in code order, and the checks' errors are the short ones.
        tokens.extend(quote! {
            #(#shared)*
            #[allow(deprecated, reason = "the tool of a deprecated function still runs it")]
            const _: () = {
                type __HaftReturned = #returned;
                const __HAFT_KIND: u8 = #krate::macro_support::kind_of!(__HaftReturned);

                #debug_impl
                #tool_type_impl
                #static_tool_impl
                #emits_impl
                #checks
            };

            #tool_type
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::tool::expand;
    use quote::quote;

    fn expanded(arguments: proc_macro2::TokenStream, function: proc_macro2::TokenStream) -> String {
        let text = expand(arguments, function).to_string();
        assert!(syn::parse_str::<syn::File>(&text).is_ok(), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
        text
    }

    #[test]
    fn the_doc_comment_describes_unless_an_argument_does() {
        let function = quote! {
            /// From the comment.
            fn f() {}
        };
        assert!(expanded(quote!(), function.clone()).contains(r#"describe ("From the comment.")"#));
        let explicit = expanded(quote!(description = ""), function);
        assert!(explicit.contains(r#"describe ("")"#) && !explicit.contains("describe (\"From"), "{explicit}");
        assert!(
            !expanded(
                quote!(),
                quote!(
                    fn f() {}
                )
            )
            .contains("describe (")
        );
    }

    #[test]
    fn the_type_has_the_visibility_and_conditions_of_its_function() {
        let text = expanded(
            quote!(),
            quote!(
                #[cfg(unix)]
                pub(crate) fn f(a: u8) {}
            ),
        );
        assert!(text.contains("pub (crate) struct F {") && text.contains("pub (crate) a : u8"), "{text}");
        assert_eq!(text.matches("cfg (unix)").count(), 3, "{text}");
    }

    #[test]
    fn custom_parameter_types_are_bounds_of_all_that_is_generated() {
        let text = expanded(
            quote!(),
            quote!(
                fn f(a: Place, b: Option<Vec<u8>>, c: Option<Place>, d: Place) {}
            ),
        );
        let read = "for < '__haft > Place : :: haft :: macro_support :: Parameter < '__haft >";
        // The tool type, the static tool, and the check that the output is described.
        assert_eq!(text.matches(read).count(), 3, "{text}");
        assert!(
            text.contains("for<'__haft> Option<Place>: ::haft::macro_support::WrittenParameter<'__haft>\""),
            "{text}"
        );
        assert!(!text.contains("Vec<u8>>: "), "{text}");
        assert!(
            !expanded(
                quote!(),
                quote!(
                    fn f(a: u8) {}
                )
            )
            .contains("__haft >")
        );
    }

    #[test]
    fn waiting_blocking_and_plain_functions_differ() {
        let plain = expanded(
            quote!(),
            quote!(
                fn f(cx: &Cx) {}
            ),
        );
        assert!(plain.contains(". try_handler_mixed (") && plain.contains("f (& cx) ;"), "{plain}");
        let waiting = expanded(
            quote!(),
            quote!(
                async fn f(cx: &Cx) {}
            ),
        );
        assert!(waiting.contains("f (& cx) . await ;"), "{waiting}");
        let blocking = expanded(
            quote!(blocking),
            quote!(
                fn f(#[service] key: &Key) {}
            ),
        );
        assert!(
            blocking.contains("try_blocking_handler_mixed")
                && blocking.contains(":: now (f (cx . service :: < Key > () ?))")
        );
    }

    #[test]
    fn an_own_type_is_the_parameters() {
        let text = expanded(
            quote!(),
            quote!(
                fn f(#[params] p: Search) {}
            ),
        );
        assert!(text.contains("type Params = Search ;") && text.contains("struct F ;"), "{text}");
        assert!(text.contains("f (params)"), "{text}");
    }

    #[test]
    fn every_path_starts_at_the_given_crate() {
        let text = expanded(
            quote!(crate = haft_executor),
            quote!(
                fn f(a: u8) {}
            ),
        );
        assert!(!text.contains(":: haft ::") && text.contains("\"haft_executor::macro_support::serde\""), "{text}");
    }
}
