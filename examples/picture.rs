//! A picture as a result: a tool returns an image that it builds in memory, and the model gets it as an image.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use haft::conversation::{CallOutputBody, ContentPart, MediaData};
use haft::prelude::*;

/// Draws a square of one colour.
#[tool(readonly)]
fn draw_square(
    /// The length of a side, in pixels
    #[schemars(range(min = 1, max = 64))]
    side: u8,
    red: u8,
    green: u8,
    blue: u8,
) -> Vec<ContentPart> {
    let image = MediaData::Base64(base64(&bitmap(side, [blue, green, red])));
    vec![ContentPart::text(format!("a square of {side} × {side} pixels")), ContentPart::image("image/bmp", image)]
}

/// Counts the pixels. The application gets the number, the model a sentence.
#[tool(readonly, to_model = sentence)]
fn count_pixels(side: u32) -> u32 {
    side.saturating_mul(side)
}

fn sentence(pixels: &impl std::fmt::Display) -> [ContentPart; 1] {
    [ContentPart::text(format!("It has {pixels} pixels."))]
}

#[tokio::main]
async fn main() {
    let kit: Toolkit = toolkit![DrawSquare, CountPixels];

    let call = ToolCall::new("c1", "draw_square", r#"{"side": 2, "red": 255, "green": 128, "blue": 0}"#);
    let result = kit.run_call(&call).await;
    let CallOutputBody::Parts(parts) = result.to_call_output().output else { panic!("no parts: {result:?}") };
    println!("the model reads {} parts", parts.len());
    assert_eq!(parts[0].as_text(), Some("a square of 2 × 2 pixels"));
    let ContentPart::Image(image) = &parts[1] else { panic!("no image: {parts:?}") };
    assert_eq!(image.media_type.as_deref(), Some("image/bmp"));
    let MediaData::Base64(data) = &image.data else { panic!("no data: {image:?}") };
    println!("data:image/bmp;base64,{data}");
    assert!(data.starts_with("Qk1") && data.len() == 96);

    // The application reads the same parts.
    assert_eq!(result.decode::<Vec<ContentPart>>().ok(), Some(parts));

    let result = kit.run_call(&ToolCall::new("c2", "count_pixels", r#"{"side": 3}"#)).await;
    println!("the model reads: {}", result.to_model_text());
    assert_eq!(result.to_model_text(), "It has 9 pixels.");
    assert_eq!(result.decode::<u32>().ok(), Some(9));
}

/// Returns a bitmap of one colour, without compression.
fn bitmap(side: u8, pixel: [u8; 3]) -> Vec<u8> {
    let mut row = pixel.repeat(side.into());
    row.resize(row.len().next_multiple_of(4), 0);
    let pixels = row.repeat(side.into());
    let size = u32::try_from(54 + pixels.len()).unwrap_or(u32::MAX);
    let mut bytes = b"BM".to_vec();
    for number in [size, 0, 54, 40, side.into(), side.into(), 24 << 16 | 1, 0, 0, 0, 0, 0, 0] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(pixels);
    bytes
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut bits = 0;
        for index in 0..3 {
            bits = bits << 8 | usize::from(chunk.get(index).copied().unwrap_or_default());
        }
        for index in 0..4 {
            let letter = ALPHABET[bits >> (18 - 6 * index) & 63];
            text.push(if index <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
