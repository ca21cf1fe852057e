//! Where a context looks things up.
//!
//! Most contexts own nothing: that of a call in a run is the call's [handle](CallHandle) to it, as what all calls share is there
//! already, once; that of a call run by itself looks into its toolkit. Whatever sets something for one call alone
//! (another attempt, other services) gives a context of its own.

use std::sync::Arc;

use tokio::time::Instant;

use crate::approval::{Gate, RefusedVerdict};
use crate::call::{CallId, ToolCall};
use crate::cancellation::Cancellation;
use crate::emit::{Emitted, Emitter};
use crate::executor::CallHandle;
use crate::schema::DecodeOptions;
use crate::scope::RunScope;
use crate::tool::Tool;
use crate::toolkit::ToolSet;

/// Where a context looks things up.
#[derive(Clone)]
pub(super) enum Source {
    /// In the run that the call is part of.
    Run(CallHandle),
    /// In the toolkit that runs it by itself.
    Kit(KitCx),
    /// In what it was given by itself.
    Own(Arc<Own>),
}

/// What a call knows that is run by itself.
#[derive(Clone)]
pub(super) struct KitCx {
    pub(super) set: Arc<ToolSet>,
    /// The place of its tool in the set.
    pub(super) tool: usize,
    pub(super) call_id: CallId,
}

/// What the contexts of all calls of a run have in common.
pub(crate) struct RunCx {
    pub(crate) decode: DecodeOptions,
    pub(crate) cancellation: Option<Cancellation>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) scope: Option<Arc<RunScope>>,
}

/// What a context was given.
#[derive(Clone)]
pub(super) struct Own {
    call_id: CallId,
    pub(super) subject: Subject,
    pub(super) emitter: Option<Emitter>,
    pub(super) scope: Option<Arc<RunScope>>,
    /// The part of the scope that is the toolkit's.
    kit: Option<Arc<RunScope>>,
    /// On the heap, as most contexts do without.
    pub(super) special: Option<Box<Special>>,
}

/// What most calls do without.
#[derive(Clone)]
pub(super) struct Special {
    pub(super) attempt: u32,
    pub(super) deadline: Option<Instant>,
    pub(super) cancellation: Option<Cancellation>,
    pub(super) decode: DecodeOptions,
    /// What verdicts are examined by, for whoever is asked about the call.
    pub(super) gate: Option<Arc<Gate>>,
    /// The verdict that was rejected before, for whoever is asked again.
    pub(super) rejected: Option<Arc<RefusedVerdict>>,
}

/// The tool of the call: by name until the call is given to it.
#[derive(Clone)]
pub(super) enum Subject {
    Named(Arc<str>),
    Bound(Tool),
}

impl Source {
    pub(super) fn call_id(&self) -> &CallId {
        match self {
            Self::Run(handle) => handle.call_id(),
            Self::Kit(kit) => &kit.call_id,
            Self::Own(own) => &own.call_id,
        }
    }

    pub(super) fn tool(&self) -> Option<&Tool> {
        match self {
            Self::Run(handle) => Some(handle.tool()),
            Self::Kit(kit) => Some(kit.set.at(kit.tool).0),
            Self::Own(own) => match &own.subject {
                Subject::Named(_) => None,
                Subject::Bound(tool) => Some(tool),
            },
        }
    }

    pub(super) fn tool_name(&self) -> &str {
        match self {
            Self::Run(handle) => handle.tool().name(),
            Self::Kit(kit) => kit.set.at(kit.tool).0.name(),
            Self::Own(own) => match &own.subject {
                Subject::Named(name) => name,
                Subject::Bound(tool) => tool.name(),
            },
        }
    }

    pub(super) fn attempt(&self) -> u32 {
        self.special().map_or(1, |special| special.attempt)
    }

    /// When the call must be done, as far as it was told. Its own limits come on top.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Run(handle) => handle.shared().deadline,
            Self::Kit(_) | Self::Own(_) => self.special()?.deadline,
        }
    }

    pub(super) fn cancellation(&self) -> Option<&Cancellation> {
        match self {
            Self::Run(handle) => handle.shared().cancellation.as_ref(),
            Self::Kit(_) | Self::Own(_) => self.special()?.cancellation.as_ref(),
        }
    }

    pub(super) fn decode(&self) -> &DecodeOptions {
        const DEFAULT: &DecodeOptions = &DecodeOptions::DEFAULT;
        match self {
            Self::Run(handle) => &handle.shared().decode,
            Self::Kit(_) | Self::Own(_) => self.special().map_or(DEFAULT, |special| &special.decode),
        }
    }

    pub(super) fn scope(&self) -> Option<&Arc<RunScope>> {
        match self {
            Self::Run(handle) => handle.scope(),
            Self::Kit(kit) => kit.set.at(kit.tool).1,
            Self::Own(own) => own.scope.as_ref(),
        }
    }

    /// What the call has of its toolkit alone.
    pub(super) fn kit_scope(&self) -> Option<&Arc<RunScope>> {
        match self {
            Self::Run(handle) => handle.kit_scope(),
            Self::Kit(kit) => kit.set.at(kit.tool).1,
            Self::Own(own) => own.kit.as_ref(),
        }
    }

    #[cfg(feature = "approval")]
    pub(super) fn gate(&self) -> Option<&Arc<Gate>> {
        self.special()?.gate.as_ref()
    }

    pub(super) fn rejected(&self) -> Option<&RefusedVerdict> {
        self.special()?.rejected.as_deref()
    }

    pub(super) fn call_handle(&self) -> Option<&CallHandle> {
        match self {
            Self::Run(handle) => Some(handle),
            Self::Kit(_) => None,
            Self::Own(own) => own.emitter.as_ref().and_then(Emitter::call_handle),
        }
    }

    /// Whether somebody listens to what the call emits.
    pub(super) fn is_heard(&self) -> bool {
        match self {
            Self::Run(_) => true,
            Self::Kit(_) => false,
            Self::Own(own) => own.emitter.is_some(),
        }
    }

    /// Hands a value to whoever listens.
    pub(super) async fn send(&self, emitted: Emitted) {
        match self {
            Self::Run(handle) => handle.send(emitted).await,
            Self::Own(own) => {
                if let Some(emitter) = &own.emitter {
                    emitter.send(emitted).await;
                }
            }
            Self::Kit(_) => {}
        }
    }

    /// The same, by itself, with something changed.
    pub(super) fn changed(self, change: impl FnOnce(&mut Own)) -> Self {
        let mut own = match self {
            Self::Run(handle) => Arc::new(Own::of_run(handle)),
            Self::Kit(kit) => Arc::new(Own::of_kit(kit)),
            Self::Own(own) => own,
        };
        change(Arc::make_mut(&mut own));
        Self::Own(own)
    }

    fn special(&self) -> Option<&Special> {
        match self {
            Self::Run(_) | Self::Kit(_) => None,
            Self::Own(own) => own.special.as_deref(),
        }
    }
}

impl Own {
    pub(super) fn new(call: &ToolCall, subject: Subject) -> Self {
        Self { call_id: call.call_id.clone(), subject, emitter: None, scope: None, kit: None, special: None }
    }

    fn of_kit(KitCx { set, tool, call_id }: KitCx) -> Self {
        let (tool, scope) = set.at(tool);
        let (subject, scope) = (Subject::Bound(tool.clone()), scope.cloned());
        Self { call_id, subject, emitter: None, kit: scope.clone(), scope, special: None }
    }

    fn of_run(handle: CallHandle) -> Self {
        let RunCx { decode, cancellation, deadline, .. } = handle.shared();
        let special =
            Special { deadline: *deadline, cancellation: cancellation.clone(), decode: *decode, ..Special::default() };
        Self {
            call_id: handle.call_id().clone(),
            subject: Subject::Bound(handle.tool().clone()),
            scope: handle.scope().cloned(),
            kit: handle.kit_scope().cloned(),
            special: Some(Box::new(special)),
            emitter: Some(handle.into()),
        }
    }
}

impl Default for Special {
    fn default() -> Self {
        Self {
            attempt: 1,
            deadline: None,
            cancellation: None,
            decode: DecodeOptions::DEFAULT,
            gate: None,
            rejected: None,
        }
    }
}
