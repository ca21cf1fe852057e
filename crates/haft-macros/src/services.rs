//! `#[derive(Services)]`: a struct whose fields are services.
//!
//! Each field is provided under its own type. A field written as `Arc<T>` or `Box<T>` is provided as `T` as well, so
//! `Arc<dyn Clock>` provides `&dyn Clock`; `#[service(as = dyn Clock)]` does the same for a field with a concrete type.
//! Only a type's spelling counts, because macros can't resolve names: an alias for `Arc` is a type like any other.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, Generics, Ident, Member, Path, PathArguments, Type,
    TypeParamBound,
};

use crate::argument::{Arguments, KnownArguments};
use crate::crate_path::CratePath;
use crate::diagnostic::Diagnostics;

const ON_STRUCT: KnownArguments = KnownArguments { attribute: "#[service]", names: &["crate"], repeatable: &[] };
const ON_FIELD: KnownArguments =
    KnownArguments { attribute: "#[service]", names: &["as", "skip"], repeatable: &["as"] };

/// Expands to the implementations, or to all errors.
pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    match syn::parse2(tokens).and_then(|input| read(&input)) {
        Ok(services) => services.into_token_stream(),
        Err(error) => error.into_compile_error(),
    }
}

/// A struct and the services it provides.
struct Provider {
    krate: CratePath,
    name: Ident,
    generics: Generics,
    provided: Vec<Provided>,
}

/// One provided service.
struct Provided {
    field: Member,
    ty: Type,
    /// True if the field is a pointer to the service.
    is_behind: bool,
}

fn read(input: &DeriveInput) -> syn::Result<Provider> {
    let mut diagnostics = Diagnostics::default();
    let mut arguments = arguments(&input.attrs, ON_STRUCT, &mut diagnostics);
    let krate = arguments.take("crate").and_then(|krate| diagnostics.keep(krate.assigned::<Path>("`crate = path`")));
    let Data::Struct(data) = &input.data else {
        let message = "only a struct has services: write a struct with one field for each";
        diagnostics.reject(&input.ident, message);
        return Err(diagnostics.finish().err().unwrap_or_else(|| syn::Error::new(input.ident.span(), message)));
    };
    let mut provided: Vec<Provided> = Vec::new();
    for (member, field) in data.fields.members().zip(&data.fields) {
        for service in of_field(&member, field, &mut diagnostics) {
            let spelled = service.ty.to_token_stream().to_string();
            match provided.iter().find(|earlier| earlier.ty.to_token_stream().to_string() == spelled) {
                Some(earlier) => {
                    let message = format!(
                        "the fields `{}` and `{}` both provide this type: give one of them a type of its own, or mark \
                         it `#[service(skip)]`",
                        member_name(&earlier.field),
                        member_name(&member)
                    );
                    diagnostics.reject(&field.ty, message);
                }
                None => provided.push(service),
            }
        }
    }
    diagnostics.finish()?;
    let krate = krate.map(CratePath::from).unwrap_or_default();
    Ok(Provider { krate, name: input.ident.clone(), generics: input.generics.clone(), provided })
}

fn of_field(member: &Member, field: &Field, diagnostics: &mut Diagnostics) -> Vec<Provided> {
    let mut arguments = arguments(&field.attrs, ON_FIELD, diagnostics);
    let skip = arguments.take("skip").and_then(|skip| diagnostics.keep(skip.flag())).unwrap_or_default();
    let faces: Vec<Type> = arguments
        .take_all("as")
        .iter()
        .filter_map(|face| diagnostics.keep(face.assigned("`as = dyn Trait`")))
        .collect();
    if skip {
        if let Some(face) = faces.first() {
            diagnostics.reject(face, "a skipped field provides nothing: remove `skip` or `as`");
        }
        return Vec::new();
    }
    let inner = pointed_to(&field.ty);
    let service = |ty: &Type, is_behind| Provided { field: member.clone(), ty: ty.clone(), is_behind };
    let mut provided = vec![service(&field.ty, false)];
    provided.extend(inner.map(|inner| service(inner, true)));
    provided.extend(faces.iter().map(|face| service(face, inner.is_some())));
    provided
}

/// Returns the `T` in a type written as `Arc<T>` or `Box<T>`.
fn pointed_to(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match (last.ident == "Arc" || last.ident == "Box", arguments.args.first(), arguments.args.len()) {
        (true, Some(GenericArgument::Type(inner)), 1) => Some(inner),
        _ => None,
    }
}

fn arguments(attributes: &[Attribute], known: KnownArguments, diagnostics: &mut Diagnostics) -> Arguments {
    let mut all = Arguments::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("service")) {
        match attribute.meta.require_list() {
            Ok(list) => all.extend(list.tokens.clone(), known, diagnostics),
            Err(_) => {
                let message = "every field is a service already: write `#[service(skip)]` or `#[service(as = dyn Trait)]`, \
                               or remove this";
                diagnostics.reject(attribute, message);
            }
        }
    }
    all
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Returns the type behind a reference. A trait object without a lifetime is `'static` in the trait's argument, and has
/// to be spelled out here.
fn referent(ty: &Type) -> TokenStream {
    match ty {
        Type::TraitObject(object)
            if !object.bounds.iter().any(|bound| matches!(bound, TypeParamBound::Lifetime(_))) =>
        {
            quote!((#object + 'static))
        }
        Type::TraitObject(object) => quote!((#object)),
        other => other.to_token_stream(),
    }
}

impl ToTokens for Provider {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { krate, name, generics, provided } = self;
        let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
        for Provided { field, ty, is_behind } in provided {
            let referent = referent(ty);
            let deref = is_behind.then(|| quote!(*));
            tokens.extend(quote! {
                impl #impl_generics #krate::macro_support::Provide<#ty> for #name #type_generics #where_clause {
                    fn provide(&self) -> &#referent {
                        &#deref self.#field
                    }
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::messages;

    fn services(tokens: TokenStream) -> Result<Vec<String>, Vec<String>> {
        let provider = read(&syn::parse2(tokens).unwrap()).map_err(|error| messages(&error))?;
        Ok(provider.provided.iter().map(|p| p.ty.to_token_stream().to_string().replace(' ', "")).collect())
    }

    fn fault(tokens: TokenStream) -> String {
        let mut faults = services(tokens).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn pointers_also_provide_their_target() {
        let all = services(quote! {
            struct App {
                key: Key,
                clock: std::sync::Arc<dyn Clock>,
                #[service(as = dyn Store<K, V>)] store: Memory,
                #[service(skip)] secret: String,
            }
        });
        assert_eq!(all.unwrap(), ["Key", "std::sync::Arc<dynClock>", "dynClock", "Memory", "dynStore<K,V>"]);
        assert_eq!(
            services(quote!(
                struct App(Key, Box<u8>);
            ))
            .unwrap(),
            ["Key", "Box<u8>", "u8"]
        );
        assert!(
            services(quote!(
                struct App;
            ))
            .unwrap()
            .is_empty()
        );
    }

    #[test]
    fn trait_objects_live_as_long_as_their_owner() {
        let text = expand(quote!(
            struct App {
                clock: Arc<dyn Clock + Send>,
            }
        ))
        .to_string();
        let written = quote! {
            impl ::haft::macro_support::Provide<dyn Clock + Send> for App {
                fn provide(&self) -> &(dyn Clock + Send + 'static) { &*self.clock }
            }
        };
        assert!(text.contains(&written.to_string()), "{text}");
    }

    #[test]
    fn two_fields_of_one_type_are_named() {
        let fault = fault(quote!(
            struct App {
                url: String,
                key: String,
            }
        ));
        assert!(fault.contains("`url` and `key`") && fault.contains("#[service(skip)]"), "{fault}");
        assert!(
            self::fault(quote!(
                struct App(Db, Arc<Db>);
            ))
            .contains("`0` and `1`")
        );
    }

    #[test]
    fn mistakes_report_what_to_write() {
        assert!(
            fault(quote!(
                enum App {
                    A,
                }
            ))
            .contains("write a struct")
        );
        assert!(fault(quote!(union App { a: u8 })).contains("write a struct"));
        assert!(
            fault(quote!(
                struct App {
                    #[service]
                    a: u8,
                }
            ))
            .contains("#[service(skip)]")
        );
        assert!(
            fault(quote!(
                struct App {
                    #[service(skp)]
                    a: u8,
                }
            ))
            .contains("did you mean `skip`?")
        );
        assert!(
            fault(quote!(
                struct App {
                    #[service(skip, as = dyn A)]
                    a: u8,
                }
            ))
            .contains("remove `skip` or `as`")
        );
        assert!(
            fault(quote!(
                #[service(skip)]
                struct App {
                    a: u8,
                }
            ))
            .contains("`crate`")
        );
    }
}
