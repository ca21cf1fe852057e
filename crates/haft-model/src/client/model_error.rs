//! Errors of wires and of HTTP as errors of a model.

use haft_http::{HttpError, TimeoutKind};
use haft_wire::{ErrorCause, ErrorReport, ReadError, RequestError};

use crate::error::{ModelError, ProviderMessage};

/// The response that an error belongs to.
pub(super) struct ErrorOrigin<'m> {
    provider: &'m str,
    status: Option<u16>,
    request_id: Option<String>,
}

impl<'m> ErrorOrigin<'m> {
    pub(super) fn new(provider: &'m str) -> Self {
        Self { provider, status: None, request_id: None }
    }

    pub(super) fn response(self, status: u16, request_id: Option<String>) -> Self {
        Self { status: Some(status), request_id, ..self }
    }

    fn message(&self, text: impl Into<String>) -> ProviderMessage {
        let mut message = ProviderMessage::new(text).provider(self.provider.to_owned());
        if let Some(status) = self.status {
            message = message.status(status);
        }
        match &self.request_id {
            Some(id) => message.request_id(id.as_str()),
            None => message,
        }
    }
}

impl From<RequestError> for ModelError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Unsupported { capability, advice } => {
                Self::Unsupported { capability: format!("{capability}; {advice}") }
            }
            RequestError::Invalid { param, message } => {
                Self::InvalidRequest { message: message.into(), param: Some(param) }
            }
            other => Self::InvalidRequest { message: other.to_string().into(), param: None },
        }
    }
}

/// Converts an error of the connection. Its source never contains a URL or a header.
pub(super) fn of_http(error: HttpError, origin: &ErrorOrigin<'_>) -> ModelError {
    let message = origin.message(error.to_string());
    match error {
        HttpError::TimedOut { timeout: TimeoutKind::Connect, .. } => {
            ModelError::Unavailable { message, retry_after: None, source: Some(error.into()) }
        }
        HttpError::TimedOut { after, .. } => ModelError::TimedOut { after },
        HttpError::InvalidUrl { .. } | HttpError::InvalidHeader { .. } | HttpError::InvalidSetting { .. } => {
            ModelError::InvalidRequest { message, param: None }
        }
        HttpError::TooLarge { .. } => ModelError::Unreadable { message, source: Some(error.into()) },
        error => ModelError::Unavailable { message, retry_after: None, source: Some(error.into()) },
    }
}

/// Converts an error of a response. What a provider reports is converted by a function that removes secrets.
pub(super) fn of_read(error: ReadError, origin: &ErrorOrigin<'_>, scrub: impl FnOnce(String) -> String) -> ModelError {
    match error {
        ReadError::Incomplete => ModelError::IncompleteTurn,
        ReadError::Provider(mut report) => {
            report.message = scrub(report.message);
            of_report(report, origin)
        }
        error => ModelError::Unreadable { message: origin.message(error.to_string()), source: Some(error.into()) },
    }
}

/// Converts what a provider reported.
pub(super) fn of_report(report: ErrorReport, origin: &ErrorOrigin<'_>) -> ModelError {
    let ErrorReport { cause, message, param, retry_after, .. } = report;
    let message = origin.message(message);
    match cause {
        ErrorCause::RateLimited => ModelError::RateLimited { message, retry_after },
        ErrorCause::QuotaExceeded => ModelError::QuotaExceeded { message },
        ErrorCause::UnknownModel => ModelError::UnknownModel { message },
        ErrorCause::ContextTooLong => ModelError::ContextTooLong { message },
        ErrorCause::ContentFiltered => ModelError::ContentFiltered { message },
        ErrorCause::Authentication | ErrorCause::Permission => ModelError::Authentication { message },
        ErrorCause::InvalidRequest | ErrorCause::TooLarge => ModelError::InvalidRequest { message, param },
        _ => ModelError::Unavailable { message, retry_after, source: None },
    }
}
