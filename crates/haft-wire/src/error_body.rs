//! What the error responses of all providers have in common: the meaning of a status, and a message of limited length.

use crate::wire::ErrorResponse;
use crate::wire_error::ErrorCause;

/// The number of characters of a provider's message that are kept.
const MESSAGE_CHARS: usize = 2_000;

/// Returns the cause that a status stands for, where the body says nothing more precise.
pub(crate) fn of_status(status: u16) -> ErrorCause {
    match status {
        401 => ErrorCause::Authentication,
        402 => ErrorCause::QuotaExceeded,
        403 => ErrorCause::Permission,
        404 => ErrorCause::UnknownModel,
        408 | 504 => ErrorCause::TimedOut,
        413 => ErrorCause::TooLarge,
        429 => ErrorCause::RateLimited,
        500..=599 => ErrorCause::Unavailable,
        _ => ErrorCause::InvalidRequest,
    }
}

/// Returns the provider's message, or a description of the response if it contains none.
pub(crate) fn message_or_status(message: String, response: &ErrorResponse<'_>) -> String {
    if !message.trim().is_empty() {
        return capped(message);
    }
    match response.body.trim() {
        "" => format!("status {} without a body", response.status),
        body => capped(format!("status {}: {body}", response.status)),
    }
}

/// Limits the length of a message.
pub(crate) fn capped(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS) {
        message.truncate(end);
        message.push('…');
    }
    message
}
