//! Vendors of provider-defined tools.

use std::fmt;

/// A vendor whose tools are in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Vendor {
    /// Anthropic, with the Messages API.
    Anthropic,
    /// OpenAI, with the Responses API.
    OpenAi,
    /// Google, with the Gemini API.
    Google,
}

impl Vendor {
    /// All vendors.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Google];

    /// Returns the vendor's name, which is the part before an id's first dot.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
        }
    }

    /// Returns the vendor for an id such as `openai.web_search`, or `None` if the catalogue does not have it.
    #[must_use]
    pub fn of_id(id: &str) -> Option<Self> {
        let (name, _) = id.split_once('.')?;
        Self::ALL.into_iter().find(|vendor| vendor.as_str() == name)
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
