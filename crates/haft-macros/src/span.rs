//! Generated code's spans and names.

use proc_macro2::Span;
use syn::Ident;
use syn::spanned::Spanned;

/// Returns user code's span for generated code: the compiler points at what the user wrote, and names in it can't
/// collide with user code's.
pub(crate) fn place(tokens: &impl Spanned) -> Span {
    Span::mixed_site().located_at(tokens.span())
}

/// Returns a name that can't collide with one in user code.
pub(crate) fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
