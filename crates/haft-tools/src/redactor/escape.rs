//! Compares a secret with a text in which each character may be escaped.

/// A comparison's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// The text contains the secret, up to this place.
    Until(usize),
    /// The text ends within the secret.
    Beginning,
    /// The text contains something else.
    None,
}

/// The longest escape that a text may end within.
const MAX_CUT: usize = 12;

/// Compares the text from this place on with a secret.
pub(super) fn match_escaped(secret: &str, text: &[u8], start: usize) -> Match {
    let mut at = start;
    for wanted in secret.chars() {
        match end_of_char(wanted, text, at) {
            Some(end) => at = end,
            None if is_cut(text, start, at) => return Match::Beginning,
            None => return Match::None,
        }
    }
    Match::Until(at)
}

/// Reports whether the rest of a text is empty, or begins an escape or a character.
fn is_cut(text: &[u8], start: usize, at: usize) -> bool {
    match &text[at..] {
        // The bytes replace a character that was cut off.
        [] | [0xEF, 0xBF, 0xBD] => at > start,
        [b'%' | b'\\' | b'&', rest @ ..] => {
            rest.len() < MAX_CUT && !rest.iter().any(u8::is_ascii_whitespace) && at > start
        }
        _ => false,
    }
}

/// Returns a character's end, in whatever form the text has it.
fn end_of_char(wanted: char, text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let escaped = match rest.first()? {
        b'%' => percent(wanted, rest),
        b'\\' => backslash(wanted, rest),
        b'&' => entity(wanted, rest),
        b'+' if wanted == ' ' => Some(1),
        _ => None,
    };
    Some(at + escaped.or_else(|| raw(wanted, rest))?)
}

fn raw(wanted: char, text: &[u8]) -> Option<usize> {
    let mut buffer = [0; 4];
    let bytes = wanted.encode_utf8(&mut buffer).as_bytes();
    text.get(..bytes.len())?.eq_ignore_ascii_case(bytes).then_some(bytes.len())
}

/// Matches `%2F`, and `%252F`, which is escaped twice.
fn percent(wanted: char, text: &[u8]) -> Option<usize> {
    let mut buffer = [0; 4];
    let mut at = 0;
    for byte in wanted.encode_utf8(&mut buffer).bytes() {
        at += usize::from(text.get(at) == Some(&b'%'));
        let digits = |at: usize| u8::try_from(hex(text.get(at..at + 2)?)?).ok();
        while digits(at) == Some(b'%') && byte != b'%' {
            at += 2;
        }
        if digits(at)? != byte {
            return None;
        }
        at += 2;
    }
    Some(at)
}

/// Matches `\"`, `\n`, `\u0022`, `\u{22}` and `\x22`, with any number of backslashes.
fn backslash(wanted: char, text: &[u8]) -> Option<usize> {
    let start = text.iter().take_while(|byte| **byte == b'\\').count();
    let rest = &text[start..];
    let letter = match wanted {
        '\n' => Some(b'n'),
        '\r' => Some(b'r'),
        '\t' => Some(b't'),
        '\0' => Some(b'0'),
        '\u{8}' => Some(b'b'),
        '\u{c}' => Some(b'f'),
        _ => None,
    };
    let length = match rest {
        [first, ..] if Some(*first) == letter => Some(1),
        [b'u', b'{', digits @ ..] => {
            let length = digits.iter().position(|byte| *byte == b'}').filter(|length| *length <= 6)?;
            (hex(&digits[..length])? == u32::from(wanted)).then_some(length + 3)
        }
        [b'u', ..] => units(wanted, text, start - 1).map(|end| end - start),
        [b'x', ..] => bytes(wanted, text, start - 1).map(|end| end - start),
        _ => None,
    };
    // A backslash before any other character changes nothing in most languages. A secret may contain it as well. What
    // follows may be escaped in another way.
    length.or_else(|| if wanted == '\\' { None } else { end_of_char(wanted, rest, 0) }).map(|length| start + length)
}

/// Matches a character's UTF-16 code units, each as `\u0022`.
fn units(wanted: char, text: &[u8], mut at: usize) -> Option<usize> {
    for unit in wanted.encode_utf16(&mut [0; 2]) {
        at = hex_escape(b'u', 4, u32::from(*unit), text, at)?;
    }
    Some(at)
}

/// Matches a character's bytes, each as `\x22`.
fn bytes(wanted: char, text: &[u8], mut at: usize) -> Option<usize> {
    for byte in wanted.encode_utf8(&mut [0; 4]).bytes() {
        at = hex_escape(b'x', 2, u32::from(byte), text, at)?;
    }
    Some(at)
}

fn hex_escape(letter: u8, digits: usize, wanted: u32, text: &[u8], at: usize) -> Option<usize> {
    let slashes = text.get(at..)?.iter().take_while(|byte| **byte == b'\\').count();
    let start = at + slashes + 1;
    let is_it = slashes > 0 && text.get(start - 1) == Some(&letter) && hex(text.get(start..start + digits)?)? == wanted;
    is_it.then_some(start + digits)
}

/// Matches `&quot;`, `&#34;` and `&#x22;`.
fn entity(wanted: char, text: &[u8]) -> Option<usize> {
    let end = text.iter().take(MAX_CUT).position(|byte| *byte == b';')?;
    let found = match &text[1..end] {
        b"quot" => '"',
        b"apos" => '\'',
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(hex(digits)?)?,
        [b'#', digits @ ..] => char::from_u32(std::str::from_utf8(digits).ok()?.parse().ok()?)?,
        _ => return None,
    };
    (found == wanted).then_some(end + 1)
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}
