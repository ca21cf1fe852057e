//! Security schemes as request authentication.
//!
//! A document lists alternatives, each of which requires some schemes together. The first alternative whose schemes all
//! have a credential is used. Without one, requests are sent without authentication: the document alone never decides
//! that a secret is sent.

use serde_json::{Map, Value};

use super::document::OpenApi;
use super::operation::Operation;
use super::options::{ImportOptions, SchemeCredential};
use super::skip::SkipReason;
use crate::http::{ClientCredentials, HttpAuth};

/// The most alternatives to try for one operation.
const MAX_ALTERNATIVES: usize = 64;
/// The most schemes that may be required together.
const MAX_SCHEMES: usize = 16;

/// Returns an operation's authentication.
pub(super) fn authentication(
    document: &OpenApi,
    operation: &Operation<'_>,
    options: &ImportOptions,
) -> Result<Vec<HttpAuth>, SkipReason> {
    let listed = operation.fields.get("security").or_else(|| document.root.get("security"));
    let alternatives = listed.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut unsupported = None;
    let mut is_open = alternatives.is_empty();
    for alternative in alternatives.iter().take(MAX_ALTERNATIVES) {
        let Some(schemes) = alternative.as_object() else { continue };
        match required(document, schemes, options) {
            Ok(Some(all)) if !all.is_empty() => return Ok(all),
            Ok(_) => is_open = true,
            Err(reason) => unsupported = unsupported.or(Some(reason)),
        }
    }
    match unsupported {
        Some(reason) if !is_open => Err(reason),
        _ => Ok(Vec::new()),
    }
}

/// Returns one alternative's authentication, or `None` if a scheme has no credential.
fn required(
    document: &OpenApi,
    schemes: &Map<String, Value>,
    options: &ImportOptions,
) -> Result<Option<Vec<HttpAuth>>, SkipReason> {
    let mut all = Some(Vec::new());
    if schemes.len() > MAX_SCHEMES {
        let scheme = schemes.keys().next().cloned().unwrap_or_default();
        let fault = format!("it is required together with {} others", schemes.len() - 1);
        return Err(SkipReason::UnsupportedSecurity { scheme, fault });
    }
    for (name, scopes) in schemes {
        let unsupported =
            |fault: &str| SkipReason::UnsupportedSecurity { scheme: name.clone(), fault: fault.to_owned() };
        let listed = document.root.get("components").and_then(|components| components.get("securitySchemes"));
        let Some(scheme) = listed.and_then(|listed| listed.get(name)) else {
            return Err(unsupported("the document does not define it"));
        };
        let scheme = document.follow(scheme)?;
        let credential = options.credentials.get(name);
        // An unsupported scheme is found even without a credential.
        let probe = SchemeCredential::new("");
        let auth = auth(scheme, credential.unwrap_or(&probe), scopes).map_err(|fault| unsupported(&fault))?;
        match (&mut all, credential) {
            (Some(all), Some(_)) => all.push(auth),
            _ => all = None,
        }
    }
    Ok(all)
}

fn auth(scheme: &Value, credential: &SchemeCredential, scopes: &Value) -> Result<HttpAuth, String> {
    let text = |field: &str| scheme.get(field).and_then(Value::as_str).unwrap_or_default();
    let SchemeCredential { secret, user, client_id } = credential;
    let secret = secret.clone();
    Ok(match text("type") {
        "apiKey" if text("name").is_empty() => return Err("it has no `name`".to_owned()),
        "apiKey" => match text("in") {
            "header" => HttpAuth::header(text("name"), secret),
            "query" => HttpAuth::query(text("name"), secret),
            "cookie" => HttpAuth::cookie(text("name"), secret),
            other => return Err(format!("a key can't be sent in `{other}`")),
        },
        "http" => match (&*text("scheme").to_ascii_lowercase(), user) {
            ("bearer", _) => HttpAuth::bearer(secret),
            ("basic", Some(user)) => HttpAuth::basic(user, secret),
            ("basic", None) => HttpAuth::BasicPair { secret },
            (other, _) => return Err(format!("the HTTP scheme `{other}` is unknown")),
        },
        "oauth2" => match (client_id, token_url(scheme)) {
            (Some(client), Some(url)) => {
                let scopes = scopes.as_array().into_iter().flatten().filter_map(Value::as_str);
                let credentials = ClientCredentials::new(url, client, secret);
                HttpAuth::OAuth2(scopes.fold(credentials, ClientCredentials::scope))
            }
            (Some(_), None) => return Err("it has no client credentials flow with a `tokenUrl`".to_owned()),
            (None, _) => HttpAuth::bearer(secret),
        },
        "openIdConnect" => HttpAuth::bearer(secret),
        "mutualTLS" => return Err("client certificates can't be sent".to_owned()),
        other => return Err(format!("the type `{other}` is unknown")),
    })
}

fn token_url(scheme: &Value) -> Option<&str> {
    scheme.get("flows")?.get("clientCredentials")?.get("tokenUrl")?.as_str()
}
