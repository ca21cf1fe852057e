//! The cost of hostile texts, in units of the budget.

use std::hash::{BuildHasher, Hasher};

use super::super::escape::Quoted;
use super::super::member::MemberIndex;
use super::super::{Document, MemberKey, ReadFault, ReadOptions, all_differ, same};
use crate::schema::budget::WorkBudget;

const MB: usize = 1_000_000;
const UNLIMITED: ReadOptions = ReadOptions { max_depth: usize::MAX };
const USUAL: ReadOptions = ReadOptions { max_depth: 128 };

/// Returns the budget of a text without the constant part: 16 units of work and 16 bytes per byte.
fn lean(text: &str) -> WorkBudget {
    let mut budget = WorkBudget::for_input(text.len());
    budget.work(100_000).unwrap();
    budget.memory(1 << 20).unwrap();
    budget
}

/// Reads a text and asserts that it took at most this many bytes per byte and units of work per 16 bytes.
fn read_within(text: &str, memory: usize, work: usize) -> (Document<'_>, WorkBudget) {
    let mut budget = lean(text);
    let document = Document::read(text, USUAL, &mut budget).unwrap();
    let slack = 4_096;
    assert!(budget.memory((16 - memory) * text.len() - slack).is_ok(), "took more memory than {memory} per byte");
    assert!(budget.work((16 * text.len() - work * text.len() / 16 - slack) as u64).is_ok(), "took more work");
    (document, lean(text))
}

#[test]
fn a_megabyte_of_open_brackets_is_rejected() {
    for unit in ["[", r#"{"a":"#, "[[[ ", r#"[{"":"#] {
        let text = unit.repeat(MB / unit.len());
        let mut budget = lean(&text);
        let fault = Document::read(&text, USUAL, &mut budget).unwrap_err();
        let ReadFault::TooDeep { pointer, .. } = fault else { panic!("{fault:?}") };
        assert!(pointer.len() <= 1_024);
        // The memory of a failed read is released.
        assert!(budget.memory(16 * text.len()).is_ok());
        let fault = Document::read(&text, UNLIMITED, &mut WorkBudget::for_input(text.len())).unwrap_err();
        assert!(matches!(fault, ReadFault::Malformed { at } if at == text.len()) || fault == ReadFault::Spent);
    }
}

#[test]
fn deep_values_are_read_and_compared_without_recursion() {
    let depth = 200_000;
    let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let mut budget = WorkBudget::for_input(100 * text.len());
    let document = Document::read(&text, UNLIMITED, &mut budget).unwrap();
    assert_eq!(document.cells.len(), depth);
    assert_eq!(same(document.root(), document.root(), &mut budget), Ok(true));
    let text = format!("[{text},{text}]");
    let document = Document::read(&text, UNLIMITED, &mut budget).unwrap();
    assert_eq!(all_differ(document.root(), &mut budget), Ok(false));
    let last = u32::try_from(document.cells.len()).unwrap() - 1;
    assert!(document.pointer_to(last).len() <= 1_024);
}

#[test]
fn the_memory_of_the_densest_texts_is_bounded() {
    let list = |item: &str| format!("[{}]", vec![item; MB / (item.len() + 1)].join(","));
    read_within(&list("1"), 8, 1);
    read_within(&list("[]"), 6, 1);
    read_within(&list(r#"{"":1}"#), 7, 1);
    read_within(&list("[[[[[[[[1]]]]]]]]"), 8, 1);
    read_within(&list(r#"{"":{"":{"":1}}}"#), 7, 1);
    read_within(&list(r#"{"":{"":{"":1,"":1},"":1}}"#), 7, 2);
    read_within(&list(r#"{"\n":1,"b":1}"#), 8, 5);
    // Every comma in a string could precede a value.
    read_within(&format!("\"{}\"", ",".repeat(MB)), 0, 1);
}

#[test]
fn equal_keys_take_linear_time() {
    for member in [r#""\u0061":1"#, r#""a":1"#, r#""":1"#] {
        let text = format!("{{{}}}", vec![member; MB / member.len()].join(","));
        let (document, _) = read_within(&text, 11, 16);
        assert_eq!(document.root().len(), 1);
        assert_eq!(document.duplicates().len(), 1_000);
    }
}

#[test]
fn long_equal_keys_take_linear_time() {
    let member = format!(r#""{}":1"#, "k".repeat(10_000));
    let text = format!("{{{}}}", vec![member; 100].join(","));
    let (document, _) = read_within(&text, 1, 8);
    assert_eq!(document.duplicates().len(), 99);
}

#[test]
fn many_distinct_keys_take_linear_time() {
    let members: Vec<_> = (0..100_000).map(|at| format!(r#""{at:x}":1"#)).collect();
    let text = format!("{{{}}}", members.join(","));
    let (document, _) = read_within(&text, 7, 12);
    assert_eq!(document.root().len(), 100_000);
    assert_eq!(document.duplicates().len(), 0);
    assert!(document.root().get("ffff").is_some());
    assert!(document.root().get("fffff").is_none());
}

/// A hasher that returns the same hash for every key, as if the seed were known.
struct ConstantHash;

impl BuildHasher for ConstantHash {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self
    }
}

impl Hasher for ConstantHash {
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        0
    }
}

#[test]
fn keys_with_equal_hashes_do_not_take_quadratic_time() {
    let members: Vec<_> = (0..100_000).map(|at| format!(r#""{at:x}":1"#)).collect();
    let text = format!(r#"{{{},"1f":2}}"#, members.join(","));
    let mut document = Document::read(&text, USUAL, &mut lean(&text)).unwrap();
    let mut index = MemberIndex::new(ConstantHash);
    let mut budget = lean(&text);
    // The length was reduced by the duplicate when the document was read.
    document.cells[0].add_one();
    assert!(index.mark_duplicates(&text, &mut document.cells, 0, &mut budget).unwrap());
    index.finish(&mut budget);
    let used = 16 * text.len() - text.len();
    assert!(budget.work(used as u64).is_ok(), "took more than one unit of work per byte");
    let name = |raw| Quoted { raw, is_escaped: false };
    let found = index.find(&text, &document.cells, 0, name("1f")).unwrap();
    assert_eq!(document.instance(found).unwrap().raw(), "2");
    assert!(MemberKey::new(&document, found).is("1f"));
    assert!(index.find(&text, &document.cells, 0, name("1g")).is_none());
}

#[test]
fn unique_items_take_linear_time() {
    let items: Vec<_> = (0..100_000).map(|at| format!(r#"{{"a":[{at}]}}"#)).collect();
    let text = format!("[{}]", items.join(","));
    let (document, mut budget) = read_within(&text, 7, 1);
    assert_eq!(all_differ(document.root(), &mut budget), Ok(true));
    assert!(budget.work(15 * text.len() as u64).is_ok(), "took more than one unit of work per byte");
    // The memory of the list of hashes is released.
    assert!(budget.memory(16 * text.len()).is_ok());
}

#[test]
fn long_numbers_take_linear_time() {
    let digits = "7".repeat(300);
    let items = vec![format!("{digits}.{digits}e-{digits}"); 1_000];
    let text = format!("[{}]", items.join(","));
    let (document, mut budget) = read_within(&text, 1, 1);
    assert_eq!(all_differ(document.root(), &mut budget), Ok(false));
    assert!(!document.has_integral_float());
}

#[test]
fn reading_stops_when_the_budget_is_exhausted() {
    let text = format!("[{}]", vec!["1"; MB / 2].join(","));
    let fault = Document::read(&text, USUAL, &mut WorkBudget::for_input(0)).unwrap_err();
    assert_eq!(fault, ReadFault::Spent);
}
