//! Tokens that programs print.

use std::ffi::OsString;
use std::fmt;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::file::{MAX_BYTES, text_of};
use super::{AccessToken, CredentialError, CredentialFuture, TokenSource};

const TIMEOUT: Duration = Duration::from_secs(30);

/// A token that a program prints, such as `gcloud auth print-access-token` or `az account get-access-token --query
/// accessToken -o tsv`. No shell is involved: the program gets its arguments as they are. Its standard output, without the
/// white space around it, is the token; its standard error is discarded, since programs write secrets there too. A program
/// that does not end in time is killed, and so is one whose request is dropped.
#[derive(Clone)]
pub struct CommandToken {
    argv: Vec<OsString>,
    timeout: Duration,
    lifetime: Option<Duration>,
}

impl CommandToken {
    /// Creates the source of a token that this program prints. The first element is the program, the others are its
    /// arguments.
    #[must_use]
    pub fn new<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self { argv: argv.into_iter().map(Into::into).collect(), timeout: TIMEOUT, lifetime: None }
    }

    /// Sets the time within which the program must end; 30 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the time for which a printed token is valid. Without it the program is run again when the provider rejects the
    /// token.
    #[must_use]
    pub fn expires_in(mut self, lifetime: Duration) -> Self {
        self.lifetime = Some(lifetime);
        self
    }

    async fn run(&self) -> Result<AccessToken, CredentialError> {
        let Some((program, arguments)) = self.argv.split_first() else {
            return Err(CredentialError::Missing { message: "the command for the API key is empty".to_owned() });
        };
        let name = program.display();
        let missing = |reason: String| CredentialError::Missing {
            message: format!("the program {name} for the API key {reason}"),
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| missing(format!("can't be started: {error}")))?;
        let Some(stdout) = child.stdout.take() else { return Err(missing("has no output".to_owned())) };
        let finished = async {
            let mut bytes = Vec::new();
            stdout.take(MAX_BYTES + 1).read_to_end(&mut bytes).await?;
            if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
                // It may never end: nobody reads the rest.
                child.start_kill()?;
            }
            Ok::<_, std::io::Error>((bytes, child.wait().await?))
        };
        let Ok(finished) = tokio::time::timeout(self.timeout, finished).await else {
            let message = format!("the program {name} for the API key did not end within {:?}", self.timeout);
            return Err(CredentialError::Unavailable { message });
        };
        let (bytes, status) = finished.map_err(|error| missing(format!("can't be read: {error}")))?;
        let Some(secret) = text_of(bytes) else {
            return Err(missing(format!("printed no API key: nothing, no text, or more than {MAX_BYTES} bytes")));
        };
        if !status.success() {
            return Err(missing(format!("failed with {status}; run it to see why")));
        }
        let token = AccessToken::new(secret);
        Ok(match self.lifetime {
            Some(lifetime) => token.expires_in(lifetime),
            None => token,
        })
    }
}

impl TokenSource for CommandToken {
    fn fetch(&self) -> CredentialFuture<'_, AccessToken> {
        Box::pin(self.run())
    }
}

/// Leaves out the arguments, which may hold secrets.
impl fmt::Debug for CommandToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandToken").field("program", &self.argv.first()).finish_non_exhaustive()
    }
}
