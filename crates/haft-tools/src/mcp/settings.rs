//! The settings of a server in an entry of a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use haft_mcp::{Era, McpLimits, ResultPolicy};
use haft_registry::{Entry, EntryError, EntryFault};
use schemars::JsonSchema;
use serde::Deserialize;

use super::auth::{McpAuth, McpAuthSetting};
use super::log_file::LogFile;
use super::server::{ServerSettings, ServerTarget, StateFiles};
use crate::http::UrlTemplate;
use crate::openapi::Selected;

/// The settings of the kind `mcp`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct McpSettings {
    /// The program that is the server, and its arguments. No shell is involved. Either this or `url` is required.
    #[schemars(length(min = 1))]
    command: Option<Vec<String>>,
    /// The `http` or `https` URL of the server. It may not contain credentials; use `auth`.
    url: Option<String>,
    /// The working directory of the program, relative to the folder of this file. The default is that folder.
    folder: Option<PathBuf>,
    /// Environment variables of the program. It otherwise gets only those that programs need to run at all, such as `PATH`
    /// and `HOME`.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Environment variables of the program with the names of the secrets that they contain.
    #[serde(default)]
    secret_env: BTreeMap<String, String>,
    /// The authentication at a URL: `"oauth"` for a login in the browser, or the secrets that are sent with every request,
    /// as `bearer`, `basic` or `header`.
    auth: Option<McpAuthSetting>,
    /// Headers of every request to a URL.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The era of the protocol: `auto` finds it out, which takes ten seconds with a program that ignores the question;
    /// `modern` is 2026-07-28 and later, `legacy` what came before. The default is `auto`.
    #[serde(default)]
    era: EraSetting,
    /// The form of results that have both structured content and content parts: `structured`, the default, `content` or
    /// `both`.
    #[serde(default)]
    result: ResultSetting,
    /// The time to start the server and list its tools, in seconds. The default is 60.
    #[schemars(range(min = 0.1, max = 3600.0))]
    start_timeout: Option<f64>,
    /// The time that a call waits for its answer or for progress, in seconds. The default is 60.
    #[schemars(range(min = 0.1, max = 86400.0))]
    answer_timeout: Option<f64>,
    /// The number of times per hour that the server is started again or connected to again. The default is 20.
    #[schemars(range(max = 10_000))]
    restarts: Option<usize>,
    /// Patterns such as `search_*` for the server's names of tools, of which a tool must match one.
    #[serde(default)]
    tools: Vec<String>,
    /// Patterns for names that a tool must not have.
    #[serde(default)]
    exclude_tools: Vec<String>,
    /// Other names for tools, by the server's names.
    #[serde(default)]
    rename: BTreeMap<String, String>,
    /// Hints in place of the server's, by its names of tools. Rules may depend on hints, and a server states its own as it
    /// likes.
    #[serde(default)]
    hints: BTreeMap<String, HintSettings>,
}

/// Hints about a tool in place of its server's.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct HintSettings {
    /// A hint that calls change nothing.
    pub(super) readonly: Option<bool>,
    /// A hint that calls may destroy something.
    pub(super) destructive: Option<bool>,
    /// A hint that a repeated call has no further effect.
    pub(super) idempotent: Option<bool>,
    /// A hint that calls reach systems beyond the program.
    pub(super) open_world: Option<bool>,
}

impl HintSettings {
    /// Reports whether nothing that the server states about the effect of calls is left.
    pub(super) fn is_complete(&self) -> bool {
        let is_readonly = self.readonly == Some(true);
        let is_whole = self.readonly.is_some() && self.destructive.is_some() && self.idempotent.is_some();
        (is_readonly || is_whole) && self.open_world.is_some()
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EraSetting {
    #[default]
    Auto,
    Modern,
    Legacy,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum ResultSetting {
    #[default]
    Structured,
    Content,
    Both,
}

/// The choice of a server's tools.
#[derive(Debug)]
pub(super) struct ToolChoice {
    selected: Selected,
    pub(super) rename: BTreeMap<String, String>,
    pub(super) hints: BTreeMap<String, HintSettings>,
}

impl ToolChoice {
    pub(super) fn has(&self, name: &str) -> bool {
        self.selected.accepts(&[name])
    }

    /// Remarks on names that no tool has.
    pub(super) fn check(&self, is_known: impl Fn(&str) -> bool, remarks: &mut Vec<EntryFault>) {
        let keys = [("rename", self.rename.keys().collect::<Vec<_>>()), ("hints", self.hints.keys().collect())];
        for (key, names) in keys {
            for name in names.into_iter().filter(|name| !is_known(name)) {
                remarks.push(EntryFault::at(format!("/{key}"), format!("no accepted tool is named `{name}`")));
            }
        }
    }
}

impl McpSettings {
    /// Reads an entry's settings, or returns all their faults.
    pub(super) fn read(entry: &Entry, state_folder: Option<&Path>) -> Result<(ServerSettings, ToolChoice), EntryError> {
        let settings = Self::deserialize(&entry.settings).map_err(|error| EntryError::at("", error.to_string()))?;
        let mut faults = Vec::new();
        let target = settings.target(entry, &mut faults);
        if let Some(ServerTarget::Url { auth: McpAuth { login: Some(_), .. }, .. }) = &target
            && state_folder.is_none()
        {
            faults.push(EntryFault::at("/auth", "this program has no folder for logins; use a secret instead"));
        }
        let mut selected = Selected::default();
        settings.tools.iter().for_each(|pattern| selected.include(pattern.as_str()));
        settings.exclude_tools.iter().for_each(|pattern| selected.exclude(pattern.as_str()));
        let mut limits = McpLimits::default();
        // The schema has rejected numbers that are no durations.
        let seconds = |seconds: Option<f64>| seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        limits.start_timeout = seconds(settings.start_timeout).unwrap_or(limits.start_timeout);
        limits.call_timeout = seconds(settings.answer_timeout).unwrap_or(limits.call_timeout);
        limits.restarts_per_hour = settings.restarts.unwrap_or(limits.restarts_per_hour);
        EntryError::check(faults)?;
        let Some(target) = target else {
            return Err(EntryError::at("", "needs either `command` or `url`"));
        };
        let server = ServerSettings {
            name: if entry.import.is_empty() { entry.name.clone() } else { entry.import.clone() },
            target,
            era: match settings.era {
                EraSetting::Auto => Era::Auto,
                EraSetting::Modern => Era::Modern,
                EraSetting::Legacy => Era::Legacy,
            },
            results: match settings.result {
                ResultSetting::Structured => ResultPolicy::StructuredFirst,
                ResultSetting::Content => ResultPolicy::ContentFirst,
                ResultSetting::Both => ResultPolicy::Both,
            },
            limits,
            state: state_folder.map(|folder| {
                let log = LogFile::path_for(folder, &entry.folder, &entry.import);
                StateFiles { folder: folder.to_owned(), log: Arc::new(LogFile::new(log)) }
            }),
        };
        Ok((server, ToolChoice { selected, rename: settings.rename, hints: settings.hints }))
    }

    fn target(&self, entry: &Entry, faults: &mut Vec<EntryFault>) -> Option<ServerTarget> {
        let mut reject = |key: &str, is_set: bool, other: &str| {
            if is_set {
                faults.push(EntryFault::at(
                    format!("/{key}"),
                    format!("has no effect on a server with `{other}`; remove it"),
                ));
            }
        };
        match (&self.command, &self.url) {
            (Some(argv), None) => {
                reject("auth", self.auth.is_some(), "command");
                reject("headers", !self.headers.is_empty(), "command");
                self.check_variables(faults);
                if argv.iter().any(|argument| argument.contains('\0')) || argv.first().is_some_and(String::is_empty) {
                    faults.push(EntryFault::at("/command", "needs a program, and no argument may contain NUL"));
                }
                let own = self.folder.clone();
                let folder = own.as_ref().map_or_else(|| entry.folder.clone(), |own| entry.folder.join(own));
                let (env, secret_env) = (self.env.clone(), self.secret_env.clone());
                Some(ServerTarget::Command { argv: argv.clone(), folder, own_folder: own, env, secret_env })
            }
            (None, Some(url)) => {
                reject("env", !self.env.is_empty(), "url");
                reject("secret-env", !self.secret_env.is_empty(), "url");
                reject("folder", self.folder.is_some(), "url");
                let auth = self.auth.clone().map(|auth| auth.read(faults)).unwrap_or_default();
                auth.check_headers(&self.headers, faults);
                match url.parse::<UrlTemplate>().and_then(UrlTemplate::constant) {
                    Ok(url) => Some(ServerTarget::Url { url, auth, headers: self.headers.clone() }),
                    Err(error) => {
                        faults.push(EntryFault::at("/url", error.to_string()));
                        None
                    }
                }
            }
            (Some(_), Some(_)) => {
                faults.push(EntryFault::at("/url", "a server has either `command` or `url`; remove one"));
                None
            }
            (None, None) => None,
        }
    }

    fn check_variables(&self, faults: &mut Vec<EntryFault>) {
        for (table, names) in [("env", &self.env), ("secret-env", &self.secret_env)] {
            for (name, value) in names {
                if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                    let message =
                        format!("the variable `{name}` is invalid: names have no `=`, and nothing may contain NUL");
                    faults.push(EntryFault::at(format!("/{table}"), message));
                }
            }
        }
        for (variable, _) in self.secret_env.iter().filter(|(_, secret)| secret.is_empty()) {
            let message = format!("the name of the secret for `{variable}` must not be empty");
            faults.push(EntryFault::at("/secret-env", message));
        }
        for name in self.secret_env.keys().filter(|name| self.env.contains_key(*name)) {
            faults.push(EntryFault::at(
                "/secret-env",
                format!("the variable `{name}` is also set in `env`; remove one of them"),
            ));
        }
    }
}
