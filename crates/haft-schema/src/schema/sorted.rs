//! An index of names that are stored elsewhere.

use std::cmp::Ordering;

/// The indices of names in a list, sorted by name. It takes four bytes per name, and no choice of names makes a search
/// slow.
#[derive(Debug, Default)]
pub(super) struct Sorted(Box<[u32]>);

impl Sorted {
    /// Sorts the indices from 0 up to `count`. A list has fewer than 2^32 names.
    pub(super) fn new<'a>(count: usize, name: impl Fn(usize) -> &'a str) -> Self {
        let mut places: Box<[u32]> = (0..u32::try_from(count).unwrap_or(u32::MAX)).collect();
        places.sort_unstable_by(|a, b| compare(name(*a as usize), name(*b as usize)));
        Self(places)
    }

    /// Returns the index of a name.
    pub(super) fn find<'a>(&self, sought: &str, name: impl Fn(usize) -> &'a str) -> Option<usize> {
        let found = self.0.binary_search_by(|at| compare(name(*at as usize), sought)).ok()?;
        Some(self.0[found] as usize)
    }
}

/// Compares lengths first: most names differ in length, and need no comparison of bytes.
fn compare(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::Sorted;

    #[test]
    fn every_name_is_found_at_its_index_and_no_other_name_is() {
        let names: Vec<String> = (0..500).map(|n| format!("{:x}", n * 7_919)).collect();
        let sorted = Sorted::new(names.len(), |at| &names[at]);
        for (at, name) in names.iter().enumerate() {
            assert_eq!(sorted.find(name, |at| &names[at]), Some(at));
            assert_eq!(sorted.find(&format!("{name}-"), |at| &names[at]), None);
        }
        assert_eq!(Sorted::default().find("a", |_| ""), None);
    }
}
