//! The causes of a failure, for the log of the operator.
//!
//! A cause must never reach a model: it may contain addresses, queries and anything else that errors of user code
//! contain.

use std::error::Error;

use crate::executor::isolated;
use crate::failure::ToolFailure;
use crate::issue::{Issues, TypeError};

/// The maximum number of causes that are followed: an error may be its own source.
const DEEPEST: usize = 32;

/// Writes the causes of a failure on one line, down to the root. Of causes that quote arguments or results only the
/// kind is written, because content is logged only on request. An error that panics when it is formatted is replaced by
/// the panic message.
pub(crate) fn cause_chain(failure: &ToolFailure) -> Option<String> {
    let causes = std::iter::successors(failure.source(), |&error| isolated(|| error.source()).unwrap_or_default());
    let chain: Vec<String> = causes.take(DEEPEST).map(without_content).collect();
    (!chain.is_empty()).then(|| chain.join(": "))
}

fn without_content(cause: &(dyn Error + 'static)) -> String {
    match cause {
        cause if cause.is::<Issues>() => "the value violates its schema".to_owned(),
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
    fn the_chain_is_written_to_its_root_without_the_failure_itself() {
        assert_eq!(cause_chain(&failure()), None);
        let root = ToolFailure::new("root", "disk full");
        assert_eq!(cause_chain(&failure().cause(root.clone())).unwrap(), "root: disk full");
        let middle = ToolFailure::new("middle", "no write").cause(root);
        assert_eq!(cause_chain(&failure().cause(middle)).unwrap(), "middle: no write: root: disk full");
    }

    #[test]
    fn values_are_not_written() {
        let rejected = TypeError(serde::de::Error::custom("no city called Atlantis"));
        assert_eq!(cause_chain(&failure().cause(rejected)).unwrap(), "the value is rejected by its type");
        let issues = Issues::from(Issue::new("", "type", "must be a string, not 7"));
        assert_eq!(cause_chain(&failure().cause(issues)).unwrap(), "the value violates its schema");
    }

    #[test]
    fn an_endless_chain_is_cut() {
        assert_eq!(cause_chain(&failure().cause(Round)).unwrap(), vec!["round"; DEEPEST].join(": "));
    }
}
