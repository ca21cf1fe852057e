//! Options that add up.
//!
//! A permit, a policy, an observer, an auditor or a cancellation that is given later is added to those given before and
//! never replaces one: the library that hands on a caller's options must not be able to drop the caller's checks by
//! accident.

use std::sync::Arc;

/// The values of an option that may be given several times, in the order in which they were added. Cloning is cheap,
/// and an empty list holds no memory.
#[derive(Clone)]
pub(crate) struct OptionList<T>(Option<Arc<[T]>>);

impl<T> OptionList<T> {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T: Clone> OptionList<T> {
    /// Creates a list of one value.
    pub(crate) fn of(value: T) -> Self {
        Self(Some(Arc::new([value])))
    }

    /// Adds a value behind the others. Other clones of the list keep what they had.
    pub(crate) fn add(&mut self, value: T) {
        self.0 = Some(self.as_slice().iter().cloned().chain([value]).collect());
    }

    /// Adds the values of another list behind the others.
    pub(crate) fn append(&mut self, other: &Self) {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => {}
            (true, false) => *self = other.clone(),
            (false, false) => self.0 = Some(self.as_slice().iter().chain(other.as_slice()).cloned().collect()),
        }
    }
}

impl<T> Default for OptionList<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}
