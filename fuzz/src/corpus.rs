//! The inputs worth mutating: those with a new outcome.

use std::collections::HashSet;

use crate::random::Random;
use crate::target::Outcome;

/// The maximum number of inputs. More would only spread the tries thinner.
const MOST: usize = 4_096;

/// Inputs and their outcomes.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    inputs: Vec<Vec<u8>>,
    outcomes: HashSet<Outcome>,
}

impl Corpus {
    /// Keeps the input if its outcome is new.
    pub(crate) fn offer(&mut self, input: &[u8], outcome: Outcome) {
        if self.inputs.len() < MOST && self.outcomes.insert(outcome) {
            self.inputs.push(input.to_vec());
        }
    }

    /// Returns an input to start from: any, with a preference for the newest.
    pub(crate) fn pick(&self, random: &mut Random) -> &[u8] {
        let newest = self.inputs.len().saturating_sub(16);
        let from = if random.one_in(3) { newest } else { 0 };
        random.choose(&self.inputs[from..]).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of distinct outcomes.
    pub(crate) fn outcomes(&self) -> usize {
        self.outcomes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::Corpus;
    use crate::random::Random;
    use crate::target::Outcome;

    #[test]
    fn only_a_new_outcome_is_kept() {
        let mut corpus = Corpus::default();
        assert_eq!(corpus.pick(&mut Random::new(1)), b"");
        corpus.offer(b"first", Outcome::of(&1));
        corpus.offer(b"again", Outcome::of(&1));
        assert_eq!(corpus.outcomes(), 1);
        assert!((0..20).all(|seed| corpus.pick(&mut Random::new(seed)) == b"first"));
        corpus.offer(b"other", Outcome::of(&2));
        assert!((0..20).any(|seed| corpus.pick(&mut Random::new(seed)) == b"other"));
    }
}
