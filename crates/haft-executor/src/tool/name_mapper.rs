//! The mapping between the two names of a provider's tools.
//!
//! Two providers may both have a `web_search`; custom names distinguish them in one toolkit. A mapper belongs to one
//! vendor and translates in both directions. It is never ambiguous: tools that share a name are an error when it is
//! built.

use std::collections::HashMap;

use crate::tool::Tool;

/// A mapping between the names at one provider and those of the application.
///
/// ```
/// use haft_executor::{NameMapper, Tool};
///
/// let search = Tool::provider("openai.web_search").custom_name("OpenAiWebSearch").with_args(()).define()?;
/// let names = NameMapper::new("openai", [&search])?;
/// assert_eq!(names.custom_name("web_search"), "OpenAiWebSearch");
/// assert_eq!(names.provider_name("OpenAiWebSearch"), "web_search");
/// assert_eq!(names.provider_name("my_own_tool"), "my_own_tool");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NameMapper {
    pairs: Vec<Pair>,
    by_provider: HashMap<String, usize>,
    by_custom: HashMap<String, usize>,
}

/// Tools of one vendor that share a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tools of `{vendor}` share names: {}", .clashes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
#[non_exhaustive]
pub struct NameMapError {
    /// The vendor.
    pub vendor: String,
    /// All clashes, in the order they were found. Never empty.
    pub clashes: Vec<NameClash>,
}

/// Two tools that share a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameClash {
    /// Both have the same name at the provider.
    #[error("`{first}` and `{second}` are both `{name}` at the provider")]
    Provider {
        /// The shared name.
        name: String,
        /// The custom name of the first tool.
        first: String,
        /// The custom name of the second tool.
        second: String,
    },
    /// Both have the same custom name.
    #[error("`{first}` and `{second}` both have the custom name `{name}`")]
    Custom {
        /// The shared name.
        name: String,
        /// The id of the first tool.
        first: String,
        /// The id of the second tool.
        second: String,
    },
}

#[derive(Clone, Debug)]
struct Pair {
    id: String,
    custom: String,
    provider: String,
}

impl NameMapper {
    /// Creates a mapping of the vendor's tools among `tools`; all others are ignored.
    pub fn new<'a>(vendor: &str, tools: impl IntoIterator<Item = &'a Tool>) -> Result<Self, NameMapError> {
        let mut mapper = Self::default();
        let mut clashes = Vec::new();
        for tool in tools {
            let Some(definition) = tool.provider_definition().filter(|definition| definition.vendor() == vendor) else {
                continue;
            };
            let pair = Pair {
                id: definition.id().to_owned(),
                custom: tool.name().to_owned(),
                provider: definition.provider_name().to_owned(),
            };
            clashes.extend(mapper.insert(pair));
        }
        if clashes.is_empty() { Ok(mapper) } else { Err(NameMapError { vendor: vendor.to_owned(), clashes }) }
    }

    /// Returns the application's name for `provider_name`, or the same name if it is unknown.
    #[must_use]
    pub fn custom_name<'a>(&'a self, provider_name: &'a str) -> &'a str {
        self.by_provider.get(provider_name).map_or(provider_name, |&index| &self.pairs[index].custom)
    }

    /// Returns the provider's name for `custom_name`, or the same name if it is unknown.
    #[must_use]
    pub fn provider_name<'a>(&'a self, custom_name: &'a str) -> &'a str {
        self.by_custom.get(custom_name).map_or(custom_name, |&index| &self.pairs[index].provider)
    }

    /// Returns the application's names, in the order of the tools.
    pub fn custom_names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.custom.as_str())
    }

    /// Returns the provider's names, in the order of the tools.
    pub fn provider_names(&self) -> impl Iterator<Item = &str> {
        self.pairs.iter().map(|pair| pair.provider.as_str())
    }

    fn insert(&mut self, pair: Pair) -> Vec<NameClash> {
        let mut clashes = Vec::new();
        if let Some(&first) = self.by_custom.get(&pair.custom) {
            let first = self.pairs[first].id.clone();
            clashes.push(NameClash::Custom { name: pair.custom.clone(), first, second: pair.id.clone() });
        }
        if let Some(&first) = self.by_provider.get(&pair.provider) {
            let first = self.pairs[first].custom.clone();
            clashes.push(NameClash::Provider { name: pair.provider.clone(), first, second: pair.custom.clone() });
        }
        self.by_custom.insert(pair.custom.clone(), self.pairs.len());
        self.by_provider.insert(pair.provider.clone(), self.pairs.len());
        self.pairs.push(pair);
        clashes
    }
}
