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

/// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other, ignoring case and
/// underscores.
fn distance(a: &str, b: &str) -> usize {
    let letters = |text: &str| -> Vec<char> { text.to_lowercase().chars().filter(|c| *c != '_').collect() };
    let (a, b) = (letters(a), letters(b));
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if is_swap { rows[i - 2][j - 2] + 1 } else { replaced };
                replaced.min(swapped).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
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
