//! The guide's page on what haft protects from: each of its promises names a test, and the test exists.

use crate::source::TestIndex;

const PAGE: &str = include_str!("../../../../docs/src/protection.md");

/// The number of promises that the page makes at least.
const PROMISES: usize = 30;

#[test]
fn every_promise_names_a_test_that_exists() {
    let mut index = TestIndex::default();
    let rows: Vec<_> = PAGE.lines().filter_map(promise).collect();
    assert!(rows.len() >= PROMISES, "{} promises", rows.len());
    let mut faults = Vec::new();
    for (promise, tests) in rows {
        if tests.is_empty() {
            faults.push(format!("\"{promise}\" names no test"));
        }
        faults.extend(tests.into_iter().filter_map(|test| index.fault_of_test(test)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Returns the promise of a row of a table, and the tests that its last cell names.
fn promise(line: &str) -> Option<(&str, Vec<&str>)> {
    let (promise, tests) = line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | ")?;
    // The table of authors has three columns.
    if tests.contains(" | ") || promise == "promise" {
        return None;
    }
    let tests = tests.split('`').skip(1).step_by(2).collect();
    Some((promise, tests))
}
