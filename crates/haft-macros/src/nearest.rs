//! The name that was probably meant.

/// The candidate closest to `name`, if any is close.
pub(crate) fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    let ranked = candidates.iter().map(|candidate| (distance(name, candidate), *candidate));
    ranked.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// "did you mean `x`?" if something is close, else the whole list.
pub(crate) fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("write one of {}", listed(candidates)),
    }
}

/// The names in back quotes, with commas between them.
pub(crate) fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// How many insertions, deletions and replacements lead from one to the other, ignoring case and underscores.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> Vec<char> { text.to_lowercase().chars().filter(|c| *c != '_').collect() };
    let (a, b) = (letters(a), letters(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let cost = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[b.len()]
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
        assert_eq!(nearest("approval", &NAMES), None);
    }

    #[test]
    fn lists_everything_when_nothing_is_close() {
        assert_eq!(suggestion("x", &["ab", "cd"]), "write one of `ab`, `cd`");
        assert_eq!(suggestion("ac", &["ab", "xy"]), "did you mean `ab`?");
    }
}
