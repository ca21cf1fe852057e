//! Verdicts that hold for more than one call.
//!
//! A memory belongs to one session: whoever keeps it decides how long that is, and may store it. A verdict is remembered
//! per caller, for exactly what its scope says and for nothing wider: a tool that is defined otherwise than when the
//! verdict was given is another tool.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cx::Caller;
use crate::item::{ApprovalDecision, ApprovalResponse, ApprovalScope};
use crate::tool::ToolId;
use crate::version::FormatVersion;

/// The verdicts of one session that hold for more than one call. Cloning shares it; it serialises.
///
/// ```
/// use haft_core::{ApprovalMemory, ApprovalPolicy, ApprovalRequest, ApprovalScope, Cx, RunOptions, Tool, ToolCall, Toolkit};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
/// let memory = ApprovalMemory::new();
/// let asking = RunOptions::new().approval_memory(&memory).approvals(|request: ApprovalRequest, _cx: Cx| async move {
///     request.approve().scope(ApprovalScope::ThisTool)
/// });
/// assert!(kit.run([ToolCall::new("c1", "pay", "5")]).with(asking).collect_results().await[0].is_ok());
///
/// // Nobody is asked any more, and nobody could be:
/// let run = kit.run([ToolCall::new("c2", "pay", "900")]).with(RunOptions::new().approval_memory(&memory));
/// assert!(run.collect_results().await[0].is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ApprovalMemory(Arc<Mutex<BTreeMap<Key, ApprovalResponse>>>);

/// What a verdict is remembered for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Caller>,
    #[serde(flatten)]
    subject: Subject,
}

/// From the narrowest to the widest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "scope", content = "subject", rename_all = "snake_case")]
enum Subject {
    TheseArguments(String),
    ThisTool(String),
    ThisSession,
}

/// What a call is, to a memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct About<'a> {
    pub(super) caller: Option<&'a Caller>,
    /// The digest of the call.
    pub(super) digest: &'a str,
    /// Its tool, whatever that is called.
    pub(super) tool: &'a ToolId,
    /// The digest of the tool's definition.
    pub(super) definition: &'a str,
}

impl ApprovalMemory {
    /// A memory of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many verdicts it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries().clear();
    }

    /// The verdict that holds for a call, the narrowest first.
    pub(super) fn recall(&self, about: About<'_>) -> Option<ApprovalResponse> {
        let entries = self.entries();
        let subjects = [Subject::TheseArguments(about.digest.to_owned()), about.this_tool(), Subject::ThisSession];
        let mut keys = subjects.into_iter().map(|subject| Key { caller: about.caller.cloned(), subject });
        keys.find_map(|key| entries.get(&key).cloned())
    }

    /// Remembers a verdict as far as its scope says. The latest one for the same scope holds.
    pub(super) fn remember(&self, about: About<'_>, response: &ApprovalResponse) {
        let is_for_any_arguments = matches!(response.decision, ApprovalDecision::Approved | ApprovalDecision::Denied);
        let subject = match (&response.scope, &response.decision) {
            (ApprovalScope::ThisCall | ApprovalScope::Other(_), _) | (_, ApprovalDecision::Other(_)) => return,
            (ApprovalScope::ThisTool, _) if is_for_any_arguments => about.this_tool(),
            (ApprovalScope::ThisSession, _) if is_for_any_arguments => Subject::ThisSession,
            _ => Subject::TheseArguments(about.digest.to_owned()),
        };
        self.entries().insert(Key { caller: about.caller.cloned(), subject }, response.clone());
    }

    /// Nothing of a user's runs while the lock is held.
    fn entries(&self) -> MutexGuard<'_, BTreeMap<Key, ApprovalResponse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl About<'_> {
    fn this_tool(&self) -> Subject {
        Subject::ThisTool(format!("{} {}", self.definition, self.tool))
    }
}

impl From<&Self> for ApprovalMemory {
    fn from(memory: &Self) -> Self {
        memory.clone()
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default)]
    v: FormatVersion,
    verdicts: Vec<Remembered>,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    holds_for: Key,
    verdict: ApprovalResponse,
}

impl Serialize for ApprovalMemory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries().clone();
        let verdicts = entries.into_iter().map(|(holds_for, verdict)| Remembered { holds_for, verdict }).collect();
        Written { v: FormatVersion::default(), verdicts }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ApprovalMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { verdicts, .. } =
            Written::deserialize(crate::schema::tree(deserializer)?).map_err(D::Error::custom)?;
        let verdicts = verdicts.into_iter().map(|remembered| (remembered.holds_for, remembered.verdict));
        Ok(Self(Arc::new(Mutex::new(verdicts.collect()))))
    }
}

impl fmt::Debug for ApprovalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalMemory").field("verdicts", &self.len()).finish()
    }
}
