//! What went wrong underneath a failure, for the operator's log.
//!
//! Nothing of this may reach a model: a cause holds addresses, queries and whatever else a user's error says.

use std::error::Error;

use crate::executor::isolated;
use crate::failure::ToolFailure;
use crate::issue::{Issues, TypeError};

/// How far down a chain is followed: an error may name itself as its source.
const DEEPEST: usize = 32;

/// Writes the causes of a failure, down to the root, in one line. Causes that quote arguments or results are only named:
/// content is logged by those who were asked for it. In place of an error that panics when it is written stands the panic.
pub(crate) fn cause_chain(failure: &ToolFailure) -> Option<String> {
    let causes = std::iter::successors(failure.source(), |&error| isolated(|| error.source()).unwrap_or_default());
    let chain: Vec<String> = causes.take(DEEPEST).map(without_content).collect();
    (!chain.is_empty()).then(|| chain.join(": "))
}

fn without_content(cause: &(dyn Error + 'static)) -> String {
    match cause {
        cause if cause.is::<Issues>() => "the value breaks its schema".to_owned(),
        cause if cause.is::<TypeError>() => "the value is rejected by its type".to_owned(),
        cause => isolated(|| cause.to_string()).unwrap_or_else(|panicked| panicked.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;
    use crate::failure_kind::FailureKind;
    use crate::issue::Issue;

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
    fn values_are_not_told() {
        let rejected = TypeError(serde::de::Error::custom("no city called Atlantis"));
        assert_eq!(cause_chain(&failure().cause(rejected)).unwrap(), "the value is rejected by its type");
        let issues = Issues::from(Issue::new("", "type", "must be a string, not 7"));
        assert_eq!(cause_chain(&failure().cause(issues)).unwrap(), "the value breaks its schema");
    }

    #[test]
    fn a_chain_without_an_end_is_cut_off() {
        assert_eq!(cause_chain(&failure().cause(Round)).unwrap(), vec!["round"; DEEPEST].join(": "));
    }
}
