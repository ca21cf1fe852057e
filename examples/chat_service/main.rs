//! The release desk: a chat in which people of several companies deploy, with approvals, and that survives `kill -9`.
//!
//! ```sh
//! OPENAI_API_KEY=… DEPLOYMENTS_URL=http://localhost:9000 cargo run --example chat_service --features clients
//! ```
//!
//! Then open <http://localhost:3000/#ana-secret>. For a page with `useChat`, `/api/chat` is the `api` of its transport.
#![allow(clippy::print_stderr, reason = "an example shows what it does")]
mod desk;
mod person;
#[path = "../sqlite_store/store.rs"]
mod store;

use self::desk::{Deploy, Deployed, Deployments};
use self::person::Person;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse, Response, Result};
use axum::routing::{get, post};
use axum::{Json, Router, http::StatusCode};
use haft::approval::Verdict;
use haft::http::HttpClient;
use haft::model::ui::{AI_SDK_HEADERS, ChatPost, UiStream, ai_sdk_messages};
use haft::model::{Budget, Chat, ChatError, ChatRequest, ChatRun, Disconnect, OpenAi};
use haft::prelude::*;
use std::env;

#[derive(Clone)]
struct Desk {
    chat: Chat,
    deployments: Deployments,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = TurnLoop::new(OpenAi::from_env()?, toolkit![Deployed, Deploy])
        .options(RunOptions::new().approvals(Suspend))
        .conversation_budget(Budget::new().tokens(200_000));
    let store = store::SqliteStore::open(env::var("DATABASE").unwrap_or("release-desk.db".to_owned()))?;
    let instructions = Item::system("You are the release desk. Say what is deployed, and deploy what people ask for.");
    let chat = Chat::new(agent, store)
        .request(TurnRequest::new("gpt-5-mini", vec![instructions]))
        .on_disconnect(Disconnect::Detach);
    let deployments = Deployments { url: env::var("DEPLOYMENTS_URL")?, http: HttpClient::new()? };

    let port = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    eprintln!("listening on http://{}", listener.local_addr()?);
    let routes = Router::new()
        .route("/", get(async || Html(include_str!("page.html"))))
        .route("/api/chat", post(say))
        .route("/api/chat/{id}", get(messages))
        .route("/api/chat/{id}/stream", get(attach))
        .route("/api/chat/{id}/verdicts", post(decide))
        .route("/api/chat/{id}/cancel", post(cancel))
        .with_state(Desk { chat: chat.clone(), deployments });
    axum::serve(listener, routes).with_graceful_shutdown(async { drop(tokio::signal::ctrl_c().await) }).await?;
    chat.idle().await; // runs whose readers are gone save what they did
    Ok(())
}

/// A message, or verdicts, as `useChat` posts them.
async fn say(State(desk): State<Desk>, person: Person, body: Bytes) -> Result<Response> {
    let mut post = ChatPost::read(&body).map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
    if !person.is_lead {
        post.verdicts.clear();
    }
    // Whoever goes on while a call waits has changed their mind.
    let request = desk.chat.post(person.chat(&post.chat_id), post).cancel_pending("the user went on without it");
    Ok(stream(desk.run(request, person).await?))
}

/// Verdicts of a lead, who need not see the chat.
async fn decide(
    State(desk): State<Desk>,
    person: Person,
    Path(id): Path<String>,
    Json(verdicts): Json<Vec<Verdict>>,
) -> Result<StatusCode> {
    if !person.is_lead {
        return Err((StatusCode::FORBIDDEN, "only a lead decides").into());
    }
    desk.run(desk.chat.verdicts(person.chat(&id), verdicts), person).await?.detach();
    Ok(StatusCode::ACCEPTED)
}

/// The messages so far, for a page that is loaded.
async fn messages(State(desk): State<Desk>, person: Person, Path(id): Path<String>) -> Result<Response> {
    let shown = desk.chat.shown(&person.chat(&id)).await.map_err(|error| refusal(&error.into()))?;
    Ok(Json(shown.as_ref().map(ai_sdk_messages)).into_response())
}

/// The answer that is under way, for a page that lost its connection.
async fn attach(State(desk): State<Desk>, person: Person, Path(id): Path<String>) -> Response {
    desk.chat.attach(&person.chat(&id)).map_or(StatusCode::NO_CONTENT.into_response(), stream)
}

async fn cancel(State(desk): State<Desk>, person: Person, Path(id): Path<String>) -> StatusCode {
    if desk.chat.cancel(&person.chat(&id)) { StatusCode::ACCEPTED } else { StatusCode::NOT_FOUND }
}

impl Desk {
    async fn run(&self, request: ChatRequest, person: Person) -> Result<ChatRun> {
        let url = format!("{}/{}", self.deployments.url, person.tenant);
        let options = RunOptions::new().caller(person.name).service(Deployments { url, ..self.deployments.clone() });
        Ok(request.options(options).decided_by(person.name).await.map_err(|error| refusal(&error))?)
    }
}

impl Person {
    /// Returns the id of a conversation of this person's tenant, whatever a browser calls it.
    fn chat(self, id: &str) -> String {
        format!("{}/{id}", self.tenant)
    }
}

fn stream(run: ChatRun) -> Response {
    (AI_SDK_HEADERS, Body::from_stream(UiStream::ai_sdk(run))).into_response()
}

fn refusal(error: &ChatError) -> (StatusCode, String) {
    let status = StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if status.is_server_error() {
        eprintln!("{error}"); // it may name files
        return (status, "Something went wrong. Try again.".to_owned());
    }
    (status, error.to_string())
}
