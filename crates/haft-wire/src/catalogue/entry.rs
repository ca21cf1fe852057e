//! A catalogue tool, as data.
//!
//! An entry has everything that a wire needs to send a provider-defined tool and to read its calls: the names, the wire
//! type, the header that enables it, who executes it, and the shape of calls and results. Wires read this table and
//! contain no tool lists of their own.

use haft_executor::{Open, Tool, ToolBuilder};
use haft_schema::{Schema, SchemaError};
use serde_json::Value;

use crate::catalogue::item::PlainForm;
use crate::catalogue::{CatalogueSettings, Vendor};

/// A provider-defined tool, in one version.
///
/// ```
/// use haft_wire::catalogue::{self, CallForm};
///
/// let shell = catalogue::find("openai.shell").unwrap();
/// assert_eq!((shell.wire_type, shell.provider_name), ("shell", "shell"));
/// let CallForm::Items(items) = shell.call else { panic!("shell calls have items of their own") };
/// assert_eq!((items.call, items.output), ("shell_call", "shell_call_output"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CatalogueEntry {
    /// The vendor.
    pub vendor: Vendor,
    /// The id, `vendor.tool`.
    pub id: &'static str,
    /// A second id for the same tool, used by other libraries.
    pub alias: Option<&'static str>,
    /// The tool's default name in your application.
    pub custom_name: &'static str,
    /// The tool's name at the provider.
    pub provider_name: &'static str,
    /// The tool's `type` in a request. For Google, the tool member that holds the settings.
    pub wire_type: &'static str,
    /// The `anthropic-beta` header value that the tool requires.
    pub beta: Option<&'static str>,
    /// The party that executes calls.
    pub execution: Execution,
    /// A setting that the request contains outside the tool.
    pub beside: Option<&'static str>,
    /// True for a tool's newest version. Older ones remain for models that support no newer one.
    pub is_current: bool,
    /// The shape of calls and results on the wire.
    pub call: CallForm,
    pub(crate) schemas: EntrySchemas,
}

/// The party that executes calls to a provider-defined tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Execution {
    /// The application, with a handler.
    Application,
    /// The provider.
    Provider,
    /// Your application if a setting has certain values, otherwise the provider.
    BySetting(ExecutionSetting),
}

/// A setting that decides whether your application executes calls to a provider-defined tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionSetting {
    /// A JSON Pointer to the setting.
    pub pointer: &'static str,
    /// The values for which your application executes calls. `None` stands for the absent setting.
    pub application: &'static [Option<&'static str>],
}

/// The shape of a provider-defined tool's calls and results on its wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallForm {
    /// Calls and results like those of a function tool with the entry's `provider_name`.
    Function,
    /// One entry stands for several functions.
    Functions(FunctionSet),
    /// Calls and results are items with their own types.
    Items(ItemForm),
    /// The provider executes the calls, and reports them by these names.
    Executed(ExecutedForm),
}

/// The functions that one provider-defined tool stands for.
///
/// Calling `left_click` with `{"coordinate": [1, 2]}` becomes a call to the one tool with
/// `{"action": "left_click", "coordinate": [1, 2]}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionSet {
    /// The `toolset_name` on calls and results, if any.
    pub toolset: Option<&'static str>,
    /// The function names.
    pub names: &'static [&'static str],
    /// The argument that holds the function's name.
    pub member: &'static str,
}

/// The types and members of call and result items.
///
/// A call's arguments are the listed members of its item. A result's item consists of its type, the call id and the
/// members of your handler's return value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ItemForm {
    /// The call item's type.
    pub call: &'static str,
    /// The members of the call item that are arguments.
    pub arguments: &'static [&'static str],
    /// The result item's type.
    pub output: &'static str,
    /// The result item's member that holds the call id.
    pub output_id: &'static str,
    pub(crate) plain: PlainForm,
}

/// The items in which a provider reports calls that it executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutedForm {
    /// The call names. Empty if items have no name, or one that the provider does not choose.
    pub names: &'static [&'static str],
    /// The call item's type. For Google, the member of a part.
    pub call: &'static str,
    /// The result items' types. Empty if the call item contains the result.
    pub outputs: &'static [&'static str],
}

/// An entry's schemas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntrySchemas {
    pub(crate) args: SchemaSource,
    pub(crate) params: SchemaSource,
    pub(crate) success: SchemaSource,
    pub(crate) failure: SchemaSource,
}

/// The source of an entry's schema.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SchemaSource {
    /// There is nothing to describe.
    Absent,
    /// Any value.
    Any,
    /// A Rust type's schema.
    Typed(fn() -> Result<Schema, SchemaError>),
    /// JSON Schema as text.
    Json(&'static str),
}

impl CatalogueEntry {
    /// Returns an entry for a tool that your application executes like a function.
    pub(crate) const fn function(
        vendor: Vendor,
        id: &'static str,
        custom_name: &'static str,
        provider_name: &'static str,
        wire_type: &'static str,
    ) -> Self {
        let schemas = EntrySchemas {
            args: SchemaSource::Absent,
            params: SchemaSource::Any,
            success: SchemaSource::Any,
            failure: SchemaSource::Absent,
        };
        Self {
            vendor,
            id,
            alias: None,
            custom_name,
            provider_name,
            wire_type,
            beta: None,
            execution: Execution::Application,
            beside: None,
            is_current: true,
            call: CallForm::Function,
            schemas,
        }
    }

    /// Returns an entry for a tool that the provider executes.
    pub(crate) const fn executed(
        vendor: Vendor,
        id: &'static str,
        custom_name: &'static str,
        provider_name: &'static str,
        wire_type: &'static str,
    ) -> Self {
        let mut entry = Self::function(vendor, id, custom_name, provider_name, wire_type);
        entry.execution = Execution::Provider;
        entry
    }

    pub(crate) const fn alias(mut self, id: &'static str) -> Self {
        self.alias = Some(id);
        self
    }

    pub(crate) const fn beta(mut self, header: &'static str) -> Self {
        self.beta = Some(header);
        self
    }

    pub(crate) const fn beside(mut self, setting: &'static str) -> Self {
        self.beside = Some(setting);
        self
    }

    pub(crate) const fn superseded(mut self) -> Self {
        self.is_current = false;
        self
    }

    pub(crate) const fn functions(mut self, toolset: Option<&'static str>, names: &'static [&'static str]) -> Self {
        self.call = CallForm::Functions(FunctionSet { toolset, names, member: "action" });
        self
    }

    /// Makes calls and results items with their own types; the named members are the arguments.
    pub(crate) const fn items(
        mut self,
        call: &'static str,
        arguments: &'static [&'static str],
        output: &'static str,
        plain: PlainForm,
    ) -> Self {
        self.call = CallForm::Items(ItemForm { call, arguments, output, output_id: "call_id", plain });
        self
    }

    pub(crate) const fn output_id(mut self, member: &'static str) -> Self {
        if let CallForm::Items(mut form) = self.call {
            form.output_id = member;
            self.call = CallForm::Items(form);
        }
        self
    }

    pub(crate) const fn reported(
        mut self,
        names: &'static [&'static str],
        call: &'static str,
        outputs: &'static [&'static str],
    ) -> Self {
        self.call = CallForm::Executed(ExecutedForm { names, call, outputs });
        self
    }

    pub(crate) const fn executed_by(
        mut self,
        pointer: &'static str,
        application: &'static [Option<&'static str>],
    ) -> Self {
        self.execution = Execution::BySetting(ExecutionSetting { pointer, application });
        self
    }

    /// Sets the schemas for settings, parameters and successes from the settings type.
    pub(crate) const fn types<S: CatalogueSettings>(mut self) -> Self {
        self.schemas.args = SchemaSource::Typed(Schema::of::<S>);
        self.schemas.params = SchemaSource::Typed(Schema::of_params::<S::Params>);
        self.schemas.success = SchemaSource::Typed(Schema::of_output::<S::Success>);
        self
    }

    /// Sets all schemas from the settings type, including the failure schema.
    pub(crate) const fn fallible<S: CatalogueSettings>(self) -> Self {
        let mut entry = self.types::<S>();
        entry.schemas.failure = SchemaSource::Typed(Schema::of_output::<S::Failure>);
        entry
    }

    pub(crate) const fn params(mut self, schema: SchemaSource) -> Self {
        self.schemas.params = schema;
        self
    }

    pub(crate) const fn success(mut self, schema: SchemaSource) -> Self {
        self.schemas.success = schema;
        self
    }

    pub(crate) const fn args(mut self, schema: SchemaSource) -> Self {
        self.schemas.args = schema;
        self
    }

    /// Starts a tool in this version with settings as JSON (`null` for none). If your application executes the tool,
    /// its handler may take and return any type whose JSON has the right shape.
    ///
    /// The constructors in [`anthropic`](crate::catalogue::anthropic), [`openai`](crate::catalogue::openai) and
    /// [`google`](crate::catalogue::google) create the current versions with types.
    ///
    /// ```
    /// use haft_wire::catalogue;
    /// use serde_json::{Value, json};
    ///
    /// let search = catalogue::find("anthropic.web_search_20250305").unwrap();
    /// let search = search.with_args(json!({"max_uses": 3}))?.define()?;
    /// assert_eq!(search.name(), "AnthropicWebSearch");
    ///
    /// let bash = catalogue::find("anthropic.bash_20241022").unwrap();
    /// let bash = bash.with_args(Value::Null)?.handler(|call: Value, _cx| async move { call.to_string() })?;
    /// assert!(bash.descriptor().requires_handler());
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_args(&self, args: Value) -> Result<ToolBuilder<Open, Open>, SchemaError> {
        let EntrySchemas { args: _, params, success, failure } = self.schemas;
        let mut factory = Tool::provider(self.id)
            .custom_name(self.custom_name)
            .provider_name(self.provider_name)
            .args_schema(if args.is_null() { Schema::unit() } else { self.args_schema()? })
            .params_schema(params.schema()?)
            .success_schema(success.schema()?);
        if self.declares_failures() {
            factory = factory.failure_schema(failure.schema()?);
        }
        if self.requires_handler(&args) {
            factory = factory.requires_handler();
        }
        Ok(factory.with_args(args))
    }

    /// Returns the settings schema, which always describes an object.
    pub fn args_schema(&self) -> Result<Schema, SchemaError> {
        self.schemas.args.schema()
    }

    /// Reports whether your application executes calls to this tool with these settings.
    #[must_use]
    pub fn requires_handler(&self, args: &Value) -> bool {
        match self.execution {
            Execution::Application => true,
            Execution::Provider => false,
            Execution::BySetting(setting) => {
                let value = args.pointer(setting.pointer).filter(|value| !value.is_null());
                setting.application.iter().any(|one| match (one, value) {
                    (Some(text), Some(value)) => value.as_str() == Some(text),
                    (None, None) => true,
                    _ => false,
                })
            }
        }
    }

    /// Reports whether the shape of failures is known.
    pub(crate) fn declares_failures(&self) -> bool {
        !matches!(self.schemas.failure, SchemaSource::Absent)
    }

    /// Reports whether the entry has this id.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        self.id == id || self.alias == Some(id)
    }
}

impl SchemaSource {
    /// Compiles the schema. An empty object describes an absent value.
    pub(crate) fn schema(self) -> Result<Schema, SchemaError> {
        match self {
            Self::Absent => Ok(Schema::empty()),
            Self::Any => Ok(Schema::unknown()),
            Self::Typed(schema) => schema(),
            Self::Json(text) => match serde_json::from_str(text) {
                Ok(json) => Schema::json(json),
                // The tests find catalogue text that is not JSON; no value matches such a schema.
                Err(_) => Ok(Schema::never()),
            },
        }
    }
}
