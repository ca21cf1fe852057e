//! Import options.

use std::collections::BTreeMap;

use super::filter::Filter;
use crate::http::{ErrorDetail, TokenCache};

/// The default limit on a tool's argument schema.
const MAX_SCHEMA_BYTES: usize = 256 << 10;

/// Import options: which operations, where they are sent, and with which secrets.
///
/// No secret is sent that you do not list here. If one of the document's schemes has no credential, requests go without
/// it, and the server decides.
///
/// ```
/// use haft_tools::openapi::{ImportOptions, SchemeCredential};
///
/// let options = ImportOptions::new()
///     .base_url("https://staging.pets.example/v1")
///     .include_tag("pets")
///     .exclude_method("DELETE")
///     .credential("petstore_auth", SchemeCredential::new("petstore"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    pub(super) base_url: Option<String>,
    pub(super) location: Option<String>,
    pub(super) server_variables: BTreeMap<String, String>,
    pub(super) filter: Filter,
    pub(super) credentials: BTreeMap<String, SchemeCredential>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) output_check: OutputCheck,
    pub(super) errors: ErrorDetail,
    pub(super) response_headers: Vec<String>,
    pub(super) max_schema_bytes: Option<usize>,
    pub(super) tokens: TokenCache,
}

/// The secret for a document's security scheme.
///
/// ```
/// use haft_tools::openapi::SchemeCredential;
///
/// let password = SchemeCredential::new("mail-password").user("robot");
/// assert_eq!(password.secret, "mail-password");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemeCredential {
    /// The secret's name. The secret is a token, a key, a password, or an OAuth 2 client's secret.
    pub secret: String,
    /// The user, for basic authentication. Without one, the secret is `user:password`.
    pub user: Option<String>,
    /// The client's id for the OAuth 2 client credentials grant, which sends the secret to the document's `tokenUrl`.
    /// Without one, the secret is a bearer token.
    pub client_id: Option<String>,
}

/// The treatment of a document's response schemas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputCheck {
    /// Ignores them: any result is passed on. Many servers return what their documents do not describe.
    #[default]
    Off,
    /// Enforces them: a result that differs from its schema fails the call.
    Enforced,
}

impl ImportOptions {
    /// Creates the default options: all operations, sent to the servers that the document names, without secrets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the URL that all paths are appended to, replacing the document's servers.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the URL that the document comes from. Relative server URLs refer to it.
    #[must_use]
    pub fn location(mut self, url: impl Into<String>) -> Self {
        self.location = Some(url.into());
        self
    }

    /// Sets a variable in the server URLs, replacing its default.
    #[must_use]
    pub fn server_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.server_variables.insert(name.into(), value.into());
        self
    }

    /// Imports only operations with one of the included tags.
    #[must_use]
    pub fn include_tag(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.include(tag);
        self
    }

    /// Imports no operations with this tag.
    #[must_use]
    pub fn exclude_tag(mut self, tag: impl Into<String>) -> Self {
        self.filter.tags.exclude(tag);
        self
    }

    /// Imports only operations whose paths match one of the included patterns. `*` stands for any text, slashes
    /// included.
    #[must_use]
    pub fn include_path(mut self, pattern: impl Into<String>) -> Self {
        self.filter.paths.include(pattern);
        self
    }

    /// Imports no operations whose paths match this pattern.
    #[must_use]
    pub fn exclude_path(mut self, pattern: impl Into<String>) -> Self {
        self.filter.paths.exclude(pattern);
        self
    }

    /// Imports only operations with one of the included ids. `*` stands for any text. The tool's name counts as an id
    /// as well.
    #[must_use]
    pub fn include_operation(mut self, pattern: impl Into<String>) -> Self {
        self.filter.operations.include(pattern);
        self
    }

    /// Imports no operations with an id that matches this pattern.
    #[must_use]
    pub fn exclude_operation(mut self, pattern: impl Into<String>) -> Self {
        self.filter.operations.exclude(pattern);
        self
    }

    /// Imports only operations with one of the included methods.
    #[must_use]
    pub fn include_method(mut self, method: impl AsRef<str>) -> Self {
        self.filter.methods.include(method.as_ref().to_ascii_uppercase());
        self
    }

    /// Imports no operations with this method.
    #[must_use]
    pub fn exclude_method(mut self, method: impl AsRef<str>) -> Self {
        self.filter.methods.exclude(method.as_ref().to_ascii_uppercase());
        self
    }

    /// Sets the credential for a security scheme, by the scheme's name in the document.
    #[must_use]
    pub fn credential(mut self, scheme: impl Into<String>, credential: SchemeCredential) -> Self {
        self.credentials.insert(scheme.into(), credential);
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the treatment of response schemas.
    #[must_use]
    pub fn output_check(mut self, check: OutputCheck) -> Self {
        self.output_check = check;
        self
    }

    /// Sets the part of a failed response that the model reads besides its status. Default: nothing.
    #[must_use]
    pub fn errors(mut self, detail: ErrorDetail) -> Self {
        self.errors = detail;
        self
    }

    /// Adds a response header, such as `link` or `etag`, to every result, which becomes an object with `body` and
    /// `headers`.
    #[must_use]
    pub fn response_header(mut self, name: impl Into<String>) -> Self {
        self.response_headers.push(name.into());
        self
    }

    /// Sets the maximum size of a tool's argument schema, in bytes. Default: 256 KiB.
    #[must_use]
    pub fn max_schema_bytes(mut self, bytes: usize) -> Self {
        self.max_schema_bytes = Some(bytes);
        self
    }

    /// Shares OAuth 2 tokens with other tools. By default the tools from all imports with these options share their
    /// own.
    #[must_use]
    pub fn tokens(mut self, tokens: &TokenCache) -> Self {
        self.tokens = tokens.clone();
        self
    }

    pub(super) fn schema_limit(&self) -> usize {
        self.max_schema_bytes.unwrap_or(MAX_SCHEMA_BYTES)
    }
}

impl SchemeCredential {
    /// Creates a credential from a secret's name.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self { secret: secret.into(), user: None, client_id: None }
    }

    /// Sets the user, for basic authentication.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// Sets the client's id for the OAuth 2 client credentials grant.
    #[must_use]
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client_id = Some(id.into());
        self
    }
}
