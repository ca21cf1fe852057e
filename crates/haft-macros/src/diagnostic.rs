//! All mistakes in a macro's input.
//!
//! A mistake never ends the search for the next one: all are collected with their spans and reported together, so that
//! users fix them in one pass. Every message says what to write instead.

use std::fmt::Display;

use quote::ToTokens;

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    errors: Option<syn::Error>,
}

impl Diagnostics {
    /// Adds a mistake that spans all of `tokens`.
    pub(crate) fn reject(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake that a parser found.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// Returns the value, or adds the error and returns `None`.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(error);
                None
            }
        }
    }

    /// Returns all mistakes as one error, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.errors.map_or(Ok(()), Err)
    }
}

/// Returns an error's messages in order, for tests.
#[cfg(test)]
pub(crate) fn messages(error: &syn::Error) -> Vec<String> {
    error.into_iter().map(|error| error.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_reported_in_order() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.reject(quote::quote!(x), "one");
        assert_eq!(diagnostics.keep(syn::parse_str::<syn::Ident>("x")).unwrap(), "x");
        assert!(diagnostics.keep(syn::parse_str::<syn::Ident>("1")).is_none());
        diagnostics.reject(quote::quote!(a b), "three");
        let all = messages(&diagnostics.finish().unwrap_err());
        assert_eq!((all.len(), all[0].as_str(), all[2].as_str()), (3, "one", "three"));
    }

    #[test]
    fn no_mistake_is_no_error() {
        assert!(Diagnostics::default().finish().is_ok());
    }
}
