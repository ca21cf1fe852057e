//! Audit records of a run: the outcomes of approval requests, and the calls that a permit denied.
//!
//! Records are passed to the auditors of the run and emitted as tracing events. They contain no arguments and no
//! results.

use haft_core::tagged::{self, ReadVariant, TaggedEnum};
use haft_core::{CallId, Caller, FormatVersion, Timestamp};
use serde::{Deserialize, Deserializer, Serialize};

use super::record::ApprovalRecord;

/// A record for the auditors of a run, see [`RunOptions::audit`](crate::RunOptions::audit).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditRecord {
    /// The outcome of an approval request.
    Approval(ApprovalRecord),
    /// A call that was denied by a permit.
    Denial(DenialRecord),
}

/// A call that was denied by a permit, whose permit failed to decide, or whose tool a permit
/// [hides](crate::Permit::sees).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DenialRecord {
    /// The format version.
    #[serde(default)]
    pub v: FormatVersion,
    /// The id of the call.
    pub call_id: CallId,
    /// The name of the tool.
    pub tool: String,
    /// The rule that the permit [named](crate::Permission::by_rule).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The reason. It is what the model reads, except for a hidden tool.
    pub reason: String,
    /// The caller on whose behalf the call was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Caller>,
    /// The time at which the record was created, by the [approval clock](crate::RunOptions::approval_clock); the Unix
    /// epoch if the clock failed.
    pub recorded_at: Timestamp,
}

impl AuditRecord {
    /// Returns the record of an approval request, if this is one.
    #[must_use]
    pub fn approval(&self) -> Option<&ApprovalRecord> {
        match self {
            Self::Approval(record) => Some(record),
            Self::Denial(_) => None,
        }
    }

    /// Returns the record of a denied call, if this is one.
    #[must_use]
    pub fn denial(&self) -> Option<&DenialRecord> {
        match self {
            Self::Approval(_) => None,
            Self::Denial(record) => Some(record),
        }
    }
}

impl TaggedEnum for AuditRecord {
    const VARIANTS: &'static [(&'static str, ReadVariant<Self>)] = &[
        ("approval", |members| members.take_all().map(Self::Approval)),
        ("denial", |members| members.take_all().map(Self::Denial)),
    ];
    /// Records were about approvals alone before there were types.
    const UNTAGGED: Option<&'static str> = Some("approval");
}

impl<'de> Deserialize<'de> for AuditRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}
