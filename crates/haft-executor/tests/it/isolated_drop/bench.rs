//! A toolkit and options with state in every part that user code controls.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use haft_core::{Annotation, ApprovalRequest, ContentPart, ToolCall, ToolEvent, ToolFailure};
use haft_executor::{ApprovalPolicy, AuditRecord, Cx, Next, Permission, Request, RunOptions, Services, Tool, Toolkit};
use serde_json::Value;

/// A part that may hold state whose drop panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Observer,
    Permit,
    Approver,
    RunPolicy,
    ToolPolicy,
    KitService,
    RunService,
    Extension,
    Middleware,
    Handler,
    ModelOutput,
    Auditor,
    Clock,
    Annotation,
}

pub(super) const ALL: [Part; 14] = [
    Part::Observer,
    Part::Permit,
    Part::Approver,
    Part::RunPolicy,
    Part::ToolPolicy,
    Part::KitService,
    Part::RunService,
    Part::Extension,
    Part::Middleware,
    Part::Handler,
    Part::ModelOutput,
    Part::Auditor,
    Part::Clock,
    Part::Annotation,
];

/// The number of drops that panicked.
#[derive(Clone, Default)]
pub(super) struct Drops(Arc<AtomicUsize>);

impl Drops {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A value that panics when it is dropped.
pub(super) struct Fragile(Drops);

impl Fragile {
    pub(super) fn new(drops: &Drops) -> Self {
        Self(drops.clone())
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        panic!("dropped");
    }
}

impl std::fmt::Debug for Fragile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fragile")
    }
}

#[derive(Debug)]
struct Note(#[allow(dead_code, reason = "there to be dropped")] Option<Fragile>);

impl Annotation for Note {}

struct Service(#[allow(dead_code, reason = "there to be dropped")] Option<Fragile>);
struct RunService(#[allow(dead_code, reason = "there to be dropped")] Option<Fragile>);
struct Extension(#[allow(dead_code, reason = "there to be dropped")] Option<Fragile>);

pub(super) struct Bench {
    pub(super) kit: Toolkit,
    pub(super) options: RunOptions,
    drops: Drops,
    seen: Arc<Mutex<Vec<bool>>>,
}

impl Bench {
    pub(super) fn new(fragile: &[Part]) -> Self {
        let (drops, seen) = (Drops::default(), Arc::<Mutex<Vec<bool>>>::default());
        let has = |part| fragile.contains(&part).then(|| Fragile::new(&drops));
        let kit = Toolkit::from_iter([tool(&has)]).with_services(Services::new().with(Service(has(Part::KitService))));
        let options = options(&has, &seen);
        Self { kit, options, drops, seen }
    }

    pub(super) fn drops(&self) -> Drops {
        self.drops.clone()
    }

    /// Returns whether each output that the observer saw was a success, in order. Kept separate from the observer's
    /// captures.
    pub(super) fn seen(&self) -> Arc<Mutex<Vec<bool>>> {
        Arc::clone(&self.seen)
    }
}

pub(super) fn call(n: usize, waits: bool) -> ToolCall {
    ToolCall::new(format!("c{n}"), "work", waits.to_string())
}

type Has<'a> = &'a dyn Fn(Part) -> Option<Fragile>;

/// Creates a tool that returns seven, or never ends.
fn tool(has: Has<'_>) -> Tool {
    let (policy, output) = (has(Part::ToolPolicy), has(Part::ModelOutput));
    let (handler, middleware) = (has(Part::Handler), has(Part::Middleware));
    let asks = move |_: Value, _| {
        let _ = &policy;
        async { true }
    };
    let shows = move |n: &u32| {
        let _ = &output;
        [ContentPart::text(n.to_string())]
    };
    let runs = move |waits: bool, cx: Cx| {
        let _ = &handler;
        async move {
            assert!(cx.service::<Service>().is_ok());
            if waits {
                pending::<()>().await;
            }
            7_u32
        }
    };
    let wraps = move |request: Request, next: Next| {
        let _ = &middleware;
        async move { next.run(request).await }
    };
    let tool = Tool::new("work").annotate(Note(has(Part::Annotation))).needs_approval(ApprovalPolicy::when(asks));
    tool.to_model_output(shows).handler(runs).unwrap().wrap(wraps)
}

fn options(has: Has<'_>, seen: &Arc<Mutex<Vec<bool>>>) -> RunOptions {
    let (observer, permit, approver) = (has(Part::Observer), has(Part::Permit), has(Part::Approver));
    let (policy, auditor, clock) = (has(Part::RunPolicy), has(Part::Auditor), has(Part::Clock));
    let seen = Arc::clone(seen);
    RunOptions::new()
        .observe(move |event: &ToolEvent| {
            let _ = &observer;
            seen.lock().unwrap().extend(event.result().map(haft_core::ToolResult::is_ok));
        })
        .permit(move |_: &Tool, _: &ToolCall, _: &Cx| {
            let _ = &permit;
            Permission::Allowed
        })
        .approvals(move |request: ApprovalRequest, _: Cx| {
            let _ = &approver;
            async move { request.approve() }
        })
        .policy(ApprovalPolicy::when(move |_: Value, _| {
            let _ = &policy;
            async { Ok::<_, ToolFailure>(false) }
        }))
        .audit(move |_: &AuditRecord| {
            let _ = &auditor;
        })
        .approval_lifetime(Duration::from_secs(60))
        .approval_clock(move || {
            let _ = &clock;
            SystemTime::now().into()
        })
        .services(Services::new().with(RunService(has(Part::RunService))))
        .extension(Extension(has(Part::Extension)))
}
