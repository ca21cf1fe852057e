//! Provider-defined tools as their providers expect them.

use haft_core::{DescriptorKind, RenderFault, ToolDescriptor};
use haft_schema::{Issue, Issues, SchemaError};
use serde_json::{Map, Value};

use crate::catalogue::{CallForm, CatalogueEntry, Vendor, find};

/// A provider-defined tool that can't be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderToolFault {
    /// The tool is not provider-defined.
    #[error("the tool `{tool}` is not defined by a provider; send it as a function")]
    NotProviderDefined {
        /// The tool's name.
        tool: String,
    },
    /// The tool belongs to another vendor.
    #[error("the tool `{tool}` is `{id}`, which {vendor} does not have; offer it only to models of its own vendor")]
    Foreign {
        /// The tool's name.
        tool: String,
        /// Its id.
        id: String,
        /// The vendor that it can't be sent to.
        vendor: Vendor,
    },
    /// The settings violate the tool's schema.
    #[error("the settings of `{tool}` (`{id}`) are invalid: {issues}")]
    Settings {
        /// The tool's name.
        tool: String,
        /// Its id.
        id: String,
        /// All problems, with pointers into the settings.
        issues: Issues,
    },
    /// The tool has another name at its provider, so its calls could not be found.
    #[error("`{tool}` (`{id}`) is named `{expected}` at the provider, not `{found}`; set its `provider_name`")]
    ProviderName {
        /// The tool's name.
        tool: String,
        /// Its id.
        id: String,
        /// The name at the provider.
        expected: &'static str,
        /// The name in the definition.
        found: String,
    },
    /// The definition states the wrong executor.
    #[error("calls of `{tool}` (`{id}`) are executed by the {}", if *.by_application {
        "application with these settings; define it with `requires_handler`"
    } else {
        "provider with these settings; define it without `requires_handler`"
    })]
    WrongExecutor {
        /// The tool's name.
        tool: String,
        /// Its id.
        id: String,
        /// Set if the application executes the calls.
        by_application: bool,
    },
    /// A catalogue schema does not compile, which is a bug in the catalogue.
    #[error("the catalogue has an invalid schema for `{id}`")]
    Schema {
        /// The tool's id.
        id: &'static str,
        /// The schema fault.
        source: SchemaError,
    },
}

/// Renders a provider-defined tool for a request to its vendor.
///
/// The catalogue checks the settings. A vendor id that it does not know is passed on: the part after the dot becomes
/// the type, and the settings are sent as they are.
///
/// The result does not contain the descriptor's provider options, such as cache control: they are added as for every
/// other tool. Nor does it contain a setting that the request holds outside the tool ([`CatalogueEntry::beside`](field@CatalogueEntry::beside)).
/// Secrets stay sealed; a rendered list has them in place
/// ([`RenderedTools::raw_list`](crate::RenderedTools::raw_list)).
///
/// ```
/// use haft_executor::Tool;
/// use haft_wire::catalogue::{Vendor, render_provider_tool};
/// use serde_json::json;
///
/// let unknown = Tool::provider("anthropic.new_tool_20270101").provider_name("new_tool").with_args(()).define()?;
/// let rendered = render_provider_tool(&unknown.descriptor(), Vendor::Anthropic)?;
/// assert_eq!(rendered, json!({"type": "new_tool_20270101", "name": "new_tool"}));
///
/// let foreign = render_provider_tool(&unknown.descriptor(), Vendor::OpenAi).unwrap_err();
/// assert!(foreign.to_string().contains("which openai does not have"));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn render_provider_tool(descriptor: &ToolDescriptor, vendor: Vendor) -> Result<Value, ProviderToolFault> {
    let tool = || descriptor.name.clone();
    let DescriptorKind::Provider { id, provider_name, args, requires_handler } = &descriptor.kind else {
        return Err(ProviderToolFault::NotProviderDefined { tool: tool() });
    };
    if Vendor::of_id(id) != Some(vendor) {
        return Err(ProviderToolFault::Foreign { tool: tool(), id: id.clone(), vendor });
    }
    let invalid = |issues| ProviderToolFault::Settings { tool: tool(), id: id.clone(), issues };
    let Some(entry) = find(id) else {
        let args = members(args).map_err(invalid)?;
        let wire_type = id.split_once('.').map_or(id.as_str(), |(_, wire_type)| wire_type);
        return Ok(match vendor {
            Vendor::Anthropic => typed(wire_type, Some(provider_name), args),
            Vendor::OpenAi => typed(wire_type, None, args),
            Vendor::Google => single(&camel_case(wire_type), args),
        });
    };
    if entry.provider_name != provider_name {
        let (expected, found) = (entry.provider_name, provider_name.clone());
        return Err(ProviderToolFault::ProviderName { tool: tool(), id: id.clone(), expected, found });
    }
    let by_application = entry.requires_handler(args);
    if by_application != *requires_handler {
        return Err(ProviderToolFault::WrongExecutor { tool: tool(), id: id.clone(), by_application });
    }
    let mut args = entry.checked_args(args)?.map_err(invalid)?;
    if let Some(beside) = entry.beside {
        args.shift_remove(beside);
    }
    Ok(match vendor {
        Vendor::Anthropic => typed(entry.wire_type, entry.sends_name().then_some(entry.provider_name), args),
        Vendor::OpenAi => typed(entry.wire_type, None, args),
        Vendor::Google => single(entry.wire_type, args),
    })
}

impl From<ProviderToolFault> for RenderFault {
    fn from(fault: ProviderToolFault) -> Self {
        let remedy = match &fault {
            ProviderToolFault::NotProviderDefined { .. } => "send it as a function",
            ProviderToolFault::Foreign { .. } => "offer it only to models of its own vendor",
            ProviderToolFault::Settings { .. } => "correct the settings",
            ProviderToolFault::ProviderName { .. } => "set its `provider_name`",
            ProviderToolFault::WrongExecutor { by_application: true, .. } => "define it with `requires_handler`",
            ProviderToolFault::WrongExecutor { .. } => "define it without `requires_handler`",
            ProviderToolFault::Schema { .. } => "report this as an error of the catalogue",
        };
        // A fault's message ends with its remedy, which is a separate member here.
        let text = fault.to_string();
        let message = text.strip_suffix(remedy).and_then(|text| text.strip_suffix("; ")).unwrap_or(&text);
        Self::new("", message, remedy)
    }
}

impl CatalogueEntry {
    /// Returns the settings' members, if they are valid.
    fn checked_args(&self, args: &Value) -> Result<Result<Map<String, Value>, Issues>, ProviderToolFault> {
        let members = members(args);
        let Ok(given) = &members else { return Ok(members) };
        let schema = self.args_schema().map_err(|source| ProviderToolFault::Schema { id: self.id, source })?;
        let object;
        let checked = if args.is_null() {
            object = Value::Object(given.clone());
            &object
        } else {
            args
        };
        Ok(schema.check(checked).and(members))
    }

    /// Reports whether the tool is sent with its name. A function set is known by its type alone.
    fn sends_name(&self) -> bool {
        match self.call {
            CallForm::Functions(_) => false,
            CallForm::Executed(form) => !form.names.is_empty(),
            CallForm::Function | CallForm::Items(_) => true,
        }
    }
}

/// Returns the members of settings, which must be an object, or `null` for none.
fn members(args: &Value) -> Result<Map<String, Value>, Issues> {
    match args {
        Value::Null => Ok(Map::new()),
        Value::Object(members) => Ok(members.clone()),
        _ => {
            Err(Issue::new("", "type", "the settings must be an object").expected("an object, or null for none").into())
        }
    }
}

/// Returns an object with a type, a name and the settings. Settings never replace the type or the name.
fn typed(wire_type: &str, name: Option<&str>, args: Map<String, Value>) -> Value {
    let mut tool = Map::with_capacity(args.len() + 2);
    tool.insert("type".to_owned(), wire_type.into());
    if let Some(name) = name {
        tool.insert("name".to_owned(), name.into());
    }
    for (key, value) in args {
        tool.entry(key).or_insert(value);
    }
    Value::Object(tool)
}

fn single(member: &str, args: Map<String, Value>) -> Value {
    Value::Object(Map::from_iter([(member.to_owned(), Value::Object(args))]))
}

/// Converts `url_context` to `urlContext`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut result = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        result.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        result.push_str(letters.as_str());
    }
    result
}
