//! The regular expressions that providers accept.

use crate::dialect::rules::Patterns;

/// The highest repetition count that is still simple.
const MAX_REPETITION: u32 = 100;

impl Patterns {
    /// Reports whether a pattern is accepted.
    pub(crate) fn accept(self, pattern: &str) -> bool {
        match self {
            Self::None => false,
            Self::Regular => !has_look_around(pattern) && !has_back_reference(pattern),
            Self::Simple => is_simple(pattern),
        }
    }
}

fn has_look_around(pattern: &str) -> bool {
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| pattern.contains(opening))
}

/// Reports whether a pattern refers to one of its groups, as `\1` or `\k<name>`.
fn has_back_reference(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(char) = rest.next() {
        if char == '\\' && matches!(rest.next(), Some('1'..='9' | 'k')) {
            return true;
        }
    }
    false
}

/// Reports whether a pattern has only anchors, literals, classes, groups and simple repetitions.
fn is_simple(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut in_class = false;
    let mut after_repetition = false;
    while let Some(char) = rest.next() {
        let is_repetition = !in_class && matches!(char, '*' | '+' | '?' | '{');
        // `a*?` and `a*+` are not simple.
        if is_repetition && after_repetition {
            return false;
        }
        after_repetition = is_repetition;
        match char {
            '\\' => match rest.next() {
                Some('d' | 'w' | 's') => {}
                Some(escaped) if !escaped.is_ascii_alphanumeric() => {}
                _ => return false,
            },
            '[' => in_class = true,
            ']' => in_class = false,
            '|' if !in_class => return false,
            '(' if !in_class && rest.peek() == Some(&'?') => {
                rest.next();
                if rest.next() != Some(':') {
                    return false;
                }
            }
            '{' if !in_class => {
                let bounds: String = rest.by_ref().take_while(|char| *char != '}').collect();
                let is_small = |bound: &str| bound.parse::<u32>().is_ok_and(|bound| bound <= MAX_REPETITION);
                let mut parts = bounds.splitn(2, ',');
                let is_first_small = parts.next().is_some_and(is_small);
                if !is_first_small || parts.next().is_some_and(|last| !last.is_empty() && !is_small(last)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_patterns_have_no_look_around_references_boundaries_or_large_repetitions() {
        for pattern in ["^[a-z0-9-]+$", r"\d{3}", "(?:ab)*c?", r"^a\.b$", "[|?*]{2,5}", "x{3,}", "(ab)+"] {
            assert!(is_simple(pattern), "{pattern}");
        }
        for pattern in
            ["(?=a)", "(?!a)", "(?<n>a)", r"(a)\1", r"\bword", r"\B", "a{1,1000}", "a|b", "a*?", r"\p{L}", "a{x}"]
        {
            assert!(!is_simple(pattern), "{pattern}");
        }
    }

    #[test]
    fn regular_patterns_have_no_look_around_and_no_back_references() {
        for pattern in [r"^(a|b)\d$", r"\\1", "(?:a)", "(?<n>a)", r"\0"] {
            assert!(Patterns::Regular.accept(pattern), "{pattern}");
        }
        for pattern in ["(?=a)", "x(?!a)", "(?<=a)b", "(?<!a)b", r"^(a|b)\1$", r"(?<n>a)\k<n>"] {
            assert!(!Patterns::Regular.accept(pattern), "{pattern}");
        }
    }
}
