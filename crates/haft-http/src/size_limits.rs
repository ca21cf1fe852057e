//! Limits on a response's size.

const MIB: usize = 1024 * 1024;

/// A response's maximum sizes in bytes.
///
/// ```
/// use haft_http::SizeLimits;
///
/// let limits = SizeLimits::default().body(64 * 1024);
/// assert_eq!(limits.body, 64 * 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SizeLimits {
    /// The size of a body that you read whole; 32 MiB by default.
    pub body: usize,
    /// The size of a body that you read as chunks or events; 256 MiB by default. Such a body is never held whole.
    pub stream: usize,
    /// The size of one server-sent event; 16 MiB by default.
    pub event: usize,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { body: 32 * MIB, stream: 256 * MIB, event: 16 * MIB }
    }
}

impl SizeLimits {
    /// Limits a body that you read whole.
    #[must_use]
    pub const fn body(mut self, bytes: usize) -> Self {
        self.body = bytes;
        self
    }

    /// Limits a body that you read as chunks or events.
    #[must_use]
    pub const fn stream(mut self, bytes: usize) -> Self {
        self.stream = bytes;
        self
    }

    /// Limits one server-sent event.
    #[must_use]
    pub const fn event(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self
    }
}
