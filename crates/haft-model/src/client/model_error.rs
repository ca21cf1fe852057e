//! Errors of wires and of HTTP as errors of a model.

use std::error::Error;

use haft_http::{HttpError, TimeoutKind};
use haft_wire::{ErrorCause, ErrorReport, ReadError, RequestError};

use super::credential::{Authorization, CredentialError};
use crate::error::{ModelError, ProviderMessage};

/// The request and the response that an error belongs to. It converts errors, and removes the key from them.
pub(super) struct ErrorOrigin<'m> {
    provider: &'m str,
    key: &'m Authorization,
    status: Option<u16>,
    request_id: Option<String>,
    should_retry: Option<bool>,
}

impl<'m> ErrorOrigin<'m> {
    pub(super) fn new(provider: &'m str, key: &'m Authorization) -> Self {
        Self { provider, key, status: None, request_id: None, should_retry: None }
    }

    pub(super) fn response(self, status: u16, request_id: Option<String>) -> Self {
        let request_id = request_id.map(|id| self.key.removed_from(id));
        Self { status: Some(status), request_id, ..self }
    }

    /// Sets the provider's statement about a retry.
    pub(super) fn should_retry(self, should_retry: Option<bool>) -> Self {
        Self { should_retry, ..self }
    }

    /// Converts the error of a credential, which has no key yet.
    pub(super) fn of_credential(&self, error: &CredentialError) -> ModelError {
        let message = self.message(error.to_string());
        match error {
            CredentialError::Missing { .. } | CredentialError::Rejected { .. } => {
                ModelError::Authentication { message }
            }
            CredentialError::Unavailable { .. } => {
                ModelError::Unavailable { message, retry_after: None, source: Some(error.clone().into()) }
            }
        }
    }

    /// Converts an error of the connection. Its source never contains a URL or a header.
    pub(super) fn of_http(&self, error: HttpError) -> ModelError {
        let message = self.message(error.to_string());
        match error {
            HttpError::TimedOut { timeout: TimeoutKind::Connect, .. } => {
                ModelError::Unavailable { message, retry_after: None, source: Some(error.into()) }
            }
            HttpError::TimedOut { after, .. } => ModelError::TimedOut { after },
            HttpError::TooLarge { .. } => ModelError::Unreadable { message, source: Some(error.into()) },
            error if error.retryable() => {
                ModelError::Unavailable { message, retry_after: None, source: Some(error.into()) }
            }
            // The settings of the client have to be changed: its URL, a header, a certificate.
            error => ModelError::InvalidRequest { message: self.message(with_sources(&error)), param: None },
        }
    }

    /// Converts the error of a base URL that requests can't be sent to. It is shown without credentials.
    pub(super) fn of_base_url(&self, url: &str, reason: &str) -> ModelError {
        let url = without_credentials(url);
        let text = format!("the base URL `{url}` is invalid: {reason}; start it with `https://` or `http://`");
        ModelError::InvalidRequest { message: self.message(text), param: None }
    }

    /// Converts an error of a response.
    pub(super) fn of_read(&self, error: ReadError) -> ModelError {
        match error {
            ReadError::Incomplete => ModelError::IncompleteTurn,
            ReadError::Provider(report) => self.of_report(report),
            error => {
                let text = error.to_string();
                let message = self.message(text.as_str());
                // Parsers quote their input. The message says the same without the key.
                let source = if message.text() == text { Some(error.into()) } else { None };
                ModelError::Unreadable { message, source }
            }
        }
    }

    /// Converts a response that is neither JSON nor a stream of events.
    pub(super) fn of_content_type(&self, declared: &str) -> ModelError {
        let text = format!("the body is {declared} instead of JSON or a stream of events; check the base URL");
        ModelError::Unreadable { message: self.message(text), source: None }
    }

    /// Converts an error that the provider reported.
    pub(super) fn of_report(&self, report: ErrorReport) -> ModelError {
        let ErrorReport { cause, message, param, retry_after, .. } = report;
        let message = self.message(message);
        let param = param.map(|param| self.key.removed_from(param));
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

    fn message(&self, text: impl Into<String>) -> ProviderMessage {
        let text = self.key.removed_from(text.into());
        let mut message = ProviderMessage::new(text).provider(self.provider.to_owned());
        if let Some(status) = self.status {
            message = message.status(status);
        }
        if let Some(should_retry) = self.should_retry {
            message = message.should_retry(should_retry);
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

/// Returns a URL, which may be invalid, without its user, password, query and fragment.
fn without_credentials(url: &str) -> String {
    let (address, rest) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    // The text before a later `@` may all be a password.
    if rest.contains('@') {
        return "[hidden]".to_owned();
    }
    let (scheme, after) = match address.find("://") {
        Some(at) => address.split_at(at + "://".len()),
        None => ("", address),
    };
    let host = after.rsplit_once('@').map_or(after, |(_, host)| host);
    format!("{scheme}{host}").chars().take(200).collect()
}

/// Returns the text of an error and of its sources, for an error that can't keep them.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::without_credentials;

    #[test]
    fn urls_are_shown_without_credentials() {
        for (url, shown) in [
            ("localhost:11434/v1", "localhost:11434/v1"),
            ("user:pass@host/v1?key=secret", "host/v1"),
            ("ftp://user:pass@host/v1#secret", "ftp://host/v1"),
            ("https://user:p/a@ss@host", "https://host"),
            ("https://user:p?ass@host", "[hidden]"),
            ("host?mail=a@b&key=secret", "[hidden]"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(url), shown, "{url}");
        }
        assert_eq!(without_credentials(&"ü".repeat(300)).chars().count(), 200);
    }
}
