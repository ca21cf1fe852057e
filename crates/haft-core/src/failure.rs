//! A failure that the model reads.
//!
//! It is a value, not an error of the caller: it is part of a result, is stored, and is sent to the model. It has two
//! readers. `message`, `issues` and `details` are for the model. `cause` is for the operator only, and must never be
//! serialised, sent or printed by `Display`, because it may contain hosts, paths and secrets.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure_kind::FailureKind;
use crate::issue::{Issue, Issues, OperatorCause, REASON_CAP};
use crate::json_text::JsonText;
use crate::reading::present;

/// The maximum number of issues that the model reads. The failure itself keeps all of them.
pub(crate) const SHOWN_ISSUES: usize = 20;

/// The reason why a call has no value, with one part for the model and one for the operator.
///
/// ```
/// use std::time::Duration;
///
/// use haft_core::{FailureKind, ToolFailure};
///
/// let failure = ToolFailure::new("rate_limited", "the service is busy")
///     .retry_after(Duration::from_secs(2))
///     .cause(std::io::Error::other("429 from 10.0.0.7"));
/// assert!(failure.retryable);
/// assert_eq!(failure.to_string(), "rate_limited: the service is busy");
/// assert!(!serde_json::to_string(&failure)?.contains("10.0.0.7"));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// One sentence for the model.
    pub message: String,
    /// The problems of the arguments or the value, each with its location.
    #[serde(default, skip_serializing_if = "Issues::is_empty")]
    pub issues: Issues,
    /// Set if another call, corrected or later, may succeed.
    #[serde(default)]
    pub retryable: bool,
    /// The time to wait before another call. Serialised in seconds.
    #[serde(rename = "retry_after_seconds", default, skip_serializing_if = "Option::is_none", with = "seconds")]
    pub retry_after: Option<Duration>,
    /// Set if the handler had started, so that the call may have had effects. Defaults to true when a stored failure
    /// does not contain it.
    #[serde(default = "default_started")]
    pub started: bool,
    /// The declared failure value, encoded.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub details: Option<Box<JsonText>>,
    /// The underlying error. Private, so that it is reached only through [`Error::source`]. It is not serialised.
    #[serde(skip)]
    cause: Option<Arc<OperatorCause>>,
}

impl ToolFailure {
    /// Creates a failure with the defaults of its kind. A blank message is replaced by the default message of the kind.
    #[must_use]
    pub fn new(kind: impl Into<FailureKind>, message: impl Into<String>) -> Self {
        let kind = kind.into();
        let mut message = message.into();
        if message.trim().is_empty() {
            kind.default_message().clone_into(&mut message);
        }
        Self {
            retryable: kind.retryable_by_default(),
            started: kind.started_by_default(),
            kind,
            message,
            issues: Issues::default(),
            retry_after: None,
            details: None,
            cause: None,
        }
    }

    /// Creates a failure with issues. Its message is the list of issues, cut to a maximum length.
    #[must_use]
    pub fn with_issues(kind: impl Into<FailureKind>, issues: Issues) -> Self {
        Self::new(kind, issues.reason(REASON_CAP)).issues(issues)
    }

    /// Replaces the issues and keeps the message. The cause of the issues becomes that of the failure, unless it has
    /// one.
    #[must_use]
    pub fn issues(mut self, mut issues: Issues) -> Self {
        let cause = issues.take_cause();
        self.cause = self.cause.or(cause);
        self.issues = issues;
        self
    }

    /// Marks the failure as retryable.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }

    /// Marks the failure as not retryable.
    #[must_use]
    pub fn not_retryable(mut self) -> Self {
        self.retryable = false;
        self.retry_after = None;
        self
    }

    /// Marks the failure as retryable after a delay.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self.retryable()
    }

    /// Marks the handler as started.
    #[must_use]
    pub fn started(mut self) -> Self {
        self.started = true;
        self
    }

    /// Marks the handler as not started.
    #[must_use]
    pub fn not_started(mut self) -> Self {
        self.started = false;
        self
    }

    /// Sets the declared failure value, encoded.
    #[must_use]
    pub fn details(mut self, details: impl Into<JsonText>) -> Self {
        self.details = Some(Box::new(details.into()));
        self
    }

    /// Sets the underlying error, for the operator. It is reached through [`Error::source`].
    #[must_use]
    pub fn cause(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(OperatorCause::new(cause));
        self
    }

    /// Returns the text for the model: `{"error":{"kind":…,"message":…}}` and, if present, `issues` (the first twenty,
    /// with the number of the others in `issues_left_out`), `details` and `retry_after_seconds`. Issues and details
    /// that the message already contains are omitted.
    #[must_use]
    pub fn to_model_text(&self) -> String {
        let (shown, details) = self.beside_message();
        let error = ModelFailure {
            kind: self.kind.as_str(),
            message: if self.message.trim().is_empty() { self.kind.default_message() } else { &self.message },
            issues: &shown[..shown.len().min(SHOWN_ISSUES)],
            issues_left_out: shown.len().saturating_sub(SHOWN_ISSUES),
            details,
            retry_after_seconds: self.retry_after.map(|wait| wait.as_secs_f64()),
        };
        // Strings, finite numbers and encoded JSON always encode. The bare message only satisfies the type.
        JsonText::encode(&ModelText { error }).map_or_else(|_| self.message.clone(), |text| text.as_str().to_owned())
    }

    /// Returns the issues and details that the message does not already contain.
    pub(crate) fn beside_message(&self) -> (&[Issue], Option<&JsonText>) {
        let spelled_out = self.message.ends_with(&self.issues.reason(REASON_CAP));
        let issues = if spelled_out { &[] } else { self.issues.as_slice() };
        (issues, self.details.as_deref().filter(|details| details.to_value() != self.message.as_str()))
    }
}

/// Compares what the model reads. The cause is ignored.
impl PartialEq for ToolFailure {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.message == other.message
            && self.issues == other.issues
            && self.retryable == other.retryable
            && self.retry_after == other.retry_after
            && self.started == other.started
            && self.details == other.details
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl Error for ToolFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(OperatorCause::error)
    }
}

#[derive(Serialize)]
struct ModelText<'a> {
    error: ModelFailure<'a>,
}

#[derive(Serialize)]
struct ModelFailure<'a> {
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "<[Issue]>::is_empty")]
    issues: &'a [Issue],
    #[serde(skip_serializing_if = "is_zero")]
    issues_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a JsonText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<f64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn default_started() -> bool {
    true
}

/// A duration as a number of seconds.
mod seconds {
    use std::time::Duration;

    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Number;

    #[allow(clippy::ref_option, reason = "serde requires this signature")]
    pub(super) fn serialize<S: Serializer>(wait: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        wait.map(|wait| wait.as_secs_f64()).serialize(serializer)
    }

    /// Reads a duration. Values beyond [`Duration::MAX`] become that maximum, because it rounds up when it is written
    /// as a float.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
        match number.as_f64() {
            Some(seconds) if seconds >= 0.0 => Ok(Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))),
            _ => Err(D::Error::custom(format_args!("{number} is not a valid number of seconds"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use serde_json::{Value, json};

    use super::*;

    fn model_json(failure: &ToolFailure) -> Value {
        serde_json::from_str(&failure.to_model_text()).unwrap()
    }

    fn round_trip(failure: &ToolFailure) -> ToolFailure {
        serde_json::from_str(&serde_json::to_string(failure).unwrap()).unwrap()
    }

    #[test]
    fn every_kind_keeps_its_defaults_over_a_round_trip() {
        for kind in FailureKind::ALL.into_iter().chain([FailureKind::from("out_of_stock")]) {
            let failure = ToolFailure::new(kind.clone(), "because");
            assert_eq!(failure.retryable, kind.retryable_by_default());
            assert_eq!(failure.started, kind.started_by_default());
            assert_eq!(failure.to_string(), format!("{kind}: because"));
            assert_eq!(round_trip(&failure), failure);
            assert_eq!(model_json(&failure), json!({"error": {"kind": kind.as_str(), "message": "because"}}));
        }
    }

    #[test]
    fn every_failure_has_a_message() {
        for kind in FailureKind::ALL {
            assert_eq!(ToolFailure::new(kind.clone(), " \n").message, kind.default_message());
        }
        let mut emptied = ToolFailure::new(FailureKind::Denied, "no");
        emptied.message.clear();
        assert_eq!(model_json(&emptied)["error"]["message"], "the call was denied");
    }

    #[test]
    fn the_cause_is_only_for_the_operator() {
        let failure = ToolFailure::new(FailureKind::ExecutionError, "the tool broke")
            .cause(io::Error::new(io::ErrorKind::TimedOut, "secret-host"));
        assert!(!failure.to_string().contains("secret-host"));
        assert!(!failure.to_model_text().contains("secret-host"));
        assert!(!serde_json::to_string(&failure).unwrap().contains("secret-host"));
        let source = failure.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::TimedOut));
        assert_eq!(round_trip(&failure), failure);
        assert!(round_trip(&failure).source().is_none());
    }

    /// Clippy reports errors of 128 bytes or more as too large, which would affect the functions of users.
    #[test]
    fn it_is_small_enough_for_an_error() {
        assert!(size_of::<ToolFailure>() < 128, "{}", size_of::<ToolFailure>());
    }

    #[test]
    fn a_declared_null_is_not_an_absent_value() {
        let declared = ToolFailure::new(FailureKind::ToolFailed, "no").details(Value::Null);
        assert!(round_trip(&declared).details.is_some());
        assert_eq!(model_json(&declared)["error"].get("details"), Some(&Value::Null));
        let bare = ToolFailure::new(FailureKind::ToolFailed, "no");
        assert!(round_trip(&bare).details.is_none());
        assert_eq!(model_json(&bare)["error"].get("details"), None);
    }

    #[test]
    fn the_model_reads_the_first_issues_and_the_number_of_the_rest() {
        let issues: Issues = (0..23).map(|at| Issue::new(format!("/{at}"), "type", "must be a string")).collect();
        let failure = ToolFailure::new(FailureKind::InputValidationError, "look at the issues").issues(issues);
        let shown = model_json(&failure);
        assert_eq!(shown["error"]["issues"].as_array().map(Vec::len), Some(20));
        assert_eq!(shown["error"]["issues_left_out"], 3);
        assert_eq!(round_trip(&failure).issues.len(), 23);
    }

    #[test]
    fn the_model_text_contains_nothing_twice() {
        let issues = Issues::from(Issue::new("/a", "type", "must be a string"));
        let refused = ToolFailure::with_issues(FailureKind::InputValidationError, issues);
        let text = r#"{"error":{"kind":"input_validation_error","message":"/a: must be a string"}}"#;
        assert_eq!(refused.to_model_text(), text);
        assert_eq!(round_trip(&refused).issues.len(), 1, "the list stays on the failure");
        let plain = ToolFailure::new(FailureKind::ToolFailed, "sold out").details(Value::from("sold out"));
        assert_eq!(plain.to_model_text(), r#"{"error":{"kind":"tool_failed","message":"sold out"}}"#);
    }

    #[test]
    fn retry_after_is_serialised_in_seconds() {
        let failure = ToolFailure::new("busy", "later").retry_after(Duration::from_millis(1500));
        assert!(failure.retryable);
        assert_eq!(serde_json::to_value(&failure).unwrap()["retry_after_seconds"], 1.5);
        assert_eq!(model_json(&failure)["error"]["retry_after_seconds"], 1.5);
        assert_eq!(round_trip(&failure), failure);
        assert_eq!(failure.not_retryable().retry_after, None);
    }

    #[test]
    fn any_serialised_retry_after_can_be_read() {
        for wait in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(u64::MAX), Duration::MAX] {
            let failure = ToolFailure::new("busy", "later").retry_after(wait);
            assert_eq!(round_trip(&failure).retry_after, Some(rounded(wait)));
        }
        let negative = json!({"kind": "busy", "message": "later", "retry_after_seconds": -1});
        let error = serde_json::from_value::<ToolFailure>(negative).unwrap_err().to_string();
        assert!(error.contains("not a valid number of seconds"), "{error}");
    }

    /// The longest durations are equal as floats, and are read as the maximum.
    fn rounded(wait: Duration) -> Duration {
        if wait.as_secs() == u64::MAX { Duration::MAX } else { wait }
    }

    #[test]
    fn a_stored_failure_without_flags_counts_as_started_and_final() {
        let read: ToolFailure = serde_json::from_value(json!({"kind": "interrupted", "message": "cut"})).unwrap();
        assert!(read.started);
        assert!(!read.retryable);
    }
}
