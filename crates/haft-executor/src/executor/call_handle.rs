//! A call's handle to its run: the call's context reads shared state and sends values through it.
//!
//! The state that the calls of a run share is in one [`RunShared`], and a handle is an index into it. A handle keeps
//! all of it alive, with the tools, the calls and the services of the run; so nothing that user code may keep, wakers
//! above all, may hold a handle.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use haft_core::{CallId, RunId, ToolCall};
use tokio::time::Instant;

use super::mailbox::{EmissionBody, Mailbox, OccupancyGuard};
use super::option::StartEvents;
use crate::cx::RunCx;
use crate::cx::emit::Emitted;
use crate::scope::RunScope;
use crate::tool::Tool;
use crate::toolkit::ToolSet;

/// The state that the calls of one run share.
pub(super) struct RunShared {
    pub(super) mailbox: Arc<Mailbox>,
    set: Arc<ToolSet>,
    /// The calls as they were when the run started: arguments may be edited later, ids never change.
    calls: Arc<Vec<ToolCall>>,
    shared: RunCx,
    /// The run's scope layered over the toolkit's, for each call that has read from both.
    layered: Box<[OnceLock<Arc<RunScope>>]>,
    /// The scope that was layered last, and the toolkit's scope it was made from: mostly there is only one.
    last_layered: Mutex<Option<(Arc<RunScope>, Arc<RunScope>)>>,
}

/// The handle of one call.
#[derive(Clone)]
pub(crate) struct CallHandle {
    run_shared: Arc<RunShared>,
    index: usize,
    /// The index of its tool in the set.
    tool: usize,
}

impl RunShared {
    pub(super) fn new(set: Arc<ToolSet>, calls: Arc<Vec<ToolCall>>, shared: RunCx) -> Arc<Self> {
        // Without a scope of the run there is nothing to layer.
        let layers = if shared.scope.is_some() { calls.len() } else { 0 };
        Arc::new(Self {
            mailbox: Mailbox::new(calls.len()),
            set,
            calls,
            shared,
            layered: (0..layers).map(|_| OnceLock::new()).collect(),
            last_layered: Mutex::default(),
        })
    }

    /// Returns the id of the run.
    pub(super) fn run_id(&self) -> &RunId {
        self.shared.run_id.get()
    }

    /// Creates the handle of one call. `tool` is the index of its tool in the set.
    pub(super) fn call_handle(self: &Arc<Self>, index: usize, tool: usize) -> CallHandle {
        CallHandle { run_shared: Arc::clone(self), index, tool }
    }

    /// Layers `run` over `kit`. Scopes hold values of user code, so none is dropped under the lock.
    fn layer(&self, run: &Arc<RunScope>, kit: &Arc<RunScope>) -> Arc<RunScope> {
        let known = self.last_layered().as_ref().filter(|(known, _)| Arc::ptr_eq(known, kit)).cloned();
        if let Some((_, both)) = known {
            return both;
        }
        let both = run.in_front_of(kit);
        let replaced = self.last_layered().replace((Arc::clone(kit), Arc::clone(&both)));
        drop(replaced);
        both
    }

    fn last_layered(&self) -> MutexGuard<'_, Option<(Arc<RunScope>, Arc<RunScope>)>> {
        self.last_layered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lookups.
impl CallHandle {
    pub(crate) fn call_id(&self) -> &CallId {
        &self.call().call_id
    }

    /// Returns the call as it was when the run started: its arguments may have been edited since.
    pub(crate) fn call(&self) -> &ToolCall {
        &self.run_shared.calls[self.index]
    }

    /// Returns the position of the call in its run.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Returns the id of the run.
    pub(crate) fn run_id(&self) -> &RunId {
        self.run_shared.run_id()
    }

    pub(crate) fn tool(&self) -> &Tool {
        self.run_shared.set.at(self.tool).0
    }

    /// Returns the settings that all calls of the run share.
    pub(crate) fn shared(&self) -> &RunCx {
        &self.run_shared.shared
    }

    /// Returns the toolkit's scope for the call, without the run's.
    pub(crate) fn kit_scope(&self) -> Option<&Arc<RunScope>> {
        self.run_shared.set.at(self.tool).1
    }

    /// Returns the run's scope layered over the toolkit's.
    pub(crate) fn scope(&self) -> Option<&Arc<RunScope>> {
        match (&self.run_shared.shared.scope, self.kit_scope()) {
            (None, kit) => kit,
            (Some(run), None) => Some(run),
            (Some(run), Some(kit)) => {
                Some(self.run_shared.layered[self.index].get_or_init(|| self.run_shared.layer(run, kit)))
            }
        }
    }
}

/// Messages between the call and its run.
impl CallHandle {
    /// Sends a value to the run, waiting for capacity. The value is dropped if the call has ended.
    pub(crate) async fn send(&self, emitted: Emitted) {
        self.run_shared.mailbox.send(self.index, self.tool().limits().emit_buffer, emitted).await;
    }

    /// Reports that an attempt reaches the handler, if the run emits an event of it.
    pub(crate) fn report_started(&self, attempt: u32) {
        match self.shared().start_events {
            StartEvents::Emitted => self.run_shared.mailbox.report_started(self.index, attempt),
            StartEvents::Omitted => {}
        }
    }

    /// Reports that the call asks a question, or that one was settled.
    pub(crate) fn report_question(&self, body: EmissionBody) {
        self.run_shared.mailbox.report_question(self.index, body);
    }

    /// Records activity that is no event: it restarts the call's idle timeout.
    pub(crate) fn touch(&self) {
        self.run_shared.mailbox.touch(self.index);
    }

    /// Keeps the call's slot occupied while the guard lives: for work that continues after the call is cancelled.
    pub(crate) fn occupy(&self) -> OccupancyGuard {
        self.run_shared.mailbox.occupy(self.index)
    }

    /// Returns the deadline from the call's timeout, once its handler runs.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.run_shared.mailbox.deadline(self.index)
    }

    /// Reports whether the call has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.run_shared.mailbox.is_closed(self.index)
    }

    /// Completes when the call has ended.
    pub(crate) async fn closed(&self) {
        self.run_shared.mailbox.closed(self.index).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cx::run_id::LazyRunId;
    use crate::executor::OptionList;
    use crate::service::Services;
    use crate::toolkit::Toolkit;
    use haft_schema::DecodeOptions;

    fn kit(name: &str, services: Services) -> Toolkit {
        let tool = Tool::new(name).handler(|(), _cx| async {}).unwrap();
        Toolkit::from_iter([tool]).with_services(services)
    }

    #[test]
    fn calls_of_one_toolkit_share_the_layered_scope() {
        let kits = [kit("one", Services::new().with(1_u8).with('k')), kit("two", Services::new().with(2_u8))];
        let both = Toolkit::compose(kits).unwrap();
        let scope = RunScope { caller: Some("ana".into()), ..RunScope::of_services(Services::new().with('r')) };
        let shared = RunCx {
            decode: DecodeOptions::DEFAULT,
            cancellations: OptionList::EMPTY,
            deadline: None,
            scope: Some(Arc::new(scope)),
            run_id: LazyRunId::default(),
            start_events: StartEvents::Omitted,
            asking: None,
        };
        let calls = ["a", "b", "c"].map(|id| ToolCall::new(id, "one", "")).to_vec();
        let run_shared = RunShared::new(Arc::clone(both.set()), Arc::new(calls), shared);
        let [first, second, other] = [(0, 0), (1, 0), (2, 1)].map(|(index, tool)| run_shared.call_handle(index, tool));
        let (first, second, other) = (first.scope().unwrap(), second.scope().unwrap(), other.scope().unwrap());
        assert!(Arc::ptr_eq(first, second));
        assert_eq!(first.services.get::<u8>().unwrap(), &1);
        assert_eq!(other.services.get::<u8>().unwrap(), &2);
        for scope in [first, other] {
            assert_eq!(scope.services.get::<char>().unwrap(), &'r');
            assert_eq!(scope.caller.as_ref().unwrap(), &"ana");
        }
    }
}
