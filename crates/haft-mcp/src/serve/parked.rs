//! Calls that wait in memory for an answer of a client of the new era.
//!
//! A handler that asks while it runs can't leave the process. Its run stays here, for a limited time, and is taken out once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_core::RunId;
use tokio::task::AbortHandle;

use super::live_call::LiveCall;

/// The calls that wait, by their ids.
pub(super) struct ParkedCalls<C = LiveCall> {
    calls: Mutex<HashMap<String, Parked<C>>>,
}

struct Parked<C> {
    call: C,
    /// Drops the call at the end of its time.
    expiry: AbortHandle,
}

impl<C: Send + 'static> ParkedCalls<C> {
    /// Keeps a call and returns its id; `None` if too many wait.
    pub(super) fn park(self: &Arc<Self>, call: C, most: usize, lifetime: Duration) -> Option<String> {
        let id = RunId::random().to_string();
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.len() >= most {
            drop(calls);
            // The run is dropped outside of the lock: handlers are user code.
            drop(call);
            return None;
        }
        let (parked, expired) = (Arc::downgrade(self), id.clone());
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(lifetime).await;
            drop(parked.upgrade().and_then(|parked| parked.take(&expired)));
        });
        calls.insert(id.clone(), Parked { call, expiry: expiry.abort_handle() });
        Some(id)
    }

    /// Takes a call out.
    pub(super) fn take(&self, id: &str) -> Option<C> {
        let Parked { call, expiry } = self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(id)?;
        expiry.abort();
        Some(call)
    }
}

impl<C> Default for ParkedCalls<C> {
    fn default() -> Self {
        Self { calls: Mutex::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_call_is_taken_once_and_leaves_no_task() {
        let parked = Arc::new(ParkedCalls::default());
        let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        for round in 0..100 {
            let id = parked.park(round, 1, MINUTE).unwrap();
            assert_eq!(parked.park(round, 1, MINUTE), None, "one waits at most");
            assert_eq!(parked.take(&id), Some(round));
            assert_eq!(parked.take(&id), None);
            // The runtime polls an aborted task once more.
            tokio::task::yield_now().await;
        }
        assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), before);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_expires() {
        let parked = Arc::new(ParkedCalls::default());
        let (call, dropped) = tokio::sync::oneshot::channel::<()>();
        let id = parked.park(call, 1, MINUTE).unwrap();
        assert!(dropped.await.is_err());
        assert!(parked.take(&id).is_none());
    }
}
