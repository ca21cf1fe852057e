//! Secrets of a new entry: which go where, and which the file gets anew.
//!
//! A secret is written as `NAME`, one of the file, or as `NAME=VARIABLE`, which adds it to the file.

use haft::workspace::Loaded;
use toml_edit::{InlineTable, Value};

use super::entry::new_secret;
use crate::error::Fault;

/// The secrets to add to a file, each with its environment variable.
type NewSecrets = Vec<(String, String)>;

/// The authentication of an HTTP tool.
#[derive(Debug, clap::Args)]
pub(super) struct AuthOptions {
    /// The secret that is sent as a bearer token: the name of a secret of the file, or `NAME=VARIABLE` to define it by
    /// an environment variable
    #[arg(long, value_name = "SECRET")]
    bearer: Option<String>,
    /// The password of basic authentication, after the user: `USER:SECRET`. A secret alone contains `user:password`
    #[arg(long, value_name = "USER:SECRET", conflicts_with = "bearer")]
    basic: Option<String>,
    /// A header that contains a secret, such as `X-Api-Key=shop`, or `X-Api-Key=shop=SHOP_KEY` to define the secret
    #[arg(long, value_name = "NAME=SECRET")]
    auth_header: Option<String>,
}

impl AuthOptions {
    /// Returns the entry's key `auth`, and the secrets to add to the file.
    pub(super) fn read(&self, before: &Loaded) -> Result<(InlineTable, NewSecrets), Fault> {
        let Self { bearer, basic, auth_header } = self;
        let (mut auth, mut secrets) = (InlineTable::new(), NewSecrets::new());
        if let Some(bearer) = bearer {
            auth.insert("bearer", read("--bearer ", bearer, before, &mut secrets)?.into());
        }
        if let Some(basic) = basic {
            let basic: Value = match basic.split_once(':') {
                Some((user, secret)) => {
                    let password = read(&format!("--basic {user}:"), secret, before, &mut secrets)?;
                    table([("user", user), ("password", password)])
                }
                None => read("--basic ", basic, before, &mut secrets)?.into(),
            };
            auth.insert("basic", basic);
        }
        if let Some(header) = auth_header {
            let (name, secret) = named("--auth-header", header, "X-Api-Key=shop")?;
            let secret = read(&format!("--auth-header {name}="), secret, before, &mut secrets)?;
            auth.insert("header", table([("name", name), ("secret", secret)]));
        }
        Ok((auth, secrets))
    }
}

/// Returns an import's key `security`, and the secrets to add to the file.
pub(super) fn security(schemes: &[String], before: &Loaded) -> Result<(InlineTable, NewSecrets), Fault> {
    let (mut security, mut secrets) = (InlineTable::new(), NewSecrets::new());
    for text in schemes {
        let (scheme, secret) = named("--security", text, "apiKey=shop")?;
        let value = match secret.split_once(':') {
            Some((user, secret)) => {
                let option = format!("--security {scheme}={user}:");
                table([("secret", read(&option, secret, before, &mut secrets)?), ("user", user)])
            }
            None => read(&format!("--security {scheme}="), secret, before, &mut secrets)?.into(),
        };
        if security.insert(scheme, value).is_some() {
            let fault = Fault::new(format!("the security scheme `{scheme}` is written twice"));
            return Err(fault.advice("keep one of them"));
        }
    }
    Ok((security, secrets))
}

/// Splits `NAME=SECRET`.
fn named<'t>(option: &str, text: &'t str, example: &str) -> Result<(&'t str, &'t str), Fault> {
    text.split_once('=').filter(|(name, secret)| !name.is_empty() && !secret.is_empty()).ok_or_else(|| {
        Fault::new(format!("`{option} {text}` names no secret")).advice(format!("write `{option} {example}`"))
    })
}

/// Returns the name of a secret, and notes the secret if it is new.
fn read<'t>(option: &str, text: &'t str, before: &Loaded, secrets: &mut NewSecrets) -> Result<&'t str, Fault> {
    let (name, variable) = text.split_once('=').map_or((text, None), |(name, variable)| (name, Some(variable)));
    // One option may define what another one uses.
    if variable.is_none() && secrets.iter().any(|(known, _)| known == name) {
        return Ok(name);
    }
    secrets.extend(new_secret(option, name, variable, before)?);
    Ok(name)
}

fn table<const N: usize>(members: [(&str, &str); N]) -> Value {
    members.into_iter().collect::<InlineTable>().into()
}
