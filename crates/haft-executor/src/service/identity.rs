//! The identity of a set of services.
//!
//! A cache must know whether a later call would find the same services. They can't be compared by value, so only clones of
//! one set are the same.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use super::{ServiceEntry, Services};

/// The identity of a set of services, shared by its clones. It keeps no service alive, and no later set has it. See
/// [`Services::identity`].
#[derive(Clone, Default)]
pub struct ServicesIdentity(Vec<Weak<HashMap<TypeId, ServiceEntry>>>);

impl Services {
    /// Returns the identity of this set, by which a cache tells it from other sets.
    ///
    /// ```
    /// use haft_executor::Services;
    ///
    /// let services = Services::new().with(7);
    /// assert_eq!(services.identity(), services.clone().identity());
    /// assert_ne!(services.identity(), Services::new().with(7).identity());
    /// ```
    #[must_use]
    pub fn identity(&self) -> ServicesIdentity {
        let layers = std::iter::successors(Some(self), |services| services.below.as_deref());
        ServicesIdentity(layers.filter_map(|services| services.entries.as_ref()).map(Arc::downgrade).collect())
    }
}

impl PartialEq for ServicesIdentity {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(one, other)| one.ptr_eq(other))
    }
}

impl Eq for ServicesIdentity {}

impl fmt::Debug for ServicesIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Weak::as_ptr)).finish()
    }
}

impl Hash for ServicesIdentity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for layer in &self.0 {
            layer.as_ptr().hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_set_of_services_is_equal() {
        let (one, other) = (Services::new().with(1_u8), Services::new().with(1_u8));
        assert!(one.identity() == one.clone().identity());
        assert!(one.identity() != other.identity());
        assert!(one.identity() != one.clone().with('a').identity());
        assert!(one.clone().over(other.clone()).identity() == one.clone().over(other.clone()).identity());
        assert!(one.clone().over(other.clone()).identity() != other.clone().over(one.clone()).identity());
        assert!(one.clone().over(other.clone()).identity() != one.identity());
        assert!(Services::new().identity() == Services::new().identity());
    }

    #[test]
    fn an_identity_keeps_nothing_alive_and_is_never_reused() {
        let value = Arc::new(());
        let identity = Services::new().with_shared(Arc::clone(&value)).identity();
        assert_eq!(Arc::strong_count(&value), 1);
        let later: Vec<_> = (0..64).map(|_| Services::new().with_shared(Arc::clone(&value))).collect();
        assert!(later.iter().all(|services| services.identity() != identity));
    }
}
