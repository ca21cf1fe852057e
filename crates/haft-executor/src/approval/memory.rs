//! Verdicts that apply to more than one call.
//!
//! A memory belongs to one session. The application decides how long the session lasts and may store the memory. A
//! verdict is remembered per caller and applies to exactly what its scope covers: a tool whose definition has changed
//! is another tool.
//!
//! The narrowest verdict applies. A later denial with a wider scope revokes a narrower approval; a later approval with
//! a wider scope does not revoke a narrower denial. A memory is bounded. When it is full it becomes stricter, never
//! more lenient: approvals are forgotten, denials are merged into wider ones.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use haft_core::{ApprovalDecision, ApprovalScope, Caller, FormatVersion, ToolId, Verdict};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The message to the model for a call that is covered by merged denials.
const MERGED: &str = "this call is denied because more calls were denied than can be remembered individually";

/// The verdicts of one session that apply to more than one call. Clones share the same memory. It can be serialised.
///
/// If several verdicts apply to a call, the narrowest one is used: first one for its arguments, then one for its tool,
/// then one for the session. A denial revokes every earlier approval, edit and answer with a narrower scope. An
/// approval does not revoke a denial with a narrower scope: only a verdict with the same scope does.
///
/// A memory holds at most [1,024](Self::DEFAULT_MOST) verdicts unless it is created with [another
/// bound](Self::bounded). When it is full, the oldest approval, edit or answer is forgotten, and approval is requested
/// again. Denials are never forgotten: if nothing else can be removed, a new denial is merged with others into a denial
/// of the whole tool, of the caller's whole session, or finally of every call, until [`clear`](Self::clear) is called.
///
/// A verdict is remembered for the caller of its call; calls without a caller share theirs. Another caller is not affected.
///
/// ```
/// use haft_executor::{ApprovalMemory, ApprovalPolicy, Cx, RunOptions, Tool, Toolkit};
/// use haft_core::{ApprovalRequest, ApprovalScope, ToolCall};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
/// let kit: Toolkit = Toolkit::from_iter([pay]);
/// let memory = ApprovalMemory::new();
/// let asking = RunOptions::new().approval_memory(&memory).approvals(|request: ApprovalRequest, _cx: Cx| async move {
///     request.approve().scope(ApprovalScope::ThisTool)
/// });
/// assert!(kit.run_with([ToolCall::new("c1", "pay", "5")], asking).collect_results().await[0].is_ok());
///
/// // The verdict is remembered, so no approver is needed:
/// let run = kit.run_with([ToolCall::new("c2", "pay", "900")], RunOptions::new().approval_memory(&memory));
/// assert!(run.collect_results().await[0].is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct ApprovalMemory(Arc<Mutex<MemoryEntries>>);

/// The calls that a verdict applies to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct MemoryKey {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Caller>,
    #[serde(flatten)]
    subject: VerdictSubject,
}

/// The subject of a verdict, from the narrowest to the widest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "scope", content = "subject", rename_all = "snake_case")]
enum VerdictSubject {
    TheseArguments(String),
    ThisTool(String),
    ThisSession,
    /// Every call of every caller. Only merged denials have this subject.
    Everything,
}

/// A verdict and its position in the memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RememberedVerdict {
    verdict: Verdict,
    /// The tool of the call that the verdict was given for, as in [`VerdictSubject::ThisTool`]. Older formats do not
    /// contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// Set if the verdict replaces several denials.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_merged: bool,
    /// The sequence number of the verdict in this memory. Only the order is stored, not the number.
    #[serde(skip)]
    given: u64,
}

/// A bounded set of verdicts.
#[derive(Clone)]
struct MemoryEntries {
    most: NonZeroUsize,
    kept: BTreeMap<MemoryKey, RememberedVerdict>,
    /// The keys of all verdicts except denials, oldest first.
    revocable: BTreeMap<u64, MemoryKey>,
    given: u64,
}

/// The identity of a call for the purpose of remembering verdicts.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallIdentity<'a> {
    pub(super) caller: Option<&'a Caller>,
    /// The digest of the call.
    pub(super) digest: &'a str,
    /// The id of its tool, which does not depend on the name.
    pub(super) tool: &'a ToolId,
    /// The digest of the tool's definition.
    pub(super) definition: &'a str,
}

impl ApprovalMemory {
    /// The maximum number of verdicts in a memory that was not created with [another bound](Self::bounded).
    pub const DEFAULT_MOST: NonZeroUsize = match NonZeroUsize::new(1_024) {
        Some(most) => most,
        None => NonZeroUsize::MIN,
    };

    /// Creates an empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty memory that holds at most this many verdicts.
    #[must_use]
    pub fn bounded(most: NonZeroUsize) -> Self {
        Self(Arc::new(Mutex::new(MemoryEntries::new(most))))
    }

    /// Returns the number of verdicts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().kept.len()
    }

    /// Reports whether the memory holds no verdicts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().kept.is_empty()
    }

    /// Removes all verdicts.
    pub fn clear(&self) {
        let mut entries = self.entries();
        *entries = MemoryEntries::new(entries.most);
    }

    /// Returns the verdict that applies to a call: the narrowest one that no wider denial has revoked.
    pub(super) fn verdict_for(&self, identity: CallIdentity<'_>) -> Option<Verdict> {
        let entries = self.entries();
        let subjects = [
            VerdictSubject::TheseArguments(identity.digest.to_owned()),
            identity.this_tool().into(),
            VerdictSubject::ThisSession,
        ];
        let keys = subjects.into_iter().map(|subject| MemoryKey { caller: identity.caller.cloned(), subject });
        let found: Vec<&RememberedVerdict> =
            keys.chain([MemoryKey::EVERYTHING]).filter_map(|key| entries.kept.get(&key)).collect();
        let mut holding = found.iter().enumerate().filter(|(place, kept)| {
            let mut wider = found[place + 1..].iter();
            kept.is_denial() || !wider.any(|wider| wider.is_denial() && wider.given > kept.given)
        });
        holding.next().map(|(_, kept)| kept.verdict.clone())
    }

    /// Remembers a verdict for the calls that its scope covers. It replaces an earlier verdict with the same scope.
    pub(super) fn remember(&self, identity: CallIdentity<'_>, response: &Verdict) {
        let is_for_any_arguments = matches!(response.decision, ApprovalDecision::Approved | ApprovalDecision::Denied);
        let subject = match (&response.scope, &response.decision) {
            (ApprovalScope::ThisCall | ApprovalScope::Other(_), _) | (_, ApprovalDecision::Other(_)) => return,
            (ApprovalScope::ThisTool, _) if is_for_any_arguments => identity.this_tool().into(),
            (ApprovalScope::ThisSession, _) if is_for_any_arguments => VerdictSubject::ThisSession,
            (ApprovalScope::TheseArguments | ApprovalScope::ThisTool | ApprovalScope::ThisSession, _) => {
                VerdictSubject::TheseArguments(identity.digest.to_owned())
            }
        };
        let ToolSubject(tool) = identity.this_tool();
        let kept = RememberedVerdict { verdict: response.clone(), tool: Some(tool), is_merged: false, given: 0 };
        self.entries().insert(MemoryKey { caller: identity.caller.cloned(), subject }, kept);
    }

    /// Locks the entries. No user code runs while the lock is held.
    fn entries(&self) -> MutexGuard<'_, MemoryEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tool with its definition, as the subject of a verdict.
struct ToolSubject(String);

impl From<ToolSubject> for VerdictSubject {
    fn from(ToolSubject(tool): ToolSubject) -> Self {
        Self::ThisTool(tool)
    }
}

impl CallIdentity<'_> {
    fn this_tool(&self) -> ToolSubject {
        ToolSubject(format!("{} {}", self.definition, self.tool))
    }
}

impl MemoryEntries {
    fn new(most: NonZeroUsize) -> Self {
        Self { most, kept: BTreeMap::new(), revocable: BTreeMap::new(), given: 0 }
    }

    /// Adds a verdict, replacing an earlier one with the same key. If the memory is full, the oldest verdict that is no
    /// denial is removed. If there is none, an approval is not remembered and a denial is merged with others.
    fn insert(&mut self, key: MemoryKey, kept: RememberedVerdict) {
        // The stored denial replaces several denials that may have narrower subjects, which an approval does not
        // revoke.
        if !kept.is_denial() && self.kept.get(&key).is_some_and(|known| known.is_merged) {
            return;
        }
        self.remove(&key);
        if self.kept.len() < self.most.get() {
            return self.put(key, kept);
        }
        if let Some((_, oldest)) = self.revocable.pop_first() {
            self.kept.remove(&oldest);
            return self.put(key, kept);
        }
        if kept.is_denial() {
            self.merge(&key, kept);
        }
    }

    /// Merges a new denial with all verdicts that the next wider subject covers, which frees space.
    fn merge(&mut self, key: &MemoryKey, mut kept: RememberedVerdict) {
        (kept.is_merged, kept.verdict.reason) = (true, Some(MERGED.to_owned()));
        let tool = kept.tool.clone().map(VerdictSubject::ThisTool);
        let of_caller = tool.into_iter().chain([VerdictSubject::ThisSession]);
        let of_caller = of_caller.map(|subject| MemoryKey { caller: key.caller.clone(), subject });
        for wide in of_caller.chain([MemoryKey::EVERYTHING]) {
            let covered = self.kept.iter().filter(|(known, kept)| wide.covers(known, kept.tool.as_deref()));
            let covered: Vec<MemoryKey> = covered.map(|(known, _)| known.clone()).collect();
            for known in &covered {
                self.remove(known);
            }
            if !covered.is_empty() {
                return self.put(wide, kept);
            }
        }
    }

    fn put(&mut self, key: MemoryKey, mut kept: RememberedVerdict) {
        self.given += 1;
        kept.given = self.given;
        if !kept.is_denial() {
            self.revocable.insert(kept.given, key.clone());
        }
        self.kept.insert(key, kept);
    }

    fn remove(&mut self, key: &MemoryKey) {
        if let Some(kept) = self.kept.remove(key) {
            self.revocable.remove(&kept.given);
        }
    }
}

impl MemoryKey {
    const EVERYTHING: Self = Self { caller: None, subject: VerdictSubject::Everything };

    /// Reports whether a denial with this key covers everything that a verdict with the key `known`, for a call of
    /// `tool`, covers.
    fn covers(&self, known: &Self, tool: Option<&str>) -> bool {
        let is_same_caller = self.caller == known.caller;
        match (&self.subject, &known.subject) {
            (VerdictSubject::Everything, _) => true,
            (_, VerdictSubject::Everything) => false,
            (VerdictSubject::ThisSession, _) => is_same_caller,
            (VerdictSubject::ThisTool(this), VerdictSubject::TheseArguments(_)) => is_same_caller && tool == Some(this),
            (VerdictSubject::ThisTool(_) | VerdictSubject::TheseArguments(_), _) => self == known,
        }
    }
}

impl RememberedVerdict {
    /// Reports whether the verdict prevents calls. All other decisions let the call run or answer it.
    fn is_denial(&self) -> bool {
        match self.verdict.decision {
            ApprovalDecision::Denied | ApprovalDecision::Other(_) => true,
            ApprovalDecision::Approved | ApprovalDecision::Edited(_) | ApprovalDecision::Answered(_) => false,
        }
    }
}

impl Default for MemoryEntries {
    fn default() -> Self {
        Self::new(ApprovalMemory::DEFAULT_MOST)
    }
}

impl From<&Self> for ApprovalMemory {
    fn from(memory: &Self) -> Self {
        memory.clone()
    }
}

#[derive(Serialize, Deserialize)]
struct StoredMemory {
    #[serde(default)]
    v: FormatVersion,
    #[serde(default = "default_most", skip_serializing_if = "is_default_most")]
    most: NonZeroUsize,
    /// Set if the verdicts are stored in the order they were given. Older formats do not guarantee that.
    #[serde(default)]
    oldest_first: bool,
    verdicts: Vec<StoredVerdict>,
}

#[derive(Serialize, Deserialize)]
struct StoredVerdict {
    holds_for: MemoryKey,
    #[serde(flatten)]
    kept: RememberedVerdict,
}

fn default_most() -> NonZeroUsize {
    ApprovalMemory::DEFAULT_MOST
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_default_most(most: &NonZeroUsize) -> bool {
    *most == ApprovalMemory::DEFAULT_MOST
}

impl Serialize for ApprovalMemory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let MemoryEntries { most, kept, .. } = self.entries().clone();
        let mut verdicts: Vec<_> =
            kept.into_iter().map(|(holds_for, kept)| StoredVerdict { holds_for, kept }).collect();
        verdicts.sort_by_key(|remembered| remembered.kept.given);
        StoredMemory { v: FormatVersion::default(), most, oldest_first: true, verdicts }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ApprovalMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredMemory { most, oldest_first, mut verdicts, .. } =
            StoredMemory::deserialize(haft_schema::internal::tree(deserializer)?).map_err(D::Error::custom)?;
        if !oldest_first {
            // The order is unknown, so denials count as the later ones.
            verdicts.sort_by_key(|remembered| remembered.kept.is_denial());
        }
        let mut entries = MemoryEntries::new(most);
        for StoredVerdict { holds_for, kept } in verdicts {
            entries.insert(holds_for, kept);
        }
        Ok(Self(Arc::new(Mutex::new(entries))))
    }
}

impl fmt::Debug for ApprovalMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalMemory").field("verdicts", &self.len()).finish()
    }
}
