//! A call's handle to its run: its context looks things up by it, and sends values through it.
//!
//! Everything that the calls of a run have in common is in one [`RunShared`], and a handle is an index into it. Whoever keeps a
//! handle keeps all of it, with the tools, the calls and the services of the run; so nothing that others keep for us,
//! wakers above all, may hold a handle.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::time::Instant;

use super::mailbox::{Mailbox, OccupancyGuard};
use crate::call::{CallId, ToolCall};
use crate::cx::RunCx;
use crate::emit::Emitted;
use crate::scope::RunScope;
use crate::tool::Tool;
use crate::toolkit::ToolSet;

/// What the calls of one run have in common.
pub(super) struct RunShared {
    pub(super) mailbox: Arc<Mailbox>,
    set: Arc<ToolSet>,
    /// As they were when the run began: a call may be given other arguments, never another id.
    calls: Arc<Vec<ToolCall>>,
    shared: RunCx,
    /// The run's scope in front of the toolkit's, for each call that looked for something in both.
    layered: Box<[OnceLock<Arc<RunScope>>]>,
    /// The last of these that was made, and the toolkit's scope it was made from: mostly there is only one.
    last_layered: Mutex<Option<(Arc<RunScope>, Arc<RunScope>)>>,
}

/// The handle of one call.
#[derive(Clone)]
pub(crate) struct CallHandle {
    run_shared: Arc<RunShared>,
    index: usize,
    /// The place of its tool in the set.
    tool: usize,
}

impl RunShared {
    pub(super) fn new(set: Arc<ToolSet>, calls: Arc<Vec<ToolCall>>, shared: RunCx) -> Arc<Self> {
        // Only where there is something to put in front.
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

    /// Creates the handle of one call, of the tool at this place in the set.
    pub(super) fn call_handle(self: &Arc<Self>, index: usize, tool: usize) -> CallHandle {
        CallHandle { run_shared: Arc::clone(self), index, tool }
    }

    /// Puts `run` in front of `kit`. Scopes hold values of user code, so none is dropped under the lock.
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

/// What a call can look up.
impl CallHandle {
    pub(crate) fn call_id(&self) -> &CallId {
        &self.run_shared.calls[self.index].call_id
    }

    pub(crate) fn tool(&self) -> &Tool {
        self.run_shared.set.at(self.tool).0
    }

    /// What all calls of the run have in common.
    pub(crate) fn shared(&self) -> &RunCx {
        &self.run_shared.shared
    }

    /// What the toolkit alone provides the call with.
    pub(crate) fn kit_scope(&self) -> Option<&Arc<RunScope>> {
        self.run_shared.set.at(self.tool).1
    }

    /// What the run and the toolkit provide the call with.
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

/// What a call can tell its run, and hear of it.
impl CallHandle {
    /// Sends a value to the run, waiting for room. A call that is over sends into nothing.
    pub(crate) async fn send(&self, emitted: Emitted) {
        self.run_shared.mailbox.send(self.index, self.tool().limits().emit_buffer, emitted).await;
    }

    /// A sign of life that nobody is to see: the call is at work.
    pub(crate) fn touch(&self) {
        self.run_shared.mailbox.touch(self.index);
    }

    /// Keeps the call's place taken while the guard lives: for work that goes on when the call is given up.
    pub(crate) fn occupy(&self) -> OccupancyGuard {
        self.run_shared.mailbox.occupy(self.index)
    }

    /// When the call must be done by its own limits, once it runs.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.run_shared.mailbox.deadline(self.index)
    }

    /// Whether the call is over.
    pub(crate) fn is_over(&self) -> bool {
        self.run_shared.mailbox.is_over(self.index)
    }

    /// Ends when the call is over.
    pub(crate) async fn over(&self) {
        self.run_shared.mailbox.over(self.index).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::DecodeOptions;
    use crate::service::Services;
    use crate::toolkit::Toolkit;

    fn kit(name: &str, services: Services) -> Toolkit {
        let tool = Tool::new(name).run(|(), _cx| async {}).unwrap();
        Toolkit::from_iter([tool]).with_services(services)
    }

    #[test]
    fn calls_of_one_toolkit_share_what_the_run_puts_in_front() {
        let kits = [kit("one", Services::new().with(1_u8).with('k')), kit("two", Services::new().with(2_u8))];
        let both = Toolkit::compose(kits).unwrap();
        let scope = RunScope { caller: Some("ana".into()), ..RunScope::of_services(Services::new().with('r')) };
        let shared =
            RunCx { decode: DecodeOptions::DEFAULT, cancellation: None, deadline: None, scope: Some(Arc::new(scope)) };
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
