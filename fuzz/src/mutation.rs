//! Mutations of plain bytes, and the choice among all mutations.

use crate::random::Random;
use crate::token::TOKENS;
use crate::tree;

/// The longest input that is generated. Reading more takes longer and finds no more.
const LONGEST: usize = 64 * 1024;

/// Applies a few mutations on top of each other.
pub(crate) fn mutate(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(4) {
        bytes = once(&bytes, other, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn once(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    // Half of the inputs stay JSON: those reach the code behind the parser.
    if random.one_in(2)
        && let Some(bytes) = tree::mutate(input, other, random)
    {
        return bytes;
    }
    let mut bytes = input.to_vec();
    match random.below(7) {
        0 => flip(&mut bytes, random),
        1 => insert(&mut bytes, &[random.byte()], random),
        2 => {
            let token = random.choose(TOKENS).copied().unwrap_or_default();
            insert(&mut bytes, token.as_bytes(), random);
        }
        3 => cut(&mut bytes, random),
        4 => repeat(&mut bytes, random),
        5 => nest(&mut bytes, random),
        _ => bytes = splice(input, other, random),
    }
    bytes
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn insert(bytes: &mut Vec<u8>, piece: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, piece.iter().copied());
}

fn cut(bytes: &mut Vec<u8>, random: &mut Random) {
    let (from, to) = range(bytes.len(), random);
    bytes.drain(from..to);
}

fn repeat(bytes: &mut Vec<u8>, random: &mut Random) {
    let (from, to) = range(bytes.len(), random);
    let piece = bytes[from..to].repeat(1 + random.below(3));
    bytes.splice(to..to, piece);
}

/// Adds brackets around a piece, occasionally more of them than any depth limit allows.
fn nest(bytes: &mut Vec<u8>, random: &mut Random) {
    let (from, to) = range(bytes.len(), random);
    let depth = if random.one_in(8) { random.below(LONGEST / 16) } else { 1 + random.below(200) };
    let (open, close): (&[u8], &[u8]) = if random.one_in(2) { (b"[", b"]") } else { (b"{\"a\":", b"}") };
    bytes.splice(to..to, close.repeat(depth));
    bytes.splice(from..from, open.repeat(depth));
}

fn splice(input: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let (head, tail) = (random.below(input.len() + 1), random.below(other.len() + 1));
    [&input[..head], &other[tail..]].concat()
}

/// Returns some range, mostly a short one.
fn range(length: usize, random: &mut Random) -> (usize, usize) {
    let from = random.below(length + 1);
    let longest = if random.one_in(4) { length - from } else { (length - from).min(16) };
    (from, from + random.below(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, mutate};
    use crate::random::Random;

    #[test]
    fn the_same_seed_makes_the_same_inputs() {
        let make = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| mutate(br#"{"a":1}"#, b"[2]", &mut random)).collect::<Vec<_>>()
        };
        assert_eq!(make(5), make(5));
        assert_ne!(make(5), make(6));
    }

    #[test]
    fn nothing_is_too_small_and_nothing_grows_beyond_the_cap() {
        let mut random = Random::new(2);
        let mut bytes = Vec::new();
        for _ in 0..2_000 {
            bytes = mutate(&bytes, b"", &mut random);
            assert!(bytes.len() <= LONGEST);
        }
    }
}
