//! The party that decides about an approval request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The party that decides about calls that require approval, written as its name.
///
/// ```
/// use haft_core::{ApprovalRequest, Decider, ToolCall};
///
/// let request = ApprovalRequest::new("q1", &ToolCall::new("c1", "pay", "5")).decided_by(Decider::Approvers);
/// assert_eq!(request.decider(), Some(Decider::Approvers));
/// assert_eq!(serde_json::to_value(&request)?["decider"], "approvers");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// The user of the client that made the call.
    Client,
    /// Other people: those who answer for the tools. The client can't approve its own calls.
    Approvers,
}

impl Decider {
    /// Returns the name, as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Approvers => "approvers",
        }
    }
}
