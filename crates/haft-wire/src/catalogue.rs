//! The catalogue of provider-defined tools: those of Anthropic, OpenAI and Google, as data.
//!
//! Each version of a tool is a [`CatalogueEntry`]. [`find`] returns it by its id, and [`render_provider_tool`] writes a
//! tool as its provider expects it, with its settings checked. Ids that are not in the catalogue are not an error: a
//! provider may have published a tool since.
//!
//! OpenAI's type `namespace` has no entry, because nothing calls it: it only contains other tools. To send one, give your
//! tools names such as `shop/find` and set [`Profile::namespaces`](crate::Profile::namespaces).
//!
//! ```
//! use haft_core::Tool;
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

/// Returns the entry of an id such as `openai.web_search`; `None` if it is unknown.
#[must_use]
pub fn find(id: &str) -> Option<&'static CatalogueEntry> {
    entries_of(Vendor::of_id(id)?).iter().find(|entry| entry.has_id(id))
}

/// Returns all entries of a vendor.
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

/// Returns all entries of all vendors.
pub fn entries() -> impl Iterator<Item = &'static CatalogueEntry> {
    Vendor::ALL.into_iter().flat_map(entries_of)
}
