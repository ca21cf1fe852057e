//! A failure that the model reads.
//!
//! It is a value, not an error of the caller: it is part of a result, is stored, and is sent to the model. It has three
//! readers. `message`, `issues`, `details` and content are for the model. Metadata is for the application. `cause` is
//! for the operator only, and must never be serialised, sent or printed by `Display`, because it may contain hosts,
//! paths and secrets.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use haft_schema::internal::OperatorCause;
use haft_schema::isolation::Panicked;
use haft_schema::{Issue, Issues, JsonText, REASON_CAP};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::ContentPart;
use crate::failure_kind::FailureKind;
use crate::reading::present;

/// The message to the model about an error that is not declared.
pub const OPAQUE_MESSAGE: &str = "the tool failed with an internal error; only its operator can see the cause";

/// The maximum number of issues that the model reads. The failure itself keeps all of them.
pub const SHOWN_ISSUES: usize = 20;

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
#[serde(from = "StoredFailure")]
#[non_exhaustive]
pub struct ToolFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// One sentence for the model.
    pub message: String,
    /// The problems of the arguments or the value, each with its location.
    #[serde(skip_serializing_if = "Issues::is_empty")]
    pub issues: Issues,
    /// Set if another call, corrected or later, may succeed.
    pub retryable: bool,
    /// The time to wait before another call. Serialised in seconds.
    #[serde(rename = "retry_after_seconds", skip_serializing_if = "Option::is_none", with = "seconds")]
    pub retry_after: Option<Duration>,
    /// Set if the handler had started, so that the call may have had effects. The executor sets it; only a
    /// forwarding handler, which knows whether the call was sent, decides it itself.
    /// Defaults to true when a stored failure does not contain it.
    pub started: bool,
    /// The declared failure value, encoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<JsonText>>,
    /// On the heap, as a failure is returned as an error and should be small.
    #[serde(flatten)]
    extra: Option<Box<FailureExtra>>,
}

/// The parts of a failure that many failures lack.
#[derive(Clone, Debug, Default, Serialize)]
struct FailureExtra {
    #[serde(rename = "model", skip_serializing_if = "Vec::is_empty")]
    content: Vec<ContentPart>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    /// The underlying error, which is reached only through [`Error::source`]. It is not serialised.
    #[serde(skip)]
    cause: Option<Arc<OperatorCause>>,
}

/// A failure as it is stored.
#[derive(Deserialize)]
struct StoredFailure {
    kind: FailureKind,
    message: String,
    #[serde(default)]
    issues: Issues,
    #[serde(default)]
    retryable: bool,
    #[serde(rename = "retry_after_seconds", default, with = "seconds")]
    retry_after: Option<Duration>,
    #[serde(default = "default_started")]
    started: bool,
    #[serde(default, deserialize_with = "present")]
    details: Option<Box<JsonText>>,
    #[serde(rename = "model", default)]
    content: Option<Vec<ContentPart>>,
    #[serde(default)]
    metadata: Map<String, Value>,
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
            extra: None,
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
        if let Some(cause) = issues.take_cause() {
            self.extra.get_or_insert_default().cause.get_or_insert(cause);
        }
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

    /// Sets content for the model, which it reads after the [text](Self::to_model_text) of the failure.
    #[must_use]
    pub fn for_model(mut self, parts: Vec<ContentPart>) -> Self {
        self.set_content(parts);
        self
    }

    /// Adds metadata for the application. It is not sent to the model.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.get_or_insert_default().metadata.insert(key.into(), value.into());
        self
    }

    /// Sets the underlying error, for the operator. It is reached through [`Error::source`].
    #[must_use]
    pub fn cause(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.extra.get_or_insert_default().cause = Some(OperatorCause::new(cause));
        self
    }

    /// Returns the content for the model, which it reads after the text of the failure; empty if there is none.
    #[must_use]
    pub fn content(&self) -> &[ContentPart] {
        self.extra.as_ref().map_or(&[], |extra| &extra.content)
    }

    /// Returns the metadata, if there is any.
    #[must_use]
    pub fn metadata(&self) -> Option<&Map<String, Value>> {
        self.extra.as_ref().map(|extra| &extra.metadata).filter(|metadata| !metadata.is_empty())
    }

    /// Replaces the content for the model.
    #[doc(hidden)]
    pub fn set_content(&mut self, parts: Vec<ContentPart>) {
        match &mut self.extra {
            Some(extra) => extra.content = parts,
            None if parts.is_empty() => {}
            None => self.extra = Some(Box::new(FailureExtra { content: parts, ..FailureExtra::default() })),
        }
    }

    /// Returns the text for the model: `{"error":{"kind":…,"message":…}}` and, if present, `issues` (the first twenty,
    /// with the number of the others in `issues_left_out`), `details` and `retry_after_seconds`. Issues and details
    /// that the message already contains are omitted. The [content](Self::content) is not part of it.
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
    #[doc(hidden)]
    #[must_use]
    pub fn beside_message(&self) -> (&[Issue], Option<&JsonText>) {
        let spelled_out = self.message.ends_with(&self.issues.reason(REASON_CAP));
        let issues = if spelled_out { &[] } else { self.issues.as_slice() };
        (issues, self.details.as_deref().filter(|details| details.to_value() != self.message.as_str()))
    }
}

/// Compares everything that is serialised. The cause is ignored.
impl PartialEq for ToolFailure {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.message == other.message
            && self.issues == other.issues
            && self.retryable == other.retryable
            && self.retry_after == other.retry_after
            && self.started == other.started
            && self.details == other.details
            && self.content() == other.content()
            && self.metadata() == other.metadata()
    }
}

impl From<Panicked> for ToolFailure {
    fn from(panicked: Panicked) -> Self {
        Self::new(FailureKind::ExecutionError, OPAQUE_MESSAGE).cause(panicked)
    }
}

impl From<StoredFailure> for ToolFailure {
    fn from(stored: StoredFailure) -> Self {
        let StoredFailure { kind, message, issues, retryable, retry_after, started, details, content, metadata } =
            stored;
        let extra = FailureExtra { content: content.unwrap_or_default(), metadata, cause: None };
        let is_empty = extra.content.is_empty() && extra.metadata.is_empty();
        let extra = (!is_empty).then(|| Box::new(extra));
        Self { kind, message, issues, retryable, retry_after, started, details, extra }
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl Error for ToolFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.extra.as_ref()?.cause.as_deref().map(OperatorCause::error)
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
    fn content_and_metadata_round_trip_beside_the_other_fields() {
        let failure = ToolFailure::new(FailureKind::ToolFailed, "no")
            .for_model(vec![ContentPart::text("see the log")])
            .with_metadata("trace", "t1");
        let stored = serde_json::to_value(&failure).unwrap();
        assert_eq!(stored["model"], json!([{"type": "text", "text": "see the log"}]));
        assert_eq!(stored["metadata"], json!({"trace": "t1"}));
        let read = round_trip(&failure);
        assert_eq!(read, failure);
        assert_eq!(read.content().len(), 1);
        assert_eq!(read.metadata().unwrap()["trace"], "t1");
        assert_ne!(failure, ToolFailure::new(FailureKind::ToolFailed, "no"));
    }

    #[test]
    fn empty_content_is_no_content() {
        let bare = ToolFailure::new(FailureKind::ToolFailed, "no");
        assert_eq!(bare.clone().for_model(Vec::new()), bare);
        assert_eq!(bare.clone().for_model(vec![ContentPart::text("a")]).for_model(Vec::new()), bare);
        assert!(bare.metadata().is_none());
        let stored = serde_json::to_value(&bare).unwrap();
        assert_eq!((stored.get("model"), stored.get("metadata")), (None, None));
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
