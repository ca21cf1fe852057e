//! The written form of model errors.
//!
//! Recordings and scripts contain the cause as a word, with its data, so that reading returns an error of the same
//! cause, which callers handle in the same way. Durations are written in milliseconds, rounded up; a source is written
//! as its text.

use std::error::Error;
use std::time::Duration;

use haft_executor::BoxError;
use serde::{Deserialize, Serialize};

use super::{ModelError, ProviderMessage};

/// The written form of a model error.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenError {
    kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    param: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    should_retry: Option<bool>,
}

/// An unknown error kind.
#[derive(Debug, thiserror::Error)]
#[error("`{kind}` is not an error kind; use one of {}", KINDS.join(", "))]
pub(crate) struct UnknownKind {
    kind: String,
}

/// Every error kind, as it is written.
const KINDS: [&str; 14] = [
    "rate_limited",
    "unavailable",
    "timed_out",
    "invalid_request",
    "context_too_long",
    "content_filtered",
    "authentication",
    "quota_exceeded",
    "unknown_model",
    "unsupported",
    "incomplete_turn",
    "unreadable",
    "cancelled",
    "off_script",
];

impl From<&ModelError> for WrittenError {
    fn from(error: &ModelError) -> Self {
        let kind = error.kind().to_owned();
        let (retry_after_ms, source) = (error.retry_after().map(milliseconds), error.source().map(ToString::to_string));
        let (provider, request_id) = (error.provider().map(str::to_owned), error.request_id().map(str::to_owned));
        let written = Self { kind, retry_after_ms, source, provider, request_id, ..Self::default() };
        let written = Self { status: error.status(), should_retry: error.stated_retry(), ..written };
        match error {
            ModelError::RateLimited { message, .. }
            | ModelError::Unavailable { message, .. }
            | ModelError::ContextTooLong { message }
            | ModelError::ContentFiltered { message }
            | ModelError::Authentication { message }
            | ModelError::QuotaExceeded { message }
            | ModelError::UnknownModel { message }
            | ModelError::Unreadable { message, .. } => Self { message: message.text().to_owned(), ..written },
            ModelError::Unsupported { capability: message } | ModelError::OffScript { message } => {
                Self { message: message.clone(), ..written }
            }
            ModelError::InvalidRequest { message, param } => {
                Self { message: message.text().to_owned(), param: param.clone(), ..written }
            }
            ModelError::TimedOut { after } => Self { after_ms: Some(milliseconds(*after)), ..written },
            ModelError::IncompleteTurn | ModelError::Cancelled => written,
        }
    }
}

impl TryFrom<WrittenError> for ModelError {
    type Error = UnknownKind;

    fn try_from(written: WrittenError) -> Result<Self, UnknownKind> {
        let WrittenError { kind, message: text, retry_after_ms, after_ms, param, source, .. } = written;
        let mut message = ProviderMessage::new(text.clone());
        message = written.provider.into_iter().fold(message, ProviderMessage::provider);
        message = written.status.into_iter().fold(message, ProviderMessage::status);
        message = written.request_id.into_iter().fold(message, ProviderMessage::request_id);
        message = written.should_retry.into_iter().fold(message, ProviderMessage::should_retry);
        let retry_after = retry_after_ms.map(Duration::from_millis);
        let source = source.map(BoxError::from);
        Ok(match kind.as_str() {
            "rate_limited" => Self::RateLimited { message, retry_after },
            "unavailable" => Self::Unavailable { message, retry_after, source },
            "timed_out" => Self::TimedOut { after: Duration::from_millis(after_ms.unwrap_or_default()) },
            "invalid_request" => Self::InvalidRequest { message, param },
            "context_too_long" => Self::ContextTooLong { message },
            "content_filtered" => Self::ContentFiltered { message },
            "authentication" => Self::Authentication { message },
            "quota_exceeded" => Self::QuotaExceeded { message },
            "unknown_model" => Self::UnknownModel { message },
            "unsupported" => Self::Unsupported { capability: text },
            "incomplete_turn" => Self::IncompleteTurn,
            "unreadable" => Self::Unreadable { message, source },
            "cancelled" => Self::Cancelled,
            "off_script" => Self::OffScript { message: text },
            _ => return Err(UnknownKind { kind }),
        })
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_error() -> Vec<ModelError> {
        let message = || "said".to_owned();
        let origin = ProviderMessage::new("said").provider("openai").status(429).request_id("req_1");
        let (after, source) = (Duration::from_millis(1_500), || Some(BoxError::from("met")));
        vec![
            ModelError::RateLimited { message: origin.clone(), retry_after: Some(after) },
            ModelError::Unavailable { message: message().into(), retry_after: None, source: source() },
            ModelError::TimedOut { after },
            ModelError::InvalidRequest {
                message: ProviderMessage::new("said").should_retry(true),
                param: Some("tools".to_owned()),
            },
            ModelError::ContextTooLong { message: message().into() },
            ModelError::ContentFiltered { message: message().into() },
            ModelError::Authentication { message: message().into() },
            ModelError::QuotaExceeded { message: message().into() },
            ModelError::UnknownModel { message: message().into() },
            ModelError::Unsupported { capability: message() },
            ModelError::IncompleteTurn,
            ModelError::Unreadable { message: ProviderMessage::new("said").status(200), source: source() },
            ModelError::Cancelled,
            ModelError::OffScript { message: message() },
        ]
    }

    #[test]
    fn every_error_is_read_back_unchanged() {
        for (error, kind) in every_error().into_iter().zip(KINDS) {
            let text = serde_json::to_string(&WrittenError::from(&error)).unwrap();
            let read = ModelError::try_from(serde_json::from_str::<WrittenError>(&text).unwrap()).unwrap();
            assert_eq!((read.kind(), read.retryable()), (kind, error.retryable()));
            assert_eq!(format!("{read:?}"), format!("{error:?}"));
        }
    }

    #[test]
    fn an_unknown_kind_is_rejected_with_the_known_ones() {
        let written = WrittenError { kind: "tired".to_owned(), ..WrittenError::default() };
        let rejected = ModelError::try_from(written).unwrap_err().to_string();
        assert!(rejected.contains("`tired`") && rejected.contains("rate_limited, unavailable"), "{rejected}");
    }

    #[test]
    fn durations_are_rounded_up() {
        assert_eq!(milliseconds(Duration::from_nanos(1_000_001)), 2);
        assert_eq!(milliseconds(Duration::MAX), u64::MAX);
    }
}
