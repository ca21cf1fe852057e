//! A user's own rules, for all their workspaces.
//!
//! A workspace file belongs to its author; this one belongs to the person at the machine. So it can only narrow: its
//! permissions must also allow a call, and its approval rules are added to the workspace's. A file that can't be read
//! or has a fault is an error: nothing runs without the rules that somebody has written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_registry::{
    AskRules, AskSettings, EntryError, EntryFault, ExecutorBuilder, PermissionSettings, Permissions, RuleEffect,
};
use haft_schema::Schema;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use super::document::{self, TextFault};
use super::error::FileError;
use super::format::issue_fault;
use super::rule::{FileRules, RuleAudience};
use super::source::{FileDigest, FileSource};

/// A user's own rules, for all their workspaces: a TOML file with the sections `[permissions]` and `[[approval]]`, as
/// in a `haft.toml`.
///
/// It narrows what a workspace permits, and permits nothing by itself. Its `deny` rules apply in every workspace. If it
/// has the key `allow`, or uses a set with rules that allow, calls that none of them allows are denied as well.
///
/// ```
/// use haft_workspace::{LoadOptions, load};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("haft.toml"), "[permissions]\nallow = ['*']\n")?;
/// std::fs::write(folder.join("policy.toml"), "[permissions]\ndeny = ['hash']\n")?;
/// let options = LoadOptions::new(haft_tools::kinds())?.policy(folder.join("policy.toml"));
/// let loaded = load(folder.join("haft.toml"), &options).await?;
/// let executor = loaded.executor().build(loaded.registry()?.build()?);
///
/// let hash = executor.find("hash")?;
/// assert_eq!(executor.explain(&hash).unwrap().to_string(), "denied by the rule `policy.toml: deny hash`");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UserPolicy {
    /// The file's path.
    pub path: PathBuf,
    /// The permissions that must also allow a call; unset if the file has none.
    pub permissions: Option<Permissions>,
    /// The approval rules.
    pub ask_rules: AskRules,
    source: Arc<FileSource>,
}

/// A user's rules for all workspaces.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct PolicySections {
    /// The tools that may be called at most.
    permissions: Option<PermissionSettings>,
    /// The calls that require approval, in addition to the workspace's rules.
    approval: Vec<AskSettings>,
}

impl UserPolicy {
    /// Reads a policy, or returns `None` if there is no such file. Every other doubt is an error.
    pub fn read(path: &Path) -> Result<Option<Self>, FileError> {
        let failed = |faults| FileError { path: path.to_owned(), faults, files: vec![path.to_owned()] };
        match path.symlink_metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // Reading it reports why it can't be.
            Err(_) | Ok(_) => {}
        }
        let source = FileSource::read(path, path).map_err(|fault| failed(vec![fault]))?;
        let mut faults = Vec::new();
        let (permissions, ask_rules) = read_rules(&source, &mut faults);
        if !faults.is_empty() {
            return Err(failed(source.located(faults)));
        }
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(Some(Self {
            path: path.to_owned(),
            permissions: permissions.map(|permissions| permissions.of_file(&file)),
            ask_rules: ask_rules.of_file(&file),
            source: Arc::new(source),
        }))
    }

    /// Adds the rules to an executor that is not made from a file. [`Loaded::executor`](super::Loaded::executor)
    /// already has them.
    pub fn apply(&self, builder: ExecutorBuilder) -> ExecutorBuilder {
        let builder = builder.more_ask_rules(&self.ask_rules);
        self.permissions.iter().cloned().fold(builder, ExecutorBuilder::narrowed_by)
    }

    pub(crate) fn digest(&self) -> FileDigest {
        self.source.digest
    }

    pub(crate) fn as_rules(&self) -> FileRules {
        let Self { permissions, ask_rules, source, .. } = self;
        FileRules {
            source: Arc::clone(source),
            audience: RuleAudience::AllOfUser,
            permissions: permissions.clone(),
            ask_rules: ask_rules.clone(),
        }
    }
}

/// Reads a policy's rules and reports all faults.
fn read_rules(source: &FileSource, faults: &mut Vec<TextFault>) -> (Option<Permissions>, AskRules) {
    let sections = match document::parse(&source.text) {
        Ok(sections) => Value::Object(sections),
        Err(invalid) => {
            faults.extend(invalid);
            return (None, AskRules::default());
        }
    };
    faults.extend(check(&sections));
    if !faults.is_empty() {
        return (None, AskRules::default());
    }
    let is_list = sections.pointer("/permissions/allow").is_some();
    let PolicySections { permissions, approval } = match serde_json::from_value(sections) {
        Ok(sections) => sections,
        Err(error) => {
            faults.push(TextFault::at("", error.to_string()));
            PolicySections::default()
        }
    };
    let mut add = |section: &str, error: EntryError| {
        let fault = |fault: EntryFault| TextFault::at(format!("{section}{}", fault.pointer), fault.message);
        faults.extend(error.faults.into_iter().map(fault));
    };
    let permissions = permissions.and_then(|permissions| match permissions.build() {
        Ok(built) if is_list || built.rules().iter().any(|rule| rule.effect() == RuleEffect::Allow) => Some(built),
        Ok(built) => Some(built.denials()),
        Err(error) => {
            add("/permissions", error);
            None
        }
    });
    let ask_rules = AskRules::new(&approval).unwrap_or_else(|error| {
        add("/approval", error);
        AskRules::default()
    });
    (permissions, ask_rules)
}

/// Returns the faults that the schema finds in the sections.
fn check(sections: &Value) -> Vec<TextFault> {
    let schema = SchemaGenerator::default().into_root_schema_for::<PolicySections>().to_value();
    match Schema::json(schema).map(|schema| schema.check(sections)) {
        Ok(Ok(())) => Vec::new(),
        Ok(Err(issues)) => issues.iter().map(issue_fault).collect(),
        Err(error) => vec![TextFault::at("", error.to_string())],
    }
}
