//! What went wrong underneath a failure, for the operator's log.
//!
//! Nothing of this may reach a model: a cause holds addresses, queries and whatever else a user's error says.

use std::error::Error;

use crate::executor::isolated;
use crate::failure::ToolFailure;

/// How far down a chain is followed: an error may name itself as its source.
const DEEPEST: usize = 32;

/// Writes the causes of a failure, down to the root, in one line. In place of an error that panics when it is written
/// stands the panic.
pub(crate) fn cause_chain(failure: &ToolFailure) -> Option<String> {
    let causes = std::iter::successors(failure.source(), |&error| isolated(|| error.source()).unwrap_or_default());
    let chain: Vec<String> = causes.take(DEEPEST).map(written).collect();
    (!chain.is_empty()).then(|| chain.join(": "))
}

fn written(error: &dyn Error) -> String {
    isolated(|| error.to_string()).unwrap_or_else(|panicked| panicked.to_string())
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;
    use crate::failure_kind::FailureKind;

    /// An error that is its own source.
    #[derive(Debug)]
    struct Round;

    impl fmt::Display for Round {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("round")
        }
    }

    impl Error for Round {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(self)
        }
    }

    fn failure() -> ToolFailure {
        ToolFailure::new(FailureKind::ExecutionError, "for the model")
    }

    #[test]
    fn a_chain_is_told_to_its_root_and_without_the_failure_itself() {
        assert_eq!(cause_chain(&failure()), None);
        let root = ToolFailure::new("root", "disk full");
        assert_eq!(cause_chain(&failure().cause(root.clone())).unwrap(), "root: disk full");
        let middle = ToolFailure::new("middle", "no write").cause(root);
        assert_eq!(cause_chain(&failure().cause(middle)).unwrap(), "middle: no write: root: disk full");
    }

    #[test]
    fn a_chain_without_an_end_is_cut_off() {
        assert_eq!(cause_chain(&failure().cause(Round)).unwrap(), vec!["round"; DEEPEST].join(": "));
    }
}
