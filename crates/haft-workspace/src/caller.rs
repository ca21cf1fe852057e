//! The callers of a workspace's tools: who they are, and what each may do.
//!
//! A caller only narrows what the file permits. Its token is a secret like every other one: it is read when a server
//! starts, and never by a load.

mod token;

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use haft_core::Caller;
use haft_executor::RunOptions;
use haft_registry::{CallerGroups, ExecutorBuilder, PermissionSettings, Permissions, RuleEffect, Secrets, SimpleName};
use haft_schema::nearest;

pub use self::token::CallerTokens;
use super::document::{TextFault, member};
use super::error::FileError;
use super::rule::FileRules;
use super::settings::CallerSettings;
use super::source::FileSource;
use super::tree::FilePart;

/// The name of the caller who presents no token.
pub const ANONYMOUS: &str = "anonymous";

/// The most callers.
const MAX_CALLERS: usize = 10_000;

/// The most groups of a caller.
const MAX_GROUPS: usize = 100;

/// The longest name of a group, in bytes.
const MAX_GROUP_LEN: usize = 200;

/// The callers of a workspace, by name.
///
/// ```
/// use haft_registry::Kinds;
/// use haft_workspace::{LoadOptions, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("haft.toml");
/// std::fs::write(&path, "
/// [permissions]
/// allow = ['*']
/// sets.support = { allow = ['calculate'] }
///
/// [callers.support]
/// token = 'support-token'
/// permissions = 'support'
/// ")?;
/// let mut loaded = load(&path, &LoadOptions::new(Kinds::empty())?).await?;
/// loaded.secrets = loaded.secrets.value("support-token", "t-4f1c09aa");
///
/// let tokens = loaded.callers.tokens(&loaded.secrets)?;
/// let support = tokens.find("t-4f1c09aa").ok_or("unknown token")?;
/// let executor = loaded.executor().build(loaded.registry()?.build()?);
/// let listed = haft_executor::Dispatch::list(&executor, &support.options());
/// assert_eq!(listed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["calculate"]);
/// assert!(tokens.find("t-0").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Callers {
    by_name: BTreeMap<String, LoadedCaller>,
    /// The file that defines them.
    source: Option<Arc<FileSource>>,
}

/// A caller of a workspace's tools.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoadedCaller {
    /// The name.
    pub name: String,
    /// The name of the secret that is the caller's token, if it has one.
    pub token: Option<String>,
    /// The name of the caller's permission set, if it has one.
    pub set: Option<String>,
    /// The set's permissions, which hide what they deny.
    pub permissions: Option<Permissions>,
    /// The groups.
    pub groups: CallerGroups,
    /// The maximum number of calls at the same time.
    pub in_flight: Option<NonZeroUsize>,
    /// The maximum number of calls per minute.
    pub per_minute: Option<NonZeroU32>,
}

/// A caller that the file does not define.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no caller `{name}`{hint}")]
#[non_exhaustive]
pub struct UnknownCaller {
    /// The name.
    pub name: String,
    /// The nearest name, as a sentence's end; may be empty.
    hint: String,
}

impl Callers {
    /// Returns the callers, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = &LoadedCaller> {
        self.by_name.values()
    }

    /// Reports whether the file defines no caller.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Returns the caller with this name.
    pub fn get(&self, name: &str) -> Result<&LoadedCaller, UnknownCaller> {
        self.by_name.get(name).ok_or_else(|| {
            let similar = nearest(name, self.by_name.keys().map(String::as_str));
            let hint = similar.first().map_or_else(String::new, |similar| format!("; did you mean `{similar}`?"));
            UnknownCaller { name: name.chars().take(100).collect(), hint }
        })
    }

    /// Returns the caller that stands for everybody without a token, if the file defines it.
    #[must_use]
    pub fn anonymous(&self) -> Option<&LoadedCaller> {
        self.by_name.get(ANONYMOUS)
    }

    /// Reads all callers' tokens.
    ///
    /// # Errors
    ///
    /// The faults of all tokens that can't be read, are unusable, or belong to two callers.
    pub fn tokens(&self, secrets: &Secrets) -> Result<CallerTokens, FileError> {
        CallerTokens::read(self.iter(), secrets).map_err(|faults| match &self.source {
            Some(source) => FileError {
                path: source.path.to_path_buf(),
                faults: source.located(faults),
                files: vec![source.canonical.clone()],
            },
            None => FileError { path: PathBuf::new(), faults: Vec::new(), files: Vec::new() },
        })
    }

    pub(crate) fn of_file(self, rules: Option<&FileRules>) -> Self {
        Self { source: rules.map(|rules| Arc::clone(&rules.source)), ..self }
    }

    /// Returns the tokens' names with their places.
    pub(crate) fn token_names(&self) -> impl Iterator<Item = (&str, String)> {
        self.iter().filter_map(|caller| Some((caller.token.as_deref()?, caller.pointer("token"))))
    }

    /// Returns the sets in use.
    pub(crate) fn sets(&self) -> BTreeSet<&str> {
        self.iter().filter_map(|caller| caller.set.as_deref()).collect()
    }
}

impl LoadedCaller {
    /// Returns the options that the caller's calls run with: its name, its groups, and a permit of its permissions.
    #[must_use]
    pub fn options(&self) -> RunOptions {
        let options = self.identity();
        match &self.permissions {
            Some(permissions) => options.permit(permissions.for_run()),
            None => options,
        }
    }

    /// Sets up an executor whose calls are all this caller's.
    pub fn narrow(&self, executor: ExecutorBuilder) -> ExecutorBuilder {
        let executor = executor.options(self.identity());
        self.permissions.iter().cloned().fold(executor, ExecutorBuilder::narrowed_by)
    }

    fn identity(&self) -> RunOptions {
        let options = RunOptions::new().extension(self.groups.clone());
        if self.name == ANONYMOUS { options } else { options.caller(Caller::from(self.name.as_str())) }
    }

    pub(crate) fn pointer(&self, key: &str) -> String {
        format!("{}/{key}", member("/callers", &self.name))
    }
}

/// Reads a file's callers. `permissions` are those of the same file.
pub(crate) fn read(
    part: &mut FilePart,
    permissions: Option<&PermissionSettings>,
    remarks: &mut Vec<TextFault>,
) -> Callers {
    let is_readable = !part.is_faulty("/permissions");
    let Some(section) = part.section::<BTreeMap<String, CallerSettings>>("callers") else { return Callers::default() };
    let mut faults = Vec::new();
    if section.len() > MAX_CALLERS {
        faults.push(TextFault::at("/callers", format!("there are more than {MAX_CALLERS} callers")));
    }
    let mut reader = CallerReader { permissions, is_readable, tokens: BTreeMap::new(), faults: &mut faults };
    let by_name: BTreeMap<String, LoadedCaller> = section
        .into_iter()
        .take(MAX_CALLERS)
        .map(|(name, settings)| (name.clone(), reader.caller(name, settings)))
        .collect();
    part.faults.extend(faults);
    let callers = Callers { by_name, source: None };
    let may_nobody_call = || {
        let own = permissions.and_then(|permissions| permissions.build().ok());
        own.is_some_and(|own| !own.rules().iter().any(|rule| rule.effect() == RuleEffect::Allow))
    };
    if !callers.sets().is_empty() && may_nobody_call() {
        let message = "no rule here allows anything, so no caller may call anything: the sets of callers only narrow; \
                       add `allow = [\"*\"]`, or what all of them may call at most";
        remarks.push(TextFault::at_key("/permissions", message));
    }
    callers
}

/// Reads the callers one by one.
struct CallerReader<'a> {
    permissions: Option<&'a PermissionSettings>,
    /// False if the permissions have faults of their own.
    is_readable: bool,
    /// The caller of each token so far.
    tokens: BTreeMap<String, String>,
    faults: &'a mut Vec<TextFault>,
}

impl CallerReader<'_> {
    fn caller(&mut self, name: String, settings: CallerSettings) -> LoadedCaller {
        let CallerSettings { token, permissions: set, groups, in_flight, per_minute } = settings;
        let pointer = |key: &str| format!("{}/{key}", member("/callers", &name));
        if let Err(error) = SimpleName::new(name.as_str()) {
            let message = format!("the caller's name is invalid: {}", error.fault);
            self.faults.push(TextFault::at_key(member("/callers", &name), message));
        }
        if let Some(token) = &token {
            if name == ANONYMOUS {
                let message = format!("`{ANONYMOUS}` is whoever presents no token; leave it out, or rename the caller");
                self.faults.push(TextFault::at_key(pointer("token"), message));
            } else if let Some(other) = self.tokens.insert(token.clone(), name.clone()) {
                let message = format!("the caller `{other}` has this token already; give each caller its own secret");
                self.faults.push(TextFault::at(pointer("token"), message));
            }
        }
        if groups.len() > MAX_GROUPS {
            self.faults.push(TextFault::at(pointer("groups"), format!("there are more than {MAX_GROUPS} groups")));
        }
        for (at, _) in groups.iter().enumerate().filter(|(_, group)| group.is_empty() || group.len() > MAX_GROUP_LEN) {
            let message = format!("a group has a name of 1 to {MAX_GROUP_LEN} bytes");
            self.faults.push(TextFault::at(pointer(&format!("groups/{at}")), message));
        }
        let permissions = set.as_deref().and_then(|set| self.of_set(set, &pointer("permissions")));
        let groups = CallerGroups::new(groups);
        LoadedCaller { name, token, set, permissions, groups, in_flight, per_minute }
    }

    /// Returns the permissions of a set, or reports that there is none.
    fn of_set(&mut self, set: &str, pointer: &str) -> Option<Permissions> {
        let sets = self.permissions.map(|permissions| &permissions.sets);
        if !sets.is_some_and(|sets| sets.contains_key(set)) {
            if self.is_readable {
                let names = sets.into_iter().flat_map(|sets| sets.keys().map(String::as_str));
                let advice = match nearest(set, names).first() {
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None => format!("define it as `[permissions.sets.{set}]`"),
                };
                self.faults.push(TextFault::at(pointer, format!("there is no permission set `{set}`; {advice}")));
            }
            return None;
        }
        let permissions = self.permissions?;
        match of_sets(permissions, [set]).hide_denied().build() {
            Ok(built) => Some(built),
            Err(error) => {
                // The faults of the sets are reported where they are.
                let is_reported = permissions.build().is_err();
                let fault = || TextFault::at(pointer, format!("the permission set `{set}` can't be used: {error}"));
                self.faults.extend((!is_reported).then(fault));
                None
            }
        }
    }
}

/// Returns settings with the rules of these sets alone.
fn of_sets<'s>(permissions: &PermissionSettings, sets: impl IntoIterator<Item = &'s str>) -> PermissionSettings {
    let mut settings = PermissionSettings::new();
    settings.sets.clone_from(&permissions.sets);
    sets.into_iter().fold(settings, PermissionSettings::uses)
}
