//! A stream of server-sent events: every way to cut it into chunks gives the same events or the same error, and the
//! decoder holds no more memory than its limit allows, whatever the length of the stream.

use haft_http::{SseDecoder, SseError};

use super::{Outcome, Target};
use crate::meter;

/// The limit of an event: small enough for the inputs to exceed it.
const LIMIT: usize = 256;
/// The memory of a decoder with that limit: its buffers with spare capacity, while they grow, and with each invalid byte
/// replaced by three.
const MEMORY: u64 = 16 * 1024;
/// The longest input that is cut at each of its positions.
const SHORT: usize = 128;

pub(super) const TARGET: Target = Target {
    name: "sse",
    seeds: &[
        "data: {\"a\":1}\n\n",
        "event: delta\nid: 7\ndata: a\ndata: b\n\ndata: [DONE]\n\n",
        "\u{feff}data:a\r\n\r\ndata\r\rdata: \u{e9}\n\n",
        ": comment\nretry: 250\nid\nevent\n\ndata: cut",
    ],
    run,
};

/// The outcome of decoding a stream: its events, and the way that it ended.
#[derive(Debug, PartialEq, Eq)]
struct Decoded {
    events: Vec<(String, String, String)>,
    end: Result<bool, SseError>,
}

fn run(input: &[u8]) -> Outcome {
    let (_, cost) = meter::bounded("decoding", meter::Input::value(input.len(), 1), decoder, |mut decoder| {
        feed(&mut decoder, [input], |_, _, _| {}).is_ok()
    });
    assert!(cost.memory <= MEMORY, "decoding held {} bytes, and {MEMORY} are allowed", cost.memory);

    let whole = decode([input]);
    for length in [1, 2, 3, 7] {
        assert_eq!(decode(input.chunks(length)), whole, "chunks of {length} bytes give another result");
    }
    for at in 0..input.len().min(SHORT) {
        let (before, after) = input.split_at(at);
        assert_eq!(decode([before, after]), whole, "a cut at {at} gives another result");
    }
    let shapes: Vec<_> = whole.events.iter().take(2).map(|(name, data, id)| shape(name, data, id)).collect();
    Outcome::of(&(shapes, whole.events.len().min(4), whole.end.ok()))
}

fn decoder() -> SseDecoder {
    SseDecoder::with_limit(LIMIT)
}

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut events = Vec::new();
    let mut decoder = decoder();
    let end = feed(&mut decoder, chunks, |name, data, id| events.push((name.into(), data.into(), id.into())));
    Decoded { events, end: end.map(|()| decoder.is_within_event()) }
}

fn feed<'a>(
    decoder: &mut SseDecoder,
    chunks: impl IntoIterator<Item = &'a [u8]>,
    mut each: impl FnMut(&str, &str, &str),
) -> Result<(), SseError> {
    for mut chunk in chunks {
        while let Some(event) = decoder.next(&mut chunk)? {
            assert!(event.data.len() <= 3 * LIMIT, "an event exceeds the limit");
            each(&event.name, &event.data, &event.id);
        }
        assert!(chunk.is_empty(), "a part of the input was not read");
    }
    Ok(())
}

/// Returns the kind of an event.
fn shape(name: &str, data: &str, id: &str) -> (bool, usize, usize, bool, bool) {
    (name == "message", data.len().min(3), data.lines().count().min(3), id.is_empty(), data.contains('\u{fffd}'))
}
