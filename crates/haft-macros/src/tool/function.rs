//! The function that becomes a tool: a free one, or a method in a `#[tools] impl` block.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItemFn, ItemFn, Signature, Type, Visibility};

/// The function parts that the macro reads and changes. The body stays with the item.
pub(crate) struct ToolFunction<'a> {
    pub(crate) attrs: &'a mut Vec<Attribute>,
    /// The visibility of the tool's type.
    pub(crate) vis: &'a Visibility,
    pub(crate) sig: &'a mut Signature,
    /// The block that a method belongs to.
    pub(crate) owner: Option<Owner<'a>>,
}

/// A method's `impl` block.
#[derive(Clone, Copy)]
pub(crate) struct Owner<'a> {
    /// The type whose methods these are.
    pub(crate) ty: &'a Type,
    /// The block's `cfg` attributes.
    pub(crate) conditions: &'a [Attribute],
    /// The visibility of the tools' types. It is not the methods': a `pub` method may belong to a private type, and a
    /// public tool can't require a private service.
    pub(crate) visibility: &'a Visibility,
    /// Set if each run provides the receiver, and not the toolkit.
    pub(crate) is_of_run: bool,
}

impl<'a> ToolFunction<'a> {
    /// Borrows a method's parts.
    pub(crate) fn method(method: &'a mut ImplItemFn, owner: Owner<'a>) -> Self {
        Self { attrs: &mut method.attrs, vis: owner.visibility, sig: &mut method.sig, owner: Some(owner) }
    }
}

impl<'a> From<&'a mut ItemFn> for ToolFunction<'a> {
    fn from(function: &'a mut ItemFn) -> Self {
        Self { attrs: &mut function.attrs, vis: &function.vis, sig: &mut function.sig, owner: None }
    }
}

impl Owner<'_> {
    /// Returns the type with the owner instead of `Self`: generated code is outside the block.
    pub(crate) fn resolve(self, ty: &Type) -> Type {
        syn::parse2(self.resolve_tokens(ty.to_token_stream())).unwrap_or_else(|_| ty.clone())
    }

    /// Returns the tokens with the owner instead of `Self`, such as those in `refine = Self::check`.
    pub(crate) fn resolve_tokens(self, tokens: TokenStream) -> TokenStream {
        replaced(tokens, self.ty)
    }
}

fn replaced(tokens: TokenStream, owner: &Type) -> TokenStream {
    let tree = |tree: TokenTree| match tree {
        TokenTree::Ident(ident) if ident == "Self" => owner.to_token_stream(),
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), replaced(group.stream(), owner));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(tree).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_takes_the_place_of_self() {
        let (desk, ty) = (syn::parse_str("shop::Desk").unwrap(), syn::parse_str("Result<[Self; 2], Error>").unwrap());
        let owner = Owner { ty: &desk, conditions: &[], visibility: &Visibility::Inherited, is_of_run: false };
        assert_eq!(crate::tool::input::spelled(owner.resolve(&ty)), "Result<[shop::Desk; 2], Error>");
    }
}
