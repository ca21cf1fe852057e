//! Digests and encodings, against published vectors.

use std::sync::OnceLock;

use haft_core::FailureKind;
use haft_executor::Toolkit;
use proptest::prelude::*;
use serde_json::json;

use super::{call, kit};

#[tokio::test]
async fn digests_are_those_of_the_standards() {
    let kit = kit();
    for (text, algorithm, digest) in [
        ("", "md5", "d41d8cd98f00b204e9800998ecf8427e"),
        ("abc", "md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("abc", "sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("", "sha256", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abc",
            "sha512",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ] {
        let found = call(&kit, "hash", json!({"text": text, "algorithm": algorithm})).await.unwrap();
        assert_eq!(found, json!({"digest": digest, "bytes": text.len()}), "{algorithm}");
    }
    let bytes = json!({"text": "616263", "input_encoding": "hex", "output_encoding": "base64"});
    let found = call(&kit, "hash", bytes).await.unwrap();
    assert_eq!(found["digest"], "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
}

#[tokio::test]
async fn encodings_are_those_of_the_standard() {
    let kit = kit();
    for (text, encoding, encoded) in [
        ("", "base64", ""),
        ("f", "base64", "Zg=="),
        ("fo", "base64", "Zm8="),
        ("foobar", "base64", "Zm9vYmFy"),
        ("??>", "base64", "Pz8+"),
        ("??>", "base64url", "Pz8-"),
        ("f", "base64url", "Zg"),
        ("foo", "base32", "MZXW6==="),
        ("foobar", "base32", "MZXW6YTBOI======"),
        ("ä", "hex", "c3a4"),
    ] {
        let found = call(&kit, "encode", json!({"text": text, "encoding": encoding})).await.unwrap();
        assert_eq!(found["encoded"], encoded, "{text} {encoding}");
        let found = call(&kit, "decode", json!({"text": encoded, "encoding": encoding})).await.unwrap();
        assert_eq!(found, json!({"kind": "text", "text": text, "bytes": text.len()}), "{encoded}");
    }
    for (encoded, encoding, text) in [
        ("Zg", "base64", "f"),
        (" Zm9v\nYmFy ", "base64", "foobar"),
        ("Zg==", "base64url", "f"),
        ("mzxw6", "base32", "foo"),
        ("C3 A4", "hex", "ä"),
    ] {
        let found = call(&kit, "decode", json!({"text": encoded, "encoding": encoding})).await.unwrap();
        assert_eq!(found["text"], text, "{encoded}");
    }
    let found = call(&kit, "decode", json!({"text": "/+8=", "encoding": "base64"})).await.unwrap();
    assert_eq!(found, json!({"kind": "binary", "hex": "ffef", "bytes": 2}));
}

#[tokio::test]
async fn invalid_encodings_fail_at_their_position() {
    let kit = kit();
    for (text, encoding, position) in [
        ("Zm9!", "base64", 4),
        ("Zm 9-", "base64", 5),
        ("Z", "base64", 1),
        ("Zh", "base64", 2),
        ("Pz8+", "base64url", 4),
        ("Zg=a", "base64", 3),
        ("1", "base32", 1),
        ("abc", "hex", 3),
        ("0x00", "hex", 2),
        ("aä", "hex", 2),
    ] {
        let failed = call(&kit, "decode", json!({"text": text, "encoding": encoding})).await.unwrap_err();
        assert_eq!((failed.kind, failed.reason.as_str()), (FailureKind::ToolFailed, "invalid_encoding"), "{text}");
        assert_eq!(failed.position, Some(position), "{text}: {}", failed.message);
    }
}

/// Built once for all cases.
static KIT: OnceLock<Toolkit> = OnceLock::new();

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn texts_survive_every_encoding(text in any::<String>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let kit = KIT.get_or_init(kit);
        for encoding in ["base64", "base64url", "base32", "hex"] {
            let decoded = runtime.block_on(async {
                let encoded = call(kit, "encode", json!({"text": text, "encoding": encoding})).await.unwrap();
                call(kit, "decode", json!({"text": encoded["encoded"], "encoding": encoding})).await.unwrap()
            });
            prop_assert_eq!(decoded["text"].as_str(), Some(text.as_str()));
        }
    }
}
