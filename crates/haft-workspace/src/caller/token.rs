//! Tokens by which a server knows its callers.
//!
//! Tokens are kept and compared as digests, and every comparison looks at all of them, so the time that it takes says
//! nothing about any.

use std::fmt;
use std::hint::black_box;

use haft_registry::Secrets;
use sha2::{Digest, Sha256};

use super::LoadedCaller;
use crate::document::TextFault;

type TokenDigest = [u8; 32];

/// The callers of a workspace by their tokens, which have been read. See [`Callers::tokens`](super::Callers::tokens).
#[derive(Clone)]
pub struct CallerTokens(Vec<(TokenDigest, LoadedCaller)>);

impl CallerTokens {
    /// Reads the tokens, and returns the faults of those that can't be used.
    pub(crate) fn read<'c>(
        callers: impl Iterator<Item = &'c LoadedCaller>,
        secrets: &Secrets,
    ) -> Result<Self, Vec<TextFault>> {
        let mut known = Self(Vec::new());
        let mut faults = Vec::new();
        for caller in callers {
            let Some(name) = &caller.token else { continue };
            match known.digest(name, secrets) {
                Ok(digest) => known.0.push((digest, caller.clone())),
                Err(message) => faults.push(TextFault::at(caller.pointer("token"), message)),
            }
        }
        if faults.is_empty() { Ok(known) } else { Err(faults) }
    }

    /// Returns the caller who presents this token.
    #[must_use]
    pub fn find(&self, token: &str) -> Option<&LoadedCaller> {
        let digest = digest_of(token);
        let mut found = None;
        for (known, caller) in &self.0 {
            if is_same(known, &digest) {
                found = Some(caller);
            }
        }
        found.filter(|_| !token.is_empty())
    }

    /// Reports whether no caller has a token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn digest(&self, name: &str, secrets: &Secrets) -> Result<TokenDigest, String> {
        let token = secrets.get(name).map_err(|error| error.to_string())?;
        let token = token.expose();
        if token.is_empty() {
            return Err(format!("the token is empty; put one into the secret `{name}`"));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!(
                "no client can send this token in a header; use letters, digits and `-._~+/=` in the secret `{name}`"
            ));
        }
        match self.find(token) {
            Some(other) => {
                let other = &other.name;
                Err(format!("the caller `{other}` has the same token; put another one into the secret `{name}`"))
            }
            None => Ok(digest_of(token)),
        }
    }
}

fn digest_of(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// Compares digests in a time that does not depend on them.
fn is_same(known: &TokenDigest, other: &TokenDigest) -> bool {
    black_box(known.iter().zip(other).fold(0, |different, (left, right)| different | (left ^ right))) == 0
}

/// Formats the callers' names only.
impl fmt::Debug for CallerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(_, caller)| &caller.name)).finish()
    }
}
