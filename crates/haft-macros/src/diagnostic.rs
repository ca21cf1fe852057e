//! Everything that is wrong with what a macro was given.
//!
//! A mistake never ends the search for the next one: all of them are noted at their places and reported together, so
//! that nobody fixes one to meet the other. Every message says what to write instead.

use std::fmt::Display;

use quote::ToTokens;

/// The mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    errors: Option<syn::Error>,
}

impl Diagnostics {
    /// Notes a mistake that spans all of `tokens`.
    pub(crate) fn refuse(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.take(syn::Error::new_spanned(tokens, message));
    }

    /// Notes a mistake that a parser found.
    pub(crate) fn take(&mut self, error: syn::Error) {
        match &mut self.errors {
            Some(errors) => errors.combine(error),
            None => self.errors = Some(error),
        }
    }

    /// The value, or `None` and a note of what is wrong with it.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.take(error);
                None
            }
        }
    }

    /// All mistakes as one error, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.errors.map_or(Ok(()), Err)
    }
}

/// The messages of an error, one after the other: how tests read them.
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
        diagnostics.refuse(quote::quote!(x), "one");
        assert_eq!(diagnostics.keep(syn::parse_str::<syn::Ident>("x")).unwrap(), "x");
        assert!(diagnostics.keep(syn::parse_str::<syn::Ident>("1")).is_none());
        diagnostics.refuse(quote::quote!(a b), "three");
        let all = messages(&diagnostics.finish().unwrap_err());
        assert_eq!((all.len(), all[0].as_str(), all[2].as_str()), (3, "one", "three"));
    }

    #[test]
    fn no_mistake_is_no_error() {
        assert!(Diagnostics::default().finish().is_ok());
    }
}
