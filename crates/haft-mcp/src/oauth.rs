//! Logins: OAuth with PKCE, a browser and a redirect to this machine.
//!
//! rmcp knows the protocol: discovery, registration, the exchange of codes, refreshes. This module gives it haft's guarded
//! HTTP client, a store for the tokens, and the redirect. Every request goes through the client of the server, so its
//! guard applies to what a server names as its authorization server.

mod exchange;
mod redirect;
mod store;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use haft_core::Secret;
use haft_http::GuardedClient;
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationRequest, OAuthClientConfig, OAuthState};
use tokio::time::timeout;

use self::exchange::OAuthExchange;
use self::redirect::Redirect;
use self::store::TokenFile;
use crate::error::McpError;
use crate::server::{McpServer, ServerUrl, Target};
use crate::wire::http::Challenges;

/// The time that a person has to log in.
const LOGIN: Duration = Duration::from_secs(600);

/// The settings of logins at one server.
///
/// ```no_run
/// use haft_mcp::{McpServer, OAuth};
///
/// # async fn example() -> Result<(), haft_mcp::McpError> {
/// let server = McpServer::http("https://mcp.example.com/mcp").oauth(OAuth::new("/home/ann/.local/state/haft/mcp"));
/// server.login(|url| println!("open {url}")).await?;
/// let client = server.connect().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "settings do nothing until they are set for a server"]
pub struct OAuth {
    folder: PathBuf,
    scopes: Vec<String>,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    metadata_url: Option<String>,
}

impl OAuth {
    /// Keeps the tokens in this folder, in a file per server that only its owner can read.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), scopes: Vec::new(), client_id: None, client_secret: None, metadata_url: None }
    }

    /// Adds a scope to request. Without any, those that the server names are requested.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the id of a client that is registered with the authorization server. Without it, one is registered if the
    /// server permits that.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client_id = Some(id.into());
        self
    }

    /// Sets the secret of the registered client.
    pub fn client_secret(mut self, secret: Secret) -> Self {
        self.client_secret = Some(secret);
        self
    }

    /// Sets the `https` URL of a document that describes this client, which is used as the id where the authorization
    /// server supports that.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Returns the place for what this server demands of a login.
    pub(crate) fn challenges(&self, url: &str) -> Challenges {
        let file = TokenFile::new(&self.folder, url);
        Arc::new(move |challenge| {
            if let Err(error) = file.keep_challenge(challenge) {
                tracing::warn!(%error, "the rights that an MCP server demands can't be kept for the next login");
            }
        })
    }

    fn request(&self, redirect: &str) -> AuthorizationRequest {
        let mut request = AuthorizationRequest::new(redirect)
            .with_client_name("haft")
            .with_scopes(self.scopes.clone())
            .with_initial_scope_selection();
        if let Some(id) = &self.client_id {
            request = request.with_preregistered_client(id);
        }
        if let Some(secret) = &self.client_secret {
            request = request.with_client_secret(secret.expose());
        }
        if let Some(url) = &self.metadata_url {
            request = request.with_client_metadata_url(url);
        }
        request
    }

    /// Creates a manager that reads and refreshes the stored tokens.
    async fn manager(&self, http: &ServerUrl, client: GuardedClient) -> Result<AuthorizationManager, AuthError> {
        let exchange = Arc::new(OAuthExchange::new(client));
        let mut manager = AuthorizationManager::new_with_oauth_http_client(&*http.url, exchange).await?;
        manager.set_credential_store(TokenFile::new(&self.folder, &http.url));
        Ok(manager)
    }

    /// Creates the manager of a connection.
    pub(crate) async fn authorized(
        &self,
        http: &ServerUrl,
        client: GuardedClient,
    ) -> Result<AuthorizationManager, AuthError> {
        let mut manager = self.manager(http, client).await?;
        // Without tokens the server's own answer says that a login is required.
        let has_tokens = manager.initialize_from_store().await?;
        if has_tokens && let (Some(id), Some(secret)) = (&self.client_id, &self.client_secret) {
            // The secret is not among what is stored, and a refresh needs it. The redirect is not used.
            let client = OAuthClientConfig::new(id, "http://127.0.0.1/callback").with_client_secret(secret.expose());
            manager.configure_client(client)?;
        }
        Ok(manager)
    }

    /// Adds what the server demanded when it rejected a request: more rights than those that were granted before.
    async fn widen(
        &self,
        request: AuthorizationRequest,
        manager: &AuthorizationManager,
        file: &TokenFile,
    ) -> Result<AuthorizationRequest, AuthError> {
        let Some(challenge) = file.challenge().map_err(|error| store::error(&error))? else { return Ok(request) };
        let mut scopes = file.granted_scopes().map_err(|error| store::error(&error))?;
        if !scopes.is_empty() {
            manager.resolve_metadata_from_challenge(Some(&challenge)).await?;
            scopes.extend(self.scopes.iter().cloned());
            for scope in manager.select_initial_scopes(&[]).await {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        let request = if scopes.is_empty() { request } else { request.with_scopes(scopes) };
        Ok(request.with_challenge(challenge))
    }
}

impl McpServer {
    /// Uses OAuth, with the tokens of an earlier [`login`](Self::login). They are refreshed when they expire, by one process
    /// at a time. Ignored for a program.
    pub fn oauth(mut self, settings: OAuth) -> Self {
        if let Target::Http(http) = &mut self.target {
            http.oauth = Some(settings);
        }
        self
    }

    /// Logs in: `open` gets the address of a page for the person's browser, and this completes when the browser was
    /// redirected back to this machine and the tokens are stored. The person has ten minutes.
    pub async fn login(&self, open: impl FnOnce(&str) + Send) -> Result<(), McpError> {
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| McpError::Login { server: self.name.clone(), source };
        let Target::Http(ServerUrl { oauth: Some(settings), .. }) = &self.target else {
            return Err(failed("no OAuth settings are set for this server".into()));
        };
        let Target::Http(http) = &self.target else { return Ok(()) };
        let redirect = Redirect::bind().await.map_err(|error| failed(error.into()))?;
        let manager = settings.manager(http, http.guarded_client()).await.map_err(|error| failed(error.into()))?;
        let file = TokenFile::new(&settings.folder, &http.url);
        let request = settings.widen(settings.request(redirect.url()), &manager, &file).await;
        let request = request.map_err(|error| failed(error.into()))?;
        let mut state = OAuthState::Unauthorized(manager);
        let started = state.start_authorization(request).await;
        started.map_err(|error| failed(error.into()))?;
        let page = state.get_authorization_url().await.map_err(|error| failed(error.into()))?;
        open(&page);
        let callback = match timeout(LOGIN, redirect.callback()).await {
            Ok(callback) => callback.map_err(|error| failed(error.into()))?,
            Err(_) => return Err(failed("nobody logged in within ten minutes".into())),
        };
        state.handle_callback_url(&callback).await.map_err(|error| failed(error.into()))?;
        file.remove_challenge().map_err(|error| failed(error.into()))
    }

    /// Reports whether tokens of an earlier [`login`](Self::login) are stored. They may have expired.
    #[must_use]
    pub fn has_login(&self) -> bool {
        match &self.target {
            Target::Http(ServerUrl { url, oauth: Some(settings), .. }) => {
                TokenFile::new(&settings.folder, url).exists()
            }
            Target::Http(_) | Target::Command(_) => false,
        }
    }

    /// Forgets the tokens of an earlier [`login`](Self::login).
    pub fn logout(&self) -> Result<(), McpError> {
        let Target::Http(http) = &self.target else { return Ok(()) };
        let Some(settings) = &http.oauth else { return Ok(()) };
        let removed = TokenFile::new(&settings.folder, &http.url).remove();
        removed.map_err(|error| McpError::Login { server: self.name.clone(), source: error.into() })
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth").field("folder", &self.folder).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}
