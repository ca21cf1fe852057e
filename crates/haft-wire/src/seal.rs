//! Secrets in JSON that is printed, recorded and stored.
//!
//! Tool settings and provider options are JSON: `Debug` prints them, a cassette records them, a loop's state contains
//! them. A secret is sealed when it becomes JSON, and opened in one place, where a request body is written. Nothing in
//! between can show it.
//!
//! A sealed secret is encrypted with a random key that each process draws and that never leaves it. So nothing has to
//! be stored for it, and a stolen recording or state reveals nothing. Another process can't open it either: give it the
//! secret again. A request without it fails and says so.
//!
//! The encryption is deterministic, so that equal settings stay equal. The tag is the text's keyed hash, and the text
//! is combined with keyed hashes over the tag and a counter (a synthetic initialisation vector). Equal secrets look
//! alike, and the length shows.

use std::borrow::Cow;
use std::sync::OnceLock;

use haft_core::Secret;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::wire_error::RequestError;

type KeyedHash = Hmac<Sha256>;

/// A tag's length in bytes.
const TAG: usize = 16;
/// A keyed hash's length in bytes.
const BLOCK: usize = 32;

/// A sealed secret that this process can't open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was sealed by another process, which alone can open it")]
pub(crate) struct SealedElsewhere;

/// A request value, with the secrets that were opened in it.
#[derive(Debug)]
pub(crate) struct Opened<'v> {
    pub(crate) value: Cow<'v, Value>,
    pub(crate) secrets: Vec<Secret>,
}

/// Seals a text. Fails only if the system has no random numbers.
pub(crate) fn seal(text: &str) -> Option<String> {
    let tag = mac(b"tag", &[text.as_bytes()])?.finalize().into_bytes();
    let tag = &tag[..TAG];
    let mut sealed = Secret::SEALED.to_owned();
    let encrypted = combined(tag, text.as_bytes())?;
    for byte in tag.iter().chain(&encrypted) {
        sealed.extend([byte >> 4, byte & 0xf].map(|digit| char::from_digit(digit.into(), 16).unwrap_or('0')));
    }
    Some(sealed)
}

/// Opens a text if it is sealed. Any other text is not a secret.
pub(crate) fn open(text: &str) -> Result<Option<Secret>, SealedElsewhere> {
    let Some(digits) = text.strip_prefix(Secret::SEALED) else { return Ok(None) };
    opened(digits).map(Some).ok_or(SealedElsewhere)
}

fn opened(digits: &str) -> Option<Secret> {
    let bytes = read_hex(digits)?;
    let (tag, encrypted) = bytes.split_at_checked(TAG)?;
    let text = String::from_utf8(combined(tag, encrypted)?).ok()?;
    // Compares in constant time.
    mac(b"tag", &[text.as_bytes()])?.verify_truncated_left(tag).ok()?;
    Some(Secret::new(text))
}

/// Opens all secrets in a value.
pub(crate) fn open_all(value: &Value) -> Result<Opened<'_>, SealedElsewhere> {
    let mut secrets = Vec::new();
    if !has_sealed(value) {
        return Ok(Opened { value: Cow::Borrowed(value), secrets });
    }
    let mut value = value.clone();
    open_within(&mut value, &mut secrets)?;
    Ok(Opened { value: Cow::Owned(value), secrets })
}

/// Opens the secrets in a provider's options.
pub(crate) fn open_options<'v>(provider: &str, options: &'v Value) -> Result<Opened<'v>, RequestError> {
    open_all(options).map_err(|fault| RequestError::Invalid {
        param: format!("provider_options.{provider}"),
        message: format!("a secret in it can't be sent: {fault}; set the options again"),
    })
}

fn has_sealed(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with(Secret::SEALED),
        Value::Array(items) => items.iter().any(has_sealed),
        Value::Object(members) => members.values().any(has_sealed),
        _ => false,
    }
}

fn open_within(value: &mut Value, secrets: &mut Vec<Secret>) -> Result<(), SealedElsewhere> {
    match value {
        Value::String(text) => {
            if let Some(secret) = open(text)? {
                secret.expose().clone_into(text);
                secrets.push(secret);
            }
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| open_within(item, secrets)),
        Value::Object(members) => members.values_mut().try_for_each(|member| open_within(member, secrets)),
        _ => Ok(()),
    }
}

/// Returns this process's key.
fn key() -> Option<&'static [u8; BLOCK]> {
    static KEY: OnceLock<Option<[u8; BLOCK]>> = OnceLock::new();
    let drawn = || {
        let mut key = [0; BLOCK];
        getrandom::fill(&mut key).ok().map(|()| key)
    };
    KEY.get_or_init(drawn).as_ref()
}

/// Returns the keyed hash over these parts. The usage separates it from every other hash.
fn mac(usage: &[u8], parts: &[&[u8]]) -> Option<KeyedHash> {
    let mut mac = KeyedHash::new_from_slice(key()?).ok()?;
    mac.update(b"haft sealed secret\n");
    mac.update(usage);
    mac.update(b"\n");
    for part in parts {
        mac.update(part);
    }
    Some(mac)
}

/// Encrypts or decrypts bytes, which is the same.
fn combined(tag: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut combined = Vec::with_capacity(bytes.len());
    for (number, chunk) in (0_u64..).zip(bytes.chunks(BLOCK)) {
        let block = mac(b"text", &[tag, &number.to_be_bytes()])?.finalize().into_bytes();
        combined.extend(chunk.iter().zip(block).map(|(byte, key)| byte ^ key));
    }
    Some(combined)
}

fn read_hex(digits: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = digits.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_the_same_process() {
        for text in ["", "t", "hunter2", "ünïcode \"quotes\"", &"long ".repeat(1_000), Secret::SEALED] {
            let sealed = seal(text).unwrap();
            assert!(sealed.starts_with(Secret::SEALED) && sealed.is_ascii(), "{sealed}");
            assert!(text.len() < 4 || !sealed[Secret::SEALED.len()..].contains(text), "{sealed}");
            assert_eq!(open(&sealed).unwrap().unwrap().expose(), text);
            assert_eq!(seal(text).unwrap(), sealed, "equal secrets stay equal");
        }
        assert_ne!(seal("hunter2"), seal("hunter3"));
        assert!(open("hunter2").unwrap().is_none(), "any other text is not a secret");
    }

    #[test]
    fn what_this_process_did_not_seal_is_not_opened() {
        let sealed = seal("hunter2").unwrap();
        let mut changed = sealed.clone().into_bytes();
        for at in Secret::SEALED.len()..sealed.len() {
            changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
            let text = String::from_utf8(changed.clone()).unwrap();
            if text != sealed {
                assert!(open(&text).is_err(), "{text}");
            }
            changed[at] = sealed.as_bytes()[at];
        }
        for end in ["", "0", "zz", "hidden", &"0".repeat(31), &"0".repeat(32), &"0".repeat(64), "é"] {
            assert_eq!(open(&format!("{}{end}", Secret::SEALED)).unwrap_err(), SealedElsewhere, "{end}");
        }
        assert!(open(&sealed[..sealed.len() - 2]).is_err());
        assert!(open(&format!("{sealed}00")).is_err());
    }

    #[test]
    fn secrets_are_opened_wherever_they_are_whole_texts() {
        let sealed = seal("hunter2").unwrap();
        let value = json!({"a": [{"token": sealed}, "plain"], "b": format!("Bearer {sealed}"), "c": 1});
        let opened = open_all(&value).unwrap();
        assert_eq!(
            *opened.value,
            json!({"a": [{"token": "hunter2"}, "plain"], "b": format!("Bearer {sealed}"), "c": 1})
        );
        assert_eq!(opened.secrets.len(), 1);
        assert!(!format!("{:?}", opened.secrets).contains("hunter2"));

        let plain = json!({"a": ["plain"]});
        assert!(matches!(open_all(&plain).unwrap().value, Cow::Borrowed(_)), "nothing is copied without need");
        let error = open_options("acme", &json!([format!("{}00", Secret::SEALED)])).unwrap_err().to_string();
        assert!(error.contains("provider_options.acme") && error.contains("set the options again"), "{error}");
    }
}
