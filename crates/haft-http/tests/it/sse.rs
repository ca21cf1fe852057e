use std::time::Duration;

use haft_http::{SseDecoder, SseError};
use proptest::prelude::*;

/// The name, data and id of an event.
type Event = (String, String, String);

/// Everything that a decoder reports about a stream.
#[derive(Debug, PartialEq)]
struct Decoded {
    events: Vec<Event>,
    last_id: String,
    retry: Option<Duration>,
    within_event: bool,
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = SseDecoder::new();
    let mut events = Vec::new();
    for mut chunk in chunks {
        while let Some(event) = decoder.next(&mut chunk).unwrap() {
            let event = event.into_owned();
            events.push((event.name.into(), event.data.into(), event.id.into()));
        }
        assert!(chunk.is_empty());
    }
    let last_id = decoder.last_event_id().to_owned();
    Decoded { events, last_id, retry: decoder.retry(), within_event: decoder.is_within_event() }
}

fn decode_text(text: &str) -> Vec<Event> {
    decode([text.as_bytes()]).events
}

fn event(name: &str, data: &str, id: &str) -> Event {
    (name.into(), data.into(), id.into())
}

/// Decodes a whole stream step by step as the standard describes it.
fn reference(bytes: &[u8]) -> Decoded {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    let unfinished = lines.pop().unwrap();
    let (mut name, mut data, mut id) = (String::new(), String::new(), String::new());
    let mut decoded = Decoded { events: Vec::new(), last_id: String::new(), retry: None, within_event: false };
    for line in lines {
        if line.is_empty() {
            decoded.last_id.clone_from(&id);
            if !data.is_empty() {
                data.pop();
                let name = if name.is_empty() { "message" } else { &name };
                decoded.events.push(event(name, &data, &id));
            }
            name.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => data = data + value + "\n",
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                decoded.retry = value.parse().map(Duration::from_millis).ok().or(decoded.retry);
            }
            _ => {}
        }
    }
    let within_line = !unfinished.is_empty() && !unfinished.starts_with(':');
    decoded.within_event = within_line || !data.is_empty() || !name.is_empty();
    decoded
}

#[test]
fn the_examples_of_the_standard_are_decoded() {
    let text = "data: YHOO\ndata: +2\ndata: 10\n\n";
    assert_eq!(decode_text(text), [event("message", "YHOO\n+2\n10", "")]);
    let text = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event";
    assert_eq!(decode_text(text), [event("message", "first event", "1"), event("message", "second event", "")]);
    let text = "data\n\ndata\ndata\n\ndata:";
    assert_eq!(decode_text(text), [event("message", "", ""), event("message", "\n", "")]);
    let text = "data:test\n\ndata: test\n\n";
    assert_eq!(decode_text(text), [event("message", "test", ""), event("message", "test", "")]);
}

#[test]
fn the_streams_of_providers_are_decoded() {
    let text = "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: ping\ndata: {}\n\n";
    assert_eq!(decode_text(text), [event("message_start", r#"{"type":"message_start"}"#, ""), event("ping", "{}", "")]);
    assert_eq!(
        decode_text("data: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n"),
        [event("message", r#"{"a":1}"#, ""), event("message", "[DONE]", "")]
    );
    assert_eq!(decode_text(": OPENROUTER PROCESSING\n\ndata: x\n\n"), [event("message", "x", "")]);
}

#[test]
fn a_byte_order_mark_is_skipped_once() {
    let mark = b"\xef\xbb\xbf";
    let text = [mark.as_slice(), b"data: a\n\n"].concat();
    assert_eq!(decode([text.as_slice()]).events, [event("message", "a", "")]);
    assert_eq!(decode(text.chunks(1)).events, [event("message", "a", "")]);
    let twice = [mark.as_slice(), mark, b"data: a\n\n"].concat();
    assert_eq!(decode([twice.as_slice()]).events, []);
    let later = [b"data: a\n".as_slice(), mark, b"data: b\n\n"].concat();
    assert_eq!(decode([later.as_slice()]).events, [event("message", "a", "")]);
}

#[test]
fn a_name_belongs_to_one_event_and_an_id_to_all_after_it() {
    let text = "event: a\n\ndata: x\n\nevent: b\nid: 1\ndata: y\n\ndata: z\n\nid: 2\n\n";
    let decoded = decode([text.as_bytes()]);
    assert_eq!(decoded.events, [event("message", "x", ""), event("b", "y", "1"), event("message", "z", "1")]);
    assert_eq!(decoded.last_id, "2");
    // An id takes effect at the end of its event, and one with a NUL never.
    assert_eq!(decode([b"id: 1\n\nid: 2\n".as_slice()]).last_id, "1");
    assert_eq!(decode([b"id: 1\n\nid: a\0b\n\n".as_slice()]).last_id, "1");
}

#[test]
fn only_digits_are_a_time_to_reconnect() {
    for (value, expected) in [("250", Some(250)), ("0", Some(0)), ("", None), ("-1", None), ("+1", None), ("1.5", None)]
        .into_iter()
        .chain([("1s", None), ("99999999999999999999999", None), (" 1", None)])
    {
        let decoded = decode([format!("retry:{}{value}\n", ' ').as_bytes()]);
        assert_eq!(decoded.retry, expected.map(Duration::from_millis), "{value:?}");
    }
    let kept = decode([b"retry: 5\nretry: x\n".as_slice()]);
    assert_eq!(kept.retry, Some(Duration::from_millis(5)));
}

#[test]
fn fields_are_recognised_by_their_exact_names() {
    let text = "Data: a\n data: b\ndata : c\ndatax: d\nevent : e\n\n:data: f\n\ndata: g: h \n\n";
    assert_eq!(decode_text(text), [event("message", "g: h ", "")]);
}

#[test]
fn invalid_utf8_is_replaced() {
    let decoded = decode([b"event: \xff\ndata: a\xe2\x82\ndata: \xf0\x9f\x98\x80\n\n".as_slice()]);
    assert_eq!(decoded.events, [event("\u{fffd}", "a\u{fffd}\n\u{1f600}", "")]);
}

#[test]
fn an_unfinished_event_is_not_returned() {
    for text in ["data: a", "data: a\n", "event: a\n", "id", "data: a\r"] {
        let decoded = decode([text.as_bytes()]);
        assert_eq!(decoded.events, [], "{text:?}");
        assert!(decoded.within_event, "{text:?}");
    }
    for text in [
        "",
        "\n",
        ": a",
        ": a\n",
        "data: a\n\n",
        "event: a\n\n",
        "data: a\n\n: b",
        "retry: 5\n",
        "x: y\n",
        "\u{feff}",
        "\u{feff}: a",
    ] {
        assert!(!decode([text.as_bytes()]).within_event, "{text:?}");
    }
}

#[test]
fn an_event_beyond_the_limit_ends_the_decoder() {
    let fails = |limit: usize, text: &str, chunk: usize| {
        let mut decoder = SseDecoder::with_limit(limit);
        let mut result = Ok(());
        for mut piece in text.as_bytes().chunks(chunk) {
            loop {
                match decoder.next(&mut piece) {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(error) => {
                        result = Err(error);
                        break;
                    }
                }
            }
        }
        if let Err(error) = result {
            assert_eq!(error, SseError::TooLarge { limit });
            assert_eq!(decoder.next(&mut b"data: a\n\n".as_slice()), Err(error), "an error is final");
            assert!(!decoder.is_within_event());
        }
        result.is_err()
    };
    for chunk in [1, 3, 1000] {
        for (text, least) in [
            ("data: 1234\n\n", 10),
            ("data: 1234\ndata: 1234\n\n", 15),
            (": 12345678\n\n", 10),
            ("data: 1\n\ndata: 1234\n\n", 10),
            ("event: abc\ndata: 12345\n\n", 14),
            ("id: abcdefg\ndata: 1\n\n", 14),
            ("data: 12345", 11),
        ] {
            assert!(!fails(least, text, chunk), "{text:?} in chunks of {chunk}");
            assert!(fails(least - 1, text, chunk), "{text:?} in chunks of {chunk}");
        }
    }
}

#[test]
fn debug_output_contains_no_part_of_the_stream() {
    let mut decoder = SseDecoder::new();
    assert!(decoder.next(&mut b"event: private\ndata: private\nid: private\nprivate".as_slice()).unwrap().is_none());
    assert!(!format!("{decoder:?}").contains("private"));
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "data: ", "data:", "data", "event: ", "event", "id: ", "id", "retry: ", "retry:", "\n", "\r", "\r\n", "\n\n",
            "\r\n\r\n", "\r\r", ":", ": ", " ", "\0", "a", "{\"a\":1}", "[DONE]", "12", "\u{feff}", "é", "\u{1f600}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_chunking_gives_the_events_of_the_reference(
        bytes in stream(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let expected = reference(&bytes);
        prop_assert_eq!(&decode([bytes.as_slice()]), &expected);
        prop_assert_eq!(&decode(bytes.chunks(1)), &expected);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]);
        prop_assert_eq!(&decode(chunks), &expected);
    }
}
