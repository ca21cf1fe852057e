//! Unguessable ids.

use super::ApprovalId;
use crate::random::random_bits;

impl ApprovalId {
    /// Creates an id that can't be guessed.
    #[must_use]
    pub fn random() -> Self {
        Self::from(format!("approval_{:032x}", random_bits()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: HashSet<_> = (0..1_000).map(|_| ApprovalId::random()).collect();
        assert_eq!(ids.len(), 1_000);
    }
}
