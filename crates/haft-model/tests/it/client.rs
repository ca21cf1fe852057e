//! Clients of models, over sockets: the test is the provider and writes every byte.

mod cache;
mod compatible;
mod credential;
mod ending;
mod failure;
mod fallback;
mod hosted;
mod planted_secret;
mod rejection;
mod repetition;
mod report;
mod request;
mod retry;
mod secrecy;
#[allow(dead_code, reason = "shared with the tests of the HTTP client")]
#[path = "../../../haft-http/tests/it/server.rs"]
mod server;
mod span;
mod stream;
mod thinking;
mod timeout;

use haft_core::{Item, Turn, TurnRequest};
use haft_http::{HttpClient, Secret};
use haft_model::{Anthropic, Gemini, HttpModel, LanguageModel, ModelError, OpenAi};
use haft_wire::OpenAiChat;
use serde_json::Value;
use tokio::join;

use self::server::{Connection, Server, client, response};

/// A key that does not look like one: only the client can know it.
const KEY: &str = "opensesame/0123";
const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream; charset=utf-8\r\n";

/// A client of each wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    Responses,
    Chat,
    Anthropic,
    Gemini,
}

const ALL: [Provider; 4] = [Provider::Responses, Provider::Chat, Provider::Anthropic, Provider::Gemini];

/// Applies the settings that all clients share.
macro_rules! built {
    ($client:expr, $url:expr, $http:expr, $is_whole:expr) => {{
        let client = $client.base_url($url).http_client($http);
        if $is_whole { Box::new(client.whole()) } else { Box::new(client) }
    }};
}

impl Provider {
    fn model(self, server: &Server) -> Box<dyn LanguageModel> {
        self.with(server, client(), false)
    }

    fn whole(self, server: &Server) -> Box<dyn LanguageModel> {
        self.with(server, client(), true)
    }

    fn with(self, server: &Server, http: HttpClient, is_whole: bool) -> Box<dyn LanguageModel> {
        let (key, url) = (Secret::new(KEY), server.url(""));
        match self {
            Self::Responses => built!(OpenAi::new(key).model("gpt-4.1"), url, http, is_whole),
            Self::Chat => built!(OpenAi::new(key).chat().model("gpt-4.1"), url, http, is_whole),
            Self::Anthropic => built!(Anthropic::new(key).model("claude-sonnet-4-5"), url, http, is_whole),
            Self::Gemini => built!(Gemini::new(key).model("gemini-2.5-flash"), url, http, is_whole),
        }
    }

    /// The answer `Hello` as a body.
    fn body(self) -> &'static str {
        match self {
            Self::Responses => {
                r#"{"id":"r1","object":"response","model":"gpt-4.1-2025","status":"completed","output":[{"type":"message","id":"m1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}"#
            }
            Self::Chat => {
                r#"{"id":"r1","object":"chat.completion","model":"gpt-4.1-2025","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#
            }
            Self::Anthropic => {
                r#"{"id":"r1","type":"message","role":"assistant","model":"claude-sonnet-4-5-2025","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":2}}"#
            }
            Self::Gemini => {
                r#"{"responseId":"r1","modelVersion":"gemini-2.5-flash-2025","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}"#
            }
        }
    }

    /// The data of the events of the answer `Hello`. The last one marks the end.
    fn events(self) -> Vec<String> {
        let list: &[&str] = match self {
            Self::Responses => {
                let done = format!(r#"{{"type":"response.completed","response":{}}}"#, self.body());
                let start = r#"{"type":"response.created","response":{"id":"r1","status":"in_progress","output":[]}}"#;
                let text = |delta: &str| {
                    format!(
                        r#"{{"type":"response.output_text.delta","item_id":"m1","output_index":0,"content_index":0,"delta":"{delta}"}}"#
                    )
                };
                return vec![start.to_owned(), text("Hel"), text("lo"), done];
            }
            Self::Chat => &[
                r#"{"id":"r1","model":"gpt-4.1-2025","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
                r#"{"id":"r1","choices":[{"index":0,"delta":{"content":"Hel"}}]}"#,
                r#"{"id":"r1","choices":[{"index":0,"delta":{"content":"lo"}}]}"#,
                r#"{"id":"r1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                r#"{"id":"r1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#,
                "[DONE]",
            ],
            Self::Anthropic => &[
                r#"{"type":"message_start","message":{"id":"r1","type":"message","role":"assistant","model":"claude-sonnet-4-5-2025","content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
                r#"{"type":"message_stop"}"#,
            ],
            Self::Gemini => &[
                r#"{"responseId":"r1","modelVersion":"gemini-2.5-flash-2025","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"Hel"}]}}]}"#,
                r#"{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11}}"#,
            ],
        };
        list.iter().map(|data| (*data).to_owned()).collect()
    }

    fn stream(self) -> String {
        response(200, EVENTS, &sse(&self.events()))
    }

    /// The error of a rejected request, in the form of this provider.
    fn error(self, kind: &str, message: &str) -> String {
        let error = match self {
            Self::Responses | Self::Chat => {
                serde_json::json!({"error": {"message": message, "type": "x", "code": kind}})
            }
            Self::Anthropic => serde_json::json!({"type": "error", "error": {"type": kind, "message": message}}),
            Self::Gemini => serde_json::json!({"error": {"code": 1, "message": message, "status": kind}}),
        };
        error.to_string()
    }
}

/// Writes events.
fn sse(events: &[String]) -> String {
    events.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect()
}

fn request() -> TurnRequest {
    TurnRequest::new("", vec![Item::user("hi")])
}

/// Answers one request. The client must not use the connection again, because each request of a test has its own.
async fn answer(server: &Server, reply: impl AsRef<str>) -> (String, Connection) {
    server.answer(reply.as_ref().replacen("\r\n", "\r\nconnection: close\r\n", 1)).await
}

/// Asks for a turn and answers the request.
async fn asked(model: &dyn LanguageModel, server: &Server, reply: &str) -> (Result<Turn, ModelError>, SentText) {
    let (turn, (sent, _connection)) = join!(model.stream_turn(&request()).into_turn(), answer(server, reply));
    (turn, SentText(sent))
}

/// Asks for a turn that fails.
async fn rejected(model: &dyn LanguageModel, server: &Server, reply: &str) -> ModelError {
    asked(model, server, reply).await.0.unwrap_err()
}

/// Asks for a turn, answers without a declared length, and ends the connection.
async fn cut(model: &dyn LanguageModel, server: &Server, body: &str) -> Result<Turn, ModelError> {
    let head = format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n");
    let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async {
        let (_, mut connection): (String, Connection) = answer(server, &head).await;
        connection.write(body).await;
        connection.end().await;
    });
    turn
}

/// A request as it was sent.
struct SentText(String);

impl SentText {
    fn first_line(&self) -> &str {
        self.0.lines().next().unwrap()
    }

    /// Returns a header by its name in lower case.
    fn header(&self, name: &str) -> Option<&str> {
        let head = self.0.split("\r\n\r\n").next().unwrap();
        head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn body(&self) -> Value {
        serde_json::from_str(self.0.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

/// A client of a server at a URL that has a name of its own.
fn local(url: impl Into<String>) -> HttpModel {
    HttpModel::new(OpenAiChat::compatible("local"), url).model("m").http_client(client())
}
