//! Values that a running call emits ahead of its result.
//!
//! A handler emits through its [`Cx`](crate::Cx). A value is encoded at once, passes the functions that middlewares put
//! in front of the reader ([`Request::map_emissions`](crate::Request::map_emissions)), and is put on a queue that
//! belongs to the run or to the caller. A bounded queue makes the handler wait for its reader. Without a reader,
//! emitted values are dropped: emitting must never be able to block a call for ever.

use std::fmt;
use std::sync::Arc;

use haft_core::Progress;
use haft_schema::isolation::{Isolated, isolated};
use haft_schema::{Issues, JsonText};
use tokio::sync::mpsc;

use crate::executor::CallHandle;

/// A value that a running call emitted ahead of its result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Emitted {
    /// Progress: any JSON, not part of the result. See [`progress`](Emitted::progress).
    Progress(JsonText),
    /// A preliminary result, encoded by the success schema of the tool.
    Preliminary(JsonText),
}

impl Emitted {
    /// Returns the progress, if this is a value of exactly that form.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        match self {
            Self::Progress(value) => Progress::read(value),
            Self::Preliminary(_) => None,
        }
    }
}

/// The destination of a call's emitted values: a queue of the caller, or the run that the call is part of.
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

/// A function of a middleware that every emitted value passes, and those of the middlewares around it.
pub(crate) struct EmissionMap {
    map: Isolated<Box<MapEmitted>>,
    outer: Option<Arc<Self>>,
}

type MapEmitted = dyn Fn(Emitted) -> Option<Emitted> + Send + Sync;

/// A value that couldn't be emitted.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The value can't be encoded as JSON.
    #[error("the emitted value can't be encoded as JSON: {0}")]
    Encode(#[source] Issues),
    /// The value is not of the type that the tool declares for emitted values.
    #[error("the emitted value is invalid for the type that the tool declares with `emits`: {0}")]
    Invalid(#[source] Issues),
    /// The value is rejected by the tool's success schema.
    #[error("the preliminary value is invalid for the success schema: {0}")]
    Preliminary(#[source] Issues),
}

impl Emitter {
    /// Puts a value on the queue, waiting for room. It is no error if there is no reader any more.
    pub(crate) async fn send(&self, emitted: Emitted) {
        match &self.0 {
            EmitTarget::Bounded(queue) => drop(queue.send(emitted).await),
            EmitTarget::Unbounded(queue) => drop(queue.send(emitted)),
            EmitTarget::Call(handle) => handle.send(emitted).await,
        }
    }

    /// Returns the handle to the run, if the values go to a run.
    pub(crate) fn call_handle(&self) -> Option<&CallHandle> {
        match &self.0 {
            EmitTarget::Call(handle) => Some(handle),
            EmitTarget::Bounded(_) | EmitTarget::Unbounded(_) => None,
        }
    }
}

impl EmissionMap {
    /// Creates a function that is applied before those of the middlewares around it.
    pub(crate) fn new(
        map: impl Fn(Emitted) -> Option<Emitted> + Send + Sync + 'static,
        outer: Option<Arc<Self>>,
    ) -> Arc<Self> {
        Arc::new(Self { map: Isolated::new(Box::new(map)), outer })
    }

    /// Applies all functions, the innermost first. A function that panics drops the value: it may have been about to
    /// remove something from it.
    pub(crate) fn apply(&self, mut emitted: Emitted) -> Option<Emitted> {
        let mut next = Some(self);
        while let Some(Self { map, outer }) = next {
            emitted = isolated(|| map(emitted)).ok().flatten()?;
            next = outer.as_deref();
        }
        Some(emitted)
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
