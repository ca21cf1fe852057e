//! Tools that are built into a provider.
//!
//! The catalogue of a provider consists of factories: a [`ProviderTool`] describes the provider's tool once, and each
//! application creates a tool from it with its settings. A tool has three names: the id (`vendor.tool`), the name at
//! the provider, and the custom name in the application. Renaming changes only the custom name.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::handler::{Failure, failure_schema};
use crate::issue::{Issue, Issues};
use crate::schema::{Schema, SchemaError};
use crate::tool::{DefinitionFault, Open, SchemaPart, ToolBuilder, ToolKind};

/// A factory of tools that are built into a provider.
///
/// ```
/// use haft_core::{ProviderTool, Tool};
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use serde_json::json;
///
/// #[derive(Serialize, JsonSchema, serde::Deserialize)]
/// struct SearchArgs { max_uses: u8 }
///
/// let web_search = Tool::provider("anthropic.web_search")
///     .custom_name("AnthropicWebSearch")
///     .provider_name("web_search")
///     .args::<SearchArgs>();
/// let tool = web_search.with_args(SearchArgs { max_uses: 3 }).define()?;
/// assert_eq!(tool.name(), "AnthropicWebSearch");
/// assert_eq!(tool.provider_definition().unwrap().args(), &json!({"max_uses": 3}));
/// # Ok::<_, haft_core::DefinitionError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a factory creates no tool until `with_args` is called"]
pub struct ProviderTool {
    id: String,
    custom_name: Option<String>,
    provider_name: Option<String>,
    args: SchemaSetting,
    params: SchemaSetting,
    success: SchemaSetting,
    failure: SchemaSetting,
    requires_handler: bool,
}

/// The provider's part of a provider-defined tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ProviderDefinition {
    id: String,
    provider_name: String,
    args: Value,
    requires_handler: bool,
}

/// A schema that may be unset or invalid. Its faults are reported together with all others.
type SchemaSetting = Option<Result<Schema, SchemaError>>;

impl ProviderTool {
    /// Creates a factory for the id `vendor.tool`. The name at the provider and the custom name are the part after the
    /// dot, unless they are set.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            custom_name: None,
            provider_name: None,
            args: None,
            params: None,
            success: None,
            failure: None,
            requires_handler: false,
        }
    }

    /// Sets the name of the tool in the application.
    pub fn custom_name(mut self, name: impl Into<String>) -> Self {
        self.custom_name = Some(name.into());
        self
    }

    /// Sets the name of the tool at the provider.
    pub fn provider_name(mut self, name: impl Into<String>) -> Self {
        self.provider_name = Some(name.into());
        self
    }

    /// Sets the type of the settings.
    pub fn args<A: JsonSchema + ?Sized>(mut self) -> Self {
        self.args = Some(Schema::of::<A>());
        self
    }

    /// Sets the schema of the settings.
    pub fn args_schema(mut self, schema: Schema) -> Self {
        self.args = Some(Ok(schema));
        self
    }

    /// Sets the type of the arguments.
    pub fn params<P: DeserializeOwned + JsonSchema>(mut self) -> Self {
        self.params = Some(Schema::of_params::<P>());
        self
    }

    /// Sets the schema of the arguments.
    pub fn params_schema(mut self, schema: Schema) -> Self {
        self.params = Some(Ok(schema));
        self
    }

    /// Sets the type of results.
    pub fn success<T: JsonSchema + ?Sized>(mut self) -> Self {
        self.success = Some(Schema::of_output::<T>());
        self
    }

    /// Sets the schema of results.
    pub fn success_schema(mut self, schema: Schema) -> Self {
        self.success = Some(Ok(schema));
        self
    }

    /// Sets the type of declared failures.
    pub fn failure<F: Failure>(mut self) -> Self {
        self.failure = Some(failure_schema::<F>());
        self
    }

    /// Sets the schema of declared failures.
    pub fn failure_schema(mut self, schema: Schema) -> Self {
        self.failure = Some(Ok(schema));
        self
    }

    /// Declares that the application executes the tool. Schemas of parameters and results that are unset then accept
    /// any value, which is read as the types of the handler.
    pub fn requires_handler(mut self) -> Self {
        self.requires_handler = true;
        self
    }

    /// Starts a tool with these settings, `()` for none. Invalid settings are reported by the last step of the builder,
    /// together with all other faults.
    pub fn with_args(&self, args: impl Serialize) -> ToolBuilder<Open, Open> {
        let mut faults = Vec::new();
        let (_, tool) = self.id.split_once('.').unwrap_or(("", &self.id));
        let args_schema = resolve(&self.args, SchemaPart::Args, &mut faults);
        let args = check_args(args, args_schema.as_ref(), &mut faults);
        let definition = ProviderDefinition {
            id: self.id.clone(),
            provider_name: self.provider_name.clone().unwrap_or_else(|| tool.to_owned()),
            args,
            requires_handler: self.requires_handler,
        };
        faults.splice(0..0, definition.id_fault());
        let name = self.custom_name.clone().unwrap_or_else(|| tool.to_owned());
        let mut builder = ToolBuilder::<Open, Open>::start(name, ToolKind::Provider(definition));
        // The parameters and the result of a tool that is executed here are unrestricted if they are unset.
        let unsaid = self.requires_handler.then(Schema::unknown);
        let said = |part, name, faults: &mut Vec<_>| resolve(part, name, faults).or_else(|| unsaid.clone());
        builder.draft.parameters = said(&self.params, SchemaPart::Parameters, &mut faults);
        builder.draft.success = said(&self.success, SchemaPart::Success, &mut faults);
        builder.draft.failure = resolve(&self.failure, SchemaPart::Failure, &mut faults);
        builder.draft.faults.extend(faults);
        builder
    }
}

impl ProviderDefinition {
    /// Creates the provider's part of a tool that is rebuilt from its descriptor.
    #[cfg(feature = "validate")]
    pub(crate) fn restored(id: &str, provider_name: &str, args: &Value, requires_handler: bool) -> Self {
        Self { id: id.to_owned(), provider_name: provider_name.to_owned(), args: args.clone(), requires_handler }
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

    /// Returns the name of the tool at the provider.
    #[must_use]
    pub fn provider_name(&self) -> &str {
        &self.provider_name
    }

    /// Returns the settings of the tool, or `null` for none.
    #[must_use]
    pub fn args(&self) -> &Value {
        &self.args
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

fn resolve(part: &SchemaSetting, name: SchemaPart, faults: &mut Vec<DefinitionFault>) -> Option<Schema> {
    match part.as_ref()? {
        Ok(schema) => Some(schema.clone()),
        Err(error) => {
            faults.push(DefinitionFault::schema(name, error));
            None
        }
    }
}

fn check_args(args: impl Serialize, schema: Option<&Schema>, faults: &mut Vec<DefinitionFault>) -> Value {
    let args = match serde_json::to_value(args) {
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
