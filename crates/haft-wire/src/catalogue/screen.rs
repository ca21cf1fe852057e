//! Results for screen actions.

use haft_core::{ContentPart, MediaData, MediaPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A screen action's result: a message, a screenshot, or both.
///
/// ```
/// use haft_wire::catalogue::ScreenResult;
///
/// let clicked = ScreenResult::text("Clicked.");
/// assert_eq!(clicked.content()[0].as_text(), Some("Clicked."));
/// let seen = ScreenResult::png("iVBORw0KGgo=").url("https://example.org");
/// assert_eq!(seen.content().len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ScreenResult {
    /// A message for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The address that a browser shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The screenshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<Screenshot>,
}

/// A screen image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Screenshot {
    /// The MIME type.
    pub media_type: String,
    /// The image, in base64.
    pub data: String,
}

impl ScreenResult {
    /// Creates a result with a message.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Creates a result with a screenshot: a PNG image in base64.
    #[must_use]
    pub fn png(data: impl Into<String>) -> Self {
        Self::default().with_screenshot(Screenshot::new("image/png", data))
    }

    /// Sets the screenshot.
    #[must_use]
    pub fn with_screenshot(mut self, screenshot: Screenshot) -> Self {
        self.screenshot = Some(screenshot);
        self
    }

    /// Sets the address that a browser shows.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Returns the content that the model reads: the texts and the image.
    #[must_use]
    pub fn content(&self) -> Vec<ContentPart> {
        let texts = [self.text.as_ref(), self.url.as_ref()].into_iter().flatten();
        texts.map(ContentPart::text).chain(self.screenshot.as_ref().map(Screenshot::part)).collect()
    }
}

impl Screenshot {
    /// Creates an image from base64.
    #[must_use]
    pub fn new(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self { media_type: media_type.into(), data: data.into() }
    }

    pub(crate) fn media(&self) -> MediaPart {
        MediaPart::new(MediaData::Base64(self.data.clone())).media_type(self.media_type.as_str())
    }

    fn part(&self) -> ContentPart {
        ContentPart::Image(self.media())
    }
}
