//! The tools that a server lists, and those that are set aside.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use haft_executor::{DefinitionError, Tool};
use serde_json::Value;

use crate::convert::definition;

/// A tool of a server, with its definition as the server gave it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpTool {
    /// The tool, without a handler.
    pub tool: Tool,
    /// The definition, with all its members.
    pub definition: Arc<Value>,
    /// The digest of the definition.
    pub digest: Arc<str>,
    /// Some of the arguments are HTTP headers as well.
    pub(crate) has_headers: bool,
}

/// A tool that is not offered. The others of its server are not affected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The name, if the definition has one.
    pub name: Option<String>,
    /// The definition, with all its members; `null` if it can't be parsed.
    pub definition: Arc<Value>,
    /// The reason.
    pub reason: QuarantineReason,
}

/// The reason why a tool is not offered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// The definition is invalid.
    #[error(transparent)]
    Invalid(#[from] DefinitionError),
    /// An earlier tool of the server has the same name.
    #[error("an earlier tool of the server has the same name")]
    Duplicate,
    /// The name contains a character that people can't see, or that can be mistaken for another.
    #[error("the name contains {0:?}; names consist of letters, digits, spaces and ASCII punctuation")]
    UnsafeName(char),
    /// The definition is nested so deeply that it can't be parsed.
    #[error("the definition is nested too deeply")]
    TooDeep,
    /// The definition promotes arguments to HTTP headers in a way that the protocol forbids.
    #[error("the `x-mcp-header` annotations of its arguments are invalid")]
    InvalidHeader,
}

/// The tools of a server at one moment.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Listing {
    /// The tools that models are offered, in the server's order.
    pub tools: Vec<McpTool>,
    /// The tools that are meant for apps alone, by `_meta.ui.visibility`.
    pub app_tools: Vec<McpTool>,
    /// The tools that are set aside.
    pub quarantined: Vec<QuarantinedTool>,
}

/// Returns the digest of a definition as a server gave it: every member counts, `_meta` included, but neither the order
/// of members nor the spelling of numbers.
///
/// ```
/// use haft_mcp::definition_digest;
/// use serde_json::json;
///
/// let listed = definition_digest(&json!({"name": "read", "inputSchema": {"type": "object"}}));
/// assert_eq!(listed, definition_digest(&json!({"inputSchema": {"type": "object"}, "name": "read"})));
/// assert_ne!(listed, definition_digest(&json!({"name": "read", "inputSchema": {"type": "object"}, "_meta": {}})));
/// ```
#[must_use]
pub fn definition_digest(definition: &Value) -> String {
    definition::digest(definition)
}

impl Listing {
    /// Reads definitions one by one, so that one which is malformed does not affect the others.
    ///
    /// ```
    /// use haft_mcp::Listing;
    /// use serde_json::json;
    ///
    /// let good = json!({"name": "read", "inputSchema": {"type": "object"}});
    /// let listing = Listing::read([good, json!({"name": "write"}), json!(17)]);
    /// assert_eq!(listing.tools[0].tool.name(), "read");
    /// assert!(listing.quarantined[0].to_string().starts_with("the tool `write` is quarantined: "));
    /// assert_eq!(listing.quarantined.len(), 2);
    /// ```
    #[must_use]
    pub fn read(definitions: impl IntoIterator<Item = Value>) -> Self {
        let mut listing = Self::default();
        let mut names = HashSet::new();
        for definition in definitions {
            let name = definition.get("name").and_then(Value::as_str).map(str::to_owned);
            let is_new = name.as_ref().is_none_or(|name| names.insert(name.clone()));
            match read_tool(&definition, name.as_deref(), is_new) {
                Ok(tool) => {
                    let is_for_models = definition::is_for_models(&definition);
                    let digest = definition::digest(&definition).into();
                    let tool = McpTool {
                        tool,
                        has_headers: definition::has_headers(&definition),
                        definition: Arc::new(definition),
                        digest,
                    };
                    if is_for_models { &mut listing.tools } else { &mut listing.app_tools }.push(tool);
                }
                Err(reason) => {
                    listing.quarantined.push(QuarantinedTool { name, definition: Arc::new(definition), reason });
                }
            }
        }
        listing
    }

    /// Sets tools aside whose names are among these.
    pub(crate) fn reject_headers(&mut self, names: &HashSet<String>) {
        for tools in [&mut self.tools, &mut self.app_tools] {
            for tool in tools.extract_if(.., |tool| names.contains(tool.tool.name())) {
                let name = Some(tool.tool.name().to_owned());
                let reason = QuarantineReason::InvalidHeader;
                self.quarantined.push(QuarantinedTool { name, definition: tool.definition, reason });
            }
        }
    }

    /// Sets tools aside whose definitions can't be parsed, given by their names.
    pub(crate) fn add_unreadable(&mut self, names: Vec<Option<String>>) {
        for name in names {
            let (definition, reason) = (Arc::default(), QuarantineReason::TooDeep);
            self.quarantined.push(QuarantinedTool { name, definition, reason });
        }
    }

    pub(crate) fn has_quarantined(&self, name: &str) -> bool {
        self.quarantined.iter().any(|tool| tool.name.as_deref() == Some(name))
    }

    /// Returns the tool with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&McpTool> {
        self.tools.iter().chain(&self.app_tools).find(|tool| tool.tool.name() == name)
    }
}

fn read_tool(definition: &Value, name: Option<&str>, is_new: bool) -> Result<Tool, QuarantineReason> {
    if !is_new {
        return Err(QuarantineReason::Duplicate);
    }
    let is_safe = |character: char| character.is_alphanumeric() || matches!(character, ' '..='~');
    if let Some(odd) = name.and_then(|name| name.chars().find(|&character| !is_safe(character))) {
        return Err(QuarantineReason::UnsafeName(odd));
    }
    Ok(definition::read(definition)?)
}

impl fmt::Display for QuarantinedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "the tool `{}` is quarantined: {}", name.escape_debug(), self.reason),
            None => write!(f, "a tool without a name is quarantined: {}", self.reason),
        }
    }
}

/// Shows the names alone: definitions are long.
impl fmt::Debug for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |tools: &[McpTool]| tools.iter().map(|tool| tool.tool.name().to_owned()).collect::<Vec<_>>();
        f.debug_struct("Listing")
            .field("tools", &names(&self.tools))
            .field("app_tools", &names(&self.app_tools))
            .field("quarantined", &self.quarantined.iter().map(ToString::to_string).collect::<Vec<_>>())
            .finish()
    }
}
