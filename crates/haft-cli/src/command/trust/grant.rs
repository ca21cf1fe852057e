//! The privileges that trust in a file grants, for people and as JSON.
//!
//! A person decides by this list, and the file's author wants it to look harmless. So every fact is one line with all
//! characters visible, and a secret's recipients are those that the tools really use.

use std::path::Path;

use haft::registry::{Recipient, SecretOrigin, StartedCommand, command_line};
use haft::workspace::{Loaded, LoadedEntry, Privilege, PrivilegeKind, SetAsideEntry, TrustStatus};
use serde_json::{Value, json};

use crate::terminal::escaped;

/// Returns the list of what the file may do if it is trusted, each with its place and its facts, one per line.
pub(crate) fn text(loaded: &Loaded) -> String {
    let path = escaped(&loaded.path.display().to_string());
    let first = if loaded.needs_trust() {
        format!("If it is trusted, {path} may")
    } else {
        format!("{path} contains nothing that requires trust")
    };
    let mut lines = vec![first];
    for privilege in &loaded.privileges {
        lines.push(format!("  - {}", escaped(&sentence(privilege))));
        let facts = std::iter::once(place(privilege)).chain(facts(loaded, privilege));
        lines.extend(facts.map(|fact| format!("      {}", escaped(&fact))));
    }
    if !loaded.set_aside.is_empty() {
        lines.push("Entries with faults stay set aside:".to_owned());
    }
    for entry in &loaded.set_aside {
        lines.push(format!("  - {}", escaped(&entry.key)));
        lines.extend(entry.faults.iter().map(|fault| format!("      {}", escaped(&fault.to_string()))));
    }
    let others = loaded.files.iter().skip(1).map(|file| format!("  - {}", escaped(&file.path.display().to_string())));
    let mut others = others.peekable();
    if others.peek().is_some() {
        lines.push("The trust covers the files that it reads:".to_owned());
    }
    lines.extend(others);
    lines.join("\n")
}

/// Returns the file, its trust and its privileges.
pub(crate) fn json(loaded: &Loaded, trust: TrustStatus) -> Value {
    let files: Vec<Value> = loaded.files.iter().map(|file| json!(file.path.display().to_string())).collect();
    let privileges: Vec<Value> = loaded.privileges.iter().map(|privilege| privilege_json(loaded, privilege)).collect();
    let set_aside: Vec<Value> = loaded.set_aside.iter().map(set_aside_json).collect();
    json!({
        "path": loaded.path.display().to_string(),
        "trust": status_name(trust),
        "files": files,
        "privileges": privileges,
        "set_aside": set_aside,
    })
}

/// Returns a trust status's name in JSON.
pub(crate) fn status_name(trust: TrustStatus) -> &'static str {
    match trust {
        TrustStatus::Trusted => "trusted",
        TrustStatus::Changed => "changed",
        TrustStatus::Unknown => "unknown",
    }
}

/// Returns the words about a trust status that follow the file's path.
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

fn sentence(privilege: &Privilege) -> String {
    match &privilege.kind {
        PrivilegeKind::Reach(recipient) => match recipient {
            Recipient::Host(origin) => format!("send requests to {origin}"),
            Recipient::Command(command) => format!("start the command: {}", argv_text(command)),
            Recipient::Files(folder) if !privilege.needs_trust => {
                format!("read the files in {}, also if it is not trusted", folder.display())
            }
            Recipient::Files(folder) => format!("read the files in {}, outside of its folder", folder.display()),
            other => format!("use {}", recipient_text(other)),
        },
        PrivilegeKind::Secret { name, origin } => format!("read the secret `{name}` from {}", origin_text(origin)),
        PrivilegeKind::PrivateHost(host) => format!("reach the host {host}, even if it is not public"),
        PrivilegeKind::PrivateNetwork(network) => format!("reach the network {network}, which is not public"),
        PrivilegeKind::ListedHost(host) => format!("reach the host {host} through a proxy, even if it is not public"),
        PrivilegeKind::Organisation(path) => {
            format!("use the file of an organisation at {}, outside of its folder", path.display())
        }
        PrivilegeKind::Fetch => "fetch any public web page, so that what is read could be sent anywhere".to_owned(),
        PrivilegeKind::Replacement { name } => format!("replace the standard tool `{name}`"),
        other => format!("{other:?}"),
    }
}

/// Returns a privilege's place: the file, the line and the key.
fn place(privilege: &Privilege) -> String {
    let file = privilege.path.display();
    match privilege.position {
        Some(position) => format!("{file}:{}: {}", position.line, privilege.key),
        None => format!("{file}: {}", privilege.key),
    }
}

/// Returns the facts about a privilege: a command's surroundings, a secret's recipients.
fn facts(loaded: &Loaded, privilege: &Privilege) -> Vec<String> {
    match &privilege.kind {
        PrivilegeKind::Reach(Recipient::Command(command)) => command_facts(command, &privilege.path),
        PrivilegeKind::Secret { name, .. } => {
            let fact = |(entry, recipient): (&LoadedEntry, &Recipient)| match recipient {
                Recipient::Host(origin) => format!("sent to {origin} by {}", entry.key),
                other => format!("given to {} by {}", recipient_text(other), entry.key),
            };
            recipients(loaded, name).map(fact).collect()
        }
        _ => Vec::new(),
    }
}

fn command_facts(command: &StartedCommand, file: &Path) -> Vec<String> {
    let StartedCommand { folder, env, secret_env, uncovered, .. } = command;
    // A link in place of the folder would hide which one it is.
    let canonical = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = canonical(folder);
    let is_own = canonical(file).parent() == Some(&folder);
    let folder = (!is_own).then(|| format!("in the folder {}", folder.display()));
    let variables = env.iter().map(|(variable, value)| format!("with {variable}={value}"));
    let secrets = secret_env.iter().map(|(variable, secret)| format!("with the secret `{secret}` as {variable}"));
    let code = (!uncovered.is_empty()).then(|| {
        format!("runs code that this trust does not cover: {}", command_line(uncovered.iter().map(String::as_str)))
    });
    folder.into_iter().chain(variables).chain(secrets).chain(code).collect()
}

/// Returns a secret's recipients, with the entries whose tools use them.
fn recipients<'l>(loaded: &'l Loaded, secret: &'l str) -> impl Iterator<Item = (&'l LoadedEntry, &'l Recipient)> {
    let of_entry =
        move |entry: &'l LoadedEntry| entry.reach.recipients_of(secret).map(move |recipient| (entry, recipient));
    loaded.entries.iter().flat_map(of_entry)
}

fn recipient_text(recipient: &Recipient) -> String {
    match recipient {
        Recipient::Host(origin) => origin.clone(),
        Recipient::Command(command) => format!("the command {}", argv_text(command)),
        Recipient::Files(folder) => format!("the files in {}", folder.display()),
        Recipient::Program => "the program itself".to_owned(),
        other => format!("{other:?}"),
    }
}

fn argv_text(command: &StartedCommand) -> String {
    command_line(command.argv.iter().map(String::as_str))
}

fn privilege_json(loaded: &Loaded, privilege: &Privilege) -> Value {
    let mut json = match &privilege.kind {
        PrivilegeKind::Reach(recipient) => recipient_json(recipient),
        PrivilegeKind::Secret { name, origin } => {
            let recipient = |(entry, recipient): (&LoadedEntry, &Recipient)| {
                let mut json = recipient_json(recipient);
                json["entry"] = json!(entry.key);
                json
            };
            let recipients: Vec<Value> = recipients(loaded, name).map(recipient).collect();
            json!({"type": "secret", "name": name, "origin": origin_json(origin), "recipients": recipients})
        }
        PrivilegeKind::PrivateHost(host) => json!({"type": "private_host", "host": host}),
        PrivilegeKind::PrivateNetwork(network) => json!({"type": "private_network", "network": network}),
        PrivilegeKind::ListedHost(host) => json!({"type": "listed_host", "host": host}),
        PrivilegeKind::Organisation(path) => json!({"type": "organisation", "path": path.display().to_string()}),
        PrivilegeKind::Fetch => json!({"type": "fetch"}),
        PrivilegeKind::Replacement { name } => json!({"type": "replacement", "name": name}),
        other => json!({"type": "other", "text": format!("{other:?}")}),
    };
    json["needs_trust"] = json!(privilege.needs_trust);
    json["key"] = json!(privilege.key);
    json["file"] = json!(privilege.path.display().to_string());
    if let Some(position) = privilege.position {
        json["line"] = json!(position.line);
        json["column"] = json!(position.column);
    }
    json
}

fn set_aside_json(entry: &SetAsideEntry) -> Value {
    let faults: Vec<Value> = entry.faults.iter().map(|fault| json!(fault.to_string())).collect();
    json!({"key": entry.key, "file": entry.path.display().to_string(), "faults": faults})
}

fn recipient_json(recipient: &Recipient) -> Value {
    match recipient {
        Recipient::Host(origin) => json!({"type": "host", "host": origin}),
        Recipient::Command(StartedCommand { argv, folder, env, secret_env, uncovered, .. }) => {
            let folder = folder.display().to_string();
            json!({
                "type": "command", "argv": argv, "folder": folder, "env": env, "secret_env": secret_env,
                "uncovered": uncovered,
            })
        }
        Recipient::Files(folder) => json!({"type": "files", "folder": folder.display().to_string()}),
        Recipient::Program => json!({"type": "program"}),
        other => json!({"type": "other", "text": format!("{other:?}")}),
    }
}

fn origin_json(origin: &SecretOrigin) -> Value {
    match origin {
        SecretOrigin::Env(variable) => json!({"env": variable}),
        SecretOrigin::File(path) => json!({"file": path.display().to_string()}),
        _ => Value::Null,
    }
}
