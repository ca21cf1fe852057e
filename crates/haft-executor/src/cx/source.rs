//! The source of a context's values.
//!
//! Most contexts own nothing: that of a call in a run is the call's [handle](CallHandle), because the shared state is
//! there already; that of a single call on the fast path is an index into its toolkit. Setting a value for one call
//! alone (another attempt, other services) creates an owned context.

use std::sync::Arc;

use haft_core::internal::Serial;
use haft_core::{CallId, RunId, ToolCall};
use haft_schema::DecodeOptions;
use tokio::time::Instant;

use crate::approval::{Gate, RejectedVerdict};
use crate::cancellation::Cancellation;
use crate::cx::emit::{EmissionMap, Emitted, Emitter};
use crate::cx::run_id::{LazyRunId, RunIdSource};
use crate::executor::{Asking, CallHandle, OptionList, StartEvents};
use crate::resumable::Resumed;
use crate::scope::RunScope;
use crate::tool::Tool;
use crate::toolkit::ToolSet;

/// The source of a context's values.
#[derive(Clone)]
pub(super) enum CxSource {
    /// The run that the call is part of.
    Run(CallHandle),
    /// The toolkit of a single call on the fast path.
    Kit(KitCx),
    /// The context's own values.
    Owned(Arc<OwnedCx>),
}

/// The context of a single call on the fast path.
#[derive(Clone)]
pub(super) struct KitCx {
    pub(super) set: Arc<ToolSet>,
    /// The index of its tool in the set.
    pub(super) tool: usize,
    pub(super) call_id: CallId,
    /// The run id is derived from it.
    pub(super) serial: Serial,
}

/// The settings that the contexts of all calls of a run share.
pub(crate) struct RunCx {
    pub(crate) decode: DecodeOptions,
    pub(crate) cancellations: OptionList<Cancellation>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) scope: Option<Arc<RunScope>>,
    pub(crate) run_id: LazyRunId,
    pub(crate) start_events: StartEvents,
    /// The approver for questions, if there is one.
    pub(crate) asking: Option<Arc<Asking>>,
}

/// The values of an owned context.
#[derive(Clone)]
pub(super) struct OwnedCx {
    call_id: CallId,
    pub(super) run_id: RunIdSource,
    pub(super) tool: ToolRef,
    pub(super) emitter: Option<Emitter>,
    pub(super) scope: Option<Arc<RunScope>>,
    /// The toolkit's part of the scope.
    kit: Option<Arc<RunScope>>,
    /// On the heap, as most contexts have none.
    pub(super) overrides: Option<Box<CallOverrides>>,
}

/// Settings of one call that differ from the defaults.
#[derive(Clone)]
pub(super) struct CallOverrides {
    pub(super) attempt: u32,
    pub(super) deadline: Option<Instant>,
    pub(super) cancellations: OptionList<Cancellation>,
    pub(super) decode: DecodeOptions,
    /// The functions of middlewares that emitted values pass.
    pub(super) emission_map: Option<Arc<EmissionMap>>,
    /// The gate that examines verdicts, in the context of an approver.
    pub(super) gate: Option<Arc<Gate>>,
    /// The previous verdict, which was rejected, in the context of an approver.
    pub(super) rejected: Option<Arc<RejectedVerdict>>,
    /// The answers that the call goes on with.
    pub(super) resumed: Option<Arc<Resumed>>,
    /// The approver for questions of a call without a run.
    pub(super) asking: Option<Arc<Asking>>,
    /// Set in the context of an approver, if the handler that asks is running.
    pub(super) is_asked_live: bool,
}

/// The tool of the call, or only its name if the context is not bound to one.
#[derive(Clone)]
pub(super) enum ToolRef {
    Named(Arc<str>),
    Bound(Tool),
}

impl CxSource {
    pub(super) fn call_id(&self) -> &CallId {
        match self {
            Self::Run(handle) => handle.call_id(),
            Self::Kit(kit) => &kit.call_id,
            Self::Owned(own) => &own.call_id,
        }
    }

    pub(super) fn run_id(&self) -> RunId {
        match self {
            Self::Run(handle) => handle.run_id().clone(),
            Self::Kit(kit) => RunIdSource::Alone(kit.serial).run_id(),
            Self::Owned(own) => own.run_id.run_id(),
        }
    }

    pub(super) fn call_index(&self) -> Option<usize> {
        match self {
            Self::Run(handle) => Some(handle.index()),
            Self::Kit(_) => None,
            Self::Owned(own) => match &own.run_id {
                RunIdSource::Run(handle) => Some(handle.index()),
                RunIdSource::Alone(_) | RunIdSource::Known(_) => None,
            },
        }
    }

    pub(super) fn tool(&self) -> Option<&Tool> {
        match self {
            Self::Run(handle) => Some(handle.tool()),
            Self::Kit(kit) => Some(kit.set.at(kit.tool).0),
            Self::Owned(own) => match &own.tool {
                ToolRef::Named(_) => None,
                ToolRef::Bound(tool) => Some(tool),
            },
        }
    }

    pub(super) fn tool_name(&self) -> &str {
        match self {
            Self::Run(handle) => handle.tool().name(),
            Self::Kit(kit) => kit.set.at(kit.tool).0.name(),
            Self::Owned(own) => match &own.tool {
                ToolRef::Named(name) => name,
                ToolRef::Bound(tool) => tool.name(),
            },
        }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.overrides().map_or(1, |overrides| overrides.attempt)
    }

    /// Returns the deadline that was set. The call's timeout is not included.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Run(handle) => handle.shared().deadline,
            Self::Kit(_) | Self::Owned(_) => self.overrides()?.deadline,
        }
    }

    pub(super) fn cancellations(&self) -> &[Cancellation] {
        match self {
            Self::Run(handle) => handle.shared().cancellations.as_slice(),
            Self::Kit(_) | Self::Owned(_) => {
                self.overrides().map_or(&[], |overrides| overrides.cancellations.as_slice())
            }
        }
    }

    pub(super) fn decode(&self) -> &DecodeOptions {
        const DEFAULT: &DecodeOptions = &DecodeOptions::DEFAULT;
        match self {
            Self::Run(handle) => &handle.shared().decode,
            Self::Kit(_) | Self::Owned(_) => self.overrides().map_or(DEFAULT, |overrides| &overrides.decode),
        }
    }

    pub(super) fn scope(&self) -> Option<&Arc<RunScope>> {
        match self {
            Self::Run(handle) => handle.scope(),
            Self::Kit(kit) => kit.set.at(kit.tool).1,
            Self::Owned(own) => own.scope.as_ref(),
        }
    }

    /// Returns the toolkit's scope, without the run's.
    pub(super) fn kit_scope(&self) -> Option<&Arc<RunScope>> {
        match self {
            Self::Run(handle) => handle.kit_scope(),
            Self::Kit(kit) => kit.set.at(kit.tool).1,
            Self::Owned(own) => own.kit.as_ref(),
        }
    }

    pub(super) fn gate(&self) -> Option<&Arc<Gate>> {
        self.overrides()?.gate.as_ref()
    }

    pub(super) fn rejected(&self) -> Option<&RejectedVerdict> {
        self.overrides()?.rejected.as_deref()
    }

    pub(super) fn resumed(&self) -> Option<&Arc<Resumed>> {
        self.overrides()?.resumed.as_ref()
    }

    /// Reports whether the handler runs that asks, in the context of an approver.
    pub(super) fn is_asked_live(&self) -> bool {
        self.overrides().is_some_and(|overrides| overrides.is_asked_live)
    }

    /// Returns the approver for questions, if there is one.
    pub(super) fn asking(&self) -> Option<&Arc<Asking>> {
        let own = || self.overrides()?.asking.as_ref();
        self.call_handle().and_then(|handle| handle.shared().asking.as_ref()).or_else(own)
    }

    pub(super) fn call_handle(&self) -> Option<&CallHandle> {
        match self {
            Self::Run(handle) => Some(handle),
            Self::Kit(_) => None,
            Self::Owned(own) => own.emitter.as_ref().and_then(Emitter::call_handle),
        }
    }

    /// Reports whether emitted values have a receiver, or a middleware that observes them.
    pub(super) fn has_listener(&self) -> bool {
        match self {
            Self::Run(_) => true,
            Self::Kit(_) => false,
            Self::Owned(own) => own.emitter.is_some() || self.emission_map().is_some(),
        }
    }

    /// Returns the functions of middlewares that emitted values pass.
    pub(super) fn emission_map(&self) -> Option<&Arc<EmissionMap>> {
        self.overrides()?.emission_map.as_ref()
    }

    /// Sends a value to the receiver, if there is one.
    pub(super) async fn send(&self, emitted: Emitted) {
        match self {
            Self::Run(handle) => handle.send(emitted).await,
            Self::Owned(own) => {
                if let Some(emitter) = &own.emitter {
                    emitter.send(emitted).await;
                }
            }
            Self::Kit(_) => {}
        }
    }

    /// Converts the source into an owned one and changes it.
    pub(super) fn changed(self, change: impl FnOnce(&mut OwnedCx)) -> Self {
        let mut own = match self {
            Self::Run(handle) => Arc::new(OwnedCx::of_run(handle)),
            Self::Kit(kit) => Arc::new(OwnedCx::of_kit(kit)),
            Self::Owned(own) => own,
        };
        change(Arc::make_mut(&mut own));
        Self::Owned(own)
    }

    fn overrides(&self) -> Option<&CallOverrides> {
        match self {
            Self::Run(_) | Self::Kit(_) => None,
            Self::Owned(own) => own.overrides.as_deref(),
        }
    }
}

impl OwnedCx {
    pub(super) fn new(call: &ToolCall, tool: ToolRef) -> Self {
        Self {
            call_id: call.call_id.clone(),
            run_id: RunIdSource::Alone(Serial::next()),
            tool,
            emitter: None,
            scope: None,
            kit: None,
            overrides: None,
        }
    }

    fn of_kit(KitCx { set, tool, call_id, serial }: KitCx) -> Self {
        let (tool, scope) = set.at(tool);
        let (tool, scope) = (ToolRef::Bound(tool.clone()), scope.cloned());
        let run_id = RunIdSource::Alone(serial);
        Self { call_id, run_id, tool, emitter: None, kit: scope.clone(), scope, overrides: None }
    }

    fn of_run(handle: CallHandle) -> Self {
        let RunCx { decode, cancellations, deadline, .. } = handle.shared();
        let overrides = CallOverrides {
            deadline: *deadline,
            cancellations: cancellations.clone(),
            decode: *decode,
            ..CallOverrides::default()
        };
        Self {
            call_id: handle.call_id().clone(),
            run_id: RunIdSource::Run(handle.clone()),
            tool: ToolRef::Bound(handle.tool().clone()),
            scope: handle.scope().cloned(),
            kit: handle.kit_scope().cloned(),
            overrides: Some(Box::new(overrides)),
            emitter: Some(handle.into()),
        }
    }
}

impl Default for CallOverrides {
    fn default() -> Self {
        Self {
            attempt: 1,
            deadline: None,
            cancellations: OptionList::EMPTY,
            decode: DecodeOptions::DEFAULT,
            emission_map: None,
            gate: None,
            rejected: None,
            resumed: None,
            asking: None,
            is_asked_live: false,
        }
    }
}
