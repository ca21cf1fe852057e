//! rmcp's requests to authorization servers, by haft's guarded client.

use std::time::Duration;

use haft_http::{GuardedClient, HttpRequest, SizeLimits, Timeouts};
use rmcp::transport::auth::{OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest};

const MAX_BODY: usize = 1024 * 1024;
const MAX_TIME: Duration = Duration::from_secs(30);
const REDIRECTS: usize = 5;

/// The client of one server.
pub(super) struct OAuthExchange {
    client: GuardedClient,
}

impl OAuthExchange {
    pub(super) fn new(client: GuardedClient) -> Self {
        Self { client }
    }
}

impl OAuthHttpClient for OAuthExchange {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let OAuthHttpRequest { request, redirect_policy, .. } = request;
            let (parts, body) = request.into_parts();
            let redirects = if redirect_policy == OAuthHttpRedirectPolicy::Follow { REDIRECTS } else { 0 };
            let mut sent = HttpRequest::new(parts.method, parts.uri.to_string())
                .timeouts(Timeouts::none().total(MAX_TIME))
                .limits(SizeLimits::default().body(MAX_BODY))
                .redirects(redirects)
                .body(body);
            for (name, mut value) in &parts.headers {
                let mut hidden;
                if name == http::header::AUTHORIZATION {
                    hidden = value.clone();
                    hidden.set_sensitive(true);
                    value = &hidden;
                }
                sent = sent.header(name, value);
            }
            let response = self.client.send(sent).await?;
            let mut answer = http::Response::builder().status(response.status());
            for (name, value) in response.headers() {
                answer = answer.header(name, value);
            }
            Ok(answer.body(response.body().await?.to_vec())?)
        })
    }
}
