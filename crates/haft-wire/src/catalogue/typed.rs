//! Catalogue tools with Rust types.
//!
//! Every catalogue constructor returns a [`CatalogueTool`]: the tool's settings, one method per setting, and the steps
//! that end every tool builder. The settings type determines everything else. So one implementation serves all tools,
//! and you can't build a tool with another's types.

use std::collections::BTreeMap;
use std::fmt;

use haft_executor::{Cx, DefinitionError, Failure, Fixed, Tool, ToolBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::catalogue::CatalogueEntry;

/// A provider-defined tool with settings of type `S`, from a catalogue constructor.
///
/// ```
/// use haft_wire::catalogue::anthropic;
/// use haft_wire::catalogue::anthropic::BashCall;
///
/// let search = anthropic::web_search().max_uses(3).allowed_domains(["rust-lang.org"]).define()?;
/// assert_eq!(search.name(), "AnthropicWebSearch");
///
/// let bash = anthropic::bash().name("bash").handler(|call: BashCall, _cx| async move {
///     format!("ran {}", call.command.unwrap_or_default())
/// })?;
/// assert!(bash.descriptor().requires_handler());
/// # Ok::<_, haft_executor::DefinitionError>(())
/// ```
#[must_use = "a tool is created by `define` or `handler`"]
#[derive(Clone)]
pub struct CatalogueTool<S> {
    pub(crate) settings: S,
    name: Option<String>,
}

/// Settings for a provider-defined tool, which determine its types.
pub trait CatalogueSettings: Serialize + JsonSchema + sealed::SealedSettings {
    /// The tool's catalogue entry.
    const ENTRY: CatalogueEntry;
    /// The call parameters.
    type Params: DeserializeOwned + JsonSchema;
    /// A successful result.
    type Success: Serialize + JsonSchema;
    /// A failed result, if the provider declares its shape.
    type Failure: Failure;

    /// Completes a tool builder with what the result type requires.
    #[doc(hidden)]
    fn complete(builder: SettingsBuilder<Self>) -> SettingsBuilder<Self>
    where
        Self: Sized,
    {
        builder
    }
}

/// The builder for a tool with settings of type `S`.
pub type SettingsBuilder<S> =
    ToolBuilder<Fixed<<S as CatalogueSettings>::Params>, Fixed<<S as CatalogueSettings>::Success>>;

/// Settings for a tool whose calls your application can execute.
#[diagnostic::on_unimplemented(
    message = "calls of this tool are executed by its provider",
    note = "use `define` instead of attaching a handler"
)]
pub trait ApplicationTool: CatalogueSettings {}

/// A value that you can give for a setting of type `T`: a `T`, a `&str` for a text, an array of texts for a list, or an
/// array of pairs for a map.
pub trait IntoSetting<T> {
    /// Converts the value.
    fn into_setting(self) -> T;
}

impl<S: CatalogueSettings> CatalogueTool<S> {
    /// Creates a tool with these settings.
    pub(crate) fn new(settings: S) -> Self {
        Self { settings, name: None }
    }

    /// Sets the tool's name in your application.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &S {
        &self.settings
    }

    /// Starts the tool, so that you can set what any tool can have, such as an approval policy or limits.
    pub fn builder(self) -> SettingsBuilder<S> {
        let entry = &S::ENTRY;
        // If the settings can't be encoded, the builder reports it: it encodes them again.
        let args = serde_json::to_value(&self.settings).unwrap_or(Value::Null);
        let mut factory = Tool::provider(entry.id)
            .custom_name(self.name.as_deref().unwrap_or(entry.custom_name))
            .provider_name(entry.provider_name)
            .args::<S>()
            .params::<S::Params>()
            .success::<S::Success>();
        // A handler may declare its own failures, unless the entry declares the provider's.
        if entry.declares_failures() {
            factory = factory.failure::<S::Failure>();
        }
        let by_application = entry.requires_handler(&args);
        if by_application {
            factory = factory.requires_handler();
        }
        let builder = factory.with_args(self.settings);
        if by_application { S::complete(builder) } else { builder }
    }

    /// Creates the tool without a handler.
    pub fn define(self) -> Result<Tool, DefinitionError> {
        self.builder().define()
    }
}

impl<S: ApplicationTool> CatalogueTool<S> {
    /// Creates the tool with a handler that always succeeds. For all other handlers, use [`builder`](Self::builder).
    pub fn handler<F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        S::Params: Send + 'static,
        S::Success: Send + 'static,
        F: Fn(S::Params, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = S::Success> + Send + 'static,
    {
        self.builder().handler(handler)
    }

    /// Creates the tool with a handler that may fail with a failure that the model reads.
    pub fn try_handler<E, F, Fut>(self, handler: F) -> Result<Tool, DefinitionError>
    where
        E: Failure,
        S::Params: Send + 'static,
        S::Success: Send + 'static,
        F: Fn(S::Params, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S::Success, E>> + Send + 'static,
    {
        self.builder().try_handler(handler)
    }
}

impl<S: fmt::Debug> fmt::Debug for CatalogueTool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogueTool").field("settings", &self.settings).field("name", &self.name).finish()
    }
}

impl<T> IntoSetting<T> for T {
    fn into_setting(self) -> T {
        self
    }
}

impl IntoSetting<String> for &str {
    fn into_setting(self) -> String {
        self.to_owned()
    }
}

impl<S: Into<String>, const N: usize> IntoSetting<Vec<String>> for [S; N] {
    fn into_setting(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl IntoSetting<Vec<String>> for Vec<&str> {
    fn into_setting(self) -> Vec<String> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<K: Into<String>, V, const N: usize> IntoSetting<BTreeMap<String, V>> for [(K, V); N] {
    fn into_setting(self) -> BTreeMap<String, V> {
        self.into_iter().map(|(name, value)| (name.into(), value)).collect()
    }
}

pub(crate) mod sealed {
    pub trait SealedSettings {}
}

/// Defines a tool's settings: a struct whose members are sent under their own names, and a [`CatalogueTool`] method for
/// each optional one.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(required { $($(#[$given_meta:meta])* $given:ident: $given_type:ty,)* })?
            $(optional { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })?
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $name {
            $($($(#[$given_meta])* pub $given: $given_type,)*)?
            $($(
                $(#[$field_meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*)?
        }

        impl $name {
            pub(crate) fn new($($($given: $given_type),*)?) -> Self {
                Self { $($($given,)*)? $($($field: None,)*)? }
            }
        }

        impl crate::catalogue::typed::sealed::SealedSettings for $name {}

        impl crate::catalogue::CatalogueTool<$name> {
            $($(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                ///
                $(#[$field_meta])*
                pub fn $field(mut self, value: impl crate::catalogue::IntoSetting<$type>) -> Self {
                    self.settings.$field = Some(value.into_setting());
                    self
                }
            )*)?
        }
    };
}

/// Defines an object within settings, with a method for each optional member.
macro_rules! setting_object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(required { $($(#[$given_meta:meta])* $given:ident: $given_type:ty,)* })?
            $(optional { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })?
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        #[serde(deny_unknown_fields)]
        #[non_exhaustive]
        pub struct $name {
            $($($(#[$given_meta])* pub $given: $given_type,)*)?
            $($(
                $(#[$field_meta])*
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*)?
        }

        impl $name {
            /// Creates a value with the required members only.
            #[must_use]
            #[allow(clippy::new_without_default, reason = "some of these types have required members")]
            pub fn new($($($given: impl crate::catalogue::IntoSetting<$given_type>),*)?) -> Self {
                Self { $($($given: $given.into_setting(),)*)? $($($field: None,)*)? }
            }

            $($(
                #[doc = concat!("Sets `", stringify!($field), "`.")]
                ///
                $(#[$field_meta])*
                #[must_use]
                pub fn $field(mut self, value: impl crate::catalogue::IntoSetting<$type>) -> Self {
                    self.$field = Some(value.into_setting());
                    self
                }
            )*)?
        }
    };
}

/// Defines a request or response value: an enum of texts in the provider's spelling. A text that the catalogue does not
/// know is kept.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident,)* }
    ) => {
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        $(#[$meta])*
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
            /// A value that the catalogue does not know.
            #[serde(untagged)]
            Other(String),
        }

        impl crate::catalogue::IntoSetting<$name> for &str {
            /// Keeps the text as it is.
            fn into_setting(self) -> $name {
                $name::Other(self.to_owned())
            }
        }
    };
}

pub(crate) use {open_enum, setting_object, settings};
