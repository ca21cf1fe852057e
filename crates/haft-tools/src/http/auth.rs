//! Authentication: which secret goes where, by name.
//!
//! The values here hold only the names of secrets. A call reads a secret's text, and only its request contains it.

use haft_registry::EntryFault;

use super::header::{self, HeaderOrigin};
use super::template::UrlTemplate;

/// One way to authenticate a request. A request can have several.
///
/// ```
/// use haft_tools::http::HttpAuth;
///
/// let auth = HttpAuth::bearer("github");
/// assert_eq!(auth.secret_name(), "github");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpAuth {
    /// The header `authorization: Bearer …`.
    Bearer {
        /// The secret's name.
        secret: String,
    },
    /// The header `authorization: Basic …`.
    Basic {
        /// The user.
        user: String,
        /// The name of the secret with the password.
        secret: String,
    },
    /// The header `authorization: Basic …`, from a secret that is `user:password`.
    BasicPair {
        /// The secret's name.
        secret: String,
    },
    /// A header.
    Header {
        /// The name of the header.
        name: String,
        /// The secret's name.
        secret: String,
        /// The text before the secret, including the space between them.
        prefix: Option<String>,
    },
    /// A query parameter.
    Query {
        /// The name of the parameter.
        name: String,
        /// The secret's name.
        secret: String,
    },
    /// A cookie.
    Cookie {
        /// The name of the cookie.
        name: String,
        /// The secret's name.
        secret: String,
    },
    /// The header `authorization: Bearer …`, with a token from the OAuth 2 client credentials grant.
    OAuth2(ClientCredentials),
}

/// The OAuth 2 client credentials grant (RFC 6749, section 4.4).
///
/// ```
/// use haft_tools::http::ClientCredentials;
///
/// let credentials = ClientCredentials::new("https://id.example/token", "client-1", "crm").scope("contacts.read");
/// assert_eq!(credentials.client_secret, "crm");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ClientCredentials {
    /// The token endpoint's absolute URL.
    pub token_url: String,
    /// The client's id.
    pub client_id: String,
    /// The name of the secret with the client's secret.
    pub client_secret: String,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The token request's parameter `audience`.
    pub audience: Option<String>,
    /// The place for the client's credentials in the token request.
    pub style: ClientAuthStyle,
}

/// The place for a client's credentials in a token request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClientAuthStyle {
    /// The header `authorization: Basic …`.
    #[default]
    Basic,
    /// The body parameters `client_id` and `client_secret`.
    Body,
}

impl HttpAuth {
    /// Creates the header `authorization: Bearer …` from the secret with this name.
    #[must_use]
    pub fn bearer(secret: impl Into<String>) -> Self {
        Self::Bearer { secret: secret.into() }
    }

    /// Creates the header `authorization: Basic …` from a user and the secret with this name.
    #[must_use]
    pub fn basic(user: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::Basic { user: user.into(), secret: secret.into() }
    }

    /// Creates a header from the secret with this name.
    #[must_use]
    pub fn header(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::Header { name: name.into(), secret: secret.into(), prefix: None }
    }

    /// Creates a query parameter from the secret with this name.
    #[must_use]
    pub fn query(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::Query { name: name.into(), secret: secret.into() }
    }

    /// Creates a cookie from the secret with this name.
    #[must_use]
    pub fn cookie(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self::Cookie { name: name.into(), secret: secret.into() }
    }

    /// Returns the secret's name.
    #[must_use]
    pub fn secret_name(&self) -> &str {
        match self {
            Self::Bearer { secret }
            | Self::Basic { secret, .. }
            | Self::BasicPair { secret }
            | Self::Header { secret, .. }
            | Self::Query { secret, .. }
            | Self::Cookie { secret, .. } => secret,
            Self::OAuth2(credentials) => &credentials.client_secret,
        }
    }

    /// Adds the settings' faults.
    pub(crate) fn check(&self, faults: &mut Vec<EntryFault>) {
        let at = match self {
            Self::Bearer { .. } => "/auth/bearer",
            Self::Basic { user, .. } => {
                if user.contains(':') || user.chars().any(char::is_control) {
                    let message = "the user must contain neither colons nor control characters";
                    faults.push(EntryFault::at("/auth/basic/user", message));
                }
                "/auth/basic/password"
            }
            Self::BasicPair { .. } => "/auth/basic",
            Self::Header { name, prefix, .. } => {
                let fault = header::name_fault(name, HeaderOrigin::Secret);
                faults.extend(fault.map(|fault| EntryFault::at("/auth/header/name", fault)));
                if prefix.as_deref().is_some_and(|prefix| !header::is_value(prefix)) {
                    let message = "the prefix must contain visible ASCII characters and spaces only";
                    faults.push(EntryFault::at("/auth/header/prefix", message));
                }
                "/auth/header/secret"
            }
            Self::Query { name, .. } => {
                if name.is_empty() {
                    faults.push(EntryFault::at("/auth/query/name", "a parameter of the query must have a name"));
                }
                "/auth/query/secret"
            }
            Self::Cookie { name, .. } => {
                if !header::is_cookie_name(name) {
                    faults.push(EntryFault::at("/auth/cookie/name", format!("`{name}` is no valid name of a cookie")));
                }
                "/auth/cookie/secret"
            }
            Self::OAuth2(credentials) => {
                if let Err(error) = credentials.token_url.parse::<UrlTemplate>().and_then(UrlTemplate::constant) {
                    faults.push(EntryFault::at("/auth/oauth2/token-url", error.to_string()));
                }
                "/auth/oauth2/client-secret"
            }
        };
        if self.secret_name().is_empty() {
            faults.push(EntryFault::at(at, "the name of the secret must not be empty"));
        }
    }
}

impl ClientCredentials {
    /// Creates credentials without scopes, sent by basic authentication.
    #[must_use]
    pub fn new(token_url: impl Into<String>, client_id: impl Into<String>, client_secret: impl Into<String>) -> Self {
        Self {
            token_url: token_url.into(),
            client_id: client_id.into(),
            client_secret: client_secret.into(),
            scopes: Vec::new(),
            audience: None,
            style: ClientAuthStyle::Basic,
        }
    }

    /// Adds a scope.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the audience.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Some(audience.into());
        self
    }

    /// Sets the place for the credentials in the token request.
    #[must_use]
    pub fn style(mut self, style: ClientAuthStyle) -> Self {
        self.style = style;
        self
    }
}
