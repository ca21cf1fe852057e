//! One run of a target on one input, with panics caught.

use std::cell::RefCell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};

use crate::target::{Outcome, Target};

/// The outcome of a trial.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The target kept its promises.
    Passed(Outcome),
    /// It did not.
    Panicked(Panic),
}

/// A panic: its message and its location.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Panic {
    message: String,
    location: String,
}

impl Panic {
    /// Returns whether it is the same fault: the same location, whatever the message.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.location == other.location
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panic at {}: {}", self.location, self.message)
    }
}

thread_local! {
    /// Set while this thread runs a target: the last panic there.
    static TRIAL: RefCell<Option<Panic>> = const { RefCell::new(None) };
}

/// Records the panics of targets instead of printing them; a search may cause thousands. Other panics are printed as
/// usual.
pub(crate) fn keep_panics_quiet() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let recorded = TRIAL.with_borrow_mut(|trial| trial.as_mut().map(|last| *last = Panic::read(info)));
        if recorded.is_none() {
            print(info);
        }
    }));
}

/// Runs the target once.
pub(crate) fn run(target: &Target, input: &[u8]) -> Verdict {
    TRIAL.set(Some(Panic::default()));
    let result = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let panic = TRIAL.take().unwrap_or_default();
    match result {
        Ok(outcome) => Verdict::Passed(outcome),
        Err(_) => Verdict::Panicked(panic),
    }
}

impl Panic {
    fn read(info: &PanicHookInfo<'_>) -> Self {
        let payload = info.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let location = info.location().map(ToString::to_string).unwrap_or_default();
        Self { message: text.unwrap_or("(no message)").to_owned(), location }
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Target, Verdict, keep_panics_quiet, run};

    static MOODY: Target = Target {
        name: "moody",
        seeds: &[],
        run: |input| {
            assert!(input != b"bad", "a bad input of {} bytes", input.len());
            assert!(input != b"worse", "a worse input");
            Outcome::of(input)
        },
    };

    #[test]
    fn a_panic_is_reported_by_its_message_and_identified_by_its_location() {
        keep_panics_quiet();
        let panic_of = |input: &[u8]| match run(&MOODY, input) {
            Verdict::Panicked(panic) => panic,
            Verdict::Passed(outcome) => panic!("passed with {outcome:?}"),
        };
        let (bad, worse) = (panic_of(b"bad"), panic_of(b"worse"));
        assert!(bad.to_string().ends_with("a bad input of 3 bytes"), "{bad}");
        assert!(bad.is_like(&panic_of(b"bad")));
        assert!(!bad.is_like(&worse));
        assert!(matches!(run(&MOODY, b"good"), Verdict::Passed(_)));
    }
}
