//! The causes of a failure, for the operator's log.
//!
//! Nothing of this may reach a model: the text of an error contains addresses, queries and other internals.

use std::error::Error;

use haft_schema::Issues;
use haft_schema::internal::TypeError;
use haft_schema::isolation::isolated;

use crate::failure::ToolFailure;

/// The number of causes that are followed: an error may name itself as its source.
const MAX_CAUSES: usize = 32;

impl ToolFailure {
    /// Returns the causes of the failure in one line, down to the root, for the operator's log; `None` if there is none.
    ///
    /// It must never reach a model. Causes that quote arguments or results are only named, as content is logged where that
    /// was asked for. An error that panics when it is formatted is replaced by the panic.
    ///
    /// ```
    /// use haft_core::{FailureKind, ToolFailure};
    ///
    /// let failure = ToolFailure::new(FailureKind::ExecutionError, "the tool failed")
    ///     .cause(std::io::Error::other("429 from 10.0.0.7"));
    /// assert_eq!(failure.cause_chain().as_deref(), Some("429 from 10.0.0.7"));
    /// ```
    #[must_use]
    pub fn cause_chain(&self) -> Option<String> {
        let causes = std::iter::successors(self.source(), |&error| isolated(|| error.source()).unwrap_or_default());
        let mut chain: Vec<String> = Vec::new();
        for cause in causes.take(MAX_CAUSES).map(without_content) {
            // Many errors write their source themselves.
            let is_written = chain.last().is_some_and(|last| last.ends_with(&format!(": {cause}")));
            if !is_written {
                chain.push(cause);
            }
        }
        (!chain.is_empty()).then(|| chain.join(": "))
    }
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

    use haft_schema::Issue;

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
        assert_eq!(failure().cause_chain(), None);
        let root = ToolFailure::new("root", "disk full");
        assert_eq!(failure().cause(root.clone()).cause_chain().unwrap(), "root: disk full");
        let middle = ToolFailure::new("middle", "no write").cause(root);
        assert_eq!(failure().cause(middle).cause_chain().unwrap(), "middle: no write: root: disk full");
    }

    #[test]
    fn values_are_not_written() {
        let rejected = TypeError(serde::de::Error::custom("no city called Atlantis"));
        assert_eq!(failure().cause(rejected).cause_chain().unwrap(), "the value is rejected by its type");
        let issues = Issues::from(Issue::new("", "type", "must be a string, not 7"));
        assert_eq!(failure().cause(issues).cause_chain().unwrap(), "the value violates its schema");
    }

    #[test]
    fn a_chain_without_an_end_is_cut_off() {
        assert_eq!(failure().cause(Round).cause_chain().unwrap(), vec!["round"; MAX_CAUSES].join(": "));
    }
}
