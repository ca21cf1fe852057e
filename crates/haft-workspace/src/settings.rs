//! The sections of a workspace file, as types. The JSON Schema of the file is generated from them.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use haft_executor::{ApprovalPolicy, Concurrency, ExecutionLimits, OutputCap, RunOptions};
use haft_registry::{AskSettings, PermissionSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::resource::ResourceKind;

/// The shortest timeout, in seconds.
const MIN_SECONDS: f64 = 0.001;

/// The longest timeout, in seconds: a year.
const MAX_SECONDS: f64 = 31_536_000.0;

/// A workspace of haft: toolboxes with their tools, and the settings that they run with.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "haft.toml", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(dead_code, reason = "the sections are read one by one; the type is for the schema")]
pub(crate) struct FileSections {
    /// The place of this file among others.
    workspace: Option<WorkspaceSettings>,
    /// The secrets that tools refer to by name. They are read when a call needs them.
    secrets: Option<BTreeMap<String, SecretSetting>>,
    /// The hosts and networks that tools may reach.
    http: Option<GuardSettings>,
    /// The files that the standard tools may not read.
    files: Option<FileSettings>,
    /// The limits of a run.
    limits: Option<LimitSettings>,
    /// The tools that may be called. Without this section all may be.
    permissions: Option<PermissionSettings>,
    /// The calls that require approval, besides those that tools require it for themselves.
    approval: Option<Vec<AskSettings>>,
    /// The callers of the tools when they are served, by name.
    callers: Option<BTreeMap<String, CallerSettings>>,
    /// The toolboxes, by namespace.
    toolbox: Option<BTreeMap<String, ToolboxSection>>,
}

/// A caller of the tools, when they are served. The caller `anonymous` is whoever presents no token.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct CallerSettings {
    /// The name of the secret that the caller presents as a bearer token. A caller without one is known by the option
    /// `--caller` alone.
    pub(crate) token: Option<String>,
    /// The set in `[permissions.sets]` with what the caller may call. The rules of `[permissions]` must allow it as well.
    /// Without it the caller may call what they allow.
    pub(crate) permissions: Option<String>,
    /// The groups that the caller belongs to. Conditions read them as `groups`.
    #[serde(default)]
    pub(crate) groups: Vec<String>,
    /// The maximum number of the caller's calls that run at the same time on a server.
    pub(crate) in_flight: Option<NonZeroUsize>,
    /// The maximum number of calls per minute on a server.
    pub(crate) per_minute: Option<NonZeroU32>,
}

/// A toolbox: tools with a common namespace.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
#[allow(dead_code, reason = "the type is for the schema")]
pub(crate) struct ToolboxSection {
    /// The subject of the toolbox.
    description: Option<String>,
    /// The tools, by name.
    tool: Option<BTreeMap<String, ToolEntry>>,
    /// Imports of many tools, by any name.
    import: Option<BTreeMap<String, ImportEntry>>,
}

/// The names of the definitions in the schema for entries.
pub(crate) const TOOL_ENTRY: &str = "tool";
pub(crate) const IMPORT_ENTRY: &str = "import";

/// An entry of a tool, whose schema depends on the registered kinds.
#[derive(Debug)]
pub(crate) struct ToolEntry(#[allow(dead_code, reason = "the type is for the schema")] Value);

/// An entry of an import, whose schema depends on the registered kinds.
#[derive(Debug)]
pub(crate) struct ImportEntry(#[allow(dead_code, reason = "the type is for the schema")] Value);

macro_rules! defined_elsewhere {
    ($type:ty, $name:expr) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"$ref": format!("#/$defs/{}", $name)})
            }
        }
    };
}

defined_elsewhere!(ToolEntry, TOOL_ENTRY);
defined_elsewhere!(ImportEntry, IMPORT_ENTRY);

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct WorkspaceSettings {
    /// The organisation that the workspace belongs to, in the file of an organisation.
    pub(crate) org: Option<String>,
    /// The folders or files of organisations' workspaces.
    #[serde(default)]
    pub(crate) orgs: Vec<PathBuf>,
    /// The standard toolbox: `true`, the default, `false`, or a table.
    pub(crate) standard: Option<StandardSetting>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StandardSetting {
    /// All tools that need no settings, or none.
    Enabled(bool),
    /// Some tools, with settings.
    Chosen(StandardChoice),
}

/// The choice of standard tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct StandardChoice {
    /// The folder whose files may be read. Without it there are no tools that read files.
    pub files: Option<PathBuf>,
    /// True for the tool that fetches public web pages.
    #[serde(default)]
    pub fetch: bool,
    /// The only tools that are wanted, by name.
    pub only: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SecretSetting {
    /// The name of an environment variable.
    Env(String),
    /// The path of a file that contains the secret alone.
    File(PathBuf),
}

/// The settings of the guard of HTTP requests, which permits all hosts that are public and no others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct GuardSettings {
    /// Hosts that may be reached although they are not public, such as `localhost:8080`.
    #[serde(default)]
    pub allow_hosts: Vec<String>,
    /// Networks that may be reached although they are not public, such as `10.0.0.0/8`.
    #[serde(default)]
    pub allow_nets: Vec<String>,
    /// The only public hosts that may be reached, such as `api.example.com` or `*.example.com`. Required if requests go
    /// through a proxy, as no address can be checked behind one.
    pub only_hosts: Option<Vec<String>>,
}

/// The files that the standard tools may not read, although they are below the folder of `workspace.standard.files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct FileSettings {
    /// Patterns of files and folders that are neither read nor listed nor searched, such as `*.env` or `private/**`. A
    /// pattern without `/` matches a name at any depth, every other one a path from the folder. Links are resolved
    /// first. Upper and lower case are the same.
    #[serde(default)]
    pub deny: Vec<String>,
}

/// The limits of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub struct LimitSettings {
    /// The maximum number of calls that run at the same time.
    pub concurrency: Option<NonZeroUsize>,
    /// The maximum duration of a run, in seconds.
    pub timeout: Option<Seconds>,
    /// The maximum duration of each call, in seconds.
    pub call_timeout: Option<Seconds>,
    /// The maximum time that a call may go without output, in seconds.
    pub call_idle_timeout: Option<Seconds>,
    /// The maximum size of an output for the model, in bytes.
    pub max_output: Option<NonZeroUsize>,
}

impl LimitSettings {
    /// Adds the limits to the options of a run.
    #[must_use]
    pub fn apply(&self, mut options: RunOptions) -> RunOptions {
        let Self { concurrency, timeout, call_timeout, call_idle_timeout, max_output } = *self;
        if let Some(most) = concurrency {
            options = options.concurrency(most.get());
        }
        if let Some(timeout) = timeout {
            options = options.timeout(timeout.into());
        }
        if let Some(timeout) = call_timeout {
            options = options.call_timeout(timeout.into());
        }
        if let Some(timeout) = call_idle_timeout {
            options = options.call_idle_timeout(timeout.into());
        }
        if let Some(bytes) = max_output {
            options = options.output_cap(capped(OutputCap::default(), bytes));
        }
        options
    }
}

/// A duration in seconds, from a millisecond to a year.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Seconds(f64);

/// A number of seconds that is no duration of a limit.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a number of seconds from {MIN_SECONDS} to {MAX_SECONDS}")]
pub struct SecondsError(f64);

impl TryFrom<f64> for Seconds {
    type Error = SecondsError;

    fn try_from(seconds: f64) -> Result<Self, SecondsError> {
        if (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) { Ok(Self(seconds)) } else { Err(SecondsError(seconds)) }
    }
}

impl From<Seconds> for Duration {
    fn from(Seconds(seconds): Seconds) -> Self {
        Self::try_from_secs_f64(seconds).unwrap_or(Self::MAX)
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Seconds".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "number", "minimum": MIN_SECONDS, "maximum": MAX_SECONDS})
    }
}

/// The keys that entries of all kinds have.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CommonKeys {
    /// The title, for people.
    pub(crate) title: Option<String>,
    /// The description, for models.
    pub(crate) description: Option<String>,
    /// The version, in any notation.
    pub(crate) version: Option<String>,
    /// The JSON Schema of the arguments.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(crate) parameters: Option<Value>,
    /// The JSON Schema of the result.
    #[schemars(with = "Option<Map<String, Value>>")]
    pub(crate) output: Option<Value>,
    /// Example arguments, which must be valid.
    #[serde(default)]
    pub(crate) examples: Vec<Value>,
    /// A hint that calls change nothing.
    pub(crate) readonly: Option<bool>,
    /// A hint that calls may destroy something.
    pub(crate) destructive: Option<bool>,
    /// A hint that a repeated call has no further effect.
    pub(crate) idempotent: Option<bool>,
    /// A hint that calls reach systems beyond the program.
    pub(crate) open_world: Option<bool>,
    /// True if the tool is also found by its name alone, without the namespace.
    #[serde(default)]
    pub(crate) export: bool,
    /// The maximum duration of a call, in seconds.
    pub(crate) timeout: Option<Seconds>,
    /// The maximum time that a call may go without output, in seconds.
    pub(crate) idle_timeout: Option<Seconds>,
    /// The maximum size of the output for the model, in bytes.
    pub(crate) max_output: Option<NonZeroUsize>,
    /// The calls that may run at the same time: a number of calls of this tool, `"exclusive"`, or a table with a key
    /// that tools share.
    pub(crate) concurrency: Option<ConcurrencySetting>,
    /// The calls that require approval: `"never"`, which is the default, or `"always"`.
    pub(crate) approval: Option<ApprovalSetting>,
    /// The arguments that name a resource: `"path"`, `"url"` or `"host"`, by the argument's name or its JSON Pointer. Rules,
    /// people and the tool itself get one spelling of each, whatever the model writes. In an import, this holds for every
    /// tool that has the argument.
    #[serde(default)]
    pub(crate) resources: BTreeMap<String, ResourceKind>,
}

/// The common keys that imports have as well: they apply to every tool that is imported.
pub(crate) const IMPORT_KEYS: [&str; 7] =
    ["export", "timeout", "idle-timeout", "max-output", "concurrency", "approval", "resources"];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum ConcurrencySetting {
    Max(NonZeroUsize),
    Named(ExclusiveSetting),
    Keyed(KeyedSetting),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExclusiveSetting {
    /// No other call of the run.
    Exclusive,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyedSetting {
    /// No other call whose tool has the same key.
    key: String,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ApprovalSetting {
    Never,
    Always,
}

impl ApprovalSetting {
    pub(crate) fn policy(self) -> ApprovalPolicy {
        match self {
            Self::Never => ApprovalPolicy::never(),
            Self::Always => ApprovalPolicy::always(),
        }
    }
}

impl CommonKeys {
    /// Returns the limits of a tool with those that are set here; `None` if none is.
    pub(crate) fn limits(&self, own: &ExecutionLimits) -> Option<ExecutionLimits> {
        let Self { timeout, idle_timeout, max_output, concurrency, .. } = self;
        if timeout.is_none() && idle_timeout.is_none() && max_output.is_none() && concurrency.is_none() {
            return None;
        }
        let mut limits = own.clone();
        limits.timeout = timeout.map(Duration::from).or(limits.timeout);
        limits.idle_timeout = idle_timeout.map(Duration::from).or(limits.idle_timeout);
        if let Some(bytes) = *max_output {
            limits.output_cap = Some(capped(limits.output_cap.unwrap_or_default(), bytes));
        }
        if let Some(concurrency) = concurrency {
            limits.concurrency = match concurrency {
                ConcurrencySetting::Max(most) => Concurrency::Max(*most),
                ConcurrencySetting::Named(ExclusiveSetting::Exclusive) => Concurrency::Exclusive,
                ConcurrencySetting::Keyed(KeyedSetting { key }) => Concurrency::Keyed(key.clone()),
            };
        }
        Some(limits)
    }
}

/// Returns a cap of another size.
fn capped(mut cap: OutputCap, bytes: NonZeroUsize) -> OutputCap {
    cap.bytes = bytes;
    cap
}
