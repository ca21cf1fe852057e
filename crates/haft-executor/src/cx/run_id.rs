//! The creation of run ids.
//!
//! An id is created when it is first asked for: a run whose handlers never ask has none, and pays for none. From then
//! on it is the same for all calls of the run. A run that is suspended stores its id, so that a call that is resumed
//! later, perhaps twice because a process died, has the key that it would have had before.

use std::fmt;
use std::sync::OnceLock;

use haft_core::RunId;
use haft_core::internal::Serial;

use crate::executor::CallHandle;

/// The id of a run, which is created when it is first read.
#[derive(Default)]
pub(crate) struct LazyRunId(OnceLock<RunId>);

impl LazyRunId {
    pub(crate) fn get(&self) -> &RunId {
        self.0.get_or_init(RunId::random)
    }
}

impl From<Option<RunId>> for LazyRunId {
    fn from(known: Option<RunId>) -> Self {
        Self(known.map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl fmt::Debug for LazyRunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0.get(), f)
    }
}

/// The source of the run id of an owned context.
#[derive(Clone)]
pub(crate) enum RunIdSource {
    /// The call is the only one of its run, so the id is derived from a number that no other call has.
    Alone(Serial),
    /// The run that the call is part of.
    Run(CallHandle),
    /// The id was set.
    Known(RunId),
}

impl RunIdSource {
    pub(crate) fn run_id(&self) -> RunId {
        match self {
            Self::Alone(serial) => RunId::of_bits(serial.bits()),
            Self::Run(handle) => handle.run_id().clone(),
            Self::Known(run_id) => run_id.clone(),
        }
    }
}
