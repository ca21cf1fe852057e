//! Values that a call emits before it finishes.
//!
//! A handler emits values through its [`Cx`](crate::Cx). They are encoded at once and put on a queue that the caller of
//! the tool owns. A bounded queue makes the handler wait for the reader. Without a reader, emitted values are dropped:
//! emitting must never block a call for ever.

use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::executor::{CallHandle, Isolated};
use crate::issue::Issues;
use crate::json_text::JsonText;

/// A value that a running call emitted before its result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Emitted {
    /// Progress information: any JSON, not part of the result.
    Progress(JsonText),
    /// A preliminary result, encoded by the success schema of the tool.
    Preliminary(JsonText),
}

/// The destination of the values that a call emits: a queue of the caller, or the run of the call.
#[derive(Clone)]
pub struct Emitter(EmitTarget);

/// The destination. Dropping a sender wakes its receiver, whose waker is user code, so senders are isolated.
#[derive(Clone)]
enum EmitTarget {
    /// A queue that makes the handler wait when it is full.
    Bounded(Arc<Isolated<mpsc::Sender<Emitted>>>),
    /// A queue without a limit.
    Unbounded(Arc<Isolated<mpsc::UnboundedSender<Emitted>>>),
    /// The run of the call.
    Call(CallHandle),
}

/// A value that could not be emitted.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The value can't be encoded as JSON.
    #[error("the emitted value can't be encoded as JSON: {0}")]
    Encode(#[source] Issues),
    /// The value is not valid for the success schema of the tool.
    #[error("the preliminary value is invalid for the success schema: {0}")]
    Preliminary(#[source] Issues),
}

impl Emitter {
    /// Sends a value, waiting for capacity. If the receiver was dropped, the value is discarded without an error.
    pub(crate) async fn send(&self, emitted: Emitted) {
        match &self.0 {
            EmitTarget::Bounded(queue) => drop(queue.send(emitted).await),
            EmitTarget::Unbounded(queue) => drop(queue.send(emitted)),
            EmitTarget::Call(handle) => handle.send(emitted).await,
        }
    }

    /// Returns the handle of the call, if the destination is a run.
    pub(crate) fn call_handle(&self) -> Option<&CallHandle> {
        match &self.0 {
            EmitTarget::Call(handle) => Some(handle),
            EmitTarget::Bounded(_) | EmitTarget::Unbounded(_) => None,
        }
    }
}

impl From<mpsc::Sender<Emitted>> for Emitter {
    fn from(queue: mpsc::Sender<Emitted>) -> Self {
        Self(EmitTarget::Bounded(Arc::new(Isolated::new(queue))))
    }
}

impl From<mpsc::UnboundedSender<Emitted>> for Emitter {
    fn from(queue: mpsc::UnboundedSender<Emitted>) -> Self {
        Self(EmitTarget::Unbounded(Arc::new(Isolated::new(queue))))
    }
}

impl From<CallHandle> for Emitter {
    fn from(handle: CallHandle) -> Self {
        Self(EmitTarget::Call(handle))
    }
}

impl fmt::Debug for Emitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            EmitTarget::Bounded(_) => "Emitter(bounded queue)",
            EmitTarget::Unbounded(_) => "Emitter(unbounded queue)",
            EmitTarget::Call(_) => "Emitter(run)",
        })
    }
}
