//! Comparison of documents with `serde_json`, and tests with hostile texts.

mod accessor;
mod duplicate;
mod equality;
mod hostile;
mod pointer;
mod syntax;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Document, ReadFault, ReadOptions};
use crate::schema::budget::WorkBudget;

/// The depth that `serde_json` reads without its recursion limit.
const DEPTH: usize = 127;

fn read(text: &str) -> Result<Document<'_>, ReadFault> {
    Document::read(text, ReadOptions { max_depth: DEPTH }, &mut WorkBudget::for_input(text.len()))
}

fn document(text: &str) -> Document<'_> {
    read(text).unwrap()
}

/// A value as `serde_json` reads it, with numbers as text.
#[derive(Clone, Debug, PartialEq)]
enum ReferenceTree {
    Null,
    Boolean(bool),
    Number(String),
    String(String),
    Array(Vec<ReferenceTree>),
    Object(BTreeMap<String, ReferenceTree>),
}

fn oracle(text: &str) -> Option<ReferenceTree> {
    // Raw values are checked less strictly than others.
    serde_json::from_str::<Value>(text).ok()?;
    Some(ReferenceTree::new(serde_json::from_str(text).unwrap()))
}

impl ReferenceTree {
    fn new(raw: &RawValue) -> Self {
        let text = raw.get();
        match text.as_bytes()[0] {
            b'n' => Self::Null,
            b't' | b'f' => Self::Boolean(text == "true"),
            b'"' => Self::String(serde_json::from_str(text).unwrap()),
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(text).unwrap();
                Self::Array(items.into_iter().map(Self::new).collect())
            }
            b'{' => {
                let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).unwrap();
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::new(value))).collect())
            }
            _ => Self::Number(text.to_owned()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Array(items) => items.len(),
            Self::Object(members) => members.len(),
            _ => 0,
        }
    }

    fn at(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |tree, token| match tree {
            Self::Array(items) => items.get(token.parse::<usize>().unwrap()),
            Self::Object(members) => members.get(&token.replace("~1", "/").replace("~0", "~")),
            _ => None,
        })
    }
}

/// Generates a JSON text, with escapes, duplicate keys, whitespace and numbers of every form. Each choice takes one
/// byte, and without bytes the first choice is taken, so that texts shrink with their bytes.
fn json() -> impl Strategy<Value = String> {
    prop::collection::vec(any::<u8>(), 0..200).prop_map(|choices| {
        let mut text = String::new();
        write_value(&mut choices.into_iter(), 0, &mut text);
        text
    })
}

fn write_value(choices: &mut impl Iterator<Item = u8>, depth: usize, text: &mut String) {
    let width = usize::from(choices.next().unwrap_or_default());
    match choices.next().unwrap_or_default() % if depth < 6 { 8 } else { 4 } {
        0 => text.push_str(["null", "true", "false", "0", "{}", "[ ]"][width % 6]),
        1 => write_string(choices, width % 8, text),
        2 | 3 => write_number(choices, width, text),
        4 | 5 => {
            text.push('[');
            for at in 0..width % 8 {
                text.push_str(if at > 0 { "," } else { "" });
                write_value(choices, depth + 1, text);
                text.push_str(["", " ", "\n\t"][(width + at) % 3]);
            }
            text.push(']');
        }
        _ => {
            text.push('{');
            for at in 0..width % 24 {
                text.push_str(if at > 0 { "," } else { "" });
                let length = choices.next().map_or(0, |choice| usize::from(choice % 4));
                write_string(choices, length, text);
                text.push_str([":", " : ", "\r:"][(width + at) % 3]);
                write_value(choices, depth + 1, text);
            }
            text.push('}');
        }
    }
}

fn write_number(choices: &mut impl Iterator<Item = u8>, form: usize, text: &mut String) {
    let mut next = || choices.next().unwrap_or_default();
    text.push_str(if form & 1 == 1 { "-" } else { "" });
    match next() % 8 {
        0 => text.push('0'),
        length => {
            let digits = format!("{}{}", next(), next()).repeat(usize::from(length));
            text.push_str(digits.trim_start_matches('0'));
            text.push('0');
        }
    }
    if form & 2 == 2 {
        text.push_str([".0", ".50", ".000", ".12345678901234567890", ".05"][usize::from(next() % 5)]);
    }
    if form & 4 == 4 {
        text.push_str(["e0", "E+2", "e-2", "E-1", "e290", "e-400", "e00"][usize::from(next() % 7)]);
    }
}

fn write_string(choices: &mut impl Iterator<Item = u8>, length: usize, text: &mut String) {
    const PIECES: [&str; 22] = [
        "a",
        "b",
        "\\u0061",
        "\\u0062",
        "a",
        "b",
        "ab",
        "abcdefgh",
        "\\n",
        "\\\"",
        "\\\\",
        "/",
        "\\/",
        "é",
        "\\u00e9",
        "😀",
        "\\ud83d\\uDE00",
        "\\u0000",
        "~",
        " ",
        "漢",
        "\\t",
    ];
    text.push('"');
    for _ in 0..length {
        text.push_str(PIECES[usize::from(choices.next().unwrap_or_default()) % PIECES.len()]);
    }
    text.push('"');
}
