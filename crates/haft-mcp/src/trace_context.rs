//! The place of a call in a distributed trace.

use std::sync::Arc;

use rmcp::model::RequestMetaObject;

/// The place of a call in a distributed trace, as W3C Trace Context writes it.
///
/// ```
/// use haft_mcp::TraceContext;
///
/// let context = TraceContext::new("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").state("vendor=1");
/// assert_eq!(context.tracestate.as_deref(), Some("vendor=1"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext {
    /// The trace, the parent span and its flags.
    pub traceparent: String,
    /// The state of the tracing systems that take part.
    pub tracestate: Option<String>,
}

impl TraceContext {
    /// Creates a context without state.
    #[must_use]
    pub fn new(traceparent: impl Into<String>) -> Self {
        Self { traceparent: traceparent.into(), tracestate: None }
    }

    /// Sets the state.
    #[must_use]
    pub fn state(mut self, tracestate: impl Into<String>) -> Self {
        self.tracestate = Some(tracestate.into());
        self
    }
}

/// Returns the context of the current call.
pub(crate) type TraceSource = Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>;

/// Returns the metadata of a request with the current context.
pub(crate) fn meta(source: Option<&TraceSource>) -> Option<RequestMetaObject> {
    let context = source?()?;
    let mut meta = RequestMetaObject::new();
    meta.set_traceparent(context.traceparent);
    if let Some(state) = context.tracestate {
        meta.set_tracestate(state);
    }
    Some(meta)
}
