//! The tools of the agent: one shows what is deployed, one deploys with the approval of a lead.
use haft::http::{HttpClient, HttpRequest};
use haft::prelude::*;
use serde_json::json;

/// The deployments of one tenant, behind an HTTP API. Each run brings its caller's.
#[derive(Clone)]
pub(crate) struct Deployments {
    pub(crate) url: String,
    pub(crate) http: HttpClient,
}

/// Lists what is deployed, by service.
#[tool(readonly)]
pub(crate) async fn deployed(#[service(run)] deployments: &Deployments) -> Result<String, HandlerError> {
    deployments.send(HttpRequest::get(&deployments.url)).await
}

/// Deploys a version of a service to production.
#[tool(destructive, approval = "always")]
pub(crate) async fn deploy(
    service: String,
    version: String,
    #[service(run)] deployments: &Deployments,
    cx: &Cx,
) -> Result<String, HandlerError> {
    cx.progress(0.0, None, format!("deploying {service} {version}")).await?;
    // It is the same key in every attempt at this call, so the API can tell a repetition.
    let request = HttpRequest::post(&deployments.url).header("idempotency-key", cx.idempotency_key());
    deployments.send(request.json(&json!({"service": service, "version": version}))).await
}

impl Deployments {
    async fn send(&self, request: HttpRequest) -> Result<String, HandlerError> {
        let response = self.http.send(request).await?;
        if !response.status().is_success() {
            let message = format!("the deployments answered {}", response.status());
            return Err(ToolFailure::new(FailureKind::ToolFailed, message).into());
        }
        Ok(response.text().await?)
    }
}
