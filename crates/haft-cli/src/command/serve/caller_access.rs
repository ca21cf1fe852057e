//! Callers of a workspace file as the server knows them.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use haft::mcp::serve::{Authenticate, CallerAccess};
use haft::registry::Executor;
use haft::run::RunOptions;
use haft::tool::BoxError;
use haft::workspace::{ANONYMOUS, CallerTokens, FileError, Loaded, LoadedCaller, WatchedWorkspace};

use super::call_log::CallLog;

/// Returns the access of a caller, or of somebody unknown, with these options for its calls.
pub(super) fn access(caller: Option<&LoadedCaller>, options: RunOptions, log: &Arc<CallLog>) -> CallerAccess {
    let name = caller.map(|caller| caller.name.as_str()).filter(|name| *name != ANONYMOUS);
    let mut access = name.map_or_else(CallerAccess::everyone, CallerAccess::new);
    access = access.options(log.observing(name, options));
    if let Some(most) = caller.and_then(|caller| caller.in_flight).map(NonZeroUsize::get) {
        access = access.in_flight(most);
    }
    if let Some(most) = caller.and_then(|caller| caller.per_minute).map(NonZeroU32::get) {
        access = access.per_minute(most);
    }
    access
}

/// The callers of HTTP requests, as the files define them now. Clones share them.
#[derive(Clone)]
pub(super) struct CallerDirectory {
    executor: Executor,
    current: Arc<Mutex<CurrentCallers>>,
    log: Arc<CallLog>,
}

struct CurrentCallers {
    tokens: CallerTokens,
    anonymous: Option<LoadedCaller>,
}

impl CallerDirectory {
    /// Reads the callers and their tokens.
    pub(super) fn of(workspace: &WatchedWorkspace, log: &Arc<CallLog>) -> Result<Self, FileError> {
        let current = CurrentCallers::of(&workspace.status().loaded)?;
        let (executor, current) = (workspace.executor().clone(), Arc::new(Mutex::new(current)));
        Ok(Self { executor, current, log: Arc::clone(log) })
    }

    /// Replaces the callers by those of another load. If a token can't be read, they stay as they were.
    pub(super) fn replace(&self, loaded: &Loaded) -> Result<(), FileError> {
        let next = CurrentCallers::of(loaded)?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }

    /// Returns the access of whoever presents this authorization, or none; `None` if it is nobody known.
    fn find(&self, authorization: Option<&str>) -> Option<CallerAccess> {
        let caller = {
            let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
            match authorization {
                Some(authorization) => current.tokens.find(bearer(authorization)?).cloned(),
                None => current.anonymous.clone(),
            }
        }?;
        let options = self.executor.options().merge(caller.options());
        Some(access(Some(&caller), options, &self.log))
    }
}

impl Authenticate for CallerDirectory {
    async fn authenticate(&self, request: Parts) -> Result<Option<CallerAccess>, BoxError> {
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        Ok(match (headers.next(), headers.next()) {
            (None, _) => self.find(None),
            (Some(one), None) => one.to_str().ok().and_then(|one| self.find(Some(one))),
            // Of two headers nobody knows which one another party has read.
            (Some(_), Some(_)) => None,
        })
    }
}

impl CurrentCallers {
    fn of(loaded: &Loaded) -> Result<Self, FileError> {
        let tokens = loaded.callers.tokens(&loaded.secrets)?;
        Ok(Self { tokens, anonymous: loaded.callers.anonymous().cloned() })
    }
}

/// Returns the token of an authorization.
fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::bearer;

    #[test]
    fn only_bearer_tokens_count() {
        assert_eq!(bearer("Bearer  t1 "), Some("t1"));
        assert_eq!(bearer("bearer t1"), Some("t1"));
        for other in ["t1", "Basic t1", "Bearer", ""] {
            assert_eq!(bearer(other), None, "{other}");
        }
    }
}
