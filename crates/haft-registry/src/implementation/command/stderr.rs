//! The end of what a command writes to its standard error.
//!
//! Only the end is kept, as errors are reported last, and all of it is read, as a command must not block on it. It is
//! for logs, so the secrets of the command's environment are replaced in it.

use std::collections::VecDeque;

use haft_core::Secret;
use tokio::io::AsyncRead;

use super::pipe::PipeReader;

/// The text in place of a secret.
const REPLACEMENT: &[u8] = b"[secret]";

/// The last bytes of stderr.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    limit: usize,
    /// Bytes that are kept beyond the limit, so that a secret at the cut is recognised.
    margin: usize,
    is_cut: bool,
    secrets: Vec<Secret>,
}

impl StderrTail {
    /// Creates an empty tail of at most this many bytes.
    pub(super) fn new(limit: usize, secrets: Vec<Secret>) -> Self {
        let margin = secrets.iter().map(|secret| secret.expose().len()).max().unwrap_or(0);
        Self { bytes: VecDeque::new(), limit, margin, is_cut: false, secrets }
    }

    /// Reads a pipe to its end.
    pub(super) async fn read<P: AsyncRead + Unpin>(&mut self, mut pipe: PipeReader<P>) {
        let mut buffer = vec![0; 8 * 1024];
        loop {
            match pipe.read(&mut buffer).await {
                0 => return,
                count => self.add(&buffer[..count]),
            }
        }
    }

    /// Returns the end as text, without secrets.
    pub(super) fn text(&mut self) -> String {
        let bytes = self.bytes.make_contiguous();
        let skipped = if self.is_cut { bytes.len().saturating_sub(self.limit) } else { 0 };
        without_secrets(bytes, skipped, &self.secrets)
    }

    /// Returns another text about the command without its secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        without_secrets(text.as_bytes(), 0, &self.secrets)
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let beyond = self.bytes.len().saturating_sub(self.limit.saturating_add(self.margin));
        if beyond > 0 {
            self.is_cut = true;
            self.bytes.drain(..beyond);
        }
    }
}

/// Returns the bytes after the first `skipped` ones as text, with secrets replaced, also one that begins before.
fn without_secrets(bytes: &[u8], skipped: usize, secrets: &[Secret]) -> String {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let secrets = secrets.iter().map(|secret| secret.expose().as_bytes());
        let longest = secrets.filter(|secret| bytes[at..].starts_with(secret)).map(<[u8]>::len).max().unwrap_or(0);
        if longest == 0 {
            kept.extend((at >= skipped).then_some(bytes[at]));
            at += 1;
        } else {
            at += longest;
            kept.extend_from_slice(if at > skipped { REPLACEMENT } else { &[] });
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(limit: usize, secrets: &[&str], parts: &[&str]) -> String {
        let mut tail = StderrTail::new(limit, secrets.iter().map(|&text| Secret::new(text)).collect());
        for part in parts {
            tail.add(part.as_bytes());
        }
        assert!(tail.bytes.len() <= limit + tail.margin);
        tail.text()
    }

    #[test]
    fn only_the_end_is_kept() {
        assert_eq!(tail(5, &[], &["abc", "defg", "h"]), "defgh");
        assert_eq!(tail(5, &[], &["abcde"]), "abcde");
        assert_eq!(tail(5, &[], &[]), "");
        assert_eq!(tail(0, &["s3cret"], &["abcs3cret"]), "");
        assert_eq!(tail(2, &[], &["aé"]), "é");
        assert_eq!(tail(1, &[], &["aé"]), "\u{fffd}");
    }

    #[test]
    fn secrets_are_replaced_in_other_texts() {
        let tail = StderrTail::new(0, vec![Secret::new("s3cret")]);
        assert_eq!(tail.redact("the key `s3cret` is invalid: é"), "the key `[secret]` is invalid: é");
    }

    #[test]
    fn secrets_are_replaced_wherever_the_text_is_cut() {
        assert_eq!(tail(99, &["s3cret", "s3"], &["a s3c", "ret s3 b"]), "a [secret] [secret] b");
        let text = "x".repeat(20) + "s3cret" + &"y".repeat(20);
        for limit in 0..=text.len() {
            let kept = tail(limit, &["s3cret"], &[&text]);
            for piece in ["s3", "3c", "cr", "re", "et"] {
                assert!(!kept.replace("[secret]", "").contains(piece), "{limit}: {kept}");
            }
        }
    }
}
