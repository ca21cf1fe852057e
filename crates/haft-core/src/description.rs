//! Descriptions, given or absent.

/// A description: a text, or an `Option` of one, as `describe` takes it.
///
/// `M` only tells the two cases apart and is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a description",
    label = "not a text",
    note = "pass a `&str`, a `String`, or an `Option` of either"
)]
pub trait IntoDescription<M> {
    /// Returns the text, if there is one.
    fn into_description(self) -> Option<String>;
}

/// Marks a description that is a text. See [`IntoDescription`].
#[derive(Debug)]
pub enum GivenDescription {}

/// Marks a description that may be absent. See [`IntoDescription`].
#[derive(Debug)]
pub enum OptionalDescription {}

impl<T: Into<String>> IntoDescription<GivenDescription> for T {
    fn into_description(self) -> Option<String> {
        Some(self.into())
    }
}

impl<T: Into<String>> IntoDescription<OptionalDescription> for Option<T> {
    fn into_description(self) -> Option<String> {
        self.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use crate::OutputFormat;

    #[test]
    fn a_description_may_be_an_option() {
        let page = || OutputFormat::new("page", true.into());
        let expected = Some("Finds pages.".to_owned());
        assert_eq!(page().describe("Finds pages.").description, expected);
        assert_eq!(page().describe(Some("Finds pages.")).description, expected);
        assert_eq!(page().describe(expected.clone()).description, expected);
        assert_eq!(page().describe("Finds pages.").describe(None::<String>).description, None);
    }
}
