//! A server as an entry describes it, from which the client's settings are made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use haft_core::Secret;
use haft_executor::{BoxError, Services};
use haft_http::GuardedClient;
use haft_mcp::{Era, McpError, McpLimits, McpServer, OAuth, ResultPolicy};
use haft_registry::{
    EffectFact, Entry, EntryError, ListedImport, LoginRequired, PinOrigin, PinnedImport, Reach, Recipient, Secrets,
    StartedCommand, command_line,
};

use super::auth::McpAuth;
use super::given::Given;
use super::log_file::LogFile;
use crate::command::code;
use crate::http::{HttpAuth, UrlTemplate};

/// A server, as it is started or connected to.
#[derive(Debug)]
pub(super) struct ServerSettings {
    pub(super) name: String,
    pub(super) target: ServerTarget,
    pub(super) era: Era,
    pub(super) results: ResultPolicy,
    pub(super) limits: McpLimits,
    pub(super) state: Option<StateFiles>,
}

/// The places for what outlasts a process.
#[derive(Debug)]
pub(super) struct StateFiles {
    pub(super) folder: PathBuf,
    pub(super) log: Arc<LogFile>,
}

#[derive(Debug)]
pub(super) enum ServerTarget {
    Command {
        argv: Vec<String>,
        folder: PathBuf,
        own_folder: Option<PathBuf>,
        env: BTreeMap<String, String>,
        secret_env: BTreeMap<String, String>,
    },
    Url {
        url: UrlTemplate,
        auth: McpAuth,
        headers: BTreeMap<String, String>,
    },
}

impl ServerSettings {
    /// Returns the identity of the server.
    pub(super) fn origin(&self) -> PinOrigin {
        match &self.target {
            ServerTarget::Command { argv, own_folder, .. } => {
                PinOrigin::command(argv, own_folder.as_ref().map(|folder| folder.to_string_lossy()).as_deref())
            }
            ServerTarget::Url { url, .. } => PinOrigin::url(url.as_str()),
        }
    }

    /// Returns who gets what.
    pub(super) fn reach(&self, entry: &Entry) -> Result<Reach, EntryError> {
        Ok(match &self.target {
            ServerTarget::Command { argv, folder, env, secret_env, .. } => {
                let mut started = StartedCommand::new(argv, folder);
                started.env.clone_from(env);
                started.secret_env.clone_from(secret_env);
                started.uncovered = code::read(entry, &started)?;
                Reach::nothing().with(Recipient::Command(started), secret_env.values().cloned())
            }
            ServerTarget::Url { url, .. } => {
                let secrets = self.secret_names().into_iter().map(str::to_owned);
                Reach::nothing().with(Recipient::Host(url.origin().to_owned()), secrets)
            }
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the names of the secrets that the server gets.
    pub(super) fn secret_names(&self) -> Vec<&str> {
        match &self.target {
            ServerTarget::Command { secret_env, .. } => secret_env.values().map(String::as_str).collect(),
            ServerTarget::Url { auth, .. } => {
                let client = auth.login.as_ref().and_then(|login| login.client_secret.as_deref());
                auth.secrets.iter().map(HttpAuth::secret_name).chain(client).collect()
            }
        }
    }

    /// Returns the working directory of a program.
    pub(super) fn folder(&self) -> Option<&Path> {
        match &self.target {
            ServerTarget::Command { folder, .. } => Some(folder),
            ServerTarget::Url { .. } => None,
        }
    }

    /// Returns how the server is reached, for people.
    pub(super) fn facts(&self) -> Vec<EffectFact> {
        match &self.target {
            ServerTarget::Command { argv, folder, .. } => vec![
                EffectFact::new("runs", command_line(argv.iter().map(String::as_str))),
                EffectFact::new("in", folder.display().to_string()),
            ],
            ServerTarget::Url { url, .. } => match PinOrigin::url(url.as_str()) {
                PinOrigin::Url(url) => vec![EffectFact::new("at", url)],
                _ => Vec::new(),
            },
        }
    }

    /// Returns the file of the server's log.
    pub(super) fn log_path(&self) -> Option<&Path> {
        self.state.as_ref().map(|state| state.log.path())
    }

    /// Reports whether the server knows people, who log in.
    pub(super) fn has_logins(&self) -> bool {
        matches!(&self.target, ServerTarget::Url { auth: McpAuth { login: Some(_), .. }, .. })
    }

    /// Reports whether somebody has logged in.
    pub(super) fn has_login(&self) -> bool {
        self.without_credentials().has_login()
    }

    /// Returns the server for what needs neither secrets nor a connection.
    pub(super) fn without_credentials(&self) -> McpServer {
        match &self.target {
            ServerTarget::Command { .. } => McpServer::command("", [""; 0]),
            ServerTarget::Url { url, .. } => {
                let server = McpServer::http(url.as_str()).named(&self.name);
                match self.oauth(None) {
                    Some(oauth) => server.oauth(oauth),
                    None => server,
                }
            }
        }
    }

    /// Returns the settings of logins, with the secret of the client.
    fn oauth(&self, client_secret: Option<Secret>) -> Option<OAuth> {
        let ServerTarget::Url { auth: McpAuth { login: Some(login), .. }, .. } = &self.target else { return None };
        let mut oauth = OAuth::new(&self.state.as_ref()?.folder);
        for scope in &login.scopes {
            oauth = oauth.scope(scope);
        }
        if let Some(id) = &login.client_id {
            oauth = oauth.client_id(id);
        }
        if let Some(secret) = client_secret {
            oauth = oauth.client_secret(secret);
        }
        if let Some(url) = &login.client_metadata_url {
            oauth = oauth.client_metadata_url(url);
        }
        Some(oauth)
    }

    /// Returns what the server gets from a call's services. The secrets are read now.
    pub(super) fn given(&self, services: &Services) -> Result<Given, BoxError> {
        let http = match &self.target {
            ServerTarget::Command { .. } => None,
            ServerTarget::Url { .. } => Some(services.get::<GuardedClient>()?.clone()),
        };
        let read = |name: &str| -> Result<(String, Secret), BoxError> {
            Ok((name.to_owned(), services.get::<Secrets>()?.get(name)?))
        };
        Ok(Given { secrets: self.secret_names().into_iter().map(read).collect::<Result<_, _>>()?, http })
    }

    /// Returns the server with what it gets.
    pub(super) fn server(&self, given: &Given) -> Result<McpServer, BoxError> {
        let read = |name: &str| given.secret(name).cloned().ok_or("a secret is missing");
        let server = match &self.target {
            ServerTarget::Command { argv, folder, env, secret_env, .. } => {
                let (program, arguments) = argv.split_first().ok_or("the command is empty")?;
                let program = if program.contains(['/', std::path::MAIN_SEPARATOR]) {
                    folder.join(program).into_os_string()
                } else {
                    program.into()
                };
                let mut server = McpServer::command(program, arguments).folder(folder);
                for (name, value) in env {
                    server = server.env(name, value);
                }
                for (name, secret) in secret_env {
                    server = server.secret_env(name, read(secret)?);
                }
                server
            }
            ServerTarget::Url { url, auth, headers } => {
                let mut server = McpServer::http(url.as_str());
                if let Some(client) = &given.http {
                    server = server.http_client(client.clone());
                }
                for (name, value) in headers {
                    server = server.header(name, Secret::new(value));
                }
                if let Some(login) = &auth.login {
                    let secret = login.client_secret.as_deref().map(read).transpose()?;
                    if let Some(oauth) = self.oauth(secret) {
                        server = server.oauth(oauth);
                    }
                }
                for auth in &auth.secrets {
                    let secret = read(auth.secret_name())?;
                    server = match auth {
                        HttpAuth::Bearer { .. } => server.bearer(secret),
                        HttpAuth::Header { name, prefix, .. } => {
                            let text = format!("{}{}", prefix.as_deref().unwrap_or_default(), secret.expose());
                            server.header(name, Secret::new(text))
                        }
                        HttpAuth::Basic { user, .. } => basic(server, &format!("{user}:{}", secret.expose())),
                        _ => basic(server, secret.expose()),
                    };
                }
                server
            }
        };
        let server = match &self.state {
            Some(StateFiles { folder, log }) => {
                let log = Arc::clone(log);
                server.state_folder(folder.join("running")).on_log(move |line| log.write(line))
            }
            None => server,
        };
        let redactor = given.redactor();
        let server = server.redact(move |value| redactor.value(value));
        Ok(server.named(&self.name).era(self.era).results(self.results).limits(self.limits.clone()))
    }

    /// Starts or connects to the server, lists its tools, and ends it.
    pub(super) async fn list(&self, services: &Services) -> Result<ListedImport, BoxError> {
        let given = self.given(services)?;
        let client = self.server(&given)?.connect().await.map_err(|error| -> BoxError {
            match error {
                McpError::LoginRequired { .. } => LoginRequired::new(&self.name, error).into(),
                error => error.into(),
            }
        })?;
        let secrets = given.redactor();
        let listing = client.offered();
        let mut offered = PinnedImport::new("mcp", self.origin());
        if let Some(info) = client.info() {
            let [name, version] = [info.name, info.version].map(|text| secrets.text(&text.unwrap_or_default()));
            offered = offered.server(name, version);
        }
        let mut quarantined: Vec<(Option<String>, String)> = Vec::new();
        for tool in listing.tools.iter().chain(&listing.app_tools) {
            if secrets.are_in(&tool.definition) {
                // What is accepted is written down as it is.
                let reason = "its definition contains a secret that the server gets".to_owned();
                quarantined.push((Some(secrets.text(tool.tool.name())), reason));
                continue;
            }
            offered = offered.tool(tool.tool.name(), (*tool.definition).clone());
        }
        for tool in &listing.quarantined {
            let name = tool.name.as_deref().map(|name| secrets.text(name));
            quarantined.push((name, secrets.text(&tool.reason.to_string())));
        }
        let mut listed = ListedImport::new(offered);
        listed.quarantined = quarantined;
        client.close().await;
        Ok(listed)
    }
}

fn basic(server: McpServer, pair: &str) -> McpServer {
    server.header("authorization", Secret::new(format!("Basic {}", BASE64_STANDARD.encode(pair))))
}
