//! One request of the table.

use haft_core::{Item, TurnRequest};

/// A request, and the texts that its body must contain unless a report explains why not.
pub(super) struct RequestCase {
    pub(super) name: String,
    /// A request without a model is sent to the model of the wire.
    pub(super) request: TurnRequest,
    pub(super) markers: Vec<String>,
}

impl RequestCase {
    pub(super) fn new(name: impl Into<String>, request: TurnRequest) -> Self {
        Self { name: name.into(), request, markers: Vec::new() }
    }

    /// Creates a request with this history.
    pub(super) fn history(name: impl Into<String>, history: Vec<Item>) -> Self {
        Self::new(name, TurnRequest::new("", history))
    }

    /// Adds a text that the body must contain.
    pub(super) fn contains(mut self, marker: impl Into<String>) -> Self {
        self.markers.push(marker.into());
        self
    }
}
