//! The running input, visible to another thread, so that one that never ends is found.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A duration longer than any valid input takes, even on a slow and busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The state shared between the engine and the thread that watches it.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<Option<(Instant, Vec<u8>)>>);

impl Watch {
    /// Records the start of an input.
    pub(crate) fn start(&self, input: &[u8]) {
        self.set(Some((Instant::now(), input.to_vec())));
    }

    /// Records that no input runs.
    pub(crate) fn stop(&self) {
        self.set(None);
    }

    /// Returns the input that has exceeded the time limit.
    pub(crate) fn timed_out(&self) -> Option<Vec<u8>> {
        self.timed_out_at(Instant::now())
    }

    fn timed_out_at(&self, now: Instant) -> Option<Vec<u8>> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let timed_out = running.as_ref().filter(|(since, _)| now.saturating_duration_since(*since) >= TIME_LIMIT);
        timed_out.map(|(_, input)| input.clone())
    }

    fn set(&self, running: Option<(Instant, Vec<u8>)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = running;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{TIME_LIMIT, Watch};

    #[test]
    fn only_an_input_that_runs_too_long_is_reported() {
        let watch = Watch::default();
        let before = Instant::now();
        watch.start(b"loop");
        let late = Instant::now() + TIME_LIMIT;
        assert_eq!(watch.timed_out_at(before), None);
        assert_eq!(watch.timed_out_at(late).as_deref(), Some(b"loop".as_slice()));
        watch.stop();
        assert_eq!(watch.timed_out_at(late), None);
    }
}
