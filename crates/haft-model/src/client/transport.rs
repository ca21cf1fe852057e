//! One request over HTTP.

use std::borrow::Cow;
use std::time::SystemTime;

use haft_core::Delta;
use haft_http::{Bytes, HttpClient, HttpError, HttpRequest, HttpResponse, Secret, SseEvents, StatusCode, retry_after};
use haft_wire::{ErrorResponse, ReadContext, ReadError, StreamReader, WireEvent, WireRequest};

use super::HttpModel;
use super::credential::{Authorization, AuthorizationHeader, UnsignedRequest};
use super::model_error::ErrorOrigin;
use crate::delta_sender::DeltaSender;
use crate::error::ModelError;
use crate::turn_delta::{DeltaSize, deltas_of};

/// The headers in which providers name a request, for their support.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-goog-request-id"];

/// A request that can be sent more than once.
struct OutgoingRequest {
    url: String,
    headers: Vec<(Cow<'static, str>, String)>,
    body: Bytes,
    /// The secrets in the body.
    secrets: Vec<Secret>,
}

impl OutgoingRequest {
    fn unsigned(&self) -> UnsignedRequest<'_> {
        UnsignedRequest { method: "POST", url: &self.url, headers: &self.headers, body: &self.body }
    }
}

impl HttpModel {
    pub(super) async fn ask(&self, sent: WireRequest, out: DeltaSender) -> Result<(), ModelError> {
        let context = sent.context.clone();
        let (response, authorization) = self.send(&self.outgoing(sent)).await?;
        let origin = ErrorOrigin::new(self.provider(), &authorization);
        let origin = origin.response(response.status().as_u16(), request_id(&response));
        if !response.status().is_success() {
            return Err(self.rejected(response, &authorization, origin).await);
        }
        // The server decides: one that can't stream answers with a body, and some stream whatever they are asked for.
        if response.is_event_stream() {
            return self.stream(response, &context, &origin, out).await;
        }
        let declared = content_type(&response);
        let body = response.text().await.map_err(|error| origin.of_http(error))?;
        match self.wire.response(&body, &context) {
            Ok(turn) => {
                out.send_all(deltas_of(&turn, DeltaSize::Whole)).await?;
                out.send(Delta::complete(turn)).await
            }
            // The error of a JSON parser would not say that the base URL is wrong, which is the usual reason.
            Err(ReadError::Invalid { .. }) if !declared.contains("json") => Err(origin.of_content_type(&declared)),
            Err(error) => Err(origin.of_read(error)),
        }
    }

    /// Sends a request. If the provider rejects the credentials and there are others by then, it is sent once more: nothing of
    /// an answer was read.
    async fn send(&self, outgoing: &OutgoingRequest) -> Result<(HttpResponse, Authorization), ModelError> {
        let nobody = Authorization::default();
        let origin = ErrorOrigin::new(self.provider(), &nobody);
        let client = self.http.get().map_err(|error| origin.of_http(error))?;
        let authorization = self.key.authorize(outgoing.unsigned()).await;
        let authorization = authorization.map_err(|error| origin.of_credential(&error))?.with_body(&outgoing.secrets);
        let response = self.send_once(&client, outgoing, &authorization).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok((response, authorization));
        }
        let renewed = self.key.renewed(&authorization, outgoing.unsigned()).await;
        match renewed.map_err(|error| origin.of_credential(&error))? {
            None => Ok((response, authorization)),
            Some(renewed) => {
                // Its connection is free again.
                drop(response);
                let renewed = renewed.with_body(&outgoing.secrets);
                Ok((self.send_once(&client, outgoing, &renewed).await?, renewed))
            }
        }
    }

    async fn send_once(
        &self,
        client: &HttpClient,
        outgoing: &OutgoingRequest,
        authorization: &Authorization,
    ) -> Result<HttpResponse, ModelError> {
        let mut request = HttpRequest::post(&outgoing.url).body(outgoing.body.clone());
        for (name, value) in &outgoing.headers {
            request = request.header(&**name, value);
        }
        for header in authorization.headers() {
            request = match header {
                AuthorizationHeader::Bearer(token) => request.bearer(token),
                AuthorizationHeader::Named(name, value) => request.secret_header(&**name, value),
            };
        }
        if let Some(timeouts) = self.timeouts {
            request = request.timeouts(timeouts);
        }
        let origin = ErrorOrigin::new(self.provider(), authorization);
        client.send(request).await.map_err(|error| match error {
            HttpError::InvalidUrl { reason } => origin.of_base_url(&self.base_url, &reason),
            error => origin.of_http(error),
        })
    }

    /// Returns a request with its URL and its headers, without those of the key.
    fn outgoing(&self, sent: WireRequest) -> OutgoingRequest {
        let mut headers = vec![(Cow::Borrowed("content-type"), "application/json".to_owned())];
        let mut set = |name: Cow<'static, str>, value: String| {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
            headers.push((name, value));
        };
        for (name, value) in &self.headers {
            set(name.clone(), value.clone());
        }
        for (name, value) in sent.headers {
            // The headers of wires are lists, to which those of the user are added.
            let more = self.headers.iter().rfind(|(known, _)| known.eq_ignore_ascii_case(name));
            match more {
                Some((_, more)) => set(name.into(), format!("{value},{more}")),
                None => set(name.into(), value),
            }
        }
        OutgoingRequest { url: self.url(&sent.path), headers, body: sent.body.into(), secrets: sent.secrets }
    }

    /// Adds the path of a request to the base URL, whose query is kept: some servers expect their version there.
    fn url(&self, path: &str) -> String {
        let (base, query) = self.base_url.split_once('?').unwrap_or((&self.base_url, ""));
        let base = base.trim_end_matches('/');
        let separator = match (query.is_empty(), path.contains('?')) {
            (true, _) => "",
            (false, true) => "&",
            (false, false) => "?",
        };
        format!("{base}{path}{separator}{query}")
    }

    async fn stream(
        &self,
        response: HttpResponse,
        context: &ReadContext,
        origin: &ErrorOrigin<'_>,
        out: DeltaSender,
    ) -> Result<(), ModelError> {
        let mut events = response.events().map_err(|error| origin.of_http(error))?;
        let mut reader = self.wire.stream(context);
        let mut deltas = Vec::new();
        while let Some(event) = events.next_event().await {
            let read = match event {
                Ok(event) => reader.event(WireEvent::new(Some(&event.name), &event.data), &mut deltas),
                Err(error) => match unfinished(&error, &mut events, &mut *reader, &mut deltas) {
                    Some(read) => read,
                    None => return Err(origin.of_http(error)),
                },
            };
            for delta in deltas.drain(..) {
                let is_last = matches!(delta, Delta::TurnComplete(_));
                out.send(delta).await?;
                if is_last {
                    return Ok(());
                }
            }
            read.map_err(|error| origin.of_read(error))?;
        }
        let ended = reader.end(&mut deltas);
        for delta in deltas {
            out.send(delta).await?;
        }
        ended.map_err(|error| origin.of_read(error))
    }

    async fn rejected(
        &self,
        response: HttpResponse,
        authorization: &Authorization,
        origin: ErrorOrigin<'_>,
    ) -> ModelError {
        let origin = origin.should_retry(should_retry(&response));
        let status = response.status().as_u16();
        let wait = retry_after(response.headers(), SystemTime::now());
        // The status says enough if the body can't be read.
        let body = response.text().await.unwrap_or_default();
        // Before the wire limits its length, which could cut a key in two.
        let body = authorization.removed_from(body);
        origin.of_report(self.wire.error(&ErrorResponse::new(status, &body).retry_after(wait)))
    }
}

/// Reads the last event of a body that lacks the empty line after it, as some servers send `[DONE]`. An event whose data
/// is cut off as well is no valid JSON, so that it is not taken for a whole one.
fn unfinished(
    error: &HttpError,
    events: &mut SseEvents,
    reader: &mut dyn StreamReader,
    deltas: &mut Vec<Delta>,
) -> Option<Result<(), ReadError>> {
    let HttpError::IncompleteEvent { .. } = error else { return None };
    let event = events.unfinished_event()?;
    match reader.event(WireEvent::new(Some(&event.name), &event.data), deltas) {
        Err(ReadError::Invalid { .. }) => None,
        read => Some(read),
    }
}

fn content_type(response: &HttpResponse) -> String {
    let declared = response.headers().get("content-type").and_then(|value| value.to_str().ok());
    declared.unwrap_or("of no declared type").chars().take(100).collect()
}

/// Returns the provider's statement about a retry, which decides for the SDKs of OpenAI and Anthropic too.
fn should_retry(response: &HttpResponse) -> Option<bool> {
    match response.headers().get("x-should-retry")?.to_str().ok()?.trim() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn request_id(response: &HttpResponse) -> Option<String> {
    let header = REQUEST_IDS.iter().find_map(|name| response.headers().get(*name))?;
    header.to_str().ok().map(|id| id.chars().take(200).collect())
}
