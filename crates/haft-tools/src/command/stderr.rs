//! The end of a command's standard error.
//!
//! Only the end is kept, because errors are reported last. All of it is read, because a command must not block on it.
//! It is for logs, so it has the secrets from the command's environment replaced, in every form that they may have
//! there.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::io::AsyncRead;

use super::pipe::PipeReader;
use crate::redactor::{REMOVED, Redactor};

/// The last bytes from stderr.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    limit: usize,
    /// Bytes kept beyond the limit, so that a secret at the cut is recognised.
    margin: usize,
    pub(super) redactor: Arc<Redactor>,
}

impl StderrTail {
    /// Creates an empty tail with at most this many bytes.
    pub(super) fn new(limit: usize, redactor: Arc<Redactor>) -> Self {
        Self { bytes: VecDeque::new(), limit, margin: redactor.longest(), redactor }
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
        let mut start = bytes.len().saturating_sub(self.limit);
        let mut kept = Vec::with_capacity(bytes.len());
        for secret in self.redactor.find(bytes) {
            if secret.end <= start {
                continue;
            }
            kept.extend_from_slice(bytes.get(start..secret.start).unwrap_or_default());
            kept.extend_from_slice(REMOVED.as_bytes());
            start = secret.end;
        }
        kept.extend_from_slice(&bytes[start..]);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Returns another text about the command without its secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        self.redactor.redact(text)
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let beyond = self.bytes.len().saturating_sub(self.limit.saturating_add(self.margin));
        if beyond > 0 {
            self.bytes.drain(..beyond);
        }
    }
}

#[cfg(test)]
mod tests {
    use haft_core::Secret;

    use super::*;

    fn tail(limit: usize, secrets: &[&str], parts: &[&str]) -> String {
        let mut redactor = Redactor::default();
        for secret in secrets {
            redactor.add(&Secret::new(*secret));
        }
        let mut tail = StderrTail::new(limit, Arc::new(redactor));
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
        let mut redactor = Redactor::default();
        redactor.add(&Secret::new("s3cret"));
        let tail = StderrTail::new(0, Arc::new(redactor));
        assert_eq!(tail.redact("the key `s3cret` is invalid: é"), "the key `[removed]` is invalid: é");
    }

    #[test]
    fn secrets_are_replaced_wherever_the_text_is_cut() {
        assert_eq!(tail(99, &["s3cret", "s3"], &["a s3c", "ret s3 b"]), "a [removed] [removed] b");
        let text = "x".repeat(20) + "s3cret" + &"y".repeat(20);
        for limit in 0..=text.len() {
            let kept = tail(limit, &["s3cret"], &[&text]);
            for piece in ["s3", "3c", "cr", "re", "et"] {
                assert!(!kept.replace(REMOVED, "").contains(piece), "{limit}: {kept}");
            }
        }
    }
}
