//! One call before the cache.
//!
//! Equal calls wait for the one that runs. A call that its handler makes, directly or through other tools, would wait
//! for itself; two that make each other's calls would wait for each other. So a call from inside a cached call never
//! waits. An ambient value recognises it, because a handler makes calls through a toolkit, which knows nothing about
//! the call it is used in.

use std::sync::Arc;

use haft_core::{FailureKind, Outcome, ToolFailure, ToolOutput};
use haft_executor::{Ambient, Middleware, Next, Request};
use haft_schema::isolation::Isolated;

use super::Cache;
use super::key::CacheKey;
use super::store::Lookup;

/// The ambient value for code that runs inside a call which others may wait for.
pub(super) struct InsideCachedCall;

impl Middleware for Cache {
    type Services = ();

    async fn around(&self, request: Request, next: Next) -> Outcome {
        let Some(key) = CacheKey::of(&request, self.sharing) else { return next.run(request).await };
        let ticket = match self.store.look_up(key) {
            Lookup::Answer(output) => return Outcome::Ok(ToolOutput::clone(&output)),
            Lookup::Pending(ticket) => ticket,
        };
        let ambient = Ambient::current();
        let slot = if ambient.get::<InsideCachedCall>().is_some() {
            match ticket.slot().try_lock() {
                Ok(slot) => slot,
                Err(_) => return next.run(request).await,
            }
        } else {
            match request.cx().run_until_cancelled(ticket.slot().lock()).await {
                Some(slot) => slot,
                None => return ToolFailure::new(FailureKind::Cancelled, "").into(),
            }
        };
        // Unlocking it wakes the next call, and wakers are user code.
        let mut slot = Isolated::new(slot);
        if let Some(output) = &**slot {
            return Outcome::Ok(ToolOutput::clone(output));
        }
        let outcome = ambient.with(InsideCachedCall).scope(next.run(request)).await;
        if let Outcome::Ok(output) = &outcome {
            let output = Arc::new(output.clone());
            ticket.store(Arc::clone(&output), self.ttl, self.max_entries);
            **slot = Some(output);
        }
        outcome
    }
}
