//! The input that runs right now, seen from outside, so that one that never ends is found.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any honest input takes, on a slow and busy machine too.
const PATIENCE: Duration = Duration::from_secs(10);

/// Shared between the engine and whoever waits for it.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Option<(Instant, Vec<u8>)>>);

impl Watch {
    /// An input starts now.
    pub(crate) fn start(&self, input: &[u8]) {
        self.set(Some((Instant::now(), input.to_vec())));
    }

    /// Nothing runs any more.
    pub(crate) fn stop(&self) {
        self.set(None);
    }

    /// The input that has been running for too long.
    pub(crate) fn overdue(&self) -> Option<Vec<u8>> {
        self.overdue_at(Instant::now())
    }

    fn overdue_at(&self, now: Instant) -> Option<Vec<u8>> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let overdue = running.as_ref().filter(|(since, _)| now.saturating_duration_since(*since) >= PATIENCE);
        overdue.map(|(_, input)| input.clone())
    }

    fn set(&self, running: Option<(Instant, Vec<u8>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{PATIENCE, Watch};

    #[test]
    fn only_what_runs_and_runs_long_is_overdue() {
        let watch = Watch::default();
        let before = Instant::now();
        watch.start(b"loop");
        let late = Instant::now() + PATIENCE;
        assert_eq!(watch.overdue_at(before), None);
        assert_eq!(watch.overdue_at(late).as_deref(), Some(b"loop".as_slice()));
        watch.stop();
        assert_eq!(watch.overdue_at(late), None);
    }
}
