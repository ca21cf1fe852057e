//! Icons of a tool, for clients that show tools to people.

use serde::{Deserialize, Serialize};

/// An icon of a tool, as in MCP.
///
/// The address comes from the author of the tool and is never fetched here. A client should accept only `https:` and
/// `data:` addresses, and the former only of servers it trusts.
///
/// ```
/// use haft_core::{Icon, IconTheme};
///
/// let icon = Icon::new("https://example.com/search.svg").mime_type("image/svg+xml").size("any").theme(IconTheme::Dark);
/// let stored = serde_json::to_value(&icon)?;
/// assert_eq!(stored["mime_type"], "image/svg+xml");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Icon {
    /// The address of the image: a URL, or a `data:` URI that contains it.
    pub src: String,
    /// The media type of the image, if the address does not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes the image is suitable for, such as `48x48`, or `any` for one that scales.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background that the image is made for. If absent, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

/// The background that an icon is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum IconTheme {
    /// A light background.
    Light,
    /// A dark background.
    Dark,
}

impl Icon {
    /// Creates an icon with this address.
    #[must_use]
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size, such as `48x48` or `any`.
    #[must_use]
    pub fn size(mut self, size: impl Into<String>) -> Self {
        self.sizes.push(size.into());
        self
    }

    /// Sets the background.
    #[must_use]
    pub fn theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}
