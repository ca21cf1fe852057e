//! The rest of the pipeline: the inner middlewares and the handler.
//!
//! Every failure that comes back through here is stamped with whether the handler had begun. That is known for certain
//! by the call's [start flag](StartFlag), so it is never left to the wording of a middleware.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use haft_core::Outcome;
use haft_schema::isolation::Isolated;

use super::layer::Layers;
use super::request::Request;
use crate::executor::{PollRight, run_request};
use crate::handler::{BoxFuture, Running, StartFlag, broken};
use crate::service::Dependency;
use crate::tool::Tool;

/// The inner middlewares and the handler. Can be run again, for another attempt.
#[derive(Clone)]
pub struct Next {
    layers: Layers,
    /// The number of middlewares that are inside of this point.
    inner: usize,
}

/// A middleware that did not provide what it declares.
#[derive(Debug, thiserror::Error)]
#[error("the middleware `{middleware}` declares that it provides `{service}`, and handed on a call without it")]
struct NotProvided {
    middleware: &'static str,
    service: &'static str,
}

/// The inner middlewares and the handler, at work on one call.
///
/// It is isolated from the future of the middleware that runs it: both may panic when they are dropped together.
pub(super) struct Forwarded {
    inner: Isolated<BoxFuture<Outcome>>,
    start_flag: Arc<StartFlag>,
}

impl Next {
    /// Hands the call on and returns its outcome. Nothing happens until the future is polled.
    ///
    /// A failure reports truthfully whether the handler [had begun](haft_core::ToolFailure::started), in this attempt or an
    /// earlier one, whatever the inner middlewares claim. A future that is dropped before it is done cancels what runs
    /// inside.
    pub fn run(&self, request: Request) -> impl Future<Output = Outcome> + Send + 'static + use<> {
        self.forward(request)
    }

    /// Creates the start of the pipeline, outside of all middlewares.
    pub(super) fn all(layers: Layers) -> Self {
        Self { inner: layers.as_slice().len(), layers }
    }

    pub(super) fn forward(&self, request: Request) -> Forwarded {
        let start_flag = Arc::clone(&request.start_flag);
        Forwarded { inner: Isolated::new(self.boxed(request)), start_flag }
    }

    fn boxed(&self, request: Request) -> BoxFuture<Outcome> {
        if let Some(error) = self.not_provided(&request) {
            return Box::pin(ready(broken(error).into()));
        }
        let inner = self.inner.checked_sub(1).and_then(|inner| Some((inner, self.layers.as_slice().get(inner)?)));
        match inner {
            Some((inner, layer)) => layer.run(request, Self { layers: self.layers.clone(), inner }),
            None => Box::pin(run_request(request)),
        }
    }

    /// Returns the first service that the middleware which hands on the call declares and did not provide.
    fn not_provided(&self, request: &Request) -> Option<NotProvided> {
        let middleware = self.layers.as_slice().get(self.inner)?;
        // The toolkit's own service does not count: a caller whose service is missing must not get one that all share.
        let (given, common) = (request.cx.services(), request.cx.toolkit_services());
        let lacks = |service: &&Dependency| !given.has(service) || given.share(common, service);
        let service = middleware.provides().iter().find(lacks)?.name();
        Some(NotProvided { middleware: middleware.name(), service })
    }
}

impl Future for Forwarded {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.inner).poll(task).map(|mut outcome| {
            if let Outcome::Failed(failure) = &mut outcome {
                failure.started = self.start_flag.has_begun();
            }
            outcome
        })
    }
}

impl Running for Forwarded {
    fn poll(self: Pin<&mut Self>, _: &Tool, task: &mut Context<'_>, _: PollRight) -> Poll<Outcome> {
        Future::poll(self, task)
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next").field("inner_middlewares", &self.inner).finish_non_exhaustive()
    }
}
