//! Lanes: limits on calls that run at the same time, across runs.
//!
//! The [concurrency limits](crate::Concurrency) of a tool hold within one run. A [`Lanes`] value holds wherever it is shared: between
//! runs, toolkits and tenants of one process. It has one lane per key, and each lane has a number of slots. A [`Lane`]
//! states which key a call has: a fixed one, one per caller, or one taken from the arguments.
//!
//! A call enters its lanes with all checks behind it and with its slot in the run, as the last step before its handler
//! starts, and leaves them when its handler has really stopped, on whatever thread. So a lane is never held by a call
//! that waits for a person or for its siblings. Within a lane calls enter first come, first served, and one that stops
//! waiting frees its place. A call with several lanes enters them in one global order, so two calls can't block each
//! other. A call that would wait for a call that it is part of fails at once, as it would wait forever.
//!
//! [`Lanes::enter`] is the only way in. It takes a name and a key, waits, and returns a permit, so the slots can be kept
//! elsewhere without a change to anything that uses them.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use haft_core::{Caller, Outcome};
use haft_schema::isolation::Isolated;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::execute::PollRight;
use super::option::RunOptions;
use crate::ambient::Ambient;
use crate::handler::{BoxError, BoxFuture, BoxRunning, Running};
use crate::tool::Tool;
use crate::tool::arguments::CallArguments;

/// Limits how many calls run at the same time, in all runs that share this value. Clones share their slots.
///
/// There is one lane per key. [`keyed`](Self::keyed), [`by_argument`](Self::by_argument), [`by_caller`](Self::by_caller)
/// and [`by`](Self::by) state which lane a call takes; a `Lanes` alone is one lane for all calls. Give the result to
/// [`Tool::in_lane`] or [`RunOptions::lane`](crate::RunOptions::lane).
///
/// ```
/// use haft_executor::{Lanes, Tool, Toolkit};
/// use haft_core::ToolCall;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // One deployment per service at a time, whoever asks.
/// let deployments = Lanes::new("deployments");
/// let deploy = Tool::new("deploy").handler(|(service,): (String,), _cx| async move { service })?;
/// let kit: Toolkit = Toolkit::new().with(deploy.in_lane(deployments.by_argument("/0"))?)?;
///
/// let (one, other) = (ToolCall::new("c1", "deploy", r#"["web"]"#), ToolCall::new("c1", "deploy", r#"["web"]"#));
/// let (first, second) = tokio::join!(kit.run_call(&one), kit.run_call(&other));
/// assert!(first.is_ok() && second.is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Lanes {
    shared: Arc<SharedLanes>,
    longest_wait: Option<Duration>,
}

/// The rule that decides which lane of a [`Lanes`] a call takes. Cloning is cheap.
#[derive(Clone)]
pub struct Lane {
    lanes: Lanes,
    key: KeyRule,
}

#[derive(Clone)]
enum KeyRule {
    Fixed(Arc<str>),
    Of(Arc<KeyFn>),
}

type KeyFn = dyn Fn(&CallArguments<'_>, Option<&Caller>) -> Result<String, BoxError> + Send + Sync;

/// The slots of all lanes with the same name.
struct SharedLanes {
    /// Orders the lanes that one call enters.
    number: u64,
    name: Arc<str>,
    slots: NonZeroUsize,
    /// The lanes that a call holds or waits for.
    open: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

/// A lane that a call will enter.
#[derive(Clone)]
pub(super) struct LanePlace {
    lanes: Lanes,
    key: Arc<str>,
}

/// The slots that a call holds. They are freed when this is dropped.
pub(super) struct HeldLanes {
    /// Only its drop matters.
    _permits: Vec<LanePermit>,
    ambient: Ambient,
}

/// A slot in one lane. The fields are dropped in this order.
struct LanePermit {
    _slot: OwnedSemaphorePermit,
    _interest: Interest,
}

/// The interest of one call in a lane, which keeps the lane open.
struct Interest {
    shared: Arc<SharedLanes>,
    key: Arc<str>,
    semaphore: Option<Arc<Semaphore>>,
}

/// The lanes that the calls around a nested call hold, as an ambient value.
#[derive(Clone, Default)]
struct AroundNested(Arc<[(u64, Arc<str>)]>);

/// A handler that runs in lanes: calls that it makes can tell which.
struct RunningInLanes {
    ambient: Ambient,
    running: BoxRunning,
}

/// The reason that a call can't enter a lane.
#[derive(Debug, thiserror::Error)]
pub(super) enum LaneError {
    #[error("the call would wait in the lane `{key}` of `{lanes}` for a call that it is part of")]
    HeldByAncestor { lanes: Arc<str>, key: Arc<str> },
    #[error("the key of the call in the lanes `{lanes}` is unknown")]
    UnknownKey { lanes: Arc<str>, source: BoxError },
    #[error("the lanes `{lanes}` are closed")]
    Closed { lanes: Arc<str> },
}

impl Lanes {
    /// Creates lanes in which one call runs at a time per key. The name is for people, and states what the lanes protect.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_slots(name, NonZeroUsize::MIN)
    }

    /// Creates lanes in which this many calls run at a time per key.
    ///
    /// ```
    /// use haft_executor::{Lanes, RunOptions};
    /// use std::num::NonZeroUsize;
    ///
    /// // Every tenant has four calls at a time, in however many runs.
    /// let fair = Lanes::with_slots("tenants", NonZeroUsize::new(4).ok_or("zero")?);
    /// let options = RunOptions::new().caller("tenant:7").lane(fair.by_caller());
    /// # let _ = options;
    /// # Ok::<_, &str>(())
    /// ```
    #[must_use]
    pub fn with_slots(name: impl Into<String>, slots: NonZeroUsize) -> Self {
        static CREATED: AtomicU64 = AtomicU64::new(0);
        let slots = slots.min(NonZeroUsize::new(Semaphore::MAX_PERMITS).unwrap_or(NonZeroUsize::MIN));
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let shared = SharedLanes { number, name: Arc::from(name.into()), slots, open: Mutex::default() };
        Self { shared: Arc::new(shared), longest_wait: None }
    }

    /// Sets how long a call waits for its slot. A call that waited this long is `timed_out`: it has not started, and may be
    /// repeated. The slots stay shared with this value and its clones.
    #[must_use]
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest_wait = Some(longest);
        self
    }

    /// Returns the lane with this key.
    #[must_use]
    pub fn keyed(&self, key: impl Into<String>) -> Lane {
        Lane { lanes: self.clone(), key: KeyRule::Fixed(Arc::from(key.into())) }
    }

    /// Returns the rule that gives each caller a lane. Calls without a caller share one.
    #[must_use]
    pub fn by_caller(&self) -> Lane {
        self.by_rule(|_, caller| Ok(caller.map(ToString::to_string).unwrap_or_default()))
    }

    /// Returns the rule that gives each value of an argument a lane. The pointer is a JSON Pointer into the arguments. A
    /// text is its own key; calls without the argument share one lane. The arguments are those that were approved; what a
    /// middleware changes later does not count.
    #[must_use]
    pub fn by_argument(&self, pointer: impl Into<String>) -> Lane {
        let pointer = pointer.into();
        self.by_rule(move |arguments, _| {
            Ok(match arguments.tree()?.pointer(&pointer) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(value) => haft_schema::canonical_text(value),
            })
        })
    }

    /// Returns the rule that calculates the key from the arguments and the caller. If the function panics, or if its type
    /// does not accept the arguments, the call fails and does not start.
    ///
    /// ```
    /// use haft_core::Caller;
    /// use haft_executor::Lanes;
    ///
    /// let accounts = Lanes::new("accounts");
    /// let lane = accounts.by(|(account, _cents): (String, u64), caller: Option<&Caller>| {
    ///     format!("{}/{account}", caller.map_or("", Caller::as_str))
    /// });
    /// # let _ = lane;
    /// ```
    #[must_use]
    pub fn by<P, K>(&self, key: impl Fn(P, Option<&Caller>) -> K + Send + Sync + 'static) -> Lane
    where
        P: DeserializeOwned,
        K: Into<String>,
    {
        self.by_rule(move |arguments, caller| Ok(key(arguments.decode()?, caller).into()))
    }

    fn by_rule(
        &self,
        rule: impl Fn(&CallArguments<'_>, Option<&Caller>) -> Result<String, BoxError> + Send + Sync + 'static,
    ) -> Lane {
        let rule = Isolated::new(rule);
        Lane { lanes: self.clone(), key: KeyRule::Of(Arc::new(move |arguments, caller| rule(arguments, caller))) }
    }

    /// Waits for a slot in the lane with this key.
    async fn enter(self, key: Arc<str>, around: AroundNested) -> Result<LanePermit, LaneError> {
        let mut interest = self.shared.interest(key);
        let Some(semaphore) = interest.semaphore.clone() else { return Err(self.closed()) };
        let slot = match Arc::clone(&semaphore).try_acquire_owned() {
            Ok(slot) => slot,
            Err(_) if around.holds(&self, &interest.key) => {
                return Err(LaneError::HeldByAncestor { lanes: self.name(), key: Arc::clone(&interest.key) });
            }
            Err(_) => semaphore.acquire_owned().await.map_err(|_| self.closed())?,
        };
        // The permit has its own reference.
        interest.semaphore = None;
        Ok(LanePermit { _slot: slot, _interest: interest })
    }

    fn name(&self) -> Arc<str> {
        Arc::clone(&self.shared.name)
    }

    fn closed(&self) -> LaneError {
        LaneError::Closed { lanes: self.name() }
    }
}

impl Lane {
    /// Returns the place of a call: its lane, by its key. Calculating the key runs user code.
    pub(super) fn place(&self, arguments: &CallArguments<'_>, caller: Option<&Caller>) -> Result<LanePlace, LaneError> {
        let key = match &self.key {
            KeyRule::Fixed(key) => Arc::clone(key),
            KeyRule::Of(rule) => match rule(arguments, caller) {
                Ok(key) => Arc::from(key),
                Err(source) => return Err(LaneError::UnknownKey { lanes: self.lanes.name(), source }),
            },
        };
        Ok(LanePlace { lanes: self.lanes.clone(), key })
    }
}

impl LanePlace {
    /// Returns the shortest of the waits that are allowed in these places.
    pub(super) fn longest_wait(places: &[Self]) -> Option<Duration> {
        places.iter().filter_map(|place| place.lanes.longest_wait).min()
    }

    /// Waits for a slot in each of the places, in the order that all calls follow.
    pub(super) fn enter_all(mut places: Vec<Self>) -> BoxFuture<Result<HeldLanes, LaneError>> {
        places.sort_by(|one, other| one.order().cmp(&other.order()));
        places.dedup_by(|one, other| one.order() == other.order());
        let surrounding = Ambient::current();
        let around = surrounding.get::<AroundNested>().cloned().unwrap_or_default();
        Box::pin(async move {
            let mut held = around.0.to_vec();
            held.extend(places.iter().map(|place| (place.lanes.shared.number, Arc::clone(&place.key))));
            let mut permits = Vec::with_capacity(places.len());
            for LanePlace { lanes, key } in places {
                permits.push(lanes.enter(key, around.clone()).await?);
            }
            Ok(HeldLanes { _permits: permits, ambient: surrounding.with(AroundNested(held.into())) })
        })
    }

    fn order(&self) -> (u64, &str) {
        (self.lanes.shared.number, &self.key)
    }
}

impl HeldLanes {
    /// Wraps a handler, so that the calls it makes know the lanes around them.
    pub(super) fn around(&self, running: BoxRunning) -> BoxRunning {
        Box::pin(RunningInLanes { ambient: self.ambient.clone(), running })
    }
}

impl AroundNested {
    fn holds(&self, lanes: &Lanes, key: &str) -> bool {
        self.0.iter().any(|(number, held)| *number == lanes.shared.number && **held == *key)
    }
}

impl SharedLanes {
    /// Opens a lane, or joins those that hold it or wait for it.
    fn interest(self: &Arc<Self>, key: Arc<str>) -> Interest {
        let mut open = self.open();
        let semaphore = match open.get(&key) {
            Some(semaphore) => Arc::clone(semaphore),
            None => {
                let semaphore = Arc::new(Semaphore::new(self.slots.get()));
                open.insert(Arc::clone(&key), Arc::clone(&semaphore));
                semaphore
            }
        };
        drop(open);
        Interest { shared: Arc::clone(self), key, semaphore: Some(semaphore) }
    }

    /// Locks the open lanes. No user code may run while the guard lives, and no slot may be freed: that wakes calls.
    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, Arc<Semaphore>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the lane behind the last call, so that keys that are no longer used take no memory. References are only added
/// under the lock: the last one is the map's own.
impl Drop for Interest {
    fn drop(&mut self) {
        drop(self.semaphore.take());
        let mut open = self.shared.open();
        if open.get(&self.key).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            open.remove(&self.key);
        }
    }
}

impl Running for RunningInLanes {
    fn poll(mut self: Pin<&mut Self>, tool: &Tool, task: &mut Context<'_>, right: PollRight) -> Poll<Outcome> {
        let ambient = self.ambient.clone();
        ambient.sync_scope(|| self.running.as_mut().poll(tool, task, right))
    }
}

impl RunOptions {
    /// Adds a lane: every call enters it before its handler starts, besides those of its tool. See [`Lanes`].
    #[must_use]
    pub fn lane(mut self, lane: impl Into<Lane>) -> Self {
        self.lanes.add(lane.into());
        self
    }
}

/// One lane for all calls.
impl From<Lanes> for Lane {
    fn from(lanes: Lanes) -> Self {
        lanes.keyed("")
    }
}

/// One lane for all calls.
impl From<&Lanes> for Lane {
    fn from(lanes: &Lanes) -> Self {
        lanes.keyed("")
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes")
            .field("name", &self.shared.name)
            .field("slots", &self.shared.slots)
            .field("longest_wait", &self.longest_wait)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lane = f.debug_struct("Lane");
        lane.field("lanes", &self.lanes);
        if let KeyRule::Fixed(key) = &self.key {
            lane.field("key", key);
        }
        lane.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn poll<T>(entering: &mut BoxFuture<T>) -> Poll<T> {
        entering.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }

    fn enter(lanes: &Lanes, key: &str) -> BoxFuture<Result<HeldLanes, LaneError>> {
        LanePlace::enter_all(vec![LanePlace { lanes: lanes.clone(), key: key.into() }])
    }

    /// Keys may be anything, such as the names of accounts: those of the past must take no memory.
    #[test]
    fn a_lane_that_nobody_holds_or_waits_for_is_gone() {
        let lanes = Lanes::new("lanes");
        let open = || lanes.shared.open().len();
        let mut entering = ["a", "a", "b"].map(|key| enter(&lanes, key));
        assert_eq!(open(), 0, "nothing happens before the first poll");
        let Poll::Ready(Ok(first)) = poll(&mut entering[0]) else { panic!("the lane is free") };
        assert!(poll(&mut entering[1]).is_pending());
        let Poll::Ready(Ok(other)) = poll(&mut entering[2]) else { panic!("the lane is free") };
        assert_eq!(open(), 2);
        drop(other);
        assert_eq!(open(), 1);
        drop(first);
        assert_eq!(open(), 1, "the slot was given to the call that waits");
        drop(entering);
        assert_eq!(open(), 0);
        assert!(matches!(poll(&mut enter(&lanes, "a")), Poll::Ready(Ok(_))));
        assert_eq!(open(), 0);
    }
}
