//! The groups of a caller.

use std::sync::Arc;

/// The groups that a run's caller belongs to, which conditions read as `groups`. Cloning is cheap.
///
/// Attach them to the run beside the caller:
///
/// ```
/// use haft_executor::{RunOptions, Tool};
/// use haft_registry::{AskRules, AskSettings, CallerGroups, Executor, Registry, Workspace};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").handler(|(), _cx| async { "paid" })?;
/// let project = Workspace::builder().toolbox("bank").tool(pay).build()?;
/// let rules = AskRules::new(&[AskSettings::ask("bank/*").when("!('managers' in groups)")])?;
/// let executor = Executor::builder().ask_rules(rules).build(Registry::builder().workspace(project).build()?);
///
/// let ana = RunOptions::new().caller("ana").extension(CallerGroups::new(["managers"]));
/// assert!(executor.run_with("bank/pay", json!({}), ana).await.is_ok());
/// assert!(executor.run_with("bank/pay", json!({}), RunOptions::new().caller("bob")).await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerGroups(Arc<[Box<str>]>);

impl CallerGroups {
    /// Creates a list of groups.
    #[must_use]
    pub fn new<G: Into<Box<str>>>(groups: impl IntoIterator<Item = G>) -> Self {
        Self(groups.into_iter().map(Into::into).collect())
    }

    /// Returns the groups.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|group| &**group)
    }

    pub(super) fn as_slice(&self) -> &[Box<str>] {
        &self.0
    }
}
