//! The reader accepts the same texts as `serde_json`.

use proptest::prelude::*;

use super::super::{Document, ReadFault, ReadOptions};
use super::{DEPTH, document, json, oracle, read};
use crate::schema::budget::WorkBudget;
use crate::seeded::for_all;

/// Asserts that both agree. Depending on its features, `serde_json` accepts numbers out of range.
fn agrees(text: &str) {
    let accepted = oracle(text).is_some();
    match read(text) {
        Ok(_) => assert!(accepted, "only we accept {text:?}"),
        Err(ReadFault::OutOfRange { at, .. }) => {
            // The text after the number may be malformed as well, so it is cut after the number.
            let length = text[at..].find(|char| !"-+.eE0123456789".contains(char)).unwrap_or(text.len() - at);
            let number = (0..=length).rev().find_map(|length| text[at..at + length].parse::<f64>().ok());
            assert!(number.unwrap().is_infinite(), "the number at {at} of {text:?} is in range");
        }
        Err(fault) => assert!(!accepted, "only serde_json accepts {text:?}: {fault:?}"),
    }
}

#[test]
fn generated_json_is_read() {
    for_all(1_000, json(), |text| {
        agrees(&text);
        Ok(())
    });
}

#[test]
fn mutated_json_is_read_or_rejected_as_serde_json_does() {
    for_all(
        1_000,
        (
            json(),
            prop::collection::vec(
                (any::<prop::sample::Index>(), 0..3_u8, "[\\[\\]{}:,\"\\\\0-9eE.+tfnudD \u{0}\u{1f}\u{7f}-]"),
                1..4,
            ),
        ),
        |(text, edits)| {
            let mut chars: Vec<char> = text.chars().collect();
            for (at, edit, new) in edits {
                let new = new.chars().next().unwrap();
                let at = at.index(chars.len() + 1);
                match edit {
                    0 => chars.insert(at, new),
                    1 if at < chars.len() => chars[at] = new,
                    _ if at < chars.len() => {
                        chars.remove(at);
                    }
                    _ => chars.truncate(at),
                }
            }
            agrees(&chars.into_iter().collect::<String>());
            Ok(())
        },
    );
}

#[test]
fn arbitrary_text_is_read_or_rejected_as_serde_json_does() {
    for_all(1_000, prop::collection::vec(any::<u8>(), 0..40), |bytes| {
        agrees(&String::from_utf8_lossy(&bytes));
        Ok(())
    });
}

#[test]
fn text_of_json_characters_is_read_or_rejected_as_serde_json_does() {
    for_all(1_000, "[\\[\\]{}:,\"\\\\0-2eE.+a \n-]{0,12}", |text| {
        agrees(&text);
        Ok(())
    });
}

/// Texts at the edges of the grammar, valid and invalid.
const EDGES: &[&str] = &[
    "",
    " ",
    "null",
    "nul",
    "nulll",
    "true",
    "tru",
    "True",
    "false",
    "fals",
    "0",
    "-0",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".1",
    "1.e1",
    "1e",
    "1e+",
    "1E-0",
    "1e5",
    "0e999999999999",
    "1e-999999999999",
    "-1e-400",
    "1 2",
    "[]",
    "[",
    "]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{}",
    "{",
    "}",
    "{]",
    "[}",
    r#"{"a"}"#,
    r#"{"a":}"#,
    r#"{"a":1,}"#,
    "{,}",
    "{1:2}",
    r#"{"a":1 "b":2}"#,
    r#"{"a" : 1 , "b" : [ ] }"#,
    r#""a"#,
    r#"""#,
    r#""\""#,
    r#""\a""#,
    r#""\u12""#,
    r#""\u12G4""#,
    r#""\ud800""#,
    r#""\ud800a""#,
    r#""\ud800\n""#,
    r#""\ud800\ud800""#,
    r#""\udc00""#,
    r#""\udc00\ud800""#,
    r#""\ud83d\ude00""#,
    r#""\uD83D\uDE0""#,
    r#""\u0000""#,
    "\"\t\"",
    "\"\u{0}\"",
    "\"\u{1f}\"",
    "\"\u{7f}\"",
    "\u{feff}1",
    "1\u{a0}",
    "\u{c}1",
    "1\n",
    "\r\n\t 1",
    "'a'",
    "NaN",
    "Infinity",
    "-Infinity",
    "[1]x",
    "// a\n1",
];

#[test]
fn edge_cases_of_the_grammar_agree_with_serde_json() {
    for text in EDGES {
        agrees(text);
    }
}

#[test]
fn special_bytes_are_found_at_every_offset_of_a_string() {
    for length in 0..20 {
        for special in ["\"", "\\n", "\\", "\u{1}", "é", "\u{80}", "!", "[", "]", "#"] {
            for rest in 0..20 {
                agrees(&format!("\"{}{special}{}\"", "a".repeat(length), "b".repeat(rest)));
            }
        }
    }
}

#[test]
fn the_offset_of_a_fault_is_reported() {
    let at = |text| match read(text) {
        Err(ReadFault::Malformed { at }) => at,
        other => panic!("{other:?}"),
    };
    assert_eq!(at("[1, x]"), 4);
    assert_eq!(at("nuxl"), 2);
    assert_eq!(at("[1] 2"), 4);
    assert_eq!(at(r#"{"a" 1}"#), 5);
    assert_eq!(at("[1."), 3);
    assert_eq!(at("\"ab\u{1}\""), 3);
    assert_eq!(at(r#""ab\x""#), 3);
}

#[test]
fn numbers_beyond_f64_are_out_of_range() {
    let largest = "1.7976931348623157e308";
    assert!(read(largest).is_ok());
    assert!(read(&"9".repeat(308)).is_ok());
    assert!(read(&format!("1{}", "0".repeat(308))).is_ok());
    assert!(read(&format!("{}e-200", "9".repeat(500))).is_ok());
    assert!(read("0.000001e314").is_ok());
    for text in ["1e309", "-1e400", "1.7976931348623159e308", "1e99999999999999999999", &"9".repeat(310)] {
        assert!(matches!(read(text), Err(ReadFault::OutOfRange { at: 0, .. })), "{text}");
    }
    let fault = read(r#"{"a":[0,{"b":1e400}]}"#).unwrap_err();
    assert_eq!(fault, ReadFault::OutOfRange { at: 13, pointer: "/a/1/b".to_owned() });
}

#[test]
fn nesting_is_limited() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(DEPTH)).is_ok());
    assert!(oracle(&nested(DEPTH)).is_some());
    assert!(oracle(&nested(DEPTH + 1)).is_none());
    let fault = read(&nested(DEPTH + 1)).unwrap_err();
    assert_eq!(fault, ReadFault::TooDeep { at: DEPTH, pointer: "/0".repeat(DEPTH) });
    let flat = |max_depth| {
        let text = r#"{"a":[1,{"b":{}}]}"#;
        Document::read(text, ReadOptions { max_depth }, &mut WorkBudget::for_input(0)).map(|_| ())
    };
    assert_eq!(flat(3), Err(ReadFault::TooDeep { at: 13, pointer: "/a/1/b".to_owned() }));
    assert_eq!(flat(4), Ok(()));
    assert!(Document::read("1", ReadOptions { max_depth: 0 }, &mut WorkBudget::for_input(0)).is_ok());
}

#[test]
fn whole_numbers_written_as_floats_are_detected() {
    for text in ["1.0", "[1e3]", "[1.5e1, 2]", "-0.0", "-0", "0e5", "10e-1", r#"{"a":2.50e2}"#] {
        assert!(document(text).has_integral_float(), "{text}");
    }
    for text in ["1", "[1.5]", "1e-1", "1.05", "1.50", "1e-400", "\"1.0\"", "4.99999999999999999999"] {
        assert!(!document(text).has_integral_float(), "{text}");
    }
}
