//! Pins over all definitions.

use haft_workspace::pins::{FieldChange, ImportDifference, PinOrigin, PinnedImport, Pins, TextPiece, ToolChange};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::seeded::for_all;

/// Draws any JSON that a definition may contain.
fn json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![Just(String::new()), "[a-c ]{0,12}", any::<String>()];
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from)
    ];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, text.prop_map(Value::from),];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let members = prop::collection::vec(("[a-d~/\"]{0,3}", inner.clone()), 0..5);
        let object = members.prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>()));
        prop_oneof![prop::collection::vec(inner, 0..5).prop_map(Value::from), object]
    })
}

fn import() -> impl Strategy<Value = PinnedImport> {
    let tools = prop::collection::vec(("[a-d]{1,2}", json()), 0..5);
    (tools, 0..3_u8).prop_map(|(tools, host)| {
        let empty = PinnedImport::new("mcp", PinOrigin::url(&format!("https://{host}.example")));
        tools.into_iter().fold(empty, |import, (name, definition)| import.tool(name, definition))
    })
}

#[test]
fn the_text_of_pins_is_read_as_it_was_written() {
    for_all(300, prop::collection::vec(("[a-z/]{1,8}", import()), 0..4), |imports| {
        let mut pins = Pins::new();
        for (name, import) in imports {
            pins.insert(name, import);
        }
        let text = pins.to_string();
        let read: Pins = text.parse().unwrap();
        prop_assert_eq!(read.to_string(), text);
        prop_assert_eq!(read, pins);
        Ok(())
    });
}

#[test]
fn no_text_panics_and_no_damage_is_read_as_something_else() {
    for_all(300, (import(), any::<prop::sample::Index>(), any::<char>()), |(import, at, written)| {
        let mut pins = Pins::new();
        pins.insert("a/b", import);
        let text = pins.to_string();
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = written;
        // A name, the kind or the origin may be another one. A definition never is.
        if let Ok(read) = characters.into_iter().collect::<String>().parse::<Pins>() {
            let known: Vec<&str> = pins.get("a/b").unwrap().tools().map(|(_, tool)| tool.digest()).collect();
            for (_, import) in read.iter() {
                prop_assert!(import.tools().all(|(_, tool)| known.contains(&tool.digest())));
            }
        }
        Ok(())
    });
}

#[test]
fn a_difference_is_empty_exactly_for_equal_digests() {
    for_all(500, (json(), json()), |(old, new)| {
        let of = |definition: &Value| PinnedImport::new("mcp", PinOrigin::file("x")).tool("t", definition.clone());
        let difference = ImportDifference::between(&of(&old), &of(&new));
        prop_assert!(ImportDifference::between(&of(&old), &of(&old)).is_none());
        match difference.tools.as_slice() {
            [] => prop_assert!(of(&old).get("t").unwrap().is_of(&new)),
            [tool] => {
                let ToolChange::Changed(fields) = &tool.change else { panic!("{tool:?}") };
                prop_assert!(!fields.is_empty());
                for field in fields {
                    let (before, after) = (old.pointer(&field.pointer), new.pointer(&field.pointer));
                    match &field.change {
                        FieldChange::Added(value) => prop_assert_eq!((before, after), (None, Some(value))),
                        FieldChange::Removed(value) => prop_assert_eq!((before, after), (Some(value), None)),
                        FieldChange::Replaced { old, new } => prop_assert_eq!((before, after), (Some(old), Some(new))),
                        FieldChange::Text(pieces) => {
                            prop_assert_eq!(before.and_then(Value::as_str), Some(&*text(pieces, true)));
                            prop_assert_eq!(after.and_then(Value::as_str), Some(&*text(pieces, false)));
                        }
                        FieldChange::Items { removed, added } => prop_assert!(!removed.is_empty() || !added.is_empty()),
                        other => panic!("{other:?}"),
                    }
                }
            }
            more => panic!("{more:?}"),
        }
        Ok(())
    });
}

/// Returns the old or the new text of pieces.
fn text(pieces: &[TextPiece], is_old: bool) -> String {
    let part = |piece: &TextPiece| match piece {
        TextPiece::Same(text) => text.clone(),
        TextPiece::Removed(text) => {
            if is_old {
                text.clone()
            } else {
                String::new()
            }
        }
        TextPiece::Added(text) => {
            if is_old {
                String::new()
            } else {
                text.clone()
            }
        }
    };
    pieces.iter().map(part).collect()
}

#[test]
fn accepting_everything_leaves_no_difference_and_accepting_nothing_no_change() {
    for_all(300, (import(), import()), |(old, new)| {
        let mut pins = Pins::new();
        pins.insert("a/b", old.clone());
        let mut unchanged = pins.clone();
        prop_assert!(unchanged.accept("a/b", &new, |_| false).is_empty());
        let tools = |pins: &Pins| {
            pins.get("a/b").unwrap().tools().map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<Vec<_>>()
        };
        if !ImportDifference::between(&old, &new).tools.is_empty() {
            prop_assert_eq!(tools(&unchanged), tools(&pins));
        }
        pins.accept("a/b", &new, |_| true);
        prop_assert_eq!(pins.get("a/b"), Some(&new));
        Ok(())
    });
}
