//! The middlewares around one tool, with their types erased.

use std::any::type_name;
use std::sync::{Arc, Mutex, OnceLock};

use haft_core::Outcome;
use haft_schema::Decoded;
use haft_schema::isolation::Isolated;

use super::Middleware;
use super::next::Next;
use super::request::Request;
use crate::cx::Cx;
use crate::handler::{BoxFuture, Deferred, Prepared, PreparedMeta, StartFlag};
use crate::service::{Dependency, ServiceList};
use crate::tool::Tool;

/// A middleware with its type erased. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct Layer {
    middleware: Arc<dyn ErasedMiddleware>,
    declared: Arc<Declarations>,
}

/// The properties that a middleware declares, read once.
struct Declarations {
    name: &'static str,
    needs: Vec<Dependency>,
    provides: Vec<Dependency>,
}

/// The middlewares around one tool, the outermost last. Shared by clones.
#[derive(Clone, Default)]
pub(crate) struct Layers(Option<Arc<[Layer]>>);

trait ErasedMiddleware: Send + Sync {
    fn run(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<Outcome>;
}

impl<M: Middleware> ErasedMiddleware for Isolated<M> {
    fn run(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<Outcome> {
        Box::pin(async move { self.around(request, next).await })
    }
}

impl Layer {
    pub(crate) fn new<M: Middleware>(middleware: M) -> Self {
        let (needs, provides) = (M::Services::dependencies(), middleware.provides());
        let declared = Arc::new(Declarations { name: type_name::<M>(), needs, provides });
        Self { middleware: Arc::new(Isolated::new(middleware)), declared }
    }

    /// Returns the name of the middleware's type.
    pub(super) fn name(&self) -> &'static str {
        self.declared.name
    }

    /// Returns the services that the middleware provides to everything inside of it.
    pub(super) fn provides(&self) -> &[Dependency] {
        &self.declared.provides
    }

    /// Updates the services that a tool needs from its toolkit, for a tool that is wrapped in this middleware: those
    /// that the middleware provides are no longer among them, and those that it needs itself are.
    pub(crate) fn update_dependencies(&self, dependencies: &mut Vec<Dependency>) {
        let Declarations { needs, provides, .. } = &*self.declared;
        dependencies.retain(|dependency| !provides.iter().any(|provided| provided.is_same_service(dependency)));
        for needed in needs {
            if !dependencies.contains(needed) {
                dependencies.push(*needed);
            }
        }
    }

    /// Runs the middleware with one call.
    pub(super) fn run(&self, request: Request, next: Next) -> BoxFuture<Outcome> {
        Arc::clone(&self.middleware).run(request, next)
    }
}

impl Layers {
    /// Reports whether there are no middlewares.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the same middlewares inside of one more.
    pub(crate) fn inside_of(&self, outermost: Layer) -> Self {
        Self(Some(self.as_slice().iter().cloned().chain([outermost]).collect()))
    }

    /// Reports whether a middleware provides this service to the handler.
    pub(crate) fn provide(&self, dependency: &Dependency) -> bool {
        self.as_slice().iter().flat_map(Layer::provides).any(|provided| provided.is_same_service(dependency))
    }

    /// Returns the middlewares, the outermost last.
    pub(super) fn as_slice(&self) -> &[Layer] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Prepares a call whose arguments were read: it runs through all middlewares to the handler.
    pub(crate) fn prepare(&self, tool: &Tool, arguments: &str, cx: Cx, read: Decoded<Deferred>) -> Prepared {
        let start_flag = Arc::<StartFlag>::default();
        let request = Request {
            cx,
            tool: tool.clone(),
            arguments: arguments.into(),
            tree: OnceLock::new(),
            deferred: Mutex::new(Some(Isolated::new(read.value))),
            original: None,
            start_flag: Arc::clone(&start_flag),
        };
        let meta = PreparedMeta { repairs: read.repairs, start_flag: Some(start_flag) };
        Prepared { running: Box::pin(Next::all(self.clone()).forward(request)), meta: Some(Box::new(meta)) }
    }
}
