//! Every accessor returns what a `serde_json::Value` contains.

use std::borrow::Cow;

use super::super::super::decimal::Decimal;
use super::super::instance::Kind;
use super::super::{Document, Instance, ReadOptions};
use super::{ReferenceTree, document, json, oracle, read};
use crate::schema::budget::WorkBudget;
use crate::seeded::for_all;

fn assert_is(instance: Instance<'_>, tree: &ReferenceTree) {
    assert_eq!(oracle(instance.raw()).as_ref(), Some(tree));
    assert_eq!(instance.document().instance(instance.id()).unwrap().raw(), instance.raw());
    assert_eq!(instance.as_bool().is_some(), matches!(tree, ReferenceTree::Boolean(_)));
    assert_eq!(instance.string().is_some(), matches!(tree, ReferenceTree::String(_)));
    assert_eq!(instance.number().is_some(), matches!(tree, ReferenceTree::Number(_)));
    assert_eq!(instance.len(), tree.len());
    assert_eq!(instance.items().count() + instance.members().count(), tree.len());
    match tree {
        ReferenceTree::Null => assert_eq!(instance.kind(), Kind::Null),
        ReferenceTree::Boolean(value) => {
            assert_eq!(instance.kind(), Kind::Boolean);
            assert_eq!(instance.as_bool(), Some(*value));
        }
        ReferenceTree::Number(text) => {
            assert_eq!(instance.kind(), Kind::Number);
            assert_eq!(instance.number(), Some(Decimal::parse(text)));
            assert_eq!(instance.is_float(), text.contains(['.', 'e', 'E']));
        }
        ReferenceTree::String(string) => {
            assert_eq!(instance.kind(), Kind::String);
            assert_eq!(instance.string().as_deref(), Some(string.as_str()));
            assert!(instance.is_string(string));
            assert!(!instance.is_string(&format!("{string}!")));
            assert!(string.is_empty() || !instance.is_string(&string[string.chars().next().unwrap().len_utf8()..]));
        }
        ReferenceTree::Array(items) => {
            assert_eq!(instance.kind(), Kind::Array);
            instance.items().zip(items).for_each(|(item, tree)| assert_is(item, tree));
        }
        ReferenceTree::Object(members) => {
            assert_eq!(instance.kind(), Kind::Object);
            for (key, value) in instance.members() {
                assert!(key.is(&key.name()));
                assert!(!key.is(&format!("{}!", key.name())));
                assert_is(value, &members[&*key.name()]);
                assert_eq!(instance.get(&key.name()).unwrap().id(), value.id());
                assert_eq!(instance.document().instance(key.id()).unwrap().id(), value.id());
            }
            for name in ["", "a", "b", "ab", "abc", "unknown"] {
                assert_eq!(instance.get(name).is_some(), members.contains_key(name));
            }
        }
    }
}

#[test]
fn a_document_has_the_values_of_its_text() {
    for_all(1_000, json(), |text| {
        if let Ok(document) = read(&text) {
            assert_is(document.root(), &oracle(&text).unwrap());
            assert_eq!(document.root().raw(), text.trim());
            assert_eq!(document.text(), text);
        }
        Ok(())
    });
}

#[test]
fn members_keep_the_order_of_the_text() {
    let text = r#"{"b":1,"a":2,"\u0063":3}"#;
    let document = document(text);
    let names: Vec<_> = document.root().members().map(|(key, _)| key.name().into_owned()).collect();
    assert_eq!(names, ["b", "a", "c"]);
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let document = document(r#"["plain", "esc\u0061ped"]"#);
    let strings: Vec<_> = document.root().items().filter_map(Instance::string).collect();
    assert!(matches!(strings[0], Cow::Borrowed("plain")));
    assert!(matches!(&strings[1], Cow::Owned(string) if string == "escaped"));
}

#[test]
fn wide_values_are_read() {
    let items: Vec<String> = (0..3_000).map(|at| format!(r#"{{"id":{at},"name":"n{at}"}}"#)).collect();
    let text = format!("[{}]", items.join(","));
    assert_is(document(&text).root(), &oracle(&text).unwrap());
    let members: Vec<String> = (0..3_000).map(|at| format!(r#""k{at}":{{"a":[{at}]}}"#)).collect();
    let text = format!("{{{}}}", members.join(","));
    assert_is(document(&text).root(), &oracle(&text).unwrap());
}

#[test]
fn large_objects_in_large_objects_are_found() {
    let inner = |outer: usize| (0..20).map(move |at| format!(r#""k{at}":{}"#, outer * 100 + at)).collect::<Vec<_>>();
    let members: Vec<String> = (0..20).map(|at| format!(r#""k{at}":{{{}}}"#, inner(at).join(","))).collect();
    let text = format!("{{{}}}", members.join(","));
    let document = document(&text);
    for outer in 0..20 {
        let object = document.root().get(&format!("k{outer}")).unwrap();
        for at in 0..20 {
            assert_eq!(object.get(&format!("k{at}")).unwrap().raw(), (outer * 100 + at).to_string());
        }
        assert!(object.get("k20").is_none());
    }
}

#[test]
fn an_owned_document_outlives_its_text() {
    let document: Document<'static> =
        Document::read_owned("[1]".to_owned(), ReadOptions { max_depth: 1 }, &mut WorkBudget::for_input(3)).unwrap();
    assert_eq!(document.root().items().next().unwrap().raw(), "1");
    assert_eq!(document.cells.len(), 2);
    assert!(document.instance(2).is_none());
}

#[test]
fn lengths_too_large_for_a_cell_are_exact() {
    let items = vec!["1"; 50_000].join(",");
    let members: Vec<_> = (0..45_000).map(|at| format!(r#""{at}":0"#)).collect();
    let text = format!(r#"[[{items}],{{{0}}},[],{{{0},"7":1}},[{items},1]]"#, members.join(","));
    let document = document(&text);
    let lengths: Vec<_> = document.root().items().map(Instance::len).collect();
    assert_eq!(lengths, [50_000, 45_000, 0, 45_000, 50_001]);
    let last = document.root().items().last().unwrap().items().last().unwrap();
    assert_eq!(document.pointer_to(last.id()), "/4/50000");
    assert_eq!(document.root().items().nth(3).unwrap().get("7").unwrap().raw(), "1");
}
