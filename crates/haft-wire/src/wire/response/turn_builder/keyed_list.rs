//! A list that finds entries by key in constant time.
//!
//! A provider decides how many parts and calls a response has, and every stream event looks one up. With a linear
//! search, a response with many parts would take quadratic time.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Index, IndexMut};

/// A list with its entries' positions by key. The last entry with a key wins.
#[derive(Debug)]
pub(super) struct KeyedList<K, V> {
    entries: Vec<V>,
    positions: HashMap<K, usize>,
    /// The last entry's key, to which most events belong: comparing it is cheaper than a look-up.
    last: Option<K>,
}

impl<K: Clone + Eq + Hash, V> KeyedList<K, V> {
    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Reports whether there are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds an entry and returns its position. An entry without a key is found only by position.
    pub(super) fn push(&mut self, key: Option<K>, entry: V) -> usize {
        let at = self.entries.len();
        if let Some(key) = &key {
            self.positions.insert(key.clone(), at);
        }
        self.last = key;
        self.entries.push(entry);
        at
    }

    /// Returns the position of the entry with a key.
    pub(super) fn position(&self, key: &K) -> Option<usize> {
        if self.last.as_ref() == Some(key) {
            return self.entries.len().checked_sub(1);
        }
        self.positions.get(key).copied()
    }

    /// Returns the entry with a key.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.position(key).and_then(|at| self.entries.get_mut(at))
    }

    /// Returns the last entry's position, if it has no key.
    pub(super) fn last_without_key(&self) -> Option<usize> {
        if self.last.is_some() { None } else { self.entries.len().checked_sub(1) }
    }

    /// Iterates over the entries, in their order.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, V> {
        self.entries.iter()
    }

    /// Returns the last entry.
    pub(super) fn last_mut(&mut self) -> Option<&mut V> {
        self.entries.last_mut()
    }
}

impl<K, V> Default for KeyedList<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), positions: HashMap::new(), last: None }
    }
}

impl<K, V> Index<usize> for KeyedList<K, V> {
    type Output = V;

    fn index(&self, at: usize) -> &V {
        &self.entries[at]
    }
}

impl<K, V> IndexMut<usize> for KeyedList<K, V> {
    fn index_mut(&mut self, at: usize) -> &mut V {
        &mut self.entries[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_entry_with_a_key_is_found() {
        let mut list = KeyedList::<u64, &str>::default();
        assert_eq!((list.position(&1), list.last_without_key()), (None, None));
        assert_eq!(list.push(Some(1), "a"), 0);
        assert_eq!((list.position(&1), list.last_without_key()), (Some(0), None));
        assert_eq!(list.push(None, "b"), 1);
        assert_eq!((list.position(&1), list.last_without_key()), (Some(0), Some(1)));
        assert_eq!(list.push(Some(1), "c"), 2);
        assert_eq!(list.push(Some(2), "d"), 3);
        assert_eq!((list.get_mut(&1).copied(), list.get_mut(&2).copied()), (Some("c"), Some("d")));
    }
}
