//! Suggests similar names for misspelled attribute arguments.

/// Returns the candidate closest to `name`, if any is close.
pub(crate) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    let ranked = candidates.iter().map(|candidate| (distance(name, candidate), *candidate));
    ranked.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Returns "did you mean `x`?" if a candidate is close, otherwise the whole list.
pub(crate) fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("write one of {}", listed(candidates)),
    }
}

/// Returns the names in backquotes, separated by commas.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the edit distance between two names in insertions, deletions, replacements and neighbour swaps, ignoring
/// case and underscores.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> String { text.to_lowercase().replace('_', "") };
    strsim::osa_distance(&letters(a), &letters(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["readonly", "timeout", "idle_timeout", "title"];

    #[test]
    fn finds_what_was_meant() {
        assert_eq!(nearest("read_only", &NAMES), Some("readonly"));
        assert_eq!(nearest("timeoute", &NAMES), Some("timeout"));
        assert_eq!(nearest("idletimeout", &NAMES), Some("idle_timeout"));
        assert_eq!(nearest("ttile", &NAMES), Some("title"));
        assert_eq!(nearest("approval", &NAMES), None);
    }

    #[test]
    fn lists_everything_when_nothing_is_close() {
        assert_eq!(suggestion("x", &["ab", "cd"]), "write one of `ab`, `cd`");
        assert_eq!(suggestion("ac", &["ab", "xy"]), "did you mean `ab`?");
    }
}
