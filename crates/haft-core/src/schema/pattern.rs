//! Regular expressions of schemas, as far as two dialects agree.
//!
//! JSON Schema means ECMA-262 expressions; the small engine here speaks Rust's dialect, in linear time. A pattern is
//! taken only if every piece of it means the same in both. The rest is left to the full validator.

use regex_lite::Regex;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern(Regex);

impl Pattern {
    /// Compiles `source`, or gives `None` if it is outside what both dialects agree on.
    pub(super) fn compile(source: &str) -> Option<Self> {
        is_shared(source).then(|| Regex::new(source).ok().map(Self)).flatten()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    pub(super) fn source(&self) -> &str {
        self.0.as_str()
    }
}

/// Whether a pattern uses only ASCII literals, classes of them, groups, alternation, anchors, plain repetition and
/// the escapes `\d`, `\w` and punctuation. Left out on purpose: `.`, `\s` and `\b` (they differ on Unicode), anything
/// after `(?`, and nested class syntax that only one dialect has.
fn is_shared(source: &str) -> bool {
    let mut chars = source.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('d' | 'w') => {}
                Some(escaped) if escaped.is_ascii_punctuation() && !matches!(escaped, '<' | '>') => {}
                _ => return false,
            },
            '[' if in_class => return false,
            '[' => {
                in_class = true;
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                // `[]` is an empty class in one dialect and a literal bracket in the other.
                if chars.peek() == Some(&']') {
                    return false;
                }
            }
            ']' if in_class => in_class = false,
            // `]`, `{` and `}` outside their place are literals in one dialect only.
            ']' => return false,
            '&' | '~' | '-' if in_class && chars.peek() == Some(&c) => return false,
            '(' if !in_class && chars.peek() == Some(&'?') => {
                chars.next();
                if chars.next() != Some(':') {
                    return false;
                }
            }
            '{' if !in_class && !is_repetition(&mut chars) => return false,
            '}' | '.' if !in_class => return false,
            _ if !c.is_ascii_graphic() && c != ' ' => return false,
            _ => {}
        }
    }
    !in_class
}

/// Reads the rest of `{n}`, `{n,}` or `{n,m}` with bounds small enough for either engine.
fn is_repetition(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut digits = 0;
    let mut commas = 0;
    for c in chars.by_ref() {
        match c {
            '0'..='9' if digits < 4 => digits += 1,
            ',' if commas == 0 && digits > 0 => {
                commas = 1;
                digits = 0;
            }
            '}' => return digits > 0 || commas == 1,
            _ => return false,
        }
    }
    false
}
