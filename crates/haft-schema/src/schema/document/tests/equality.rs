//! Equality, hashes and uniqueness against a plain reference.

use proptest::prelude::*;

use super::super::super::decimal::Decimal;
use super::super::{Fingerprints, all_differ, same};
use super::{ReferenceTree, document, json, oracle, read};
use crate::schema::budget::{BudgetSpent, WorkBudget};
use crate::seeded::for_all;

fn budget() -> WorkBudget {
    WorkBudget::for_input(1_000_000)
}

fn reference(a: &ReferenceTree, b: &ReferenceTree) -> bool {
    match (a, b) {
        (ReferenceTree::Number(a), ReferenceTree::Number(b)) => Decimal::parse(a) == Decimal::parse(b),
        (ReferenceTree::Array(a), ReferenceTree::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| reference(a, b))
        }
        (ReferenceTree::Object(a), ReferenceTree::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| reference(a, b)))
        }
        (a, b) => a == b,
    }
}

/// Asserts that `same` and the hashes agree with the reference.
fn agrees(a: &str, b: &str) -> bool {
    let expected = reference(&oracle(a).unwrap(), &oracle(b).unwrap());
    let (a, b) = (document(a), document(b));
    assert_eq!(same(a.root(), b.root(), &mut budget()), Ok(expected), "{a:?} {b:?}");
    assert_eq!(same(b.root(), a.root(), &mut budget()), Ok(expected));
    let fingerprints = Fingerprints::new();
    let hash = |document: &super::super::Document<'_>| fingerprints.of(document.root(), &mut budget()).unwrap();
    assert_eq!(hash(&a) == hash(&b), expected, "{a:?} {b:?}");
    expected
}

/// Writes a value differently: members reversed, characters escaped, numbers scaled, whitespace added.
fn rewrite(value: &ReferenceTree) -> String {
    let string = |text: &str| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    match value {
        ReferenceTree::Number(number) => {
            let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
            let point = if mantissa.contains('.') { "" } else { "." };
            format!("{mantissa}{point}00e{exponent}")
        }
        ReferenceTree::String(text) => string(text),
        ReferenceTree::Array(items) => format!("[ {} ]", items.iter().map(rewrite).collect::<Vec<_>>().join(" , ")),
        ReferenceTree::Object(members) => {
            let members = members.iter().rev().map(|(key, value)| format!("{} : {}", string(key), rewrite(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(" , "))
        }
        ReferenceTree::Null => "null".to_owned(),
        ReferenceTree::Boolean(value) => value.to_string(),
    }
}

#[test]
fn a_value_equals_its_other_notations() {
    for_all(500, json(), |text| {
        if read(&text).is_ok() {
            prop_assert!(agrees(&text, &rewrite(&oracle(&text).unwrap())));
        }
        Ok(())
    });
}

#[test]
fn equality_agrees_with_the_reference() {
    for_all(500, (json(), json()), |(a, b)| {
        if read(&a).is_ok() && read(&b).is_ok() {
            agrees(&a, &b);
            agrees(&format!("[{a},{b}]"), &format!("[{b},{a}]"));
            agrees(&format!(r#"{{"a":{a},"b":{b}}}"#), &format!(r#"{{"b":{b},"a":{a}}}"#));
            agrees(&format!(r#"{{"a":{a},"b":{b}}}"#), &format!(r#"{{"b":{a},"a":{b}}}"#));
        }
        Ok(())
    });
}

#[test]
fn items_differ_if_no_pair_is_equal() {
    for_all(500, prop::collection::vec(json(), 0..6), |items| {
        let text = format!("[{}]", items.join(","));
        if let Ok(document) = read(&text) {
            let values: Vec<_> = items.iter().map(|item| oracle(item).unwrap()).collect();
            let expected =
                (0..values.len()).all(|at| values[..at].iter().all(|earlier| !reference(earlier, &values[at])));
            prop_assert_eq!(all_differ(document.root(), &mut budget()), Ok(expected));
        }
        Ok(())
    });
}

#[test]
fn numbers_are_equal_by_value_and_strings_by_characters() {
    for (a, b) in [("1", "1.0"), ("1", "10e-1"), ("0", "-0.0"), (r#""a""#, r#""\u0061""#), ("[]", "[ ]")] {
        assert!(agrees(a, b), "{a} {b}");
    }
    for (a, b) in [("1", "true"), ("0", "false"), ("null", "0"), ("1", r#""1""#), ("[]", "{}"), ("[1]", "[1,1]")] {
        assert!(!agrees(a, b), "{a} {b}");
    }
    assert!(!agrees("9007199254740993", "9007199254740992"));
    assert!(!agrees(r#"{"a":1,"b":2}"#, r#"{"a":1,"c":2}"#));
    assert!(agrees(r#"{"a":0,"a":1}"#, r#"{"a":1}"#));
    assert!(agrees("1e-400", "10e-401") && !agrees("1e-400", "0"));
}

#[test]
fn large_objects_are_equal_in_any_order() {
    let members: Vec<_> = (0..5_000).map(|at| format!(r#""k{at}":[{at}]"#)).collect();
    let forward = format!("{{{}}}", members.join(","));
    let backward = format!("{{{}}}", members.iter().rev().cloned().collect::<Vec<_>>().join(","));
    assert!(agrees(&forward, &backward));
    assert!(!agrees(&forward, &backward.replace("[77]", "[78]")));
    assert!(!agrees(&forward, &backward.replace("\"k77\"", "\"k77x\"")));
}

#[test]
fn all_differ_agrees_with_pairwise_comparison() {
    let differ = |text: &str| all_differ(document(text).root(), &mut budget()).unwrap();
    assert!(differ("[]") && differ("[1]") && differ("1") && differ("{}"));
    assert!(differ(r#"[1,true,"1",[1],{"a":1},null,0,false,"",[],{}]"#));
    assert!(!differ(r#"[{"a":1,"b":[1.0]},{"b":[1],"a":1e0}]"#));
    let items: Vec<_> = (0..50_000).map(|at| at.to_string()).collect();
    assert!(differ(&format!("[{}]", items.join(","))));
    assert!(!differ(&format!("[{},49999.0]", items.join(","))));
}

#[test]
fn comparisons_stop_when_the_budget_is_exhausted() {
    let text = format!("[{}]", vec!["[1]"; 1_000].join(","));
    let document = document(&text);
    let mut budget = WorkBudget::for_input(0);
    budget.work(99_000).unwrap();
    assert_eq!(same(document.root(), document.root(), &mut budget), Err(BudgetSpent));
    let mut budget = WorkBudget::for_input(0);
    budget.memory(1 << 20).unwrap();
    assert_eq!(all_differ(document.root(), &mut budget), Err(BudgetSpent));
}
