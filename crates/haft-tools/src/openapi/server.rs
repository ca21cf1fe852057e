//! The URL that an operation is sent to.
//!
//! Servers are tried in order, and the first with `https` wins, else the first with `http`. The options or the document
//! state the variables' values, never arguments: a request's origin is constant.

use serde_json::{Map, Value, json};

use super::operation::Operation;
use super::options::ImportOptions;
use super::skip::SkipReason;

/// The most servers to try for one operation.
const MAX_SERVERS: usize = 16;

/// Returns the URL that an operation's path is appended to, without a trailing slash.
pub(super) fn base_url(root: &Value, operation: &Operation<'_>, options: &ImportOptions) -> Result<String, SkipReason> {
    if let Some(url) = &options.base_url {
        return path_prefix(url).map_err(|fault| SkipReason::NoServer { fault });
    }
    let lists = [operation.fields.get("servers"), operation.item.get("servers"), root.get("servers")];
    let listed = lists.into_iter().flatten().filter_map(Value::as_array).find(|list| !list.is_empty());
    let mut fault = "there is none".to_owned();
    let mut insecure = None;
    // A document without servers means the server that it is from.
    let urls = listed.map_or_else(
        || vec![server_url(&json!({"url": "/"}), options)],
        |list| list.iter().take(MAX_SERVERS).map(|server| server_url(server, options)).collect(),
    );
    for url in urls {
        match url {
            Ok(url) if url.starts_with("https://") => return Ok(url),
            Ok(url) => insecure = insecure.or(Some(url)),
            Err(found) => fault = found,
        }
    }
    insecure.ok_or(SkipReason::NoServer { fault })
}

fn server_url(server: &Value, options: &ImportOptions) -> Result<String, String> {
    let url = server.get("url").and_then(Value::as_str).ok_or("a server has no `url`")?;
    let no_variables = Map::new();
    let variables = server.get("variables").and_then(Value::as_object).unwrap_or(&no_variables);
    path_prefix(&absolute(&expanded(url.trim(), variables, options)?, options)?)
}

/// Checks that paths can be appended to a URL, and removes trailing slashes.
fn path_prefix(url: &str) -> Result<String, String> {
    if url.contains(['?', '#', '{', '}']) {
        return Err(format!("`{url}` contains a query, a fragment or braces"));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

fn expanded(url: &str, variables: &Map<String, Value>, options: &ImportOptions) -> Result<String, String> {
    let mut expanded = String::with_capacity(url.len());
    let mut rest = url;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`{url}` has a brace without a counterpart"))?;
        let value = match (options.server_variables.get(name), variables.get(name).and_then(|own| own.get("default"))) {
            (Some(value), _) => value.clone(),
            (None, Some(Value::String(value))) if !value.contains(['{', '}']) => value.clone(),
            (None, Some(value @ (Value::Number(_) | Value::Bool(_)))) => value.to_string(),
            _ => return Err(format!("the server variable `{name}` has no value")),
        };
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Resolves a URL against the document's location.
fn absolute(url: &str, options: &ImportOptions) -> Result<String, String> {
    let lower = url.to_ascii_lowercase();
    if lower.starts_with("https://") || lower.starts_with("http://") {
        // The scheme is compared in lower case from here on.
        let scheme_len = url.find(':').unwrap_or_default();
        return Ok(format!(
            "{}{}",
            lower.get(..scheme_len).unwrap_or_default(),
            url.get(scheme_len..).unwrap_or_default()
        ));
    }
    if let Some(host) = url.strip_prefix("//") {
        return Ok(format!("https://{host}"));
    }
    let has_scheme = url.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'));
    if has_scheme {
        return Err(format!("the scheme of `{url}` is not http"));
    }
    let location = options.location.as_deref().ok_or_else(|| format!("`{url}` is relative"))?;
    let (scheme, rest) = location.split_once("://").ok_or("the location of the document is not absolute")?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, folder) = match rest.split_once('/') {
        Some((host, path)) => (host, path.rsplit_once('/').map_or("", |(folder, _)| folder)),
        None => (rest, ""),
    };
    let relative = url.strip_prefix("./").unwrap_or(url);
    if relative.split('/').any(|segment| segment == "..") {
        return Err(format!("`{url}` leads above the location of the document"));
    }
    Ok(match relative.strip_prefix('/') {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None if folder.is_empty() => format!("{scheme}://{host}/{relative}"),
        None => format!("{scheme}://{host}/{folder}/{relative}"),
    })
}
