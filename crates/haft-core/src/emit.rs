//! What a call says before it is done.
//!
//! A handler emits through its [`Cx`](crate::Cx); the values are encoded at once and put on a queue that belongs to
//! whoever runs the call. A bounded queue makes the handler wait for its reader. A call that nobody listens to emits
//! into nothing: emitting must never be able to block it for ever.

use std::fmt;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::executor::{CallHandle, Isolated};
use crate::issue::Issues;
use crate::json_text::JsonText;

/// One value that a running call sent ahead of its result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Emitted {
    /// Something to show: any JSON, not part of the result.
    Progress(JsonText),
    /// An early form of the result, encoded by the tool's success schema.
    Preliminary(JsonText),
}

/// Where a call's emitted values go: a queue of the caller's, or the run the call is part of.
#[derive(Clone)]
pub struct Emitter(EmitTarget);

/// The end of a queue wakes its reader, whose waker is user code.
#[derive(Clone)]
enum EmitTarget {
    /// A queue that makes the handler wait when it is full.
    Bounded(Arc<Isolated<mpsc::Sender<Emitted>>>),
    /// A queue that takes everything.
    Unbounded(Arc<Isolated<mpsc::UnboundedSender<Emitted>>>),
    /// The run.
    Call(CallHandle),
}

/// A value that couldn't be emitted.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The value has no JSON form.
    #[error("the emitted value can't be written as JSON: {0}")]
    Encode(#[source] Issues),
    /// The value doesn't fit the tool's success schema.
    #[error("the preliminary value does not fit the success schema: {0}")]
    Preliminary(#[source] Issues),
}

impl Emitter {
    /// Puts a value on the queue, waiting for room. A reader that is gone gets nothing, and that is no error.
    pub(crate) async fn send(&self, emitted: Emitted) {
        match &self.0 {
            EmitTarget::Bounded(queue) => drop(queue.send(emitted).await),
            EmitTarget::Unbounded(queue) => drop(queue.send(emitted)),
            EmitTarget::Call(handle) => handle.send(emitted).await,
        }
    }

    /// The run that listens, if it is one.
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
