//! Suggestions of similar names, for a name that does not exist.
//!
//! The distance is that of `strsim`: insertions, deletions, replacements and swaps of neighbours, over the letters and
//! digits of both names in lower case. An unknown name is compared with every existing one, and both may come from a
//! model, so three bounds surround the measurement: names longer than [`LONGEST`] are never compared; candidates whose
//! letters differ too much are ruled out by counting letters, which is linear and allocates nothing; and what is left
//! is measured until [`MOST_CELLS`] are spent, as each measurement costs the product of both lengths.

use strsim::osa_distance;

/// The most names that are suggested.
pub const SUGGESTED: usize = 3;

/// Returns the names closest to `name` among `candidates`, best first and three at most; none if no name is close.
///
/// ```
/// assert_eq!(haft_schema::nearest("serach", ["search", "fetch"].into_iter()), ["search"]);
/// ```
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near = ranked(name, candidates.map(|candidate| (candidate, candidate)));
    near.truncate(SUGGESTED);
    near
}

/// Returns everything whose name is close to `name`, best first.
pub fn ranked<'a, T>(name: &str, candidates: impl Iterator<Item = (&'a str, T)>) -> Vec<T> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let unknown = UnknownName::new(name);
    let mut measure = Measure { buffer: String::new(), cells: MOST_CELLS };
    let near = candidates.filter_map(|(candidate, it)| Some((unknown.distance(candidate, &mut measure)?, it)));
    let mut close: Vec<(usize, T)> = near.collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().map(|(_, it)| it).collect()
}

/// The longest name that is compared, in bytes.
const LONGEST: usize = 200;

/// The cells of distance tables that one search may fill: enough for some 7,000 names of twelve letters.
const MOST_CELLS: usize = 1_000_000;

/// The number of kinds of letters that are distinguished when letters are counted.
const KINDS: usize = 39;

/// The means of measuring distances within one search.
struct Measure {
    buffer: String,
    /// The cells that may still be filled.
    cells: usize,
}

/// A name that does not exist, prepared for the comparison with many candidates.
struct UnknownName {
    /// The letters and digits of the name, in lower case.
    letters: String,
    /// The number of `letters`.
    length: usize,
    /// The number of letters of each kind.
    counts: [u8; KINDS],
    /// The largest distance that counts as close.
    most: usize,
}

impl UnknownName {
    fn new(name: &str) -> Self {
        let letters: String = letters(name).collect();
        let (mut counts, mut length) = ([0; KINDS], 0);
        for letter in letters.chars() {
            counts[kind(letter)] += 1;
            length += 1;
        }
        Self { letters, length, counts, most: (name.chars().count() / 3).max(1) }
    }

    /// Returns the distance to a candidate, if it is close.
    fn distance(&self, name: &str, measure: &mut Measure) -> Option<usize> {
        // A name has no more letters than bytes.
        if name.len() > LONGEST || name.len() + self.most < self.length {
            None
        } else if name.is_ascii() {
            let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
            self.distance_to_letters(letters.map(|letter| char::from(letter.to_ascii_lowercase())), measure)
        } else {
            self.distance_to_letters(letters(name), measure)
        }
    }

    /// Returns the distance to a name of these letters, if it is close. Each letter that only one of the names has
    /// counts as at least one edit, so most names are ruled out without measuring.
    fn distance_to_letters(&self, letters: impl Iterator<Item = char> + Clone, measure: &mut Measure) -> Option<usize> {
        let (mut unmatched, mut length, mut extra) = (self.counts, 0, 0);
        for letter in letters.clone() {
            length += 1;
            let same = &mut unmatched[kind(letter)];
            match same.checked_sub(1) {
                Some(left) => *same = left,
                None if extra == self.most => return None,
                None => extra += 1,
            }
        }
        if self.length + extra - length > self.most {
            return None;
        }
        measure.cells = measure.cells.checked_sub(self.length * length)?;
        measure.buffer.clear();
        measure.buffer.extend(letters);
        let distance = osa_distance(&self.letters, &measure.buffer);
        // No name is close to one that shares no letter with it.
        Some(distance).filter(|distance| *distance <= self.most && *distance < length.max(self.length))
    }
}

/// Returns the letters and digits of a name, in lower case.
fn letters(name: &str) -> impl Iterator<Item = char> + Clone {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Returns the kind of a letter. The ASCII letters and digits are all of different kinds, because no two of them are
/// equal modulo 39.
fn kind(letter: char) -> usize {
    letter as usize % KINDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_misspelled_names() {
        let names = ["city", "units", "days", "start_date"];
        let found = |name| nearest(name, names.into_iter());
        assert_eq!(found("citty"), ["city"]);
        assert_eq!(found("ctiy"), ["city"]);
        assert_eq!(found("Days"), ["days"]);
        assert_eq!(found("startDate"), ["start_date"]);
        assert!(found("temperature").is_empty());
        assert!(found("x").is_empty());
        assert!(found("").is_empty());
        assert!(found("__").is_empty());
        assert!(nearest("k", ["a"].into_iter()).is_empty());
        assert!(nearest("ab", ["", "_", "__", "x__"].into_iter()).is_empty());
    }

    #[test]
    fn no_name_is_close_to_one_beyond_the_length_limit() {
        assert!(nearest(&"search".repeat(100_000), ["search", &"search".repeat(100_000)].into_iter()).is_empty());
    }

    #[test]
    fn a_search_measures_no_more_than_its_cells_allow() {
        let (ones, twos) = ("a".repeat(100), "b".repeat(100));
        let (name, anagram, close) =
            (format!("{ones}{twos}"), format!("{twos}{ones}"), format!("{ones}x{}", &twos[1..]));
        let found = |anagrams| {
            let before = std::iter::repeat_n(anagram.as_str(), anagrams);
            nearest(&name, before.chain([close.as_str()]))
        };
        let affordable = MOST_CELLS / (name.len() * name.len());
        assert_eq!(found(affordable - 1), [close.as_str()]);
        assert!(found(affordable).is_empty());
    }

    #[test]
    fn returns_the_closest_first() {
        assert_eq!(nearest("search", ["searches", "search_", "sea"].into_iter()), ["search_", "searches"]);
    }

    #[test]
    fn names_need_not_be_ascii() {
        let names = ["größe", "città", "İstanbul"];
        assert_eq!(nearest("grösse", names.into_iter()), ["größe"]);
        assert_eq!(nearest("GRÖẞE", names.into_iter()), ["größe"]);
        assert_eq!(nearest("citàt", names.into_iter()), ["città"]);
        assert_eq!(nearest("istanbul", names.into_iter()), ["İstanbul"]);
    }

    #[test]
    fn every_ascii_letter_and_digit_has_its_own_kind() {
        let mut kinds: Vec<_> = ('a'..='z').chain('0'..='9').map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 36);
    }

    /// Returns pseudo-random words of about this many letters. Every other one is the previous word with some letters
    /// moved.
    fn words(length: usize, count: usize) -> Vec<String> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut below = move |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut words = Vec::new();
        while words.len() < count {
            let letters = length - length / 4 + below(length / 2 + 1);
            let mut word: Vec<char> = (0..letters).map(|_| ['a', 'b', 'c', 'd', 'ж'][below(5)]).collect();
            words.push(word.iter().collect());
            for _ in 0..below(length / 6 + 2) {
                let letter = word.remove(below(word.len()));
                word.insert(below(word.len() + 1), letter);
            }
            words.push(word.into_iter().collect());
        }
        words
    }

    /// Nothing that is close is ruled out before it is measured.
    #[test]
    fn close_names_are_never_ruled_out() {
        for length in [4, 9, 30, 64, 128] {
            let words = words(length, 24);
            let mut near = 0;
            for name in &words {
                let unknown = UnknownName::new(name);
                for other in &words {
                    let steps = osa_distance(name, other);
                    let is_near = steps <= unknown.most && steps < name.chars().count().max(other.chars().count());
                    let mut measure = Measure { buffer: String::new(), cells: MOST_CELLS };
                    let distance = unknown.distance(other, &mut measure);
                    assert_eq!(distance, is_near.then_some(steps), "{name} {other}");
                    near += usize::from(is_near);
                }
            }
            assert!(
                near > words.len() && near < words.len() * words.len(),
                "some names are close to others, but not all"
            );
        }
    }
}
