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
    use crate::{OutputFormat, Tool};

    #[test]
    fn a_description_may_be_an_option() {
        let described = |tool: crate::ToolBuilder| tool.define().unwrap().description().map(str::to_owned);
        let expected = Some("Finds pages.".to_owned());
        assert_eq!(described(Tool::new("search").describe("Finds pages.")), expected);
        assert_eq!(described(Tool::new("search").describe(Some("Finds pages."))), expected);
        assert_eq!(described(Tool::new("search").describe(expected.clone())), expected);
        assert_eq!(described(Tool::new("search").describe("Finds pages.").describe(None::<String>)), None);
        assert_eq!(OutputFormat::new("page", true.into()).describe(expected.clone()).description, expected);
    }
}
