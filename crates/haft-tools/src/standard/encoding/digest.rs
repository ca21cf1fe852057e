//! `hash`.

use haft_executor::{Cx, DefinitionError, Tool};
use md5::Md5;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::bytes::ByteEncoding;
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HashParams {
    /// The text, which is hashed as UTF-8, or encoded bytes if `input_encoding` is set.
    #[schemars(length(max = 1_000_000))]
    text: String,
    /// The algorithm. MD5 and SHA-1 are for checksums only, not for security.
    #[serde(default)]
    algorithm: HashAlgorithm,
    /// The encoding of the input, if it is bytes instead of a text.
    input_encoding: Option<ByteEncoding>,
    /// The encoding of the digest.
    #[serde(default = "hexadecimal")]
    output_encoding: ByteEncoding,
}

fn hexadecimal() -> ByteEncoding {
    ByteEncoding::Hex
}

/// A hash algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum HashAlgorithm {
    Md5,
    Sha1,
    #[default]
    Sha256,
    Sha512,
}

impl HashAlgorithm {
    fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => Md5::digest(bytes).to_vec(),
            Self::Sha1 => Sha1::digest(bytes).to_vec(),
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }
}

/// A digest.
#[derive(Debug, Serialize, JsonSchema)]
struct HashDigest {
    /// The digest in the encoding that was asked for.
    digest: String,
    /// The number of bytes that were hashed.
    bytes: usize,
}

/// Creates `hash`.
pub(super) fn tool() -> Result<Tool, DefinitionError> {
    pure(Tool::new("hash"))
        .title("Hash a text")
        .describe(
            "Computes the MD5, SHA-1, SHA-256 (default) or SHA-512 digest of a text as UTF-8, or of bytes in hexadecimal, \
             base32 or base64.",
        )
        .example(json!({"text": "hello"}))
        .example(json!({"text": "00ff", "input_encoding": "hex", "algorithm": "sha512", "output_encoding": "base64"}))
        .try_blocking_handler(|params: HashParams, _cx: Cx| {
            let bytes = match params.input_encoding {
                Some(encoding) => encoding.decode(&params.text)?,
                None => params.text.into_bytes(),
            };
            let digest = params.output_encoding.encode(&params.algorithm.digest(&bytes));
            Ok::<_, StandardFailure>(HashDigest { digest, bytes: bytes.len() })
        })
}
