//! OpenAI's computer use.

use haft_core::{ContentPart, MediaPart};
use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::catalogue::item::PlainForm;
use crate::catalogue::openai::handled;
use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{
    ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool, Screenshot, SettingsBuilder,
};

settings! {
    /// Settings for [`computer`], which takes none.
    pub struct OpenAiComputer {}
}

settings! {
    /// Settings for [`computer_use_preview`].
    pub struct OpenAiComputerUse {
        required {
            /// The screen width in pixels.
            display_width: u32,
            /// The screen height in pixels.
            display_height: u32,
            /// The environment.
            environment: ComputerEnvironment,
        }
    }
}

open_enum! {
    /// The environment for [`computer_use_preview`].
    pub enum ComputerEnvironment {
        /// Windows.
        Windows,
        /// macOS.
        Mac,
        /// Linux.
        Linux,
        /// Ubuntu.
        Ubuntu,
        /// A browser.
        Browser,
    }
}

/// A call to [`computer`] or [`computer_use_preview`]: actions to take in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ComputerCall {
    /// The actions for [`computer`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<PointerAction>,
    /// The action for [`computer_use_preview`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<PointerAction>,
    /// The provider's safety checks. A person must acknowledge them before you take the actions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_safety_checks: Vec<SafetyCheck>,
}

/// An action on a screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PointerAction {
    /// Clicks.
    Click {
        /// The button.
        button: PointerButton,
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
    },
    /// Clicks twice with the left button.
    DoubleClick {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
    },
    /// Drags along a path.
    Drag {
        /// The path.
        path: Vec<ScreenPoint>,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
    },
    /// Presses keys at the same time.
    Keypress {
        /// The keys.
        keys: Vec<String>,
    },
    /// Moves the cursor.
    Move {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
    },
    /// Takes a screenshot.
    Screenshot {},
    /// Scrolls.
    Scroll {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// The horizontal distance.
        scroll_x: i64,
        /// The vertical distance.
        scroll_y: i64,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
    },
    /// Types text.
    Type {
        /// The text.
        text: String,
    },
    /// Waits.
    Wait {},
}

/// A pointer button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub enum PointerButton {
    Left,
    Right,
    Wheel,
    Back,
    Forward,
}

/// A position on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScreenPoint {
    /// The distance from the left edge.
    pub x: i64,
    /// The distance from the top edge.
    pub y: i64,
}

/// A safety check from the provider that a person must acknowledge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SafetyCheck {
    /// The id.
    pub id: String,
    /// The kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The reason, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A call's result: the screen after the actions, and the checks that a person acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ComputerOutput {
    /// The screen.
    pub screenshot: Screenshot,
    /// The acknowledged checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acknowledged_safety_checks: Vec<SafetyCheck>,
}

impl ComputerCall {
    /// Returns all actions in order.
    pub fn all_actions(&self) -> impl Iterator<Item = &PointerAction> {
        self.action.iter().chain(&self.actions)
    }
}

impl ComputerOutput {
    /// Creates a result with a PNG image, in base64.
    #[must_use]
    pub fn png(data: impl Into<String>) -> Self {
        Self { screenshot: Screenshot::new("image/png", data), acknowledged_safety_checks: Vec::new() }
    }

    /// Adds checks that a person has acknowledged.
    #[must_use]
    pub fn acknowledge(mut self, checks: impl IntoIterator<Item = SafetyCheck>) -> Self {
        self.acknowledged_safety_checks.extend(checks);
        self
    }

    /// Returns the content that the model reads: the image, which carries the acknowledged checks.
    fn content(&self) -> [ContentPart; 1] {
        let mut image: MediaPart = self.screenshot.media();
        if !self.acknowledged_safety_checks.is_empty() {
            let data = json!({"acknowledged_safety_checks": self.acknowledged_safety_checks});
            image.provider_data.insert("openai".to_owned(), data);
        }
        [ContentPart::Image(image)]
    }
}

/// Returns an entry for a tool whose calls are screen actions.
const fn screen(id: &'static str, custom_name: &'static str, name: &'static str) -> CatalogueEntry {
    handled(id, custom_name, name).items(
        "computer_call",
        &["actions", "action", "pending_safety_checks"],
        "computer_call_output",
        PlainForm::Screenshot,
    )
}

impl CatalogueSettings for OpenAiComputer {
    const ENTRY: CatalogueEntry = screen("openai.computer", "OpenAiComputer", "computer").types::<Self>();
    type Params = ComputerCall;
    type Success = ComputerOutput;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(ComputerOutput::content)
    }
}

impl CatalogueSettings for OpenAiComputerUse {
    const ENTRY: CatalogueEntry =
        screen("openai.computer_use_preview", "OpenAiComputerUse", "computer_use_preview").types::<Self>().superseded();
    type Params = ComputerCall;
    type Success = ComputerOutput;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(ComputerOutput::content)
    }
}

impl ApplicationTool for OpenAiComputer {}
impl ApplicationTool for OpenAiComputerUse {}

/// Creates the tool with which a model uses a screen.
///
/// ```
/// use haft_wire::catalogue::openai::{self, ComputerCall, ComputerOutput};
///
/// let computer = openai::computer().handler(|call: ComputerCall, _cx| async move {
///     for action in call.all_actions() { /* take it */ }
///     ComputerOutput::png("iVBORw0KGgo=")
/// })?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn computer() -> CatalogueTool<OpenAiComputer> {
    CatalogueTool::new(OpenAiComputer::new())
}

/// Creates the tool with which the model `computer-use-preview` uses a screen this large.
pub fn computer_use_preview(
    display_width: u32,
    display_height: u32,
    environment: ComputerEnvironment,
) -> CatalogueTool<OpenAiComputerUse> {
    CatalogueTool::new(OpenAiComputerUse::new(display_width, display_height, environment))
}
