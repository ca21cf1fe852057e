//! The reasons why a call has no value.
//!
//! Programs match on the names of the kinds and models read them, so they never change once released. The list is open:
//! names that user code defines are treated like the built-in ones. Each name is one kind: a [`CustomKind`] can't hold
//! the name of a built-in kind, so no code has to check for both.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The reason why a call has no value. Serialised as its name, for example `"timed_out"`.
///
/// A kind is created from its name, which is how user code defines kinds:
///
/// ```
/// use haft_core::FailureKind;
///
/// assert_eq!(FailureKind::from("timed_out"), FailureKind::TimedOut);
///
/// let own = FailureKind::from("out_of_stock");
/// assert_eq!(own.as_str(), "out_of_stock");
/// assert!(matches!(own, FailureKind::Custom(name) if name == "out_of_stock"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// No tool has this name. Retryable: the model can choose an existing one.
    UnknownTool,
    /// The tool is not executed here: its provider, the loop or an outside actor handles it. Not retryable.
    NonLocalTool,
    /// The arguments are invalid. Retryable: the model can correct them.
    InputValidationError,
    /// The value that the handler returned is invalid. Not retryable: the handler ran, and has a bug.
    OutputValidationError,
    /// The tool returned a failure that it declares. Not retryable unless the failure is marked so.
    ToolFailed,
    /// The handler returned an undeclared error or panicked. Not retryable unless the handler marks it so.
    ExecutionError,
    /// The caller may not use the tool. Not retryable.
    PermissionDenied,
    /// The call was denied by a verdict, or because approval could not be obtained. Not retryable.
    Denied,
    /// The call was cancelled before it finished. Not retryable.
    Cancelled,
    /// The call timed out. Retryable: it may be faster next time.
    TimedOut,
    /// The response with the call was cut off, so the call did not run. Retryable: the model can make it again.
    Interrupted,
    /// An earlier call of the batch has the same id. Not retryable: that call gets the result.
    DuplicateCallId,
    /// The value is larger than the cap of the tool. Not retryable: the same call would return the same value.
    OutputTooLarge,
    /// The call was sent elsewhere and its reply was lost, so it may have had its effects. Not retryable: a repeated
    /// call may repeat them.
    OutcomeUnknown,
    /// The call asked a question, and no approver could be asked. Not retryable: the same call would ask again.
    InputRequired,
    /// A kind that user code defines. Not retryable unless the failure is marked so.
    Custom(CustomKind),
}

/// The name of a failure kind that is not built in. It is created only by the conversions of [`FailureKind`] from text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CustomKind(Box<str>);

impl CustomKind {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for CustomKind {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for CustomKind {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

impl fmt::Display for CustomKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FailureKind {
    /// All built-in kinds.
    pub const ALL: [Self; 15] = [
        Self::UnknownTool,
        Self::NonLocalTool,
        Self::InputValidationError,
        Self::OutputValidationError,
        Self::ToolFailed,
        Self::ExecutionError,
        Self::PermissionDenied,
        Self::Denied,
        Self::Cancelled,
        Self::TimedOut,
        Self::Interrupted,
        Self::DuplicateCallId,
        Self::OutputTooLarge,
        Self::OutcomeUnknown,
        Self::InputRequired,
    ];

    /// Returns the built-in kind with this name.
    fn built_in(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the name, as it is serialised and as the model reads it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::NonLocalTool => "non_local_tool",
            Self::InputValidationError => "input_validation_error",
            Self::OutputValidationError => "output_validation_error",
            Self::ToolFailed => "tool_failed",
            Self::ExecutionError => "execution_error",
            Self::PermissionDenied => "permission_denied",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Interrupted => "interrupted",
            Self::DuplicateCallId => "duplicate_call_id",
            Self::OutputTooLarge => "output_too_large",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::InputRequired => "input_required",
            Self::Custom(name) => name.as_str(),
        }
    }

    /// Reports whether another call, corrected or later, may succeed if nothing else is known.
    #[must_use]
    pub fn retryable_by_default(&self) -> bool {
        match self {
            Self::UnknownTool | Self::InputValidationError | Self::TimedOut | Self::Interrupted => true,
            Self::NonLocalTool
            | Self::OutputValidationError
            | Self::ToolFailed
            | Self::ExecutionError
            | Self::PermissionDenied
            | Self::Denied
            | Self::Cancelled
            | Self::DuplicateCallId
            | Self::OutputTooLarge
            | Self::OutcomeUnknown
            | Self::InputRequired
            | Self::Custom(_) => false,
        }
    }

    /// Reports whether the handler is assumed to have started if nothing else is known.
    ///
    /// In doubt it is: a call that may have had effects must not be repeated as if it had none.
    #[must_use]
    pub fn started_by_default(&self) -> bool {
        match self {
            Self::OutputValidationError
            | Self::ToolFailed
            | Self::ExecutionError
            | Self::TimedOut
            | Self::OutputTooLarge
            | Self::OutcomeUnknown
            | Self::InputRequired
            | Self::Custom(_) => true,
            Self::UnknownTool
            | Self::NonLocalTool
            | Self::InputValidationError
            | Self::PermissionDenied
            | Self::Denied
            | Self::Cancelled
            | Self::Interrupted
            | Self::DuplicateCallId => false,
        }
    }

    /// Returns the message for the model if no other is given.
    #[must_use]
    pub fn default_message(&self) -> &'static str {
        match self {
            Self::UnknownTool => "there is no tool with this name",
            Self::NonLocalTool => "this tool is not executed here",
            Self::InputValidationError => "the arguments are not valid for this tool",
            Self::OutputValidationError => "the tool returned an invalid value",
            Self::ToolFailed => "the tool reported a failure",
            Self::ExecutionError => "the tool failed with an internal error",
            Self::PermissionDenied => "the use of this tool is not permitted",
            Self::Denied => "the call was denied",
            Self::Cancelled => "the call was cancelled",
            Self::TimedOut => "the call timed out",
            Self::Interrupted => "the response was cut off, so the call was not run",
            Self::DuplicateCallId => "an earlier call has the same id, so this one was not run",
            Self::OutputTooLarge => "the tool's output is too large",
            Self::OutcomeUnknown => {
                "the call was sent and no reply arrived: it may have taken effect; check before calling again"
            }
            Self::InputRequired => "this call asks a question, and nobody can be asked here",
            Self::Custom(_) => "the call failed",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl From<&str> for FailureKind {
    fn from(name: &str) -> Self {
        Self::built_in(name).unwrap_or_else(|| Self::Custom(CustomKind(name.into())))
    }
}

impl From<String> for FailureKind {
    fn from(name: String) -> Self {
        Self::built_in(&name).unwrap_or_else(|| Self::Custom(CustomKind(name.into())))
    }
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for FailureKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Name, retryable, started: one line per kind, in the order of [`FailureKind::ALL`].
    const TABLE: [(&str, bool, bool); 15] = [
        ("unknown_tool", true, false),
        ("non_local_tool", false, false),
        ("input_validation_error", true, false),
        ("output_validation_error", false, true),
        ("tool_failed", false, true),
        ("execution_error", false, true),
        ("permission_denied", false, false),
        ("denied", false, false),
        ("cancelled", false, false),
        ("timed_out", true, true),
        ("interrupted", true, false),
        ("duplicate_call_id", false, false),
        ("output_too_large", false, true),
        ("outcome_unknown", false, true),
        ("input_required", false, true),
    ];

    #[test]
    fn every_kind_has_its_name_and_defaults() {
        for (kind, (name, retryable, started)) in FailureKind::ALL.iter().zip(TABLE) {
            assert_eq!(kind.as_str(), name);
            assert_eq!(kind.retryable_by_default(), retryable, "{name}");
            assert_eq!(kind.started_by_default(), started, "{name}");
            assert!(!kind.default_message().is_empty(), "{name}");
        }
    }

    #[test]
    fn every_kind_round_trips() {
        for kind in FailureKind::ALL {
            let text = serde_json::to_string(&kind).unwrap();
            let read: FailureKind = serde_json::from_str(&text).unwrap();
            assert_eq!(read, kind);
        }
        assert_eq!(FailureKind::ALL.iter().collect::<HashSet<_>>().len(), FailureKind::ALL.len());
    }

    #[test]
    fn any_other_name_is_custom() {
        let read: FailureKind = serde_json::from_str(r#""out_of_stock""#).unwrap();
        assert!(matches!(&read, FailureKind::Custom(name) if name == "out_of_stock"));
        assert!(!read.retryable_by_default());
        assert!(read.started_by_default());
    }

    #[test]
    fn a_name_of_a_built_in_kind_is_never_custom() {
        for kind in FailureKind::ALL {
            let name = kind.as_str();
            let read: FailureKind = serde_json::from_value(name.into()).unwrap();
            for made in [FailureKind::from(name), FailureKind::from(name.to_owned()), read] {
                assert!(!matches!(made, FailureKind::Custom(_)), "{name}");
                assert_eq!(made.started_by_default(), kind.started_by_default(), "{name}");
                assert_eq!(made.default_message(), kind.default_message(), "{name}");
            }
        }
    }
}
