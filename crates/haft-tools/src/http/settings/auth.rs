//! The settings of the authentication.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::auth::{ClientAuthStyle, ClientCredentials, HttpAuth};

/// The authentication. All forms that are set are used together. Secrets are referred to by their names.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct AuthSettings {
    /// The name of the secret that is sent as `authorization: Bearer …`.
    bearer: Option<String>,
    /// A user and a password that are sent as `authorization: Basic …`.
    basic: Option<BasicSettings>,
    /// A secret that is sent in a header.
    header: Option<HeaderAuthSettings>,
    /// A secret that is sent in the query. Prefer a header: URLs are written to logs by many servers.
    query: Option<NamedAuthSettings>,
    /// A secret that is sent as a cookie.
    cookie: Option<NamedAuthSettings>,
    /// A token that is fetched by the OAuth 2 client credentials grant and sent as `authorization: Bearer …`.
    oauth2: Option<OAuthSettings>,
}

/// A user and a password.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum BasicSettings {
    /// The name of a secret of the form `user:password`.
    Pair(String),
    /// A user and the name of a secret.
    User(BasicUserSettings),
}

/// A user and the name of a secret.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct BasicUserSettings {
    /// The user.
    user: String,
    /// The name of the secret that is the password.
    password: String,
}

/// A secret in a header.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct HeaderAuthSettings {
    /// The name of the header.
    name: String,
    /// The name of the secret.
    secret: String,
    /// A text before the secret, with the space between them, such as `"Token "`.
    prefix: Option<String>,
}

/// A secret in the query or in a cookie.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct NamedAuthSettings {
    /// The name of the parameter or the cookie.
    name: String,
    /// The name of the secret.
    secret: String,
}

/// The OAuth 2 client credentials grant.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct OAuthSettings {
    /// The absolute URL of the token endpoint.
    token_url: String,
    /// The id of the client.
    client_id: String,
    /// The name of the secret that is the secret of the client.
    client_secret: String,
    /// The scopes to ask for.
    #[serde(default)]
    scopes: Vec<String>,
    /// The parameter `audience` of the token request.
    audience: Option<String>,
    /// The place of the client's credentials in the token request, `basic` by default.
    #[serde(default)]
    style: OAuthStyleSetting,
}

/// The place of the client's credentials in a token request.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum OAuthStyleSetting {
    /// The header `authorization`.
    #[default]
    Basic,
    /// The body.
    Body,
}

impl AuthSettings {
    pub(crate) fn into_auth(self) -> Vec<HttpAuth> {
        let Self { bearer, basic, header, query, cookie, oauth2 } = self;
        let mut all = Vec::new();
        all.extend(bearer.map(HttpAuth::bearer));
        all.extend(basic.map(BasicSettings::into_auth));
        all.extend(header.map(HeaderAuthSettings::into_auth));
        all.extend(query.map(|NamedAuthSettings { name, secret }| HttpAuth::Query { name, secret }));
        all.extend(cookie.map(|NamedAuthSettings { name, secret }| HttpAuth::Cookie { name, secret }));
        all.extend(oauth2.map(|settings| HttpAuth::OAuth2(settings.into_credentials())));
        all
    }
}

impl BasicSettings {
    pub(crate) fn into_auth(self) -> HttpAuth {
        match self {
            Self::Pair(secret) => HttpAuth::BasicPair { secret },
            Self::User(BasicUserSettings { user, password }) => HttpAuth::basic(user, password),
        }
    }
}

impl HeaderAuthSettings {
    pub(crate) fn into_auth(self) -> HttpAuth {
        let Self { name, secret, prefix } = self;
        HttpAuth::Header { name, secret, prefix }
    }
}

impl OAuthSettings {
    fn into_credentials(self) -> ClientCredentials {
        let Self { token_url, client_id, client_secret, scopes, audience, style } = self;
        let style = match style {
            OAuthStyleSetting::Basic => ClientAuthStyle::Basic,
            OAuthStyleSetting::Body => ClientAuthStyle::Body,
        };
        ClientCredentials { token_url, client_id, client_secret, scopes, audience, style }
    }
}
