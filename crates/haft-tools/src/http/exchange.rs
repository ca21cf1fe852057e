//! A call: requests until there is a result.

use std::time::Duration;

use haft_core::{FailureKind, ToolFailure, ToolOutput};
use haft_executor::{Cx, HandlerError};
use haft_http::{GuardedClient, HttpRequest, Method, SizeLimits, Timeouts};
use haft_registry::CallEffect;
use haft_schema::{Issue, Issues, JsonText};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::auth::HttpAuth;
use super::content::ContentMapping;
use super::credential::Credentials;
use super::exact::ExactValue;
use super::failure::{AttemptError, HttpStatusFailure, Repetition, Retry};
use super::mapping::{PreparedRequest, RequestMapping};
use super::response::{ErrorDetail, StatusOutcome, StatusRule};
use super::retry::HttpRetry;
use super::token::TokenCache;

/// Everything that a call needs, checked.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) method: Method,
    pub(super) mapping: RequestMapping,
    pub(super) auth: Vec<HttpAuth>,
    pub(super) tokens: TokenCache,
    pub(super) rules: Vec<StatusRule>,
    pub(super) content: ContentMapping,
    pub(super) limit: usize,
    pub(super) errors: ErrorDetail,
    pub(super) retry: HttpRetry,
    pub(super) idempotency_key: Option<String>,
    pub(super) timeout: Duration,
    pub(super) redirects: usize,
    pub(super) repetition: Repetition,
}

impl Exchange {
    /// Sends the request for these arguments, again if necessary, and returns its response's result.
    pub(super) async fn call(
        &self,
        arguments: &JsonText,
        cx: &Cx,
    ) -> Result<ToolOutput, HandlerError<HttpStatusFailure>> {
        let request = self.request(arguments).map_err(|issues| {
            HandlerError::opaque(ToolFailure::with_issues(FailureKind::InputValidationError, issues))
        })?;
        match cx.run_until_cancelled(self.attempts(&request, cx)).await {
            Some(result) => result,
            None => Err(HandlerError::opaque(ToolFailure::new(FailureKind::Cancelled, ""))),
        }
    }

    /// Returns what a call with these arguments sends, or the reasons why they are rejected.
    pub(super) fn effect(&self, arguments: &JsonText) -> Result<CallEffect, Issues> {
        let PreparedRequest { url, query, mut headers, cookies, body } = self.request(arguments)?;
        if !cookies.is_empty() {
            let cookies: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            headers.push(("cookie".to_owned(), cookies.join("; ")));
        }
        headers.extend(body.iter().map(|body| ("content-type".to_owned(), body.content_type.clone())));
        Ok(CallEffect::Sends {
            method: self.method.to_string(),
            url: with_query(&url, query),
            headers,
            body: body.map(|body| String::from_utf8_lossy(&body.bytes).into_owned()),
            secrets: self.auth.iter().map(|auth| auth.secret_name().to_owned()).collect(),
        })
    }

    /// Writes the request for these arguments.
    fn request(&self, arguments: &JsonText) -> Result<PreparedRequest, Issues> {
        let arguments = ExactValue::parse(arguments.as_str())
            .map_err(|error| Issues::new(vec![Issue::new("", "json", format!("must be JSON: {error}"))]))?;
        self.mapping.prepare(&arguments)
    }

    async fn attempts(
        &self,
        request: &PreparedRequest,
        cx: &Cx,
    ) -> Result<ToolOutput, HandlerError<HttpStatusFailure>> {
        let client = cx.service::<GuardedClient>()?;
        let mut attempts = 0;
        let mut has_new_token = false;
        loop {
            let timeout = self.remaining(cx);
            let credentials = Credentials::read(&self.auth, &self.tokens, client, timeout, cx).await;
            let error = match credentials {
                Ok(credentials) => match self.attempt(request, &credentials, client, cx).await {
                    Ok(output) => return Ok(output),
                    // A rejected token had no effect, so another one is not a further attempt.
                    Err(error) if error.is_unauthorized() && !has_new_token => {
                        has_new_token = credentials.forget_token(&self.tokens).await;
                        if has_new_token {
                            continue;
                        }
                        error
                    }
                    Err(error) => error,
                },
                Err(error) => AttemptError::Credential(error),
            };
            attempts += 1;
            match self.wait(&error, attempts, cx) {
                Some(wait) => sleep(wait).await,
                None => return Err(error.into_failure(self.repetition)),
            }
        }
    }

    /// Sends the request once.
    async fn attempt(
        &self,
        request: &PreparedRequest,
        credentials: &Credentials,
        client: &GuardedClient,
        cx: &Cx,
    ) -> Result<ToolOutput, AttemptError> {
        let sent = self.written(request, credentials, cx);
        let of_transport = |error| AttemptError::transport(error, &credentials.redactor);
        let response = client.send(sent).await.map_err(of_transport)?;
        let status = response.status();
        let rule = self.rules.iter().find(|rule| rule.statuses.contains(status.as_u16())).map(|rule| &rule.outcome);
        let constant = match rule {
            Some(StatusOutcome::Value(value)) => Some(value.clone()),
            Some(StatusOutcome::Success) => None,
            None if status.is_success() => None,
            Some(StatusOutcome::Failure { .. }) | None => {
                let failure =
                    HttpStatusFailure::read(response, rule, &self.errors, &credentials.redactor, self.repetition).await;
                return Err(AttemptError::Status(failure));
            }
        };
        let headers = response.headers().clone();
        let (value, body) = match constant {
            Some(value) => (value, None),
            None => {
                let body = response.body().await.map_err(of_transport)?;
                if self.method == Method::HEAD {
                    (Value::Null, None)
                } else {
                    (self.content.value(&headers, &body).map_err(AttemptError::Content)?, Some(body))
                }
            }
        };
        let mut value = self.content.with_headers(value, &headers);
        // A server that returns what it received must not disclose the credentials to the model and the journal.
        credentials.redactor.redact_value(&mut value);
        let Some(body) = body else { return Ok(ToolOutput::new(value.into())) };
        credentials.redactor.check_result(&body, &value, cx).map_err(AttemptError::Content)?;
        let media = self.content.media(&headers, &body, &value);
        let output = ToolOutput::new(value.into());
        Ok(match media {
            Some(parts) => output.for_model(parts),
            None => output,
        })
    }

    fn written(&self, request: &PreparedRequest, credentials: &Credentials, cx: &Cx) -> HttpRequest {
        let PreparedRequest { url, query, headers, cookies, body } = request;
        let url = with_query(url, query.iter().cloned().chain(credentials.query()));
        let mut sent = HttpRequest::new(self.method.clone(), url)
            .timeouts(Timeouts::none().total(self.remaining(cx)))
            .limits(SizeLimits::default().body(self.limit))
            .redirects(self.redirects);
        for (name, value) in headers {
            sent = sent.header(name, value);
        }
        if let Some(name) = &self.idempotency_key {
            sent = sent.header(name, cx.idempotency_key());
        }
        if let Some(body) = body {
            sent = sent.header("content-type", &body.content_type).body(body.bytes.clone());
        }
        credentials.apply(sent, cookies)
    }

    /// Returns the wait before the next attempt, or `None` if there is none.
    fn wait(&self, error: &AttemptError, attempts: u32, cx: &Cx) -> Option<Duration> {
        let asked = match error.retry(self.repetition) {
            Retry::Never => return None,
            Retry::Now => None,
            Retry::After(wait) => Some(wait),
        };
        if attempts >= self.retry.attempts || asked.is_some_and(|asked| asked > self.retry.max_wait) {
            return None;
        }
        let wait = self.retry.backoff.wait(attempts, cx.call_id(), asked);
        let end = Instant::now().checked_add(wait)?;
        cx.deadline().is_none_or(|deadline| end < deadline).then_some(wait)
    }

    /// Returns the time that a request may take.
    fn remaining(&self, cx: &Cx) -> Duration {
        let left = cx.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        left.map_or(self.timeout, |left| left.min(self.timeout))
    }
}

/// Returns a URL with a query from escaped pairs.
fn with_query(url: &str, pairs: impl IntoIterator<Item = (String, Option<String>)>) -> String {
    let pairs = pairs.into_iter().map(|(name, value)| match value {
        Some(value) => format!("{name}={value}"),
        None => name,
    });
    let query = pairs.collect::<Vec<_>>().join("&");
    if query.is_empty() { url.to_owned() } else { format!("{url}?{query}") }
}
