//! The settings of an executor.

use std::sync::Arc;

use haft_core::{RunOptions, Services};

use super::Executor;
use crate::permission::{AskRules, Permissions};
use crate::registry::Registry;
use crate::secrets::Secrets;

/// The settings of an executor: services that are given once, for all tools that need them, and rules.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct ExecutorBuilder {
    pub(super) services: Services,
    /// Unset if only the permissions of the scope around a call apply.
    pub(super) permissions: Option<Permissions>,
    /// Further permissions, all of which must allow a call as well.
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

    /// Adds a service, in place of an earlier one of its type. Tools that have a service of this type of their own,
    /// because their toolkit does, keep it.
    pub fn service<T: Send + Sync + 'static>(mut self, service: T) -> Self {
        self.services = self.services.with(service);
        self
    }

    /// Adds a shared service, which may be a trait object, in place of an earlier one of its type.
    pub fn shared_service<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.with_shared(service);
        self
    }

    /// Sets the permissions. Permits of the [options](Self::options) and of a run apply as well: all must allow a call.
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.permissions = Some(permissions);
        self
    }

    /// Adds permissions that must allow a call as well, such as those of an organisation or of a user. They can only
    /// narrow what is permitted; see [`Permissions::denials`] for rules that deny and leave the rest to others.
    ///
    /// ```
    /// use haft_core::Tool;
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

    /// Adds rules that require approval, behind those that are set.
    pub fn more_ask_rules(mut self, rules: &AskRules) -> Self {
        self.ask_rules = self.ask_rules.and(rules);
        self
    }

    /// Sets the rules that require approval. Those of the tools themselves and of a run apply as well.
    pub fn ask_rules(mut self, rules: AskRules) -> Self {
        self.ask_rules = rules;
        self
    }

    /// Adds options of [`Executor::run`]: limits, approver, observers, and permits of the application. They are combined
    /// with earlier ones, such as the limits of a file, as [`RunOptions::merge`] does: the stricter limit applies.
    pub fn options(mut self, options: RunOptions) -> Self {
        self.options = self.options.merge(options);
        self
    }

    /// Builds an executor of the tools of a registry.
    #[must_use]
    pub fn build(self, registry: Registry) -> Executor {
        Executor::of(registry, self)
    }
}
