//! Executor settings.

use std::sync::Arc;

use haft_executor::{RunOptions, Services};

use super::Executor;
use crate::permission::{AskRules, Permissions};
use crate::registry::Registry;
use crate::secrets::Secrets;

/// Executor settings: rules, and services that you give once for all tools that need them.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ExecutorBuilder {
    pub(super) services: Services,
    /// Unset if only the permissions from the scope around a call apply.
    pub(super) permissions: Option<Permissions>,
    /// Further permissions, all of which must also allow a call.
    pub(super) narrowing: Vec<Permissions>,
    pub(super) ask_rules: AskRules,
    pub(super) options: RunOptions,
}

impl ExecutorBuilder {
    pub(super) fn new() -> Self {
        let services = Services::new().with(Secrets::new());
        let (ask_rules, options) = (AskRules::default(), RunOptions::new());
        Self { services, permissions: None, narrowing: Vec::new(), ask_rules, options }
    }

    /// Sets the secrets that tools refer to by name.
    pub fn secrets(self, secrets: Secrets) -> Self {
        self.service(secrets)
    }

    /// Adds a service, replacing an earlier one with the same type. A tool whose toolkit has its own service with this
    /// type keeps it.
    pub fn service<T: Send + Sync + 'static>(mut self, service: T) -> Self {
        self.services = self.services.with(service);
        self
    }

    /// Adds a shared service, which may be a trait object, replacing an earlier one with the same type.
    pub fn shared_service<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.with_shared(service);
        self
    }

    /// Sets the permissions. Permits from the [options](Self::options) and from a run apply as well: all must allow a
    /// call.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Adds permissions that must also allow a call, such as an organisation's or a user's. They can only narrow what
    /// is permitted. To deny some calls and leave the rest to others, use [`Permissions::denials`].
    ///
    /// ```
    /// use haft_executor::Tool;
    /// use haft_registry::{Executor, PermissionSettings, Registry, Workspace};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let drop = Tool::new("drop").handler(|(), _cx| async { "dropped" })?;
    /// let registry = Registry::builder().workspace(Workspace::builder().toolbox("db").tool(drop).build()?).build()?;
    /// let company = PermissionSettings::new().deny("db/drop").build()?.denials();
    /// let executor = Executor::builder().narrowed_by(company).build(registry);
    /// assert!(executor.run("db/drop", serde_json::json!({})).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn narrowed_by(mut self, permissions: Permissions) -> Self {
        self.narrowing.push(permissions);
        self
    }

    /// Adds rules that require approval, after those already set.
    pub fn more_ask_rules(mut self, rules: &AskRules) -> Self {
        self.ask_rules = self.ask_rules.and(rules);
        self
    }

    /// Sets the rules that require approval. The tools' own rules and a run's apply as well.
    pub fn ask_rules(mut self, rules: AskRules) -> Self {
        self.ask_rules = rules;
        self
    }

    /// Adds options for [`Executor::run`]: limits, approver, observers and the application's permits. They are combined
    /// with earlier ones, such as a file's limits, as in [`RunOptions::merge`]: the stricter limit applies.
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = self.options.merge(options);
        self
    }

    /// Builds an executor for a registry's tools.
    #[must_use]
    pub fn build(self, registry: Registry) -> Executor {
        Executor::of(registry, self)
    }
}
