//! The connection to one server over time: made on demand, and again after the server has ended.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use haft_core::CallId;
use haft_executor::Backoff;
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::client::ClientState;
use crate::era::Era;
use crate::error::McpError;
use crate::listing::Listing;
use crate::log::ServerLog;
use crate::server::McpServer;
use crate::session::{self, McpServerInfo, Session};

const HOUR: Duration = Duration::from_secs(3600);

/// The connection to a server, shared by all of its tools.
pub(crate) struct Link {
    server: McpServer,
    log: ServerLog,
    /// The digests of the definitions that were pinned, by name.
    pins: Option<HashMap<String, Arc<str>>>,
    connection: AsyncMutex<Connection>,
    /// The facts that the server stated last.
    info: Mutex<Option<McpServerInfo>>,
    /// The tools that the server listed last.
    listing: watch::Sender<Option<Arc<Listing>>>,
    in_flight: Semaphore,
    /// The client, which offers the tools.
    client: OnceLock<Weak<ClientState>>,
}

/// The current connection, and what decides about the next.
#[derive(Default)]
struct Connection {
    current: Option<Live>,
    /// The times at which the server was started within the last hour.
    starts: VecDeque<Instant>,
    failure: Option<FailedStart>,
    is_closed: bool,
}

/// A session, and the task that refreshes its tools.
struct Live {
    session: Arc<Session>,
    refreshing: JoinHandle<()>,
}

/// The last attempts to start, which have failed.
struct FailedStart {
    attempts: u32,
    reason: String,
    not_before: Instant,
}

/// The difference between a tool and its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinFault {
    Changed,
    Removed,
}

impl Link {
    pub(crate) fn new(server: McpServer, pins: Option<HashMap<String, Arc<str>>>) -> Self {
        let log = ServerLog::new(&server.name, server.secrets(), server.hooks.clone());
        let in_flight = Semaphore::new(server.limits.in_flight.get().min(Semaphore::MAX_PERMITS));
        Self {
            server,
            log,
            pins,
            connection: AsyncMutex::default(),
            info: Mutex::default(),
            listing: watch::Sender::new(None),
            in_flight,
            client: OnceLock::new(),
        }
    }

    pub(crate) fn server(&self) -> &McpServer {
        &self.server
    }

    /// Sets the client that offers the tools.
    pub(crate) fn set_client(&self, client: Weak<ClientState>) {
        let _ = self.client.set(client);
    }

    pub(crate) fn info(&self) -> Option<McpServerInfo> {
        self.lock_info().clone()
    }

    /// Returns the tools that the server listed last.
    pub(crate) fn listing(&self) -> Option<Arc<Listing>> {
        self.listing.borrow().clone()
    }

    /// Returns a receiver of every list. It does not keep the link.
    pub(crate) fn listings(&self) -> watch::Receiver<Option<Arc<Listing>>> {
        self.listing.subscribe()
    }

    /// Waits until the server may get another call.
    pub(crate) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // The only error is that the semaphore is closed, which it never is.
        self.in_flight.acquire().await.ok()
    }

    /// Compares a tool with its pin, if tools are pinned.
    pub(crate) fn check_pin(&self, name: &str) -> Result<(), PinFault> {
        let Some(pinned) = self.pins.as_ref().and_then(|pins| pins.get(name)) else { return Ok(()) };
        let listing = self.listing();
        match listing.as_ref().and_then(|listing| listing.get(name)) {
            Some(live) if live.digest == *pinned => Ok(()),
            Some(_) => Err(PinFault::Changed),
            // A tool whose new definition is invalid has changed as well.
            None if listing.as_ref().is_some_and(|listing| listing.has_quarantined(name)) => Err(PinFault::Changed),
            None => Err(PinFault::Removed),
        }
    }

    /// Returns a live session. The server is started if it does not run; whoever else needs it meanwhile waits for the
    /// same start, which goes on if this future is dropped.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, McpError> {
        if let Ok(connection) = self.connection.try_lock()
            && let Some(session) = connection.live()
        {
            return Ok(session);
        }
        let link = Arc::clone(self);
        let starting = tokio::spawn(async move { link.ensure_session().await });
        starting.await.unwrap_or_else(|_| Err(McpError::Closed { server: self.server.name.clone() }))
    }

    async fn ensure_session(self: &Arc<Self>) -> Result<Arc<Session>, McpError> {
        let mut connection = self.connection.lock().await;
        if let Some(session) = connection.live() {
            return Ok(session);
        }
        connection.check_start(&self.server)?;
        connection.end();
        connection.starts.push_back(Instant::now());
        match session::start(&self.server, self.era(), &self.log).await {
            Ok((session, listing)) => {
                let session = Arc::new(session);
                connection.failure = None;
                *self.lock_info() = Some(session.info.clone());
                self.publish(listing);
                let refreshing = tokio::spawn(refresh(Arc::downgrade(self), Arc::clone(&session)));
                connection.current = Some(Live { session: Arc::clone(&session), refreshing });
                Ok(session)
            }
            Err(error) => {
                connection.fail(&error);
                Err(error)
            }
        }
    }

    /// Returns the era that was set, or the one that the server was found to speak.
    fn era(&self) -> Era {
        match (self.server.era, &*self.lock_info()) {
            (Era::Auto, Some(info)) => info.era,
            (era, _) => era,
        }
    }

    /// Lists the tools again.
    pub(crate) async fn relist(&self, session: &Session) -> Result<(), McpError> {
        let after = self.server.limits.start_timeout;
        match timeout(after, session.list(&self.server)).await {
            Ok(listing) => listing.map(|listing| self.publish(listing)),
            Err(_) => Err(McpError::TimedOut { server: self.server.name.clone(), after }),
        }
    }

    /// Ends the server, and waits until it has ended. It is not started again.
    pub(crate) async fn close(&self) {
        let mut connection = self.connection.lock().await;
        connection.is_closed = true;
        let Some(live) = connection.current.take() else { return };
        live.refreshing.abort();
        // The task ends at once, and holds the session no longer.
        drop(live.refreshing.await);
        match Arc::try_unwrap(live.session) {
            Ok(session) => session.close().await,
            // A call under way has it, and fails now.
            Err(session) => session.end().await,
        }
    }

    fn publish(&self, listing: Listing) {
        for quarantined in &listing.quarantined {
            tracing::warn!(server = self.server.name, "{}", self.log.clean(&quarantined.to_string()));
        }
        let listing = Arc::new(listing);
        self.listing.send_replace(Some(Arc::clone(&listing)));
        if self.pins.is_none()
            && let Some(client) = self.client.get().and_then(Weak::upgrade)
        {
            client.offer(&listing);
        }
    }

    fn lock_info(&self) -> MutexGuard<'_, Option<McpServerInfo>> {
        self.info.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn live(&self) -> Option<Arc<Session>> {
        let live = self.current.as_ref().filter(|live| !live.session.has_ended())?;
        Some(Arc::clone(&live.session))
    }

    /// Drops a session that has ended.
    fn end(&mut self) {
        if let Some(live) = self.current.take() {
            live.refreshing.abort();
        }
    }

    /// Reports whether the server may be started now.
    fn check_start(&mut self, server: &McpServer) -> Result<(), McpError> {
        let (now, name) = (Instant::now(), || server.name.clone());
        if self.is_closed {
            return Err(McpError::Closed { server: name() });
        }
        if let Some(failed) = self.failure.as_ref().filter(|failed| failed.not_before > now) {
            let (reason, retry_after) = (failed.reason.clone(), failed.not_before - now);
            return Err(McpError::Waiting { server: name(), reason, retry_after });
        }
        self.starts.retain(|&start| now.duration_since(start) < HOUR);
        let limit = server.limits.restarts_per_hour;
        // The first start is no restart.
        match self.starts.front() {
            Some(&first) if self.starts.len() > limit => {
                let retry_after = (first + HOUR).saturating_duration_since(now);
                Err(McpError::Restarts { server: name(), limit, retry_after })
            }
            _ => Ok(()),
        }
    }

    fn fail(&mut self, error: &McpError) {
        let attempts = self.failure.as_ref().map_or(1, |failed| failed.attempts.saturating_add(1));
        let backoff = Backoff::exponential(Duration::from_millis(500)).cap(Duration::from_secs(60));
        let wait = backoff.wait(attempts, &CallId::from(error.server()), None);
        self.failure = Some(FailedStart { attempts, reason: error.to_string(), not_before: Instant::now() + wait });
    }
}

/// The refreshing task holds the session, so it must end with the link.
impl Drop for Connection {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lists the tools again whenever they may have changed, until the connection ends.
async fn refresh(link: Weak<Link>, session: Arc<Session>) {
    /// The pause between two lists: a server that reports changes all the time is asked at this rate.
    const PAUSE: Duration = Duration::from_millis(200);
    loop {
        session.tools_changed().await;
        let Some(link) = link.upgrade() else { return };
        if session.has_ended() {
            return;
        }
        if let Err(error) = link.relist(&session).await {
            tracing::warn!(server = link.server.name, %error, "the tools can't be listed again");
        }
        drop(link);
        tokio::time::sleep(PAUSE).await;
    }
}
