//! Advice for syntax of other dialects that ECMA-262 does not have.

use super::PatternFault;

const NAMED: &str = "write `(?<name>...)` for a named group and `\\k<name>` for a reference to it";
const ATOMIC: &str = "write `(?:...)`; most patterns match the same texts";
const FLAGS: &str = "patterns have no flags; write both cases as in `[aA]`, `[\\s\\S]` for any character";
const RECURSION: &str = "recursion and subroutines cannot be expressed";
const CONDITION: &str = "write both cases as alternatives, with lookaheads to tell them apart";

/// Returns the fault of a group that begins with `(?` and then `rest`.
pub(super) fn group(at: usize, rest: &str) -> PatternFault {
    let mut chars = rest.chars();
    let first = chars.next();
    let advice = match first {
        Some('P' | '\'') => NAMED,
        Some('>') => ATOMIC,
        Some('#') => "patterns have no comments; use `$comment` in the schema",
        Some('|') => "write `(?:...)`, and number the groups of each alternative separately",
        Some('(') => CONDITION,
        Some('R' | '&' | '0'..='9' | '+') => RECURSION,
        Some('a'..='z' | 'A'..='Z' | '-' | '^') => {
            let flags = rest.split([':', ')']).next().unwrap_or_default();
            let closes = rest.as_bytes().get(flags.len());
            if closes == Some(&b':') && flags.bytes().all(|b| matches!(b, b'i' | b'm' | b's' | b'-')) {
                return PatternFault::Unsupported { at, found: excerpt(&format!("(?{flags}")), advice: FLAGS };
            }
            FLAGS
        }
        _ => "write `(?:...)` for a group, or `\\(` for a parenthesis",
    };
    let mut text = String::from("(?");
    text.extend(first);
    PatternFault::Foreign { at, found: text.into(), advice }
}

/// Returns the fault of a backslash before a letter that has no meaning there.
pub(super) fn escape(at: usize, letter: char) -> PatternFault {
    let advice = match letter {
        'A' => "write `^`",
        'Z' | 'z' => "write `$`",
        'a' => "write `\\x07`",
        'e' => "write `\\x1B`",
        'h' => "write `[ \\t]`",
        'H' => "write `[^ \\t]`",
        'N' => "write `.`",
        'R' => "write `(?:\\r\\n|[\\n\\r])`",
        'Q' | 'E' => "escape each special character with `\\`",
        'G' | 'K' => "remove it; a pattern only decides whether a text matches",
        'U' => "write `\\u{...}` with the hexadecimal code point",
        'g' => "write `\\1` or `\\k<name>`",
        'X' => "write `\\P{M}\\p{M}*`",
        'C' => "write `[\\s\\S]`",
        _ => return PatternFault::UnknownEscape { at, escape: letter },
    };
    PatternFault::Foreign { at, found: format!("\\{letter}").into(), advice }
}

/// Returns the fault of a `+` after a quantifier.
pub(super) fn possessive(at: usize) -> PatternFault {
    PatternFault::Foreign { at, found: "+".into(), advice: "remove it; matching takes linear time without it" }
}

/// Returns the fault of `{,n}`.
pub(super) fn open_bound(at: usize) -> PatternFault {
    PatternFault::Foreign { at, found: "{,".into(), advice: "write `{0,`, or `\\{,` for the characters" }
}

/// Returns the fault of `[:name:]` inside a class.
pub(super) fn posix_class(at: usize) -> PatternFault {
    PatternFault::Foreign { at, found: "[:".into(), advice: "list the characters, as in `[A-Za-z]`, or use `\\p{...}`" }
}

/// Returns the fault of a script property.
pub(super) fn script(at: usize, name: &str) -> PatternFault {
    let advice = "use a general category such as `\\p{L}`, or list ranges of characters";
    PatternFault::Unsupported { at, found: excerpt(name), advice }
}

/// Returns the first characters of a construct, enough to recognize it.
pub(super) fn excerpt(text: &str) -> Box<str> {
    text.chars().take(40).collect::<String>().into()
}
