//! Anthropic's computer use.

use std::collections::BTreeMap;

use haft_executor::NoFailure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::catalogue::anthropic::function;
use crate::catalogue::typed::{setting_object, settings};
use crate::catalogue::{
    ApplicationTool, CatalogueEntry, CatalogueSettings, CatalogueTool, ScreenResult, SettingsBuilder,
};

/// The computer toolset's functions.
const COMPUTER_FUNCTIONS: &[&str] = &[
    "cursor_position",
    "double_click",
    "hold_key",
    "key",
    "left_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "middle_click",
    "mouse_move",
    "right_click",
    "screenshot",
    "scroll",
    "triple_click",
    "type",
    "wait",
    "zoom",
];

/// The browser toolset's functions.
const BROWSER_FUNCTIONS: &[&str] = &[
    "close_tab",
    "double_click",
    "file_upload",
    "find",
    "form_input",
    "get_page_text",
    "hold_key",
    "hover",
    "javascript_exec",
    "key",
    "left_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "list_tabs",
    "middle_click",
    "mouse_move",
    "navigate",
    "new_tab",
    "read_console",
    "read_network",
    "read_page",
    "right_click",
    "screenshot",
    "scroll",
    "scroll_to",
    "switch_tab",
    "triple_click",
    "type",
    "wait",
    "zoom",
];

settings! {
    /// Settings for [`computer`].
    pub struct AnthropicComputerUse {
        required {
            /// The screen width in pixels.
            display_width_px: u32,
            /// The screen height in pixels.
            display_height_px: u32,
        }
        optional {
            /// The X11 display number.
            display_number: u32,
            /// Set to allow the action `zoom`.
            enable_zoom: bool,
        }
    }
}

settings! {
    /// Settings for [`computer_toolset`].
    pub struct AnthropicComputerToolset {
        optional {
            /// The functions that differ from the default, by name. See [`ComputerAction`].
            configs: BTreeMap<String, FunctionConfig>,
        }
    }
}

settings! {
    /// Settings for [`browser_toolset`].
    pub struct AnthropicBrowserToolset {
        optional {
            /// The functions that differ from the default, by name.
            configs: BTreeMap<String, FunctionConfig>,
        }
    }
}

setting_object! {
    /// Settings for one function in a toolset.
    pub struct FunctionConfig {
        optional {
            /// Set if the model may call the function.
            enabled: bool,
            /// True if the model finds the function by search.
            defer_loading: bool,
        }
    }
}

/// An action on a screen: a call to [`computer`] or [`computer_toolset`]. Coordinates are pixels from the top left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ComputerAction {
    /// Presses a key or key combination.
    Key {
        /// The keys, such as `ctrl+s`.
        text: String,
        /// The number of times to press.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<u32>,
    },
    /// Holds keys down.
    HoldKey {
        /// The keys.
        text: String,
        /// The time in seconds.
        duration: f64,
    },
    /// Types text.
    Type {
        /// The text.
        text: String,
    },
    /// Returns the cursor position.
    CursorPosition {},
    /// Moves the cursor.
    MouseMove {
        /// The new position.
        coordinate: [i64; 2],
    },
    /// Presses the left button.
    LeftMouseDown {},
    /// Releases the left button.
    LeftMouseUp {},
    /// Clicks with the left button.
    LeftClick(Click),
    /// Clicks with the right button.
    RightClick(Click),
    /// Clicks with the middle button.
    MiddleClick(Click),
    /// Clicks twice with the left button.
    DoubleClick(Click),
    /// Clicks three times with the left button.
    TripleClick(Click),
    /// Drags with the left button.
    LeftClickDrag {
        /// The position at which the button is pressed.
        start_coordinate: [i64; 2],
        /// The position at which it is released.
        coordinate: [i64; 2],
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Scrolls.
    Scroll {
        /// The direction.
        scroll_direction: ScrollDirection,
        /// The number of steps.
        scroll_amount: u32,
        /// The cursor position. If absent, the cursor stays where it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        coordinate: Option<[i64; 2]>,
        /// Keys that are held meanwhile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Waits.
    Wait {
        /// The time in seconds.
        duration: f64,
    },
    /// Takes a screenshot.
    Screenshot {},
    /// Takes a full-resolution screenshot of a region.
    Zoom {
        /// The left, top, right and bottom edge.
        region: [i64; 4],
    },
}

/// A click.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Click {
    /// The position. If absent, the cursor's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinate: Option<[i64; 2]>,
    /// Keys that are held meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A scroll direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum ScrollDirection {
    Up,
    Down,
    Left,
    Right,
}

/// A call to a [`browser_toolset`] function: its name, and its arguments as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BrowserAction {
    /// The function's name.
    pub action: String,
    /// The arguments.
    #[serde(flatten)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

impl CatalogueSettings for AnthropicComputerUse {
    const ENTRY: CatalogueEntry =
        function("anthropic.computer_20251124", "AnthropicComputerUse", "computer", "computer_20251124")
            .beta("computer-use-2025-11-24")
            .types::<Self>();
    type Params = ComputerAction;
    type Success = ScreenResult;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(ScreenResult::content)
    }
}

impl CatalogueSettings for AnthropicComputerToolset {
    const ENTRY: CatalogueEntry = function(
        "anthropic.computer_toolset_20260801",
        "AnthropicComputerToolset",
        "computer",
        "computer_toolset_20260801",
    )
    .functions(Some("computer"), COMPUTER_FUNCTIONS)
    .types::<Self>();
    type Params = ComputerAction;
    type Success = ScreenResult;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(ScreenResult::content)
    }
}

impl CatalogueSettings for AnthropicBrowserToolset {
    const ENTRY: CatalogueEntry = function(
        "anthropic.browser_toolset_20260801",
        "AnthropicBrowserToolset",
        "browser",
        "browser_toolset_20260801",
    )
    .functions(Some("browser"), BROWSER_FUNCTIONS)
    .types::<Self>();
    type Params = BrowserAction;
    type Success = ScreenResult;
    type Failure = NoFailure;

    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self> {
        builder.to_model_output(ScreenResult::content)
    }
}

impl ApplicationTool for AnthropicComputerUse {}
impl ApplicationTool for AnthropicComputerToolset {}
impl ApplicationTool for AnthropicBrowserToolset {}

/// Creates the tool with which Claude uses a screen this large.
///
/// ```
/// use haft_wire::catalogue::ScreenResult;
/// use haft_wire::catalogue::anthropic::{self, ComputerAction};
///
/// let computer = anthropic::computer(1280, 800).enable_zoom(true).handler(|action, _cx| async move {
///     match action {
///         ComputerAction::Screenshot {} => ScreenResult::png("iVBORw0KGgo="),
///         _ => ScreenResult::text("Done."),
///     }
/// })?;
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
pub fn computer(display_width_px: u32, display_height_px: u32) -> CatalogueTool<AnthropicComputerUse> {
    CatalogueTool::new(AnthropicComputerUse::new(display_width_px, display_height_px))
}

/// Creates the tool with which Claude uses a screen, with one function per action.
pub fn computer_toolset() -> CatalogueTool<AnthropicComputerToolset> {
    CatalogueTool::new(AnthropicComputerToolset::new())
}

/// Creates the tool with which Claude uses a browser, with one function per action.
pub fn browser_toolset() -> CatalogueTool<AnthropicBrowserToolset> {
    CatalogueTool::new(AnthropicBrowserToolset::new())
}
