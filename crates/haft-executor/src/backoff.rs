//! The waits between attempts, of calls and of requests to models.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::time::Duration;

use haft_core::CallId;

/// Waits between attempts that grow by a factor, up to a cap, spread by jitter.
///
/// Jitter keeps many callers that failed together from retrying together. It is derived from the call's id, the attempt
/// and a seed, so a given seed always results in the same waits.
///
/// ```
/// use std::time::Duration;
///
/// use haft_executor::Backoff;
/// use haft_core::CallId;
///
/// let backoff = Backoff::exponential(Duration::from_millis(50)).factor(3.0).cap(Duration::from_millis(200)).jitter(0.0);
/// let call = CallId::from("c1");
/// let waits = [1, 2, 3].map(|attempts| backoff.wait(attempts, &call, None).as_millis());
/// assert_eq!(waits, [50, 150, 200]);
/// ```
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    factor: f64,
    cap: Duration,
    jitter: f64,
    seed: JitterSeed,
}

/// The seed of the jitter.
#[derive(Clone, Copy, Debug)]
enum JitterSeed {
    /// A seed that nobody chose.
    Random(u64),
    /// The seed that was set.
    Set(u64),
}

impl Backoff {
    /// Creates waits that double, from this one up to thirty seconds, with up to half of each taken off at random.
    #[must_use]
    pub fn exponential(first: Duration) -> Self {
        let seed = JitterSeed::random();
        Self { first, factor: 2.0, cap: Duration::from_secs(30), jitter: 0.5, seed }
    }

    /// Creates equal waits, without jitter.
    #[must_use]
    pub fn constant(wait: Duration) -> Self {
        Self::exponential(wait).factor(1.0).cap(wait).jitter(0.0)
    }

    /// Sets the factor by which each wait is longer than the one before; at least 1.
    #[must_use]
    pub fn factor(mut self, factor: f64) -> Self {
        self.factor = factor.max(1.0);
        self
    }

    /// Sets the longest wait of the schedule. A failure that asks for a longer one gets it.
    #[must_use]
    pub fn cap(mut self, cap: Duration) -> Self {
        self.cap = cap;
        self
    }

    /// Sets the largest part of a wait that is taken off at random: 0 for none, 1 for up to the whole. A wait that the
    /// failure asks for is made longer instead.
    #[must_use]
    pub fn jitter(mut self, part: f64) -> Self {
        self.jitter = if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) };
        self
    }

    /// Sets the seed of the jitter. By default every backoff has another, random one.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = JitterSeed::Set(seed);
        self
    }

    /// Draws another random seed, so that two users of one setting do not wait alike. A seed that was
    /// [set](Self::seed) stays.
    #[must_use]
    pub fn reseeded(mut self) -> Self {
        if let JitterSeed::Random(_) = self.seed {
            self.seed = JitterSeed::random();
        }
        self
    }

    /// Returns the wait after this many attempts of the call, where its failure asked for at least `asked`.
    #[must_use]
    pub fn wait(&self, attempts: u32, call: &CallId, asked: Option<Duration>) -> Duration {
        let planned = self.planned(attempts);
        let spread = planned.mul_f64(self.jitter * self.chance(attempts, call));
        let shortened = planned.saturating_sub(spread);
        match asked {
            Some(asked) if asked > shortened => asked.saturating_add(spread),
            _ => shortened,
        }
    }

    /// Returns the wait without jitter.
    fn planned(&self, attempts: u32) -> Duration {
        if self.first.is_zero() {
            // Growth may be infinite, and nothing times that is not a number.
            return Duration::ZERO;
        }
        let growth = self.factor.powf(f64::from(attempts.saturating_sub(1)));
        let seconds = self.first.as_secs_f64() * growth;
        Duration::try_from_secs_f64(seconds).map_or(self.cap, |wait| wait.min(self.cap))
    }

    /// Returns a number from 0 up to 1, without 1.
    fn chance(&self, attempts: u32, call: &CallId) -> f64 {
        let mut hasher = DefaultHasher::new();
        let (JitterSeed::Random(seed) | JitterSeed::Set(seed)) = self.seed;
        (seed, attempts, call).hash(&mut hasher);
        let drawn = u32::try_from(hasher.finish() >> 32).unwrap_or(u32::MAX);
        f64::from(drawn) / (f64::from(u32::MAX) + 1.0)
    }
}

impl JitterSeed {
    fn random() -> Self {
        Self::Random(RandomState::new().hash_one(0))
    }
}

/// Waits of 0.2 seconds, 0.4, 0.8 and so on, up to thirty seconds, with up to half of each taken off at random.
impl Default for Backoff {
    fn default() -> Self {
        Self::exponential(Duration::from_millis(200))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(backoff: &Backoff, attempts: u32) -> Vec<u128> {
        let call = CallId::from("c1");
        (1..=attempts).map(|attempt| backoff.wait(attempt, &call, None).as_millis()).collect()
    }

    #[test]
    fn waits_grow_by_the_factor_up_to_the_cap() {
        let doubling = Backoff::exponential(Duration::from_millis(100)).jitter(0.0).cap(Duration::from_millis(500));
        let table = [
            (doubling.clone(), vec![100, 200, 400, 500, 500]),
            (doubling.clone().factor(3.0), vec![100, 300, 500, 500]),
            (doubling.clone().factor(0.1), vec![100, 100, 100]),
            (doubling.clone().factor(f64::NAN), vec![100, 100, 100]),
            (doubling.factor(f64::INFINITY), vec![100, 500, 500]),
            (Backoff::constant(Duration::from_secs(90)), vec![90_000, 90_000]),
            (Backoff::exponential(Duration::ZERO), vec![0, 0]),
            (Backoff::exponential(Duration::ZERO).factor(f64::INFINITY), vec![0, 0, 0]),
        ];
        for (backoff, expected) in table {
            let attempts = u32::try_from(expected.len()).unwrap();
            assert_eq!(waits(&backoff, attempts), expected, "{backoff:?}");
        }
        let late = Backoff::exponential(Duration::from_secs(1)).jitter(0.0);
        assert_eq!(late.wait(u32::MAX, &CallId::from("c1"), None), Duration::from_secs(30));
        let never = Backoff::exponential(Duration::ZERO);
        assert_eq!(never.wait(u32::MAX, &CallId::from("c1"), None), Duration::ZERO);
    }

    #[test]
    fn jitter_takes_off_no_more_than_its_part_and_differs_by_call_and_attempt() {
        let second = Duration::from_secs(1);
        let backoff = Backoff::exponential(second).factor(1.0).jitter(0.25).seed(7);
        let drawn: Vec<Duration> = (0..64)
            .flat_map(|call| [1, 2].map(|attempt| backoff.wait(attempt, &format!("c{call}").into(), None)))
            .collect();
        assert!(drawn.iter().all(|wait| (Duration::from_millis(750)..=second).contains(wait)), "{drawn:?}");
        let different: std::collections::HashSet<_> = drawn.iter().collect();
        assert!(different.len() > 120, "only {} different waits", different.len());
        assert_eq!(backoff.wait(1, &"c9".into(), None), backoff.clone().wait(1, &"c9".into(), None));
        assert_ne!(backoff.wait(1, &"c9".into(), None), backoff.clone().seed(8).wait(1, &"c9".into(), None));
    }

    #[test]
    fn a_random_seed_is_drawn_again_and_one_that_was_set_stays() {
        let wait = |backoff: &Backoff| backoff.wait(1, &"c1".into(), None);
        let random = Backoff::exponential(Duration::from_secs(1));
        let drawn: std::collections::HashSet<_> = (0..20).map(|_| wait(&random.clone().reseeded())).collect();
        assert!(drawn.len() > 15, "only {} different waits", drawn.len());
        let set = random.seed(7);
        assert_eq!(wait(&set.clone().reseeded()), wait(&set));
    }

    #[test]
    fn what_the_failure_asks_for_is_the_least_even_beyond_the_cap() {
        let backoff = Backoff::exponential(Duration::from_secs(1)).cap(Duration::from_secs(2)).jitter(1.0).seed(1);
        for asked in [0, 1, 5, 3600].map(Duration::from_secs) {
            for attempt in 1..20 {
                assert!(backoff.wait(attempt, &"c1".into(), Some(asked)) >= asked);
            }
        }
        let plain = backoff.jitter(0.0);
        assert_eq!(plain.wait(1, &"c1".into(), Some(Duration::from_secs(5))), Duration::from_secs(5));
        assert_eq!(plain.wait(1, &"c1".into(), Some(Duration::from_millis(5))), Duration::from_secs(1));
        assert_eq!(plain.wait(1, &"c1".into(), Some(Duration::MAX)), Duration::MAX);
    }
}
