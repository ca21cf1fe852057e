//! Pointers resolve to their values, and stay short.

use proptest::prelude::*;

use super::super::{Document, Instance, ReadOptions};
use super::{document, json, oracle, read};
use crate::schema::budget::WorkBudget;
use crate::seeded::for_all;

fn all(root: Instance<'_>) -> Vec<Instance<'_>> {
    let mut found = Vec::new();
    let mut stack = vec![root];
    while let Some(value) = stack.pop() {
        found.push(value);
        stack.extend(value.items());
        stack.extend(value.members().map(|member| member.1));
    }
    found
}

#[test]
fn a_pointer_resolves_to_its_value() {
    for_all(256, json(), |text| {
        let Ok(document) = read(&text) else { return Ok(()) };
        let value = oracle(&text).unwrap();
        for instance in all(document.root()) {
            let pointer = document.pointer_to(instance.id());
            prop_assert_eq!(value.at(&pointer).cloned(), oracle(instance.raw()), "{}", pointer);
        }
        for (key, member) in document.root().members() {
            prop_assert_eq!(document.pointer_to(key.id()), document.pointer_to(member.id()));
        }
        Ok(())
    });
}

#[test]
fn no_pointer_is_longer_than_a_kilobyte() {
    for_all(256, prop::collection::vec("[/~aé😀]{0,300}", 0..12), |keys| {
        let text = keys.iter().fold("0".to_owned(), |value, key| format!(r#"{{"{key}":{value}}}"#));
        let document = document(&text);
        for instance in all(document.root()) {
            let pointer = document.pointer_to(instance.id());
            prop_assert!(pointer.len() <= 1_024, "{}", pointer.len());
            prop_assert!(pointer.split('/').all(|token| token.len() <= 256 + '…'.len_utf8()));
        }
        Ok(())
    });
}

#[test]
fn keys_are_escaped() {
    let document = document(r#"{"a/b":{"m~n":[0,{"\u002f":1,"":2}]}}"#);
    let pointers: Vec<_> = all(document.root()).into_iter().map(|value| document.pointer_to(value.id())).collect();
    assert!(pointers.contains(&"/a~1b/m~0n/1/~1".to_owned()));
    assert!(pointers.contains(&"/a~1b/m~0n/1/".to_owned()));
    assert!(pointers.contains(&String::new()));
}

#[test]
fn a_long_key_is_truncated() {
    let pointer = |key: &str| {
        let text = format!(r#"{{"{key}":1}}"#);
        let document = document(&text);
        document.pointer_to(document.root().get(key).unwrap().id())
    };
    assert_eq!(pointer(&"k".repeat(256)), format!("/{}", "k".repeat(256)));
    assert_eq!(pointer(&"k".repeat(257)), format!("/{}…", "k".repeat(256)));
    assert_eq!(pointer(&"é".repeat(129)), format!("/{}…", "é".repeat(128)));
    assert_eq!(pointer(&format!("k{}", "é".repeat(128))), format!("/k{}…", "é".repeat(127)));
    assert_eq!(pointer(&"/".repeat(1_000_000)), format!("/{}…", "~1".repeat(128)));
}

#[test]
fn a_long_pointer_keeps_both_ends() {
    let depth = 1_000;
    let text = format!("{}0{}", r#"{"key":["#.repeat(depth), "]}".repeat(depth));
    let document =
        Document::read(&text, ReadOptions { max_depth: 2 * depth }, &mut WorkBudget::for_input(text.len())).unwrap();
    let innermost = u32::try_from(document.cells.len()).unwrap() - 1;
    let pointer = document.pointer_to(innermost);
    assert!(pointer.len() <= 1_024 && pointer.len() > 1_000, "{}", pointer.len());
    let (head, tail) = pointer.split_once("/…").unwrap();
    assert!(head.starts_with("/key/0/key/0/"));
    assert!(tail.ends_with("/key/0/key/0"));
    assert!(head.len() > 500 && tail.len() > 490);
}
