//! Verdicts that hold for more than one call.
//!
//! A memory belongs to one session: whoever keeps it decides how long that is, and may store it. A verdict is remembered
//! per caller, for exactly what its scope says and for nothing wider: a tool that is defined otherwise than when the
//! verdict was given is another tool.
//!
//! The narrowest verdict holds. A wider denial that was given later revokes it, unless it is a denial itself; a wider
//! approval that was given later does not. A memory is bounded, and what it can't hold makes it stricter, never more
//! lenient: approvals are forgotten, denials are merged into wider ones.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cx::Caller;
use crate::item::{ApprovalDecision, ApprovalResponse, ApprovalScope};
use crate::tool::ToolId;
use crate::version::FormatVersion;

/// The message to the model about a call that falls under denials that were merged.
const MERGED: &str = "more calls were denied than can be remembered one by one, so this one is denied as well";

/// The verdicts of one session that hold for more than one call. Cloning shares it; it serialises.
///
/// Of several verdicts that hold for a call the narrowest counts: one for its arguments, then one for its tool, then one
/// for the session. A denial revokes every approval, edit and answer that was given before it for something narrower. An
/// approval does not revoke a denial of something narrower: that has to be revoked by a verdict with its own scope.
///
/// It holds [1,024](Self::DEFAULT_MOST) verdicts unless it is [bounded](Self::bounded) otherwise. When it is full, the
/// oldest approval, edit or answer is forgotten, and somebody is asked again. Denials are never forgotten: when there is
/// nothing else, a new one is merged with others into a denial of its whole tool, of its caller's whole session, or in the
/// end of everything, which only [`clear`](Self::clear) ends.
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
pub struct ApprovalMemory(Arc<Mutex<MemoryEntries>>);

/// What a verdict is remembered for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct MemoryKey {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<Caller>,
    #[serde(flatten)]
    subject: VerdictSubject,
}

/// From the narrowest to the widest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "scope", content = "subject", rename_all = "snake_case")]
enum VerdictSubject {
    TheseArguments(String),
    ThisTool(String),
    ThisSession,
    /// Every call of every caller: only denials that were merged.
    Everything,
}

/// A verdict, and what else is known of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RememberedVerdict {
    verdict: ApprovalResponse,
    /// The tool of the call it was given for, as [`VerdictSubject::ThisTool`] names it. Older memories did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    /// Set if it is the denial of several subjects in one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_merged: bool,
    /// The how-manieth verdict of this memory it is. The order is stored, not the number.
    #[serde(skip)]
    given: u64,
}

/// At most so many verdicts.
#[derive(Clone)]
struct MemoryEntries {
    most: NonZeroUsize,
    kept: BTreeMap<MemoryKey, RememberedVerdict>,
    /// The subjects of all verdicts but denials, the oldest first.
    revocable: BTreeMap<u64, MemoryKey>,
    given: u64,
}

/// What a call is, to a memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallIdentity<'a> {
    pub(super) caller: Option<&'a Caller>,
    /// The digest of the call.
    pub(super) digest: &'a str,
    /// Its tool, whatever that is called.
    pub(super) tool: &'a ToolId,
    /// The digest of the tool's definition.
    pub(super) definition: &'a str,
}

impl ApprovalMemory {
    /// The most verdicts that a memory holds unless it is [bounded](Self::bounded) otherwise.
    pub const DEFAULT_MOST: NonZeroUsize = match NonZeroUsize::new(1_024) {
        Some(most) => most,
        None => NonZeroUsize::MIN,
    };

    /// A memory of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty memory that holds at most this many verdicts.
    #[must_use]
    pub fn bounded(most: NonZeroUsize) -> Self {
        Self(Arc::new(Mutex::new(MemoryEntries::new(most))))
    }

    /// How many verdicts it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().kept.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().kept.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let mut entries = self.entries();
        *entries = MemoryEntries::new(entries.most);
    }

    /// Returns the verdict that holds for a call: the narrowest that no wider denial has revoked.
    pub(super) fn verdict_for(&self, identity: CallIdentity<'_>) -> Option<ApprovalResponse> {
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

    /// Remembers a verdict as far as its scope says. The latest one for the same scope holds.
    pub(super) fn remember(&self, identity: CallIdentity<'_>, response: &ApprovalResponse) {
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

    /// Nothing of a user's runs while the lock is held.
    fn entries(&self) -> MutexGuard<'_, MemoryEntries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tool as it was defined, as a subject names it.
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

    /// Adds a verdict in the place of an earlier one on the same subject. Where there is no room, the oldest verdict that
    /// is no denial makes some; without one, an approval is not remembered and a denial is merged with others.
    fn insert(&mut self, key: MemoryKey, kept: RememberedVerdict) {
        // The denials that were merged into this one may be of narrower subjects, which an approval does not revoke.
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

    /// Makes one denial of a new one and all that the next wider subject covers, so that there is room again.
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

    /// Returns whether a denial of this covers all that a verdict on `known`, about a call of `tool`, is about.
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
    /// Returns whether it keeps calls from running. Everything else lets one run, or answers in its place.
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
    /// Set if the verdicts are in the order they were given. Older memories did not know it.
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
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
            StoredMemory::deserialize(crate::schema::tree(deserializer)?).map_err(D::Error::custom)?;
        if !oldest_first {
            // Which were given later is not known, so denials count as the later ones.
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
