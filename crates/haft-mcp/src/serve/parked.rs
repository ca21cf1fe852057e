//! Calls that wait in memory for an answer of a client of the new era.
//!
//! A handler that asks while it runs can't leave the process. Its run stays here, for a limited time, and is taken out once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_core::RunId;

use super::live_call::LiveCall;

/// The calls that wait, by their ids.
#[derive(Default)]
pub(super) struct ParkedCalls {
    calls: Mutex<HashMap<String, LiveCall>>,
}

impl ParkedCalls {
    /// Keeps a call and returns its id; `None` if too many wait.
    pub(super) fn park(self: &Arc<Self>, call: LiveCall, most: usize, lifetime: Duration) -> Option<String> {
        let id = RunId::random().to_string();
        {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            if calls.len() >= most {
                drop(calls);
                // The run is dropped outside of the lock: handlers are user code.
                drop(call);
                return None;
            }
            calls.insert(id.clone(), call);
        }
        let (parked, expired) = (Arc::downgrade(self), id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(lifetime).await;
            let call = parked.upgrade().and_then(|parked| parked.take(&expired));
            drop(call);
        });
        Some(id)
    }

    /// Takes a call out.
    pub(super) fn take(&self, id: &str) -> Option<LiveCall> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}
