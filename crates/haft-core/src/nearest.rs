//! Names that were probably meant.
//!
//! A name that does not exist is compared with all that do, so comparing must cost next to nothing: what can't be near
//! is ruled out by which letters it has, and only the rest is measured. Nothing is allocated per name.

use crate::toolkit::NAMESPACE_SEPARATOR;

/// How many names are suggested at most.
pub(crate) const SUGGESTED: usize = 3;

/// The names closest to `name` among `candidates`, best first; none when nothing is close.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut near = ranked(name, candidates.map(|candidate| (candidate, candidate)));
    near.truncate(SUGGESTED);
    near
}

/// Everything whose name is close to `name`, best first.
pub(crate) fn ranked<'a, T>(name: &str, candidates: impl Iterator<Item = (&'a str, T)>) -> Vec<T> {
    if name.len() > LONGEST {
        return Vec::new();
    }
    let wanted = PreparedName::new(name);
    let mut rows = Rows::default();
    let near = candidates.filter_map(|(candidate, it)| Some((wanted.distance(candidate, &mut rows)?, it)));
    let mut close: Vec<(usize, T)> = near.collect();
    close.sort_by_key(|(distance, _)| *distance);
    close.into_iter().map(|(_, it)| it).collect()
}

/// The longest name that is compared, in bytes: it comes from the model, and comparing costs as much as both are long.
const LONGEST: usize = 200;

/// One bit for each letter of a name.
type Word = u128;

/// The most letters that are measured all at once.
const WORD: usize = Word::BITS as usize;

/// How many kinds of letters are told apart when letters are counted.
const KINDS: usize = 39;

/// A name that somebody looks for, made ready to be compared with many.
struct PreparedName {
    letters: Vec<char>,
    /// How often it has each kind of letter.
    counts: [u8; KINDS],
    /// The places of each ASCII letter, if it has no more letters than a word has bits.
    places: [Word; 128],
    /// The places of the other letters.
    foreign: Vec<(char, Word)>,
    /// The largest distance that still is near.
    most: usize,
}

/// The rows of a long name's measurement, used again for the next.
#[derive(Default)]
struct Rows {
    letters: Vec<char>,
    before: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl PreparedName {
    fn new(name: &str) -> Self {
        let letters: Vec<char> = letters(name).collect();
        let (mut places, mut foreign) = ([0; 128], Vec::<(char, Word)>::new());
        for (at, &letter) in letters.iter().enumerate().take(WORD) {
            let place = 1 << at;
            match places.get_mut(letter as usize) {
                Some(places) => *places |= place,
                None => match foreign.iter_mut().find(|(other, _)| *other == letter) {
                    Some((_, places)) => *places |= place,
                    None => foreign.push((letter, place)),
                },
            }
        }
        let mut counts = [0; KINDS];
        for letter in &letters {
            counts[kind(*letter)] += 1;
        }
        Self { letters, counts, places, foreign, most: (name.chars().count() / 3).max(1) }
    }

    /// How far a candidate is away, unless it is too far. Behind a prefix the name itself is what is remembered.
    fn distance(&self, candidate: &str, rows: &mut Rows) -> Option<usize> {
        let separator = NAMESPACE_SEPARATOR.as_bytes();
        let prefix = candidate.as_bytes().windows(separator.len()).rposition(|bytes| bytes == separator);
        let bare = prefix.and_then(|at| candidate.get(at + separator.len()..));
        let whole = self.distance_to(candidate, rows);
        bare.and_then(|bare| self.distance_to(bare, rows)).into_iter().chain(whole).min()
    }

    fn distance_to(&self, name: &str, rows: &mut Rows) -> Option<usize> {
        // A name has no more letters than bytes.
        if name.len() > LONGEST || name.len() + self.most < self.letters.len() {
            None
        } else if name.is_ascii() {
            let letters = name.bytes().filter(u8::is_ascii_alphanumeric);
            self.measured(letters.map(|letter| char::from(letter.to_ascii_lowercase())), rows)
        } else {
            self.measured(letters(name), rows)
        }
    }

    /// The distance to a name of these letters, if it is near. Each letter that only one of them has is a step.
    fn measured(&self, letters: impl Iterator<Item = char> + Clone, rows: &mut Rows) -> Option<usize> {
        let (mut unmatched, mut count, mut strange) = (self.counts, 0, 0);
        for letter in letters.clone() {
            count += 1;
            let same = &mut unmatched[kind(letter)];
            match same.checked_sub(1) {
                Some(left) => *same = left,
                None if strange == self.most => return None,
                None => strange += 1,
            }
        }
        if self.letters.len() + strange - count > self.most {
            return None;
        }
        let distance = match self.letters.len() {
            0 => count,
            1..=WORD => self.steps_by_bits(letters, count),
            _ => self.steps_by_rows(letters, rows),
        };
        // Nothing is near a name that shares no letter with it.
        Some(distance).filter(|distance| *distance <= self.most && *distance < count.max(self.letters.len()))
    }

    /// How many insertions, deletions, replacements or swaps of neighbours lead from one to the other; some number that
    /// is not near once it is clear that it won't be.
    ///
    /// A column of the table that [`steps_by_rows`](Self::steps_by_rows) fills is held as the differences between its
    /// neighbouring cells, one bit each for those that go up and those that go down, and moves on by a letter in a few
    /// operations (Hyyrö, "A bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003).
    fn steps_by_bits(&self, letters: impl Iterator<Item = char>, count: usize) -> usize {
        let last: Word = 1 << (self.letters.len() - 1);
        let mut steps = self.letters.len();
        let (mut up, mut down, mut diagonal, mut matches_before): (Word, Word, Word, Word) = (!0, 0, 0, 0);
        for (letter, to_come) in letters.zip((0..count).rev()) {
            let matches = self.places_of(letter);
            let swapped = ((!diagonal & matches) << 1) & matches_before;
            diagonal = ((matches & up).wrapping_add(up) ^ up) | matches | down | swapped;
            let (right, left) = (down | !(diagonal | up), diagonal & up);
            if right & last != 0 {
                steps += 1;
            } else if left & last != 0 {
                steps -= 1;
            }
            // Each letter brings them nearer by one step at most.
            if steps > self.most + to_come {
                break;
            }
            let (right, left) = (right << 1 | 1, left << 1);
            up = left | !(diagonal | right);
            down = right & diagonal;
            matches_before = matches;
        }
        steps
    }

    /// The same for names of any length.
    fn steps_by_rows(&self, letters: impl Iterator<Item = char>, rows: &mut Rows) -> usize {
        let Rows { letters: b, before, last, row } = rows;
        b.clear();
        b.extend(letters);
        before.clear();
        last.clear();
        last.extend(0..=b.len());
        for (i, x) in self.letters.iter().enumerate() {
            row.clear();
            row.push(i + 1);
            for (j, y) in b.iter().enumerate() {
                let mut steps = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
                if i > 0 && j > 0 && *x == b[j - 1] && self.letters[i - 1] == *y {
                    steps = steps.min(before[j - 1] + 1);
                }
                row.push(steps);
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        last.last().copied().unwrap_or_default()
    }

    fn places_of(&self, letter: char) -> Word {
        match self.places.get(letter as usize) {
            Some(places) => *places,
            None => self.foreign.iter().find(|(other, _)| *other == letter).map_or(0, |(_, places)| *places),
        }
    }
}

/// What counts in a name: letters and digits, whatever their case.
fn letters(name: &str) -> impl Iterator<Item = char> + Clone {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The kind of a letter. Those of ASCII, and its digits, are one each: no two of them are the same modulo 39.
fn kind(letter: char) -> usize {
    letter as usize % KINDS
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
        assert!(found("").is_empty());
        assert!(found("__").is_empty());
        assert!(nearest("k", ["a"].into_iter()).is_empty());
        assert!(nearest("ab", ["", "_", "__", "x__"].into_iter()).is_empty());
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
        let too_long_with_its_prefix = format!("{}__search", "p".repeat(LONGEST));
        assert_eq!(nearest("serach", [&*too_long_with_its_prefix].into_iter()), [&*too_long_with_its_prefix]);
    }

    #[test]
    fn gives_the_closest_first() {
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
    fn every_plain_letter_is_a_kind_of_its_own() {
        let mut kinds: Vec<_> = ('a'..='z').chain('0'..='9').map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 36);
    }

    /// Words of about so many letters, from a small generator. Every other one is like the one before, with some letters
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

    /// Both ways of measuring agree, and nothing that is near is ruled out before it is measured.
    #[test]
    fn what_is_ruled_out_is_never_near() {
        for length in [4, 9, 30, 64, 128] {
            let words = words(length, 24);
            let mut near = 0;
            for name in &words {
                let wanted = PreparedName::new(name);
                for other in &words {
                    let rows = &mut Rows::default();
                    let steps = wanted.steps_by_rows(letters(other), rows);
                    if wanted.letters.len() <= WORD {
                        let by_bits = wanted.steps_by_bits(letters(other), letters(other).count());
                        assert!(by_bits == steps || by_bits.min(steps) > wanted.most, "{name} {other}");
                    }
                    let is_near = steps <= wanted.most && steps < name.chars().count().max(other.chars().count());
                    assert_eq!(wanted.distance(other, rows), is_near.then_some(steps), "{name} {other}");
                    near += usize::from(is_near);
                }
            }
            assert!(
                near > words.len() && near < words.len() * words.len(),
                "some are near besides themselves, not all"
            );
        }
    }
}
