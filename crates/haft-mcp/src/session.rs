//! One live connection to a server.

mod asking;
mod fault;
mod request;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::service::{ClientInitializeError, RunningService, Subscription};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientServiceExt, RoleClient};
use tokio::sync::{Mutex, watch};
use tokio::time::{sleep, timeout};

pub(crate) use self::asking::Asking;
pub(crate) use self::fault::CallFault;
pub(crate) use self::request::{GivenInput, OutgoingCall};
use crate::era::Era;
use crate::error::McpError;
use crate::listing::Listing;
use crate::log::ServerLog;
use crate::process::ServerProcess;
use crate::server::{McpServer, ServerUrl, Target};
use crate::wire::http::HttpTransport;
use crate::wire::line::LineTransport;
use crate::wire::tap::{EndReason, Tap};

/// The pause before a subscription that has ended is made again.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// The facts that a server states about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServerInfo {
    /// The name, if the server states one.
    pub name: Option<String>,
    /// The version, if the server states one.
    pub version: Option<String>,
    /// The protocol revision that both sides use.
    pub protocol: String,
    /// The era of that revision.
    pub era: Era,
    /// The server's advice on the use of its tools. It is written by the server: treat it as such.
    pub instructions: Option<String>,
}

/// A connection. Dropping it ends the server.
pub(crate) struct Session {
    running: RunningService<RoleClient, Asking>,
    tap: Arc<Tap>,
    log: ServerLog,
    process: Option<Mutex<ServerProcess>>,
    pub(crate) info: McpServerInfo,
    /// The server reports changes of its tools to those who listen.
    announces_tools: bool,
    listening: Mutex<Listening>,
}

/// The subscription to changes of the tools, in the new era.
enum Listening {
    NotYet,
    Open(Box<Subscription>),
    Refused,
}

impl Session {
    /// Starts the server and agrees on a protocol revision.
    pub(crate) async fn connect(server: &McpServer, era: Era, log: &ServerLog) -> Result<Self, McpError> {
        let tap = Tap::new(log.clone());
        let side = Asking::new(server, log, Arc::clone(&tap));
        let (running, process) = match &server.target {
            Target::Command(command) => {
                let (process, pipes) = ServerProcess::start(command, log).map_err(|source| McpError::Start {
                    server: server.name.clone(),
                    program: command.program.to_string_lossy().into_owned(),
                    source,
                })?;
                let lines = LineTransport::new(pipes.output, pipes.input, server.limits.message, Arc::clone(&tap));
                (side.serve_with_lifecycle(lines, era.lifecycle()).await, Some(Mutex::new(process)))
            }
            Target::Http(http) => (serve_http(side, era, http, server, &tap).await?, None),
        };
        match running {
            Ok(running) => Ok(Self::of(running, tap, log.clone(), process)),
            Err(error) => Err(fault::start_error(server, error, &tap, log, process.as_ref()).await),
        }
    }

    fn of(
        running: RunningService<RoleClient, Asking>,
        tap: Arc<Tap>,
        log: ServerLog,
        process: Option<Mutex<ServerProcess>>,
    ) -> Self {
        let peer = running.peer().peer_info();
        let version = peer.as_ref().map_or_else(ProtocolVersion::default, |peer| peer.protocol_version.clone());
        let implementation = peer.as_ref().and_then(|peer| peer.server_info.clone());
        let (name, own_version) =
            implementation.map(|server| (log.clean(&server.name), log.clean(&server.version))).unzip();
        let info = McpServerInfo {
            name,
            version: own_version,
            protocol: version.as_str().to_owned(),
            era: Era::of(&version),
            instructions: peer.as_ref().and_then(|peer| peer.instructions.clone()),
        };
        let tools = peer.as_ref().and_then(|peer| peer.capabilities.tools.clone());
        let announces_tools = tools.is_some_and(|tools| tools.list_changed == Some(true));
        Self { running, tap, log, process, info, announces_tools, listening: Mutex::new(Listening::NotYet) }
    }

    /// Reports whether the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.running.is_closed() || self.running.peer().is_transport_closed() || self.tap.end_reason().is_some()
    }

    /// Completes when the tools may have changed since it was last called: the server says so, or may have said so while
    /// nothing listened.
    pub(crate) async fn tools_changed(&self) {
        let announced = self.tap.tools_changed();
        if self.info.era == Era::Legacy || !self.announces_tools {
            return announced.await;
        }
        let mut listening = self.listening.lock().await;
        match &mut *listening {
            Listening::Refused => announced.await,
            Listening::NotYet => {
                let filter = SubscriptionFilter::builder().tools_list_changed().build();
                match self.running.peer().listen(filter).await {
                    Ok(subscription) => *listening = Listening::Open(Box::new(subscription)),
                    Err(error) => {
                        tracing::debug!(server = self.log.server(), %error, "can't listen for changes of the tools");
                        *listening = Listening::Refused;
                    }
                }
            }
            Listening::Open(subscription) => {
                // The tap has read the notifications. What ends here is the subscription.
                let ended = async { while let Ok(Some(_)) = subscription.next().await {} };
                tokio::select! {
                    () = announced => {}
                    () = ended => {
                        *listening = Listening::NotYet;
                        sleep(LISTEN_AGAIN).await;
                    }
                }
            }
        }
    }

    /// Ends the server in good order, and waits until it has ended.
    pub(crate) async fn close(self) {
        let Self { running, process, .. } = self;
        drop(running.cancel().await);
        if let Some(process) = process {
            process.lock().await.end().await;
        }
    }

    /// Ends the server while calls are under way, and waits until its program has ended.
    pub(crate) async fn end(&self) {
        self.running.cancellation_token().cancel();
        if let Some(process) = &self.process {
            process.lock().await.end().await;
        }
    }

    /// Returns what the server may ask.
    pub(crate) fn asking(&self) -> &Asking {
        self.running.service()
    }

    /// Returns a text of the server without secrets, cut to a maximum length.
    pub(crate) fn clean(&self, text: &str) -> String {
        self.log.clean(text)
    }

    /// Returns what happened to the server, as a phrase.
    async fn end_phrase(&self) -> String {
        fault::end_phrase(&self.tap, self.process.as_ref()).await
    }
}

/// Connects to a server behind a URL.
async fn serve_http(
    side: Asking,
    era: Era,
    http: &ServerUrl,
    server: &McpServer,
    tap: &Arc<Tap>,
) -> Result<Result<RunningService<RoleClient, Asking>, ClientInitializeError>, McpError> {
    let client = HttpTransport {
        client: http.guarded_client(),
        bearer: http.bearer.clone(),
        headers: http.headers.clone().into(),
        limit: server.limits.message,
        tap: Arc::clone(tap),
        #[cfg(feature = "oauth")]
        challenges: http.oauth.as_ref().map(|oauth| oauth.challenges(&http.url)),
        #[cfg(not(feature = "oauth"))]
        challenges: None,
        is_listening: watch::Sender::new(false),
    };
    let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(&http.url));
    config.max_concurrent_requests = server.limits.in_flight.get().saturating_add(4);
    config.max_sse_event_size = server.limits.message;
    #[cfg(feature = "oauth")]
    if let Some(oauth) = &http.oauth {
        let manager = oauth.authorized(http, http.guarded_client()).await;
        let manager = manager.map_err(|error| McpError::Login { server: server.name.clone(), source: error.into() })?;
        let client = rmcp::transport::auth::AuthClient::new(client, manager);
        let transport = StreamableHttpClientTransport::with_client(client, config);
        return Ok(side.serve_with_lifecycle(transport, era.lifecycle()).await);
    }
    let transport = StreamableHttpClientTransport::with_client(client, config);
    Ok(side.serve_with_lifecycle(transport, era.lifecycle()).await)
}

/// Lists the tools of a new session, all within the start-up timeout.
pub(crate) async fn start(server: &McpServer, era: Era, log: &ServerLog) -> Result<(Session, Listing), McpError> {
    let after = server.limits.start_timeout;
    let starting = async {
        let session = Session::connect(server, era, log).await?;
        let listing = session.list(server).await?;
        Ok((session, listing))
    };
    match timeout(after, starting).await {
        Ok(started) => started,
        Err(_) => Err(McpError::TimedOut { server: server.name.clone(), after }),
    }
}

impl EndReason {
    /// Returns the reason as a phrase whose subject is the server.
    fn phrase(self) -> String {
        match self {
            Self::TooLarge(limit) => format!("sent a message of more than {limit} bytes, and was ended"),
            Self::Stray(limit) => format!("wrote more than {limit} lines that are no messages, and was ended"),
            Self::TooManyRequests => "sent too many requests at once, and was ended".to_owned(),
        }
    }
}
