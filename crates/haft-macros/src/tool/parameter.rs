//! A parameter that the model fills in, and the attributes it may have.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Pat, PatType, Type, Visibility};

use super::field_attribute;
use super::input::{bare, spelled};
use super::signature::{borrows, mentions};
use crate::diagnostic::Diagnostics;
use crate::documentation;
use crate::nearest::{listed, nearest};

/// The attributes that a parameter may have, besides doc comments.
const ATTRIBUTES: [&str; 6] = ["schemars", "serde", "service", "params", "allow", "cfg_attr"];

/// Lint levels that apply only to the function.
const LINTS: [&str; 4] = ["warn", "deny", "forbid", "expect"];

/// A field in the generated type.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) is_documented: bool,
    pub(crate) visibility: Visibility,
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    rename: Option<String>,
}

/// One parameter's attributes, sorted by purpose.
#[derive(Debug, Default)]
pub(crate) struct ParameterAttributes {
    pub(crate) mark: Option<ParameterRole>,
    comments: Vec<Attribute>,
    /// Attributes for serde, schemars and the compiler, which move to the field.
    moved: Vec<Attribute>,
}

/// The role that a parameter is marked with.
#[derive(Debug)]
pub(crate) enum ParameterRole {
    /// `#[service]`.
    Service(Attribute),
    /// `#[params]`.
    Params(Attribute),
}

impl ParameterAttributes {
    /// Removes the attributes from a parameter; lint levels stay.
    pub(crate) fn take(parameter: &mut PatType, diagnostics: &mut Diagnostics) -> Self {
        let mut marks = Self::default();
        for attribute in std::mem::take(&mut parameter.attrs) {
            let path = spelled(attribute.path());
            match path.as_str() {
                "doc" => marks.comments.push(attribute),
                "schemars" | "serde" | "cfg_attr" => marks.moved.push(attribute),
                "allow" => {
                    marks.moved.push(attribute.clone());
                    parameter.attrs.push(attribute);
                }
                "service" | "params" if marks.mark.is_some() => {
                    diagnostics.reject(&attribute, "this parameter is marked twice: keep one mark");
                }
                "service" => marks.mark = Some(ParameterRole::Service(attribute)),
                "params" => marks.mark = Some(ParameterRole::Params(attribute)),
                lint if LINTS.contains(&lint) => parameter.attrs.push(attribute),
                "cfg" => {
                    let message =
                        "a parameter can't depend on `cfg`: write the function twice, each under its `#[cfg]`";
                    diagnostics.reject(&attribute, message);
                }
                other => diagnostics.reject(&attribute, unknown(other)),
            }
        }
        marks
    }

    /// Reports field attributes on a parameter that does not become a field.
    pub(crate) fn reject_field_attributes(&self, subject: &str, diagnostics: &mut Diagnostics) {
        for attribute in self.moved.iter().filter(|attribute| !attribute.path().is_ident("allow")) {
            let path = spelled(attribute.path());
            diagnostics.reject(attribute, format!("{subject} is no field of the schema: remove `#[{path}]`"));
        }
    }
}

impl Field {
    /// Reads a parameter that is neither the context nor marked. Returns `None` if it can't become a field.
    pub(crate) fn read(parameter: &PatType, marks: ParameterAttributes, diagnostics: &mut Diagnostics) -> Option<Self> {
        check_type(&parameter.ty, diagnostics);
        let rename = field_attribute::check(&marks.moved, diagnostics);
        let name = match &*parameter.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => pattern.ident.clone(),
            pattern => {
                let message = "a pattern has no name for the model: write `name: Type` and destructure it in the body, \
                               or mark a struct of your own `#[params]`";
                diagnostics.reject(pattern, message);
                return None;
            }
        };
        Some(Self {
            is_documented: marks.comments.iter().any(documentation::is_comment),
            attributes: marks.comments.into_iter().chain(marks.moved).collect(),
            visibility: Visibility::Inherited,
            name,
            ty: (*parameter.ty).clone(),
            rename,
        })
    }

    /// Returns whether the type itself is serialized and described, and not a replacement named by an attribute.
    pub(crate) fn is_as_typed(&self) -> bool {
        is_as_typed(&self.attributes)
    }

    /// Returns the name that the model sees.
    pub(crate) fn key(&self) -> String {
        self.rename.clone().unwrap_or_else(|| self.name.unraw().to_string())
    }
}

impl ToTokens for Field {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attributes, visibility, name, ty, .. } = self;
        // An empty comment describes nothing, but satisfies the lint for missing documentation.
        let documentation = (!self.is_documented).then(|| quote!(#[doc = ""]));
        tokens.extend(quote!(#documentation #(#attributes)* #visibility #name: #ty));
    }
}

/// Returns whether a field with these attributes is serialized and described by its type.
pub(crate) fn is_as_typed(attributes: &[Attribute]) -> bool {
    const REPLACING: [&str; 5] = ["with", "serialize_with", "deserialize_with", "schema_with", "cfg_attr"];
    let replaces = |attribute: &Attribute| REPLACING.iter().any(|word| mentions(attribute.to_token_stream(), word));
    !attributes.iter().any(replaces)
}

fn unknown(path: &str) -> String {
    match nearest(path, &ATTRIBUTES) {
        Some(candidate) => format!("`#[{path}]` has no meaning on a parameter: did you mean `#[{candidate}]`?"),
        None if matches!(path, "validate" | "garde") => format!(
            "`#[{path}]` has no meaning on a parameter: describe it to the model as well, with `#[schemars(range(min = 1))]`, \
             `#[schemars(length(max = 9))]` or `#[schemars(regex(pattern = \"…\"))]`"
        ),
        None => format!(
            "`#[{path}]` has no meaning on a parameter: write a doc comment or one of {}",
            listed(&ATTRIBUTES.map(|name| format!("#[{name}]")).each_ref().map(String::as_str))
        ),
    }
}

/// Rejects a type that borrows or has no name.
fn check_type(ty: &Type, diagnostics: &mut Diagnostics) {
    let tokens = ty.to_token_stream();
    if mentions(tokens.clone(), "impl") {
        diagnostics.reject(ty, "a parameter has a schema, so its type must have a name: write it in place of `impl …`");
    } else if let Type::Reference(reference) = bare(ty) {
        let message = match bare(&reference.elem) {
            Type::Slice(slice) => format!("a parameter owns its value: write `Vec<{}>`", spelled(&slice.elem)),
            elem => match spelled(elem).as_str() {
                "str" => "a parameter owns its value: write `String`".to_owned(),
                "Path" | "std::path::Path" => "a parameter owns its value: write `PathBuf`".to_owned(),
                other => format!(
                    "a parameter owns its value: write `{other}`, or mark it `#[service]` if the application provides it"
                ),
            },
        };
        diagnostics.reject(ty, message);
    } else if borrows(tokens.clone()) || tokens.to_string().contains('&') {
        let owned = spelled(ty).replace("&'static ", "&").replace("&str", "String").replace('&', "");
        let owned = if owned.contains('\'') { "String".to_owned() } else { owned };
        diagnostics.reject(ty, format!("a parameter owns its value: write `{owned}`"));
    }
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser;

    use super::*;
    use crate::diagnostic::messages;

    fn read(tokens: TokenStream) -> Result<(Field, String), Vec<String>> {
        let parse = |input: syn::parse::ParseStream<'_>| match input.parse()? {
            syn::FnArg::Typed(parameter) => Ok(parameter),
            syn::FnArg::Receiver(_) => Err(input.error("self")),
        };
        let mut parameter: PatType = parse.parse2(tokens).unwrap();
        let mut diagnostics = Diagnostics::default();
        let marks = ParameterAttributes::take(&mut parameter, &mut diagnostics);
        let field = Field::read(&parameter, marks, &mut diagnostics);
        diagnostics.finish().map_err(|error| messages(&error))?;
        Ok((field.unwrap(), spelled(parameter)))
    }

    fn fault(tokens: TokenStream) -> String {
        let mut faults = read(tokens).unwrap_err();
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.remove(0)
    }

    #[test]
    fn attributes_move_to_the_field() {
        let (field, left) = read(quote! {
            /// City.
            #[schemars(length(min = 1))]
            #[serde(default, rename = "town")]
            #[allow(unused_mut)]
            #[expect(unused_variables)]
            mut r#type: String
        })
        .unwrap();
        assert_eq!((field.attributes.len(), field.is_documented), (4, true));
        assert_eq!((field.name.to_string().as_str(), field.key().as_str()), ("r#type", "town"));
        assert!(left.contains("allow") && left.contains("expect") && !left.contains("serde"), "{left}");
    }

    #[test]
    fn an_attribute_may_replace_the_type() {
        let as_typed = |tokens| read(tokens).unwrap().0.is_as_typed();
        assert!(as_typed(quote!(#[schemars(range(min = 1))] #[serde(default)] a: u8)));
        assert!(!as_typed(quote!(#[schemars(with = "String")] a: Time)));
        assert!(!as_typed(quote!(#[serde(deserialize_with = "read")] a: Time)));
    }

    #[test]
    fn a_raw_name_is_plain_to_the_model() {
        assert_eq!(read(quote!(r#type: u8)).unwrap().0.key(), "type");
    }

    #[test]
    fn borrowed_types_report_the_owned_one() {
        for (parameter, owned) in [
            (quote!(a: &str), "write `String`"),
            (quote!(a: &[u8]), "write `Vec<u8>`"),
            (quote!(a: &std::path::Path), "write `PathBuf`"),
            (quote!(a: &Query), "write `Query`, or mark it `#[service]`"),
            (quote!(a: Option<&str>), "write `Option<String>`"),
            (quote!(a: Vec<&'static str>), "write `Vec<String>`"),
            (quote!(a: Cow<'_, str>), "write `String`"),
            (quote!(a: impl AsRef<str>), "in place of `impl …`"),
        ] {
            assert!(fault(parameter.clone()).contains(owned), "{parameter}");
        }
        assert!(read(quote!(a: Cow<'static, str>)).is_ok());
    }

    #[test]
    fn patterns_and_wrong_attributes_report_what_to_write() {
        assert!(fault(quote!((a, b): (u8, u8))).contains("destructure it in the body"));
        assert!(fault(quote!(_: u8)).contains("write `name: Type`"));
        assert!(fault(quote!(#[services] a: u8)).contains("did you mean `#[service]`?"));
        assert!(fault(quote!(#[garde(range(min = 1))] a: u8)).contains("#[schemars(range(min = 1))]"));
        assert!(fault(quote!(#[arg(long)] a: u8)).contains("`#[schemars]`, `#[serde]`"));
        assert!(fault(quote!(#[cfg(test)] a: u8)).contains("write the function twice"));
        assert!(fault(quote!(#[serde(flatten)] a: Query)).contains("`#[params]`"));
        assert!(fault(quote!(#[service] #[params] a: Query)).contains("marked twice"));
    }
}
