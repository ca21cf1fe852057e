//! Base64 with padding, for the content that parts hold.
//!
//! Only what is written here is encoded here: parts that came from elsewhere are never decoded.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Returns the bytes in base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| chunk.get(index).map_or(0, |&byte| usize::from(byte));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let is_padding = digit > chunk.len();
            text.push(if is_padding { '=' } else { char::from(ALPHABET[bits >> (18 - 6 * digit) & 63]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_encoded_with_padding() {
        let examples =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE=")];
        for (bytes, expected) in examples {
            assert_eq!(encode(bytes.as_bytes()), expected);
        }
        assert_eq!(encode(&[0xff, 0xfe, 0xfb, 0xef]), "//777w==");
    }
}
