//! The kind `openapi`: an entry that imports a document.

use std::collections::BTreeMap;
use std::path::Path;

use haft_registry::{
    Building, Built, Entry, EntryError, EntryFault, ImplementationKind, ImportLister, ListedImport, Yields,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::document::{MAX_BYTES, OpenApi};
use super::import::Imported;
use super::offered::offered;
use super::options::{ImportOptions, OutputCheck, SchemeCredential};
use crate::http::{ErrorsSetting, ResponseMapping, TokenCache, pointer};

/// The most remarks of one kind.
const MAX_REMARKS: usize = 100;

/// The kind `openapi`, whose entries yield a tool for each operation in a document. All its tools share OAuth 2 tokens.
///
/// ```
/// use haft_tools::openapi::OpenApiKind;
/// use haft_registry::{ImplementationKind, Kinds};
///
/// let kinds = Kinds::empty().with(OpenApiKind::new())?;
/// let schema = kinds.get("openapi").unwrap().settings_schema();
/// assert_eq!(schema["required"], serde_json::json!(["file"]));
/// # Ok::<_, haft_registry::DuplicateKind>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenApiKind {
    tokens: TokenCache,
}

/// The settings of an import.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OpenApiSettings {
    /// The document, JSON or YAML: a path below the folder of the workspace.
    file: String,
    /// The URL that all paths are appended to, in place of the servers of the document.
    base_url: Option<String>,
    /// The URL that the document is from. Relative URLs of servers refer to it.
    location: Option<String>,
    /// Values of variables in the URLs of servers.
    #[serde(default)]
    server_variables: BTreeMap<String, String>,
    /// Tags, of which an operation must have one.
    #[serde(default)]
    tags: Vec<String>,
    /// Tags, of which an operation must have none.
    #[serde(default)]
    exclude_tags: Vec<String>,
    /// Patterns of paths, of which an operation must match one. `*` stands for any text.
    #[serde(default)]
    paths: Vec<String>,
    /// Patterns of paths, of which an operation must match none.
    #[serde(default)]
    exclude_paths: Vec<String>,
    /// Patterns of operation ids, of which an operation must match one. `*` stands for any text.
    #[serde(default)]
    operations: Vec<String>,
    /// Patterns of operation ids, of which an operation must match none.
    #[serde(default)]
    exclude_operations: Vec<String>,
    /// Methods, such as `GET`, of which an operation must have one.
    #[serde(default)]
    methods: Vec<String>,
    /// Methods that an operation must not have.
    #[serde(default)]
    exclude_methods: Vec<String>,
    /// The secrets of security schemes, by the names of the schemes in the document.
    #[serde(default)]
    security: BTreeMap<String, CredentialSettings>,
    /// Headers of every request.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// True if a result must be valid by the response schemas of the document.
    #[serde(default)]
    check_output: bool,
    /// The part of a failed response that the model reads besides its status: `status`, the default, is nothing; `body` is its
    /// beginning; a JSON Pointer such as `/error/message` is a part of it. The body is always shown to the operator.
    errors: Option<ErrorsSetting>,
    /// Response headers that are part of every result, such as `["link", "etag"]`. The result is then an object of `body` and
    /// `headers`.
    #[serde(default)]
    response_headers: Vec<String>,
    /// The maximum size of the schema of a tool's arguments, in bytes.
    max_schema_bytes: Option<usize>,
}

/// The secret of a security scheme.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum CredentialSettings {
    /// The name of a secret.
    Secret(String),
    /// A secret with a user or a client.
    Full(FullCredentialSettings),
}

/// A secret with a user or a client.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FullCredentialSettings {
    /// The name of a secret.
    secret: String,
    /// The user, for basic authentication.
    user: Option<String>,
    /// The id of the client, for the client credentials grant of OAuth 2.
    client_id: Option<String>,
}

impl OpenApiKind {
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
}

impl ImplementationKind for OpenApiKind {
    fn name(&self) -> &'static str {
        "openapi"
    }

    fn yields(&self) -> Yields {
        Yields::ManyTools
    }

    fn settings_schema(&self) -> Value {
        schemars::schema_for!(OpenApiSettings).to_value()
    }

    fn build(&self, entry: Entry) -> Building {
        let tokens = self.tokens.clone();
        Box::pin(async move {
            // Reading and importing a large document takes long enough to delay other tasks.
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => {
                    let built = runtime.spawn_blocking(move || build(&entry, &tokens)).await;
                    built.unwrap_or_else(|error| Err(EntryError::at("/file", error.to_string())))
                }
                Err(_) => build(&entry, &tokens),
            }
        })
    }
}

fn build(entry: &Entry, tokens: &TokenCache) -> Result<Built, EntryError> {
    let settings = OpenApiSettings::deserialize(&entry.settings);
    let settings = settings.map_err(|error| EntryError::at("", error.to_string()))?;
    // Read through the entry, so that changes to the document are noticed.
    let content = entry.read_file(&settings.file, MAX_BYTES as u64);
    let document = OpenApi::from_file(Path::new(&settings.file), content);
    let document = document.map_err(|error| EntryError::at("/file", error.to_string()))?;
    check_schemes(&document, &settings)?;
    check_responses(&settings)?;
    let file = settings.file.clone();
    let options = options(settings).tokens(tokens);
    let imported = document.import(&options);
    let remarks = remarks(&document, &imported, &options);
    let reach = imported.reach();
    // A large document takes long to compare, so only one that somebody has accepted is.
    let compared = entry.pinned.as_ref().map(|_| offered(&file, &imported.operations));
    let operations = imported.operations.clone();
    let lister = ImportLister::new(move |_| {
        let listed = ListedImport::new(offered(&file, &operations));
        Box::pin(std::future::ready(Ok(listed)))
    });
    let tools = imported.into_tools();
    let mut built = Built::tools(tools, reach).with_remarks(remarks).with_lister(lister);
    built.offered = compared;
    Ok(built)
}

/// Rejects credentials for schemes that the document lacks.
fn check_schemes(document: &OpenApi, settings: &OpenApiSettings) -> Result<(), EntryError> {
    let known: Vec<&str> = document.security_schemes().collect();
    let unknown = settings.security.keys().filter(|name| !known.contains(&name.as_str()));
    let fault = |name: &String| {
        let pointer = format!("/security{}", pointer(name));
        let listed = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
        EntryFault::at(pointer, format!("the document has no security scheme `{name}`; {listed}"))
    };
    EntryError::check(unknown.map(fault).collect())
}

/// Rejects response settings that no tool can have.
fn check_responses(settings: &OpenApiSettings) -> Result<(), EntryError> {
    let mut mapping = ResponseMapping::new();
    mapping.headers.clone_from(&settings.response_headers);
    if let Some(errors) = &settings.errors {
        mapping.errors = errors.clone().into_detail();
    }
    let mut faults = mapping.faults();
    for fault in &mut faults {
        fault.pointer = fault.pointer.replace("/result/headers", "/response-headers");
    }
    EntryError::check(faults)
}

fn options(settings: OpenApiSettings) -> ImportOptions {
    let mut options = ImportOptions::new();
    options.base_url = settings.base_url;
    options.location = settings.location;
    options.server_variables = settings.server_variables;
    options.headers = settings.headers.into_iter().collect();
    options.max_schema_bytes = settings.max_schema_bytes;
    options.errors = settings.errors.map(ErrorsSetting::into_detail).unwrap_or_default();
    options.response_headers = settings.response_headers;
    options.output_check = if settings.check_output { OutputCheck::Enforced } else { OutputCheck::Off };
    options = settings.tags.into_iter().fold(options, ImportOptions::include_tag);
    options = settings.exclude_tags.into_iter().fold(options, ImportOptions::exclude_tag);
    options = settings.paths.into_iter().fold(options, ImportOptions::include_path);
    options = settings.exclude_paths.into_iter().fold(options, ImportOptions::exclude_path);
    options = settings.operations.into_iter().fold(options, ImportOptions::include_operation);
    options = settings.exclude_operations.into_iter().fold(options, ImportOptions::exclude_operation);
    options = settings.methods.into_iter().fold(options, ImportOptions::include_method);
    options = settings.exclude_methods.into_iter().fold(options, ImportOptions::exclude_method);
    let credentials = settings.security.into_iter().map(|(scheme, credential)| (scheme, credential.into()));
    credentials.fold(options, |options, (scheme, credential)| options.credential(scheme, credential))
}

impl From<CredentialSettings> for SchemeCredential {
    fn from(settings: CredentialSettings) -> Self {
        match settings {
            CredentialSettings::Secret(secret) => Self::new(secret),
            CredentialSettings::Full(FullCredentialSettings { secret, user, client_id }) => {
                Self { secret, user, client_id }
            }
        }
    }
}

/// Returns what the operator should know about an import.
fn remarks(document: &OpenApi, imported: &Imported, options: &ImportOptions) -> Vec<EntryFault> {
    let mut remarks = Vec::new();
    if imported.operations.is_empty() {
        remarks.push(EntryFault::at("/file", "no operation was imported"));
    }
    let skipped = imported.skipped.iter().map(ToString::to_string);
    remarks.extend(capped(skipped, imported.skipped.len()));
    let loosened = imported.loosened.iter().map(ToString::to_string);
    remarks.extend(capped(loosened, imported.loosened.len()));
    let lossy = imported.lossy.iter().map(ToString::to_string);
    remarks.extend(capped(lossy, imported.lossy.len()));
    let schemes: Vec<&str> = document.security_schemes().collect();
    if options.credentials.is_empty() && !schemes.is_empty() {
        let message = format!("requests are sent without secrets; the document has the schemes {}", schemes.join(", "));
        remarks.push(EntryFault::at("/security", message));
    }
    remarks
}

fn capped(messages: impl Iterator<Item = String>, count: usize) -> impl Iterator<Item = EntryFault> {
    let more = (count > MAX_REMARKS).then(|| format!("and {} more", count - MAX_REMARKS));
    messages.take(MAX_REMARKS).chain(more).map(|message| EntryFault::at("/file", message))
}
