//! One server of a client's file.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::credential::{is_credential, is_named_credential};
use super::template::{Template, TemplateContent, variable_name};

/// A server as the workspace file can describe it. It contains no credential.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::command) struct ClientServer {
    pub(in crate::command) target: ClientTarget,
    /// The variables of a program.
    pub(in crate::command) env: BTreeMap<String, String>,
    /// The variables of a program that contain secrets, with the variables that hold these.
    pub(in crate::command) secret_env: BTreeMap<String, String>,
    /// The headers of requests.
    pub(in crate::command) headers: BTreeMap<String, String>,
    /// The headers with secrets, each with the text before it and the variable that holds it.
    pub(in crate::command) auth: Vec<HeaderSecret>,
    /// The folder of a program.
    pub(in crate::command) folder: Option<String>,
    /// The variables that the person has to set, because the file had their values.
    pub(in crate::command) moved: Vec<String>,
    /// The keys that are not taken over, each as a sentence.
    pub(in crate::command) notes: Vec<String>,
}

/// The way to a server.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command) enum ClientTarget {
    Command(Vec<String>),
    Url(String),
}

impl Default for ClientTarget {
    fn default() -> Self {
        Self::Command(Vec::new())
    }
}

/// A header whose value is a secret.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::command) struct HeaderSecret {
    pub(in crate::command) header: String,
    pub(in crate::command) prefix: String,
    pub(in crate::command) variable: String,
}

/// The keys that say what the client shows or permits, or what other keys say as well.
const WITHOUT_EFFECT: [&str; 14] = [
    "alwaysAllow",
    "autoApprove",
    "autoStart",
    "description",
    "dev",
    "disabled",
    "enabled",
    "gallery",
    "icon",
    "name",
    "timeout",
    "trust",
    "type",
    "version",
];

/// Reads a server, and reports whether it is disabled.
pub(super) fn read(text: &RawValue) -> (Result<ClientServer, Vec<String>>, bool) {
    let Ok(members) = serde_json::from_str::<Map<String, Value>>(text.get()) else {
        return (Err(vec!["it must be an object with `command` or `url`".to_owned()]), false);
    };
    let flag = |key: &str| members.get(key).and_then(Value::as_bool);
    let is_disabled = flag("disabled") == Some(true) || flag("enabled") == Some(false);
    let mut reading = ReadingServer { members, server: ClientServer::default(), faults: Vec::new() };
    reading.read();
    let outcome = if reading.faults.is_empty() { Ok(reading.server) } else { Err(reading.faults) };
    (outcome, is_disabled)
}

struct ReadingServer {
    /// The members that are not read yet.
    members: Map<String, Value>,
    server: ClientServer,
    faults: Vec<String>,
}

impl ReadingServer {
    fn read(&mut self) {
        let transport = self.text("type").unwrap_or_default();
        if !["", "stdio", "http", "streamable-http", "streamableHttp"].contains(&transport.as_str()) {
            let advice = if transport == "sse" { "; use the server's URL for streamable HTTP" } else { "" };
            self.faults.push(format!("the transport `{transport}` is not supported{advice}"));
            return;
        }
        let command = self.text("command");
        let urls: Vec<String> = ["url", "serverUrl", "httpUrl"].into_iter().filter_map(|key| self.text(key)).collect();
        match (command, urls.as_slice()) {
            (Some(command), []) => self.command(command),
            (None, [url]) => self.url(url),
            (None, []) if self.faults.is_empty() => self.faults.push("it has neither `command` nor `url`".to_owned()),
            (None, []) => {}
            _ => self.faults.push("it has both `command` and `url`; remove one".to_owned()),
        }
        let rest: Vec<String> =
            self.members.keys().filter(|key| !WITHOUT_EFFECT.contains(&key.as_str())).cloned().collect();
        self.server.notes.extend(rest.iter().map(|key| format!("`{key}` is not taken over")));
    }

    fn command(&mut self, command: String) {
        let mut argv = vec![command];
        match self.members.shift_remove("args") {
            None => {}
            Some(Value::Array(items)) => {
                for (at, item) in items.into_iter().enumerate() {
                    match item {
                        Value::String(text) => argv.push(text),
                        Value::Number(number) => argv.push(number.to_string()),
                        _ => self.faults.push(format!("argument {} is no text", at + 1)),
                    }
                }
            }
            Some(_) => self.faults.push("`args` must be a list of texts".to_owned()),
        }
        let mut written = Vec::with_capacity(argv.len());
        let mut before = String::new();
        for (at, argument) in argv.into_iter().enumerate() {
            let place = if at == 0 { "the command".to_owned() } else { format!("argument {at}") };
            // The value of an option in an argument of its own.
            let option = if before.starts_with('-') && !before.contains('=') { before.as_str() } else { "" };
            match plain(&argument, option) {
                Ok(text) => written.push(text),
                Err(reason) => self.faults.push(format!("{place}: {reason}")),
            }
            before = argument;
        }
        self.server.target = ClientTarget::Command(written);
        if let Some(folder) = self.text("cwd") {
            match plain(&folder, "") {
                Ok(folder) => self.server.folder = Some(folder).filter(|folder| folder != "."),
                Err(reason) => self.faults.push(format!("`cwd`: {reason}")),
            }
        }
        for (name, value) in self.object("env") {
            self.variable(name, &value);
        }
    }

    fn url(&mut self, url: &str) {
        match plain(url, "") {
            Ok(url) if has_credential(&url) => {
                let reason =
                    "`url` contains a credential; remove it, and send it as a header if the server accepts one";
                self.faults.push(reason.to_owned());
            }
            Ok(url) => self.server.target = ClientTarget::Url(url),
            Err(reason) => self.faults.push(format!("`url`: {reason}")),
        }
        for (name, value) in self.object("headers") {
            self.header(name, &value);
        }
    }

    /// Adds a variable of a program.
    fn variable(&mut self, name: String, value: &str) {
        match Template::parse(value).content() {
            Ok(TemplateContent::Text(text)) if is_named_credential(&name, &text) => {
                self.server.moved.push(name.clone());
                self.server.secret_env.insert(name.clone(), name);
            }
            Ok(TemplateContent::Text(text)) => drop(self.server.env.insert(name, text)),
            Ok(TemplateContent::Variable { prefix, variable }) if prefix.is_empty() => {
                self.server.secret_env.insert(name, variable);
            }
            Ok(TemplateContent::Variable { .. }) => {
                let reason = "a variable stands amid other text; put the whole text into one variable";
                self.faults.push(format!("the variable {name}: {reason}"));
            }
            Err(reason) => self.faults.push(format!("the variable {name}: {reason}")),
        }
    }

    /// Adds a header of requests.
    fn header(&mut self, header: String, value: &str) {
        let (prefix, variable) = match Template::parse(value).content() {
            Ok(TemplateContent::Text(text)) if is_named_credential(&header, &text) => {
                let prefix = text.split_once(' ').map(|(scheme, _)| format!("{scheme} ")).unwrap_or_default();
                let variable = variable_name(&header);
                self.server.moved.push(variable.clone());
                (prefix, variable)
            }
            Ok(TemplateContent::Text(text)) => {
                self.server.headers.insert(header, text);
                return;
            }
            Ok(TemplateContent::Variable { prefix, variable }) if !is_credential(&prefix) || prefix == "Bearer " => {
                (prefix, variable)
            }
            Ok(TemplateContent::Variable { .. }) => {
                self.faults.push(format!("the header {header}: it contains a credential"));
                return;
            }
            Err(reason) => {
                self.faults.push(format!("the header {header}: {reason}"));
                return;
            }
        };
        self.server.auth.push(HeaderSecret { header, prefix, variable });
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.members.shift_remove(key)? {
            Value::String(text) => Some(text),
            Value::Null => None,
            _ => {
                self.faults.push(format!("`{key}` must be a text"));
                None
            }
        }
    }

    /// Returns an object's texts. Numbers and booleans are written as text, as clients do.
    fn object(&mut self, key: &str) -> Vec<(String, String)> {
        let members = match self.members.shift_remove(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Object(members)) => members,
            Some(_) => {
                self.faults.push(format!("`{key}` must be an object of texts"));
                return Vec::new();
            }
        };
        let mut texts = Vec::with_capacity(members.len());
        for (name, value) in members {
            match value {
                Value::String(text) => texts.push((name, text)),
                Value::Number(number) => texts.push((name, number.to_string())),
                Value::Bool(flag) => texts.push((name, flag.to_string())),
                _ => self.faults.push(format!("`{key}.{name}` must be a text")),
            }
        }
        texts
    }
}

/// Returns a text that is written as it is, after the option with this name, or the reason why it can't be.
fn plain(text: &str, option: &str) -> Result<String, String> {
    if text.contains('\0') {
        return Err("it contains NUL".to_owned());
    }
    match Template::parse(text).content()? {
        TemplateContent::Text(text) if is_named_credential(option, &text) && !text.starts_with('-') => Err(
            "it contains a credential, which everybody on the machine could read; give it to the server as a variable"
                .to_owned(),
        ),
        TemplateContent::Text(text) => Ok(text),
        TemplateContent::Variable { variable, .. } => {
            Err(format!("it contains the variable {variable}; give it to the server in `env` instead"))
        }
    }
}

/// Reports whether a URL has a user, or a query with a credential.
fn has_credential(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    authority.contains('@') || pairs.any(|(name, value)| is_named_credential(name, value))
}
