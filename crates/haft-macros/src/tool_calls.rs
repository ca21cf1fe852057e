//! `#[derive(ToolCalls)]`: an enum with one variant per tool.
//!
//! The enum's shape is checked here, with all mistakes at once. Only the spelling of a field's type counts, because
//! macros can't resolve names: an alias for `Typed<GetWeather>` is a mistake, and the message says what to write. Names
//! are compared at compile time, as in `toolkit![…]`.

mod expansion;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Attribute, Data, DeriveInput, Fields, GenericArgument, Ident, Meta, Path, PathArguments, PathSegment, Type,
    Variant, Visibility,
};

use crate::argument::{Arguments, KnownArguments};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;

const ON_ENUM: KnownArguments = KnownArguments { attribute: "#[tool_calls]", names: &["crate"], repeatable: &[] };

const VARIANT: &str = "a variant holds one tool: write `Name(Typed<Tool>)`";
const OTHER: &str = "the variant for other tools holds the call: write `Other(ToolCall)`";

/// Expands to the implementation, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    match syn::parse2(tokens).and_then(|input| read(&input)) {
        Ok(calls) => calls.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// An enum of calls.
struct CallEnum {
    krate: CratePath,
    visibility: Visibility,
    name: Ident,
    tools: Vec<ToolCase>,
    /// The variant for calls to other tools.
    other: Option<Ident>,
}

/// A variant that is a tool.
struct ToolCase {
    name: Ident,
    /// The `T` in `Typed<T>`.
    tool: Type,
    origin: CaseOrigin,
}

/// A tool's origin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CaseOrigin {
    /// The type alone creates the tool.
    Type,
    /// A value is given to `toolkit`: `#[value]`.
    Value,
}

/// A variant's attributes.
#[derive(Default)]
struct CaseMarks<'a> {
    other: Option<&'a Attribute>,
    value: Option<&'a Attribute>,
}

fn read(input: &DeriveInput) -> syn::Result<CallEnum> {
    let mut diagnostics = Diagnostics::default();
    let krate = crate_path(&input.attrs, &mut diagnostics);
    if !input.generics.params.is_empty() {
        let message = "an enum of calls can't be generic, because the names of its tools are compared at compile time: \
                       write the concrete types";
        diagnostics.reject(&input.generics, message);
    }
    let (mut tools, mut other) = (Vec::new(), None);
    match &input.data {
        Data::Enum(data) if data.variants.is_empty() => {
            diagnostics.reject(&input.ident, "there is no tool: write one variant `Name(Typed<Tool>)` for each");
        }
        Data::Enum(data) => {
            for variant in &data.variants {
                read_variant(variant, &mut tools, &mut other, &mut diagnostics);
            }
        }
        Data::Struct(_) | Data::Union(_) => {
            let message = "calls are told apart by the variants of an enum: write `enum` and one variant \
                           `Name(Typed<Tool>)` for each tool";
            diagnostics.reject(&input.ident, message);
        }
    }
    diagnostics.finish()?;
    Ok(CallEnum { krate, visibility: input.vis.clone(), name: input.ident.clone(), tools, other })
}

fn read_variant(
    variant: &Variant,
    tools: &mut Vec<ToolCase>,
    other: &mut Option<Ident>,
    diagnostics: &mut Diagnostics,
) {
    let marks = CaseMarks::read(&variant.attrs, diagnostics);
    let name = variant.ident.clone();
    let Some(field) = only_field(variant) else {
        return diagnostics.reject(variant, if marks.other.is_some() { OTHER } else { VARIANT });
    };
    match (marks.other, other.as_ref()) {
        (Some(mark), Some(earlier)) => {
            let message = format!("`{earlier}` receives the calls of other tools already: keep one `#[other]`");
            diagnostics.reject(mark, message);
        }
        (Some(_), None) if last_segment(field).is_some_and(|segment| segment.ident == "ToolCall") => {
            *other = Some(name);
        }
        (Some(_), None) => diagnostics.reject(field, OTHER),
        (None, _) => match typed(field) {
            Some(tool) => {
                let origin = if marks.value.is_some() { CaseOrigin::Value } else { CaseOrigin::Type };
                tools.push(ToolCase { name, tool: tool.clone(), origin });
            }
            None => diagnostics.reject(field, not_typed(field)),
        },
    }
}

fn only_field(variant: &Variant) -> Option<&Type> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first().map(|field| &field.ty),
        Fields::Unnamed(_) | Fields::Named(_) | Fields::Unit => None,
    }
}

/// Returns the `T` in a type written as `Typed<T>`.
fn typed(field: &Type) -> Option<&Type> {
    let segment = last_segment(field).filter(|segment| segment.ident == "Typed")?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match (arguments.args.first(), arguments.args.len()) {
        (Some(GenericArgument::Type(tool)), 1) => Some(tool),
        _ => None,
    }
}

fn last_segment(field: &Type) -> Option<&PathSegment> {
    match field {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Returns the message for a field that is not a typed call.
fn not_typed(field: &Type) -> String {
    match last_segment(field).map(|segment| segment.ident.to_string()).as_deref() {
        Some("ToolCall") => {
            "a variant holds one tool: mark the one for all other tools `#[other]`, or write `Typed<Tool>`".to_owned()
        }
        Some("Typed") => "a variant holds one tool: write `Typed<Tool>`, with the type of the tool".to_owned(),
        _ => {
            let spelled = field.to_token_stream().to_string().replace(' ', "");
            format!("a variant holds a typed call, spelled out: write `Typed<{spelled}>` if `{spelled}` is a tool")
        }
    }
}

impl<'a> CaseMarks<'a> {
    fn read(attributes: &'a [Attribute], diagnostics: &mut Diagnostics) -> Self {
        let mut marks = Self::default();
        for attribute in attributes {
            let (slot, name) = if attribute.path().is_ident("other") {
                (&mut marks.other, "other")
            } else if attribute.path().is_ident("value") {
                (&mut marks.value, "value")
            } else {
                continue;
            };
            if !matches!(attribute.meta, Meta::Path(_)) {
                diagnostics.reject(attribute, format!("write `#[{name}]`"));
            } else if slot.is_some() {
                diagnostics.reject(attribute, format!("`#[{name}]` is given twice: keep one"));
            }
            *slot = Some(attribute);
        }
        if let (Some(_), Some(value)) = (marks.other, marks.value) {
            diagnostics
                .reject(value, "other tools are not in the toolkit, so no value creates them: remove `#[value]`");
        }
        marks
    }
}

fn crate_path(attributes: &[Attribute], diagnostics: &mut Diagnostics) -> CratePath {
    let mut arguments = Arguments::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tool_calls")) {
        match attribute.meta.require_list() {
            Ok(list) => arguments.extend(list.tokens.clone(), ON_ENUM, diagnostics),
            Err(_) => diagnostics.reject(attribute, "write `#[tool_calls(crate = path)]`, or remove this"),
        }
    }
    let krate = arguments.take("crate").and_then(|krate| diagnostics.keep(krate.assigned::<Path>("`crate = path`")));
    krate.map(CratePath::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::diagnostic::messages;

    fn faults(tokens: TokenStream) -> Vec<String> {
        read(&syn::parse2(tokens).unwrap()).map_or_else(|error| messages(&error), |_| Vec::new())
    }

    #[test]
    fn mistakes_of_every_kind_come_together() {
        let faults = faults(quote! {
            #[tool_calls(path = haft_executor)]
            enum AppCall<T> {
                None,
                Two(Typed<A>, Typed<B>),
                Named { call: Typed<A> },
                #[other] Other(ToolCall),
                #[other] Rest(ToolCall),
                #[other] #[value] Both(ToolCall),
                #[value(x)] Value(Typed<C>),
                Bare(GetWeather),
                Call(ToolCall),
                Typed(Typed),
            }
        });
        let expected = [
            "`#[tool_calls]` has no argument `path`",
            "can't be generic",
            VARIANT,
            VARIANT,
            VARIANT,
            "`Other` receives the calls of other tools already",
            "remove `#[value]`",
            "`Other` receives the calls of other tools already",
            "write `#[value]`",
            "write `Typed<GetWeather>`",
            "`#[other]`",
            "with the type of the tool",
        ];
        assert_eq!(faults.len(), expected.len(), "{faults:#?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{expected}: {faults:#?}");
        }
    }

    #[test]
    fn only_an_enum_with_variants_has_calls() {
        assert!(
            faults(quote!(
                struct AppCall(Typed<A>);
            ))[0]
                .contains("write `enum`")
        );
        assert!(faults(quote!(union AppCall { a: u8 }))[0].contains("write `enum`"));
        assert!(
            faults(quote!(
                enum AppCall {}
            ))[0]
                .contains("there is no tool")
        );
        assert!(
            faults(quote!(
                enum AppCall {
                    #[other]
                    Other { call: ToolCall },
                }
            ))[0]
                .contains("`Other(ToolCall)`")
        );
    }

    #[test]
    fn other_attributes_are_left_alone() {
        assert!(
            faults(quote! {
                /// Calls.
                #[non_exhaustive]
                enum AppCall {
                    /// A tool.
                    #[allow(dead_code)]
                    A(Typed<A>),
                }
            })
            .is_empty()
        );
    }
}
