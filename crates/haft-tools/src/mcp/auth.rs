//! The authentication at a server behind a URL: secrets by name, or a login of the person.

use std::collections::BTreeMap;

use haft_registry::EntryFault;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::http::{BasicSettings, HeaderAuthSettings, HttpAuth, constant_fault};

/// The authentication.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum McpAuthSetting {
    /// `"oauth"`: a login in the browser.
    Login(LoginWord),
    /// Secrets, or a login with settings.
    Table(Box<McpAuthSettings>),
}

/// The word for a login without settings.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LoginWord {
    /// A login in the browser.
    Oauth,
}

/// The authentication. All forms that are set are used together. Secrets are referred to by their names.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct McpAuthSettings {
    /// The name of the secret that is sent as `authorization: Bearer …`.
    bearer: Option<String>,
    /// A user and a password that are sent as `authorization: Basic …`.
    basic: Option<BasicSettings>,
    /// A secret that is sent in a header, or a list of them.
    header: Option<HeaderList>,
    /// A login in the browser, with `haft mcp login`. An empty table is the same as `auth = "oauth"`.
    oauth: Option<LoginSettings>,
}

/// One header with a secret, or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum HeaderList {
    One(HeaderAuthSettings),
    Several(Vec<HeaderAuthSettings>),
}

/// The settings of logins.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct LoginSettings {
    /// The scopes to request. Without any, those that the server names are requested.
    #[serde(default)]
    pub(super) scopes: Vec<String>,
    /// The id of a client that is registered with the authorization server. Without it, one is registered if the server
    /// permits that.
    pub(super) client_id: Option<String>,
    /// The name of the secret that is the secret of the registered client.
    pub(super) client_secret: Option<String>,
    /// The `https` URL of a document that describes the client, for servers that take it as the id.
    pub(super) client_metadata_url: Option<String>,
}

/// The credentials of requests.
#[derive(Debug, Default)]
pub(super) struct McpAuth {
    pub(super) secrets: Vec<HttpAuth>,
    pub(super) login: Option<LoginSettings>,
}

impl McpAuthSetting {
    /// Returns what authenticates requests, and adds the settings' faults.
    pub(super) fn read(self, faults: &mut Vec<EntryFault>) -> McpAuth {
        let McpAuthSettings { bearer, basic, header, oauth } = match self {
            Self::Login(LoginWord::Oauth) => {
                return McpAuth { secrets: Vec::new(), login: Some(LoginSettings::default()) };
            }
            Self::Table(settings) => *settings,
        };
        let is_authorized = bearer.is_some() || basic.is_some();
        if bearer.is_some() && basic.is_some() {
            let message = "`bearer` and `basic` both set the header `authorization`; remove one";
            faults.push(EntryFault::at("/auth/basic", message));
        }
        if let Some(login) = &oauth {
            login.check(faults);
            if is_authorized {
                let message = "a login sets the header `authorization`, as `bearer` and `basic` do; remove one";
                faults.push(EntryFault::at("/auth/oauth", message));
            }
        }
        let mut secrets = Vec::new();
        secrets.extend(bearer.map(HttpAuth::bearer));
        secrets.extend(basic.map(BasicSettings::into_auth));
        secrets.extend(match header {
            None => Vec::new(),
            Some(HeaderList::One(header)) => vec![header.into_auth()],
            Some(HeaderList::Several(headers)) => headers.into_iter().map(HeaderAuthSettings::into_auth).collect(),
        });
        for auth in &secrets {
            auth.check(faults);
        }
        let names = secrets.iter().filter_map(|auth| match auth {
            HttpAuth::Header { name, .. } => Some(name.to_ascii_lowercase()),
            _ => None,
        });
        let mut taken: Vec<String> = Vec::new();
        for name in names {
            if taken.contains(&name) || (name == "authorization" && (is_authorized || oauth.is_some())) {
                faults.push(EntryFault::at("/auth/header", format!("the header `{name}` is set twice; remove one")));
            }
            taken.push(name);
        }
        McpAuth { secrets, login: oauth }
    }
}

/// The headers that the protocol sets.
const OF_PROTOCOL: [&str; 6] =
    ["accept", "content-type", "last-event-id", "mcp-method", "mcp-protocol-version", "mcp-session-id"];

impl McpAuth {
    /// Adds the faults of headers without secrets.
    pub(super) fn check_headers(&self, headers: &BTreeMap<String, String>, faults: &mut Vec<EntryFault>) {
        for (name, value) in headers {
            let lower = name.to_ascii_lowercase();
            let is_secret =
                |auth: &HttpAuth| matches!(auth, HttpAuth::Header { name, .. } if name.eq_ignore_ascii_case(&lower));
            let fault = match &*lower {
                name if OF_PROTOCOL.contains(&name) => {
                    Some(format!("the header `{name}` is set by the protocol; remove it"))
                }
                "cookie" => Some("credentials are named secrets; set `auth.header` in place of `cookie`".to_owned()),
                name if self.secrets.iter().any(is_secret) => {
                    Some(format!("`auth` sets the header `{name}` as well; remove one"))
                }
                _ => constant_fault(name, value),
            };
            let pointer = format!("/headers/{}", name.replace('~', "~0").replace('/', "~1"));
            faults.extend(fault.map(|fault| EntryFault::at(pointer, fault)));
        }
    }
}

impl LoginSettings {
    fn check(&self, faults: &mut Vec<EntryFault>) {
        let mut reject = |key: &str, message: &str| faults.push(EntryFault::at(format!("/auth/oauth/{key}"), message));
        if self.scopes.iter().any(|scope| scope.is_empty() || scope.contains(char::is_whitespace)) {
            reject("scopes", "a scope is a text without spaces; write each as an item of its own");
        }
        if self.client_id.as_deref() == Some("") {
            reject("client-id", "must not be empty");
        }
        match (&self.client_id, self.client_secret.as_deref()) {
            (_, Some("")) => reject("client-secret", "the name of the secret must not be empty"),
            (None, Some(_)) => reject("client-secret", "belongs to a registered client; set `client-id` as well"),
            _ => {}
        }
        if self.client_metadata_url.as_deref().is_some_and(|url| !url.starts_with("https://")) {
            reject("client-metadata-url", "must be an `https` URL");
        }
    }
}
