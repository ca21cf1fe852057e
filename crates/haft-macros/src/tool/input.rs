//! The roles of a function's parameters: the context, a service, or a value that the model fills in.

use quote::ToTokens;
use syn::{Attribute, FnArg, GenericArgument, Meta, PatType, PathArguments, Type, TypeReference};

use super::function::ToolFunction;
use super::parameter::{Field, ParameterAttributes, ParameterRole};
use crate::diagnostic::Diagnostics;

/// The most services for one tool: the longest list that implements haft's `ServiceList`.
const MOST_SERVICES: usize = 12;

/// A function's arguments in order, and the fields that the model fills in.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    pub(crate) sources: Vec<ArgumentSource>,
    pub(crate) fields: Vec<Field>,
    /// The user's own parameter type, instead of fields.
    pub(crate) own_type: Option<Type>,
}

/// The origin of one of the function's arguments.
#[derive(Debug)]
pub(crate) enum ArgumentSource {
    /// The field with this index.
    Field(usize),
    /// The parameters as a whole.
    Params,
    /// The context.
    Context,
    /// A service with this type.
    Service(Box<Type>),
    /// A service with this type that each run provides.
    RunService(Box<Type>),
}

impl Inputs {
    /// Removes the attributes from the parameters and reads them. A method's receiver is a service.
    pub(crate) fn take(function: &mut ToolFunction<'_>, diagnostics: &mut Diagnostics) -> Self {
        let mut inputs = Self::default();
        for argument in &mut function.sig.inputs {
            match (argument, function.owner) {
                (FnArg::Typed(parameter), _) => inputs.add(parameter, diagnostics),
                (FnArg::Receiver(_), Some(owner)) => {
                    let receiver = Box::new(owner.ty.clone());
                    inputs.sources.push(if owner.is_of_run {
                        ArgumentSource::RunService(receiver)
                    } else {
                        ArgumentSource::Service(receiver)
                    });
                }
                // A receiver without an owner is a fault in the signature.
                (FnArg::Receiver(_), None) => {}
            }
        }
        inputs.check_fields(diagnostics);
        if let Some(owner) = function.owner {
            inputs.types_mut().for_each(|ty| *ty = owner.resolve(ty));
        }
        inputs
    }

    /// Returns all types, to be changed.
    fn types_mut(&mut self) -> impl Iterator<Item = &mut Type> {
        let services = self.sources.iter_mut().filter_map(|source| match source {
            ArgumentSource::Service(service) | ArgumentSource::RunService(service) => Some(&mut **service),
            ArgumentSource::Field(_) | ArgumentSource::Params | ArgumentSource::Context => None,
        });
        services.chain(self.fields.iter_mut().map(|field| &mut field.ty)).chain(&mut self.own_type)
    }

    /// Returns the services' types in order, each with the marker for who provides it.
    pub(crate) fn services(&self) -> impl Iterator<Item = (&'static str, &Type)> {
        self.sources.iter().filter_map(|source| match source {
            ArgumentSource::Service(service) => Some(("Needs", &**service)),
            ArgumentSource::RunService(service) => Some(("PerRun", &**service)),
            ArgumentSource::Field(_) | ArgumentSource::Params | ArgumentSource::Context => None,
        })
    }

    fn add(&mut self, parameter: &mut PatType, diagnostics: &mut Diagnostics) {
        let marks = ParameterAttributes::take(parameter, diagnostics);
        match &marks.mark {
            Some(ParameterRole::Service(mark)) => self.add_service(parameter, &marks, mark, diagnostics),
            Some(ParameterRole::Params(mark)) => self.add_own_type(parameter, &marks, mark, diagnostics),
            None => match bare(&parameter.ty) {
                Type::Reference(reference) if is_context(&reference.elem) => {
                    self.add_context(parameter, reference, &marks, diagnostics);
                }
                other if is_context(other) => {
                    diagnostics.reject(&parameter.ty, "the context is borrowed: write `cx: &Cx`");
                }
                _ => {
                    if let Some(field) = Field::read(parameter, marks, diagnostics) {
                        self.sources.push(ArgumentSource::Field(self.fields.len()));
                        self.fields.push(field);
                    }
                }
            },
        }
    }

    fn add_context(
        &mut self,
        parameter: &PatType,
        reference: &TypeReference,
        marks: &ParameterAttributes,
        diagnostics: &mut Diagnostics,
    ) {
        marks.reject_field_attributes("the context", diagnostics);
        if reference.mutability.is_some() || reference.lifetime.is_some() {
            diagnostics.reject(reference, "the context is shared with the call: write `&Cx`");
        }
        if self.sources.iter().any(|source| matches!(source, ArgumentSource::Context)) {
            diagnostics.reject(parameter, "this is a second context: a call has one, remove this parameter");
        }
        self.sources.push(ArgumentSource::Context);
    }

    fn add_service(
        &mut self,
        parameter: &PatType,
        marks: &ParameterAttributes,
        mark: &Attribute,
        diagnostics: &mut Diagnostics,
    ) {
        let is_of_run = is_of_run(mark, diagnostics);
        marks.reject_field_attributes("a service", diagnostics);
        let Type::Reference(reference) = bare(&parameter.ty) else {
            let ty = &parameter.ty;
            let message = match optional(ty) {
                Some(inner) if is_of_run => format!(
                    "a service is never optional, a run without it starts nothing: write `&{}`",
                    spelled(referent(inner))
                ),
                Some(inner) => format!(
                    "a service is never optional, a toolkit without it doesn't compile: write `&{}`",
                    spelled(referent(inner))
                ),
                None => format!("a service is borrowed from the application: write `&{}`", spelled(ty)),
            };
            return diagnostics.reject(ty, message);
        };
        let elem = spelled(&reference.elem);
        if reference.mutability.is_some() {
            let message =
                format!("a service is shared by all calls: write `&{elem}`, and put what changes behind a lock");
            diagnostics.reject(reference, message);
        } else if reference.lifetime.is_some() {
            diagnostics.reject(reference, format!("a service is borrowed for one call: write `&{elem}`"));
        }
        let service = Box::new(bare(&reference.elem).clone());
        self.sources.push(if is_of_run {
            ArgumentSource::RunService(service)
        } else {
            ArgumentSource::Service(service)
        });
        if self.services().count() == MOST_SERVICES + 1 {
            let message = format!("a tool takes at most {MOST_SERVICES} services: put some of them into one struct");
            diagnostics.reject(parameter, message);
        }
    }

    fn add_own_type(
        &mut self,
        parameter: &PatType,
        marks: &ParameterAttributes,
        mark: &Attribute,
        diagnostics: &mut Diagnostics,
    ) {
        check_bare(mark, "#[params]", diagnostics);
        marks.reject_field_attributes("a parameter type of your own", diagnostics);
        if let Type::Reference(reference) = bare(&parameter.ty) {
            let message = format!("the parameters are taken by value: write `{}`", spelled(&reference.elem));
            diagnostics.reject(reference, message);
        } else if self.own_type.is_some() {
            diagnostics.reject(parameter, "`#[params]` marks the only parameter that the model fills in: keep one");
        }
        self.own_type = Some((*parameter.ty).clone());
        self.sources.push(ArgumentSource::Params);
    }

    fn check_fields(&self, diagnostics: &mut Diagnostics) {
        for (index, field) in self.fields.iter().enumerate() {
            if self.own_type.is_some() {
                let message = "`#[params]` replaces single parameters: move this one into the struct, or \
                               mark it `#[service]`";
                diagnostics.reject(&field.name, message);
            }
            let key = field.key();
            if let Some(earlier) = self.fields[..index].iter().find(|earlier| earlier.key() == key) {
                let message = format!(
                    "the model would see two parameters called `{key}`, this and `{}`: rename one of them",
                    earlier.name
                );
                diagnostics.reject(&field.name, message);
            }
        }
    }
}

/// Formats a type as a user would write it.
pub(crate) fn spelled(ty: impl ToTokens) -> String {
    let text = ty.to_token_stream().to_string();
    let tight = [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" , ", ", "), (" ,", ","), ("& ", "&"), ("' ", "'")];
    let text = tight.iter().fold(text, |text, (wide, narrow)| text.replace(wide, narrow));
    text.replace("( ", "(").replace(" )", ")").replace("[ ", "[").replace(" ]", "]").replace(" ;", ";")
}

/// Returns the type without parentheses around it.
pub(crate) fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Paren(paren) => bare(&paren.elem),
        Type::Group(group) => bare(&group.elem),
        other => other,
    }
}

/// Returns the `T` in an `Option<T>`.
pub(crate) fn optional(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = bare(ty) else { return None };
    let last = path.path.segments.last().filter(|segment| segment.ident == "Option")?;
    match &last.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
            GenericArgument::Type(inner) => Some(inner),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns the type behind a reference, or the type itself.
fn referent(ty: &Type) -> &Type {
    match bare(ty) {
        Type::Reference(reference) => bare(&reference.elem),
        other => other,
    }
}

fn is_context(ty: &Type) -> bool {
    let Type::Path(path) = bare(ty) else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Cx" && segment.arguments.is_empty())
}

/// Reads `#[service]` and `#[service(run)]`. Returns whether each run provides the service.
fn is_of_run(mark: &Attribute, diagnostics: &mut Diagnostics) -> bool {
    match &mark.meta {
        Meta::Path(_) => false,
        Meta::List(list) if list.tokens.to_string() == "run" => true,
        Meta::List(_) | Meta::NameValue(_) => {
            let message = "write `#[service]` for a service of the toolkit's state, or `#[service(run)]` for one that \
                           each run provides";
            diagnostics.reject(mark, message);
            false
        }
    }
}

fn check_bare(mark: &Attribute, form: &str, diagnostics: &mut Diagnostics) {
    if !matches!(mark.meta, Meta::Path(_)) {
        diagnostics.reject(mark, format!("this attribute takes no arguments here: write `{form}`"));
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::*;
    use crate::diagnostic::messages;

    fn take(tokens: TokenStream) -> (Inputs, String, Vec<String>) {
        let mut function: syn::ItemFn = syn::parse2(tokens).unwrap();
        let mut diagnostics = Diagnostics::default();
        let inputs = Inputs::take(&mut (&mut function).into(), &mut diagnostics);
        let faults = diagnostics.finish().map_or_else(|error| messages(&error), |()| Vec::new());
        (inputs, function.sig.inputs.to_token_stream().to_string(), faults)
    }

    fn only_fault(tokens: TokenStream) -> String {
        let (_, _, mut faults) = take(tokens);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn every_input_has_its_source() {
        let (inputs, left, faults) = take(quote! {
            fn f(mut a: u8, #[service] key: &Key, cx: &haft::Cx, #[service] clock: &(dyn Clock + Send), b: Vec<String>) {}
        });
        assert!(faults.is_empty(), "{faults:?}");
        assert!(matches!(
            inputs.sources[..],
            [
                ArgumentSource::Field(0),
                ArgumentSource::Service(_),
                ArgumentSource::Context,
                ArgumentSource::Service(_),
                ArgumentSource::Field(1)
            ]
        ));
        let services: Vec<_> = inputs.services().map(|(_, service)| spelled(service)).collect();
        assert_eq!(services, ["Key", "dyn Clock + Send"]);
        assert_eq!(inputs.fields[0].name, "a");
        assert!(!left.contains('#') && left.starts_with("mut a"), "{left}");
    }

    #[test]
    fn a_service_of_the_run_is_marked() {
        let (inputs, left, faults) = take(quote! {
            fn f(#[service(run)] db: &TenantDb, #[service] key: &Key, #[service(run)] clock: &dyn Clock) {}
        });
        assert!(faults.is_empty() && !left.contains('#'), "{faults:?} {left}");
        let services: Vec<_> =
            inputs.services().map(|(marker, service)| format!("{marker}<{}>", spelled(service))).collect();
        assert_eq!(services, ["PerRun<TenantDb>", "Needs<Key>", "PerRun<dyn Clock>"]);
        for wrong in [quote!((runs)), quote!((run, run)), quote!(()), quote!( = "run")] {
            let fault = only_fault(quote!(fn f(#[service #wrong] a: &Key) {}));
            assert!(fault.contains("`#[service(run)]`"), "{fault}");
        }
        let fault = only_fault(quote!(
            fn f(#[service(run)] a: Option<&Key>) {}
        ));
        assert!(fault.contains("a run without it starts nothing") && fault.ends_with("write `&Key`"), "{fault}");
    }

    #[test]
    fn an_own_type_may_be_destructured() {
        let (inputs, _, faults) = take(quote!(
            fn f(#[params] Search { query, .. }: Search, cx: &Cx) {}
        ));
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(spelled(inputs.own_type), "Search");
    }

    #[test]
    fn wrong_services_and_contexts_report_what_to_write() {
        assert!(
            only_fault(quote!(
                fn f(#[service] a: Store<K, V>) {}
            ))
            .ends_with("write `&Store<K, V>`")
        );
        for optional in [quote!(Option<&Key>), quote!(std::option::Option<Key>), quote!(Option<&'static mut Key>)] {
            let fault = only_fault(quote!(fn f(#[service] a: #optional) {}));
            assert!(fault.starts_with("a service is never optional") && fault.ends_with("write `&Key`"), "{fault}");
        }
        assert!(
            only_fault(quote!(
                fn f(#[service] a: &mut Key) {}
            ))
            .contains("write `&Key`")
        );
        assert!(
            only_fault(quote!(
                fn f(#[service] a: &'static Key) {}
            ))
            .contains("write `&Key`")
        );
        assert!(
            only_fault(quote!(
                fn f(#[service(x)] a: &Key) {}
            ))
            .contains("write `#[service]`")
        );
        assert!(
            only_fault(quote!(
                fn f(cx: Cx) {}
            ))
            .contains("write `cx: &Cx`")
        );
        assert!(
            only_fault(quote!(
                fn f(cx: &mut Cx) {}
            ))
            .contains("write `&Cx`")
        );
        assert!(
            only_fault(quote!(
                fn f(a: &Cx, b: &haft::Cx) {}
            ))
            .contains("second context")
        );
        assert!(
            only_fault(quote!(
                fn f(
                    #[serde(default)]
                    #[service]
                    a: &Key,
                ) {
                }
            ))
            .contains("`#[serde]`")
        );
    }

    #[test]
    fn a_thirteenth_service_is_one_too_many() {
        let services = (0..13).map(|n| {
            let name = quote::format_ident!("s{n}");
            quote!(#[service] #name: &Key)
        });
        assert!(only_fault(quote!(fn f(#(#services),*) {})).contains("at most 12"));
    }

    #[test]
    fn an_own_type_excludes_other_parameters() {
        assert!(
            only_fault(quote!(
                fn f(#[params] a: A, b: u8) {}
            ))
            .contains("move this one into the struct")
        );
        assert!(
            only_fault(quote!(
                fn f(#[params] a: A, #[params] b: B) {}
            ))
            .contains("keep one")
        );
        assert!(
            only_fault(quote!(
                fn f(#[params] a: &A) {}
            ))
            .contains("write `A`")
        );
    }

    #[test]
    fn two_parameters_of_one_name_clash() {
        let fault = only_fault(quote!(
            fn f(a: u8, #[serde(rename = "a")] b: u8) {}
        ));
        assert!(fault.contains("called `a`"), "{fault}");
    }
}
