//! Callers: the party that a request is from, and its rights.
//!
//! A request without a caller has no rights of its own: over HTTP it is rejected unless the application grants anonymous
//! requests something. Every doubt counts as no caller.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use haft_core::{Caller, Secret};
use haft_executor::{BoxError, RunOptions};
use haft_schema::isolation::Isolated;
use http::header::AUTHORIZATION;
use http::request::Parts;
use ring::hmac;
use ring::rand::SystemRandom;

/// The rights of a caller: the options that its calls run with, and its limits. Cloning is cheap.
///
/// ```
/// use haft_core::ToolCall;
/// use haft_executor::{Cx, Permission, RunOptions, Tool};
/// use haft_mcp::serve::CallerAccess;
///
/// let readers = |tool: &Tool, _: &ToolCall, _: &Cx| match tool.annotations().readonly() {
///     true => Permission::Allowed,
///     false => Permission::denied("you may only read"),
/// };
/// let support = CallerAccess::new("support").options(RunOptions::new().permit(readers)).in_flight(4).per_minute(60);
/// assert_eq!(support.caller().unwrap(), &"support");
/// ```
#[derive(Clone, Debug, Default)]
pub struct CallerAccess(Arc<AccessState>);

#[derive(Clone, Debug, Default)]
struct AccessState {
    caller: Option<Caller>,
    options: RunOptions,
    in_flight: Option<usize>,
    per_minute: Option<u32>,
}

impl CallerAccess {
    /// Creates the access of a caller who may call every tool.
    #[must_use]
    pub fn new(caller: impl Into<Caller>) -> Self {
        Self(Arc::new(AccessState { caller: Some(caller.into()), ..AccessState::default() }))
    }

    /// Creates the access of somebody without a name, who may call every tool.
    #[must_use]
    pub fn everyone() -> Self {
        Self::default()
    }

    /// Sets the options of the caller's calls: permits that decide what the caller sees and may call, services, limits.
    /// They are [merged](RunOptions::merge) with those of the server.
    #[must_use]
    pub fn options(self, options: RunOptions) -> Self {
        self.with(|access| access.options = options)
    }

    /// Limits the calls that run at the same time, in place of the server's limit.
    #[must_use]
    pub fn in_flight(self, calls: usize) -> Self {
        self.with(|access| access.in_flight = Some(calls))
    }

    /// Limits the calls per minute.
    #[must_use]
    pub fn per_minute(self, calls: u32) -> Self {
        self.with(|access| access.per_minute = Some(calls))
    }

    /// Returns the caller, if it has a name.
    #[must_use]
    pub fn caller(&self) -> Option<&Caller> {
        self.0.caller.as_ref()
    }

    pub(super) fn limits(&self) -> (Option<usize>, Option<u32>) {
        (self.0.in_flight, self.0.per_minute)
    }

    /// Returns the options of the caller's calls, with the caller.
    pub(super) fn run_options(&self) -> RunOptions {
        let options = self.0.options.clone();
        match &self.0.caller {
            Some(caller) => options.caller(caller.clone()),
            None => options,
        }
    }

    fn with(self, change: impl FnOnce(&mut AccessState)) -> Self {
        let mut state = Arc::unwrap_or_clone(self.0);
        change(&mut state);
        Self(Arc::new(state))
    }
}

impl From<Caller> for CallerAccess {
    fn from(caller: Caller) -> Self {
        Self::new(caller)
    }
}

impl From<&str> for CallerAccess {
    fn from(caller: &str) -> Self {
        Self::new(caller)
    }
}

impl From<String> for CallerAccess {
    fn from(caller: String) -> Self {
        Self::new(caller)
    }
}

/// Decides who an HTTP request is from.
///
/// An async function from the request's [`Parts`] is an authenticator: it returns an `Option` of a [`CallerAccess`] or
/// anything that converts into one, such as the caller's name, or a `Result` of such an option. `None` means that the
/// request is from nobody known. An error or a panic rejects the request, and is logged.
///
/// ```
/// use haft_mcp::serve::{CallerAccess, serve};
/// use http::request::Parts;
///
/// async fn by_proxy(request: Parts) -> Option<CallerAccess> {
///     let user = request.headers.get("x-forwarded-user")?.to_str().ok()?;
///     Some(CallerAccess::new(user))
/// }
///
/// let server = serve(haft_executor::Toolkit::new()).authenticate(by_proxy);
/// # let _ = server;
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the access of the caller, or `None` if the request is from nobody known.
    fn authenticate(&self, request: Parts) -> impl Future<Output = Result<Option<CallerAccess>, BoxError>> + Send;
}

/// The output of an authenticator's function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say who a request is from",
    note = "return an `Option` of a `CallerAccess`, or of anything that converts into one, or a `Result` of such an option"
)]
pub trait IntoAccess {
    /// Returns the access.
    fn into_access(self) -> Result<Option<CallerAccess>, BoxError>;
}

impl<T: Into<CallerAccess>> IntoAccess for Option<T> {
    fn into_access(self) -> Result<Option<CallerAccess>, BoxError> {
        Ok(self.map(Into::into))
    }
}

impl<T: Into<CallerAccess>, E: Into<BoxError>> IntoAccess for Result<Option<T>, E> {
    fn into_access(self) -> Result<Option<CallerAccess>, BoxError> {
        self.map(|access| access.map(Into::into)).map_err(Into::into)
    }
}

impl<F, Fut> Authenticate for F
where
    F: Fn(Parts) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAccess> + Send,
{
    async fn authenticate(&self, request: Parts) -> Result<Option<CallerAccess>, BoxError> {
        self(request).await.into_access()
    }
}

/// An authenticator with its type erased.
pub(super) trait Authenticator: Send + Sync {
    fn check(self: Arc<Self>, request: Parts) -> BoxFuture<'static, Result<Option<CallerAccess>, BoxError>>;
}

impl<A: Authenticate> Authenticator for Isolated<A> {
    fn check(self: Arc<Self>, request: Parts) -> BoxFuture<'static, Result<Option<CallerAccess>, BoxError>> {
        Box::pin(async move { self.authenticate(request).await })
    }
}

/// An authenticator by bearer tokens.
///
/// Tokens are compared by a keyed hash, so the time that it takes says nothing about them.
///
/// ```
/// use haft_core::Secret;
/// use haft_mcp::serve::{BearerTokens, CallerAccess, serve};
///
/// let tokens = BearerTokens::new()
///     .token(&Secret::new("t-4f1c…"), CallerAccess::new("support"))
///     .token(&Secret::new("t-90aa…"), CallerAccess::new("ci").per_minute(600));
/// let server = serve(haft_executor::Toolkit::new()).authenticate(tokens);
/// # let _ = server;
/// ```
pub struct BearerTokens {
    key: Option<hmac::Key>,
    callers: HashMap<Vec<u8>, CallerAccess>,
}

impl BearerTokens {
    /// Creates an authenticator that knows no token.
    #[must_use]
    pub fn new() -> Self {
        // Without randomness no token can be compared safely, so none is known.
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new()).ok();
        Self { key, callers: HashMap::new() }
    }

    /// Adds a caller with its token. An empty token is ignored, and of two equal tokens the later counts.
    #[must_use]
    pub fn token(mut self, token: &Secret, access: impl Into<CallerAccess>) -> Self {
        if let Some(key) = &self.key
            && !token.expose().is_empty()
        {
            let tag = hmac::sign(key, token.expose().as_bytes());
            self.callers.insert(tag.as_ref().to_vec(), access.into());
        }
        self
    }

    fn find(&self, request: &Parts) -> Option<CallerAccess> {
        let mut headers = request.headers.get_all(AUTHORIZATION).iter();
        // Of two headers nobody knows which one another party has read.
        let (Some(header), None) = (headers.next(), headers.next()) else { return None };
        let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
        let tag = hmac::sign(self.key.as_ref()?, token.trim().as_bytes());
        self.callers.get(tag.as_ref()).filter(|_| scheme.eq_ignore_ascii_case("bearer")).cloned()
    }
}

impl Default for BearerTokens {
    fn default() -> Self {
        Self::new()
    }
}

impl Authenticate for BearerTokens {
    async fn authenticate(&self, request: Parts) -> Result<Option<CallerAccess>, BoxError> {
        Ok(self.find(&request))
    }
}

impl fmt::Debug for BearerTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callers: Vec<_> = self.callers.values().map(CallerAccess::caller).collect();
        f.debug_struct("BearerTokens").field("callers", &callers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[&str]) -> Parts {
        let request = http::Request::new(());
        let mut parts = request.into_parts().0;
        for header in headers {
            parts.headers.append(AUTHORIZATION, header.parse().unwrap());
        }
        parts
    }

    #[test]
    fn a_request_is_from_the_caller_whose_token_it_has() {
        let tokens = BearerTokens::new()
            .token(&Secret::new("one"), "ana")
            .token(&Secret::new(""), "nobody")
            .token(&Secret::new("two"), "ben");
        let caller = |headers: &[&str]| tokens.find(&request(headers)).and_then(|access| access.caller().cloned());
        assert_eq!(caller(&["Bearer one"]).unwrap(), "ana");
        assert_eq!(caller(&["bearer  two "]).unwrap(), "ben");
        for wrong in [&[][..], &["Bearer "], &["Bearer three"], &["Basic one"], &["one"], &["Bearer one", "Bearer two"]]
        {
            assert_eq!(caller(wrong), None, "{wrong:?}");
        }
    }
}
