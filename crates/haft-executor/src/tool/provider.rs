//! Tools that are built into a provider.
//!
//! A provider's catalogue consists of factories: a [`ProviderTool`] describes the provider's tool once, and each
//! application creates a tool from it with its settings. A tool has three names: the id (`vendor.tool`), the name at
//! the provider, and the custom name in the application. Renaming changes only the custom name.

use std::fmt;
use std::marker::PhantomData;

use haft_schema::{Issue, Issues, Schema, SchemaError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::{BuilderOf, Failure, ToolType, failure_schema};
use crate::tool::{DefinitionFault, Fixed, Open, SchemaPart, ToolBuilder, ToolKind};

/// A factory for tools that are built into a provider. `A` is the settings' type, by which an application
/// configures them; `P` and `R` are the sources for the parameters' and the results' schemas, as in a [`ToolBuilder`].
///
/// Settings, parameters and results that are unset mean the unit type: there are none. Its schema as parameters is the
/// empty object, as for every tool without parameters.
///
/// ```
/// use haft_executor::{ProviderTool, Tool};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// struct SearchArgs { max_uses: u8 }
///
/// let web_search = Tool::provider("anthropic.web_search")
///     .custom_name("AnthropicWebSearch")
///     .provider_name("web_search")
///     .args::<SearchArgs>();
/// let tool = web_search.with_args(SearchArgs { max_uses: 3 }).define()?;
/// assert_eq!(tool.name(), "AnthropicWebSearch");
///
/// let provider = tool.provider_definition().unwrap();
/// assert_eq!(provider.decode_args::<SearchArgs>()?.max_uses, 3);
/// assert_eq!(provider.args_schema().as_json()["properties"]["max_uses"]["maximum"], 255);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a factory creates no tool until `with_args` is called"]
pub struct ProviderTool<A = (), P = Fixed<()>, R = Fixed<()>> {
    spec: ProviderSpec,
    types: PhantomData<fn(A) -> (P, R)>,
}

/// The provider's part of a provider-defined tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDefinition {
    id: String,
    provider_name: String,
    args: Value,
    args_schema: Schema,
    requires_handler: bool,
}

/// A factory's content, without the types.
#[derive(Clone, Debug)]
struct ProviderSpec {
    id: String,
    custom_name: Option<String>,
    provider_name: Option<String>,
    args: SchemaSetting,
    params: SchemaSetting,
    success: SchemaSetting,
    failure: SchemaSetting,
    requires_handler: bool,
}

/// A schema that may be unset or invalid. Its faults are reported together with all others.
type SchemaSetting = Option<Result<Schema, SchemaError>>;

impl ProviderTool {
    /// Creates a factory for the id `vendor.tool`. The name at the provider and the custom name are the part after the
    /// dot, unless they are set.
    pub fn new(id: impl Into<String>) -> Self {
        Self::from_spec(ProviderSpec {
            id: id.into(),
            custom_name: None,
            provider_name: None,
            args: None,
            params: None,
            success: None,
            failure: None,
            requires_handler: false,
        })
    }
}

impl<A, P, R> ProviderTool<A, P, R> {
    /// Sets the tool's name in the application.
    pub fn custom_name(mut self, name: impl Into<String>) -> Self {
        self.spec.custom_name = Some(name.into());
        self
    }

    /// Sets the tool's name at the provider.
    pub fn provider_name(mut self, name: impl Into<String>) -> Self {
        self.spec.provider_name = Some(name.into());
        self
    }

    /// Sets the settings' type.
    pub fn args<B: JsonSchema + Serialize>(mut self) -> ProviderTool<B, P, R> {
        self.spec.args = Some(Schema::of::<B>());
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the settings' schema. Settings are then given as JSON.
    pub fn args_schema(mut self, schema: Schema) -> ProviderTool<Value, P, R> {
        self.spec.args = Some(Ok(schema));
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the parameters' type. A handler must take a `B`.
    pub fn params<B: DeserializeOwned + JsonSchema>(mut self) -> ProviderTool<A, Fixed<B>, R> {
        self.spec.params = Some(Schema::of_params::<B>());
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the parameters' schema. A handler may take any type.
    pub fn params_schema(mut self, schema: Schema) -> ProviderTool<A, Open, R> {
        self.spec.params = Some(Ok(schema));
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the results' type. A handler must return a `T`.
    pub fn success<T: JsonSchema>(mut self) -> ProviderTool<A, P, Fixed<T>> {
        self.spec.success = Some(Schema::of_output::<T>());
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the results' schema. A handler may return any type.
    pub fn success_schema(mut self, schema: Schema) -> ProviderTool<A, P, Open> {
        self.spec.success = Some(Ok(schema));
        ProviderTool::from_spec(self.spec)
    }

    /// Sets the declared failures' type.
    pub fn failure<F: Failure>(mut self) -> Self {
        self.spec.failure = Some(failure_schema::<F>());
        self
    }

    /// Sets the declared failures' schema.
    pub fn failure_schema(mut self, schema: Schema) -> Self {
        self.spec.failure = Some(Ok(schema));
        self
    }

    /// Declares that the application executes the tool.
    pub fn requires_handler(mut self) -> Self {
        self.spec.requires_handler = true;
        self
    }

    /// Starts a tool with these settings, `()` for none. Invalid settings are reported by the last step of the
    /// builder, together with all other faults.
    pub fn with_args(&self, args: A) -> ToolBuilder<P, R>
    where
        A: Serialize,
    {
        let name = self.spec.custom_name.clone().unwrap_or_else(|| self.spec.tool().to_owned());
        let mut builder = self.spec.start(name, serde_json::to_value(args));
        let mut faults = Vec::new();
        builder.draft.parameters = resolve(self.spec.params.as_ref(), SchemaPart::Parameters, &mut faults);
        builder.draft.success = resolve(self.spec.success.as_ref(), SchemaPart::Success, &mut faults);
        builder.draft.failure = resolve(self.spec.failure.as_ref(), SchemaPart::Failure, &mut faults);
        builder.draft.faults.extend(faults);
        builder
    }

    /// Starts the tool that the type `T` defines with these settings. Its name, parameters, success, failure, services
    /// and everything else replace what is set here.
    pub fn of_type<T: ToolType>(&self, args: A) -> BuilderOf<T>
    where
        A: Serialize,
    {
        let builder: ToolBuilder = self.spec.start(T::NAME.to_owned(), serde_json::to_value(args));
        builder.defined_by::<T>()
    }

    fn from_spec(spec: ProviderSpec) -> Self {
        Self { spec, types: PhantomData }
    }
}

impl ProviderSpec {
    /// Returns the id without the vendor.
    fn tool(&self) -> &str {
        self.id.split_once('.').map_or(&self.id, |(_, tool)| tool)
    }

    /// Starts a tool with this name and these settings.
    fn start<P, R>(&self, name: String, args: serde_json::Result<Value>) -> ToolBuilder<P, R> {
        let mut faults = Vec::new();
        let args_schema = resolve(self.args.as_ref(), SchemaPart::Args, &mut faults).unwrap_or_else(Schema::unit);
        // Settings whose schema is invalid can't be checked.
        let checked = faults.is_empty();
        let args = check_args(args, Some(&args_schema).filter(|_| checked), &mut faults);
        let definition = ProviderDefinition {
            id: self.id.clone(),
            provider_name: self.provider_name.clone().unwrap_or_else(|| self.tool().to_owned()),
            args,
            args_schema,
            requires_handler: self.requires_handler,
        };
        faults.splice(0..0, definition.id_fault());
        let mut builder = ToolBuilder::start(name, ToolKind::Provider(definition));
        builder.draft.faults.extend(faults);
        builder
    }
}

impl<A, P, R> Clone for ProviderTool<A, P, R> {
    fn clone(&self) -> Self {
        Self::from_spec(self.spec.clone())
    }
}

impl<A, P, R> fmt::Debug for ProviderTool<A, P, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderTool").field("spec", &self.spec).finish()
    }
}

impl ProviderDefinition {
    /// Creates the provider's part of a tool that is rebuilt from its descriptor, which has no schema for the settings:
    /// they were checked when the tool was defined.
    pub(crate) fn restored(id: &str, provider_name: &str, args: &Value, requires_handler: bool) -> Self {
        Self {
            id: id.to_owned(),
            provider_name: provider_name.to_owned(),
            args: args.clone(),
            // The settings were checked before they were described, and a descriptor does not contain their schema.
            args_schema: Schema::unknown(),
            requires_handler,
        }
    }

    pub(crate) fn id_fault(&self) -> Option<DefinitionFault> {
        (!is_provider_id(&self.id)).then(|| DefinitionFault::ProviderId(self.id.clone()))
    }

    /// Returns the id, `vendor.tool`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the vendor: the id up to its first dot.
    #[must_use]
    pub fn vendor(&self) -> &str {
        self.id.split_once('.').map_or("", |(vendor, _)| vendor)
    }

    /// Returns the tool's name at the provider.
    #[must_use]
    pub fn provider_name(&self) -> &str {
        &self.provider_name
    }

    /// Returns the tool's settings, or `null` for none.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.args
    }

    /// Returns the settings' schema: the unit type's if there are none, and one that accepts any value if
    /// the tool was rebuilt from its descriptor.
    #[must_use]
    pub fn args_schema(&self) -> &Schema {
        &self.args_schema
    }

    /// Decodes the settings.
    pub fn decode_args<A: DeserializeOwned>(&self) -> Result<A, Issues> {
        self.args_schema.decode_value(&self.args)
    }

    /// Reports whether the application executes the tool.
    #[must_use]
    pub fn requires_handler(&self) -> bool {
        self.requires_handler
    }
}

fn is_provider_id(id: &str) -> bool {
    let clean = !id.chars().any(|c| c.is_whitespace() || c.is_control());
    clean && id.split_once('.').is_some_and(|(vendor, tool)| !vendor.is_empty() && !tool.is_empty())
}

fn resolve(
    part: Option<&Result<Schema, SchemaError>>,
    name: SchemaPart,
    faults: &mut Vec<DefinitionFault>,
) -> Option<Schema> {
    match part? {
        Ok(schema) => Some(schema.clone()),
        Err(error) => {
            faults.push(DefinitionFault::schema(name, error));
            None
        }
    }
}

fn check_args(args: serde_json::Result<Value>, schema: Option<&Schema>, faults: &mut Vec<DefinitionFault>) -> Value {
    let args = match args {
        Ok(args) => args,
        Err(error) => {
            let issue = Issue::new("", "json", format!("the settings can't be encoded as JSON: {error}"));
            faults.push(DefinitionFault::ProviderArgs(Issues::from(issue)));
            return Value::Null;
        }
    };
    if let Some(Err(issues)) = schema.map(|schema| schema.check(&args)) {
        faults.push(DefinitionFault::ProviderArgs(issues));
    }
    args
}
