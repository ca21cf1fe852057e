//! The key with which OpenAI finds a cached prompt.

use std::fmt::Write;

use haft_core::TurnRequest;
use sha2::{Digest, Sha256};

/// The digest bytes in the key.
const KEY_BYTES: usize = 16;

/// Returns the key for requests with the same beginning: model, instructions and tools.
pub(crate) fn of(request: &TurnRequest, tools: &str) -> String {
    let mut digest = Sha256::new();
    for part in [request.model.as_str(), request.instructions.as_deref().unwrap_or_default(), tools] {
        digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
        digest.update(part.as_bytes());
    }
    let mut key = String::from("haft-");
    for byte in digest.finalize().iter().take(KEY_BYTES) {
        let _ = write!(key, "{byte:02x}");
    }
    key
}
