//! Streams: their end, their cuts, the errors within them, and what arrives in their place.

use haft_core::{Delta, Finish};
use haft_http::SizeLimits;
use haft_wire::{Delivery, Profile, ReadContext, ReadError, RequestError, StreamReader, Wire, WireRequest};

use super::server::{CHUNKED, LAST_CHUNK, builder, chunk};
use super::*;

#[tokio::test]
async fn deltas_arrive_before_the_turn_is_complete() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let mut stream = model.stream_turn(&request());
        let head = CHUNKED.replace("\r\n\r\n", &format!("\r\n{EVENTS}\r\n"));
        let events = provider.events();
        let text = events.iter().position(|data| data.contains("Hel")).unwrap();
        let begun = sse(&events[..=text]);
        let (delta, (_, mut connection)) = join!(
            async {
                loop {
                    match stream.next().await.unwrap().unwrap() {
                        Delta::TextDelta { .. } => break,
                        Delta::TurnComplete(turn) => panic!("{turn:?}"),
                        _ => {}
                    }
                }
            },
            answer(&server, [head, chunk(&begun)].concat())
        );
        let () = delta;
        let (turn, ()) = join!(stream.into_turn(), async {
            connection.write(chunk(&sse(&events[text + 1..]))).await;
            connection.write(LAST_CHUNK).await;
        });
        assert_eq!(turn.unwrap().text(), "Hello", "{provider:?}");
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_anywhere_is_retryable_and_never_a_turn() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let body = sse(&provider.events());
        // Everything up to the event in which the provider states the reason of the end.
        let complete = body.find(r#""stop""#).or(body.find("end_turn")).or(body.find("STOP")).unwrap_or(body.len());
        let complete = if provider == Provider::Responses { body.len() - 3 } else { complete };
        for length in (0..complete).step_by(23) {
            let error = cut(&model, &server, &body[..length]).await.unwrap_err();
            assert!(error.retryable(), "{provider:?} after {length} bytes: {error}");
        }
        assert_eq!(cut(&model, &server, &body).await.unwrap().text(), "Hello");
    }
}

#[tokio::test]
async fn a_connection_that_ends_within_a_chunked_stream_is_retryable() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let head = CHUNKED.replace("\r\n\r\n", &format!("\r\n{EVENTS}\r\n"));
        let begun = sse(&provider.events()[..1]);
        let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async {
            let (_, connection) = answer(&server, [head, chunk(&begun)].concat()).await;
            connection.end().await;
        });
        let error = turn.unwrap_err();
        assert_eq!((error.kind(), error.retryable()), ("unavailable", true), "{error}");
    }
}

#[tokio::test]
async fn the_last_event_needs_no_empty_line() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        let body = sse(&provider.events());
        for end in ["", "\n", "\r\n"] {
            let turn = cut(&model, &server, &format!("{}{end}", body.trim_end())).await;
            assert_eq!(turn.unwrap().usage.output_tokens, 2, "{provider:?} {end:?}");
        }
    }
}

#[tokio::test]
async fn comments_and_unknown_events_are_no_obstacle() {
    for provider in ALL {
        let server = Server::start().await;
        let events = provider.events();
        let unknown = r#"{"type":"new_thing","value":1}"#;
        let body = format!(
            ": ping\n\n{}event: new_thing\ndata: {unknown}\n\n: ping\n\n{}",
            sse(&events[..1]),
            sse(&events[1..])
        );
        let (turn, _) = asked(&provider.model(&server), &server, &response(200, EVENTS, &body)).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{provider:?}");
    }
}

#[tokio::test]
async fn an_error_within_a_stream_has_its_cause() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy now"}}"#;
    let limited = r#"{"type":"error","code":"rate_limit_exceeded","message":"busy now","param":null}"#;
    let failed = r#"{"error":{"message":"busy now","type":"server_error","code":null}}"#;
    let google = r#"{"error":{"code":503,"message":"busy now","status":"UNAVAILABLE"}}"#;
    for (provider, data, kind) in [
        (Provider::Responses, limited, "rate_limited"),
        (Provider::Chat, failed, "unavailable"),
        (Provider::Anthropic, overloaded, "unavailable"),
        (Provider::Gemini, google, "unavailable"),
    ] {
        let server = Server::start().await;
        let model = provider.model(&server);
        for end in ["\n\n", "\n", ""] {
            let body = format!("{}event: error\ndata: {data}{end}", sse(&provider.events()[..1]));
            let error = cut(&model, &server, &body).await.unwrap_err();
            assert_eq!((error.kind(), error.retryable()), (kind, true), "{provider:?}: {error}");
            assert!(error.to_string().contains("busy now"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_with_a_success_status_has_its_cause() {
    for (provider, kind) in [
        (Provider::Responses, "server_error"),
        (Provider::Chat, "server_error"),
        (Provider::Anthropic, "overloaded_error"),
        (Provider::Gemini, "UNAVAILABLE"),
    ] {
        let server = Server::start().await;
        let body = provider.error(kind, "busy now").replace(r#""code":1"#, r#""code":503"#);
        let error = rejected(&provider.model(&server), &server, &response(200, JSON, &body)).await;
        assert_eq!(error.kind(), "unavailable", "{provider:?}: {error}");
        assert!(error.to_string().contains("busy now"), "{error}");
    }
}

#[tokio::test]
async fn the_server_decides_about_the_delivery() {
    for provider in ALL {
        let server = Server::start().await;
        let reply = response(200, JSON, provider.body());
        let (turn, _) = asked(&provider.model(&server), &server, &reply).await;
        assert_eq!(turn.unwrap().text(), "Hello", "a server that can't stream: {provider:?}");
        let (turn, _) = asked(&provider.whole(&server), &server, &provider.stream()).await;
        assert_eq!(turn.unwrap().text(), "Hello", "a server that always streams: {provider:?}");
    }
}

#[tokio::test]
async fn a_whole_answer_arrives_as_deltas_too() {
    for provider in ALL {
        let server = Server::start().await;
        let reply = response(200, JSON, provider.body());
        for model in [provider.whole(&server), provider.model(&server)] {
            let (deltas, _) = join!(deltas(&*model), answer(&server, &reply));
            let [Delta::TextDelta { text, part: 0 }, Delta::UsageUpdate(usage), Delta::TurnComplete(turn)] =
                &deltas[..]
            else {
                panic!("{provider:?}: {deltas:#?}")
            };
            assert_eq!((text.as_str(), usage, turn.text().as_str()), ("Hello", &turn.usage, "Hello"), "{provider:?}");
        }
    }
}

/// A wire of an application, whose answers are plain text.
#[derive(Debug)]
struct PlainText(OpenAiChat);

impl Wire for PlainText {
    fn profile(&self) -> &Profile {
        Wire::profile(&self.0)
    }

    fn request(&self, request: &TurnRequest, delivery: Delivery) -> Result<WireRequest, RequestError> {
        self.0.request(request, delivery)
    }

    fn response(&self, body: &str, _context: &ReadContext) -> Result<Turn, ReadError> {
        Ok(Turn::new(vec![Item::assistant(body)], Finish::Stop))
    }

    fn stream(&self, context: &ReadContext) -> Box<dyn StreamReader> {
        self.0.stream(context)
    }
}

#[tokio::test]
async fn a_whole_answer_of_any_wire_arrives_as_deltas() {
    let server = Server::start().await;
    let model = HttpModel::new(PlainText(OpenAiChat::new()), server.url("")).model("m").http_client(client()).whole();
    let reply = response(200, "content-type: text/plain\r\n", "Hello");
    let (deltas, _) = join!(deltas(&model), answer(&server, &reply));
    let [Delta::TextDelta { text, .. }, Delta::TurnComplete(_)] = &deltas[..] else { panic!("{deltas:#?}") };
    assert_eq!(text, "Hello");
}

/// Asks for a turn, and collects its deltas.
async fn deltas(model: &dyn LanguageModel) -> Vec<Delta> {
    let mut stream = model.stream_turn(&request());
    let mut deltas = Vec::new();
    while let Some(delta) = stream.next().await {
        deltas.push(delta.unwrap());
    }
    deltas
}

#[tokio::test]
async fn pages_and_other_bodies_are_clear_errors() {
    for provider in ALL {
        let server = Server::start().await;
        for model in [provider.model(&server), provider.whole(&server)] {
            for (header, body, part) in [
                ("content-type: text/html\r\n", "<html>Welcome</html>", "text/html"),
                ("content-type: text/plain\r\n", "data: x\n\n", "check the base URL"),
                ("", "", "of no declared type"),
                (JSON, "{\"id\":", "invalid"),
                (JSON, "{}", "invalid"),
                (JSON, "[]", "invalid"),
                (JSON, "null", "invalid"),
                (JSON, r#"{"detail":"Not Found"}"#, "invalid"),
                (JSON, "", "invalid"),
            ] {
                let error = rejected(&model, &server, &response(200, header, body)).await;
                assert_eq!((error.kind(), error.retryable()), ("unreadable", false), "{provider:?}: {error}");
                assert!(error.to_string().contains(part), "{error}");
            }
        }
    }
}

#[tokio::test]
async fn an_event_that_is_no_json_is_an_error() {
    for provider in ALL {
        let server = Server::start().await;
        let body = format!("{}data: {{broken\n\n", sse(&provider.events()[..1]));
        let error = rejected(&provider.model(&server), &server, &response(200, EVENTS, &body)).await;
        assert_eq!(error.kind(), "unreadable", "{provider:?}: {error}");
    }
}

#[tokio::test]
async fn bodies_and_events_have_a_limit() {
    let limits = SizeLimits::default().body(1_000).event(1_000).stream(10_000);
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.with(&server, builder().limits(limits).build().unwrap(), false);
        let head = CHUNKED.replace("\r\n\r\n", &format!("\r\n{EVENTS}\r\n"));
        for (head, piece) in [
            (CHUNKED.replace("\r\n\r\n", &format!("\r\n{JSON}\r\n")), "x".repeat(100)),
            (head.clone(), "data: endless".to_owned()),
            (head, ": many small\n\n".to_owned()),
        ] {
            let (turn, ()) = join!(model.stream_turn(&request()).into_turn(), async {
                let (_, mut connection) = answer(&server, &head).await;
                connection.write_until_closed(chunk(&piece)).await;
            });
            let error = turn.unwrap_err();
            assert_eq!((error.kind(), error.retryable()), ("unreadable", false), "{provider:?}: {error}");
            assert!(error.to_string().contains("exceeds the limit"), "{error}");
        }
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    for provider in ALL {
        let server = Server::start().await;
        let model = provider.model(&server);
        // Before the headers, and within the stream.
        let mut stream = model.stream_turn(&request());
        let mut connection = tokio::select! {
            _ = stream.next() => panic!("there is no answer"),
            connection = async {
                let mut connection = server.accept().await;
                connection.request().await;
                connection
            } => connection,
        };
        drop(stream);
        assert_eq!(connection.read_some().await, 0);

        let mut stream = model.stream_turn(&request());
        let head = CHUNKED.replace("\r\n\r\n", &format!("\r\n{EVENTS}\r\n"));
        let begun = provider.events().into_iter().take_while(|data| !data.contains("STOP")).take(3).collect::<Vec<_>>();
        let (delta, (_, connection)) = join!(stream.next(), answer(&server, [head, chunk(&sse(&begun))].concat()));
        assert!(delta.unwrap().is_ok());
        drop(stream);
        connection.closed().await;
    }
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = Server::start().await;
    let model = Provider::Chat.model(&server);
    drop(model.stream_turn(&request()));
    let (_, sent) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert!(sent.first_line().starts_with("POST /chat/completions"), "the first connection is the polled one");
}
