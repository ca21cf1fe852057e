//! The sessions of HTTP clients of the old era: counted, and each only for the caller that has opened it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionConfig,
};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use super::http::{current_access, refuse};
use super::limit::InFlight;
use super::server_state::ServerState;

/// The sessions.
pub(super) struct Sessions {
    local: LocalSessionManager,
    server: Arc<ServerState>,
    owners: Mutex<HashMap<SessionId, InFlight>>,
}

/// A session can't be opened or used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionFault {
    #[error("there are as many sessions as there may be")]
    TooMany,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(server: Arc<ServerState>) -> Self {
        let mut config = SessionConfig::default();
        config.keep_alive = Some(server.limits.session_idle);
        let mut local = LocalSessionManager::default();
        local.session_config = config;
        Self { local, server, owners: Mutex::default() }
    }

    /// Reports whether the current request is from the caller that has opened the session. Work of the server itself is
    /// not within a request.
    fn is_owned(&self, id: &SessionId) -> bool {
        let Some(access) = current_access() else { return true };
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(id).is_some_and(|owner| owner.caller() == access.caller())
    }
}

impl SessionManager for Sessions {
    type Error = SessionFault;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let access = current_access().ok_or(SessionFault::TooMany)?;
        let owner = self.server.admit_stream(&access).map_err(|_| {
            refuse();
            SessionFault::TooMany
        })?;
        let (id, transport) = self.local.create_session().await?;
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), owner);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.is_owned(id) && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if !self.is_owned(id) {
            return Ok(());
        }
        let owner = self.owners.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        drop(owner);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_stream(id, message).await?)
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
