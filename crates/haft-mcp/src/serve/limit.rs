//! Limits of a server, and the calls that they let in.
//!
//! What is counted per caller is kept only while the caller has a call in flight or has used up part of its rate, so the
//! number of callers does not matter.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use haft_core::{Caller, FailureKind, ToolFailure};
use tokio::time::Instant;

const MIB: usize = 1024 * 1024;
const MINUTE: Duration = Duration::from_secs(60);
/// The kind of a call beyond a limit.
const LIMITED: &str = "rate_limited";
/// The callers that are kept before those are removed that need not be.
const SWEEP_AT: usize = 1024;

/// The limits of a server.
///
/// ```
/// use haft_mcp::serve::ServeLimits;
///
/// let limits = ServeLimits::default().in_flight_per_caller(8).per_minute(600);
/// assert_eq!(limits.in_flight_per_caller, 8);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeLimits {
    /// The size of one message of a client in bytes; 4 MiB by default.
    pub message: usize,
    /// The time that the body of an HTTP request takes at most; 30 seconds by default.
    pub body_timeout: Duration,
    /// The HTTP sessions and subscriptions at the same time; 1,000 by default. Clients of the new era have no sessions.
    pub sessions: usize,
    /// The HTTP sessions and subscriptions of one caller at the same time; 100 by default.
    pub sessions_per_caller: usize,
    /// The time after which an idle HTTP session ends; five minutes by default.
    pub session_idle: Duration,
    /// The calls that run at the same time; 1,024 by default.
    pub in_flight: usize,
    /// The calls of one caller that run at the same time; 64 by default.
    pub in_flight_per_caller: usize,
    /// The calls of one caller per minute. Unset by default.
    pub per_minute: Option<u32>,
    /// The calls that wait in memory for an answer of a client of the new era; 1,000 by default.
    pub waiting: usize,
    /// The time that a client of the new era has to answer; 15 minutes by default.
    pub answer_within: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            message: 4 * MIB,
            body_timeout: Duration::from_secs(30),
            sessions: 1000,
            sessions_per_caller: 100,
            session_idle: 5 * MINUTE,
            in_flight: 1024,
            in_flight_per_caller: 64,
            per_minute: None,
            waiting: 1000,
            answer_within: 15 * MINUTE,
        }
    }
}

impl ServeLimits {
    /// Sets the size of one message of a client in bytes.
    #[must_use]
    pub fn message(mut self, bytes: usize) -> Self {
        self.message = bytes;
        self
    }

    /// Sets the time that the body of an HTTP request takes at most.
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets the HTTP sessions and subscriptions at the same time.
    #[must_use]
    pub fn sessions(mut self, sessions: usize) -> Self {
        self.sessions = sessions;
        self
    }

    /// Sets the HTTP sessions and subscriptions of one caller at the same time.
    #[must_use]
    pub fn sessions_per_caller(mut self, sessions: usize) -> Self {
        self.sessions_per_caller = sessions;
        self
    }

    /// Sets the time after which an idle HTTP session ends.
    #[must_use]
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = idle;
        self
    }

    /// Sets the calls that run at the same time.
    #[must_use]
    pub fn in_flight(mut self, calls: usize) -> Self {
        self.in_flight = calls;
        self
    }

    /// Sets the calls of one caller that run at the same time.
    #[must_use]
    pub fn in_flight_per_caller(mut self, calls: usize) -> Self {
        self.in_flight_per_caller = calls;
        self
    }

    /// Sets the calls of one caller per minute.
    #[must_use]
    pub fn per_minute(mut self, calls: u32) -> Self {
        self.per_minute = Some(calls);
        self
    }

    /// Sets the calls that wait in memory for an answer of a client of the new era.
    #[must_use]
    pub fn waiting(mut self, calls: usize) -> Self {
        self.waiting = calls;
        self
    }

    /// Sets the time that a client of the new era has to answer.
    #[must_use]
    pub fn answer_within(mut self, time: Duration) -> Self {
        self.answer_within = time;
        self
    }
}

/// Counts what is in flight, by caller.
#[derive(Debug)]
pub(super) struct Turnstile {
    most: usize,
    state: Arc<Mutex<TurnstileState>>,
}

#[derive(Debug, Default)]
struct TurnstileState {
    in_flight: usize,
    callers: HashMap<Option<Caller>, CallerState>,
}

#[derive(Debug)]
struct CallerState {
    in_flight: usize,
    /// The time at which the rate is unused again.
    unused_at: Instant,
}

/// A call or a stream in flight.
#[derive(Debug)]
pub(super) struct InFlight {
    state: Arc<Mutex<TurnstileState>>,
    caller: Option<Caller>,
}

impl Turnstile {
    /// Lets at most this many in, of all callers together.
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: Arc::default() }
    }

    /// Lets something of a caller in. The failure is for the model.
    pub(super) fn enter(
        &self,
        caller: Option<&Caller>,
        most: usize,
        per_minute: Option<u32>,
    ) -> Result<InFlight, ToolFailure> {
        let now = Instant::now();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.callers.len() >= SWEEP_AT {
            state.callers.retain(|_, caller| caller.in_flight > 0 || caller.unused_at > now);
        }
        if state.in_flight >= self.most {
            return Err(limited("the server runs as many calls as it can").retryable());
        }
        let key = caller.cloned();
        let caller = state.callers.entry(key.clone()).or_insert(CallerState { in_flight: 0, unused_at: now });
        if caller.in_flight >= most {
            return Err(limited(&format!("{most} of your calls run already; wait for one of them")).retryable());
        }
        if let Some(per_minute) = per_minute {
            let unused_at = caller.unused_at.max(now) + MINUTE / per_minute.max(1);
            if per_minute == 0 || unused_at > now + MINUTE {
                let wait = unused_at.saturating_duration_since(now + MINUTE);
                return Err(limited(&format!("you may make {per_minute} calls per minute")).retry_after(wait));
            }
            caller.unused_at = unused_at;
        }
        caller.in_flight += 1;
        state.in_flight += 1;
        Ok(InFlight { state: Arc::clone(&self.state), caller: key })
    }
}

impl InFlight {
    pub(super) fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.in_flight -= 1;
        if let Some(caller) = state.callers.get_mut(&self.caller) {
            caller.in_flight -= 1;
        }
    }
}

fn limited(reason: &str) -> ToolFailure {
    ToolFailure::new(FailureKind::from(LIMITED), reason).not_started()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_limits_of_a_caller_are_its_own() {
        let turnstile = Turnstile::new(3);
        let (ana, ben) = (Caller::from("ana"), Caller::from("ben"));
        let first = turnstile.enter(Some(&ana), 1, None).unwrap();
        assert_eq!(turnstile.enter(Some(&ana), 1, None).unwrap_err().kind.as_str(), "rate_limited");
        let others = [turnstile.enter(Some(&ben), 9, None).unwrap(), turnstile.enter(None, 9, None).unwrap()];
        assert!(turnstile.enter(Some(&ben), 9, None).unwrap_err().message.contains("the server"));
        drop((first, others));
        drop(turnstile.enter(Some(&ana), 1, None).unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_recovers_with_time() {
        let turnstile = Turnstile::new(9);
        let enter = |per_minute| turnstile.enter(None, 9, Some(per_minute));
        drop((enter(2).unwrap(), enter(2).unwrap()));
        assert_eq!(enter(2).unwrap_err().retry_after, Some(Duration::from_secs(30)));
        tokio::time::advance(Duration::from_secs(30)).await;
        drop(enter(2).unwrap());
        assert!(enter(2).is_err());
        assert!(turnstile.enter(Some(&Caller::from("ben")), 9, Some(0)).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn callers_with_nothing_in_flight_are_forgotten() {
        let turnstile = Turnstile::new(9);
        for number in 0..10 * SWEEP_AT {
            drop(turnstile.enter(Some(&Caller::from(number.to_string())), 1, None).unwrap());
        }
        assert!(turnstile.state.lock().unwrap().callers.len() <= SWEEP_AT);
    }
}
