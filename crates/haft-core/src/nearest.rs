//! Names that were probably meant.

use crate::toolkit::NAMESPACE_SEPARATOR;

/// The names closest to `name` among `candidates`, best first; none when nothing is close.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let most = (name.chars().count() / 3).max(1);
    let name = letters(name);
    let near = |candidate: &str| {
        // Behind a prefix the name itself is what is remembered.
        let bare = candidate.rsplit_once(NAMESPACE_SEPARATOR).map(|(_, bare)| bare);
        [Some(candidate), bare].into_iter().flatten().filter_map(|candidate| distance(&name, candidate, most)).min()
    };
    let mut close: Vec<(usize, &str)> =
        candidates.filter_map(|candidate| Some((near(candidate)?, candidate))).collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// The longest name that is compared, in bytes: it comes from the model, and comparing costs as much as both are long.
const LONGEST: usize = 200;

/// What counts in a name: letters and digits, whatever their case.
fn letters(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many insertions, deletions, replacements or swaps of neighbours lead from one to the other, ignoring case and
/// separators; `None` if more than `most`.
fn distance(a: &[char], b: &str, most: usize) -> Option<usize> {
    if b.len() > LONGEST {
        return None;
    }
    let b = letters(b);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    // Nothing is near a name that shares no letter with it.
    last.last().copied().filter(|distance| *distance <= most && *distance < a.len().max(b.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_that_was_meant() {
        let names = ["city", "units", "days", "start_date"];
        let found = |name| nearest(name, names.into_iter());
        assert_eq!(found("citty"), ["city"]);
        assert_eq!(found("ctiy"), ["city"]);
        assert_eq!(found("Days"), ["days"]);
        assert_eq!(found("startDate"), ["start_date"]);
        assert!(found("temperature").is_empty());
        assert!(found("x").is_empty());
        assert!(nearest("k", ["a"].into_iter()).is_empty());
    }

    #[test]
    fn nothing_is_near_a_name_that_is_no_name() {
        assert!(nearest(&"search".repeat(100_000), ["search", &"search".repeat(100_000)].into_iter()).is_empty());
    }

    #[test]
    fn a_name_without_its_prefix_is_found() {
        let names = ["github__search", "wiki__search", "github__issues"];
        assert_eq!(nearest("search", names.into_iter()), ["github__search", "wiki__search"]);
        assert_eq!(nearest("serach", names.into_iter()), ["github__search", "wiki__search"]);
        assert_eq!(nearest("github__serch", names.into_iter()), ["github__search"]);
    }

    #[test]
    fn gives_the_closest_first() {
        assert_eq!(nearest("search", ["searches", "search_", "sea"].into_iter()), ["search_", "searches"]);
    }
}
