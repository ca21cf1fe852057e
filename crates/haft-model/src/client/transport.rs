//! One request over HTTP.

use std::time::SystemTime;

use haft_core::Delta;
use haft_http::{HttpError, HttpRequest, HttpResponse, SseEvents, retry_after};
use haft_wire::{ErrorResponse, ReadContext, ReadError, StreamReader, WireEvent, WireRequest};

use super::HttpModel;
use super::key::Key;
use super::model_error::ErrorOrigin;
use crate::delta_sender::DeltaSender;
use crate::error::ModelError;
use crate::turn_delta::{DeltaSize, deltas_of};

/// The headers in which providers name a request, for their support.
const REQUEST_IDS: [&str; 3] = ["x-request-id", "request-id", "x-goog-request-id"];

impl HttpModel {
    pub(super) async fn ask(&self, sent: WireRequest, out: DeltaSender) -> Result<(), ModelError> {
        let context = sent.context.clone();
        let origin = ErrorOrigin::new(self.provider(), &self.key);
        let client = self.http.get().map_err(|error| origin.of_http(error))?;
        let response = client.send(self.http_request(sent)).await.map_err(|error| match error {
            HttpError::InvalidUrl { reason } => origin.of_base_url(&self.base_url, &reason),
            error => origin.of_http(error),
        })?;
        let origin = origin.response(response.status().as_u16(), request_id(&response));
        if !response.status().is_success() {
            return Err(self.rejected(response, &origin).await);
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

    fn http_request(&self, sent: WireRequest) -> HttpRequest {
        let mut request = HttpRequest::post(self.url(&sent.path)).json(sent.body);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in sent.headers {
            // The headers of wires are lists, to which those of the user are added.
            let set = self.headers.iter().rfind(|(set, _)| set.eq_ignore_ascii_case(name));
            match set {
                Some((_, more)) => request = request.header(name, &format!("{value},{more}")),
                None => request = request.header(name, &value),
            }
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

    async fn rejected(&self, response: HttpResponse, origin: &ErrorOrigin<'_>) -> ModelError {
        let status = response.status().as_u16();
        let wait = retry_after(response.headers(), SystemTime::now());
        // The status says enough if the body can't be read.
        let body = response.text().await.unwrap_or_default();
        // Before the wire limits its length, which could cut a key in two.
        let body = self.key.removed_from(body);
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

fn request_id(response: &HttpResponse) -> Option<String> {
    let header = REQUEST_IDS.iter().find_map(|name| response.headers().get(*name))?;
    header.to_str().ok().map(|id| id.chars().take(200).collect())
}
