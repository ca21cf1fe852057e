//! One request over HTTP.

use std::time::SystemTime;

use haft_core::Delta;
use haft_http::{HttpRequest, HttpResponse, retry_after};
use haft_wire::{Delivery, ErrorResponse, ReadContext, WireEvent, WireRequest};

use super::model_error::{ErrorOrigin, of_http, of_read, of_report};
use super::{HttpModel, Key};
use crate::delta_sender::DeltaSender;
use crate::error::ModelError;

/// The headers in which providers name a request, for their support.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-goog-request-id"];

impl HttpModel {
    pub(super) async fn ask(&self, sent: WireRequest, out: DeltaSender) -> Result<(), ModelError> {
        let WireRequest { context, .. } = &sent;
        let context = context.clone();
        let origin = ErrorOrigin::new(self.wire.provider());
        let client = self.http.get().map_err(|error| of_http(error, &origin))?;
        let response = client.send(self.http_request(sent)).await.map_err(|error| of_http(error, &origin))?;
        let origin = origin.response(response.status().as_u16(), request_id(&response));
        if !response.status().is_success() {
            return Err(self.rejected(response, &origin).await);
        }
        match self.delivery {
            Delivery::Streamed if response.is_event_stream() => self.stream(response, &context, &origin, out).await,
            // A server that can't stream answers with the whole response.
            _ => {
                let body = response.text().await.map_err(|error| of_http(error, &origin))?;
                let turn = self.wire.response(&body, &context);
                let turn = turn.map_err(|error| of_read(error, &origin, |text| self.without_key(text)))?;
                out.send(Delta::complete(turn)).await
            }
        }
    }

    fn http_request(&self, sent: WireRequest) -> HttpRequest {
        let url = format!("{}{}", self.base_url.trim_end_matches('/'), sent.path);
        let mut request = HttpRequest::post(url).json(sent.body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in sent.headers {
            request = request.header(name, &value);
        }
        request = match &self.key {
            Key::None => request,
            Key::Bearer(key) => request.bearer(key),
            Key::Header(name, key) => request.secret_header(name, key),
        };
        match self.timeouts {
            Some(timeouts) => request.timeouts(timeouts),
            None => request,
        }
    }

    async fn stream(
        &self,
        response: HttpResponse,
        context: &ReadContext,
        origin: &ErrorOrigin<'_>,
        out: DeltaSender,
    ) -> Result<(), ModelError> {
        let mut events = response.events().map_err(|error| of_http(error, origin))?;
        let mut reader = self.wire.stream(context);
        let mut deltas = Vec::new();
        while let Some(event) = events.next_event().await {
            let event = event.map_err(|error| of_http(error, origin))?;
            let read = reader.event(WireEvent::new(Some(&event.name), &event.data), &mut deltas);
            for delta in deltas.drain(..) {
                let is_last = matches!(delta, Delta::TurnComplete(_));
                out.send(delta).await?;
                if is_last {
                    return Ok(());
                }
            }
            read.map_err(|error| of_read(error, origin, |text| self.without_key(text)))?;
        }
        let ended = reader.end(&mut deltas);
        for delta in deltas {
            out.send(delta).await?;
        }
        ended.map_err(|error| of_read(error, origin, |text| self.without_key(text)))
    }

    async fn rejected(&self, response: HttpResponse, origin: &ErrorOrigin<'_>) -> ModelError {
        let status = response.status().as_u16();
        let wait = retry_after(response.headers(), SystemTime::now());
        // The status says enough if the body can't be read.
        let body = self.without_key(response.text().await.unwrap_or_default());
        of_report(self.wire.error(&ErrorResponse::new(status, &body).retry_after(wait)), origin)
    }

    /// Removes the key from text that a provider sent: some quote the one that they reject.
    fn without_key(&self, text: String) -> String {
        match &self.key {
            Key::Bearer(key) | Key::Header(_, key) if !key.expose().is_empty() && text.contains(key.expose()) => {
                text.replace(key.expose(), "[key]")
            }
            _ => text,
        }
    }
}

fn request_id(response: &HttpResponse) -> Option<String> {
    let header = REQUEST_IDS.iter().find_map(|name| response.headers().get(*name))?;
    header.to_str().ok().map(|id| id.chars().take(200).collect())
}
