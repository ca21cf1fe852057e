//! A command's environment.
//!
//! It contains only a few variables that most programs require, those that the tool sets, and the call's identity. So a
//! command gets no secret from this process unless its tool names it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use haft_executor::Cx;
use haft_registry::{EntryFault, NamedSecretError, Secrets};

use super::render::pointer;
use crate::redactor::Redactor;

/// The variables that a command inherits from this process if they are set: where programs, the home folder and
/// temporary files are, the language and the time zone.
#[cfg(not(windows))]
pub const KEPT_VARIABLES: &[&str] = &["HOME", "LANG", "LC_ALL", "PATH", "TMPDIR", "TZ"];

/// The variables that a command inherits from this process if they are set: where programs, the home folder and
/// temporary files are, and what Windows requires.
#[cfg(windows)]
pub const KEPT_VARIABLES: &[&str] = &["PATH", "PATHEXT", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"];

/// The variable with the call's id.
const CALL_ID: &str = "HAFT_CALL_ID";

/// The variable with the call's idempotency key.
const IDEMPOTENCY_KEY: &str = "HAFT_IDEMPOTENCY_KEY";

/// The longest call id to pass on, in bytes. Providers choose the ids, and theirs are short.
const MAX_CALL_ID: usize = 1024;

/// The variables that a tool sets.
#[derive(Clone, Debug, Default)]
pub(super) struct Environment {
    /// Constants.
    pub(super) constants: BTreeMap<String, String>,
    /// The secrets' names.
    pub(super) secrets: BTreeMap<String, String>,
}

/// One call's environment.
pub(super) struct CallEnvironment {
    pub(super) variables: BTreeMap<OsString, OsString>,
    /// Finds the secrets among the variables.
    pub(super) redactor: Redactor,
}

impl Environment {
    /// Adds the variables' faults to the list.
    pub(super) fn check(&self, faults: &mut Vec<EntryFault>) {
        for (table, names) in [("env", &self.constants), ("secret-env", &self.secrets)] {
            for (name, value) in names {
                let at = format!("/{table}{}", pointer(name));
                if name.is_empty() || name.contains(['=', '\0']) {
                    faults.push(EntryFault::at(at, "the name of a variable can't be empty or contain `=` or NUL"));
                } else if [CALL_ID, IDEMPOTENCY_KEY].contains(&name.as_str()) {
                    faults.push(EntryFault::at(at, "this variable is set for every call; choose another name"));
                } else if value.contains('\0') {
                    faults.push(EntryFault::at(at, "the value of a variable can't contain NUL"));
                }
            }
        }
        for name in self.secrets.keys().filter(|name| self.constants.contains_key(*name)) {
            let message = "this variable is also set in `env`; remove one of them";
            faults.push(EntryFault::at(format!("/secret-env{}", pointer(name)), message));
        }
    }

    /// Returns a call's environment. Reads the secrets.
    pub(super) fn of_call(&self, cx: &Cx) -> Result<CallEnvironment, EnvironmentError> {
        let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
        let kept = KEPT_VARIABLES.iter().filter_map(|&name| Some((name.into(), std::env::var_os(name)?)));
        variables.extend(kept);
        variables.extend(self.constants.iter().map(|(name, value)| (name.into(), value.into())));
        let mut redactor = Redactor::default();
        for (variable, name) in &self.secrets {
            let secret = cx.service::<Secrets>().map_err(|_| EnvironmentError::NoSecrets)?.get(name)?;
            if secret.expose().contains('\0') {
                return Err(EnvironmentError::NulInSecret { name: name.clone() });
            }
            variables.insert(variable.into(), secret.expose().into());
            redactor.add(&secret);
        }
        let id = cx.call_id().as_str();
        if id.len() <= MAX_CALL_ID && !id.contains('\0') {
            variables.insert(CALL_ID.into(), id.into());
        }
        variables.insert(IDEMPOTENCY_KEY.into(), cx.idempotency_key().into());
        Ok(CallEnvironment { variables, redactor })
    }
}

/// An environment that can't be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// A secret can't be read.
    #[error(transparent)]
    Secret(#[from] NamedSecretError),
    /// A secret contains NUL.
    #[error("the secret `{name}` contains a NUL character, which no environment variable can hold")]
    NulInSecret {
        /// The secret's name.
        name: String,
    },
    /// There is no service with secrets.
    #[error("the service `Secrets` is missing")]
    NoSecrets,
}
