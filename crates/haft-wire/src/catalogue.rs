//! The catalogue of provider-defined tools from Anthropic, OpenAI and Google, as data.
//!
//! Each tool version is a [`CatalogueEntry`], which you look up by id with [`find`]. [`render_provider_tool`] checks a
//! tool's settings and writes the tool as its provider expects it. An id that the catalogue lacks is not an error: the
//! provider may have published the tool since.
//!
//! OpenAI's type `namespace` has no entry, because nothing calls it: it only contains other tools. To send one, give
//! your tools names such as `shop/find` and set [`Profile::namespaces`](crate::Profile::namespaces).
//!
//! ```
//! use haft_executor::Tool;
//! use haft_wire::catalogue::{self, Vendor};
//! use serde_json::json;
//!
//! let entry = catalogue::find("anthropic.computer_20251124").unwrap();
//! assert_eq!((entry.provider_name, entry.beta), ("computer", Some("computer-use-2025-11-24")));
//!
//! let tool = Tool::provider("openai.code_interpreter").args_schema(haft_schema::Schema::unknown());
//! let tool = tool.with_args(json!({"container": "cntr_1"})).define()?;
//! let rendered = catalogue::render_provider_tool(&tool.descriptor(), Vendor::OpenAi)?;
//! assert_eq!(rendered, json!({"type": "code_interpreter", "container": "cntr_1"}));
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod anthropic;
mod entry;
pub mod google;
mod item;
mod location;
pub mod openai;
mod render;
mod screen;
mod secret;
mod typed;
mod vendor;

pub use self::entry::{CallForm, CatalogueEntry, ExecutedForm, Execution, ExecutionSetting, FunctionSet, ItemForm};
pub use self::item::OutputItemFault;
pub use self::location::{LocationKind, UserLocation};
pub use self::render::{ProviderToolFault, render_provider_tool};
pub use self::screen::{ScreenResult, Screenshot};
pub use self::secret::SecretSetting;
pub use self::typed::{ApplicationTool, CatalogueSettings, CatalogueTool, IntoSetting, SettingsBuilder};
pub use self::vendor::Vendor;

/// Returns the entry for an id such as `openai.web_search`, or `None` if it is unknown.
#[must_use]
pub fn find(id: &str) -> Option<&'static CatalogueEntry> {
    entries_of(Vendor::of_id(id)?).iter().find(|entry| entry.has_id(id))
}

/// Returns all entries from a vendor.
///
/// ```
/// use haft_wire::catalogue::{CallForm, Vendor, entries_of};
///
/// let by_item = |item: &str| {
///     entries_of(Vendor::OpenAi).iter().find(|entry| match entry.call {
///         CallForm::Items(form) => form.call == item,
///         _ => false,
///     })
/// };
/// assert_eq!(by_item("apply_patch_call").unwrap().id, "openai.apply_patch");
/// ```
#[must_use]
pub fn entries_of(vendor: Vendor) -> &'static [CatalogueEntry] {
    match vendor {
        Vendor::Anthropic => anthropic::ENTRIES,
        Vendor::OpenAi => openai::ENTRIES,
        Vendor::Google => google::ENTRIES,
    }
}

/// Returns all entries.
pub fn entries() -> impl Iterator<Item = &'static CatalogueEntry> {
    Vendor::ALL.into_iter().flat_map(entries_of)
}
