//! Google's computer use.

use haft_core::ContentPart;
use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::catalogue::typed::{open_enum, settings};
use crate::catalogue::{
    ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool, IntoSetting, ScreenResult, SettingsBuilder,
    Vendor,
};

/// The functions that a model calls to use a browser. Other environments have more.
const BROWSER: &[&str] = &[
    "click_at",
    "drag_and_drop",
    "go_back",
    "go_forward",
    "hover_at",
    "key_combination",
    "navigate",
    "open_web_browser",
    "scroll_at",
    "scroll_document",
    "search",
    "type_text_at",
    "wait_5_seconds",
];

settings! {
    /// Settings for [`computer_use`].
    #[serde(rename_all = "camelCase")]
    pub struct GoogleComputerUse {
        required {
            /// The environment.
            environment: GoogleEnvironment,
        }
        optional {
            /// The functions that the model may not call, by name.
            excluded_predefined_functions: Vec<String>,
            /// Set to detect instructions in what the screen shows.
            enable_prompt_injection_detection: bool,
            /// The policies that are not applied, such as `FINANCIAL_TRANSACTIONS`.
            disabled_safety_policies: Vec<String>,
        }
    }
}

open_enum! {
    /// The environment for [`computer_use`].
    pub enum GoogleEnvironment {
        /// A browser.
        #[serde(rename = "ENVIRONMENT_BROWSER")]
        Browser,
        /// A mobile device.
        #[serde(rename = "ENVIRONMENT_MOBILE")]
        Mobile,
        /// A desktop.
        #[serde(rename = "ENVIRONMENT_DESKTOP")]
        Desktop,
    }
}

/// A call to [`computer_use`]: a function name and its arguments. Coordinates range from 0 to 999, whatever the screen
/// size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum GoogleComputerAction {
    /// Opens the browser.
    OpenWebBrowser {},
    /// Waits for five seconds.
    #[serde(rename = "wait_5_seconds")]
    Wait5Seconds {},
    /// Goes to the previous page.
    GoBack {},
    /// Goes to the next page.
    GoForward {},
    /// Opens a search engine's page.
    Search {},
    /// Opens a page.
    Navigate {
        /// The address.
        url: String,
    },
    /// Clicks.
    ClickAt {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
    },
    /// Moves the cursor.
    HoverAt {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
    },
    /// Types text.
    TypeTextAt {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// The text.
        text: String,
        /// Presses enter afterwards. True by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        press_enter: Option<bool>,
        /// Clears the field first. True by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clear_before_typing: Option<bool>,
    },
    /// Presses keys at the same time.
    KeyCombination {
        /// The keys, such as `control+c`.
        keys: String,
    },
    /// Scrolls the page.
    ScrollDocument {
        /// The direction: `up`, `down`, `left` or `right`.
        direction: String,
    },
    /// Scrolls an element.
    ScrollAt {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// The direction: `up`, `down`, `left` or `right`.
        direction: String,
        /// The distance, 800 by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        magnitude: Option<i64>,
    },
    /// Drags an element.
    DragAndDrop {
        /// The distance from the left edge.
        x: i64,
        /// The distance from the top edge.
        y: i64,
        /// The new distance from the left edge.
        destination_x: i64,
        /// The new distance from the top edge.
        destination_y: i64,
    },
    /// A function that the catalogue does not know.
    #[serde(untagged)]
    Other(GoogleFunction),
}

/// A function that the catalogue does not know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct GoogleFunction {
    /// The name.
    pub action: String,
    /// The arguments.
    #[serde(flatten)]
    pub arguments: Map<String, Value>,
}

impl CatalogueSettings for GoogleComputerUse {
    const ENTRY: CatalogueEntry = CatalogueEntry::function(
        Vendor::Google,
        "google.computer_use",
        "GoogleComputerUse",
        "computer_use",
        "computerUse",
    )
    .functions(None, BROWSER)
    .types::<Self>();
    type Params = GoogleComputerAction;
    type Success = ScreenResult;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(result)
    }
}

impl ApplicationTool for GoogleComputerUse {}

/// Returns the content that the model reads. The provider requires the address as a member of the result, so the texts
/// become an object's members.
fn result(screen: &ScreenResult) -> Vec<ContentPart> {
    let Some(url) = &screen.url else { return screen.content() };
    let mut members = Map::new();
    members.insert("url".to_owned(), url.as_str().into());
    if let Some(text) = &screen.text {
        members.insert("message".to_owned(), text.as_str().into());
    }
    let texts = ContentPart::text(Value::Object(members).to_string());
    let image = screen.content().into_iter().filter(|part| part.as_text().is_none());
    std::iter::once(texts).chain(image).collect()
}

/// Creates the tool with which a model uses a screen. The provider requires the browser's address with every result:
/// set [`ScreenResult::url`].
pub fn computer_use(environment: impl IntoSetting<GoogleEnvironment>) -> CatalogueTool<GoogleComputerUse> {
    CatalogueTool::new(GoogleComputerUse::new(environment.into_setting()))
}
