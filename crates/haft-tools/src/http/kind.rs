//! The kind `http`.

use haft_registry::{Building, Built, Entry, EntryError, EntryFault, ImplementationKind, Yields};
use haft_schema::Schema;
use schemars::schema_for;
use serde_json::Value;

use super::settings::HttpSettings;
use super::token::TokenCache;

/// The kind for tools that send HTTP requests. All its tools share OAuth 2 tokens.
///
/// ```
/// use haft_tools::http::HttpKind;
/// use haft_registry::{Entry, ImplementationKind};
/// use serde_json::json;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), haft_registry::EntryError> {
/// // [toolbox.web.tool.search]
/// // kind = "http"
/// let settings = json!({
///     "url": "https://api.example.com/repos/{owner}/issues",
///     "query": {"q": "{text}", "per_page": 20},
///     "headers": {"accept": "application/json"},
///     "auth": {"bearer": "github"},
///     "result": {"pointer": "/items"},
///     "status": {"404": "null"},
/// });
/// let built = HttpKind::new().build(Entry::new("search", settings)).await?;
/// assert_eq!(built.tools[0].name(), "search");
/// assert!(built.reach.secret_names().contains("github"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct HttpKind {
    tokens: TokenCache,
}

impl HttpKind {
    /// Creates the kind.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shares OAuth 2 tokens with other kinds.
    #[must_use]
    pub fn tokens(mut self, tokens: &TokenCache) -> Self {
        self.tokens = tokens.clone();
        self
    }

    fn build_entry(&self, entry: &Entry) -> Result<Built, EntryError> {
        let settings = settings(&entry.settings)?;
        let tool = settings.into_tool()?.tokens(&self.tokens);
        Ok(Built::tool(tool.build(entry)?, tool.reach()))
    }
}

impl ImplementationKind for HttpKind {
    fn name(&self) -> &'static str {
        "http"
    }

    fn yields(&self) -> Yields {
        Yields::OneTool
    }

    fn settings_schema(&self) -> Value {
        schema_for!(HttpSettings).to_value()
    }

    fn build(&self, entry: Entry) -> Building {
        let kind = self.clone();
        Box::pin(async move { kind.build_entry(&entry) })
    }
}

/// Reads the settings. All those that violate the schema are reported together.
fn settings(settings: &Value) -> Result<HttpSettings, EntryError> {
    let error = match serde_json::from_value(settings.clone()) {
        Ok(settings) => return Ok(settings),
        Err(error) => error,
    };
    let issues = Schema::json(schema_for!(HttpSettings).to_value()).map(|schema| schema.check(settings));
    match issues {
        Ok(Err(issues)) if !issues.is_empty() => {
            let faults = issues.iter().map(|issue| EntryFault::at(issue.pointer.clone(), issue.message.clone()));
            Err(EntryError { faults: faults.collect() })
        }
        _ => Err(EntryError::at("", error.to_string())),
    }
}
