//! The privileges that trust in a file grants, for people and as JSON.

use std::fmt::Write;

use haft::registry::SecretOrigin;
use haft::registry::file::{Loaded, LoadedEntry, Privilege, PrivilegeKind, TrustStatus};
use serde_json::{Map, Value, json};

use crate::command_line::command_line;
use crate::terminal::printable;

/// Returns the list of what the file may do if it is trusted, each with its place.
pub(crate) fn text(loaded: &Loaded) -> String {
    let path = loaded.path.display().to_string();
    if loaded.privileges.is_empty() {
        return format!("{} contains nothing that requires trust", printable(&path));
    }
    let mut text = format!("If it is trusted, {} may", printable(&path));
    for privilege in &loaded.privileges {
        let _ = write!(text, "\n  - {}", printable(&sentence(&privilege.kind)));
        let _ = write!(text, "\n      {}", printable(&place(privilege)));
        for user in users(loaded, privilege) {
            let _ = write!(text, "\n      used by {}", printable(&user));
        }
    }
    let others: Vec<String> = loaded.files.iter().skip(1).map(|file| file.path.display().to_string()).collect();
    if !others.is_empty() {
        let _ = write!(text, "\nThe trust covers the files that it reads:");
        for other in others {
            let _ = write!(text, "\n  - {}", printable(&other));
        }
    }
    text
}

/// Returns the file, its trust and its privileges.
pub(crate) fn json(loaded: &Loaded, trust: TrustStatus) -> Value {
    let files: Vec<Value> = loaded.files.iter().map(|file| json!(file.path.display().to_string())).collect();
    let privileges: Vec<Value> = loaded.privileges.iter().map(|privilege| privilege_json(loaded, privilege)).collect();
    json!({
        "path": loaded.path.display().to_string(),
        "trust": status_name(trust),
        "files": files,
        "privileges": privileges,
    })
}

/// Returns the name of a trust status in JSON.
pub(crate) fn status_name(trust: TrustStatus) -> &'static str {
    match trust {
        TrustStatus::Trusted => "trusted",
        TrustStatus::Changed => "changed",
        TrustStatus::Unknown => "unknown",
    }
}

/// Returns the words about a trust status that follow the path of the file.
pub(crate) fn status_text(trust: TrustStatus) -> &'static str {
    match trust {
        TrustStatus::Trusted => "is trusted",
        TrustStatus::Changed => "has changed since it was trusted",
        TrustStatus::Unknown => "is not trusted",
    }
}

/// Returns what is read for a secret, such as `the variable GITHUB_TOKEN`.
pub(crate) fn origin_text(origin: &SecretOrigin) -> String {
    match origin {
        SecretOrigin::Env(variable) => format!("the variable {variable}"),
        SecretOrigin::File(path) => format!("the file {}", path.display()),
        _ => "the program".to_owned(),
    }
}

fn sentence(kind: &PrivilegeKind) -> String {
    match kind {
        PrivilegeKind::Entry { kind, settings } => entry_sentence(kind, settings),
        PrivilegeKind::Secret { name, origin } => format!("read the secret `{name}` from {}", origin_text(origin)),
        PrivilegeKind::Host(host) => format!("reach the host {host}, even if it is not public"),
        PrivilegeKind::Network(network) => format!("reach the network {network}, which is not public"),
        PrivilegeKind::Files(folder) => format!("read files in {}, outside of its folder", folder.display()),
        PrivilegeKind::Fetch => "fetch any public web page, so that what is read could be sent anywhere".to_owned(),
        PrivilegeKind::Replacement { name } => format!("replace the standard tool `{name}`"),
        other => format!("{other:?}"),
    }
}

fn entry_sentence(kind: &str, settings: &Map<String, Value>) -> String {
    let Some(argv) = settings.get("command").and_then(Value::as_array) else {
        return format!("use a tool of the kind `{kind}`: {}", Value::Object(settings.clone()));
    };
    let mut sentence = format!("start the command: {}", command_line(argv.iter().filter_map(Value::as_str)));
    if let Some(folder) = settings.get("folder").and_then(Value::as_str) {
        let _ = write!(sentence, " (in the folder {folder})");
    }
    for (variable, value) in settings.get("env").and_then(Value::as_object).into_iter().flatten() {
        let _ = write!(sentence, " (with {variable}={})", value.as_str().unwrap_or_default());
    }
    for (variable, secret) in settings.get("secret-env").and_then(Value::as_object).into_iter().flatten() {
        let _ = write!(sentence, " (with the secret `{}` as {variable})", secret.as_str().unwrap_or_default());
    }
    sentence
}

/// Returns the place of a privilege: the file, the line and the key.
fn place(privilege: &Privilege) -> String {
    let file = privilege.path.display();
    match privilege.position {
        Some(position) => format!("{file}:{}: {}", position.line, privilege.key),
        None => format!("{file}: {}", privilege.key),
    }
}

/// Returns the tools that read a secret, with the hosts that they send it to.
fn users(loaded: &Loaded, privilege: &Privilege) -> Vec<String> {
    let PrivilegeKind::Secret { name, .. } = &privilege.kind else { return Vec::new() };
    let reads = |entry: &&LoadedEntry| entry.secrets.contains(name);
    let user = |entry: &LoadedEntry| match entry.settings.get("url").and_then(Value::as_str) {
        Some(url) => format!("{} ({url})", entry.key),
        None => entry.key.clone(),
    };
    loaded.entries.iter().filter(reads).map(user).collect()
}

fn privilege_json(loaded: &Loaded, privilege: &Privilege) -> Value {
    let mut json = match &privilege.kind {
        PrivilegeKind::Entry { kind, settings } => json!({"type": "entry", "kind": kind, "settings": settings}),
        PrivilegeKind::Secret { name, origin } => {
            json!({"type": "secret", "name": name, "origin": origin_json(origin), "used_by": users(loaded, privilege)})
        }
        PrivilegeKind::Host(host) => json!({"type": "host", "host": host}),
        PrivilegeKind::Network(network) => json!({"type": "network", "network": network}),
        PrivilegeKind::Files(folder) => json!({"type": "files", "folder": folder.display().to_string()}),
        PrivilegeKind::Fetch => json!({"type": "fetch"}),
        PrivilegeKind::Replacement { name } => json!({"type": "replacement", "name": name}),
        other => json!({"type": "other", "text": format!("{other:?}")}),
    };
    json["key"] = json!(privilege.key);
    json["file"] = json!(privilege.path.display().to_string());
    if let Some(position) = privilege.position {
        json["line"] = json!(position.line);
        json["column"] = json!(position.column);
    }
    json
}

fn origin_json(origin: &SecretOrigin) -> Value {
    match origin {
        SecretOrigin::Env(variable) => json!({"env": variable}),
        SecretOrigin::File(path) => json!({"file": path.display().to_string()}),
        _ => Value::Null,
    }
}
