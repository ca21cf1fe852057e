//! `hash`, `encode` and `decode`.

mod bytes;
mod digest;

use haft_executor::{Cx, DefinitionError, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::bytes::ByteEncoding;
use super::annotate::pure;
use super::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EncodeParams {
    /// The text, which is encoded as UTF-8.
    #[schemars(length(max = 500_000))]
    text: String,
    /// The encoding of the result.
    encoding: ByteEncoding,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DecodeParams {
    /// The encoded text. White space is ignored, padding is optional.
    #[schemars(length(max = 1_000_000))]
    text: String,
    /// The encoding of the text.
    encoding: ByteEncoding,
}

/// An encoded text.
#[derive(Debug, Serialize, JsonSchema)]
struct EncodedText {
    /// The encoded text.
    encoded: String,
}

/// A decoded text: the text if the bytes are UTF-8, else the bytes in hexadecimal.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum DecodedText {
    /// The bytes are UTF-8.
    Text {
        /// The decoded text.
        text: String,
        /// The number of bytes.
        bytes: usize,
    },
    /// The bytes are not UTF-8.
    Binary {
        /// The bytes in hexadecimal, two digits each.
        hex: String,
        /// The number of bytes.
        bytes: usize,
    },
}

/// Creates the tools.
pub(super) fn tools() -> [Result<Tool, DefinitionError>; 3] {
    [digest::tool(), encode(), decode()]
}

fn encode() -> Result<Tool, DefinitionError> {
    pure(Tool::new("encode"))
        .title("Encode a text")
        .describe("Encodes a text, as UTF-8, in base64, base64url (without padding), base32 or hexadecimal.")
        .example(json!({"text": "hello", "encoding": "base64"}))
        .blocking_handler(|params: EncodeParams, _cx: Cx| EncodedText {
            encoded: params.encoding.encode(params.text.as_bytes()),
        })
}

fn decode() -> Result<Tool, DefinitionError> {
    pure(Tool::new("decode"))
        .title("Decode a text")
        .describe(
            "Decodes a text in base64, base64url, base32 or hexadecimal. Returns the decoded text, or the bytes in \
             hexadecimal if they are not UTF-8.",
        )
        .example(json!({"text": "aGVsbG8=", "encoding": "base64"}))
        .try_blocking_handler(|params: DecodeParams, _cx: Cx| {
            let bytes = params.encoding.decode(&params.text)?;
            let count = bytes.len();
            Ok::<_, StandardFailure>(match String::from_utf8(bytes) {
                Ok(text) => DecodedText::Text { text, bytes: count },
                Err(error) => DecodedText::Binary { hex: ByteEncoding::Hex.encode(error.as_bytes()), bytes: count },
            })
        })
}
