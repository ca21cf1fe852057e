//! Of equal keys the last one counts.

use proptest::prelude::*;

use super::{ReferenceTree, document, json, oracle, read};
use crate::seeded::for_all;

fn duplicates(text: &str) -> Vec<String> {
    document(text).duplicates().map(|key| key.name().into_owned()).collect()
}

#[test]
fn each_later_key_is_reported_in_text_order() {
    assert!(duplicates(r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}"#).is_empty());
    assert_eq!(duplicates(r#"{"a":1,"a":2}"#), ["a"]);
    assert_eq!(duplicates(r#"{"a":{"x":1,"x":2},"b":1,"a":{"y":1,"y":1},"b":1,"a":1}"#), ["x", "a", "y", "b", "a"]);
    let document = document(r#"{"a":[{"x":1,"x":2}]}"#);
    let pointers: Vec<_> = document.duplicates().map(|key| document.pointer_to(key.id())).collect();
    assert_eq!(pointers, ["/a/0/x"]);
}

#[test]
fn keys_are_compared_by_their_characters() {
    assert_eq!(duplicates(r#"{"a":1,"\u0061":2}"#), ["a"]);
    assert_eq!(duplicates(r#"{"\ud83d\ude00":1,"😀":2,"/":3,"\/":4}"#), ["😀", "/"]);
    assert!(duplicates(r#"{"a":1,"\\u0061":2,"A":3,"":4,"aa":5}"#).is_empty());
}

#[test]
fn earlier_equal_keys_are_hidden() {
    for filler in [0, 40] {
        let filler = (0..filler).map(|at| format!(r#""k{at}":0,"#)).collect::<Vec<_>>().concat();
        let text = format!(r#"{{"a":1,"b":2,{filler}"\u0061":3,"c":4,"a":[5]}}"#);
        let document = document(&text);
        let root = document.root();
        assert_eq!(root.get("a").unwrap().raw(), "[5]");
        assert_eq!(root.len(), root.members().count());
        assert_eq!(root.len(), oracle(&text).unwrap().len());
        let names: Vec<_> = root.members().map(|(key, _)| key.name()).filter(|name| !name.starts_with('k')).collect();
        assert_eq!(names, ["b", "c", "a"]);
        assert_eq!(document.duplicates().count(), 2);
    }
}

#[test]
fn a_thousand_duplicates_are_reported() {
    let text = format!("{{{}}}", vec![r#""a":{"b":1,"b":2}"#; 2_000].join(","));
    let names = duplicates(&text);
    assert_eq!(names.len(), 1_000);
    // The first `a` is not a duplicate, so the list starts with its `b` and alternates.
    assert!(names.chunks(2).all(|pair| pair == ["b", "a"]));
}

#[test]
fn duplicates_are_the_members_that_serde_json_drops() {
    for_all(256, json(), |text| {
        if let Ok(document) = read(&text) {
            let keys = |text: &str| {
                let mut stack = vec![oracle(text).unwrap()];
                let mut keys = 0;
                while let Some(value) = stack.pop() {
                    match value {
                        ReferenceTree::Array(items) => stack.extend(items),
                        ReferenceTree::Object(members) => {
                            keys += members.len();
                            stack.extend(members.into_iter().map(|member| member.1));
                        }
                        _ => {}
                    }
                }
                keys
            };
            let mut visible = 0;
            let mut stack = vec![document.root()];
            while let Some(value) = stack.pop() {
                visible += value.members().count();
                stack.extend(value.items());
                stack.extend(value.members().map(|member| member.1));
            }
            prop_assert_eq!(visible, keys(&text));
            if document.duplicates().len() == 0 {
                let all = (0..u32::try_from(document.cells.len()).unwrap())
                    .filter(|id| document.instance(*id).unwrap().id() != *id)
                    .count();
                prop_assert_eq!(all, visible);
            }
        }
        Ok(())
    });
}
